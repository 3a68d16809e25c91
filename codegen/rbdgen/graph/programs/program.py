"""Programs: a function as a few straight lines, some of them run many times on other elements.

Most functions are one straight line run once. Where the same operations repeat (a solve for every column, a
step for every body) a program holds them once: less code, and neighbouring runs can share a vector.

    program ::= inputs, outputs, scratch, tables, loop*    loops run in order, and so do the runs of a loop
    loop    ::= kernel, reads, writes, count               `reads`, `writes`: where the kernel's arrays lie

Scratch arrays lie between loops; tables hold constants. A kernel is a straight line, a `Graph`; within one
run it reads all it needs before it writes, and it writes no element twice, unless the same value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import isqrt, prod
from typing import NamedTuple

from rbdgen.access import Access, Row, in_rows, whole
from rbdgen.graph.cost import Cost, cost
from rbdgen.graph.node import Graph, Input


@dataclass(frozen=True)
class Result:
    """An output array of a program."""

    name: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        return prod(self.shape)


class Square(NamedTuple):
    """So many rows and columns of a matrix whose rows lie `step` numbers apart."""

    size: int
    step: int


@dataclass(frozen=True)
class Loop:
    """A straight line and where it finds its arrays; `reads` and `writes` by the kernel's names of them.

    `zeros`: elements of arrays it reads that are known to be 0, run by run. `alone`: the runs that are left
    where they come one by one, the others being there to fill vectors; a batch keeps such a loop.
    """

    name: str
    kernel: Graph
    reads: Mapping[str, Access]
    writes: Mapping[str, Access]
    count: int = 1
    zeros: Mapping[str, tuple[tuple[int, ...], ...]] = field(default_factory=dict)
    alone: tuple[int, ...] = ()

    @property
    def independent(self) -> bool:
        """Whether no run reads what another one writes."""
        written = {access.array for access in self.writes.values()}
        return not any(access.array in written for access in self.reads.values())

    @property
    def vectorisable(self) -> bool:
        """Whether neighbouring runs may be the lanes of a vector; rows of a matrix leave it transposed."""
        return (
            self.count > 1
            and all(access.shared or access.consecutive for access in self.reads.values())
            and all(access.consecutive or access.apart for access in self.writes.values())
            and not any(access.shared for access in self.writes.values())
            and self.independent
        )

    def rows(self, lanes: int) -> list[Row]:
        """Neighbouring runs that may be the lanes of a vector, where not all may; none if one by one."""
        if self.vectorisable or not self.independent or any(w.shared for w in self.writes.values()):
            return []
        rows = in_rows(self.reads.values(), self.writes.values(), lanes)
        return rows if len(rows) < self.count else []

    @property
    def square(self) -> Square | None:
        """The square that every run copies to another place with rows and columns exchanged, if that is all
        it does."""
        places = (*self.reads.values(), *self.writes.values())
        if len(self.reads) != 1 or len(self.writes) != 1 or any(node.args for node in self.kernel.nodes):
            return None
        read, write = places
        sides = range(isqrt(len(read.elements)))
        step = read.elements[len(sides)] if len(sides) > 1 else 0
        order = [int(self.kernel.nodes[k].value) for k in self.kernel.outputs[0].elements]
        mirrors = (
            order == list(range(len(read.elements)))
            and read.elements == tuple(step * i + j for i in sides for j in sides)
            and write.elements == tuple(step * j + i for i in sides for j in sides)
        )
        apart = all(set(read.addresses(k)).isdisjoint(write.addresses(k)) for k in range(self.count))
        return Square(len(sides), step) if mirrors and apart else None

    @property
    def moves(self) -> int:
        """Numbers that a run reads and writes."""
        read = sum(node.op == "input" for node in self.kernel.nodes)
        return read + sum(len(access.elements) for access in self.writes.values())

    def vectorised(self, lanes: int) -> bool:
        """Whether its runs share vectors: they may, they fill one of so many lanes, and take no sines."""
        return self.vectors(lanes) is not None

    def vectors(self, lanes: int) -> int | None:
        """How many vectors of so many lanes the runs take; None if they run one by one."""
        if self.count < lanes or cost(self.kernel).trigonometric:
            return None
        return -(-self.count // lanes) if self.vectorisable else len(self.rows(lanes)) or None


@dataclass(frozen=True)
class Program:
    """A function as loops over straight lines; see the grammar above. `scratch`: name and size.

    `by_freedom`: its loops are for vectors inside one call; a batch runs those before the first one
    with runs `alone` as one straight line.
    """

    inputs: tuple[Input, ...]
    outputs: tuple[Result, ...]
    loops: tuple[Loop, ...]
    scratch: Mapping[str, int] = field(default_factory=dict)
    tables: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    by_freedom: bool = False

    @property
    def straight(self) -> Graph | None:
        """The graph of a program that is one straight line over its own arrays."""
        (first, *more) = self.loops
        placed = {**first.reads, **first.writes}
        if (
            more
            or first.count > 1
            or any(access != whole(name, len(access.elements)) for name, access in placed.items())
        ):
            return None
        return first.kernel

    @property
    def cost(self) -> Cost:
        """Operations executed."""
        return sum((cost(loop.kernel) * loop.count for loop in self.loops), Cost())

    @property
    def length(self) -> int:
        """Operations written down: those of a kernel that several loops run count once."""
        kernels = {id(loop.kernel): loop.kernel for loop in self.loops}
        return sum(cost(kernel).total for kernel in kernels.values())

    def work(self, lanes: int) -> int:
        """Weighted operations executed where `lanes` runs of a vectorised loop share a vector.

        Where runs repeat, to read or to write a number counts as an operation, of a vector as half of one:
        measured, a sum of 30 numbers takes as long as 60 operations of a straight line, which keeps them in
        registers; operations on vectors take along most of what they read.
        """
        total = 0
        for loop in self.loops:
            own, moves = cost(loop.kernel).work, loop.moves if loop.count > 1 else 0
            vectors = loop.vectors(lanes) if lanes > 1 else None
            total += (own + moves // 2) * vectors if vectors else (own + moves) * loop.count
        return total


def straight_line(graph: Graph) -> Program:
    """The program that runs a graph once."""
    return Program(
        graph.inputs,
        tuple(Result(output.name, output.shape) for output in graph.outputs),
        (
            Loop(
                "",
                graph,
                {array.name: whole(array.name, array.size) for array in graph.inputs},
                {array.name: whole(array.name, array.size) for array in graph.outputs},
            ),
        ),
    )


def with_kernels(program: Program, change: Callable[[Graph], Graph]) -> Program:
    """The program with every kernel changed, those that several loops share once."""
    changed: dict[int, Graph] = {}
    for loop in program.loops:
        if id(loop.kernel) not in changed:
            changed[id(loop.kernel)] = change(loop.kernel)
    loops = tuple(replace(loop, kernel=changed[id(loop.kernel)]) for loop in program.loops)
    return replace(program, loops=loops)
