"""Sweeps over the bodies of a robot: an algorithm says once what happens at a body, drivers run it.

    Outward   from the root to the leaves: a body's record from its parent's
    Inward    from the leaves to the root: a body adds its own to its children's, and hands on to its parent
    Climb     from every body to each of its ancestors: a record of the body, changed at each of them
    Freedoms  for every degree of freedom, from what was given for it and for its body
    Pairs     for every degree of freedom and each one above it: an entry of a matrix

A step is a pure function of a placed body and of what it reads, the same for joints of every type; it does
not know how values travel. The driver `straight` hands objects from body to body while an expression is
traced, so that zeros vanish; the driver `looped` traces a step once and keeps records in arrays.

What a step reads, by name: `placement` (rotation and translation of the body), `moments`, the inputs `v`,
`a`, `tau` and `fext`, what an earlier sweep gave, and `upward` (minus gravity, in world axes). An input that
is not read is 0, `fext` None. What it gives, by name: a record, a list with a number or a record for each of
the joint's degrees of freedom, its body's part of a total, or a list of entries of a matrix, row by row: `M`
in the rows of the ancestor and `M_below` in its columns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, TypeAlias

from rbdgen.spatial.scalar import Scalar, add
from rbdgen.sweeps.bodies import Body, Placed
from rbdgen.sweeps.records import Kind, Total

INPUTS = ("v", "a", "tau")
"""Inputs with a number for a degree of freedom."""

BASE = 6
"""Degrees of freedom of a floating base."""

BASE_LOWER = tuple((i, j) for i in range(BASE) for j in range(i))
"""The entries below the diagonal of a triangular matrix over them, row by row."""


Given: TypeAlias = SimpleNamespace
"""What a step reads, as attributes; of an outward sweep also `parent`."""

Gives: TypeAlias = Mapping[str, Any]

Step: TypeAlias = Callable[[Any, Given], Gives]


def unread(nv: int) -> Given:
    """What a step sees of inputs that it does not read."""
    return Given(fext=None, **{name: [0] * nv for name in INPUTS})


@dataclass(frozen=True)
class Outward:
    """`carries`: which of what a step gives goes on to the children; `world`: that of the world.

    `base`: the step of a floating base, where records are in its axes; `base_reads`: what it has to read, if
    less than others: the world's motion is 0, so that some of its terms vanish; `totals`: sums over all
    bodies of what steps give by these names, and what the world adds to them.
    """

    name: str
    carries: str
    step: Step
    world: Callable[[Given], Any]
    reads: Sequence[str]
    gives: Mapping[str, Kind]
    base: Step | None = None
    base_reads: Sequence[str] | None = None
    totals: Mapping[str, Callable[[Given], Scalar]] = field(default_factory=dict)

    @property
    def kinds(self) -> Mapping[str, Kind]:
        """Of all that a step gives."""
        return {**self.gives, **dict.fromkeys(self.totals, Total)}

    def of_world(self, world: Given) -> dict[str, Any]:
        """What the world gives: its record, and its part of the totals."""
        return {self.carries: self.world(world), **{name: own(world) for name, own in self.totals.items()}}

    def added(self, gives: Gives, before: Mapping[str, Any]) -> Gives:
        """What a step gives, its part of the totals added to those before it."""
        return {**gives, **{name: add(before[name], gives[name]) for name in self.totals}}

    @property
    def of_base(self) -> Sequence[str]:
        """What a floating base's step reads."""
        return self.reads if self.base_reads is None else self.base_reads


@dataclass(frozen=True)
class Sum:
    """What bodies hand on to their parents, added up. `own`: what a body starts with, None where an earlier
    sweep gave it."""

    kind: Kind
    own: Callable[[Body], Any] | None = None


@dataclass(frozen=True)
class Inward:
    """A step reads the `sums` of its body and gives, by the same names, what it hands on to the parent.

    `base_gives`: what later sweeps read of what it gives at a floating base; without it, only the outward
    sweep that follows reads there.
    """

    name: str
    sums: Mapping[str, Sum]
    step: Step
    reads: Sequence[str] = ()
    gives: Mapping[str, Kind] = field(default_factory=dict)
    base_gives: Mapping[str, Kind] = field(default_factory=dict)


@dataclass(frozen=True)
class Climb:
    """The record `carries` of every degree of freedom goes to each ancestor of its body.

    `carry`: one step to the parent, in its axes; `step`: what the ancestor makes of it; `onward`: the record
    that goes on from there, if it changes; both read of the ancestor, `onward` also what `step` gave.
    """

    name: str
    carries: str
    carry: Callable[[Placed, Any], Any]
    step: Step
    gives: Sequence[str]
    onward: Callable[[Any, Given], Any] | None = None
    reads: Sequence[str] = ()
    base_reads: Sequence[str] = ()


@dataclass(frozen=True)
class Freedoms:
    """A step reads what was given for a degree of freedom, or for its body."""

    name: str
    step: Callable[[Given], Gives]
    reads: Sequence[str]
    gives: Mapping[str, Kind]


@dataclass(frozen=True)
class Pairs:
    """Entries between a degree of freedom and one above it, which `step` reads as `other`.

    `gives`: matrices; `step` gives an entry and the one `_below`, of `symmetric` matrices only the first.
    `own`: entries between two of one joint, in both orders; of one with itself `step` gives the same, only
    less simply.
    """

    name: str
    step: Callable[[Given], Gives]
    own: Callable[[Given], Gives]
    reads: Sequence[str]
    other_reads: Sequence[str]
    gives: Sequence[str]
    symmetric: Sequence[str] = ()


Sweep: TypeAlias = Outward | Inward | Climb | Freedoms | Pairs


def names_read(sweep: Sweep) -> set[str]:
    """All that a sweep needs of earlier ones."""
    fields = ("reads", "base_reads", "other_reads", "sums")
    read = {name for field in fields for name in getattr(sweep, field, None) or ()}
    return read | {sweep.carries} if isinstance(sweep, Climb) else read
