"""Verdicts on cases, and campaigns of random robots whose cases share a robot and what is traced of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from attack.tally import Tally, total
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Verdict:
    """On a case; `words` say what is wrong, with its size.

    `ill_conditioned`: what is right could not be told; `covers`: what the case has tried, for campaigns that
    tell how much of all that there is they have covered.
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
"""Gives the verdicts on a trace, one for every state; a trace without verdicts is no case."""


@dataclass(frozen=True)
class ByRobots:
    """A campaign that takes all cases of a robot, then those of the next one.

    A trace is one program of a robot, which is tried at some states; every state is a case.
    """

    name: str
    """Of the campaign, as the command line has it."""
    kinds: Mapping[str, str]
    """Of robots, which take turns."""
    traces: int
    """Of a robot, at most."""
    states: int
    """Of a trace."""
    of_robot: Callable[[int, int, Collection[int]], Verdicts]
    """From the seed, the number of the robot and those of the traces that will be asked for."""

    def run(self, seed: int, size: int) -> Tally:
        """So many cases; of few cases some are of every kind of robot."""
        each = min(self.traces * self.states, max(1, size // len(self.kinds)))
        tally = Tally()
        for number in range(size):  # most robots have all their cases, so that far fewer robots do
            if tally.tried == size:
                break
            tally += self.of_cases(seed, number, range(min(each, size - tally.tried)))
        return tally

    def run_case(self, seed: int, number: int) -> Tally:
        """The case of this number, as a note names it."""
        robot, case = divmod(number, self.traces * self.states)
        return self.of_cases(seed, robot, [case])

    def of_cases(self, seed: int, number: int, cases: Sequence[int]) -> Tally:
        """These cases of a robot, by their numbers among all of it."""
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
    """Of cases and the verdicts on them."""
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
    """Infinite where an element is no number."""
    return float(np.abs(x).max(initial=0.0)) if np.isfinite(x).all() else np.inf
