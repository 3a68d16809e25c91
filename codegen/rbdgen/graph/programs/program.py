"""Programs: a function as a few straight lines, some of which run many times on different elements.

Most functions are one straight line that runs once. Where the same operations repeat (a solve for every
column, a step for every body), a program holds them once. This takes less code, and neighbouring runs can
share a vector.

    program ::= inputs, outputs, scratch, tables, loop*    loops run in order, and so do the runs of a loop
    loop    ::= kernel, reads, writes, count               `reads`, `writes`: where the kernel's arrays lie

Scratch arrays hold values between loops, and tables hold constants. A kernel is a straight line, a `Graph`.
Within one run it reads all that it needs before it writes. It writes no element twice, except with the same
value.
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
    """The size of a square part of a matrix, whose rows lie `step` numbers apart."""

    size: int
    step: int


@dataclass(frozen=True)
class Loop:
    """A straight line and where its arrays lie; `reads` and `writes` use the names of the kernel's arrays."""

    name: str
    kernel: Graph
    reads: Mapping[str, Access]
    writes: Mapping[str, Access]
    count: int = 1
    zeros: Mapping[str, tuple[tuple[int, ...], ...]] = field(default_factory=dict)
    """For each array read, the elements that are known to be 0 in each run."""
    distinct_runs: tuple[int, ...] = ()
    """The runs that are needed when runs come one by one; the others only fill vectors. Such a loop stays a
    loop in batches.
    """

    @property
    def accesses(self) -> dict[str, Access]:
        """The places of all arrays of the kernel."""
        return {**self.reads, **self.writes}

    @property
    def independent(self) -> bool:
        """Whether no run reads an array to which another run writes."""
        written = {access.array for access in self.writes.values()}
        return not any(access.array in written for access in self.reads.values())

    @property
    def vectorisable(self) -> bool:
        """Whether neighbouring runs may be lanes of a vector. They may also write rows of a matrix, which are
        transposed for this.
        """
        return (
            self.count > 1
            and all(access.shared or access.consecutive for access in self.reads.values())
            and all(access.consecutive or access.apart for access in self.writes.values())
            and not any(access.shared for access in self.writes.values())
            and self.independent
        )

    def rows(self, lanes: int) -> list[Row]:
        """Groups of neighbouring runs that may be the lanes of one vector. There are none if all runs of the
        loop may be lanes, or if runs come one by one.
        """
        if self.vectorisable or not self.independent or any(w.shared for w in self.writes.values()):
            return []
        rows = in_rows(self.reads.values(), self.writes.values(), lanes)
        return rows if len(rows) < self.count else []

    @property
    def square(self) -> Square | None:
        """The square that every run transposes and copies to another place; None if the runs do anything
        else.
        """
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
        """The count of numbers that a run reads and writes."""
        read = sum(node.op == "input" for node in self.kernel.nodes)
        return read + sum(len(access.elements) for access in self.writes.values())

    def vectorised(self, lanes: int) -> bool:
        """Whether its runs share vectors with this number of lanes."""
        return self.vectors(lanes) is not None

    def vectors(self, lanes: int) -> int | None:
        """The number of vectors with this number of lanes for all runs; None if runs come one by one.

        Runs come one by one if they may not be lanes, do not fill a vector, or take sines.
        """
        if self.count < lanes or cost(self.kernel).trigonometric:
            return None
        return -(-self.count // lanes) if self.vectorisable else len(self.rows(lanes)) or None


@dataclass(frozen=True)
class Program:
    """A function as loops over straight lines; see the grammar above."""

    inputs: tuple[Input, ...]
    outputs: tuple[Result, ...]
    loops: tuple[Loop, ...]
    scratch: Mapping[str, int] = field(default_factory=dict)
    """The size of each scratch array."""
    tables: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    lanes_of_one_state: bool = False
    """Whether the lanes of its loops are parts of one state (degrees of freedom, columns or pairs), for
    vectors in one call. A batch runs the loops before the first one with `distinct_runs` as one straight
    line.
    """

    @property
    def straight(self) -> Graph | None:
        """The graph, if the program is one straight line over its own arrays."""
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
        """The operations that are executed."""
        return sum((cost(loop.kernel) * loop.count for loop in self.loops), Cost())

    @property
    def length(self) -> int:
        """The number of operations that are written down. A kernel that several loops share counts once."""
        kernels = {id(loop.kernel): loop.kernel for loop in self.loops}
        return sum(cost(kernel).total for kernel in kernels.values())

    def work(self, lanes: int) -> int:
        """The weighted operations that are executed if `lanes` runs of a vectorised loop share a vector.

        In repeated runs, a number that is read or written counts as one operation, and a vector as half of
        one. In measurements, a sum of 30 numbers takes as long as 60 operations of a straight line, which
        keeps numbers in registers, whereas vector operations include most of their reads.
        """
        total = 0
        for loop in self.loops:
            own, moves = cost(loop.kernel).work, loop.moves if loop.count > 1 else 0
            vectors = loop.vectors(lanes) if lanes > 1 else None
            total += (own + moves // 2) * vectors if vectors else (own + moves) * loop.count
        return total


def renamed(program: Program, names: Mapping[str, str]) -> Program:
    """The program with other names for some of its inputs and outputs. Its kernels stay as they are."""

    def at(accesses: Mapping[str, Access]) -> dict[str, Access]:
        return {name: replace(x, array=names.get(x.array, x.array)) for name, x in accesses.items()}

    return replace(
        program,
        inputs=tuple(Input(names.get(x.name, x.name), x.size) for x in program.inputs),
        outputs=tuple(Result(names.get(x.name, x.name), x.shape) for x in program.outputs),
        loops=tuple(replace(loop, reads=at(loop.reads), writes=at(loop.writes)) for loop in program.loops),
    )


def without_unused_arrays(program: Program) -> Program:
    """The program without scratch arrays that no loop reads or writes, of which compilers would warn."""
    used = {
        access.array for loop in program.loops for access in (*loop.reads.values(), *loop.writes.values())
    }
    scratch = {name: size for name, size in program.scratch.items() if name in used}
    return program if len(scratch) == len(program.scratch) else replace(program, scratch=scratch)


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
    """The program with every kernel changed; a kernel that several loops share is changed once."""
    changed: dict[int, Graph] = {}
    for loop in program.loops:
        if id(loop.kernel) not in changed:
            changed[id(loop.kernel)] = change(loop.kernel)
    loops = tuple(replace(loop, kernel=changed[id(loop.kernel)]) for loop in program.loops)
    return replace(program, loops=loops)
