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
from rbdgen.functions.friction.layout import Block
from rbdgen.functions.friction.newton import Impulses, Problem, newton_step
from rbdgen.functions.friction.sole import NUMBERS, ROWS, Arm, Corner, Response
from rbdgen.functions.friction.sole_alone import impulses_of_sole
from rbdgen.model.contacts import SolverPlan
from rbdgen.spatial.rows import Rows
from rbdgen.spatial.scalar import Scalar, add, dot, maximum, select
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.loops import Arrays, FormLoop, LoopedForm, cleared

STRIPS, DRIVE, GRIP, STEPS, SMOOTHING = "strips", "drive", "grip", "steps", "smoothing"
"""The names of the arrays that describe a problem: G, g, the coefficients of friction, r and 4 sigma."""

ARMS, BIASES, COMPLIANCES, RESPONSES = "arms", "biases", "compliances", "responses"
"""The names of the arrays that describe the corners of soles: P, b, R, and what `Response` has."""

IMPULSES: Final = "impulses"

CORNERS: Final = "corners"
"""The name of the array of the impulses of all corners."""

DAMPING: Final = "damping"

SOLVED: Final = "solved"
"""The name of the array of the impulses that were found."""

RESIDUAL: Final = "residual"

DAMPED: Final = 0.16
"""The damping of the Newton steps of soles in the first sweep."""

