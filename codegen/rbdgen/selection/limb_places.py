"""The places of array elements for a smaller robot on which one limb stands for several alike ones.

Every axis of an array is a size of the robot, such as nv. Each of its elements in the smaller robot stands
for one element of the whole robot in each lane, or for a single one that is not on these limbs. A contact
that only some lanes hold has no place in the others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, product
from types import MappingProxyType
from typing import Final, TypeAlias

from rbdgen.access import Access
from rbdgen.model.contacts import Contact
from rbdgen.model.model import Model

Lanes: TypeAlias = tuple[int | None, ...]
"""The place of an element in each lane, None if it has none; a single place if it is not on alike limbs."""

OF_CONTACTS: Final[Mapping[str, Callable[[Contact], int]]] = MappingProxyType(
    {
        "ncontacts": lambda _: 1,
        "nc": lambda contact: contact.rows,
        "nshare": lambda contact: contact.rows // 3,
        "nanchor": lambda contact: contact.anchor,
    }
)
"""The sizes of axes over contacts, each with the number of elements of a contact."""

OF_BODIES: Final[Mapping[str, int]] = MappingProxyType({"nbodies": 1, "ninertial": 10})
"""The sizes of axes over bodies, each with the number of elements of a body."""


@dataclass(frozen=True)
class Places:
    """The places of the elements of arrays."""

    model: Model
    """The whole robot."""
    bodies: Sequence[Sequence[int]]
    """For each lane, the bodies of the smaller robot, by their numbers in the whole robot."""
    contacts: Sequence[Lanes]
    """For each contact of the smaller robot, its number in the whole robot in each lane."""

    def of(self, shape: Sequence[str | int]) -> list[Lanes]:
        """The places of the elements of an array of this shape, row-major."""
        lanes = len(self.bodies)
        sizes = [size if isinstance(size, int) else self.model.sizes[size] for size in shape]
        found: list[list[int | None]] = [[0] * lanes]
        for size, axis in zip(sizes, map(self._axis, shape), strict=True):
            found = [
                [
                    None if row is None or at is None else size * row + at
                    for row, at in zip(before, own if len(own) > 1 else own * lanes, strict=True)
                ]
                for before, own in product(found, axis)
            ]
        return [_single(tuple(lanes)) for lanes in found]

    def between_limbs(self, axis: str) -> list[list[Lanes]]:
        """The places of entries of a square matrix between the limb of each lane and the limb some lanes
        ahead, and those of their mirror images. Entries that are not between limbs have no places.

        They are ordered by the number of lanes ahead, then by row and column.
        """
        rows, size = self._axis(axis), self.model.sizes[axis]

        def at(row: Lanes, column: Lanes) -> Lanes:
            pairs = zip(row, column, strict=True)
            return tuple(None if i is None or j is None else size * i + j for i, j in pairs)

        turned = (
            (row, (*column[distance:], *column[:distance]))
            for distance in range(1, len(self.bodies))
            for row in rows
            for column in rows
        )
        several = len(self.bodies)
        return [
            [at(row, column), at(column, row)] if len(row) == len(column) == several else []
            for row, column in turned
        ]

    def _axis(self, size: str | int) -> list[Lanes]:
        """The places along an axis of this size."""
        if isinstance(size, int):
            return [(k,) for k in range(size)]
        if size in OF_CONTACTS:
            return self._of_contacts(OF_CONTACTS[size])
        spans = self._spans(size)
        return [
            _single(elements)
            for bodies in zip(*self.bodies, strict=True)
            for elements in zip(*(spans[i] for i in bodies), strict=True)
        ]

    def _of_contacts(self, width: Callable[[Contact], int]) -> list[Lanes]:
        widths = list(map(width, self.model.contacts))
        starts = list(accumulate(widths, initial=0))
        return [
            tuple(None if own is None else starts[own] + k for own in lanes)
            for lanes in self.contacts
            for k in range(max(widths[own] for own in lanes if own is not None))
        ]

    def _spans(self, size: str) -> list[range]:
        """The elements along an axis of this size that belong to each body."""
        joints = [body.joint for body in self.model.bodies]
        if size == "nq":
            return [range(joint.idx_q, joint.idx_q + joint.nq) for joint in joints]
        if size in OF_BODIES:
            width, rows = OF_BODIES[size], {i: row for row, i in enumerate(self.model.visible)}
            spans = [range(width * row, width * (row + 1)) for row in range(len(rows))]
            return [spans[rows[i]] if i in rows else range(0) for i in range(len(joints))]
        assert size in ("nv", "njoints"), f"an axis of size {size} has no places on limbs"
        base = self.model.sizes["nv"] - self.model.sizes[size]
        spans = [range(joint.idx_v - base, joint.idx_v + joint.nv - base) for joint in joints]
        return [own if own.start >= 0 else range(0) for own in spans]


def accesses(name: str, places: Sequence[Sequence[int]]) -> dict[str, tuple[Access, list[int]]]:
    """An array in parts with equal steps from lane to lane, each with its access and its elements."""
    parts = defaultdict(list)
    for k, at in enumerate(places):
        parts[tuple(lane - min(at) for lane in at)].append(k)
    return {
        f"{name}_of_limbs{number}" if len(steps) > 1 else name: (
            Access(name, tuple(min(places[k]) for k in elements), steps),
            elements,
        )
        for number, (steps, elements) in enumerate(parts.items())
    }


def somewhere(lanes: Lanes) -> tuple[int, ...]:
    """The places from which to read in each lane: any place in lanes that have none of their own."""
    first = next(at for at in lanes if at is not None)
    return tuple(first if at is None else at for at in lanes)


def _single(lanes: Lanes) -> Lanes:
    """The places of an element in all lanes; a single place if all are the same."""
    return lanes[:1] if len(set(lanes)) == 1 else lanes
