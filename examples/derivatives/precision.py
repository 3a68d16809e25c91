"""How exact finite differences are: Fig. 3 of the paper, and the errors for all steps.

Fig. 3 is of a random configuration at rest without gravity, where ID and FD do not change with v to first
order: their derivatives by v are zero.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

import rbdgen
from benchmarks.contestants import Contest
from benchmarks.states import Rows, random_states
from examples.derivatives.generated import STEP
from rbdgen.pipeline.robot import load_robot
from rbdgen.runtime import Library

FUNCTIONS: Final = {"ID": "rnea", "FD": "aba"}

STEPS: Final = tuple(10.0 ** (-k / 2) for k in range(2, 25))
"""The steps of finite differences, from 1e-1 to 1e-12."""


class Zeros(NamedTuple):
    """The derivative by v, (nv, nv), where it is zero."""

    analytical: Rows
    differences: Rows


class Errors(NamedTuple):
    """Errors relative to the largest entry of the derivative by v at a random state, for each of STEPS."""

    forward: Rows
    central: Rows


def zeros(contest: Contest, seed: int = 0) -> dict[str, Zeros]:
    """The derivatives of ID and FD by v at rest without gravity."""
    library = _library(contest, gravity=(0, 0, 0))
    rest = np.zeros(library.nv)
    q = library.random(seed)
    return {
        label: Zeros(
            library.functions[f"{name}_derivatives"](q, rest, rest)[1],
            by_velocity(library.functions[name], q, rest, rest, STEP),
        )
        for label, name in FUNCTIONS.items()
    }


def errors(contest: Contest, seed: int = 0) -> dict[str, Errors]:
    """The errors of finite differences of ID and FD at a random state, with gravity."""
    library = _library(contest)
    state = random_states(library.nv, floating=contest.floating, count=1, seed=seed)
    q, v, third = state.q[0], state.v[0], state.a[0]
    found = {}
    for label, name in FUNCTIONS.items():
        function = library.functions[name]
        exact = library.functions[f"{name}_derivatives"](q, v, third)[1]
        rows = [
            [
                np.abs(by_velocity(function, q, v, third, step, central=central) - exact).max()
                / np.abs(exact).max()
                for step in STEPS
            ]
            for central in (False, True)
        ]
        found[label] = Errors(*map(np.array, rows))
    return found


def by_velocity(function: Any, q: Rows, v: Rows, third: Rows, step: float, *, central: bool = False) -> Rows:
    """The derivative of a function of (q, v, third) by v, by differences in one call for all directions."""
    nv = len(v)
    moves = np.concatenate([np.eye(nv), -np.eye(nv) if central else np.zeros((nv, nv))]) * step
    rows = [np.tile(x, (2 * nv, 1)) for x in (q, v, third)]
    forward, backward = np.split(function(rows[0], rows[1] + moves, rows[2]), 2)
    return np.asarray((forward - backward).T / (2 * step if central else step))


def _library(contest: Contest, **options: Any) -> Library:
    robot = load_robot(contest.urdf, contest.base, mimic="independent", **options)
    return rbdgen.build(robot, ["rnea", "aba", "rnea_derivatives", "aba_derivatives"])
