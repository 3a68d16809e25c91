"""Inverse dynamics with classical accelerations and without linear velocities.

These are the Newton-Euler equations with mass moments (m, h, Sigma) about the origin of each frame of a
`ReducedModel`. With U = [wdot x] + w w^T - |w|^2 1, a point r of a body has the acceleration a + U r, so that
F = m a + U h and N = h x a + int r x U r dm. Only the acceleration of the origin is needed, never its
velocity. (Luh, Walker and Paul 1980; the matrix U as in Khalil and Dombre 2002, ch. 9.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from rbdgen.model.joints import Coordinate
from rbdgen.model.moments import MassMoments
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ops import ZERO, ZERO_MATRIX, Force, Matrix, Vector
from rbdgen.spatial.scalar import Naming, Scalar, add, mul, neg, sub, unnamed
from rbdgen.sweeps.bodies import Body, Placed, along_joint, force_to_parent, relative_motion
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.straight import straight
from rbdgen.sweeps.sweep import Given, Gives, Inward, Outward, Sum


@dataclass(frozen=True)
class BodyMotion:
    """The motion of a body, in its axes."""

    a: Vector
    """The classical acceleration of the origin, minus gravity."""
    w: Vector
    """The angular velocity."""
    wdot: Vector
    """The angular acceleration."""

    @cached_property
    def U(self) -> Matrix:
        return acceleration_matrix(self.wdot, self.w, self.w)

    @property
    def squares(self) -> Vector:
        return entry_by_entry(self.w, self.w)


@dataclass(frozen=True)
class Still:
    """The motion of a body on a robot at rest."""

    a: Vector

    w = wdot = squares = ZERO
    U = ZERO_MATRIX


class Accelerated(Protocol):
    """The quantities in which the inertial force is linear: `a` and `U` of `BodyMotion`, and `squares`.

    U_yy - U_zz = squares_z - squares_y, and so on cyclically.
    """

    @property
    def a(self) -> Vector: ...

    @property
    def U(self) -> Matrix: ...

    @property
    def squares(self) -> Vector: ...


def inverse_dynamics(
    moving: bool = True, accelerated: bool = True, external: bool = False
) -> tuple[Outward, Inward]:
    """The sweeps that compute `tau` from v, a and fext.

    Without `accelerated` there is no a, without `moving` no v, and without `external` no fext.
    """
    return body_forces(moving, accelerated, external), HAND_ON


def body_forces(moving: bool = True, accelerated: bool = True, external: bool = False) -> Outward:
    """The sweep that computes the `motion` of every body, and the `force` on it about its origin."""
    reads = [name for name, read in (("v", moving), ("a", accelerated), ("fext", external)) if read]
    return Outward(
        "outward",
        "motion",
        step,
        world=lambda x: BodyMotion(x.upward, ZERO, ZERO),
        reads=("placement", "moments", "upward", *reads),
        gives={"motion": BodyMotion if moving else Still, "force": Force},
    )


def step(body: Body, x: Given) -> Gives:
    """Compute the motion of a body from that of its parent, and the force on the body."""
    motion = moved(body, x)
    force = inertial_force(body.moments, motion)
    return {"motion": motion, "force": force if x.fext is None else force - x.fext}


def moved(body: Body, x: Given) -> BodyMotion:
    """The motion of a body from that of its parent.

    With the joint's velocity (w_J, u), w = w' + w_J, wdot = wdot' + w' x w_J + wdot_J and a = a' + 2 w' x u +
    w_J x u + udot, where a prime marks the parent's motion at the body's origin.
    """
    a, w, wdot = carried(body, x.parent)
    own, rate = relative_motion(body, x.v), relative_motion(body, x.a)
    return BodyMotion(
        a + w.cross(own.linear * 2) + own.angular.cross(own.linear) + rate.linear,
        w + own.angular,
        wdot + w.cross(own.angular) + rate.angular,
    )


def carried(body: Placed, above: BodyMotion) -> tuple[Vector, Vector, Vector]:
    """a, w and wdot of the parent at the body's origin, in the body's axes."""
    at_origin = above.a + above.U.apply(body.translation)
    to_child = body.rotation.to_child
    return to_child(at_origin), to_child(above.w), to_child(above.wdot)


def hand_on(body: Body, x: Given) -> Gives:
    """Compute the torque of a joint, and the force on its subtree in the parent's axes, about the parent's
    origin.
    """
    return {"tau": along_joint(body, x.force), "force": force_to_parent(body, x.force)}


HAND_ON = Inward(
    "inward",
    {"force": Sum(Force)},
    hand_on,
    reads=("placement",),
    gives={"tau": Scalar},
    base_gives={"tau": Scalar},
)


def acceleration_matrix(x: Vector, b: Vector, c: Vector) -> Matrix:
    """[x x] + [b x][c x] = [x x] + c b^T - (b . c) 1. This is U for x = wdot and b = c = w."""
    xx, yy, zz = entry_by_entry(b, c)
    xy, xz, yz = mul(c.x, b.y), mul(c.x, b.z), mul(c.y, b.z)
    yx, zx, zy = mul(c.y, b.x), mul(c.z, b.x), mul(c.z, b.y)
    return Matrix(
        Vector(neg(add(yy, zz)), sub(xy, x.z), add(xz, x.y)),
        Vector(add(yx, x.z), neg(add(xx, zz)), sub(yz, x.x)),
        Vector(sub(zx, x.y), add(zy, x.x), neg(add(xx, yy))),
    )


def entry_by_entry(b: Vector, c: Vector) -> Vector:
    """The element-wise product of two vectors."""
    return Vector(mul(b.x, c.x), mul(b.y, c.y), mul(b.z, c.z))


def inertial_force(moments: MassMoments, motion: Accelerated) -> Force:
    """F = m a + U h, N = h x a + int r x U r dm."""
    h, a, U = moments.first, motion.a, motion.U
    return Force(
        turning_moment(moments.second, motion.squares, U) + h.cross(a), U.apply(h) + a * moments.mass
    )


def turning_moment(sigma: Matrix, squares: Vector, U: Matrix) -> Vector:
    """int r x U r dm.

    N_x = Sigma_yy U_zy - Sigma_zz U_yz + Sigma_xy U_zx - Sigma_xz U_yx + Sigma_yz (w_z^2 - w_y^2), cyclic.
    """

    def entry(x: int) -> Scalar:
        y, z = (x + 1) % 3, (x + 2) % 3
        total = sub(mul(sigma[y][y], U[z][y]), mul(sigma[z][z], U[y][z]))
        total = add(total, mul(sigma[x][y], U[z][x]))
        total = sub(total, mul(sigma[x][z], U[y][x]))
        return add(total, mul(sigma[y][z], sub(squares[z], squares[y])))

    return Vector(entry(0), entry(1), entry(2))


def rnea_classical(
    reduced: ReducedModel,
    q: Sequence[Coordinate],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    fext: Sequence[Force] | None = None,
    naming: Naming = unnamed,
) -> list[Scalar]:
    """tau = ID(q, v, a), in N m or N.

    q has one coordinate per body, v and a have nv elements, and fext is the external force on every body, in
    its joint's own frame. Terms with elements of v or a that are the number 0 vanish: the result is the
    nonlinear effects at a = 0, and the gravity torques at v = a = 0.
    """
    x = State(q, v, a, fext=fext, naming=naming)
    return straight(reduced, x).run(*inverse_dynamics(external=fext is not None))["tau"]
