"""Forward and inverse dynamics and M agree with MuJoCo, for one fixed and one floating robot."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from support.forms import Form, graph_of, interpreted, parametrize, relative_error
from support.mujoco_oracle import MujocoOracle
from support.robots import PATHS, robot
from support.states import random_inputs

from rbdgen.model.build import Base

ROBOTS: tuple[tuple[str, Base], ...] = (("arm7", "fixed"), ("quadruped12", "floating"))

TOLERANCE = 1e-11
"""The tolerance; MuJoCo rotates every inertia to principal axes, which adds rounding errors."""


@cache
def oracle(name: str, base: Base) -> MujocoOracle:
    return MujocoOracle(PATHS[name].read_text(), robot(name, base).model, base)


@pytest.mark.parametrize(("name", "base"), ROBOTS)
@parametrize("rnea", "aba", "crba")
def test_agreement(form: Form, name: str, base: Base) -> None:
    inputs = random_inputs(robot(name, base).model, form.function.signature, 20)
    (ours,) = interpreted(form, graph_of(form, name, base), inputs)
    answer = getattr(oracle(name, base), form.function.name)
    arguments = [inputs[argument.name] for argument in form.function.signature.inputs]
    reference = np.stack([answer(*state) for state in zip(*arguments, strict=True)])
    assert relative_error(ours, reference) < TOLERANCE
