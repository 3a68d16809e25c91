"""Measures calls in turns, and compares those of frameworks with a library's bound calls."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.batch import inputs_of, least
from benchmarks.contestants import present
from rbdgen.model.build import Robot
from rbdgen.options import Options
from rbdgen.pipeline.page import build_library
from rbdgen.pipeline.robot import load_robot
from rbdgen.runtime import Library

CASES: Final = (("arm7", "rnea"), ("arm7", "aba"), ("quadruped12", "rnea"))
STATES: Final = 1024

Array = NDArray[np.float64]
Call = Callable[[], object]
Times = Mapping[str, Mapping[str, float]]
"""Times by implementation and by measured quantity, whose name includes the unit."""


@dataclass(frozen=True)
class Case:
    """A function of a robot with its inputs at all states, and the weights of its results in a loss."""

    urdf: str
    robot: Robot
    library: Library
    function: str
    inputs: list[Array]
    weights: Array

    def of(self, states: int) -> tuple[list[Array], Array]:
        """The inputs and weights of the first states; a single state has no leading axis."""
        some = 0 if states == 1 else slice(states)
        return [np.ascontiguousarray(x[some]) for x in self.inputs], np.ascontiguousarray(self.weights[some])

    def bound(self, states: int) -> tuple[Call, Call]:
        """Bound calls of the library for the value, and for the gradient by the elements of q."""
        inputs, weights = self.of(states)
        value, vjp = (self.library.functions[name] for name in (self.function, f"{self.function}_vjp"))
        return value.bind(*inputs), vjp.bind(*inputs, weights)


Contestants = Callable[[Case, int], Mapping[str, tuple[Call, Call]]]
"""Makes, for a number of states, the calls of each implementation for values and for gradients."""


def cases(contestants: Contestants, repetitions: int) -> Iterator[tuple[str, Times]]:
    """The times of batches and of one state, with those of bound calls."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    for name, function in CASES:
        case = _case(name, function)
        times = {
            states: in_turns({"bound": case.bound(states), **contestants(case, states)}, repetitions)
            for states in (STATES, 1)
        }
        many, one = times[STATES], times[1]
        yield (
            f"{name} {function}",
            {
                who: {
                    "value, ns a state": many[who][0] / STATES,
                    "gradient, ns a state": many[who][1] / STATES,
                    "one state, ns": one[who][0],
                    "its gradient, ns": one[who][1],
                }
                for who in many
            },
        )


def _case(name: str, function: str) -> Case:
    contest = next(contest for contest in present() if contest.name == name)
    robot = load_robot(contest.urdf, contest.base, mimic="independent")
    functions = [function, f"{function}_vjp", f"{function}_jvp"]
    library = build_library(robot, Options.of(functions=functions, coordinates=True))
    *inputs, weights = inputs_of(library, f"{function}_vjp", STATES)
    return Case(str(contest.urdf), robot, library, function, inputs, weights)


def in_turns(calls: Mapping[str, Any], repetitions: int) -> dict[str, list[float]]:
    """The smallest times of each pair of calls, in ns, over many short runs in which all take turns."""
    numbers = {}
    for who, pair in calls.items():
        for call in pair:
            call(), call()
        numbers[who] = [max(1, int(1e6 / least(call, 1, 3))) for call in pair]
    best = {who: [np.inf] * len(pair) for who, pair in calls.items()}
    for _ in range(repetitions):
        for who, pair in calls.items():
            for k, call in enumerate(pair):
                best[who][k] = min(best[who][k], least(call, numbers[who][k], 1))
    return best
