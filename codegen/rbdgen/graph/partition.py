"""Partition: a straight line as several lines, which are computed at the same time in supersteps.

A value that another line reads is handed over between two supersteps. Within a superstep no line waits for
another one. Every operation belongs to one line, so results have the bits of the straight line.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from heapq import heapify, heappop, heappush
from typing import Final

from rbdgen.graph.node import Graph
from rbdgen.graph.ops import OPS

_OTHER_WORK: Final = 1
"""The work of an operation that is no row of the grammar, such as a fused product and sum."""


@dataclass(frozen=True)
class Partition:
    """The lines of a graph in supersteps."""

    graph: Graph
    steps: tuple[tuple[tuple[int, ...], ...], ...]
    """For every superstep, the nodes of each line in the order of evaluation. Negations that are no results
    are left out: every line that reads one computes it again."""

    @cached_property
    def line_of(self) -> dict[int, int]:
        """The line of every node."""
        return {node: line for step in self.steps for line, nodes in enumerate(step) for node in nodes}

    @cached_property
    def step_of(self) -> dict[int, int]:
        """The superstep of every node."""
        return {node: at for at, step in enumerate(self.steps) for nodes in step for node in nodes}

    @cached_property
    def slots(self) -> dict[int, int]:
        """The place of every value that another line reads.

        A line reads the value once, in the first superstep that needs it. The place is free from the next
        superstep after the last of these.
        """
        last: dict[int, int] = {}
        seen = set[tuple[int, int]]()
        for at, step in enumerate(self.steps):
            for line, nodes in enumerate(step):
                for node in nodes:
                    for argument in operands(self.graph, node, self.line_of):
                        if self.line_of[argument] != line and (line, argument) not in seen:
                            seen.add((line, argument))
                            last[argument] = at
        return places((self.step_of[node], at, node) for node, at in last.items())


def places(waiting: Iterable[tuple[int, int, int]]) -> dict[int, int]:
    """A place for each thing that waits, given as the first and the last superstep and its name. A place is
    taken again in a later superstep than the last one of the thing before.
    """
    found: dict[int, int] = {}
    free: list[int] = []
    ending: list[tuple[int, int]] = []
    size = 0
    for first, last, name in sorted(waiting):
        while ending and ending[0][0] < first:
            heappush(free, heappop(ending)[1])
        if free:
            found[name] = heappop(free)
        else:
            found[name] = size
            size += 1
        heappush(ending, (last, found[name]))
    return found


def partitioned(graph: Graph, lines: int, grain: int) -> Partition:
    """Shares the operations of a graph among lines.

    In every superstep a line takes operations until their work reaches `grain`. It prefers those whose
    operands it has, and among these the first ones of the graph, so that few values are handed over and few
    wait. The cosine of an angle goes with its sine, because kernels compute both at once.

    Args:
        graph: the graph, in an order in which few values are alive at once.
        lines: the number of lines.
        grain: the work of a line in one superstep, in additions. A line with less waits for the others.
    """
    return _Sharing(graph, lines, grain).done()


class _Sharing:
    """The state of a partition while it is made."""

    def __init__(self, graph: Graph, lines: int, grain: int) -> None:
        self._graph, self._lines, self._grain = graph, lines, grain
        results = {element for output in graph.outputs for element in output.elements}
        live = [k for k in graph.live() if graph.nodes[k].args]
        self._works = [k for k in live if graph.nodes[k].op != "neg" or k in results]
        works = set(self._works)
        self._reads = {k: operands(graph, k, works) for k in self._works}
        self._readers: dict[int, list[int]] = {k: [] for k in self._works}
        for k, them in self._reads.items():
            for operand in them:
                self._readers[operand].append(k)
        self._missing = {k: len(them) for k, them in self._reads.items()}
        self._twins = _twins(graph, self._works)
        self._follow = set(self._twins.values())
        self._owner: dict[int, int] = {}
        self._fresh = set[int]()
        """The nodes of the superstep that is being filled."""

    def done(self) -> Partition:
        """The whole partition."""
        ready = [k for k in self._works if not self._missing[k] and k not in self._follow]
        steps = []
        while ready:
            step, ready = self._step(ready)
            steps.append(tuple(map(tuple, step)))
        return Partition(self._graph, tuple(steps))

    def _step(self, ready: Iterable[int]) -> tuple[list[list[int]], list[int]]:
        """The nodes of each line in the next superstep, and the nodes that may be computed in the next but
        one."""
        step: list[list[int]] = [[] for _ in range(self._lines)]
        own: list[list[int]] = [[] for _ in range(self._lines)]  # what only this line takes, as heaps
        anybody: list[int] = []
        work = [0] * self._lines
        later: list[int] = []
        self._fresh.clear()
        for node in ready:
            line = self._only_owner(node)
            (anybody if line is None else own[line]).append(node)
        for heap in (anybody, *own):
            heapify(heap)
        active = True
        while active:
            active = False
            for line in sorted(range(self._lines), key=work.__getitem__):
                if work[line] < self._grain and (heap := own[line] or anybody):
                    active = True
                    node = heappop(heap)
                    for taken in (node, *([self._twins[node]] if node in self._twins else [])):
                        step[line].append(taken)
                        work[line] += _work(self._graph, taken)
                        self._take(taken, line, own[line], later)
        return step, [*later, *anybody, *(node for heap in own for node in heap)]

    def _only_owner(self, node: int) -> int | None:
        """The line that has all operands of a node; None if no line has all."""
        owners = {self._owner[operand] for operand in self._reads[node]}
        return owners.pop() if len(owners) == 1 else None

    def _take(self, node: int, line: int, own: list[int], later: list[int]) -> None:
        """Gives a node to a line. What it completes is at once for this line or waits for the next superstep
        if some operand has just been computed by another one."""
        self._owner[node] = line
        self._fresh.add(node)
        for reader in self._readers[node]:
            self._missing[reader] -= 1
            if not self._missing[reader] and reader not in self._follow:
                fresh = {self._owner[k] for k in self._reads[reader] if k in self._fresh}
                if fresh == {line}:
                    heappush(own, reader)
                else:
                    later.append(reader)


def operands(graph: Graph, node: int, works: Container[int]) -> list[int]:
    """The different operands of a node among `works`; those of negations in their place."""
    found: dict[int, None] = {}
    waiting = list(graph.nodes[node].args)
    while waiting:
        argument = waiting.pop()
        if argument in works:
            found[argument] = None
        else:
            waiting += graph.nodes[argument].args
    return list(found)


def _twins(graph: Graph, works: Iterable[int]) -> Mapping[int, int]:
    """For the first of the sine and the cosine of an angle, the other one."""
    first: dict[int, int] = {}
    twins: dict[int, int] = {}
    for node in works:
        op, args, _ = graph.nodes[node]
        if op in ("sin", "cos"):
            if args[0] in first:
                twins[first[args[0]]] = node
            else:
                first[args[0]] = node
    return twins


def _work(graph: Graph, node: int) -> int:
    op = graph.nodes[node].op
    return OPS[op].work if op in OPS else _OTHER_WORK


def work_of(graph: Graph) -> int:
    """The work of all operations that results need, in additions."""
    return sum(_work(graph, node) for node in graph.live() if graph.nodes[node].args)


def loads_of(partition: Partition) -> list[list[int]]:
    """The work of each line in every superstep."""
    return [[sum(_work(partition.graph, k) for k in nodes) for nodes in step] for step in partition.steps]
