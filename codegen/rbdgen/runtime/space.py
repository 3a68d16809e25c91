"""The space of a joint's coordinates: its elements of q and v, and the formulas that move in it.

A joint type defines its space; a manifest lists the spaces of its joints. The runtime does not depend on
which spaces exist, only on the kinds of elements.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from .straight_line import Columns, StraightLine

Element = Literal["angle", "full_turn", "length", "quaternion"]
"""The kind of an element of q: an angle in rad of which functions only read the sine and the cosine; an angle
in rad that counts whole turns, as that of a screw; a length in m; or one of the four elements x y z w of a
unit quaternion.
"""

Move = Callable[[Columns, Columns], Sequence[Any]]

MOVES: Final = ("integrate", "difference", "velocities")
"""The names of the formulas of a space, as fields of `Space` and in its row of a manifest."""


@dataclass(frozen=True)
class Space:
    """The space of the coordinates of a joint. Two spaces of the same name are the same."""

    name: str
    elements: tuple[Element, ...]
    """The kinds of the elements of q, in order."""
    nv: int
    """The number of elements of v."""
    layout: str
    """The elements of q and v in words; empty if there is one of each."""
    flat: bool
    """Whether v is dq/dt."""
    integrate: Move = field(compare=False, repr=False)
    """The elements of q after one second at constant velocity, from those of q and v."""
    difference: Move = field(compare=False, repr=False)
    """The elements of v that lead from the first to the second elements of q in one second."""
    velocities: Move = field(compare=False, repr=False)
    """The elements of v, from those of q and dq/dt; linear in the latter."""

    @classmethod
    def of(cls, name: str, row: Mapping[str, Any]) -> Space:
        """The space that a row of a manifest describes."""
        moves = (StraightLine.of(row[move]) for move in MOVES)
        return cls(name, tuple(row["elements"]), row["nv"], row["layout"], row["flat"], *moves)

    @property
    def nq(self) -> int:
        """The number of elements of q."""
        return len(self.elements)

    def of_kind(self, *kinds: Element) -> list[int]:
        """The indices of the elements of q of these kinds."""
        return [k for k, element in enumerate(self.elements) if element in kinds]

    @property
    def quaternions(self) -> list[int]:
        """The index of the first element of every quaternion."""
        return self.of_kind("quaternion")[::4]


@dataclass(frozen=True)
class JointCoordinates:
    """A joint's elements of q and v: q[idx_q : idx_q + nq] and v[idx_v : idx_v + nv]."""

    name: str
    space: Space
    idx_q: int
    idx_v: int

    @property
    def kind(self) -> str:
        """The name of the space."""
        return self.space.name

    @property
    def nq(self) -> int:
        return self.space.nq

    @property
    def nv(self) -> int:
        return self.space.nv

    @property
    def quaternions(self) -> list[int]:
        """The index in q of the first element of every quaternion."""
        return [self.idx_q + k for k in self.space.quaternions]

    @property
    def row(self) -> dict[str, Any]:
        """The joint as a manifest lists it; the spaces are listed apart."""
        numbers = {"idx_q": self.idx_q, "nq": self.nq, "idx_v": self.idx_v, "nv": self.nv}
        return {"name": self.name, "kind": self.kind, **numbers}
