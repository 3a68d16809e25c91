"""Counts how often each instruction of a function runs, if all of its branches close counted loops.

Blocks are instructions that run one after the other. What flows into a block flows out of it, and a loop
tells how often the branch that closes it is taken. This determines all other flows, wherever a compiler
places the blocks.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from rbdgen.figures.instructions import Flow

Code: TypeAlias = Sequence[tuple[int, Flow]]
"""The address of each instruction, and where it leads."""

_END: Final = -1
"""The block to which a function returns."""


def executed(code: Code, runs: Sequence[int]) -> list[int] | None:
    """Counts how often each instruction runs in a call.

    Args:
        code: the instructions of a function.
        runs: how often each loop runs in all. Inner loops come before those around them, and otherwise loops
            are in the order of their code.

    Returns:
        The count of each instruction. None if the code has another number of loops than `runs`, or if the
        loops do not determine the flow.
    """
    graph = _Graph.of(code)
    loops = graph.loops()
    if len(loops) != len(runs):
        return None
    for k, loop in enumerate(loops):
        graph.flows[loop.closing] = runs[k] - next((runs[n] for n in _around(loops, k)), 1)
    counts = graph.solved()
    if counts is None or min(graph.flows.values(), default=0) < 0:
        return None
    return [count for block, count in zip(graph.blocks, counts, strict=True) for _ in block]


def counted_loops(code: Code) -> int | None:
    """The number of loops, if all branches are those of counted loops, one after the other or one inside the
    other; otherwise None.
    """
    loops = _Graph.of(code).loops()
    runs = [1] * len(loops)
    for k in reversed(range(len(loops))):
        runs[k] = (3 + k) * next((runs[n] for n in _around(loops, k)), 1)
    branches = sum(flow.conditional for _, flow in code)
    return len(loops) if branches == len(loops) and executed(code, runs) is not None else None


@dataclass(frozen=True)
class _Loop:
    closing: int
    """The edge from its end to its beginning."""
    body: frozenset[int]
    """The numbers of the blocks inside it."""


def _around(loops: Sequence[_Loop], k: int) -> Iterator[int]:
    """The numbers of the loops around a loop, from inside."""
    return (n for n in range(k + 1, len(loops)) if loops[k].body <= loops[n].body)


@dataclass
class _Graph:
    """Blocks and the edges between them."""

    blocks: list[range]
    edges: list[tuple[int, int]] = field(default_factory=list)
    flows: dict[int, int] = field(default_factory=dict)
    """How often each edge is taken, as far as it is known."""

    @staticmethod
    def of(code: Code) -> _Graph:
        addresses = [at for at, _ in code]
        targets = {
            k: bisect_left(addresses, to)
            for k, (_, flow) in enumerate(code)
            if (to := flow.back if flow.back is not None else flow.ahead) is not None
        }
        leaves = {k for k, (_, flow) in enumerate(code) if k in targets or flow.ends}
        begins = sorted({0, *targets.values(), *(k + 1 for k in leaves)} - {len(code)})
        blocks = [range(a, b) for a, b in zip(begins, [*begins[1:], len(code)], strict=True)]
        number = {block.start: k for k, block in enumerate(blocks)} | {len(code): _END}
        graph = _Graph(blocks)
        for k, block in enumerate(blocks):
            last = block[-1]
            _, flow = code[last]
            if last in targets:
                graph.edges.append((k, number[targets[last]]))
            if flow.ends:
                graph.edges.append((k, _END))
            if last not in leaves or flow.conditional:
                graph.edges.append((k, number[block.stop]))
        return graph

    def loops(self) -> list[_Loop]:
        """The natural loops: edges to a block that comes before their beginning on every way there."""
        before = self._before()
        found = [
            _Loop(edge, self._body(start, to))
            for edge, (start, to) in enumerate(self.edges)
            if to in before[start]
        ]
        return sorted(found, key=lambda loop: (max(loop.body), len(loop.body)))

    def _before(self) -> list[set[int]]:
        """The blocks on all ways to each block, and itself (its dominators)."""
        every = set(range(len(self.blocks)))
        found = [{0}, *(every for _ in self.blocks[1:])]
        sources: list[list[int]] = [[] for _ in self.blocks]
        for start, to in self.edges:
            if to != _END:
                sources[to].append(start)
        changed = True
        while changed:
            changed = False
            for k in range(1, len(self.blocks)):
                own = {k}.union(set.intersection(*(found[n] for n in sources[k])) if sources[k] else every)
                changed |= own != found[k]
                found[k] = own
        return found

    def _body(self, end: int, begin: int) -> frozenset[int]:
        """The blocks from which a loop's end is reached without its beginning, and the beginning."""
        body, waiting = {begin}, [end]
        while waiting:
            block = waiting.pop()
            if block not in body:
                body.add(block)
                waiting += [start for start, to in self.edges if to == block]
        return frozenset(body)

    def solved(self) -> list[int] | None:
        """How often each block runs; None if the known edges do not tell."""
        flows = self.flows
        sides: list[tuple[list[int], list[int]]] = [([], []) for _ in self.blocks]
        for edge, (start, to) in enumerate(self.edges):
            sides[start][1].append(edge)
            if to != _END:
                sides[to][0].append(edge)
        counts: list[int | None] = [None] * len(self.blocks)
        before = -1
        while before < (before := len(flows) + sum(count is not None for count in counts)):
            for k, both in enumerate(sides):
                for edges, more in zip(both, (int(k == 0), 0), strict=True):
                    unknown = [edge for edge in edges if edge not in flows]
                    known = more + sum(flows[edge] for edge in edges if edge in flows)
                    if not unknown and counts[k] is None:
                        counts[k] = known
                    count = counts[k]
                    if len(unknown) == 1 and count is not None:
                        flows[unknown[0]] = count - known
                    elif not unknown and count != known:
                        return None
        found = [count for count in counts if count is not None]
        return found if len(found) == len(counts) and len(flows) == len(self.edges) else None
