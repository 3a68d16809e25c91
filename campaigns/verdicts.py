"""Verdicts on cases, and campaigns of random robots in which cases share a robot and its programs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from campaigns.tally import Tally, total

ALLOWED = 100.0
"""An error is excused up to this many times the effect of a small change of the inputs."""

Array = NDArray[np.float64]
Inputs = Mapping[str, Array]


@dataclass(frozen=True)
class Verdict:
    """The verdict on a case; `words` say what is wrong, and by how much.

    If the case is `ill_conditioned`, the right result is not known well enough. `covers` has the items of the
    campaign's `COVERED` that the case has tried.
    """

    words: str = ""
    wrong: bool = False
    crashed: bool = False
    ill_conditioned: bool = False
    covers: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        return self.wrong or self.crashed


Verdicts = Callable[[int], Sequence[Verdict]]
"""Returns the verdicts on the trace with this number, one for every state; without verdicts, it does not
count."""


@dataclass(frozen=True)
class ByRobots:
    """A campaign that takes all cases of a robot, then those of the next one.

    A trace is one program of a robot, which is tried at some states; every state is a case.
    """

    name: str
    """The name of the campaign on the command line."""
    kinds: Mapping[str, str]
    """The kinds of robots, which take turns."""
    traces: int
    """The largest number of traces of a robot."""
    states: int
    """The number of states of a trace."""
    of_robot: Callable[[int, int, Collection[int]], Verdicts]
    """Gives verdicts from the seed, the number of the robot, and the numbers of the requested traces."""

    def run(self, seed: int, size: int) -> Tally:
        """Runs this number of cases, which include every kind of robot even if they are few."""
        each = min(self.traces * self.states, max(1, size // len(self.kinds)))
        tally = Tally()
        for number in range(size):  # an upper bound of the number of robots
            if tally.tried == size:
                break
            tally += self.of_cases(seed, number, range(min(each, size - tally.tried)))
        return tally

    def run_case(self, seed: int, number: int) -> Tally:
        """Runs the case with this number, which is in the note of a failure."""
        robot, case = divmod(number, self.traces * self.states)
        return self.of_cases(seed, robot, [case])

    def of_cases(self, seed: int, number: int, cases: Sequence[int]) -> Tally:
        """Runs cases of a robot, given by their numbers among the robot's cases."""
        traces: dict[int, list[int]] = {}
        for case in cases:
            trace, state = divmod(case, self.states)
            traces.setdefault(trace, []).append(state)
        name = f"--only {self.name} --seed {seed} --case"
        first = number * self.traces * self.states
        try:
            verdicts = self.of_robot(seed, number, traces)
        except Exception as error:
            return Tally(len(cases), crashed=len(cases), notes=(f"{name} {first + cases[0]}: {error!r}",))
        return total(
            _of_trace(name, first + trace * self.states, states, trace, verdicts)
            for trace, states in traces.items()
        )


def _of_trace(name: str, first: int, states: Sequence[int], trace: int, verdicts: Verdicts) -> Tally:
    try:
        found = verdicts(trace)
    except Exception as error:
        return Tally(len(states), crashed=len(states), notes=(f"{name} {first}: {error!r}",))
    return tally_of((f"{name} {first + state}", found[state]) for state in states if found)


def tally_of(verdicts: Iterable[tuple[str, Verdict]]) -> Tally:
    """The tally of verdicts, given as pairs of a case's name and its verdict."""
    chosen = list(verdicts)
    return Tally(
        len(chosen),
        wrong=sum(verdict.wrong for _, verdict in chosen),
        crashed=sum(verdict.crashed for _, verdict in chosen),
        ill_conditioned=sum(verdict.ill_conditioned for _, verdict in chosen),
        notes=tuple(f"{case}: {verdict.words}" for case, verdict in chosen if verdict.failed),
        covered=frozenset(what for _, verdict in chosen for what in verdict.covers),
    )


def largest(x: Array) -> float:
    """The largest magnitude; infinite if an element is not a finite number."""
    return float(np.abs(x).max(initial=0.0)) if np.isfinite(x).all() else np.inf


def perturb(inputs: Inputs, rng: np.random.Generator) -> dict[str, Array]:
    """Changes the inputs by about 1e-13 of their size; the effect excuses errors of ill-conditioned cases."""
    return {name: x * (1 + 1e-13 * rng.normal(size=x.shape)) for name, x in inputs.items()}


def excuse_of(changed: Sequence[Array], right: Sequence[Array]) -> float:
    """The largest error that the effect of a small change of the inputs excuses."""
    return ALLOWED * max(largest(x - y) for x, y in zip(changed, right, strict=True))
