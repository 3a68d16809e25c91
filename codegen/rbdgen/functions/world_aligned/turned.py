"""M and C v + g of a floating base in world-aligned coordinates.

The velocity of the floating base is nu = [dp/dt, w] in world axes here, whereas v has both in the base's own
axes. The elements of joints are those of v. With the base's rotation R and T = diag(R, R, 1),

    nu = T v,  dnu/dt = T (a + [w x v; 0; 0]),  M_w dnu/dt + h_w = T tau
    M_w = T M T^T,  h_w = T ID(q, v, [v x w; 0; 0])

Nakanishi, Cory, Mistry, Peters, Schaal, Operational Space Control: A Theoretical and Empirical Comparison,
IJRR 2008, eq. 18-30, with the joints after the base, and linear before angular.

h_w does not depend on the base's linear velocity, which the cheap form leaves out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rbdgen.functions.inertia_matrix.composite import crba
from rbdgen.functions.inertia_matrix.moments import crba_composite
from rbdgen.functions.inverse_dynamics.classical import inverse_dynamics
from rbdgen.functions.inverse_dynamics.newton_euler import rnea
from rbdgen.model.joints import Coordinate
from rbdgen.model.model import Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ops import Matrix, Vector
from rbdgen.spatial.rows import Rows, transposed
from rbdgen.spatial.scalar import Naming, Scalar, unnamed
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.straight import straight

BASE = 6


def crba_world(model: Model, q: Sequence[Coordinate], naming: Naming = unnamed) -> Rows:
    """M_w, nv x nv: T M T^T, by 3 x 3 blocks."""
    M = crba(model, q, naming)
    R, _ = model.bodies[0].transform(q[0])
    columns = [_turned(R, column) for column in transposed(M)]
    return [_turned(R, row) for row in transposed(columns)]


def nle_world(
    model: Model, q: Sequence[Coordinate], v: Sequence[Scalar], naming: Naming = unnamed
) -> list[Scalar]:
    """h_w, with nv elements: T ID at the acceleration that keeps nu constant."""
    R, _ = model.bodies[0].transform(q[0])
    keeping = Vector(*v[:3]).cross(Vector(*v[3:6]))
    return _turned(R, rnea(model, q, v, [*keeping, *[0] * (model.nv - 3)], naming=naming))


def _turned(R: Matrix, column: list[Scalar]) -> list[Scalar]:
    """T times a vector."""
    return [*R.apply(Vector(*column[:3])), *R.apply(Vector(*column[3:6])), *column[6:]]


# ---- the cheap forms


def crba_world_moments(reduced: ReducedModel, x: State) -> Rows:
    """M_w, nv x nv. In the base's block, the first moment h and the rotational inertia J of the robot are
    rotated, and the mass stays the same. The base's part of a joint's column is rotated as a force.
    """
    M = crba_composite(reduced, x.q, x.naming, x.lanes)
    rotation = reduced.at(x.q)[0].rotation
    h = rotation.to_parent(Vector(M[5][1], M[3][2], M[4][0]))
    J = rotation.symmetric_to_parent(Matrix(*(Vector(*row[3:BASE]) for row in M[3:BASE])))
    rows = [list(row) for row in M]
    for k, (moment, turning) in enumerate(zip(Matrix.skew(h), J, strict=True)):
        rows[3 + k][:BASE] = [*moment, *turning]
        for column in range(3):
            rows[column][3 + k] = moment[column]
    for k in range(BASE, reduced.nv):
        force = [row[k] for row in M[:BASE]]
        turned = [*rotation.to_parent(Vector(*force[:3])), *rotation.to_parent(Vector(*force[3:]))]
        for row, value in enumerate(turned):
            rows[row][k] = rows[k][row] = value
    return rows


def nle_world_classical(reduced: ReducedModel, x: State) -> list[Scalar]:
    """h_w, computed for a base that only rotates."""
    turning = replace(x, v=[0, 0, 0, *x.v[3:]])
    tau = straight(reduced, turning).run(*inverse_dynamics(accelerated=False))["tau"]
    turn = reduced.at(x.q)[0].rotation.to_parent
    return [*turn(Vector(*tau[:3])), *turn(Vector(*tau[3:BASE])), *tau[BASE:]]
