"""The rate and the derivatives of a frame's Jacobian, and the derivatives of its velocity and acceleration.

All quantities are in the coordinates of the columns S, which are the same for all bodies. V and A are the
velocity and the acceleration of the frame, v_p and a_p are those of the body above the joint, and v_b is the
velocity of the body below the joint. The coordinates may move with the frame. If m is a motion of the frame,
m_c denotes the motion of the coordinates: m itself (local), its linear part (aligned) or 0 (world). In these
coordinates

    dS/dt    = (v_b - V_c) x S
    dV/dq    = v_p x S + (S - S_c) x V                             along S, in the tangent space
    dA/dq    = a_p x S + (v_p - V) x (v_p x S) + (S - S_c) x A
    dA/dv    = v_p x S + (v_b - V) x S,    dV/dv = dA/da = S

The derivative of a column of the Jacobian is dV/dq at the unit velocity of its degree of freedom.

Carpentier and Mansard, RSS 2018, section III.D, derive the local ones. All of them are derivatives of the
vectors that `frame_velocity_...` and `frame_acceleration_...` return. The point of an aligned vector
therefore moves with the frame's origin.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdgen.functions.kinematics.columns import Convention, Path, jacobian, rows
from rbdgen.functions.kinematics.motion import Rates, before, behind, gained, rates
from rbdgen.spatial.ops import NO_MOTION, Motion, Vector
from rbdgen.spatial.scalar import Naming, Scalar, unnamed

Matrix = list[Scalar]
"""(6, nv), row-major."""


def jacobian_rate(
    path: Path, v: Sequence[Scalar], convention: Convention, nv: int, naming: Naming = unnamed
) -> Matrix:
    """dJ/dt, the rate of the Jacobian."""

    def rate(x: Rates, S: Motion) -> Motion:
        if convention == "local":
            return S.cross(x.rest)
        if convention == "world":
            return x.below.cross(S)
        w = x.below.angular
        return Motion(w.cross(S.angular), w.cross(S.linear) + S.angular.cross(x.rest.linear))

    moving = rates(path, v, naming)
    return rows(path, [[rate(x, S) for S in x.passed.columns] for x in moving], nv)


def jacobian_derivatives(path: Path, convention: Convention, nv: int) -> list[Scalar]:
    """dJ/dq, (6, nv, nv), row-major: element [i, j, k] is the derivative of J_ij along q_k."""
    found: list[Scalar] = [0] * (6 * nv * nv)
    for above, column in enumerate(path):
        for j, S_j in enumerate(column.columns, column.joint.idx_v):
            for below, turned in enumerate(path):
                parts = (S_j, NO_MOTION) if above < below else (NO_MOTION, S_j)
                for k, S_k in enumerate(turned.columns, turned.joint.idx_v):
                    change = along(S_k, *parts, convention)
                    for i, value in enumerate((*change.linear, *change.angular)):
                        found[(i * nv + j) * nv + k] = value
    return found


def velocity_derivatives(
    path: Path, v: Sequence[Scalar], convention: Convention, nv: int, naming: Naming = unnamed
) -> tuple[Matrix, Matrix]:
    """dV/dq and dV/dv."""
    moving = rates(path, v, naming)
    by_q = [[along(S, x.above, x.onward, convention) for S in x.passed.columns] for x in moving]
    return rows(path, by_q, nv), jacobian(path, nv)


def acceleration_derivatives(
    path: Path,
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    convention: Convention,
    nv: int,
    naming: Naming = unnamed,
) -> tuple[Matrix, Matrix, Matrix]:
    """dA/dq, dA/dv and dA/da."""
    moving = rates(path, v, naming)
    own = gained(moving, a)
    by_q: list[list[Motion]] = []
    by_v: list[list[Motion]] = []
    above, rest = before(own, naming, "a"), behind(own, naming, "b")
    for x, a_p, gain, a_rest in zip(moving, above, own, rest, strict=True):
        columns = x.passed.columns
        turned = [x.above.cross(S) for S in columns]
        by_q.append(
            [
                along(S, a_p, a_rest + gain, convention) + psi.cross(x.onward)
                for S, psi in zip(columns, turned, strict=True)
            ]
        )
        by_v.append([psi + S.cross(x.rest) for S, psi in zip(columns, turned, strict=True)])
    return rows(path, by_q, nv), rows(path, by_v, nv), jacobian(path, nv)


def along(S: Motion, above: Motion, onward: Motion, convention: Convention) -> Motion:
    """m_p x S + (S - S_c) x m for a motion m of the frame, where m_p is `above` and m - m_p is `onward`.

    Terms that cancel are left out.
    """
    if convention == "local":
        return above.cross(S)
    if convention == "world":
        return S.cross(onward)
    w: Vector = S.angular
    return Motion(w.cross(onward.angular), w.cross(onward.linear) + above.angular.cross(S.linear))
