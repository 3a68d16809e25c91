"""Jacobians and Hessians from products with them.

A product is computed along directions. A direction is a vector of seeds, of which some are 1 and the others
0. One direction may give several columns (or rows) of a matrix at once if they have no entries in common.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from rbdgen.emit.casadi.entries import Callee, Lengths, Passed, Placed, Products
from rbdgen.emit.casadi.matrices import Matrix
from rbdgen.emit.casadi.patterns import in_disjoint_groups
from rbdgen.emit.casadi.rooms import Rooms
from rbdgen.signature import BAR, DOT, SizedArgument


class Seeds:
    """The C arrays of seeds that make up a direction, one after the other.

    `first` is where each array begins, and `size` is the number of seeds in a direction.
    """

    def __init__(self, arrays: Iterable[tuple[str, int]]) -> None:
        sizes = dict(arrays)
        self.first = dict(zip(sizes, accumulate(sizes.values(), initial=0), strict=False))
        self.size = sum(sizes.values())

    @staticmethod
    def rates(arrays: Iterable[SizedArgument]) -> Seeds:
        """The seeds of directions that consist of rates of these inputs."""
        return Seeds((x.name + DOT, x.size) for x in arrays)

    @staticmethod
    def weights(arrays: Iterable[SizedArgument]) -> Seeds:
        """The seeds of directions that consist of weights of these results."""
        return Seeds((y.name + BAR, y.size) for y in arrays)


@dataclass(frozen=True)
class Wanted:
    """The numbers of one CasADi result that are taken from an output of products."""

    result: int
    """The number of the CasADi result."""
    array: str
    """The output of the products."""
    size: int
    """The number of elements of the output."""
    entries: tuple[tuple[int, int, int], ...]
    """For each number: the number of the seed that gives it, its place in the output, and its place in the
    result.
    """


def by_columns(
    result: int, array: tuple[str, int], block: Matrix, of: tuple[Matrix, Matrix], first: int
) -> Wanted:
    """The numbers of a block whose columns are products, each along one seed.

    Args:
        result: the number of the result.
        array: name and size of the output of the products.
        block: the block, sparse.
        of: the matrices whose elements are the rows and the columns of the block.
        first: the number of the first column's seed.
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
    """The numbers of a block whose rows are products, each along one seed. The arguments are those of
    `by_columns`.
    """
    rows, columns = of
    entries = (
        (first + rows.position(row), columns.position(column), to)
        for to, (column, row, _) in enumerate(block.entries)
    )
    return Wanted(result, *array, tuple(entries))


def groups(wanted: Iterable[Wanted]) -> list[list[int]]:
    """The seeds in groups. The seeds of a group are 1 in the same direction."""
    reached: dict[int, list[tuple[str, int]]] = {}
    for one in wanted:
        for seed, of, _ in one.entries:
            reached.setdefault(seed, []).append((one.array, of))
    return in_disjoint_groups(dict(sorted(reached.items())))


@dataclass(frozen=True)
class Plan:
    """A plan that computes results from products along directions."""

    number: int
    """The position of these products among all products of the entry point."""
    seeds: Seeds
    """The directions."""
    wanted: Sequence[Wanted]
    """The numbers of results that the products give."""
    callees: Sequence[Callee]
    """The functions that are called for every direction."""
    once: Callee | None = None
    """The function that is called once, before all directions, or None."""
    lengths: Sequence[SizedArgument] = ()
    """Configurations whose gradients change with the lengths of their quaternions."""


def products_of(rooms: Rooms, plan: Plan, given: Mapping[str, Passed], states: int) -> tuple[Products, ...]:
    """The products of a plan; empty if no result needs them. `given` are the C arrays other than seeds."""
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
    """The tables of the numbers that one result takes along every direction."""
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
    """The `Lengths` of a configuration. If `shared` is set, all directions have the same gradient."""
    gradient = Passed(prefix + x.name + BAR, 0 if shared else x.size)
    return Lengths(prefix + x.name + BAR + DOT, given[x.name], given[x.name + DOT], gradient)
