"""Random trees of joints of all types: every form of every function against Pinocchio."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from support.forms import FORMS, over_bodies, relative_error, run_on_floats
from support.pinocchio_oracle import PinocchioOracle, model_of_numbers
from support.random_trees import in_floats, random_tree
from support.rationals import LETTERS, Rationals

from rbdgen.errors import ModelError
from rbdgen.functions.table import lookup
from rbdgen.model.inertia import Inertia
from rbdgen.model.joints import Angle, rotation_about
from rbdgen.model.model import WORLD, Model
from rbdgen.model.reduce import reduce
from rbdgen.selection.axes import operations
from rbdgen.spatial.ops import Matrix, Transform, Vector

TOLERANCE = 1e-11
"""Relative, times the condition number of M where it is inverted."""

STATES = 3


def check(model: Model, seed: int) -> None:
    """Every form that can do the tree; those in loops say in one line what they cannot."""
    oracle = PinocchioOracle(model_of_numbers(model), model)
    rng = np.random.default_rng(seed)
    arguments = {x.name: x for form in FORMS for x in form.function.signature.sized(model.sizes).inputs}
    inputs = model.manifold.random_inputs(arguments.values(), rng, (STATES,))
    inputs["fext"] = inputs["fext"].reshape(STATES, -1)
    condition = np.linalg.cond(oracle("crba", inputs)[0]).max()
    for form in FORMS:
        if over_bodies(form.form) and not in_loops(model):
            with pytest.raises(ModelError, match="choose another form"):
                run_on_floats(form, model, inputs)
            continue
        outputs = run_on_floats(form, model, inputs)
        factor = condition if form.function.name.startswith(("aba", "minv")) else 1.0
        for ours, theirs in zip(outputs, oracle(form.function.name, inputs), strict=True):
            assert relative_error(ours, theirs, floor=1.0) < TOLERANCE * factor, (seed, str(form))


def in_loops(model: Model) -> bool:
    """Whether forms in loops over bodies can do the tree: one axis a joint, or a floating base alone."""
    first = 1 if model.is_floating else 0
    beside = any(body.parent == WORLD for body in model.bodies[first:])
    return all(body.joint.type.one_axis for body in model.bodies[first:]) and not (first and beside)


@settings(max_examples=200, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(seed=st.integers(0, 2**32 - 1))
def test_random_trees(seed: int) -> None:
    check(random_tree(seed, 5), seed)


@pytest.mark.campaign
def test_ten_thousand_random_trees() -> None:
    """Larger trees, up to 25 bodies; `make trees`."""
    for seed in range(10_000):
        check(random_tree(seed, 25 if seed % 10 == 0 else 8), seed)


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
