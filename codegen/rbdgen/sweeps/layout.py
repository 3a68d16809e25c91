"""The memory of looped sweeps: the arrays of their records, and the elements that each run of a loop reads
and writes.

A record that only children read is stored by depth: a body reads the row of its parent's depth and writes the
next row. Other records have a row for every body, with row 0 for the root, or a row for every degree of
freedom. Row 0 is in axes that are turned about the root's z axis (see `looped_bodies.py`): what a floating
base gives is rotated into these axes, and what it reads is rotated back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rbdgen.access import Access, element, whole
from rbdgen.spatial.ops import Force, Vector
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.looped_bodies import LoopedBodies, Runs
from rbdgen.sweeps.loops import Arrays, FormLoop, cleared
from rbdgen.sweeps.records import Entry, Kind, Total, flat, named, of, per_freedom, turned, width
from rbdgen.sweeps.straight import of_world
from rbdgen.sweeps.sweep import BASE, INPUTS, Given, Gives, unread

Accesses = dict[str, Access]


@dataclass
class Layout:
    """The arrays of looped sweeps. All fields but `bodies` grow while loops are made."""

    bodies: LoopedBodies
    sizes: dict[str, int] = field(default_factory=dict)
    """The sizes of all arrays that sweeps write."""
    kinds: dict[str, Kind] = field(default_factory=dict)
    """The kinds of all records that sweeps gave."""
    starts: dict[str, Callable[[Any], Any]] = field(default_factory=dict)
    """The start of each sum at a body; see `Sum.own`."""
    by_depth: set[str] = field(default_factory=set)
    """Records that only children read."""
    without_base: set[str] = field(default_factory=set)
    """Records of degrees of freedom that a floating base does not give."""

    def base_reads(self, names: Sequence[str]) -> Accesses:
        """The arrays that a floating base reads for these names."""
        reads = {}
        for name in names:
            kind = self.kinds.get(name)
            if kind is not None and not per_freedom(kind):
                reads[name] = whole(name, width(kind))
            elif kind is not None or name in INPUTS or name == "fext":
                reads[name] = whole(name, BASE * (1 if kind is None else width(kind)))
        return reads

    def base_given(self, x: State, names: Sequence[str], read: Sequence[str]) -> Given:
        """The values of these names at the step of a floating base. Names that are not in `read` are 0."""
        bodies, given = self.bodies, unread(BASE)
        given.naming = x.naming
        vars(given).update(vars(of_world(bodies.reduced)))
        for name in names:
            kind, numbers = self.kinds.get(name), x.arrays.get(name) if name in read else None
            if kind is not None and numbers is None:
                value: Any = [of(kind, [0] * width(kind))] * BASE if per_freedom(kind) else None
            elif numbers is None:
                continue
            elif name == "fext":
                value = Force(Vector(*numbers[3:]), Vector(*numbers[:3]))
            elif kind is None or per_freedom(kind):
                value = list(numbers)
            else:
                value = turned(kind, of(kind, numbers), bodies.root)
            setattr(
                given, name, self.starts[name](bodies.base(x.q)) + value if name in self.starts else value
            )
        return given

    def new(self, kinds: Mapping[str, Kind]) -> list[FormLoop]:
        """Make arrays for the results of a sweep, and return the loops that clear the matrices among them."""
        bodies, nv, loops = self.bodies, self.bodies.reduced.nv, []
        for name, kind in kinds.items():
            array, rows = name.removesuffix("_below"), bodies.count + 1
            self.kinds[name] = kind
            if kind is Entry:
                rows = nv * nv
                if array not in self.sizes:
                    loops.append(cleared(element(array, range(rows))))
            elif name in self.without_base:
                rows = bodies.count
            elif per_freedom(kind) or kind is Total or isinstance(kind, int):
                rows = nv if per_freedom(kind) else 1
            elif name in self.by_depth:
                rows = 1 + max(bodies.depths, default=0)
            self.sizes[array] = rows * width(kind)
        return loops

    def reads(self, names: Sequence[str], runs: Runs) -> Accesses:
        """The arrays that these bodies read for these names."""
        bodies, reads = self.bodies, {}
        for name in names:
            if isinstance(self.kinds.get(name), int):
                continue
            if name in self.kinds:
                reads[name] = self.access(name, runs)
            elif name == "placement":
                reads |= bodies.joints(runs)
            elif name == "moments":
                reads |= bodies.constants(runs, bodies.moments)
            elif name == "fext":
                reads |= {"fext": bodies.external_rows(runs)}
                reads |= bodies.constants(runs, bodies.frames)
            elif name in INPUTS:
                reads[name] = bodies.freedom(name, runs)
        return reads

    def given(self, x: State, names: Sequence[str]) -> Given:
        """The values of these names at the step of a body."""
        given = unread(1)
        given.naming = x.naming
        for name in names:
            kind = self.kinds.get(name)
            if isinstance(kind, int) or (kind is None and name not in x.arrays):
                setattr(given, name, [])
            elif name == "fext":
                given.fext = self.bodies.external_force(x)
            elif kind is None:
                setattr(given, name, list(x.arrays[name]))
            else:
                value = of(kind, x.arrays[name])
                setattr(given, name, [value] if per_freedom(kind) else value)
        return given

    def records(self, x: State, names: Sequence[str], prefix: str = "") -> Given:
        """The values of these names at the step of a degree of freedom."""
        return Given(**{name: of(self.kinds[name], x.arrays[prefix + name]) for name in names})

    def of_freedoms(self, name: str, freedoms: Sequence[int]) -> Access:
        """The place of a record of these degrees of freedom, or of their bodies."""
        kind, rows = self.kinds[name], freedoms
        if not per_freedom(kind):
            row = {freedom: k + 1 for k, freedom in enumerate(self.bodies.freedoms)}
            rows = [row.get(freedom, 0) for freedom in freedoms]
        return Access(name, tuple(range(width(kind))), tuple(width(kind) * row for row in rows))

    def flat(self, x: State, gives: Gives) -> Arrays:
        """The numbers to write for the results of a step, by array."""
        return {
            f"new_{name}": flat(kind, named(kind, value, x.naming, name))
            for name, value in gives.items()
            for kind in [self.kinds.get(name, Entry)]
        }

    def access(self, name: str, runs: Runs, *, above: bool = False) -> Access:
        """The rows of these bodies, or those of their parents if `above` is set."""
        bodies, kind = self.bodies, self.kinds[name]
        if kind is Entry:
            return bodies.entries(name, runs, runs)
        if kind is Total:
            rows: Sequence[int] = [0] * len(runs)
        elif per_freedom(kind):
            first = BASE if name in self.without_base else 0
            rows = [bodies.freedoms[k] - first for k in runs]
        elif name in self.by_depth:
            return bodies.level(name, width(kind), 0 if above else 1)
        else:
            rows = [bodies.parents[k] if above else k + 1 for k in runs]
        return Access(name, tuple(range(width(kind))), tuple(width(kind) * row for row in rows))
