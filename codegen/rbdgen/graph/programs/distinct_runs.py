"""A pass for runs that come one by one: it leaves out those that only fill vectors, and finds known zeros.

Vectors of neighbouring columns include columns that are 0 where their neighbours are not, and the last vector
overlaps the previous one. The remaining operations are the same and in the same order, so results keep their
bits, except that a 0 may have the other sign.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from rbdgen.graph.node import Graph, Node
from rbdgen.graph.programs.program import Loop, Program
from rbdgen.graph.programs.specialised import Address, Elements, Zeros, addresses, of_runs, with_zeros

ZERO = Node("const")

Bodies = dict[tuple[int, Zeros], tuple[Graph, Elements]]
"""Kernels specialised for zeros, by kernel and zeros; see `with_zeros`."""


class Run(NamedTuple):
    """A run of a loop."""

    number: int
    """The number of the run in the loop."""
    zeros: Zeros
    """The zeros that it reads."""
    reads: set[Address]
    """The other elements that it reads."""
    writes: set[Address]


def one_by_one(program: Program) -> Program:
    """The program without runs that only fill vectors or whose results nothing reads, and with known
    zeros.
    """
    zero = {(name, k) for name, table in program.tables.items() for k, x in enumerate(table) if x == 0}
    bodies: Bodies = {}
    every = [
        [_run(loop, k, zero, bodies) for k in loop.distinct_runs or range(loop.count)]
        for loop in program.loops
    ]
    needed = {(output.name, k) for output in program.outputs for k in range(output.size)}
    loops = []
    for loop, runs in zip(reversed(program.loops), reversed(every), strict=True):
        kept = []
        for run in reversed(runs):
            if not needed.isdisjoint(run.writes):
                needed.difference_update(run.writes)
                needed.update(run.reads)
                kept.append(run)
        if kept:
            loops.append(_of_runs(loop, kept[::-1]))
    return replace(program, loops=tuple(reversed(loops)))


def _run(loop: Loop, number: int, zero: set[Address], bodies: Bodies) -> Run:
    """The elements that a run reads and writes. `zero` has the addresses of zeros, and is updated for the
    results of the run.
    """
    read = {name: list(addresses(access, number)) for name, access in loop.reads.items()}
    zeros = tuple((name, tuple(k for k, at in enumerate(read[name]) if at in zero)) for name in sorted(read))
    key = (id(loop.kernel), zeros)
    if key not in bodies:
        bodies[key] = with_zeros(loop.kernel, zeros)
    body, left = bodies[key]
    writes = set[Address]()
    for output in body.outputs:
        written = list(addresses(loop.writes[output.name], number))
        writes.update(written)
        zero.difference_update(written)
        zero.update(at for at, k in zip(written, output.elements, strict=True) if body.nodes[k] == ZERO)
    return Run(number, zeros, {read[name][k] for name in left for k in left[name]}, writes)


def _of_runs(loop: Loop, runs: Sequence[Run]) -> Loop:
    """The loop with only these runs."""
    numbers = [run.number for run in runs]
    zeros = {name: tuple(dict(run.zeros)[name] for run in runs) for name in loop.reads}
    return replace(
        loop,
        reads=of_runs(loop.reads, numbers),
        writes=of_runs(loop.writes, numbers),
        count=len(runs),
        zeros={name: own for name, own in zeros.items() if any(own)},
        distinct_runs=tuple(range(len(runs))) if loop.distinct_runs else (),
    )
