"""The solver of contacts with friction, as loops over kernels: sweeps, Newton steps, and the end.

A sweep gives every contact in turn the impulse that its own equations demand, given the newest impulses of
all others (Gauss-Seidel). A few sweeps find out which contacts are open, stick and slide; Newton steps then
make the impulses exact. A plan says how many of both there are.

An array of impulses holds all of them twice, one copy after the other, so that those of all contacts but
one are neighbours in it. A Newton step reads one such array and writes another. `strips` holds G contact by
contact: the rows of a contact, whose columns begin with its own and go on to the last one and from the
first one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Final

from rbdgen.access import Access, element, whole
from rbdgen.functions.friction.block import impulse_of_cone, stopping_impulse
from rbdgen.functions.friction.cone import shrunk
from rbdgen.functions.friction.newton import Block, Problem, newton_step
from rbdgen.model.contacts import Contact, SolverPlan
from rbdgen.spatial.scalar import Scalar, add, dot, maximum, select
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.loops import Arrays, FormLoop, LoopedForm, cleared

STRIPS, DRIVE, GRIP, STEPS, SMOOTHING = "strips", "drive", "grip", "steps", "smoothing"
"""The names of the arrays that describe a problem: G, g, the coefficients of friction, r and 4 sigma."""

IMPULSES: Final = "impulses"

SOLVED: Final = "solved"
"""The name of the array of the impulses that were found."""

RESIDUAL: Final = "residual"


def blocks_of(contacts: Sequence[Contact]) -> list[Block]:
    """The rows of every contact."""
    found: list[Block] = []
    number = 0
    for contact in contacts:
        first = found[-1].rows.stop if found else 0
        found.append(Block(first, contact.rows, number if contact.has_friction else None))
        number += contact.has_friction
    return found


@dataclass(frozen=True)
class Solver:
    """The loops of a solver for contacts with these rows."""

    blocks: Sequence[Block]
    plan: SolverPlan

    @property
    def size(self) -> int:
        """The number of rows of all contacts."""
        last = self.blocks[-1]
        return last.first + last.size

    @cached_property
    def sizes(self) -> dict[str, int]:
        """The sizes of the arrays of a problem."""
        n, cones = self.size, sum(block.number is not None for block in self.blocks)
        return {STRIPS: n * n, DRIVE: n, GRIP: cones, STEPS: n, SMOOTHING: 1}

    def strips(self, G: Sequence[Sequence[Scalar]]) -> list[Scalar]:
        """The array `STRIPS` of a matrix."""
        return [G[i][j] for i, columns in self._columns() for j in columns]

    def matrix(self, strips: Sequence[Scalar]) -> list[list[Scalar]]:
        """The matrix of an array `STRIPS`."""
        G: list[list[Scalar]] = [[0] * self.size for _ in range(self.size)]
        numbers = iter(strips)
        for i, columns in self._columns():
            for j in columns:
                G[i][j] = next(numbers)
        return G

    def _columns(self) -> list[tuple[int, list[int]]]:
        """Every row with its columns in the order of its strip."""
        n = self.size
        return [
            (row, [(block.first + k) % n for k in range(n)])
            for block in self.blocks
            for row in range(block.rows.start, block.rows.stop)
        ]

    def looped(self) -> LoopedForm:
        """The loops. They give the arrays `SOLVED` and `RESIDUAL`."""
        n, plan = self.size, self.plan
        newest, other = IMPULSES, f"{IMPULSES}_next"
        loops = [cleared(element(newest, range(2 * n))), *self._sweeps(plan.sweeps, newest)]
        for step in range(plan.steps):
            loops.append(self._step(newest, other))
            newest, other = other, newest
            if step + 2 < plan.steps:
                loops += self._sweeps(plan.between, newest)
        scratch = dict.fromkeys((newest, other) if plan.steps else (newest,), 2 * n)
        return LoopedForm((*loops, self._end(newest)), {SOLVED: n, RESIDUAL: 1}, scratch)

    def solve(self, x: State, arrays: Arrays) -> tuple[list[Scalar], Scalar]:
        """The impulses and the residual, computed with whatever scalars the problem has."""
        impulses, (residual,) = self.looped().run(State(q=(), arrays=arrays, naming=x.naming))
        return impulses, residual

    def _sweeps(self, count: int, impulses: str) -> list[FormLoop]:
        """This number of sweeps over the impulses in an array. Neighbouring contacts of one kind are runs
        of one loop.
        """
        order = [block for _ in range(count) for block in self.blocks]
        grouped = groupby(order, key=lambda block: (block.size, block.number is None))
        return [self._sweep(list(group), impulses) for _, group in grouped]

    def _sweep(self, blocks: Sequence[Block], impulses: str) -> FormLoop:
        n, size = self.size, blocks[0].size
        firsts = tuple(block.first for block in blocks)
        reads = {
            "strip": Access(STRIPS, tuple(range(size * n)), tuple(n * first for first in firsts)),
            "own": Access(DRIVE, tuple(range(size)), firsts),
        }
        if n > size:
            reads["others"] = Access(impulses, tuple(range(size, n)), firsts)
        numbers = [block.number for block in blocks if block.number is not None]
        if numbers:
            reads["mu"] = element(GRIP, numbers)
        both = Access(impulses, (*range(size), *range(n, n + size)), firsts)
        return FormLoop("sweep", self._swept, {"impulse": both}, reads, count=len(blocks))

    def _swept(self, x: State) -> Arrays:
        """The impulse of one contact, from those of all others."""
        n, own = self.size, x.arrays["own"]
        size = len(own)
        others = list(x.arrays.get("others", ()))
        rows = [list(x.arrays["strip"][k : k + n]) for k in range(0, size * n, n)]
        b = [add(value, dot(row[size:], others)) for value, row in zip(own, rows, strict=True)]
        D = [row[:size] for row in rows]
        found = impulse_of_cone(D, b, x.arrays["mu"][0]) if "mu" in x.arrays else stopping_impulse(D, b)
        return {"impulse": [*found, *found]}

    def _problem(self, arrays: Mapping[str, Sequence[Scalar]]) -> Problem:
        (smoothing,) = arrays[SMOOTHING]
        G = self.matrix(arrays[STRIPS])
        return Problem(self.blocks, G, arrays[DRIVE], arrays.get(GRIP, ()), arrays[STEPS], smoothing)

    def _all(self, impulses: str) -> dict[str, Access]:
        """All that describes the problem, and the impulses in an array."""
        given = {name: whole(name, size) for name, size in self.sizes.items() if size}
        return {**given, IMPULSES: whole(impulses, self.size)}

    def _step(self, impulses: str, following: str) -> FormLoop:
        """A Newton step from the impulses in one array to those in another."""

        def step(x: State) -> Arrays:
            found = newton_step(self._problem(x.arrays), list(x.arrays[IMPULSES]))
            return {"next": [*found, *found]}

        return FormLoop("newton", step, {"next": whole(following, 2 * self.size)}, self._all(impulses))

    def _end(self, impulses: str) -> FormLoop:
        """Shrinks the impulses to the cones, whatever happened before, and computes the residual."""

        def end(x: State) -> Arrays:
            problem, impulses = self._problem(x.arrays), list(x.arrays[IMPULSES])
            for block in self.blocks:
                if block.number is not None:
                    p, s, z = impulses[block.rows]
                    z = maximum(z, 0)
                    impulses[block.rows] = [*shrunk(p, s, problem.mu[block.number] * z), z]
            return {SOLVED: impulses, RESIDUAL: [residual(problem, impulses)]}

        writes = {SOLVED: whole(SOLVED, self.size), RESIDUAL: whole(RESIDUAL, 1)}
        return FormLoop("end", end, writes, self._all(impulses))


def residual(problem: Problem, impulses: Sequence[Scalar]) -> Scalar:
    """The largest |F / r|, in m/s."""
    velocities = problem.velocities(impulses)
    F = problem.values(problem.natural_map(impulses, velocities), velocities)
    largest: Scalar = 0
    total: Scalar = 0
    for value, step in zip(F, problem.steps, strict=True):
        size = abs(value)
        largest, total = maximum(largest, size / step), add(total, size)
    return select(-1, total, largest, total)  # NaN if any of them is
