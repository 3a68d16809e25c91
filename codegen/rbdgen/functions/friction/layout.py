"""The rows and impulses of contacts among those of all contacts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rbdgen.model.contacts import Contact


class Touch(NamedTuple):
    """A point that can touch the ground: its number among all of them, and the place of its impulse."""

    number: int
    impulse: slice


@dataclass(frozen=True)
class Block:
    """The rows of one contact, and its impulses. A joint with limits or dry friction is a block of one row.

    A contact has an impulse for each row, except for a sole, which has six rows, and three impulses for each
    corner.
    """

    first: int
    size: int
    place: int
    """The first of its impulses among those of all contacts."""
    numbers: range
    """The numbers of its points among all that can touch the ground; none for a bilateral contact."""
    corners: range
    """The numbers of its corners among those of all soles; none for other contacts."""
    joints: range = range(0)
    """The number among the joints with limits or dry friction if it is the row of one; none for contacts."""

    @property
    def rows(self) -> slice:
        return slice(self.first, self.first + self.size)

    @property
    def count(self) -> int:
        """The number of its impulses."""
        return 3 * len(self.numbers) or self.size

    @property
    def impulses(self) -> slice:
        return slice(self.place, self.place + self.count)

    @property
    def touches(self) -> list[Touch]:
        """The points that can touch the ground."""
        return [
            Touch(number, slice(self.place + 3 * k, self.place + 3 * k + 3))
            for k, number in enumerate(self.numbers)
        ]


def blocks_of(contacts: Sequence[Contact], joints: int = 0) -> list[Block]:
    """The rows and impulses of every contact, and after them those of joints with limits or dry friction."""
    found: list[Block] = []
    number = corner = 0
    for contact in contacts:
        first, place = (found[-1].rows.stop, found[-1].impulses.stop) if found else (0, 0)
        numbers = range(number, number + contact.touching)
        corners = range(corner, corner + len(contact.corners))
        found.append(Block(first, contact.rows, place, numbers, corners))
        number, corner = numbers.stop, corners.stop
    for joint in range(joints):
        first, place = (found[-1].rows.stop, found[-1].impulses.stop) if found else (0, 0)
        none = range(number, number), range(corner, corner)
        found.append(Block(first, 1, place, *none, range(joint, joint + 1)))
    return found
