"""All forms of all functions agree with more basic ones (`support.below`) for any two joints."""

from __future__ import annotations

import itertools
from typing import Any, get_args

import numpy as np
import pytest
from support.below.evaluated import Below
from support.below.rows import expected
from support.few import few
from support.forms import FunctionForm, over_bodies, relative_error, run_on_floats
from support.functions import OF_CONFIGURATIONS, OF_TRAJECTORIES, SECOND
from support.pairs import TYPES, pair

from rbdgen.description.schema import JointType
from rbdgen.functions.function import Function
from rbdgen.functions.table import rows_of
from rbdgen.model.build import Base, Robot
from rbdgen.model.model import Model

STATES = 2

SAME = 1e-11
"""The relative tolerance between two forms, which is multiplied by the condition number of M if inverted."""

BELOW = 2e-7
"""The relative tolerance for comparisons with more basic functions, which use finite differences."""

FOLLOWING = [(False, False), (True, False), (False, True), (True, True)]
"""Whether one joint follows another, and whether all joints have resistance."""

Case = tuple[JointType, JointType, Base, bool, bool]

CASES: list[Case] = [
    (first, second, base, *more)
    for first, second, base, more in itertools.product(TYPES, TYPES, get_args(Base), FOLLOWING)
]

FEW: list[Case] = [
    ("spherical", "revolute", "fixed", True, True),
    ("universal", "prismatic", "floating", False, True),
    ("planar", "helical", "fixed", True, False),
    ("floating", "continuous", "fixed", True, True),
]


@pytest.mark.parametrize(
    ("first", "second", "base", "follower", "resisting"),
    few(FEW, CASES, sampled=True, together=("first", "second")),
)
def test_every_function(
    first: JointType, second: JointType, base: Base, follower: bool, resisting: bool
) -> None:
    robot = pair(first, second, base=base, follower=follower, resisting=resisting)
    below, rows = at_random_states(robot)
    for row in rows:
        check(below, row)


def at_random_states(robot: Robot) -> tuple[Below, list[Function]]:
    """Draws inputs of all functions of a robot, with velocities away from 0, where friction is not smooth."""
    rows = [*rows_of(robot.model).values(), *SECOND.values(), *OF_CONFIGURATIONS.values()]
    rows += OF_TRAJECTORIES.values()
    taken = {x.name: x for row in rows for x in row.sized(robot.model).inputs}
    drawn = robot.model.manifold.random_inputs(taken.values(), np.random.default_rng(0), (STATES,))
    inputs = {name: values.reshape(STATES, -1) for name, values in drawn.items()}
    inputs["v"] = inputs["v"] + 0.1 * np.sign(inputs["v"])
    inputs["active"] = np.array([[1.0, 1.0], [0.0, 1.0]])
    return Below(robot, inputs), rows


def check(below: Below, row: Function) -> None:
    """Compares the textbook form with more basic functions, and all others with it; checks identities."""
    model, textbook = below.model, below.all(row.name)
    condition = float(np.linalg.cond(below("crba")).max())
    others = {
        form.name: run_on_floats(FunctionForm(row, form), model, below.inputs)
        for form in row.forms_for(model)[1:]
        if not over_bodies(form) or in_loops(model)
    }
    right = expected(below, row)
    compared = [("below", right, BELOW)] if right else []
    compared += [(form, outputs, SAME) for form, outputs in others.items()]
    for name, outputs, tolerance in compared:
        for ours, other in zip(textbook, outputs, strict=True):
            error = relative_error(ours, np.asarray(other).reshape(ours.shape), floor=1.0)
            assert error < tolerance * condition, (row.name, name, error)
    for identity in row.identities:
        sides = identity.sides(below, below.shaped)
        for ours, other in zip(*map(as_tuple, sides), strict=True):
            error = relative_error(ours, other, floor=1.0)
            assert error < BELOW * condition, (row.name, identity.what, error)


def as_tuple(side: Any) -> tuple[Any, ...]:
    return side if isinstance(side, tuple) else (side,)


def in_loops(model: Model) -> bool:
    """Whether forms that loop over bodies can handle the chain."""
    first = 1 if model.is_floating else 0
    return all(body.joint.type.one_axis for body in model.bodies[first:])
