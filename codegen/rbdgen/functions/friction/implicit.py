"""Derivatives of the impulses that solve a contact problem, by the implicit function theorem.

The natural map F(lambda, c, mu) is 0 at the solution, with c = G lambda + g. If G, g and mu change, then

    N dlambda + W dc + F_mu dmu = 0,  N = D + W G,  dc = dG lambda + dg

with the derivatives D, W and F_mu of the natural map, which are those of the modes in which the contacts are.
The sweeps and Newton steps are never differentiated. Where a contact changes its mode, these are the
derivatives on one side. The numbers r do not change the solution, and the smoothing counts as constant. The
bounds of joints, see `held.py`, change F as mu does.

For the corners of soles, c = P (G P^T lambda + g) + R lambda + b, and P, R and b change as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rbdgen.access import whole
from rbdgen.functions.friction.arrays import (
    ARMS,
    BIASES,
    BOUNDS,
    COMPLIANCES,
    DRIVE,
    GRIP,
    RESPONSES,
    SMOOTHING,
    SOLVED,
    STEPS,
    STRIPS,
    arms_in,
)
from rbdgen.functions.friction.cone import Cone
from rbdgen.functions.friction.layout import Block
from rbdgen.functions.friction.newton import Impulses
from rbdgen.functions.friction.sole import Arm, gathered, summed
from rbdgen.functions.friction.solver import Solver
from rbdgen.signature import BAR, DOT
from rbdgen.spatial.ops import ZERO, Vector
from rbdgen.spatial.rows import Rows, times
from rbdgen.spatial.scalar import Scalar, add, dot, mul, neg
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.loops import Arrays, FormLoop, LoopedForm

CHANGE = "change"
"""The name of the array of dc."""


class AtSolution:
    """The equations of dlambda at the impulses in the array `SOLVED`."""

    def __init__(self, solver: Solver, arrays: Arrays) -> None:
        self._solver, problem, each = solver, solver.problem(arrays), list(arrays[SOLVED])
        velocities = problem.velocities(Impulses(problem.on_rows(each), each))
        self._modes = problem.natural_map(each, velocities)
        self._steps = problem.steps
        self.linear = problem.linear(self._modes)

    def by_friction(self) -> Rows:
        """-F_mu, a column for each point that can touch the ground."""
        found = []
        for number, own in (touch for block in self._solver.blocks for touch in block.touches):
            column: list[Scalar] = [0] * self._solver.impulses
            column[own] = [*_by_friction(self._modes.cones[number]), 0]
            found.append(column)
        return found

    def by_bounds(self) -> list[Scalar]:
        """-dF of the row of each joint by the bounds of this joint. F = r (c - P) depends on them by P, whose
        derivative by f is `way` / r.
        """
        found: list[Scalar] = []
        for block in (block for block in self._solver.blocks if block.joints):
            own, r = self._modes.joints[block.joints.start], self._steps[block.place]
            found += [own.way, mul(r, own.at_low), mul(r, own.at_high)]
        return found


def _by_friction(own: Cone) -> tuple[Scalar, Scalar]:
    """-dF_t/dmu of a point."""
    x, y = own.direction
    return own.pressing * own.slides * x, own.pressing * own.slides * y


def adjoint(solver: Solver) -> LoopedForm:
    """`change_bar` and `grip_bar` from `solved_bar`: c_bar = -W^T w and mu_bar = -F_mu^T w, where N^T w is
    lambda_bar.
    """

    def trace(x: State) -> Arrays:
        at = AtSolution(solver, x.arrays)
        w = at.linear.solve_transposed(x.arrays[SOLVED + BAR])
        change = at.linear.by_velocity(w, adjoint=True)
        grip = [dot(column, w) for column in at.by_friction()]
        found = {CHANGE + BAR: list(map(neg, change)), GRIP + BAR: grip}
        if solver.joints:
            laws = zip(solver.of_bounds, at.by_bounds(), strict=True)
            found[BOUNDS + BAR] = [mul(entry, w[row]) for row, entry in laws]
        return found

    sizes = {CHANGE + BAR: solver.impulses, GRIP + BAR: solver.cones}
    sizes |= {BOUNDS + BAR: solver.sizes[BOUNDS]} if solver.joints else {}
    return _form("adjoint", trace, adjoint_reads(solver), sizes)


def tangent(solver: Solver) -> LoopedForm:
    """`solved_dot` from dc and `grip_dot`."""

    def trace(x: State) -> Arrays:
        at = AtSolution(solver, x.arrays)
        right = list(map(neg, at.linear.by_velocity(x.arrays[CHANGE])))
        for column, rate in zip(at.by_friction(), x.arrays[GRIP + DOT], strict=True):
            right = [add(value, mul(entry, rate)) for value, entry in zip(right, column, strict=True)]
        if solver.joints:
            laws = zip(solver.of_bounds, at.by_bounds(), x.arrays[BOUNDS + DOT], strict=True)
            for row, entry, rate in laws:
                right[row] = add(right[row], mul(entry, rate))
        return {SOLVED + DOT: at.linear.solve(right).each}

    return _form("tangent", trace, tangent_reads(solver), {SOLVED + DOT: solver.impulses})


def adjoint_reads(solver: Solver) -> dict[str, int]:
    """The sizes of the arrays that `adjoint` reads."""
    return {**known(solver), SOLVED: solver.impulses, SOLVED + BAR: solver.impulses}


def tangent_reads(solver: Solver) -> dict[str, int]:
    """The sizes of the arrays that `tangent` reads."""
    own = {SOLVED: solver.impulses, CHANGE: solver.impulses, GRIP + DOT: solver.cones}
    own |= {BOUNDS + DOT: solver.sizes[BOUNDS]} if solver.joints else {}
    return {**known(solver), **own}


def known(solver: Solver) -> dict[str, int]:
    """The arrays of a problem on which its solution depends."""
    return {name: size for name, size in solver.sizes.items() if name != RESPONSES}


def weights(solver: Solver, arrays: Mapping[str, Sequence[Scalar]]) -> dict[str, Sequence[Scalar]]:
    """The adjoints of all arrays of the problem, from lambda and the results of `adjoint`.

    With f = P^T lambda, u = G f + g and p = G g_bar, they are g_bar = P^T c_bar, G_bar = g_bar f^T, R_bar =
    c_bar . lambda, over the rows of R, and b_bar = c_bar_n. P_bar = c_bar u^T + lambda p^T is that of the
    axes E, c_bar (u_v + u_w x r)^T + lambda (p_v + p_w x r)^T, and of the arm r, E^T c_bar x u_w + E^T lambda
    x p_w.
    """
    each, change = arrays[SOLVED], arrays[CHANGE + BAR]
    rows, drive = _on_rows(solver, arrays, each), _on_rows(solver, arrays, change)
    found: dict[str, Sequence[Scalar]] = {
        STRIPS + BAR: solver.strips([[mul(row, column) for column in rows] for row in drive]),
        DRIVE + BAR: drive,
        GRIP + BAR: arrays[GRIP + BAR],
        STEPS + BAR: [0] * solver.impulses,
        SMOOTHING + BAR: [0],
    }
    found |= {BOUNDS + BAR: arrays[BOUNDS + BAR]} if solver.joints else {}
    if not solver.corners:
        return found
    G = solver.unstripped(arrays[STRIPS])
    felt = [add(*pair) for pair in zip(times(G, rows), arrays[DRIVE], strict=True)]
    pushed = times(G, drive)
    arms, compliances, biases = list[Scalar](), list[Scalar](), list[Scalar]()
    for block in (block for block in solver.blocks if block.corners):
        for arm, (_, own) in zip(_arms(block, arrays), block.touches, strict=True):
            c, impulse = Vector(*change[own]), Vector(*each[own])
            axes = zip(c, impulse, strict=True)
            moving, pushing = arm.moving(felt[block.rows]), arm.moving(pushed[block.rows])
            for by_axis, along in axes:
                arms += moving * by_axis + pushing * along
            spins = (Vector(*felt[block.rows][3:]), Vector(*pushed[block.rows][3:]))
            pulls = (arm.axes.T.apply(x) for x in (c, impulse))
            arms += sum((pull.cross(w) for pull, w in zip(pulls, spins, strict=True)), ZERO)
            compliances += [add(mul(c.x, impulse.x), mul(c.y, impulse.y)), mul(c.z, impulse.z)]
            biases.append(c.z)
    unused = {RESPONSES + BAR: [0] * solver.sizes[RESPONSES]}
    return {**found, ARMS + BAR: arms, COMPLIANCES + BAR: compliances, BIASES + BAR: biases, **unused}


def changes(solver: Solver, arrays: Mapping[str, Sequence[Scalar]]) -> dict[str, Sequence[Scalar]]:
    """The arrays that `tangent` reads, from lambda and the rates of all arrays of the problem.

    With f = P^T lambda and u = G f + g, dc = dP u + P (dG f + G dP^T lambda + dg) + dR lambda + db.
    """
    each = list(arrays[SOLVED])
    rows, moved = _on_rows(solver, arrays, each), _moved(solver, arrays, each)
    G, faster = solver.unstripped(arrays[STRIPS]), solver.unstripped(arrays[STRIPS + DOT])
    u = [add(own, dot(row, rows)) for own, row in zip(arrays[DRIVE + DOT], faster, strict=True)]
    laws = {GRIP + DOT: arrays[GRIP + DOT]}
    laws |= {BOUNDS + DOT: arrays[BOUNDS + DOT]} if solver.joints else {}
    if not solver.corners:
        return {CHANGE: u, **laws}
    u = [add(own, dot(row, moved)) for own, row in zip(u, G, strict=True)]
    still = [add(own, dot(row, rows)) for own, row in zip(arrays[DRIVE], G, strict=True)]
    found: list[Scalar] = []
    for block in solver.blocks:
        if not block.corners:
            found += u[block.rows]
            continue
        arms = zip(_arms(block, arrays), _arms(block, arrays, DOT), block.touches, block.corners, strict=True)
        for arm, rate, (_, own), corner in arms:
            frame, (softer, yielding) = (
                still[block.rows],
                arrays[COMPLIANCES + DOT][2 * corner : 2 * corner + 2],
            )
            turned = arm.axes.apply(Vector(*frame[3:]).cross(rate.arm))
            change = rate.axes.apply(arm.moving(frame)) + turned + Vector(*arm.velocity(u[block.rows]))
            biased = change + Vector(0, 0, arrays[BIASES + DOT][corner])
            x, y, z = each[own]
            found += biased + Vector(mul(softer, x), mul(softer, y), mul(yielding, z))
    return {CHANGE: found, **laws}


def _on_rows(solver: Solver, arrays: Mapping[str, Sequence[Scalar]], each: Sequence[Scalar]) -> list[Scalar]:
    """P^T times values over all impulses."""
    found: list[Scalar] = []
    for block in solver.blocks:
        own = list(each[block.impulses])
        found += gathered(_arms(block, arrays), own) if block.corners else own
    return found


def _moved(solver: Solver, arrays: Mapping[str, Sequence[Scalar]], each: Sequence[Scalar]) -> list[Scalar]:
    """dP^T lambda, which is 0 but for soles."""
    found: list[Scalar] = []
    for block in solver.blocks:
        moved: list[Scalar] = [0] * block.size
        if block.corners:
            arms = zip(_arms(block, arrays), _arms(block, arrays, DOT), block.touches, strict=True)
            moved = summed([_force_rate(arm, rate, each[own]) for arm, rate, (_, own) in arms])
        found += moved
    return found


def _force_rate(arm: Arm, rate: Arm, impulse: Sequence[Scalar]) -> list[Scalar]:
    """dP^T times an impulse."""
    f, change = (x.axes.T.apply(Vector(*impulse)) for x in (arm, rate))
    return [*change, *(rate.arm.cross(f) + arm.arm.cross(change))]


def _arms(block: Block, arrays: Mapping[str, Sequence[Scalar]], rate: str = "") -> list[Arm]:
    """P of each corner of a sole, or its rate."""
    return arms_in(arrays[ARMS + rate])[block.corners.start : block.corners.stop]


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
