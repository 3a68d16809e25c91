"""The dynamics of a robot on a free base, without the base.

No torque acts on the base, so its six rows of M a + h = [0; tau] determine its acceleration. What is left
for the joints (index j; b is the base) is

    Mbar a_j + hbar = tau,  Mbar = M_jj - M_jb M_bb^-1 M_bj,  hbar = h_j - M_jb M_bb^-1 h_b.

Mbar is the inverse of the joints' block of M^-1, and the Schur complement of M_bb. Nakanishi, Mistry, Schaal,
Inverse Dynamics Control with Floating Base and Constraints, ICRA 2007, eq. 4 without contacts; Umetani and
Yoshida, Resolved Motion Rate Control of Space Manipulators with Generalized Jacobian Matrix, 1989.

M_bb is the spatial inertia of the whole robot. About the centre of mass it consists of the mass m and a
rotational inertia, so that only the latter is factored.
"""

from __future__ import annotations

from dataclasses import replace

from rbdgen.functions.between_limbs import between_limbs
from rbdgen.functions.contacts.floating import Floating, Solid
from rbdgen.functions.contacts.inverse_dynamics import CRBA, NLE
from rbdgen.functions.form import Outputs, flat
from rbdgen.functions.resistance import model_of
from rbdgen.model.model import Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ldl import ldl
from rbdgen.spatial.ops import NO_FORCE, Vector
from rbdgen.spatial.rows import Rows, times
from rbdgen.spatial.scalar import Scalar, add, dot, mul, neg, reciprocal, sub
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.sweep import BASE


def _inertia_matrix(robot: Model | ReducedModel, x: State) -> Rows:
    """M over the independent degrees of freedom."""
    form = CRBA.forms[1 if isinstance(robot, ReducedModel) else 0]
    elements = list(CRBA.trace(form, robot, x)[0])
    n = model_of(robot).coupling.independent
    return [elements[k : k + n] for k in range(0, len(elements), n)]


def _less(M: Rows, y: Rows, scaled: Rows) -> Outputs:
    """The joints' block of M, less the products of the columns of y and `scaled`, one for each joint."""
    joints = range(len(y))
    Mbar: Rows = [[0] * len(y) for _ in joints]
    for i in joints:
        for j in range(i + 1):
            rest = sub(M[BASE + i][BASE + j], dot(y[i], scaled[j]))
            Mbar[i][j] = Mbar[j][i] = rest
    return [flat(Mbar)]


def crba_free_base(model: Model, x: State) -> Outputs:
    """Mbar, with M_bb factored as a dense matrix."""
    M = _inertia_matrix(model, x)
    base = ldl([row[:BASE] for row in M[:BASE]], naming=x.naming)
    y = [base.back_substitute(row[:BASE]) for row in M[BASE:]]
    return _less(M, y, list(map(base.scale, y)))


def crba_free_base_about_com(reduced: ReducedModel, x: State) -> Outputs:
    """Mbar, with the forces on the base taken about the centre of mass. If limbs are lanes, the entries of
    `between_limbs` follow.
    """
    M = _inertia_matrix(reduced, x)
    per_mass = reciprocal(M[0][0])
    h = Vector(M[1][5], M[2][3], M[0][4])  # the first moment, as M_bb has -[h x] above the diagonal
    c = (h * per_mass).named(x.naming, "c")
    J = [[M[3 + i][3 + k] for k in range(3)] for i in range(3)]
    for i in range(3):
        for k in range(3):
            # J + [h x][c x] = J + c h^T - (h . c) 1
            J[i][k] = add(J[i][k], mul(c[min(i, k)], h[max(i, k)]))
        J[i][i] = sub(J[i][i], h.dot(c))
    turning = ldl(J, naming=x.naming)
    y, scaled = [], []
    for j, row in enumerate(M[BASE:], BASE):
        f, n = Vector(*row[:3]), Vector(*row[3:BASE])
        about = turning.back_substitute([*(n - c.cross(f)).named(x.naming, f"n[{j}]")])
        y.append([*f, *about])
        scaled.append([*(f * per_mass), *turning.scale(about)])
    weights = [neg(value) for value in (*[per_mass] * 3, *turning.inverse_diagonal)]
    several = [k - BASE for k in sorted(x.lanes.freedoms(reduced.bodies))]
    rows = [dict(enumerate(row)) for row in y]
    return [[*_less(M, y, scaled)[0], *flat(between_limbs(rows, weights, x.lanes, several, ()))]]


def rnea_free_base(robot: Model | ReducedModel, x: State) -> Outputs:
    """tau and a_base from M and h."""
    M, a_joints = _inertia_matrix(robot, x), x.arrays["a_joints"]
    h = NLE.trace(NLE.forms[1 if isinstance(robot, ReducedModel) else 0], robot, x)[0]
    f = [add(dot(row[BASE:], list(a_joints)), own) for row, own in zip(M, h, strict=True)]
    base = ldl([row[:BASE] for row in M[:BASE]], naming=x.naming)
    a_base = list(map(neg, base.solve(f[:BASE])))
    moved = times([row[:BASE] for row in M[BASE:]], a_base)
    return [list(map(add, f[BASE:], moved)), a_base]


def rnea_free_base_released(reduced: ReducedModel, x: State) -> Outputs:
    """tau and a_base: inverse dynamics on a base that is fixed first, and then released."""
    robot = Floating(reduced, x)
    tau, left = robot.collected([NO_FORCE] * reduced.nbodies)
    base = Solid(robot.subtrees[0]).acceleration(-left)
    robot.let_go(base, tau)
    return [tau[BASE:], robot.acceleration(base)]


def at_rest(robot: Model | ReducedModel, x: State) -> State:
    """The state without accelerations of the joints."""
    still: list[Scalar] = [0] * (model_of(robot).coupling.independent - BASE)
    return replace(x, arrays={**x.arrays, "a_joints": still})
