"""Derivatives of the impulses that solve a contact problem, by the implicit function theorem.

The natural map F(lambda, c, mu) is 0 at the solution, with c = G lambda + g. If G, g and mu change, then

    N dlambda + W dc + F_mu dmu = 0,  N = D + W G,  dc = dG lambda + dg

with the derivatives D, W and F_mu of the natural map, which are those of the modes in which the contacts are.
The sweeps and Newton steps are never differentiated. Where a contact changes its mode, these are the
derivatives on one side. The numbers r do not change the solution, and the smoothing counts as constant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rbdgen.access import whole
from rbdgen.functions.friction.cone import Cone
from rbdgen.functions.friction.newton import solved
from rbdgen.functions.friction.solver import DRIVE, GRIP, SMOOTHING, SOLVED, STEPS, STRIPS, Solver
from rbdgen.signature import BAR, DOT
from rbdgen.spatial.rows import Rows, times, transposed
from rbdgen.spatial.scalar import Scalar, add, dot, mul, neg
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.loops import Arrays, FormLoop, LoopedForm

CHANGE = "change"
"""The name of the array of dG lambda + dg."""


class Linear:
    """The equations of dlambda at the impulses in the array `SOLVED`."""

    def __init__(self, solver: Solver, arrays: Arrays) -> None:
        self._blocks, problem = solver.blocks, solver.problem(arrays)
        impulses = list(arrays[SOLVED])
        self._cones = problem.natural_map(impulses, problem.velocities(impulses))
        slopes = problem.slopes(self._cones)
        self.N: Rows = problem.derivative(slopes)
        self.W: list[Rows] = [own.W for own in slopes]
        """The diagonal blocks of W, one for each contact."""

    def by_friction(self) -> Rows:
        """-F_mu, a column for each contact with friction."""
        found = []
        for block, own in zip(self._blocks, self._cones, strict=True):
            if own is not None:
                column: list[Scalar] = [0] * len(self.N)
                column[block.rows] = [*_by_friction(own), 0]
                found.append(column)
        return found


def _by_friction(own: Cone) -> tuple[Scalar, Scalar]:
    """-dF_t/dmu of a contact."""
    x, y = own.direction
    return own.pressing * own.slides * x, own.pressing * own.slides * y


def by_blocks(solver: Solver, blocks: Sequence[Rows], values: Sequence[Scalar]) -> list[Scalar]:
    """The product of a block-diagonal matrix and a vector over the rows of all contacts."""
    found: list[Scalar] = []
    for block, matrix in zip(solver.blocks, blocks, strict=True):
        found += times(matrix, values[block.rows])
    return found


def adjoint(solver: Solver) -> LoopedForm:
    """`drive_bar` and `grip_bar` from `solved_bar`: g_bar = -W^T w and mu_bar = -F_mu^T w, where N^T w is
    lambda_bar.
    """

    def trace(x: State) -> Arrays:
        linear = Linear(solver, x.arrays)
        w = solved(transposed(linear.N), x.arrays[SOLVED + BAR])
        drive = by_blocks(solver, list(map(transposed, linear.W)), w)
        grip = [dot(column, w) for column in linear.by_friction()]
        return {DRIVE + BAR: list(map(neg, drive)), GRIP + BAR: grip}

    return _form(
        "adjoint", trace, adjoint_reads(solver), {DRIVE + BAR: solver.size, GRIP + BAR: solver.cones}
    )


def tangent(solver: Solver) -> LoopedForm:
    """`solved_dot` from dG lambda + dg and `grip_dot`."""

    def trace(x: State) -> Arrays:
        linear = Linear(solver, x.arrays)
        right = list(map(neg, by_blocks(solver, linear.W, x.arrays[CHANGE])))
        for column, rate in zip(linear.by_friction(), x.arrays[GRIP + DOT], strict=True):
            right = [add(value, mul(entry, rate)) for value, entry in zip(right, column, strict=True)]
        return {SOLVED + DOT: solved(linear.N, right)}

    return _form("tangent", trace, tangent_reads(solver), {SOLVED + DOT: solver.size})


def adjoint_reads(solver: Solver) -> dict[str, int]:
    """The sizes of the arrays that `adjoint` reads."""
    return {**solver.sizes, SOLVED: solver.size, SOLVED + BAR: solver.size}


def tangent_reads(solver: Solver) -> dict[str, int]:
    """The sizes of the arrays that `tangent` reads."""
    return {**solver.sizes, SOLVED: solver.size, CHANGE: solver.size, GRIP + DOT: solver.cones}


def weights(solver: Solver, arrays: Mapping[str, Sequence[Scalar]]) -> dict[str, Sequence[Scalar]]:
    """The adjoints of all arrays of the problem, from lambda and the results of `adjoint`: that of G is
    g_bar lambda^T.
    """
    impulses, drive = arrays[SOLVED], arrays[DRIVE + BAR]
    G = [[mul(row, column) for column in impulses] for row in drive]
    return {
        STRIPS + BAR: solver.strips(G),
        DRIVE + BAR: drive,
        GRIP + BAR: arrays[GRIP + BAR],
        STEPS + BAR: [0] * solver.size,
        SMOOTHING + BAR: [0],
    }


def changes(solver: Solver, arrays: Mapping[str, Sequence[Scalar]]) -> dict[str, Sequence[Scalar]]:
    """The arrays that `tangent` reads, from lambda and the rates of all arrays of the problem."""
    impulses = list(arrays[SOLVED])
    rows = solver.matrix(arrays[STRIPS + DOT])
    drive = [add(own, dot(row, impulses)) for own, row in zip(arrays[DRIVE + DOT], rows, strict=True)]
    return {CHANGE: drive, GRIP + DOT: arrays[GRIP + DOT]}


def _form(
    name: str, trace: Callable[[State], Arrays], reads: Mapping[str, int], writes: Mapping[str, int]
) -> LoopedForm:
    loop = FormLoop(
        name,
        trace,
        {array: whole(array, size) for array, size in writes.items() if size},
        {array: whole(array, size) for array, size in reads.items() if size},
    )
    return LoopedForm((loop,), {array: size for array, size in writes.items() if size})
