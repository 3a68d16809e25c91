"""Forward dynamics: articulated bodies with the bias forces of inverse dynamics.

The articulated-body algorithm (Featherstone 2008, table 7.1) on a `ReducedModel`. First the outward sweep of
inverse dynamics runs at qdd = 0; it gives each body's bias force, with the terms of velocity and gravity. The
unknown is then the change of acceleration against that motion. It has no drift c, so the products of c with
the articulated inertia vanish, and the last sweep starts from zero at the root.
"""

from __future__ import annotations

from rbdgen.functions.inverse_dynamics.classical import body_forces
from rbdgen.model.articulated import ArticulatedInertia, JointFactor, factor_joint
from rbdgen.model.inertia import Inertia
from rbdgen.spatial.ops import NO_MOTION, Force, Motion, Vector
from rbdgen.spatial.scalar import Scalar, is_number, mul, sub
from rbdgen.sweeps.bodies import (
    Base,
    Body,
    Jointed,
    along_base,
    along_joint,
    force_to_parent,
    inertia_to_parent,
    motion_to_child,
)
from rbdgen.sweeps.sweep import Given, Gives, Inward, Outward, Sum, Sweep


def forward_dynamics(external: bool = False) -> tuple[Sweep, ...]:
    """The sweeps that give `a` of v, tau and, where there are `external` forces, fext.

    Between the last two `a` is D^-1 u, u = tau - S^T p.
    """
    return body_forces(accelerated=False, external=external), ARTICULATED, ACCELERATIONS


def own_inertia(body: Body) -> ArticulatedInertia:
    """That of the body alone."""
    moments = body.moments
    return ArticulatedInertia.of(Inertia.from_second_moment(moments.mass, moments.first, moments.second))


def joint_factor(body: Body, x: Given) -> JointFactor:
    """U and D of a joint of one degree of freedom."""
    return factor_joint(x.inertia, (body.subspace,))


def hand_on(body: Body, factor: JointFactor, x: Given) -> Gives:
    """U D^-1, and the inertia that the parent feels. Before it is turned, its row and column z are zero."""
    return {"scaled": factor.scaled, "inertia": inertia_to_parent(body, factor.project(x.inertia))}


def articulated(body: Body, x: Given) -> Gives:
    """One joint's D^-1 u; the inertia and the bias force that its parent feels."""
    factor = joint_factor(body, x)
    (rate,) = factor.solve([sub(x.tau, along_joint(body, x.force))])
    # p_z + U_z D^-1 (tau - p_z) is tau
    passed = with_joint_force(body, x.force + factor.U[0] * rate, x.tau)
    return {**hand_on(body, factor, x), "a": rate, "force": force_to_parent(body, passed)}


ARTICULATED = Inward(
    "articulated",
    {"force": Sum(Force), "inertia": Sum(ArticulatedInertia, own_inertia)},
    articulated,
    reads=("placement", "moments", "tau"),
    gives={"a": Scalar, "scaled": Force},
)


def with_joint_force(body: Jointed, force: Force, value: Scalar) -> Force:
    """The force with this value along the joint's axis; unchanged where the joint's type is not known."""
    n, f = force.moment, force.force
    if not is_number(body.turning):
        return force
    if body.turning:
        return Force(Vector(n.x, n.y, value), f)
    return Force(n, Vector(f.x, f.y, value))


def acceleration(body: Body, x: Given) -> Gives:
    """qdd = D^-1 u - D^-1 U^T a', a' the parent's change of acceleration.

    U_z / D is 1: the component of the change along the joint, a'_z + qdd, comes first and qdd from it.
    """
    above = motion_to_child(body, x.parent)
    w, a, n, f = above.angular, above.linear, x.scaled.moment, x.scaled.force
    if not is_number(body.turning):
        qdd = sub(x.a, above.dot(x.scaled))
        return {"a": qdd, "change": above + body.subspace * qdd}
    pairs = [*zip(n, w, strict=True), *zip(f, a, strict=True)]
    del pairs[2 if body.turning else 5]
    along = x.a
    for U, change in pairs:
        along = sub(along, mul(U, change))
    if body.turning:
        return {"a": sub(along, w.z), "change": Motion(Vector(w.x, w.y, along), a)}
    return {"a": sub(along, a.z), "change": Motion(w, Vector(a.x, a.y, along))}


def base_acceleration(body: Base, x: Given) -> Gives:
    """That of a floating base, from its 6 x 6."""
    u = [sub(tau, p) for tau, p in zip(x.tau, along_base(x.force), strict=True)]
    qdd = factor_joint(x.inertia, body.joint.motion_subspace).solve(u)
    return {"a": qdd, "change": Motion(Vector(*qdd[3:]), Vector(*qdd[:3]))}


ACCELERATIONS = Outward(
    "accelerations",
    "change",
    acceleration,
    base_acceleration,
    world=lambda _: NO_MOTION,
    reads=("placement", "scaled", "a"),
    base_reads=("inertia", "force", "tau"),
    gives={"a": Scalar, "change": Motion},
)
