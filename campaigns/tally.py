"""The result of a campaign: the counts of cases tried and failed, and notes that reproduce failures.

A campaign is a module of this folder. Its docstring says in plain words what it attacks, `KINDS` names the
kinds of cases, and `run(seed, size)` tries about `size` cases that depend on the seed alone. A campaign may
have `COVERED`, the lists by name of what its cases should all have covered.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce

MOST_NOTES = 40
"""The number of failures with a note each; further ones are only counted."""


@dataclass(frozen=True)
class Tally:
    """Counts of cases; `wrong`: a wrong result or a wrong word, `crashed`: an error that nobody meant.

    `ill_conditioned`: results that no double could have got right, so that nothing was learnt from them;
    `notes`: the first failures, one line each, with what reproduces them; `covered`: what was tried, for
    campaigns that tell how much of all that there is they have covered.
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
        """Gives a tally, also from a plain dictionary with the counts of cases tried, wrong and crashed."""
        if isinstance(counts, Tally):
            return counts
        return Tally(counts["tried"], counts["wrong"], counts["crashed"])


def total(tallies: Iterable[Tally]) -> Tally:
    return reduce(Tally.__add__, tallies, Tally())
