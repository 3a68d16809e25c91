"""Where the scratch arrays of a program lie: arrays that are not in use at the same time share memory.

The values that a call writes and reads again should fit in the first-level cache, together with its results.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rbdgen.graph.programs.program import Program


@dataclass(frozen=True)
class Memory:
    """The size of the memory in numbers, and the place where each array begins."""

    size: int
    first: Mapping[str, int]


def shared_memory(program: Program, boundary: int) -> Memory:
    """Place the arrays, the largest first, each at the lowest place that is free during the loops that use
    it.

    Every array begins at a multiple of `boundary`.
    """
    used: dict[str, range] = {}
    for number, loop in enumerate(program.loops):
        for access in (*loop.reads.values(), *loop.writes.values()):
            if access.array in program.scratch:
                since = used[access.array].start if access.array in used else number
                used[access.array] = range(since, number + 1)
    first: dict[str, int] = {}
    for name in sorted(used, key=lambda array: -program.scratch[array]):
        others = [other for other in first if _meet(used[other], used[name])]
        at = 0
        for other in sorted(others, key=first.__getitem__):
            if first[other] < at + program.scratch[name]:
                end = first[other] + program.scratch[other]
                at = max(at, -(-end // boundary) * boundary)
        first[name] = at
    return Memory(max((at + program.scratch[name] for name, at in first.items()), default=0), first)


def _meet(a: range, b: range) -> bool:
    return a.start < b.stop and b.start < a.stop
