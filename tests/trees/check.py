"""Compares every form of every function with Pinocchio on a random tree of joints of all types."""

from __future__ import annotations

import numpy as np
import pytest
from support.forms import FORMS, over_bodies, relative_error, run_on_floats
from support.pinocchio_oracle import PinocchioOracle, model_of_numbers
from support.random_trees import random_tree

from rbdgen.errors import ModelError
from rbdgen.model.model import WORLD, Model

TOLERANCE = 1e-11
"""The relative tolerance, which is multiplied by the condition number of M if M is inverted."""

STATES = 3


def check(model: Model, seed: int) -> None:
    """Compares every form that can handle the tree; forms in loops refuse other trees in one line."""
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
    """Whether forms in loops can handle the tree: all joints but a floating base must have one axis."""
    first = 1 if model.is_floating else 0
    beside = any(body.parent == WORLD for body in model.bodies[first:])
    return all(body.joint.type.one_axis for body in model.bodies[first:]) and not (first and beside)


def check_tree(seed: int) -> None:
    """Checks the tree of this seed, with up to 8 bodies, or up to 25 for every tenth seed."""
    check(random_tree(seed, 25 if seed % 10 == 0 else 8), seed)


def failure_of(seed: int) -> str | None:
    """The fault of the tree of this seed in one line; None if all forms agree."""
    try:
        check_tree(seed)
    except Exception as error:
        return f"tree {seed}: {type(error).__name__}: {' '.join(str(error).split())}"
    return None
