"""Sweeps over the bodies of a robot: an algorithm states once what happens at a body, and drivers run it.

    Outward   from the root to the leaves: computes a body's record from its parent's record
    Inward    from the leaves to the root: adds a body's own part to those of its children, for the parent
    Climb     from every body to each of its ancestors: carries a record of the body up, step by step
    Freedoms  for every degree of freedom: reads what was given for it and for its body
    Pairs     for every degree of freedom and each one above it: computes an entry of a matrix

A step is a pure function of a body and of what it reads. It is the same for joints of all types and does not
know how values travel. The driver `straight` hands objects from body to body while expressions are traced, so
that zeros vanish. The driver `looped` traces a step once and stores records in arrays; so does the driver
`distributed`, which computes all degrees of freedom at once in the lanes of SIMD vectors.

A step reads by name: `placement` (rotation and translation of the body), `moments`, the inputs `v`, `a`,
`tau` and `fext`, what earlier sweeps gave, and `upward` (minus gravity, in world axes). Inputs that it does
not read are 0, and `fext` is None.

A step gives by name: a record; a list with a number or a record for each degree of freedom of the joint; the
body's part of a total; or a list of matrix entries, row by row. Entries named `M` are in the rows of the
ancestor, and entries named `M_below` in its columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, TypeAlias

from rbdgen.spatial.ops import Force
from rbdgen.spatial.scalar import Scalar, add
from rbdgen.sweeps.bodies import Body, Placed, force_to_parent
from rbdgen.sweeps.records import Entry, Kind, Total

INPUTS = ("v", "a", "tau")
"""The inputs that have one number per degree of freedom."""

BASE = 6
"""The number of degrees of freedom of a floating base."""

BASE_LOWER = tuple((i, j) for i in range(BASE) for j in range(i))
"""The entries below the diagonal of a 6 x 6 matrix over these degrees of freedom, row by row."""


Given: TypeAlias = SimpleNamespace
"""The values that a step reads, as attributes. In an outward sweep `parent` is the parent's record."""

Gives: TypeAlias = Mapping[str, Any]
"""The results of a step by name."""

Step: TypeAlias = Callable[[Any, Given], Gives]
"""The function that a sweep runs at a body."""


def unread(nv: int) -> Given:
    """The values of inputs at a step that does not read them, for a joint with nv degrees of freedom."""
    return Given(fext=None, **{name: [0] * nv for name in INPUTS})


@dataclass(frozen=True)
class Outward:
    """A sweep from the root to the leaves."""

    name: str
    carries: str
    """The name of the record, among those that a step gives, that goes to the children as `parent`."""
    step: Step
    world: Callable[[Given], Any]
    """Computes this record for the world."""
    reads: Sequence[str]
    """The names that a step reads."""
    gives: Mapping[str, Kind]
    """The kind of each value that a step gives."""
    base: Step | None = None
    """The step of a floating base, if it differs; its records are in the base's axes."""
    base_reads: Sequence[str] | None = None
    """The names that the step of a floating base reads, if fewer than `reads`.

    The world does not move, so some terms vanish.
    """
    totals: Mapping[str, Callable[[Given], Scalar]] = field(default_factory=dict)
    """The names of numbers that steps give and that are summed over all bodies. The function of each name
    computes the part of the world.
    """

    @property
    def kinds(self) -> Mapping[str, Kind]:
        """The kinds of all values that a step gives, including the totals."""
        return {**self.gives, **dict.fromkeys(self.totals, Total)}

    def of_world(self, world: Given) -> dict[str, Any]:
        """The results of the world: its record and its part of the totals."""
        return {self.carries: self.world(world), **{name: own(world) for name, own in self.totals.items()}}

    def added(self, gives: Gives, before: Mapping[str, Any]) -> Gives:
        """Add the sums `before` a step to its part of the totals."""
        return {**gives, **{name: add(before[name], gives[name]) for name in self.totals}}

    @property
    def of_base(self) -> Sequence[str]:
        """The names that the step of a floating base reads."""
        return self.reads if self.base_reads is None else self.base_reads


@dataclass(frozen=True)
class Sum:
    """A sum over what the children of a body hand on."""

    kind: Kind
    own: Callable[[Body], Any] | None = None
    """The start of the sum at a body. It is None if an earlier sweep gave the start."""


