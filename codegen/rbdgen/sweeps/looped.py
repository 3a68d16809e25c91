"""The driver for loops: a step is traced once, records lie in arrays, one loop a sweep.

A record that only children read has a row for every depth: a body reads its parent's and writes the next one.
All others have a row for every body, row 0 for the root. A sum that no earlier sweep gave begins as zeros; a
body adds its own when its turn comes. Row 0 is in axes turned about the root's z, see `tables`: what a
floating base gives is turned into them, what it reads is turned back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rbdgen.access import Access, whole
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ops import Force, Vector
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.loops import Arrays, FormLoop, LoopedForm
from rbdgen.sweeps.records import Entry, Kind, Total, by_freedom, flat, named, of, turned, width
from rbdgen.sweeps.straight import of_base, of_world
from rbdgen.sweeps.sweep import (
    BASE,
    INPUTS,
    Climb,
    Freedoms,
    Given,
    Gives,
    Inward,
    Outward,
    Pairs,
    Sweep,
    names_read,
    unread,
)
from rbdgen.sweeps.tables import LoopedBodies, Runs, cleared, looped_bodies

Accesses = dict[str, Access]

Trace = Callable[[State], Arrays]


def looped(reduced: ReducedModel, outputs: Sequence[str], *sweeps: Sweep) -> LoopedForm:
    """The loops of these sweeps, in order. `outputs`: which of what they give leaves the function."""
    return Looped(looped_bodies(reduced), outputs).run(*sweeps)


@dataclass
class Looped:
    """Sweeps as loops over bodies; the other fields grow while loops are made.

    `sizes`: of all arrays that sweeps write; `kinds`: of all that they gave; `starts`: what a body starts a
    sum with; `by_depth`: records that only children read; `read`, `summed`: what sweeps read and add up.
    """

    bodies: LoopedBodies
    outputs: Sequence[str]
    loops: list[FormLoop] = field(default_factory=list)
    sizes: dict[str, int] = field(default_factory=dict)
    kinds: dict[str, Kind] = field(default_factory=dict)
    starts: dict[str, Callable[[Any], Any]] = field(default_factory=dict)
    by_depth: set[str] = field(default_factory=set)
    read: set[str] = field(default_factory=set)
    summed: set[str] = field(default_factory=set)

    def run(self, *sweeps: Sweep) -> LoopedForm:
        """The loops of these sweeps, in order."""
        self.loops.append(self.bodies.positions)
        self.sizes["joint"] = self.bodies.joint_width * self.bodies.count
        self.read = set[str]().union(*map(names_read, sweeps))
        self.summed = {name for sweep in sweeps if isinstance(sweep, Inward) for name in sweep.sums}
        for sweep in sweeps:
            if isinstance(sweep, Outward):
                self._outward(sweep)
            elif isinstance(sweep, Inward):
                self._inward(sweep)
            elif isinstance(sweep, Climb):
                self._climb(sweep)
            elif isinstance(sweep, Freedoms):
                self._freedoms(sweep)
            else:
                self._pairs(sweep)
        outputs = {name: self.sizes[name] for name in self.outputs}
        scratch = {name: size for name, size in self.sizes.items() if name not in outputs}
        return self.bodies.loops(self.loops, outputs, scratch)

    # ---- the sweeps

    def _outward(self, sweep: Outward) -> None:
        bodies, runs = self.bodies, self.bodies.outward
        if sweep.carries not in self.read:
            self.by_depth.add(sweep.carries)
        self._new(sweep.kinds)
        world = sweep.of_world(of_world(bodies.reduced))
        if bodies.floating:
            self._at_base(
                sweep.name, lambda b, x: sweep.added(sweep.base(b, x), world), sweep.of_base, sweep.kinds
            )
        else:
            self._at_world(sweep, world)

        def trace(x: State) -> Arrays:
            given = self._given(x, sweep.reads)
            given.parent = of(sweep.gives[sweep.carries], x.arrays["parent"])
            gives = sweep.step(bodies.placed(x) if "placement" in sweep.reads else None, given)
            return self._flat(x, sweep.added(gives, {name: x.arrays[name][0] for name in sweep.totals}))

        self._add(
            sweep.name,
            trace,
            {
                **self._reads([*sweep.reads, *sweep.totals], runs),
                "parent": self._access(sweep.carries, runs, above=True),
            },
            {f"new_{name}": self._access(name, runs) for name in sweep.kinds},
            self.bodies.count,
        )

    def _inward(self, sweep: Inward) -> None:
        bodies, runs, names = self.bodies, self.bodies.inward, (*sweep.reads, *sweep.sums)
        for name, total in sweep.sums.items():
            if total.own:
                self._new({name: total.kind})
                self.starts[name] = total.own
                self.loops.append(cleared(name, self.sizes[name]))
        self._new({**sweep.gives, **(sweep.base_gives if bodies.floating else {})})
        above = {name: self._access(name, runs, above=True) for name in sweep.sums}

        def trace(x: State) -> Arrays:
            body, given = bodies.placed(x) if "placement" in sweep.reads else None, self._given(x, names)
            for name in sweep.sums:
                if name in self.starts:
                    setattr(given, name, self.starts[name](body) + getattr(given, name))
            gives = dict(sweep.step(body, given))
            for name, total in sweep.sums.items():
                gives[name] = of(total.kind, x.arrays[f"parent_{name}"]) + gives[name]
            return self._flat(x, gives)

        self._add(
            sweep.name,
            trace,
            {**self._reads(names, runs), **{f"parent_{name}": access for name, access in above.items()}},
            {f"new_{n}": above.get(n) or self._access(n, runs) for n in (*sweep.gives, *sweep.sums)},
            self.bodies.count,
        )
        if bodies.floating and sweep.base:
            self._at_base(sweep.name, sweep.base, names, sweep.base_gives)

    def _climb(self, sweep: Climb) -> None:
        """A record goes up to the next body; one run for every pair of a body and a body above it."""
        self._new(dict.fromkeys(sweep.gives, Entry))
        bodies, kind, (records, below, above) = self.bodies, self.kinds[sweep.carries], self.bodies.steps

        def trace(x: State) -> Arrays:
            record = sweep.carry(bodies.placed(x), of(kind, x.arrays["record"]))
            given = self._given(x, sweep.reads)
            setattr(given, sweep.carries, record)
            return self._flat(x, {sweep.carries: record, **sweep.step(bodies.joint(x, "above"), given)})

        own = self._access(sweep.carries, records)
        self._add(
            sweep.name,
            trace,
            {
                **bodies.joints(below),
                **({"above": bodies.kinds.place(above)} if bodies.kinds.varying else {}),
                **self._reads(sweep.reads, above),
                "record": own,
            },
            {
                f"new_{sweep.carries}": own,
                **{f"new_{name}": bodies.entries(name, above, records) for name in sweep.gives},
            },
            len(records),
        )
        if bodies.floating:
            self._climb_to_base(sweep, kind)

    def _climb_to_base(self, sweep: Climb, kind: Kind) -> None:
        """Every body's record comes to the floating base."""
        bodies, runs = self.bodies, self.bodies.outward

        def trace(x: State) -> Arrays:
            record = sweep.carry(bodies.placed(x), of(kind, x.arrays["record"]))
            given = self._base_given(x, sweep.base_reads)
            setattr(given, sweep.carries, turned(kind, record, bodies.root))
            return self._flat(x, sweep.base(bodies.base, given))

        self._add(
            f"{sweep.name}_base",
            trace,
            {
                **bodies.joints([bodies.branches[k][-1] for k in runs]),
                **self._base_reads(sweep.base_reads),
                "record": self._access(sweep.carries, runs),
            },
            {f"new_{name}": bodies.base_entries(name) for name in sweep.gives},
            self.bodies.count,
        )

    def _freedoms(self, sweep: Freedoms) -> None:
        self._new(sweep.gives)
        nv = self.bodies.reduced.nv

        def trace(x: State) -> Arrays:
            given = sweep.step(self._records(x, sweep.reads))
            return self._flat(x, {name: given[name] for name in sweep.gives})

        self._add(
            sweep.name,
            trace,
            {name: self._of_freedoms(name, range(nv)) for name in sweep.reads},
            {f"new_{name}": self._of_freedoms(name, range(nv)) for name in sweep.gives},
            nv,
        )

    def _pairs(self, sweep: Pairs) -> None:
        """Within a floating base; of every other degree of freedom with itself, one way, and those above."""
        self._new(dict.fromkeys(sweep.gives, Entry))
        base = range(BASE if self.bodies.floating else 0)
        ancestors = self.bodies.reduced.ancestors
        above = [(j, i) for j in range(len(base), len(ancestors)) for i in ancestors[j]]
        itself = [(j, j) for j in range(len(base), len(ancestors))]
        both = [*sweep.gives, *(f"{name}_below" for name in sweep.symmetric)]
        below = [f"{name}_below" for name in sweep.gives if name not in sweep.symmetric]
        self._entries(
            sweep, sweep.own, f"{sweep.name}_base", [(j, i) for j in base for i in base], sweep.gives
        )
        self._entries(sweep, sweep.step, sweep.name, sorted([*itself, *above]), both)
        self._entries(sweep, sweep.step, f"{sweep.name}_below", above, below)

    def _entries(
        self,
        sweep: Pairs,
        step: Callable[[Given], Gives],
        loop: str,
        pairs: Sequence[tuple[int, int]],
        gives: Sequence[str],
    ) -> None:
        ours, others = ([pair[k] for pair in pairs] for k in range(2))
        nv, same = self.bodies.reduced.nv, {f"{name}_below": name for name in sweep.symmetric}

        def trace(x: State) -> Arrays:
            given = self._records(x, sweep.reads)
            given.other = self._records(x, sweep.other_reads, "other_")
            values = step(given)
            return self._flat(x, {name: values[same.get(name, name)] for name in gives})

        def entries(name: str) -> Access:
            rows = pairs if name.endswith("_below") else [(i, j) for j, i in pairs]
            return Access(name.removesuffix("_below"), (0,), tuple(nv * i + k for i, k in rows))

        self._add(
            loop,
            trace,
            {name: self._of_freedoms(name, ours) for name in sweep.reads}
            | {f"other_{name}": self._of_freedoms(name, others) for name in sweep.other_reads},
            {f"new_{name}": entries(name) for name in gives},
            len(pairs),
        )

    # ---- the root

    def _at_world(self, sweep: Outward, world: Gives) -> None:
        """Row 0 of a fixed robot: what the world gives, and zeros where children will add."""
        back = self.bodies.root.inverse
        rows = {name: [0] * width(kind) for name, kind in sweep.gives.items() if name in self.summed}
        for name, value in world.items():
            rows[name] = flat(sweep.kinds[name], turned(sweep.kinds[name], value, back))
        writes = {name: whole(name, len(row)) for name, row in rows.items()}
        self._add(f"{sweep.name}_root", lambda _: rows, {}, writes, 1)

    def _at_base(
        self, loop: str, step: Callable[[Any, Given], Gives], names: Sequence[str], kinds: Mapping[str, Kind]
    ) -> None:
        """What a floating base gives."""
        bodies = self.bodies

        def trace(x: State) -> Arrays:
            gives = step(bodies.base, self._base_given(x, names))
            back = bodies.root.inverse
            return self._flat(x, {name: turned(kinds[name], value, back) for name, value in gives.items()})

        nv, six = bodies.reduced.nv, range(BASE)
        writes = {}
        for name, kind in kinds.items():
            size = width(kind) * (BASE if by_freedom(kind) else 1)
            block = Access(name, tuple(nv * i + k for i in six for k in six))
            writes[f"new_{name}"] = block if kind is Entry else whole(name, size)
        inputs = ("q",) if {"upward", "potential"} & {*names} else ()
        self.loops.append(FormLoop(f"{loop}_root", trace, writes, self._base_reads(names), inputs))

    def _base_reads(self, names: Sequence[str]) -> Accesses:
        reads = {}
        for name in names:
            kind = self.kinds.get(name)
            if kind is not None and not by_freedom(kind):
                reads[name] = whole(name, width(kind))
            elif kind is not None or name in INPUTS or name == "fext":
                reads[name] = whole(name, BASE * (1 if kind is None else width(kind)))
        return reads

    def _base_given(self, x: State, names: Sequence[str]) -> Given:
        bodies, given = self.bodies, unread(BASE)
        given.naming = x.naming
        vars(given).update(vars(of_base(bodies.reduced, x.q) or Given()))
        for name in [name for name in names if name in x.arrays]:
            kind, numbers = self.kinds.get(name), x.arrays[name]
            if kind is None or by_freedom(kind):
                value: Any = list(numbers)
            else:
                value = turned(kind, of(kind, numbers), bodies.root)
            if name == "fext":
                value = Force(Vector(*numbers[3:]), Vector(*numbers[:3]))
            setattr(given, name, self.starts[name](bodies.base) + value if name in self.starts else value)
        return given

    # ---- what a run of a loop reads and writes

    def _add(self, name: str, trace: Trace, reads: Accesses, writes: Accesses, count: int) -> None:
        self.loops.append(FormLoop(name, trace, writes, reads, count=count))

    def _new(self, kinds: Mapping[str, Kind]) -> None:
        """Arrays for what a sweep gives; a matrix begins as zeros."""
        bodies, nv = self.bodies, self.bodies.reduced.nv
        for name, kind in kinds.items():
            array, rows = name.removesuffix("_below"), bodies.count + 1
            self.kinds[name] = kind
            if kind is Entry:
                rows = nv * nv
                if array not in self.sizes:
                    self.loops.append(cleared(array, rows))
            elif by_freedom(kind) or kind is Total or isinstance(kind, int):
                rows = nv if by_freedom(kind) else 1
            elif name in self.by_depth:
                rows = 1 + max(bodies.depths, default=0)
            self.sizes[array] = rows * width(kind)

    def _reads(self, names: Sequence[str], runs: Runs) -> Accesses:
        bodies, reads = self.bodies, {}
        for name in names:
            if name in self.kinds:
                reads[name] = self._access(name, runs)
            elif name == "placement":
                reads |= bodies.joints(runs)
            elif name == "moments":
                reads |= bodies.constants(runs, bodies.moments)
            elif name == "fext":
                rows = tuple(6 * (k + bodies.floating) for k in runs)
                reads |= {"fext": Access("fext", tuple(range(6)), rows)}
                reads |= bodies.constants(runs, bodies.frames)
            elif name in INPUTS:
                reads[name] = bodies.freedom(name, runs)
        return reads

    def _given(self, x: State, names: Sequence[str]) -> Given:
        given = unread(1)
        given.naming = x.naming
        for name in names:
            if name in self.kinds:
                setattr(given, name, of(self.kinds[name], x.arrays[name]))
            elif name == "fext":
                given.fext = self.bodies.external_force(x)
            elif name in INPUTS:
                setattr(given, name, x.arrays[name][0])
        return given

    def _records(self, x: State, names: Sequence[str], prefix: str = "") -> Given:
        return Given(**{name: of(self.kinds[name], x.arrays[prefix + name]) for name in names})

    def _of_freedoms(self, name: str, freedoms: Sequence[int]) -> Access:
        """What was given for degrees of freedom, or for their bodies."""
        kind, rows = self.kinds[name], freedoms
        if not by_freedom(kind):
            row = {freedom: k + 1 for k, freedom in enumerate(self.bodies.freedoms)}
            rows = [row.get(freedom, 0) for freedom in freedoms]
        return Access(name, tuple(range(width(kind))), tuple(width(kind) * row for row in rows))

    def _flat(self, x: State, gives: Gives) -> Arrays:
        return {
            f"new_{name}": flat(kind, named(kind, value, x.naming, name))
            for name, value in gives.items()
            for kind in [self.kinds.get(name, Entry)]
        }

    def _access(self, name: str, runs: Runs, *, above: bool = False) -> Access:
        """The rows of these bodies, or of their parents."""
        bodies, kind = self.bodies, self.kinds[name]
        if kind is Entry:
            return bodies.entries(name, runs, runs)
        if kind is Total:
            rows: Sequence[int] = [0] * len(runs)
        elif by_freedom(kind):
            rows = [bodies.freedoms[k] for k in runs]
        elif name in self.by_depth:
            return bodies.level(name, width(kind), 0 if above else 1)
        else:
            rows = [bodies.parents[k] if above else k + 1 for k in runs]
        return Access(name, tuple(range(width(kind))), tuple(width(kind) * row for row in rows))
