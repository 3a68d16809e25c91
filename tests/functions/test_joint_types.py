"""Random trees of joints of all types: every form of every function against Pinocchio."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from support.forms import FORMS, relative_error, run_on_floats
from support.pinocchio_oracle import PinocchioOracle, model_of_numbers
from support.rationals import Rationals

from rbdgen.errors import ModelError
from rbdgen.model.inertia import Inertia
from rbdgen.model.joints import Helical
from rbdgen.model.model import WORLD, Model
from rbdgen.spatial.ops import Matrix, Transform, Vector

TOLERANCE = 1e-11
"""Relative, times the condition number of M where it is inverted."""

STATES = 3


def random_tree(seed: int, most: int) -> Model:
    """Up to `most` bodies on joints of all types, one axis more often than several."""
    random = Random(seed)
    count = random.randint(1, most)
    parents: list[int] = []
    for i in range(count):
        # depth first: the last body or one that it hangs on
        parent = i - 1
        while parent != WORLD and random.random() < 0.3:
            parent = parents[parent]
        parents.append(parent)
    letters = "".join(random.choice("RRRPHLSF") for _ in range(count))
    model = Rationals(seed).model(tuple(parents), letters)
    return replace(model, bodies=tuple(map(in_floats, model.bodies)), gravity=floats(model.gravity))


def in_floats(body: Any) -> Any:
    R, p = body.placement
    joint, own = body.joint, body.inertia
    if isinstance(joint.type, Helical):
        joint = replace(joint, type=Helical(float(joint.type.pitch)))
    return replace(
        body,
        joint=replace(joint, axis=floats(joint.axis)),
        placement=Transform(Matrix(*map(floats, R)), floats(p)),
        inertia=Inertia(float(own.mass), floats(own.first_moment), Matrix(*map(floats, own.rotational))),
    )


def floats(vector: Vector) -> Vector:
    return Vector(*(x if x in (0, 1, -1) else float(x) for x in vector))


def check(seed: int, most: int) -> None:
    """Every form that can do the tree; those in loops say in one line what they cannot."""
    model = random_tree(seed, most)
    oracle = PinocchioOracle(model_of_numbers(model), model)
    rng = np.random.default_rng(seed)
    arguments = {x.name: x for form in FORMS for x in form.function.signature.sized(model.sizes).inputs}
    inputs = model.manifold.random_inputs(arguments.values(), rng, (STATES,))
    inputs["fext"] = inputs["fext"].reshape(STATES, -1)
    M = oracle("crba", inputs)[0]
    for form in FORMS:
        if form.form.compact and not in_loops(model):
            with pytest.raises(ModelError, match="choose another form"):
                run_on_floats(form, model, inputs)
            continue
        outputs = run_on_floats(form, model, inputs)
        inverted = any(x.kind == "force" for x in form.function.signature.inputs) or "inverse" in str(
            form.function.summary
        )
        factor = np.linalg.cond(M).max() if inverted else 1.0
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
    check(seed, 6)
