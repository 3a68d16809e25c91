"""Joined loops over columns: the runs of several loops for one column become one straight line.

Without this pass, runs that come one by one store every column and read it again between loops. Two runs
belong to the same column if one reads what the other writes; columns with equal lines are the runs of a new
loop. Runs that only copy earlier values stay in loops of their own: they take almost no time, and would make
columns different.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from rbdgen.access import Access
from rbdgen.graph.cost import cost
from rbdgen.graph.node import Graph, Input, Node, Output
from rbdgen.graph.passes.dead import dead
from rbdgen.graph.programs.program import Loop, Program
from rbdgen.graph.programs.specialised import Address, addresses

Kernels = dict[tuple[tuple[Node, ...], tuple[Output, ...]], int]
"""Numbers of kernels; equal kernels have the same number."""


def number_of(kernel: Graph, kernels: Kernels) -> int:
    """The number of a kernel, which is new if no equal one was seen."""
    return kernels.setdefault((kernel.nodes, kernel.outputs), len(kernels))


class Run(NamedTuple):
    """A run of a loop, with the addresses of all that it reads and writes, by the kernel's names."""

    loop: Loop
    number: int
    reads: dict[str, list[Address]]
    writes: dict[str, list[Address]]

    @property
    def read(self) -> Iterator[Address]:
        return (at for places in self.reads.values() for at in places)

    @property
    def written(self) -> Iterator[Address]:
        return (at for places in self.writes.values() for at in places)


def joined(program: Program) -> Program:
    """The program with neighbouring loops over columns joined, as far as they do not overwrite each other's
    data.
    """
    if not any(loop.distinct_runs for loop in program.loops):
        return program
    outputs = {output.name for output in program.outputs}
    kernels: Kernels = {}
    lines: dict[Line, Graph] = {}
    loops: list[Loop] = []
    later: set[Address] = set()
    for columns, group in reversed(list(_groups(program.loops))):
        own = _joined(group, kernels, lines, later, outputs) if columns else group
        for run in reversed([run for loop in own for run in _runs(loop)]):
            later.difference_update(run.written)
            later.update(run.read)
        loops = [*own, *loops]
    return replace(program, loops=tuple(loops))


def _groups(loops: Sequence[Loop]) -> Iterator[tuple[bool, list[Loop]]]:
    """Groups of neighbouring loops. The flag says whether their runs are columns that overwrite nothing that
    was read or written before in the group.
    """
    group: list[Loop] = []
    touched: set[Address] = set()
    were_columns = False
    for loop in loops:
        runs = list(_runs(loop))
        written = [at for run in runs for at in run.written]
        columns = bool(loop.distinct_runs) and loop.independent and len(set(written)) == len(written)
        if group and not (were_columns and columns and touched.isdisjoint(written)):
            yield were_columns, group
            group, touched = [], set()
        were_columns = columns
        group.append(loop)
        touched |= {*written, *(at for run in runs for at in run.read)}
    yield were_columns, group


def _runs(loop: Loop) -> Iterator[Run]:
    for k in range(loop.count):
        reads, writes = (
            {name: list(addresses(access, k)) for name, access in accesses.items()}
            for accesses in (loop.reads, loop.writes)
        )
        yield Run(loop, k, reads, writes)


def _joined(
    group: Sequence[Loop], kernels: Kernels, lines: dict[Line, Graph], later: set[Address], outputs: set[str]
) -> list[Loop]:
    """Loops that copy, followed by loops over columns. `later` has the addresses that are read after the
    group.
    """
    copies: list[Loop] = []
    home: dict[Address, int] = {}
    columns: dict[int, list[Run]] = {}
    for loop in group:
        runs = list(_runs(loop))
        short = cost(loop.kernel).total <= sum(len(access.elements) for access in loop.writes.values())
        if short and home.keys().isdisjoint(at for run in runs for at in run.read):
            copies.append(loop)
            continue
        for run in runs:
            own = sorted({home[at] for at in run.read if at in home})
            number = own[0] if own else len(home)
            columns[number] = [*(past for k in own for past in columns.pop(k)), run]
            home |= {at: number for past in columns[number] for at in past.written}
    every = [_Column(_in_order(runs, kernels), kernels, later, outputs) for runs in columns.values()]
    return [*copies, *(_loop(those, lines) for those in _neighbours(every))]


def _in_order(runs: Sequence[Run], kernels: Kernels) -> list[Run]:
    """The runs of a column in an order that is the same for alike columns: by dependency depth, then by
    kernel.
    """
    depth: dict[Address, int] = {}
    keys = []
    for run in runs:
        own = max((depth[at] + 1 for at in run.read if at in depth), default=0)
        depth |= dict.fromkeys(run.written, own)
        keys.append((own, number_of(run.loop.kernel, kernels), min(run.written)))
    return [runs[k] for k in sorted(range(len(runs)), key=keys.__getitem__)]


