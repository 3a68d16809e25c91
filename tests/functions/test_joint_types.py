"""Random trees of joints of all types: every form of every function against Pinocchio."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from support.random_trees import in_floats, random_tree
from support.rationals import LETTERS, Rationals
from trees.check import check, check_tree

from rbdgen.functions.table import lookup
from rbdgen.model.inertia import Inertia
from rbdgen.model.joints import Angle, rotation_about
from rbdgen.model.model import WORLD, Model
from rbdgen.model.reduce import reduce
from rbdgen.selection.axes import operations
from rbdgen.spatial.ops import Matrix, Transform, Vector


@settings(max_examples=200, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(seed=st.integers(0, 2**32 - 1))
def test_random_trees(seed: int) -> None:
    check(random_tree(seed, 5), seed)


PARTS, TREES = 8, 40


@pytest.mark.campaign
@pytest.mark.parametrize("part", range(PARTS))
def test_larger_random_trees(part: int, sample_seed: int) -> None:
    """Trees with up to 25 bodies, which depend on the seed of a sample.

    `make trees` runs any range of them.
    """
    first = (sample_seed * PARTS + part) * TREES
    for seed in range(first, first + TREES):
        check_tree(seed)


FORMS_COUNTED = {"rnea": "classical", "aba": "bias", "crba": "moments", "rnea_derivatives": "local"}


def between_revolutes(letter: str) -> Model:
    """A chain of three bodies with no special angles or lengths; the second joint is of this type."""
    rng = np.random.default_rng(5)
    bodies = []
    for body in Rationals(1).model((WORLD, 0, 1), f"R{letter}R").bodies:
        axis, about, center = rng.normal(size=(3, 3)).tolist()
        spread = rng.normal(size=(3, 3))
        J = np.trace(spread @ spread.T) * np.eye(3) - spread @ spread.T
        inertia = Inertia.from_center_of_mass(float(rng.uniform(0.5, 2)), Vector(*center), Matrix(*rows(J)))
        placement = Transform(
            rotation_about(unit(about), Angle(0.6, 0.8)), Vector(*rng.normal(size=3).tolist())
        )
        joint = replace(body.joint, axis=unit(axis))
        bodies.append(in_floats(replace(body, joint=joint, placement=placement, inertia=inertia)))
    return Model(f"R{letter}R", tuple(bodies))


def rows(matrix: Any) -> list[Vector]:
    return [Vector(*row) for row in matrix.tolist()]


def unit(numbers: list[float]) -> Vector:
    return Vector(*(np.array(numbers) / np.linalg.norm(numbers)).tolist())


def test_pinned_counts(golden: Any) -> None:
    """Operations of the cheap forms as traced, nothing turned or slid."""
    lines = [f"{'joint':>10}" + "".join(f"{name:>18}" for name in FORMS_COUNTED)]
    for letter, kind in LETTERS.items():
        reduced = reduce(between_revolutes(letter))
        counts = [
            operations(reduced, lookup(name), lookup(name).form(form)) for name, form in FORMS_COUNTED.items()
        ]
        lines.append(f"{kind.name:>10}" + "".join(f"{count:18}" for count in counts))
    golden("operation_counts/joint_types.txt", "\n".join(lines) + "\n")