@dataclass(frozen=True)
class Inward:
    """A sweep from the leaves to the root.

    A step reads the `sums` of its body and gives, by the same names, what the body hands on to its parent.
    """

    name: str
    sums: Mapping[str, Sum]
    step: Step
    reads: Sequence[str] = ()
    gives: Mapping[str, Kind] = field(default_factory=dict)
    """The kind of each value that a step gives beside the sums."""
    base_gives: Mapping[str, Kind] = field(default_factory=dict)
    """The results of a floating base that later sweeps read.

    If it is empty, only the next outward sweep reads them.
    """


@dataclass(frozen=True)
class Climb:
    """A sweep that takes a record of every degree of freedom to each ancestor of its body."""

    name: str
    carries: str
    """The name of the record, which an earlier sweep gave."""
    carry: Callable[[Any, Any, Given], Any]
    """Carries the record one step up, into the axes of the parent."""
    step: Step
    """Computes matrix entries at the ancestor from the record and what it reads there."""
    gives: Sequence[str]
    """The matrices to which the entries belong."""
    onward: Callable[[Any, Given], Any] | None = None
    """Changes the record before it goes on from an ancestor; it reads the same as `step`, and what `step`
    gave.
    """
    reads: Sequence[str] = ()
    """The names that are read at the ancestor."""
    base_reads: Sequence[str] = ()
    """The names among `reads` that are read at a floating base."""
    carry_reads: Sequence[str] = ()
    """The names that `carry` reads at the body that the record leaves."""


def carry_force(body: Placed, force: Force, _: Given) -> Force:
    """The `carry` of a climb whose record is a force, which acts on the parent unchanged."""
    return force_to_parent(body, force)


@dataclass(frozen=True)
class Freedoms:
    """A sweep over degrees of freedom: a step reads what was given for one of them or for its body."""

    name: str
    step: Callable[[Given], Gives]
    reads: Sequence[str]
    gives: Mapping[str, Kind]


@dataclass(frozen=True)
class Pairs:
    """A sweep over pairs of a degree of freedom and one above it, which the steps read as `other`."""

    name: str
    step: Callable[[Given], Gives]
    """Gives for each matrix the entry in the row of `other`, and by the name `M_below` the one in its column.
    For `symmetric` matrices it gives only the first.
    """
    own: Callable[[Given], Gives]
    """Gives the entry between two degrees of freedom of one joint, in both orders. For a degree of freedom
    with itself `step` gives the same value in a less simple way.
    """
    reads: Sequence[str]
    other_reads: Sequence[str]
    gives: Sequence[str]
    """The matrices to which the entries belong."""
    symmetric: Sequence[str] = ()
    """The names of the symmetric matrices."""


Sweep: TypeAlias = Outward | Inward | Climb | Freedoms | Pairs
"""A sweep of one of the five kinds."""


def names_read(sweep: Sweep) -> set[str]:
    """All names that a sweep reads from earlier ones."""
    fields = ("reads", "base_reads", "carry_reads", "other_reads", "sums")
    read = {name for field in fields for name in getattr(sweep, field, None) or ()}
    return read | {sweep.carries} if isinstance(sweep, Climb) else read


def kinds_given(sweep: Sweep) -> Mapping[str, Kind]:
    """The kinds of the results of a sweep by name. Of matrix entries, only the names of those in the rows of
    ancestors are listed.
    """
    if isinstance(sweep, Outward):
        return sweep.kinds
    if isinstance(sweep, Inward):
        sums = {name: total.kind for name, total in sweep.sums.items()}
        return {**sums, **sweep.gives, **sweep.base_gives}
    if isinstance(sweep, Freedoms):
        return sweep.gives
    return {name: Entry for name in sweep.gives if not name.endswith("_below")}


def without(sweeps: Iterable[Sweep], *inputs: str) -> tuple[Sweep, ...]:
    """The sweeps for a function that does not take these inputs, which are then 0."""

    def left(names: Sequence[str]) -> list[str]:
        return [name for name in names if name not in inputs]

    def changed(sweep: Sweep) -> Sweep:
        if isinstance(sweep, Outward) and sweep.base_reads is not None:
            return replace(sweep, reads=left(sweep.reads), base_reads=left(sweep.base_reads))
        return replace(sweep, reads=left(sweep.reads))

    return tuple(map(changed, sweeps))
