"""The driver for straight-line code: sweeps run over the tree and hand objects from body to body."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rbdgen.model.model import WORLD
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ops import Force
from rbdgen.spatial.scalar import Naming, Scalar, unnamed
from rbdgen.sweeps.inputs import ALONE, Lanes, State
from rbdgen.sweeps.records import Entry, Kind, Total, named, per_freedom
from rbdgen.sweeps.sweep import INPUTS, Climb, Freedoms, Given, Inward, Outward, Pairs, Sweep, unread


@dataclass
class Straight:
    """The bodies of a robot at a state, and the results of the sweeps that were run so far."""

    bodies: Sequence[Any]
    inputs: Mapping[str, Sequence[Scalar]]
    """The function's inputs as flat vectors, by name."""
    world: Given
    """The values that the world gives to steps, such as `upward`."""
    fext: Sequence[Force] | None = None
    """External forces in the axes of the bodies."""
    naming: Naming = unnamed
    lanes: Lanes = ALONE
    """The bodies that stand for several; what these hand on to other bodies is the sum over all lanes."""
    values: dict[str, list[Any]] = field(default_factory=dict)
    """The results of sweeps by name: a list with a value per body or per degree of freedom, or a matrix."""
    kinds: dict[str, Kind] = field(default_factory=dict)
    """The kind of each of these values."""

    def run(self, *sweeps: Sweep) -> dict[str, list[Any]]:
        """Run the sweeps in order, and return the results of all sweeps so far by name."""
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
        return self.values

    @property
    def nv(self) -> int:
        return sum(body.joint.nv for body in self.bodies)

    def _outward(self, sweep: Outward) -> None:
        self._new(sweep.kinds)
        world = sweep.of_world(self.world)
        self.values |= {name: [world[name]] for name in sweep.totals}
        for i, body in enumerate(self.bodies):
            x, above = self._given(i, sweep.reads), body.parent
            x.parent = world[sweep.carries] if above == WORLD else self.values[sweep.carries][above]
            gives = (sweep.base if sweep.base and _floats(body) else sweep.step)(body, x)
            self._keep(i, sweep.added(gives, {name: self.values[name][0] for name in sweep.totals}))

    def _inward(self, sweep: Inward) -> None:
        self._new({name: total.kind for name, total in sweep.sums.items() if total.own})
        self._new({**sweep.gives, **sweep.base_gives})
        for name, total in sweep.sums.items():
            if total.own:
                self.values[name] = [total.own(body) for body in self.bodies]
        for i in reversed(range(len(self.bodies))):
            body, x = self.bodies[i], self._given(i, (*sweep.reads, *sweep.sums))
            given = dict(sweep.step(body, x))
            passed = {name: given.pop(name) for name in sweep.sums}
            self._keep(i, given)
            if body.parent != WORLD:
                for name, value in passed.items():
                    alone = self.lanes is ALONE
                    felt = value if alone else self.lanes.handed_on(self.kinds[name], value, i, body.parent)
                    self._put(name, body.parent, self.values[name][body.parent] + felt)

    def _climb(self, sweep: Climb) -> None:
        self._new(dict.fromkeys(sweep.gives, Entry))
        for below, body in enumerate(self.bodies):
            for j in range(body.joint.idx_v, body.joint.idx_v + body.joint.nv):
                i, record = below, self.values[sweep.carries][j]
                while (above := self.bodies[i].parent) != WORLD:
                    record = sweep.carry(self.bodies[i], record, self._given(i, sweep.carry_reads))
                    label = f"{sweep.carries}[{j},{above}]"
                    record = named(self.kinds[sweep.carries], record, self.naming, label)
                    x = self._given(above, sweep.reads)
                    setattr(x, sweep.carries, record)
                    given = sweep.step(self.bodies[above], x)
                    self._enter(above, [j], given)
                    i = above
                    if sweep.onward:
                        vars(x).update(given)
                        record = sweep.onward(self.bodies[above], x)

    def _freedoms(self, sweep: Freedoms) -> None:
        self._new(sweep.gives)
        for i, body in enumerate(self.bodies):
            for k in range(body.joint.idx_v, body.joint.idx_v + body.joint.nv):
                given = sweep.step(self._of_freedom(k, i, sweep.reads))
                for name, kind in sweep.gives.items():
                    self.values[name][k] = named(kind, given[name], self.naming, f"{name}[{k}]")

    def _pairs(self, sweep: Pairs) -> None:
        self._new(dict.fromkeys(sweep.gives, Entry))
        for below, body in enumerate(self.bodies):
            above, own = below, range(body.joint.idx_v, body.joint.idx_v + body.joint.nv)
            while above != WORLD:
                joint = self.bodies[above].joint
                for j in own:
                    x = self._of_freedom(j, below, sweep.reads)
                    for k in range(joint.idx_v, joint.idx_v + joint.nv):
                        x.other = self._of_freedom(k, above, sweep.other_reads)
                        given = sweep.own(x) if above == below else sweep.step(x)
                        for name in sweep.gives:
                            self._set(name, k, j, given[name])
                            if above != below:
                                lower = name if name in sweep.symmetric else f"{name}_below"
                                self._set(f"{name}_below", k, j, given[lower])
                above = self.bodies[above].parent

    def _of_freedom(self, k: int, i: int, reads: Sequence[str]) -> Given:
        """The results for a degree of freedom, or for its body."""
        at = {name: k if per_freedom(self.kinds[name]) else i for name in reads}
        return Given(**{name: self.values[name][at[name]] for name in reads})

    def _set(self, name: str, above: int, below: int, number: Scalar) -> None:
        """Store an entry between a degree of freedom and one below it."""
        row, col = (below, above) if name.endswith("_below") else (above, below)
        self.values[name.removesuffix("_below")][row][col] = number

    def _new(self, kinds: Mapping[str, Kind]) -> None:
        """Make room for what a sweep gives. Parts that an earlier sweep gave are kept."""
        for name, kind in kinds.items():
            self.kinds[name] = kind
            if kind is Entry:
                rows = [[0] * self.nv for _ in range(self.nv)]
                self.values.setdefault(name.removesuffix("_below"), rows)
            else:
                self.values.setdefault(name, [0] * (self.nv if per_freedom(kind) else len(self.bodies)))

    def _given(self, i: int, reads: Sequence[str]) -> Given:
        joint = self.bodies[i].joint
        x = unread(joint.nv)
        x.naming = unnamed
        if self.naming is not unnamed:
            x.naming = lambda label, value: self.naming(f"{label}[{i}]", value)
        for name in reads:
            if name in self.values:
                values = self.values[name]
                own = per_freedom(self.kinds.get(name))
                setattr(x, name, list(joint.slice(values)) if own else values[i])
            elif name == "fext":
                x.fext = None if self.fext is None else self.fext[i]
            elif hasattr(self.world, name):
                setattr(x, name, getattr(self.world, name))
            elif name in INPUTS:
                setattr(x, name, list(joint.slice(self.inputs[name])))
        return x

    def _put(self, name: str, i: int, value: Any) -> None:
        joint, kind = self.bodies[i].joint, self.kinds.get(name)
        if kind is None:
            # for example L, which only joints with several degrees of freedom have
            self.values.setdefault(name, [None] * len(self.bodies))[i] = value
        elif kind is Entry:
            self._enter(i, range(joint.idx_v, joint.idx_v + joint.nv), {name: value})
        elif per_freedom(kind):
            for k, one in enumerate(value, joint.idx_v):
                self.values[name][k] = named(kind, one, self.naming, f"{name}[{k}]")
        else:
            self.values[name][0 if kind is Total else i] = named(kind, value, self.naming, f"{name}[{i}]")

    def _keep(self, i: int, given: Mapping[str, Any]) -> None:
        for name, value in given.items():
            self._put(name, i, value)

    def _enter(self, above: int, below: Sequence[int], given: Mapping[str, Sequence[Scalar]]) -> None:
        """Store entries between the degrees of freedom of a body and some others, which are its own or below
        it.
        """
        ours = self.bodies[above].joint
        for name, values in given.items():
            numbers = iter(values)
            for k in range(ours.idx_v, ours.idx_v + ours.nv):
                for j in below:
                    self._set(name, k, j, next(numbers))


def _floats(body: Any) -> bool:
    """Whether a body is a floating base."""
    return bool(body.parent == WORLD and body.joint.type.free)


def straight(reduced: ReducedModel, x: State) -> Straight:
    """The driver on the bodies of a reduced model at a state."""
    bodies = reduced.at(x.q)
    return Straight(
        bodies,
        x.vectors,
        of_world(reduced),
        reduced.external_forces(bodies, x.fext),
        x.naming,
        x.lanes,
    )


def of_world(reduced: ReducedModel) -> Given:
    """The values that the world gives to steps.

    `upward` is minus gravity, and `still` is the first moment of all that never moves.
    """
    return Given(upward=-reduced.gravity, still=reduced.still)
