"""The steps of sweeps at one degree of freedom, traced once on symbols.

A record that goes outward has numbers of two kinds. A number is a *running sum* if a body adds something to
the number of its parent, as a velocity does in a common frame. What is added may depend on other running
sums. All other numbers are *serial*, for example the pose of a body. A sum is serial, too, if its terms
depend on the placement of the body or on serial numbers of its parent. Sums of inward sweeps are always
running sums: the steps must hand them on unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rbdgen.errors import GraphError
from rbdgen.graph.engine import GraphEngine
from rbdgen.graph.node import Graph
from rbdgen.model.moments import MassMoments
from rbdgen.spatial.ops import Vector
from rbdgen.spatial.planar import FactoredRotation, PlanarRotation, X, Z
from rbdgen.spatial.scalar import Scalar
from rbdgen.sweeps.looped_bodies import LoopedBody, Screw
from rbdgen.sweeps.numbers import Rows
from rbdgen.sweeps.records import Kind, flat, of, per_freedom, width
from rbdgen.sweeps.sweep import INPUTS, Freedoms, Given, Inward, Outward, Pairs, unread

PLACEMENT, KINDS, MOMENTS, BASE_NUMBERS = "placement", "kinds", "moments", "base"
"""The names of symbols: the placement of the body, two tables of constants, and the numbers of a floating
base.
"""


class Sum(NamedTuple):
    """A number of a record that is summed along the tree."""

    record: str
    element: int
    outward: bool
    term: Any
    """The term that a body adds."""
    own: Any
    """The sum at the body: over its ancestors and itself, or over its subtree."""
    above: Any
    """The sum at the parent; 0 for a sum over a subtree."""


@dataclass
class OneFreedom:
    """A degree of freedom of a joint, and the results of sweeps for it so far."""

    rows: Rows
    """The constants of all bodies, by `KINDS` and `MOMENTS`."""
    world: Given
    """The values that the world gives to steps."""
    engine: GraphEngine = field(default_factory=GraphEngine)
    values: dict[str, Any] = field(default_factory=dict)
    """The results of sweeps by name: one value for the degree of freedom or its body."""
    kinds: dict[str, Kind] = field(default_factory=dict)
    """The kinds of these values."""
    sums: list[Sum] = field(default_factory=list)
    serial: list[tuple[str, int, Any]] = field(default_factory=list)
    """The serial numbers: the record, the element and the expression of each."""
    parts: dict[str, list[Any]] = field(default_factory=dict)
    """Expressions that are needed, in named groups."""

    def __post_init__(self) -> None:
        cg, sg, ca, sa, c, s, *origin = self.engine.symbols(PLACEMENT, 9)
        rotation = FactoredRotation.of(
            PlanarRotation(Z, cg, sg), PlanarRotation(X, ca, sa), PlanarRotation(Z, c, s)
        )
        own = Screw(*self._constants(KINDS, len(Screw._fields)))
        moments = of(MassMoments, self._constants(MOMENTS, width(MassMoments)))
        self.body: Any = LoopedBody(rotation, Vector(*origin), own.subspace, own.armature, moments)
        self.inputs = {name: self.engine.symbols(name, 1)[0] for name in INPUTS}

    def _constants(self, name: str, size: int) -> list[Scalar]:
        """A symbol for each constant, or the constant itself if it is 0, 1 or -1 for all bodies."""
        columns: list[tuple[Scalar, ...]] = list(zip(*self.rows[name], strict=True)) or [()] * size
        symbols = self.engine.symbols(name, size)
        return [
            int(column[0]) if len(set(column)) == 1 and column[0] in (0, 1, -1) else symbol
            for column, symbol in zip(columns, symbols, strict=True)
        ]

    # ---- the sweeps

    def outward(self, sweep: Outward) -> None:
        """Trace the step, and separate running sums from serial numbers."""
        name, kind = sweep.carries, sweep.gives[sweep.carries]
        if sweep.totals:
            raise GraphError(
                f"sweep '{sweep.name}': lanes over degrees of freedom have no totals; "
                f"leave out '{next(iter(sweep.totals))}'"
            )
        above = list(self.engine.symbols(f"{name} of the parent", width(kind)))
        x = self._given_to_body(sweep.reads)
        x.parent = of(kind, above)
        self._keep(sweep.gives, sweep.step(self.body, x))
        own = self.numbers(name)
        terms = [number - before for number, before in zip(own, above, strict=True)]
        serial = _serial(self.engine, [number for *_, number in self.serial], above, own, terms)
        for e in range(len(own)):
            if e in serial:
                self.serial.append((name, e, own[e]))
            else:
                self.sums.append(Sum(name, e, True, terms[e], own[e], above[e]))

    def inward(self, sweep: Inward) -> None:
        """Sum the start of each body over subtrees, and trace the step."""
        for name, total in sweep.sums.items():
            if total.own:
                self._keep({name: total.kind}, {name: total.own(self.body)})
            terms, own = self.numbers(name), list(self.engine.symbols(f"sum of {name}", width(total.kind)))
            self._keep({name: total.kind}, {name: of(total.kind, own)})
            self.sums += [Sum(name, e, False, term, own[e], 0) for e, term in enumerate(terms)]
        gives = sweep.step(self.body, self._given_to_body((*sweep.reads, *sweep.sums)))
        for name in sweep.sums:
            handed_on = flat(self.kinds[name], gives[name])
            if any((a - b).constant != 0 for a, b in zip(handed_on, self.numbers(name), strict=True)):
                raise GraphError(
                    f"sweep '{sweep.name}': lanes over degrees of freedom need sums that are handed on "
                    f"unchanged, which '{name}' is not"
                )
        self._keep(sweep.gives, gives)

    def freedoms(self, sweep: Freedoms) -> None:
        """Trace the step."""
        self._keep(sweep.gives, sweep.step(self.given(sweep.reads)))

    def pairs(self, sweep: Pairs) -> None:
        """Trace the entries of the degree of freedom with itself, and keep the records that pairs read."""
        x = self.given(sweep.reads)
        x.other = self.given(sweep.other_reads)
        own = sweep.own(x)
        for name in sweep.gives:
            self.parts[f"own {name}"] = [own[name]]
        self.parts |= {f"read {name}": self.numbers(name) for name in (*sweep.reads, *sweep.other_reads)}

    def beside(self, sweep: Pairs, others: Sequence[Given]) -> None:
        """Trace the entries between the degree of freedom and those of a floating base, given as `others`."""
        rows = {name: self.parts.setdefault(f"row {name}", []) for name in sweep.gives}
        columns = {name: self.parts.setdefault(f"column {name}", []) for name in sweep.gives}
        for other in others:
            x = self.given(sweep.reads)
            x.other = other
            entries = sweep.step(x)
            for name in sweep.gives:
                rows[name].append(entries[name])
                columns[name].append(entries[name if name in sweep.symmetric else f"{name}_below"])

    # ---- values

    def given(self, names: Sequence[str]) -> Given:
        """The values of these names at the step of a degree of freedom."""
        return Given(**{name: self._value(name) for name in names})

    def _given_to_body(self, names: Sequence[str]) -> Given:
        """The values of these names at the step of a body."""
        x = unread(1)
        vars(x).update(vars(self.world), naming=lambda _, value: value)
        for name in names:
            if name in self.values or name in INPUTS:
                listed = name in INPUTS or per_freedom(self.kinds[name])
                setattr(x, name, [self._value(name)] if listed else self._value(name))
        return x

    def _value(self, name: str) -> Any:
        if name not in self.values and name not in INPUTS:
            raise GraphError(
                f"lanes over degrees of freedom: no sweep gives '{name}', which a later one reads"
            )
        return self.values[name] if name in self.values else self.inputs[name]

    def _keep(self, kinds: Mapping[str, Kind], gives: Mapping[str, Any]) -> None:
        for name, kind in kinds.items():
            value = gives[name]
            self.kinds[name] = kind
            self.values[name] = value[0] if isinstance(value, list) and per_freedom(kind) else value

    def numbers(self, name: str) -> list[Scalar]:
        """The numbers of the value of this name."""
        value = self._value(name)
        return flat(self.kinds[name], value)

    def graph(self) -> tuple[Graph, dict[str, tuple[int, ...]], list[Sum], list[tuple[str, int, int]]]:
        """The graph of all needed expressions, and the nodes of its parts, sums and serial numbers."""
        ends = {f" {part}": [getattr(own, part) for own in self.sums] for part in ("term", "own", "above")}
        parts = {**self.parts, **ends, " serial": [number for *_, number in self.serial]}
        graph = self.engine.graph([(name, (len(values),), values) for name, values in parts.items()])
        nodes = {output.name: output.elements for output in graph.outputs}
        sums = [
            own._replace(term=term, own=at_body, above=above)
            for own, term, at_body, above in zip(
                self.sums, nodes[" term"], nodes[" own"], nodes[" above"], strict=True
            )
        ]
        serial = [
            (record, e, node) for (record, e, _), node in zip(self.serial, nodes[" serial"], strict=True)
        ]
        return graph, nodes, sums, serial


def entries_read(sweep: Pairs, kinds: Mapping[str, Kind]) -> dict[str, set[int]]:
    """For each record, the elements on which entries of pairs of degrees of freedom depend."""
    engine = GraphEngine()

    def symbols(names: Sequence[str], prefix: str) -> dict[str, Any]:
        return {name: of(kinds[name], engine.symbols(prefix + name, width(kinds[name]))) for name in names}

    x = Given(**symbols(sweep.reads, ""))
    x.other = Given(**symbols(sweep.other_reads, "other "))
    entries = sweep.step(x)
    below = [f"{name}_below" for name in sweep.gives if name not in sweep.symmetric]
    values = [entries[name] for name in (*sweep.gives, *below)]
    graph = engine.graph([("entries", (len(values),), values)])
    found: dict[str, set[int]] = {name: set() for name in (*sweep.reads, *sweep.other_reads)}
    for node in graph.nodes:
        if node.op == "input":
            array, element = graph.input_element(int(node.value))
            found[array.removeprefix("other ")].add(element)
    return found


def _serial(
    engine: GraphEngine, earlier: list[Any], above: list[Any], own: list[Any], terms: list[Any]
) -> set[int]:
    """The elements of a record that are no running sums, from its numbers at the parent (`above`) and at the
    body (`own`), and from the differences of the two. `earlier` has the serial numbers of earlier sweeps.
    """
    given = {"earlier": earlier, "above": above, "own": own, "terms": terms}
    graph = engine.graph([(name, (len(values),), values) for name, values in given.items()])
    before, parent, body, difference = (output.elements for output in graph.outputs)
    inputs = [k for k, node in enumerate(graph.nodes) if node.op == "input"]
    placement = {k for k in inputs if graph.input_element(int(graph.nodes[k].value))[0] == PLACEMENT}

    def depend_on(starts: set[int], known: set[int]) -> set[int]:
        """All nodes that depend on `starts` on a path without nodes that are `known`."""
        found = set(starts)
        for k, node in enumerate(graph.nodes):
            if k not in known and not found.isdisjoint(node.args):
                found.add(k)
        return found

    serial = {e for e in range(len(own)) if difference[e] in depend_on({parent[e]}, set())}
    while True:
        ends = [*before, *(body[e] for e in serial)]
        known = {x for node in ends for x in with_opposite(graph, node)}
        unknown = depend_on(placement | {parent[e] for e in serial}, known)
        more = [e for e in range(len(own)) if e not in serial and difference[e] in unknown]
        if not more:
            return serial
        # one at a time: the number at the body is now known, and it may be all that other terms depend on
        serial.add(more[0])


def with_opposite(graph: Graph, node: int) -> dict[int, int]:
    """A node with the sign 1 and, if it is the negative of another node, that node with the sign -1."""
    op, args, _ = graph.nodes[node]
    return {node: 1, args[0]: -1} if op == "neg" else {node: 1}
