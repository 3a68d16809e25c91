"""Distances with pairs as lanes are those of the straight line, as loops and in compiled C."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import Final

import numpy as np
import pytest
from numpy.typing import NDArray
from support.distances import arm, panda, with_capsules
from support.random_trees import on_a_base, random_tree

from rbdgen.description.capsules import Obstacles
from rbdgen.functions.distances.in_lanes import pairs_fill
from rbdgen.functions.table import lookup
from rbdgen.graph.cost import cost
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.programs.passes import FOR_BATCHES, TO_C, apply
from rbdgen.graph.programs.program import Program
from rbdgen.graph.programs.run import run
from rbdgen.graph.programs.sparsity import nonzero
from rbdgen.graph.programs.verify import verify_program
from rbdgen.machine import lanes
from rbdgen.model.model import Model
from rbdgen.model.reduce import reduce
from rbdgen.pipeline.robot import load_robot
from rbdgen.selection.choose import choose
from rbdgen.selection.trace import trace_graph, trace_program

Array = NDArray[np.float64]

NAMES: Final = ("distances", "distance_jacobian")

EVERY_KIND: Final = Obstacles(spheres=2, capsules=2, boxes=2, halfspaces=2)


def obstacles_of(model: Model, count: int) -> dict[str, Array]:
    """Random obstacles, other ones for each state."""
    rng = np.random.default_rng(3)
    sizes = model.distances.counts

    def rows(name: str, width: int) -> Array:
        return rng.uniform(-1, 1, (count, sizes[name], width))

    spheres, capsules, boxes, planes = rows("spheres", 4), rows("capsules", 7), rows("boxes", 15), None
    for array in (spheres, capsules):
        array[..., -1] = 0.05 + 0.05 * np.abs(array[..., -1])
    boxes[..., 3:12] = np.linalg.qr(rng.normal(size=(*boxes.shape[:2], 3, 3)))[0].reshape(*boxes.shape[:2], 9)
    boxes[..., 12:] = 0.1 + 0.2 * np.abs(boxes[..., 12:])
    planes = rows("halfspaces", 4)
    planes[..., :3] /= np.linalg.norm(planes[..., :3], axis=-1, keepdims=True)
    made = {"spheres": spheres, "capsules": capsules, "boxes": boxes, "halfspaces": planes}
    return {name: array.reshape(count, -1) for name, array in made.items() if sizes[name]}


def states(model: Model, count: int = 5) -> dict[str, Array]:
    return {"q": model.manifold.random(np.random.default_rng(4), (count,)), **obstacles_of(model, count)}


MODELS: Final[Mapping[str, Callable[[], Model]]] = MappingProxyType(
    {
        "arm": lambda: arm().model,
        "arm, exact": lambda: arm("exact", Obstacles(spheres=2)).model,
        "panda": lambda: panda(spheres=2).model,
        "tree": lambda: with_capsules(random_tree(3, 9), 3, EVERY_KIND),
        "floating tree": lambda: with_capsules(on_a_base(random_tree(5, 9)), 5, EVERY_KIND),
    }
)


@cache
def model_of(of: str) -> Model:
    return MODELS[of]()


@cache
def program_of(of: str, name: str) -> Program:
    model, function = model_of(of), lookup(name, model_of(of))
    return trace_program(reduce(model), function, function.form("pairs"), "graph")


@pytest.mark.parametrize("of", MODELS)
@pytest.mark.parametrize("name", NAMES)
def test_loops_give_the_values_of_the_straight_line(of: str, name: str) -> None:
    model, program = model_of(of), program_of(of, name)
    function, inputs = lookup(name, model), states(model)
    assert pairs_fill(model)
    assert any(loop.vectorisable for loop in program.loops)
    straight = evaluate(trace_graph(reduce(model), function, function.form("reduced"), "graph"), inputs)
    for tried in (program, apply(program, TO_C), apply(apply(program, TO_C), FOR_BATCHES)):
        verify_program(tried)
        found = run(tried, inputs)
        for output, values in straight.items():
            np.testing.assert_allclose(found[output], values, rtol=0, atol=1e-11)
            known = np.flatnonzero(np.abs(values.reshape(len(values), -1)).max(axis=0))
            assert set(known) <= set(nonzero(tried)[output])


def test_zeros_of_the_jacobian_are_known() -> None:
    """Two capsules are moved against each other only by the joints between them."""
    pattern = nonzero(program_of("arm", "distance_jacobian"))["J"]
    between = {
        7 * row + k for row, (i, j) in enumerate(model_of("arm").distances.own) for k in range(i + 1, j + 1)
    }
    assert set(pattern) == between
    assert len(pattern) == 50


@pytest.mark.parametrize(("name", "counts"), [("distances", (220, 60)), ("distance_jacobian", (279, 145))])
def test_counts(name: str, counts: tuple[int, int]) -> None:
    """The operations of placements, and those of a pair, which two vectors of 8 lanes execute twice."""
    loops = apply(program_of("arm", name), TO_C).loops
    assert tuple(cost(loop.kernel).total for loop in loops) == counts
    assert (loops[1].count, loops[1].vectors(lanes("double"))) == (15, 2)


def test_few_or_cheap_pairs_are_a_straight_line() -> None:
    model = model_of("arm")
    few = replace(model, distances=replace(model.distances, own=model.distances.own[:7]))
    assert not pairs_fill(few)
    cheap = load_robot("quadruped12", "floating", pairs="all", obstacles="spheres=8").model
    assert pairs_fill(cheap)  # but spheres take few operations for the numbers that are stored
    for subject, form in ((few, "reduced"), (cheap, "reduced"), (model, "pairs")):
        found = choose(lookup("distances", subject), subject, None, engine="graph", lanes=lanes("double"))
        assert found.form == form
