"""Functions that invert M agree with 40-digit arithmetic, up to the rounding of their own operations.

Pinocchio is not accurate enough as a reference: its M^-1 is up to 6e-12 off for a floating ur5. The reference
is the textbook's inverse dynamics and CRBA with mpmath's numbers, and a dense solution of the equations. The
numbers of the model and the state are the same floats, which are exact in mpmath.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray
from support.few import few
from support.forms import Form, graph_of, interpreted, parametrize, relative_error
from support.robots import robot
from support.states import random_inputs

from rbdgen.functions.derivatives.one_frame import rnea_derivatives
from rbdgen.functions.inertia_matrix.composite import crba
from rbdgen.functions.inverse_dynamics.newton_euler import nonlinear_effects
from rbdgen.functions.table import lookup
from rbdgen.model.build import Base
from rbdgen.sweeps.inputs import coordinates

Array = NDArray[np.float64]

ROBOTS: tuple[tuple[str, Base], ...] = (
    ("ur5", "fixed"),
    ("ur5", "floating"),
    ("arm7", "fixed"),
    ("quadruped12", "floating"),
    ("humanoid30", "floating"),
)

STATES = 3

TOLERANCE = 1e-12

DIGITS = mpmath.MPContext()
DIGITS.dps = 40


@cache
def inputs_of(name: str, base: Base) -> Mapping[str, Array]:
    """Random states with torques; functions do not read inputs that they do not take."""
    return random_inputs(robot(name, base).model, lookup("aba").signature, STATES)


@cache
def references(name: str, base: Base) -> Mapping[str, list[Array]]:
    """The outputs of every function tested here, stacked over the states and rounded at the end."""
    states = [
        dict(zip(inputs_of(name, base), rows, strict=True))
        for rows in zip(*inputs_of(name, base).values(), strict=True)
    ]
    rows = [reference(name, base, state) for state in states]
    return {
        function: [np.stack(outputs) for outputs in zip(*(row[function] for row in rows), strict=True)]
        for function in rows[0]
    }


def reference(name: str, base: Base, state: Mapping[str, Array]) -> dict[str, list[Array]]:
    model = robot(name, base).model
    flat, v, tau = ([DIGITS.mpf(x) for x in state[key].tolist()] for key in ("q", "v", "tau"))
    q = coordinates(model, flat, DIGITS.cos, DIGITS.sin)
    Minv = DIGITS.matrix(crba(model, q)) ** -1
    a = Minv * (DIGITS.matrix(tau) - DIGITS.matrix(nonlinear_effects(model, q, v)))
    derivatives = rnea_derivatives(model, q, v, list(a))
    da_dq, da_dv = (-Minv * DIGITS.matrix(rows) for rows in derivatives[:2])
    return {
        "minv": [rounded(Minv)],
        "aba": [rounded(a)[:, 0]],
        "aba_derivatives": [rounded(da_dq), rounded(da_dv), rounded(Minv)],
    }


def rounded(matrix: Any) -> Array:
    return np.array(matrix.tolist(), dtype=float)


@pytest.mark.parametrize(("name", "base"), few(ROBOTS[:4], ROBOTS))
@parametrize("minv", "aba", "aba_derivatives")
def test_against_forty_digits(form: Form, name: str, base: Base) -> None:
    ours = interpreted(form, graph_of(form, name, base, engine="graph"), inputs_of(name, base))
    pairs = zip(ours, references(name, base)[form.function.name], strict=True)
    errors = [relative_error(x, y) for x, y in pairs]
    assert max(errors) < TOLERANCE
