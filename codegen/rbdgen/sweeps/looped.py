"""The driver for loops: each step is traced once, and records are stored in arrays, one loop per sweep.

A sum that no earlier sweep gave starts as zeros, and each body adds its own part when its run comes.
`layout.py` says where records are stored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rbdgen.access import Access, element, whole
from rbdgen.errors import GraphError
from rbdgen.model.reduce import ReducedModel
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.layout import Accesses, Layout
from rbdgen.sweeps.looped_bodies import LoopedBodies, looped_bodies
from rbdgen.sweeps.loops import Arrays, FormLoop, LoopedForm, cleared
from rbdgen.sweeps.records import Each, Entry, Kind, flat, of, per_freedom, turned, width
from rbdgen.sweeps.straight import of_world
from rbdgen.sweeps.sweep import (
    BASE,
    Climb,
    Freedoms,
    Given,
    Gives,
    Inward,
    Outward,
    Pairs,
    Sweep,
    names_read,
)

Trace = Callable[[State], Arrays]


def looped(reduced: ReducedModel, outputs: Sequence[str], *sweeps: Sweep) -> LoopedForm:
    """The loops of these sweeps, in order. `outputs` names those of their results that the function
    returns.
    """
    bodies = looped_bodies(reduced)
    return Looped(bodies, outputs, Layout(bodies)).run(*sweeps)


@dataclass
class Looped:
    """Sweeps as loops over bodies. All fields from `loops` on grow while loops are made."""

    bodies: LoopedBodies
    outputs: Sequence[str]
    layout: Layout
    loops: list[FormLoop] = field(default_factory=list)
    read: set[str] = field(default_factory=set)
    """The names that any sweep reads."""
    summed: set[str] = field(default_factory=set)
    """The names that any inward sweep adds up."""
    inward: Inward | None = None
    """An inward sweep whose step at the floating base runs with the next outward sweep's, because no other
    step lies between them.
    """

    def run(self, *sweeps: Sweep) -> LoopedForm:
        """The loops of these sweeps, in order."""
        self.loops.append(self.bodies.positions)
        self.layout.sizes["joint"] = self.bodies.joint_width * self.bodies.count
        self.read = set[str]().union(*map(names_read, sweeps))
        self.summed = {name for sweep in sweeps if isinstance(sweep, Inward) for name in sweep.sums}
        for sweep in sweeps:
            self._check_starts(sweep)
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
        outputs = {name: self.layout.sizes[name] for name in self.outputs}
        scratch = {name: size for name, size in self.layout.sizes.items() if name not in outputs}
        return self.bodies.loops(self.loops, outputs, scratch)

    def _check_starts(self, sweep: Sweep) -> None:
        """Refuse a sweep that reads an earlier sum to which each body added a start of its own: the array
        holds what children handed on, without this start.
        """
        own = {name for name, total in sweep.sums.items() if total.own} if isinstance(sweep, Inward) else ()
        for name in sorted(names_read(sweep).intersection(self.layout.starts).difference(own)):
            raise GraphError(
                f"sweep '{sweep.name}' reads '{name}', a sum with a start of its own, which loops do not "
                "store; let the sweep that sums it give it by another name"
            )

    # ---- the sweeps

    def _outward(self, sweep: Outward) -> None:
        bodies, runs = self.bodies, self.bodies.outward
        if sweep.carries not in self.read:
            self.layout.by_depth.add(sweep.carries)
        self.loops += self.layout.new(sweep.kinds)
        world = sweep.of_world(of_world(bodies.reduced))
        if bodies.floating:
            before, self.inward = self.inward, None
            read = (*before.sums, *before.reads) if before else ()

            def base(body: Any, x: Given) -> Gives:
                vars(x).update(before.step(body, x) if before else {}, parent=world[sweep.carries])
                return sweep.added((sweep.base or sweep.step)(body, x), world)

            posed = "placement" in sweep.of_base
            self._at_base(
                sweep.name, base, (*read, *sweep.reads), (*read, *sweep.of_base), sweep.kinds, posed=posed
            )
        else:
            self._at_world(sweep, world)

        def trace(x: State) -> Arrays:
            given = self.layout.given(x, sweep.reads)
            given.parent = of(sweep.gives[sweep.carries], x.arrays["parent"])
            gives = sweep.step(bodies.placed(x) if "placement" in sweep.reads else None, given)
            return self.layout.flat(x, sweep.added(gives, {name: x.arrays[name][0] for name in sweep.totals}))

        self._add(
            sweep.name,
            trace,
            {
                **self.layout.reads([*sweep.reads, *sweep.totals], runs),
                "parent": self.layout.access(sweep.carries, runs, above=True),
            },
            {f"new_{name}": self.layout.access(name, runs) for name in sweep.kinds},
            self.bodies.count,
        )

    def _inward(self, sweep: Inward) -> None:
        bodies, runs, names = self.bodies, self.bodies.inward, (*sweep.reads, *sweep.sums)
        for name, total in sweep.sums.items():
            if total.own:
                self.loops += self.layout.new({name: total.kind})
                self.layout.starts[name] = total.own
                self.loops.append(cleared(element(name, range(self.layout.sizes[name]))))
        if bodies.floating:
            self.layout.without_base |= {name for name in sweep.gives if isinstance(sweep.gives[name], Each)}
            self.layout.without_base -= {*sweep.base_gives}
        self.loops += self.layout.new({**sweep.gives, **(sweep.base_gives if bodies.floating else {})})
        above = {name: self.layout.access(name, runs, above=True) for name in sweep.sums}

        def trace(x: State) -> Arrays:
            body, given = (
                bodies.placed(x) if "placement" in sweep.reads else None,
                self.layout.given(x, names),
            )
            for name in sweep.sums:
                if name in self.layout.starts:
                    setattr(given, name, self.layout.starts[name](body) + getattr(given, name))
            gives = sweep.step(body, given)
            own = {name: gives[name] for name in sweep.gives}
            for name, total in sweep.sums.items():
                own[name] = of(total.kind, x.arrays[f"parent_{name}"]) + gives[name]
            return self.layout.flat(x, own)

        self._add(
            sweep.name,
            trace,
            {
                **self.layout.reads(names, runs),
                **{f"parent_{name}": access for name, access in above.items()},
            },
            {f"new_{n}": above.get(n) or self.layout.access(n, runs) for n in (*sweep.gives, *sweep.sums)},
            self.bodies.count,
        )
        if bodies.floating and sweep.base_gives:
            self._at_base(sweep.name, sweep.step, names, names, sweep.base_gives, posed=False)
        else:
            self.inward = sweep

    def _climb(self, sweep: Climb) -> None:
        """Carry a record up the tree: one run for every pair of a body and an ancestor, and one loop for the
        floating base.
        """
        self.loops += self.layout.new(dict.fromkeys(sweep.gives, Entry))
        bodies, (records, below, above) = self.bodies, self.bodies.steps

        def trace(x: State) -> Arrays:
            record = self._carried(sweep, x)
            given, joint = self.layout.given(x, sweep.reads), bodies.joint(x, "above")
            setattr(given, sweep.carries, record)
            gives = sweep.step(joint, given)
            vars(given).update(gives)
            onward = sweep.onward(joint, given) if sweep.onward else record
            return self.layout.flat(x, {sweep.carries: onward, **gives})

        own = self.layout.access(sweep.carries, records)
        self._add(
            sweep.name,
            trace,
            {
                **bodies.joints(below),
                **self.layout.reads(sweep.carry_reads, below),
                **({"above": bodies.kinds.place(above)} if bodies.kinds.varying else {}),
                **self.layout.reads(sweep.reads, above),
                "record": own,
            },
            {
                f"new_{sweep.carries}": own,
                **{f"new_{name}": bodies.entries(name, above, records) for name in sweep.gives},
            },
            len(records),
        )
        if bodies.floating:
            self._climb_to_base(sweep)

    def _carried(self, sweep: Climb, x: State) -> Any:
        """The record that was read, carried from a body to its parent."""
        record = of(self.layout.kinds[sweep.carries], x.arrays["record"])
        return sweep.carry(self.bodies.placed(x), record, self.layout.given(x, sweep.carry_reads))

    def _climb_to_base(self, sweep: Climb) -> None:
        """The last step of a climb, in which every body's record arrives at the floating base."""
        bodies, runs, kind = self.bodies, self.bodies.outward, self.layout.kinds[sweep.carries]

        def trace(x: State) -> Arrays:
            record = self._carried(sweep, x)
            given = self.layout.base_given(x, sweep.reads, sweep.base_reads)
            setattr(given, sweep.carries, turned(kind.kind, record, bodies.root))
            return self.layout.flat(x, sweep.step(bodies.base(x.q), given))

        self._add(
            f"{sweep.name}_base",
            trace,
            {
                **bodies.joints(lowest := [bodies.branches[k][-1] for k in runs]),
                **self.layout.reads(sweep.carry_reads, lowest),
                **self.layout.base_reads(sweep.base_reads),
                "record": self.layout.access(sweep.carries, runs),
            },
            {f"new_{name}": bodies.base_entries(name) for name in sweep.gives},
            self.bodies.count,
        )

    def _freedoms(self, sweep: Freedoms) -> None:
        self.loops += self.layout.new(sweep.gives)
        nv = self.bodies.reduced.nv

        def trace(x: State) -> Arrays:
            given = sweep.step(self.layout.records(x, sweep.reads))
            return self.layout.flat(x, {name: given[name] for name in sweep.gives})

        self._add(
            sweep.name,
            trace,
            {name: self.layout.of_freedoms(name, range(nv)) for name in sweep.reads},
            {f"new_{name}": self.layout.of_freedoms(name, range(nv)) for name in sweep.gives},
            nv,
        )

    def _pairs(self, sweep: Pairs) -> None:
        """Entries within a floating base, then those of every other degree of freedom with itself and its
        ancestors.
        """
        self.loops += self.layout.new(dict.fromkeys(sweep.gives, Entry))
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
            given = self.layout.records(x, sweep.reads)
            given.other = self.layout.records(x, sweep.other_reads, "other_")
            values = step(given)
            return self.layout.flat(x, {name: values[same.get(name, name)] for name in gives})

        def entries(name: str) -> Access:
            rows = pairs if name.endswith("_below") else [(i, j) for j, i in pairs]
            return Access(name.removesuffix("_below"), (0,), tuple(nv * i + k for i, k in rows))

        self._add(
            loop,
            trace,
            {name: self.layout.of_freedoms(name, ours) for name in sweep.reads}
            | {f"other_{name}": self.layout.of_freedoms(name, others) for name in sweep.other_reads},
            {f"new_{name}": entries(name) for name in gives},
            len(pairs),
        )

    # ---- the root

    def _at_world(self, sweep: Outward, world: Gives) -> None:
        """Add the line that writes row 0 of a robot with a fixed base: the results of the world, and zeros
        where children will add their parts.
        """
        back = self.bodies.root.inverse
        rows = {name: [0] * width(kind) for name, kind in sweep.gives.items() if name in self.summed}
        for name, value in world.items():
            rows[name] = flat(sweep.kinds[name], turned(sweep.kinds[name], value, back))
        writes = {name: whole(name, len(row)) for name, row in rows.items()}
        self._add(f"{sweep.name}_root", lambda _: rows, {}, writes, 1)

    def _at_base(
        self,
        loop: str,
        step: Callable[[Any, Given], Gives],
        names: Sequence[str],
        read: Sequence[str],
        kinds: Mapping[str, Kind],
        *,
        posed: bool,
    ) -> None:
        """Add the line that computes the results of a floating base that `kinds` names.

        `names` are the names that the step may read; those that are not in `read` are 0. `posed` says whether
        the step needs the pose of the base.
        """
        bodies = self.bodies

        def trace(x: State) -> Arrays:
            gives = step(bodies.base(x.q), self.layout.base_given(x, names, read))
            back = bodies.root.inverse
            return self.layout.flat(
                x, {name: turned(kind, gives[name], back) for name, kind in kinds.items()}
            )

        nv, six = bodies.reduced.nv, range(BASE)
        writes = {}
        for name, kind in kinds.items():
            size = width(kind) * (BASE if per_freedom(kind) else 1)
            block = Access(name, tuple(nv * i + k for i in six for k in six))
            writes[f"new_{name}"] = block if kind is Entry else whole(name, size)
        inputs = ("q",) if posed else ()
        self.loops.append(FormLoop(f"{loop}_root", trace, writes, self.layout.base_reads(read), inputs))

    # ---- what a run of a loop reads and writes

    def _add(self, name: str, trace: Trace, reads: Accesses, writes: Accesses, count: int) -> None:
        self.loops.append(FormLoop(name, trace, writes, reads, count=count))
