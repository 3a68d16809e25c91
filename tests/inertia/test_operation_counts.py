"""The pinned costs of the operations, counted on the graph after its passes."""

from __future__ import annotations

from typing import Any

import pytest

from rbdgen.graph.engine import GraphEngine
from rbdgen.inertia.operations import OPERATIONS
from rbdgen.model.inertial_parameters import entries, inertia_of
from rbdgen.model.moments import MassMoments
from rbdgen.options import Options
from rbdgen.pipeline.inertia import inertia_functions
from rbdgen.spatial.planar import FactoredRotation, PlanarRotation

COUNTS = {
    "rotated": (40, 33),
    "translated": (12, 18),
    "transformed": (52, 50),
    "merged": (52, 60),
    "split": (52, 60),
    "times": (24, 18),
    "quadratic": (25, 18),
    "rate": (42, 27),
    "equation_of_motion": (57, 45),
    "factored": (15, 13),  # and 3 divisions, 4 roots
    "factored_any_rank": (75, 67),  # and 7 divisions, 8 roots, 128 selections
    "rank": (37, 46),
    "to_matrix": (0, 0),
    "to_pseudo_inertia": (1, 5),
    "from_pseudo_inertia": (0, 3),
    "to_ksl": (9, 9),  # and 1 division
    "from_ksl": (9, 9),
}
"""Multiplications and additions. The transformation of a dense 6 x 6 matrix takes 432 + 360."""

OTHERS = {
    "factored": (3, 4),
    "factored_any_rank": (7, 8),
    "rank": (4, 5),
    "to_ksl": (1, 0),
    "from_ksl": (1, 0),
}
"""Divisions and roots."""


@pytest.mark.parametrize("engine", ["graph", "casadi"])
def test_counts(engine: str) -> None:
    functions = inertia_functions(Options(functions=tuple(OPERATIONS), engine=engine))
    costs = {function.name: function.cost for function in functions}
    assert {name: (cost.multiplications, cost.additions) for name, cost in costs.items()} == COUNTS
    assert {name: (cost.div, cost.sqrt) for name, cost in costs.items() if cost.div or cost.sqrt} == OTHERS


@pytest.mark.parametrize(
    ("axes", "expected"), [((2,), (12, 10)), ((2, 0, 2), (36, 30))], ids=["Rz", "Rz Rx Rz"]
)
def test_factored_rotations(axes: tuple[int, ...], expected: tuple[int, int]) -> None:
    """Rotations that are products of planar ones, as the package uses them, take fewer operations."""
    tracer = GraphEngine()
    ten, angles = tracer.symbols("ten", 10), iter(tracer.symbols("angles", 6))
    R = FactoredRotation(tuple(PlanarRotation(axis, next(angles), next(angles)) for axis in axes))
    body = inertia_of(ten)
    turned: Any = MassMoments(body.mass, body.first_moment, body.rotational).rotated(R)
    cost = tracer.cost([("h", (3,), list(turned.first)), ("J", (6,), entries(turned.second))])
    assert (cost.multiplications, cost.additions) == expected
