"""Rows of contacts on limbs that stand for several alike ones, see `Lanes`.

A row of such a contact is a value with lanes. It stands for one row in each of the lanes that hold the
contact. The system of all contact forces is solved on numbers, which are taken out of the lanes and put back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from rbdgen.model.contacts import Contact
from rbdgen.spatial.scalar import Scalar
from rbdgen.sweeps.inputs import ALONE, Lanes


class Place(NamedTuple):
    """A row of the whole system."""

    row: int
    """The row of a contact, which may stand for several."""
    lane: int | None
    """The lane of its limb; None if the row stands for itself alone."""


@dataclass(frozen=True)
class RowLanes:
    """The lanes that hold each row, and the operations over lanes."""

    lanes: Lanes = ALONE
    numbers: Sequence[Sequence[int | None]] = ()
    """For each row, its number in the whole system in each lane, None in lanes that do not hold it. A row
    that stands for itself alone has a single number.
    """
    inside: Set[int] = frozenset()
    """The degrees of freedom that stand for several."""

    @classmethod
    def of(cls, contacts: Sequence[Contact], lanes: Lanes, inside: Set[int]) -> RowLanes:
        """The lanes of the rows of these contacts."""
        each = list(zip(contacts, lanes.contacts, strict=True)) if lanes.contacts else []
        widths = {own: contact.rows for contact, held in each for own in held if own is not None}
        before = accumulate((widths[own] for own in sorted(widths)), initial=0)
        first = dict(zip(sorted(widths), before, strict=False))
        numbers = [
            [None if own is None else first[own] + row for own in held]
            for contact, held in each
            for row in range(contact.rows)
        ]
        return cls(lanes, numbers, inside)

    @property
    def several(self) -> list[int]:
        """The rows that stand for several."""
        return [row for row, numbers in enumerate(self.numbers) if len(numbers) > 1]

    def places(self) -> Iterator[Place]:
        """The rows of the whole system in order."""
        found = {
            number: Place(row, lane if len(numbers) > 1 else None)
            for row, numbers in enumerate(self.numbers)
            for lane, number in enumerate(numbers)
            if number is not None
        }
        return (found[number] for number in sorted(found))

    def system(
        self, own: Sequence[Sequence[Scalar]], between: Sequence[Sequence[Scalar | None]]
    ) -> list[list[Scalar]]:
        """The matrix of the whole system, whose entries are numbers.

        `own` has the entries between rows of one lane. `between` is that of `between_limbs`.
        """
        if not self.several:
            return [list(row) for row in own]
        n, count, places = len(own), self.lanes.count, list(self.places())

        def entry(a: Place, b: Place) -> Scalar:
            if a.lane is None or b.lane is None or a.lane == b.lane:
                lane, value = (b.lane if a.lane is None else a.lane), own[a.row][b.row]
                return value if lane is None else self.lanes.apart(value)[lane]
            value = between[n * ((b.lane - a.lane) % count - 1) + a.row][b.row]
            return entry(b, a) if value is None else self.lanes.apart(value)[a.lane]

        upper = [[entry(a, b) for b in places[k:]] for k, a in enumerate(places)]
        return [[upper[min(i, j)][abs(i - j)] for j in range(len(places))] for i in range(len(places))]

    def spread(self, values: Sequence[Scalar]) -> list[Scalar]:
        """The numbers of the whole system, from a value for each row."""
        if not self.several:
            return list(values)
        return [
            values[row] if lane is None else self.lanes.apart(values[row])[lane]
            for row, lane in self.places()
        ]

    def gathered(self, numbers: Sequence[Scalar]) -> list[Scalar]:
        """A value for each row, from the numbers of the whole system. It is 0 in lanes that do not hold the
        row.
        """
        if not self.several:
            return list(numbers)
        own, lanes = dict(zip(self.places(), numbers, strict=True)), range(self.lanes.count)
        return [
            self.lanes.together([own.get(Place(row, lane), 0) for lane in lanes])
            if len(numbers) > 1
            else own[Place(row, None)]
            for row, numbers in enumerate(self.numbers)
        ]


EACH_ALONE = RowLanes()
"""No row stands for several."""
