"""Jacobians and Hessians from products with them: a direction a call, several columns or rows at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from rbdgen.emit.casadi.entries import Callee, Lengths, Passed, Placed, Products
from rbdgen.emit.casadi.matrices import Matrix
from rbdgen.emit.casadi.patterns import together
from rbdgen.emit.casadi.rooms import Rooms
from rbdgen.signature import BAR, DOT, SizedArgument


class Seeds:
    """Arrays of C in which some numbers are 1 for every direction, one behind the other."""

    def __init__(self, arrays: Iterable[tuple[str, int]]) -> None:
        sizes = dict(arrays)
        self.first = dict(zip(sizes, accumulate(sizes.values(), initial=0), strict=False))
        self.size = sum(sizes.values())

    @staticmethod
    def rates(arrays: Iterable[SizedArgument]) -> Seeds:
        """Of these inputs."""
        return Seeds((x.name + DOT, x.size) for x in arrays)

    @staticmethod
    def weights(arrays: Iterable[SizedArgument]) -> Seeds:
        """Of these results."""
        return Seeds((y.name + BAR, y.size) for y in arrays)


@dataclass(frozen=True)
class Wanted:
    """What of products a result of CasADi is made of: `entries` are the number of a seed, a place in the
    array that is given along it, and one in the result."""

    result: int
    array: str
    size: int
    entries: tuple[tuple[int, int, int], ...]


def by_columns(
    result: int, array: tuple[str, int], block: Matrix, of: tuple[Matrix, Matrix], first: int
) -> Wanted:
    """A block whose columns are given along directions, those from number `first` on.

    `array`: name and size of what is given; `of`: the matrices whose elements are its rows and columns.
    """
    rows, columns = of
    entries = (
        (first + columns.position(column), rows.position(row), to)
        for to, (column, row, _) in enumerate(block.entries)
    )
    return Wanted(result, *array, tuple(entries))


def by_rows(
    result: int, array: tuple[str, int], block: Matrix, of: tuple[Matrix, Matrix], first: int
) -> Wanted:
    """The same, whose rows are given along directions."""
    rows, columns = of
    entries = (
        (first + rows.position(row), columns.position(column), to)
        for to, (column, row, _) in enumerate(block.entries)
    )
    return Wanted(result, *array, tuple(entries))


def groups(wanted: Iterable[Wanted]) -> list[list[int]]:
    """Seeds that are 1 at once."""
    reached: dict[int, list[tuple[str, int]]] = {}
    for one in wanted:
        for seed, of, _ in one.entries:
            reached.setdefault(seed, []).append((one.array, of))
    return together(dict(sorted(reached.items())))


@dataclass(frozen=True)
class Plan:
    """How products become results: `number`: which products of the entry point they are; `callees`: what is
    called for every direction, `once`: before all of them; `lengths`: the configurations along the lengths of
    whose quaternions gradients change."""

    number: int
    seeds: Seeds
    wanted: Sequence[Wanted]
    callees: Sequence[Callee]
    once: Callee | None = None
    lengths: Sequence[SizedArgument] = ()


def products_of(rooms: Rooms, plan: Plan, given: Mapping[str, Passed], states: int) -> tuple[Products, ...]:
    """The products, none where nothing is wanted of them. `given`: the arrays of C that are no seeds."""
    directions = groups(plan.wanted)
    if not directions:
        return ()
    batch = rooms.knots == 1 and all(callee.batch for callee in plan.callees)
    count = len(directions)
    prefix, name = f"p{plan.number}_", f"d{plan.number}"
    room = rooms.taken((count if batch else 1) * plan.seeds.size)
    others = {key: replace(one, step=0) for key, one in given.items()} if batch else given
    own = {
        key: Passed(f"{name} + {first}" if first else name, plan.seeds.size if batch else 0)
        for key, first in plan.seeds.first.items()
    }
    all_given = {**others, **own}
    calls = [
        rooms.call(callee, states, all_given, prefix=prefix, count=count if batch else None)
        for callee in plan.callees
    ]
    once = None if plan.once is None else rooms.call(plan.once, states, given, prefix=prefix)
    return (
        Products(
            name,
            plan.seeds.size,
            room,
            count,
            rooms.places.number([0, *accumulate(map(len, directions))]),
            rooms.places.number([seed for group in directions for seed in group]),
            tuple(calls),
            tuple(_placed(rooms, one, directions, prefix) for one in plan.wanted),
            once,
            tuple(_lengths(x, prefix, all_given, shared=batch and once is not None) for x in plan.lengths),
            batch,
        ),
    )


def _placed(rooms: Rooms, wanted: Wanted, directions: Sequence[Sequence[int]], prefix: str) -> Placed:
    """The tables of what one result takes along every direction."""
    group_of = {seed: k for k, group in enumerate(directions) for seed in group}
    entries = sorted((group_of[seed], to, of) for seed, of, to in wanted.entries)
    counts = [0] * len(directions)
    for group, _, _ in entries:
        counts[group] += 1
    return Placed(
        wanted.result,
        prefix + wanted.array,
        wanted.size,
        len(entries),
        rooms.places.number([0, *accumulate(counts)]),
        rooms.places.number([to for _, to, _ in entries]),
        rooms.places.number([of for _, _, of in entries]),
    )


def _lengths(x: SizedArgument, prefix: str, given: Mapping[str, Passed], *, shared: bool) -> Lengths:
    """Of a configuration; `shared`: whether all directions have one gradient."""
    gradient = Passed(prefix + x.name + BAR, 0 if shared else x.size)
    return Lengths(prefix + x.name + BAR + DOT, given[x.name], given[x.name + DOT], gradient)
