"""The stages of a computation that waits for sums over the tree.

What sweeps compute at one degree of freedom is a graph. Some of its numbers wait for other bodies: a sum over
ancestors, a sum over a subtree, or a result of loops that stand between sweeps. The graph is cut at these
numbers, and its parts are the stages. A stage needs only sums whose terms were computed in earlier stages, so
it can run for all degrees of freedom at once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

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
    """The stage of every node that is needed: the latest one that still serves everything that reads the
    node. For a node that is given, or known after a wait, it is the first stage that reads it.
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


def schedule(graph: Graph, given: Collection[int], waits: Sequence[Wait], results: Sequence[int]) -> Schedule:
    """The stages that compute the `results` from nodes that are `given`.

    A multiple of a number that is stored or given is not stored itself: whatever reads it computes it again.
    """
    known = {*given, *(node for wait in waits for node in wait.results)}
    level = _levels(graph, known, waits)
    last = max((level[node] for node in results), default=0)
    stage = _latest(graph, known, waits, dict.fromkeys(results, last))
    found = Schedule(stage, last + 1, frozenset())
    computed = {node for node in stage if node not in known and graph.nodes[node].op != "const"}
    stored = computed.intersection(results)
    for node in computed:
        stored |= {x for x in graph.nodes[node].args if x in computed and stage[x] < stage[node]}
    for wait in waits:
        after = found.after(wait)
        if after is not None:
            stored |= {x for x in wait.terms if x in computed and stage[x] < after}
    again = set()
    for node in stored:
        scaled = multiple(graph, node)
        if scaled and (scaled[0] in stored or scaled[0] in known):
            again.add(node)
    return Schedule(stage, last + 1, frozenset(stored - again))


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
