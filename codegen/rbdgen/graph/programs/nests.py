"""Nested loops: sequences of loops of a program that repeat, each time at other places of the same arrays.

A program is a flat list of loops. A solver that visits every contact in every sweep, or a matrix that is
eliminated row by row, repeats a few of them many times. Here such a list becomes a tree, which is printed as
loops within loops, so that code does not grow with the number of repetitions.

    item  ::= Leaf | Nest
    Leaf  ::= runs of one loop     its place: the number of runs, and where each array begins
    Nest  ::= times, item*         each time, the places of its leaves move by known steps

A leaf of a nest may have fewer runs each time, as for the columns that are left in an elimination.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final, TypeAlias

from rbdgen.access import Access
from rbdgen.graph.programs.program import Loop, Program

Place: TypeAlias = tuple[int, ...]
"""The number of runs of a leaf, and the element at which each of its accesses begins in its first run."""

LEAST_SAVED: Final = 2
"""The fewest statements that a nest must save."""


@dataclass(frozen=True)
class Leaf:
    """A loop, or several loops of a program that differ only in their places."""

    loops: tuple[Loop, ...]
    """The loops in order. The first one has the most runs."""
    number: int
    """The number of the first loop in the program."""

    @property
    def first(self) -> Loop:
        return self.loops[0]

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        return (self,)

    @property
    def places(self) -> tuple[Place, ...]:
        """The places of all leaves; this is the only one."""
        return ((self.first.count, *(access.offsets[0] for access in self.first.accesses.values())),)

    @property
    def merged(self) -> Loop:
        """One loop with the runs of all loops, in order."""
        if len(self.loops) == 1:
            return self.first
        reads, writes = (
            {name: self._merged([part[name] for part in parts]) for name in parts[0]}
            for parts in ([loop.reads for loop in self.loops], [loop.writes for loop in self.loops])
        )
        return replace(self.first, reads=reads, writes=writes, count=sum(loop.count for loop in self.loops))

    def _merged(self, accesses: Sequence[Access]) -> Access:
        """The access of all loops to an array."""
        pairs = zip(accesses, self.loops, strict=True)
        return replace(
            accesses[0], offsets=tuple(x for own, loop in pairs for x in _offsets(own, loop.count))
        )


@dataclass(frozen=True)
class Nest:
    """Items that are repeated."""

    body: tuple[Item, ...]
    moves: tuple[tuple[Place, ...], ...]
    """For each leaf of the body, how its place differs each time from that of the first time."""

    @property
    def times(self) -> int:
        return len(self.moves[0])

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        return tuple(leaf for item in self.body for leaf in item.leaves)

    @property
    def places(self) -> tuple[Place, ...]:
        return tuple(place for item in self.body for place in item.places)


Item: TypeAlias = Leaf | Nest


def nested(loops: Sequence[Loop], single: Callable[[int], bool] = lambda number: False) -> list[Item]:
    """The loops as a tree.

    Args:
        loops: the loops of a program.
        single: says whether the loop with this number must not be repeated with others.
    """
    items: list[Item] = [Leaf((loop,), number) for number, loop in enumerate(loops)]
    length = 1
    while 2 * length <= len(items):
        items = _with_nests(items, length, single)
        length += 1
    return items


def run_counts(program: Program) -> list[int]:
    """How often each loop of a program's C runs in all, the innermost loops of a nest before the nest."""
    return [count for item in nested(program.loops) for count in _counts(item, 1)]


def _counts(item: Item, times: int) -> Iterator[int]:
    """The runs of the loops of an item that is entered so many times."""
    if isinstance(item, Leaf):
        if item.first.count > 1:
            yield sum(loop.count for loop in item.loops)
        return
    for part in item.body:
        yield from _counts(part, times * item.times)
    yield times * item.times


def _with_nests(items: Sequence[Item], length: int, single: Callable[[int], bool]) -> list[Item]:
    """The items with a nest for each sequence of this length that is repeated."""
    found: list[Item] = []
    at = 0
    while at < len(items):
        nest = _nest_from(items[at:], length, single)
        found.append(items[at] if nest is None else nest)
        at += 1 if nest is None else length * nest.times
    return found


def _nest_from(items: Sequence[Item], length: int, single: Callable[[int], bool]) -> Nest | None:
    """The nest of the first items, repeated as often as possible; None if it saves too little."""
    body = items[:length]
    if any(single(leaf.number) for item in body for leaf in item.leaves):
        return None
    every = [body]
    moves = [_moves(body, body)]
    while len(again := items[len(every) * length :][:length]) == length:
        if any(single(leaf.number) for item in again for leaf in item.leaves) or not _alike(body, again):
            break
        moves.append(_moves(body, again))
        if not all(_even([move[0] for move in of_leaf]) for of_leaf in zip(*moves, strict=True)):
            moves.pop()
            break
        every.append(again)
    if (len(every) - 1) * length < LEAST_SAVED:
        return None
    return Nest(tuple(map(_united, *every)), tuple(zip(*moves, strict=True)))


def _moves(body: Sequence[Item], again: Sequence[Item]) -> tuple[Place, ...]:
    places = [[place for item in items for place in item.places] for items in (body, again)]
    return tuple(tuple(b - a for a, b in zip(*pair, strict=True)) for pair in zip(*places, strict=True))


def _even(numbers: Sequence[int]) -> bool:
    """Whether neighbouring numbers differ by the same step, which is not positive."""
    steps = {b - a for a, b in pairwise(numbers)}
    return len(steps) < 2 and all(step <= 0 for step in steps)


def _alike(body: Sequence[Item], again: Sequence[Item]) -> bool:
    """Whether items are others at different places."""
    for a, b in zip(body, again, strict=True):
        if isinstance(a, Nest) and isinstance(b, Nest):
            if a.moves != b.moves or len(a.body) != len(b.body) or not _alike(a.body, b.body):
                return False
        elif not (isinstance(a, Leaf) and isinstance(b, Leaf) and _same_line(a.first, b.first)):
            return False
    return True


def _same_line(a: Loop, b: Loop) -> bool:
    """Whether a loop runs the line of another, and no more often, with the same steps between its runs."""
    if a.name != b.name or a.kernel is not b.kernel or a.kernel.lanes > 1 or b.count > a.count:
        return False
    if a.distinct_runs or b.distinct_runs or a.zeros or b.zeros:
        return False
    for name, access in a.accesses.items():
        other = b.accesses[name]
        if (access.array, access.elements) != (other.array, other.elements):
            return False
        own, its = access.steps(a.count), other.steps(b.count)
        if own[: len(its)] != its or (a.count > b.count and not _straight(own)):
            return False
    return True


def _offsets(access: Access, count: int) -> tuple[int, ...]:
    """The offset in each run."""
    return access.offsets * count if access.shared else access.offsets


def _straight(steps: Sequence[int]) -> bool:
    return len({b - a for a, b in pairwise(steps)}) < 2


def _united(*items: Item) -> Item:
    """The first of some items that are alike, with the loops of all of them."""
    first, *_ = items
    if isinstance(first, Leaf):
        return replace(first, loops=tuple(x for item in items if isinstance(item, Leaf) for x in item.loops))
    bodies = (item.body for item in items if isinstance(item, Nest))
    return replace(first, body=tuple(map(_united, *bodies)))