Source = tuple[str, int, int]
"""A value that a run reads: an element of an earlier run's output, as (output name, run, element), or an
element of a place in memory, as ("", place, element).
"""

Line = tuple[tuple[int, ...], tuple[tuple[Source, ...], ...], tuple[int, ...], tuple[tuple[Source, ...], ...]]
"""The kernels of the runs, the sources that each of them reads, the sizes of the places that are read, and
the sources of the values that are written.
"""

Shape = tuple[Line, tuple[tuple[str, tuple[int, ...]], ...]]
"""The line of a column, and the arrays of its places with their elements relative to the first one."""


class _Column:
    """The runs of all loops for one column."""

    def __init__(self, runs: Sequence[Run], kernels: Kernels, later: set[Address], outputs: set[str]) -> None:
        self.kernels = [run.loop.kernel for run in runs]
        self.reads: list[list[Address]] = []
        self.writes: list[list[Address]] = []
        made: dict[Address, Source] = {}
        wiring, left = [], []
        for k, run in enumerate(runs):
            wiring.append(
                tuple(x for array in run.loop.kernel.inputs for x in self._sources(run, array.name, made))
            )
            for name, places in run.writes.items():
                made |= {at: (name, k, e) for e, at in enumerate(places)}
                if kept := [at for at in places if at in later or at[0] in outputs]:
                    self.writes.append(kept)
                    left.append(tuple(made[at] for at in kept))
        numbers = tuple(number_of(kernel, kernels) for kernel in self.kernels)
        self.line: Line = (numbers, tuple(wiring), tuple(map(len, self.reads)), tuple(left))
        placed = (
            (places[0][0], tuple(at - places[0][1] for _, at in places))
            for places in (*self.reads, *self.writes)
        )
        self.shape: Shape = (self.line, tuple(placed))

    @property
    def firsts(self) -> list[int]:
        """The first address of each of its places."""
        return [places[0][1] for places in (*self.reads, *self.writes)]

    def _sources(self, run: Run, name: str, made: Mapping[Address, Source]) -> Iterator[Source]:
        """The source of every element of an array that a run reads."""
        given = [at for at in run.reads[name] if at not in made]
        if given and given not in self.reads:
            self.reads.append(given)
        for at in run.reads[name]:
            yield made[at] if at in made else ("", self.reads.index(given), given.index(at))


def _neighbours(columns: Sequence[_Column]) -> list[list[_Column]]:
    """Group alike columns that are next to each other, in the order of the results. The tiles in which
    batches store results then fill one after the other.
    """
    found: list[list[_Column]] = []
    for column in sorted(columns, key=lambda column: max(at for places in column.writes for _, at in places)):
        before = found[-1][-1] if found else None
        if (
            before is not None
            and before.shape == column.shape
            and all(b - a in (0, 1) for a, b in zip(before.firsts, column.firsts, strict=True))
        ):
            found[-1].append(column)
        else:
            found.append([column])
    return found


def _loop(columns: Sequence[_Column], lines: dict[Line, Graph]) -> Loop:
    """The loop over alike columns. `lines` has the graphs of lines that were written before."""
    (first, *_) = columns
    if first.line not in lines:
        lines[first.line] = _graph(first)
    graph, (_, placed) = lines[first.line], first.shape

    def access(k: int, every: Sequence[Sequence[Address]], *, shared: bool) -> Access:
        offsets = tuple(places[0][1] for places in every)
        return Access(*placed[k], offsets[:1] if shared and len(set(offsets)) == 1 else offsets)

    n = len(first.reads)
    return Loop(
        "column",
        graph,
        {x.name: access(k, [c.reads[k] for c in columns], shared=True) for k, x in enumerate(graph.inputs)},
        {
            x.name: access(n + k, [c.writes[k] for c in columns], shared=False)
            for k, x in enumerate(graph.outputs)
        },
        len(columns),
    )


def _graph(column: _Column) -> Graph:
    """The graph of the runs of a column, one after the other."""
    _, wiring, sizes, left = column.line
    inputs = tuple(Input(f"given{k}", size) for k, size in enumerate(sizes))
    nodes = [Node("input", value=float(k)) for k in range(sum(sizes))]
    made = {("", k, e): sum(sizes[:k]) + e for k, size in enumerate(sizes) for e in range(size)}
    for number, (kernel, sources) in enumerate(zip(column.kernels, wiring, strict=True)):
        at: list[int] = []
        for op, args, value in kernel.nodes:
            if op == "input":
                at.append(made[sources[int(value)]])
            else:
                at.append(len(nodes))
                nodes.append(Node(op, tuple(at[k] for k in args), value))
        made |= {
            (output.name, number, e): at[k]
            for output in kernel.outputs
            for e, k in enumerate(output.elements)
        }
    outputs = tuple(
        Output(f"new{k}", (len(those),), tuple(made[x] for x in those)) for k, those in enumerate(left)
    )
    return dead(Graph(inputs, tuple(nodes), outputs))
