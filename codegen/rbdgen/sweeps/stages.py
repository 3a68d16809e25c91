"""The stages of a computation that waits for sums over the tree.

What sweeps compute at one degree of freedom is a graph. Some of its numbers wait for other bodies: a sum over
ancestors, a sum over a subtree, or a result of loops that stand between sweeps. The graph is cut at these
numbers, and its parts are the stages. A stage needs only sums whose terms were computed in earlier stages, so
it can run for all degrees of freedom at once. A number that a later stage reads waits in a row of memory.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rbdgen.graph.minimum_cut import UNCUT, minimum_cut
from rbdgen.graph.node import Graph


@dataclass(frozen=True)
class Wait:
    """Numbers that are known one stage after other numbers, which all bodies must have computed first."""

    terms: tuple[int, ...]
    """The nodes that must be known."""
    results: tuple[int, ...]
    """The nodes that are known then."""


@dataclass(frozen=True)
class Schedule:
    """The stage that computes each node of a graph."""

    stage: Mapping[int, int]
    """The stage that computes each node that is needed; it is `count` for entries that loops compute after
    the last stage. For the results of a wait it is the first stage that may read them. For a given node it
    says only that the node is needed.
    """
    count: int
    """The number of stages."""
    stored: frozenset[int]
    """The nodes that one stage computes and another one reads, and those among the results."""

    def after(self, wait: Wait) -> int | None:
        """The last stage before the results of a wait are read; None if nothing reads them."""
        first = min((self.stage[node] for node in wait.results if node in self.stage), default=None)
        return None if first is None else first - 1

    def stored_by(self, stage: int) -> list[int]:
        """The nodes that a stage stores."""
        return sorted(node for node in self.stored if self.stage[node] == stage)


def schedule(
    graph: Graph,
    given: Collection[int],
    waits: Sequence[Wait],
    results: Collection[int],
    entries: Collection[int] = (),
    rows: Collection[int] = (),
) -> Schedule:
    """The stages that compute the `results` from nodes that are `given`.

    Loops after the last stage read the results, and compute `entries` from numbers that are stored. `rows`
    are the given nodes that occupy rows of memory until they are read for the last time.

    As few numbers as possible wait from each stage to the next one. Of the schedules with this property it is
    the one that computes every node as late as possible. A multiple of a number that is stored or given is
    not stored itself: whatever reads it computes it again.
    """
    known = {*given, *(node for wait in waits for node in wait.results)}
    level = _levels(graph, known, waits)
    last = max((level[node] for node in (*results, *entries)), default=0)
    due = dict.fromkeys(entries, last + 1) | dict.fromkeys(results, last)
    latest = Schedule(_latest(graph, known, waits, dict(due)), last + 1, frozenset())
    until = dict.fromkeys(due, last + 1)
    for wait in waits:
        after = latest.after(wait)
        if after is not None:
            due |= {x: min(after, due.get(x, after)) for x in wait.terms}
            until |= {x: max(after, until.get(x, after)) for x in wait.terms}
    rows = known.intersection(rows)
    waiting = _Waiting(graph, latest, known, rows, known.difference(given), due, until)
    stage = {**latest.stage, **waiting.stages()}
    return Schedule(stage, last + 1, waiting.stored(stage))


def _levels(graph: Graph, known: Collection[int], waits: Sequence[Wait]) -> list[int]:
    """For every node, the number of waits that come before it, one after the other."""
    level = [0] * len(graph.nodes)
    while True:
        before = list(level)
        for k, node in enumerate(graph.nodes):
            if k not in known:
                level[k] = max((level[x] for x in node.args), default=0)
        for wait in waits:
            for k in wait.results:
                level[k] = 1 + max((level[x] for x in wait.terms), default=0)
        if level == before:
            return level


def _latest(
    graph: Graph, known: Collection[int], waits: Sequence[Wait], stage: dict[int, int]
) -> dict[int, int]:
    """The latest possible stage of each node that is needed for the nodes whose `stage` is given."""
    last = max(stage.values(), default=0)
    while True:
        before = dict(stage)
        for k in reversed(range(len(graph.nodes))):
            if k in stage and k not in known:
                for x in graph.nodes[k].args:
                    stage[x] = min(stage.get(x, last), stage[k])
        for wait in waits:
            read = [stage[k] for k in wait.results if k in stage]
            for x in wait.terms if read else ():
                stage[x] = min(stage.get(x, last), min(read) - 1)
        if stage == before:
            return stage


class _Waiting:
    """The numbers that wait in rows of memory, from the stage that computes them to the last one that reads
    them.
    """

    def __init__(
        self,
        graph: Graph,
        latest: Schedule,
        known: Collection[int],
        rows: Collection[int],
        sums: Collection[int],
        due: Mapping[int, int],
        until: Mapping[int, int],
    ) -> None:
        """`sums` are the nodes that are known after waits, in the stages of the schedule `latest`. `due` has
        the last stage in which a node may be computed, and `until` the last stage up to which its row is
        kept, even if no other node reads it.
        """
        self.graph, self.known, self.kept, self.count = graph, known, until, latest.count
        self.single = {x: self._single(x) for x in latest.stage if graph.nodes[x].op != "const"}
        needed = set(self.single.values())
        self.computed = sorted(needed.difference(known))
        self.since = dict.fromkeys(needed.intersection(rows), 0)
        self.since |= {x: latest.stage[x] for x in needed.intersection(sums)}
        self.reads = {x: {self._single(y) for y in graph.nodes[x].args} for x in self.computed}
        self.due: dict[int, int] = {}
        self.until: dict[int, int] = {}
        for x, end in due.items():
            self.due[self._single(x)] = min(end, self.due.get(self._single(x), end))
        for x, end in until.items():
            self.until[self._single(x)] = max(end, self.until.get(self._single(x), end))

    def _single(self, node: int) -> int:
        """The node of which this one is a multiple, or else the node itself."""
        scaled = multiple(self.graph, node)
        if scaled is None or (node in self.known and scaled[0] not in self.known):
            return node
        return self._single(scaled[0])

    def stages(self) -> dict[int, int]:
        """The stage of every node that is computed, such that the fewest numbers wait."""
        stage = dict.fromkeys(self.computed, self.count)
        for now in reversed(range(self.count)):
            done = minimum_cut(self._arcs(now), "now", "later")
            stage |= {x: now for x in self.computed if x in done}
        return {x: stage[single] for x, single in self.single.items() if single in stage}

    def stored(self, stage: Mapping[int, int]) -> frozenset[int]:
        """The nodes that wait if nodes are computed in these stages. A multiple of a number waits only if
        that number does not.
        """
        computed = {x for x, single in self.single.items() if single in self.reads}
        found = {x for x in computed.intersection(self.kept) if stage[x] < self.kept[x]}
        for node in computed:
            found |= {x for x in self.graph.nodes[node].args if x in computed and stage[x] < stage[node]}
        return frozenset(x for x in found if self.single[x] == x or self.single[x] not in found)

    def _arcs(self, now: int) -> Iterator[tuple[object, object, int]]:
        """The arcs of a graph whose minimum cut separates the nodes that are known at the end of a stage from
        the others.

        Each node has two vertices, for its value and for its row. The arc between them is cut if the value is
        known and a node that reads it is computed later; then the value waits.
        """
        early = dict(self.since)
        for x in self.computed:
            early[x] = max((early.get(y, 0) for y in self.reads[x]), default=0)
            if early[x] > now:
                yield x, "later", UNCUT
            elif self.due.get(x, self.count) <= now:
                yield "now", x, UNCUT
            yield x, ("row", x), 1
            for y in self.reads[x]:
                yield ("row", y), x, UNCUT
                if y in self.reads:
                    yield x, y, UNCUT
        for x, first in self.since.items():
            if first <= now:
                yield "now", x, UNCUT
                yield x, ("row", x), 1
        for x, last in self.until.items():
            if last > now:
                yield ("row", x), "later", UNCUT


def multiple(graph: Graph, node: int) -> tuple[int, int] | None:
    """The node of which this one is a multiple, and the integer factor; None if it is no multiple."""
    op, args, _ = graph.nodes[node]
    if op == "neg":
        return args[0], -1
    if op == "add" and args[0] == args[1]:
        return args[0], 2
    if op == "mul":
        for factor, other in (args, args[::-1]):
            value = graph.nodes[factor].value
            if graph.nodes[factor].op == "const" and value.is_integer():
                return other, int(value)
    return None


def inputs_of(graph: Graph, nodes: Collection[int]) -> set[str]:
    """The input arrays on which these nodes depend."""
    needed = set(nodes)
    found = set()
    for k in reversed(range(len(graph.nodes))):
        if k in needed:
            op, args, value = graph.nodes[k]
            needed.update(args)
            if op == "input":
                found.add(graph.input_element(int(value))[0])
    return found