LESS: Final = 0.3
"""The damping in a sweep, relative to that in the sweep before. There is none in sweeps after Newton steps of
all contacts.
"""


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

    @cached_property
    def sizes(self) -> dict[str, int]:
        """The sizes of the arrays of a problem."""
        n, corners = self.size, self.corners
        sizes = {STRIPS: n * n, DRIVE: n, GRIP: self.cones, STEPS: self.impulses, SMOOTHING: 1}
        if corners:
            each = {ARMS: NUMBERS, BIASES: 1, COMPLIANCES: 1, RESPONSES: 3 * ROWS + 9}
            sizes |= {name: corners * size for name, size in each.items()}
        return sizes

    @property
    def damping(self) -> tuple[float, ...]:
        """The damping of soles in each sweep, first of those before all Newton steps, then of those after
        one.
        """
        return (*(DAMPED * LESS**k for k in range(self.plan.sweeps)), *[0.0] * self.plan.between)

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
        n, plan, corners = self.size, self.plan, 3 * self.corners
        newest, other = "", "_next"
        loops = [cleared(element(IMPULSES, range(2 * n)))]
        loops += [cleared(element(CORNERS, range(corners)))] if corners else []
        loops += self._sweeps(range(plan.sweeps), newest)
        for step in range(plan.steps):
            loops.append(self._step(newest, other))
            newest, other = other, newest
            if step + 2 < plan.steps:
                loops += self._sweeps(range(plan.sweeps, plan.sweeps + plan.between), newest)
        versions = (newest, other) if plan.steps else (newest,)
        sizes = {IMPULSES: 2 * n, CORNERS: corners}
        scratch = {name + version: size for name, size in sizes.items() for version in versions if size}
        tables = {DAMPING: self.damping} if corners and self.damping else {}
        return LoopedForm((*loops, self._end(newest)), {SOLVED: self.impulses, RESIDUAL: 1}, scratch, tables)

    def solve(self, x: State, arrays: Arrays) -> tuple[list[Scalar], Scalar]:
        """The impulses and the residual, computed with whatever scalars the problem has."""
        impulses, (residual,) = self.looped().run(State(q=(), arrays=arrays, naming=x.naming))
        return impulses, residual

    def _sweeps(self, numbers: range, version: str) -> list[FormLoop]:
        """The sweeps with these numbers. Neighbouring contacts of one kind are runs of one loop."""
        order = [(number, block) for number in numbers for block in self.blocks]
        grouped = groupby(order, key=lambda x: (x[1].size, len(x[1].numbers), bool(x[1].corners)))
        return [self._sweep(list(group), version) for _, group in grouped]

    def _sweep(self, turns: Sequence[tuple[int, Block]], version: str) -> FormLoop:
        numbers, blocks = zip(*turns, strict=True)
        n, size, impulses = self.size, blocks[0].size, IMPULSES + version
        firsts = tuple(block.first for block in blocks)
        reads = {
            "strip": Access(STRIPS, tuple(range(size * n)), tuple(n * first for first in firsts)),
            "own": Access(DRIVE, tuple(range(size)), firsts),
        }
        writes = {"impulse": Access(impulses, (*range(size), *range(n, n + size)), firsts)}
        if blocks[0].numbers:
            starts = tuple(block.numbers.start for block in blocks)
            reads["mu"] = Access(GRIP, tuple(range(len(blocks[0].numbers))), starts)
        if blocks[0].corners:
            reads |= {"all": Access(impulses, tuple(range(n)), firsts), **self._corners(blocks, version)}
            reads |= {SMOOTHING: whole(SMOOTHING, 1), DAMPING: element(DAMPING, numbers)}
            writes["next"] = reads[CORNERS]
            return FormLoop("sole", self._swept_sole, writes, reads, count=len(blocks))
        if n > size:
            reads["others"] = Access(impulses, tuple(range(size, n)), firsts)
        return FormLoop("sweep", self._swept, writes, reads, count=len(blocks))

    def _corners(self, blocks: Sequence[Block], version: str) -> dict[str, Access]:
        """All that belongs to the corners of each sole."""
        count, total = len(blocks[0].corners), self.corners
        sizes = {name: self.sizes[name] // total for name in (ARMS, BIASES, COMPLIANCES, RESPONSES)}
        starts = [block.corners.start for block in blocks]
        found = {
            name: Access(name, tuple(range(count * size)), tuple(size * k for k in starts))
            for name, size in sizes.items()
        }
        own = tuple(range(3 * count))
        found[STEPS] = Access(STEPS, own, tuple(block.place for block in blocks))
        found[CORNERS] = Access(CORNERS + version, own, tuple(3 * k for k in starts))
        return found

    def _swept(self, x: State) -> Arrays:
        """The impulse of one contact, from those of all others."""
        n, own = self.size, x.arrays["own"]
        size = len(own)
        others = list(x.arrays.get("others", ()))
        rows = matrix(x.arrays["strip"], n)
        b = [add(value, dot(row[size:], others)) for value, row in zip(own, rows, strict=True)]
        D = [row[:size] for row in rows]
        found = impulse_of_cone(D, b, x.arrays["mu"][0]) if "mu" in x.arrays else stopping_impulse(D, b)
        return {"impulse": [*found, *found]}

    def _swept_sole(self, x: State) -> Arrays:
        """The impulses of the corners of one sole after a sweep."""
        arrays, n = x.arrays, self.size
        every, corners = list(arrays["all"]), corners_in(arrays)
        rows, count = matrix(arrays["strip"], n), len(corners)
        g = [
            add(value, dot(row[ROWS:], every[ROWS:])) for value, row in zip(arrays["own"], rows, strict=True)
        ]
        alone = Problem(
            [Block(0, ROWS, 0, range(count), range(count))],
            [row[:ROWS] for row in rows],
            g,
            arrays["mu"],
            arrays[STEPS],
            arrays[SMOOTHING][0],
            corners,
        )
        responses = [
            Response(matrix(part[: 3 * ROWS], 3), matrix(part[3 * ROWS :], 3))
            for part in matrix(arrays[RESPONSES], 3 * ROWS + 9)
        ]
        before = Impulses(every[:ROWS], list(arrays[CORNERS]))
        found = impulses_of_sole(alone, responses, before, arrays[DAMPING][0])
        return {"impulse": 2 * found.rows, "next": found.each}

    def problem(self, arrays: Mapping[str, Sequence[Scalar]]) -> Problem:
        """The problem in these arrays."""
        (smoothing,) = arrays[SMOOTHING]
        G, corners = self.unstripped(arrays[STRIPS]), corners_in(arrays) if self.corners else ()
        return Problem(self.blocks, G, arrays[DRIVE], arrays.get(GRIP, ()), arrays[STEPS], smoothing, corners)

    def _all(self, version: str) -> dict[str, Access]:
        """All that describes the problem, and the impulses."""
        found = {name: whole(name, size) for name, size in self.sizes.items() if size and name != RESPONSES}
        found[IMPULSES] = whole(IMPULSES + version, self.size)
        if self.corners:
            found[CORNERS] = whole(CORNERS + version, 3 * self.corners)
        return found

    def _impulses(self, arrays: Arrays) -> Impulses:
        """The impulses that a Newton step or the end reads."""
        rows, each = list(arrays[IMPULSES]), list[Scalar]()
        for block in self.blocks:
            own = slice(3 * block.corners.start, 3 * block.corners.stop)
            each += arrays[CORNERS][own] if block.corners else rows[block.rows]
        return Impulses(rows, each)

    def _step(self, version: str, following: str) -> FormLoop:
        """A Newton step from the impulses in one array to those in another."""

        def step(x: State) -> Arrays:
            found = newton_step(self.problem(x.arrays), self._impulses(x.arrays))
            after = {"next": 2 * found.rows}
            if self.corners:
                soles = [block for block in self.blocks if block.corners]
                after["corners_next"] = [value for block in soles for value in found.each[block.impulses]]
            return after

        reads, writes = self._all(version), {"next": whole(IMPULSES + following, 2 * self.size)}
        if self.corners:
            writes["corners_next"] = whole(CORNERS + following, 3 * self.corners)
        return FormLoop("newton", step, writes, reads)

    def _end(self, version: str) -> FormLoop:
        """Shrinks the impulses to the cones, whatever happened before, and computes the residual."""

        def end(x: State) -> Arrays:
            problem, each = self.problem(x.arrays), self._impulses(x.arrays).each
            for number, own in (touch for block in self.blocks for touch in block.touches):
                p, s, z = each[own]
                z = maximum(z, 0)
                each[own] = [*shrunk(p, s, problem.mu[number] * z), z]
            return {SOLVED: each, RESIDUAL: [residual(problem, each)]}

        writes = {SOLVED: whole(SOLVED, self.impulses), RESIDUAL: whole(RESIDUAL, 1)}
        return FormLoop("end", end, writes, self._all(version))


def matrix(values: Sequence[Scalar], width: int) -> Rows:
    """The rows of a matrix."""
    return [list(values[k : k + width]) for k in range(0, len(values), width)]


def corners_in(arrays: Mapping[str, Sequence[Scalar]]) -> list[Corner]:
    """The corners in the arrays that describe them."""
    return [
        Corner(*both) for both in zip(arms_in(arrays[ARMS]), arrays[BIASES], arrays[COMPLIANCES], strict=True)
    ]


def arms_in(values: Sequence[Scalar]) -> list[Arm]:
    """P of each corner in the array `ARMS`."""
    return [Arm.of(part) for part in matrix(values, NUMBERS)]


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
