"""The result of a campaign: the counts of cases tried and failed, and notes that reproduce failures.

A campaign is a module of this folder. Its docstring says in plain words what it attacks, `KINDS` names the
kinds of cases, and `run(seed, size)` tries about `size` cases that depend on the seed alone. A campaign may
have `COVERED`: lists, by name, of items that its cases should cover.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce

MOST_NOTES = 40
"""The largest number of notes; further failures are only counted."""


@dataclass(frozen=True)
class Tally:
    """Counts of cases.

    `tried` counts all cases, `wrong` those with a wrong result or text, `crashed` those with an unintended
    error, and `ill_conditioned` those whose results no computation in double can get right. `notes` has a
    line for each of the first failures, with the command that reproduces it. `covered` has the items of
    `COVERED` that were tried.
    """

    tried: int = 0
    wrong: int = 0
    crashed: int = 0
    ill_conditioned: int = 0
    notes: tuple[str, ...] = ()
    covered: frozenset[str] = frozenset()

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.tried + other.tried,
            self.wrong + other.wrong,
            self.crashed + other.crashed,
            self.ill_conditioned + other.ill_conditioned,
            (self.notes + other.notes)[:MOST_NOTES],
            self.covered | other.covered,
        )

    @property
    def failed(self) -> int:
        return self.wrong + self.crashed

    @staticmethod
    def of(counts: Tally | Mapping[str, int]) -> Tally:
        """The tally with these counts, which may be a dictionary with `tried`, `wrong` and `crashed`."""
        if isinstance(counts, Tally):
            return counts
        return Tally(counts["tried"], counts["wrong"], counts["crashed"])


def total(tallies: Iterable[Tally]) -> Tally:
    return reduce(Tally.__add__, tallies, Tally())
