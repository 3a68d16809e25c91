"""The solver of contacts with friction, as loops over kernels: sweeps, Newton steps, and the end.

A sweep gives every contact in turn the impulse that its own equations demand, given the newest impulses of
all others (Gauss-Seidel). A few sweeps find out which contacts are open, stick and slide; Newton steps then
make the impulses exact. A plan says how many of both there are.

An array of impulses holds all of them twice, one copy after the other, so that those of all contacts but
one are neighbours in it. A Newton step reads one such array and writes another. `strips` holds G contact by
contact: the rows of a contact, whose columns begin with its own and go on to the last one and from the
first one.

Soles have six rows and more impulses than that, see `sole.py`. Their sweeps are loops of their own, see
`sole_loops.py`; for all other contacts, the impulse of a sole is one along its rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from rbdgen.access import Access, element, whole
from rbdgen.functions.friction.arrays import (
    BOUNDS,
    CORNERS,
    DAMPING,
    DRIVE,
    GRIP,
    IMPULSES,
    RATES,
    RESIDUAL,
    RESPONSES,
    SMOOTHING,
    SOLVED,
    STEPS,
    STRIPS,
    Newest,
    corners_in,
    matrix,
)
from rbdgen.functions.friction.block import impulse_of_cone, stopping_impulse
from rbdgen.functions.friction.cone import shrunk
from rbdgen.functions.friction.held import Bounds, bounds_in, impulse_of_joint
from rbdgen.functions.friction.layout import Block
from rbdgen.functions.friction.newton import Impulses, Problem, newton_step, without_gain
from rbdgen.functions.friction.sole import FRAME_ROWS
from rbdgen.functions.friction.sole_loops import OF_CORNERS, SoleLoops, damping
from rbdgen.model.contacts import SolverPlan
from rbdgen.spatial.rows import Rows
from rbdgen.spatial.scalar import Scalar, add, dot, maximum, select
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.loops import Arrays, FormLoop, LoopedForm, cleared


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

    @property
    def impulses(self) -> int:
        """The number of impulses of all contacts."""
        last = self.blocks[-1]
        return last.place + last.count

    @property
    def cones(self) -> int:
        """The number of points that can touch the ground."""
        return self.blocks[-1].numbers.stop

    @property
    def corners(self) -> int:
        """The number of corners of all soles."""
        return self.blocks[-1].corners.stop

    @property
    def joints(self) -> int:
        """The number of joints with limits or dry friction."""
        return self.blocks[-1].joints.stop

    @property
    def of_bounds(self) -> list[int]:
        """The impulse to which each element of the array `BOUNDS` belongs."""
        return [block.place for block in self.blocks if block.joints for _ in Bounds._fields]

    @cached_property
    def sizes(self) -> dict[str, int]:
        """The sizes of the arrays of a problem."""
        n = self.size
        sizes = {STRIPS: n * n, DRIVE: n, GRIP: self.cones, STEPS: self.impulses, SMOOTHING: 1}
        of_corners = {name: self.corners * size for name, size in OF_CORNERS.items()}
        sizes |= {BOUNDS: len(Bounds._fields) * self.joints} if self.joints else {}
        return sizes | of_corners if self.corners else sizes

    def strips(self, G: Sequence[Sequence[Scalar]]) -> list[Scalar]:
        """The array `STRIPS` of a matrix."""
        return [G[i][j] for i, columns in self._columns() for j in columns]

    def unstripped(self, strips: Sequence[Scalar]) -> Rows:
        """The matrix of an array `STRIPS`."""
        G: Rows = [[0] * self.size for _ in range(self.size)]
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
        n, plan, at = self.size, self.plan, Newest()
        loops = [cleared(element(IMPULSES, range(2 * n)))]
        if self.corners:
            loops.append(cleared(element(CORNERS, range(3 * self.corners))))
        at = self._add_sweeps(loops, range(plan.sweeps), at)
        for step in range(plan.steps):
            loops.append(self._step(at))
            at = at.after_step
            if step + 2 < plan.steps:
                at = self._add_sweeps(loops, range(plan.sweeps, plan.sweeps + plan.between), at)
        loops.append(self._end(at))
        sizes = {CORNERS: 3 * self.corners, IMPULSES: 2 * n, RATES: FRAME_ROWS}
        written = dict.fromkeys(x.array for loop in loops for x in loop.writes.values())
        scratch = {x: size for x in written for name, size in sizes.items() if x.startswith(name)}
        tables = {DAMPING: damping(plan)} if self.corners and damping(plan) else {}
        return LoopedForm(tuple(loops), {SOLVED: self.impulses, RESIDUAL: 1}, scratch, tables)

    def solve(self, x: State, arrays: Arrays) -> tuple[list[Scalar], Scalar]:
        """The impulses and the residual, computed with whatever scalars the problem has."""
        impulses, (residual,) = self.looped().run(State(q=(), arrays=arrays, naming=x.naming))
        return impulses, residual

    def _add_sweeps(self, loops: list[FormLoop], numbers: range, at: Newest) -> Newest:
        """Adds the sweeps with these numbers. Neighbouring contacts of one kind are runs of one loop."""
        if self.corners:
            for number in numbers:
                loops += self._sweep_with_soles(number, at)
                at = at.after_sweep
        else:
            loops += self._runs([block for _ in numbers for block in self.blocks], at)
        return at

    def _sweep_with_soles(self, number: int, at: Newest) -> list[FormLoop]:
        found: list[FormLoop] = []
        for soles, group in groupby(self.blocks, key=lambda block: bool(block.corners)):
            if soles:
                own = (SoleLoops(block, self.size, number, at) for block in group)
                found += [loop for sole in own for loop in sole.loops()]
            else:
                found += self._runs(list(group), at)
        return found

    def _runs(self, blocks: Sequence[Block], at: Newest) -> list[FormLoop]:
        grouped = groupby(blocks, key=lambda block: (block.size, bool(block.numbers), bool(block.joints)))
        return [self.sweep(list(group), at) for _, group in grouped]

    def sweep(self, blocks: Sequence[Block], at: Newest) -> FormLoop:
        """The loop over contacts of one kind in a sweep."""
        n, size = self.size, blocks[0].size
        firsts = tuple(block.first for block in blocks)
        reads = {
            "strip": Access(STRIPS, tuple(range(size * n)), tuple(n * first for first in firsts)),
            "own": Access(DRIVE, tuple(range(size)), firsts),
        }
        if n > size:
            reads["others"] = Access(at.rows, tuple(range(size, n)), firsts)
        if blocks[0].numbers:
            reads["mu"] = element(GRIP, [block.numbers.start for block in blocks])
        if blocks[0].joints:
            size_of_law = len(Bounds._fields)
            at_law = tuple(size_of_law * block.joints.start for block in blocks)
            reads["law"] = Access(BOUNDS, tuple(range(size_of_law)), at_law)
        both = Access(at.rows, (*range(size), *range(n, n + size)), firsts)
        return FormLoop("sweep", self._swept, {"impulse": both}, reads, count=len(blocks))

    def _swept(self, x: State) -> Arrays:
        """The impulse of one contact or joint, from those of all others."""
        n, own = self.size, x.arrays["own"]
        size = len(own)
        others = list(x.arrays.get("others", ()))
        rows = matrix(x.arrays["strip"], n)
        b = [add(value, dot(row[size:], others)) for value, row in zip(own, rows, strict=True)]
        D = [row[:size] for row in rows]
        if "mu" in x.arrays:
            found = impulse_of_cone(D, b, x.arrays["mu"][0])
        elif "law" in x.arrays:
            found = [impulse_of_joint(D[0][0], b[0], Bounds(*x.arrays["law"]))]
        else:
            found = stopping_impulse(D, b)
        return {"impulse": [*found, *found]}

    def problem(self, arrays: Mapping[str, Sequence[Scalar]]) -> Problem:
        """The problem in these arrays."""
        (smoothing,) = arrays[SMOOTHING]
        G, corners = self.unstripped(arrays[STRIPS]), corners_in(arrays) if self.corners else ()
        bounds = bounds_in(arrays.get(BOUNDS, ()))
        mu, r = arrays.get(GRIP, ()), arrays[STEPS]
        return Problem(self.blocks, G, arrays[DRIVE], mu, r, smoothing, corners, bounds)

    def _all(self, at: Newest) -> dict[str, Access]:
        """All that describes the problem, and the impulses."""
        found = {name: whole(name, size) for name, size in self.sizes.items() if size and name != RESPONSES}
        found[IMPULSES] = whole(at.rows, self.size)
        if self.corners:
            found[CORNERS] = whole(at.corners, 3 * self.corners)
        return found

    def _impulses(self, arrays: Arrays) -> Impulses:
        """The impulses that a Newton step or the end reads."""
        rows, each = list(arrays[IMPULSES]), list[Scalar]()
        for block in self.blocks:
            own = slice(3 * block.corners.start, 3 * block.corners.stop)
            each += arrays[CORNERS][own] if block.corners else rows[block.rows]
        return Impulses(rows, each)

    def _step(self, at: Newest) -> FormLoop:
        """A Newton step from the impulses in some arrays to those in others."""

        def step(x: State) -> Arrays:
            problem, before = self.problem(x.arrays), self._impulses(x.arrays)
            change = newton_step(problem, before.each, problem.velocities(before))
            rows, each = (
                [add(*pair) for pair in zip(*both, strict=True)] for both in zip(before, change, strict=True)
            )
            corners = [each[block.impulses] for block in self.blocks if block.corners]
            after = {"next": 2 * rows, "corners_next": [x for own in corners for x in own]}
            return {name: after[name] for name in writes}

        writes = {"next": whole(at.after_step.rows, 2 * self.size)}
        if self.corners:
            writes["corners_next"] = whole(at.after_step.corners, 3 * self.corners)
        return FormLoop("newton", step, writes, self._all(at))

    def _end(self, at: Newest) -> FormLoop:
        """Shrinks the impulses to the cones, whatever happened before, and computes the residual. Those of
        robots with soles, which are not always found, then lose what would add energy.
        """

        def end(x: State) -> Arrays:
            problem, each = self.problem(x.arrays), self._impulses(x.arrays).each
            for number, own in (touch for block in self.blocks for touch in block.touches):
                p, s, z = each[own]
                z = maximum(z, 0)
                each[own] = [*shrunk(p, s, problem.mu[number] * z), z]
            if self.corners:
                each = without_gain(problem, each)
            return {SOLVED: each, RESIDUAL: [residual(problem, each)]}

        writes = {SOLVED: whole(SOLVED, self.impulses), RESIDUAL: whole(RESIDUAL, 1)}
        return FormLoop("end", end, writes, self._all(at))


def residual(problem: Problem, each: Sequence[Scalar]) -> Scalar:
    """The largest |F / r|, in m/s."""
    velocities = problem.velocities(Impulses(problem.on_rows(each), list(each)))
    F = problem.values(problem.natural_map(each, velocities), velocities)
    largest: Scalar = 0
    total: Scalar = 0
    for value, step in zip(F, problem.steps, strict=True):
        size = abs(value)
        largest, total = maximum(largest, size / step), add(total, size)
    return select(-1, total, largest, total)  # NaN if any of them is
