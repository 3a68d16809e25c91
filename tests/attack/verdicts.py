"""Verdicts on cases that share a robot and what is traced of it, and their tally."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from attack.tally import Tally, total
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Verdict:
    """On a case; `excused`: what is right could not be told."""

    words: str = ""
    wrong: bool = False
    excused: bool = False


def by_robots(size: int, most: int, kinds: int, of_robot: Callable[[int, Sequence[int]], Tally]) -> Tally:
    """So many cases, up to `most` of a robot; of few cases some of every kind of robot."""
    each = min(most, max(1, size // kinds))
    robots = -(-size // each)
    return total(of_robot(k, range(min(each, size - k * each))) for k in range(robots))


def tallied(
    name: str, first: int, cases: Iterable[int], states: int, verdicts: Callable[[int], Iterable[Verdict]]
) -> Tally:
    """Some cases of a robot, told by their numbers from `first` on; `verdicts`: of a trace on all states."""
    traces: dict[int, list[int]] = {}
    for case in cases:
        trace, state = divmod(case, states)
        traces.setdefault(trace, []).append(state)
    return total(_of_trace(name, first + k * states, chosen, k, verdicts) for k, chosen in traces.items())


def _of_trace(
    name: str,
    first: int,
    states: Sequence[int],
    trace: int,
    verdicts: Callable[[int], Iterable[Verdict]],
) -> Tally:
    try:
        found = list(verdicts(trace))
    except Exception as error:
        return Tally(len(states), crashed=len(states), notes=(f"{name} {first}: {error!r}",))
    chosen = [(first + state, found[state]) for state in states]
    return Tally(
        len(states),
        wrong=sum(verdict.wrong for _, verdict in chosen),
        ill_conditioned=sum(verdict.excused for _, verdict in chosen),
        notes=tuple(f"{name} {number}: {verdict.words}" for number, verdict in chosen if verdict.wrong),
    )


def largest(x: Array) -> float:
    """Infinite where an element is no number."""
    return float(np.abs(x).max(initial=0.0)) if np.isfinite(x).all() else np.inf
