"""The steps of the articulated-body algorithm (Featherstone 2008, table 7.1) on a `ReducedModel`.

An inward step factors the inertia of a subtree at its joint, which gives one block of M = L^T D L, and hands
on the inertia that the parent feels. U, V and D of a joint are those of `JointFactor`. If there are forces,
the same step also computes D^-1 L^-T u, where u is tau minus the torques of the forces, and hands on a force.
An outward step computes the accelerations.

Forward dynamics begins with the outward sweep of inverse dynamics at qdd = 0, which gives each body's bias
force, including velocity and gravity terms. The unknown is then the change of acceleration relative to that
motion. It has no velocity-product term c, so the products of c with articulated-body inertias vanish, and the
last sweep starts from zero at the root.
"""

from __future__ import annotations

from rbdgen.functions.inverse_dynamics.classical import body_forces
from rbdgen.model.articulated import ArticulatedInertia, JointFactor, combination, factor_joint
from rbdgen.model.inertia import Inertia
from rbdgen.spatial.ldl import forward_substituted
from rbdgen.spatial.ops import NO_MOTION, Force, Motion, Vector
from rbdgen.spatial.scalar import Scalar, mul, sub
from rbdgen.sweeps.bodies import (
    Body,
    along_joint,
    force_to_parent,
    inertia_to_parent,
    known_components,
    motion_to_child,
    relative_motion,
    with_joint_force,
)
from rbdgen.sweeps.records import Each
from rbdgen.sweeps.sweep import Given, Gives, Inward, Outward, Sum, Sweep


def forward_dynamics(external: bool = False) -> tuple[Sweep, ...]:
    """The sweeps that compute `a` from v and tau and, with `external`, from fext.

    Between the last two sweeps `a` holds D^-1 L^-T u with u = tau - S^T p.
    """
    return body_forces(accelerated=False, external=external), ARTICULATED, ACCELERATIONS


def own_inertia(body: Body) -> ArticulatedInertia:
    """The inertia of the body alone."""
    moments = body.moments
    return ArticulatedInertia.of(Inertia.from_second_moment(moments.mass, moments.first, moments.second))


def joint_factor(body: Body, x: Given) -> JointFactor:
    """The factor of a subtree's inertia at the joint that moves it."""
    return factor_joint(x.inertia, body.subspace, body.armature)


def hand_on(body: Body, factor: JointFactor, x: Given) -> Gives:
    """Compute V D^-1, L and 1 / D, and the inertia that the parent feels. Before it is rotated to the
    parent's axes, and if the joint has no rotors, the components of this inertia along S are zero.
    """
    return {
        "scaled": factor.scaled,
        "L": factor.lower,
        "inverse_D": list(factor.D.inverse_diagonal),
        "inertia": inertia_to_parent(body, factor.project(x.inertia)),
    }


def articulated(body: Body, x: Given) -> Gives:
    """Compute D^-1 L^-T u of one joint, and the inertia and the bias force that its parent feels."""
    factor = joint_factor(body, x)
    rates = factor.decoupled([sub(tau, p) for tau, p in zip(x.tau, along_joint(body, x.force), strict=True)])
    # without rotors S^T p + S^T U (S^T U)^-1 (tau - S^T p) = tau
    passed = with_joint_force(body, x.force + combination(factor.V, rates), x.tau)
    return {**hand_on(body, factor, x), "a": rates, "force": force_to_parent(body, passed)}


FACTORS = Inward(
    "factors",
    {"inertia": Sum(ArticulatedInertia, own_inertia)},
    lambda body, x: hand_on(body, joint_factor(body, x), x),
    reads=("placement", "moments"),
    gives={"inverse_D": Scalar, "scaled": Each(Force)},
)
"""The sweep that factors M, without forces."""

ARTICULATED = Inward(
    "articulated",
    {"force": Sum(Force), "inertia": Sum(ArticulatedInertia, own_inertia)},
    articulated,
    reads=("placement", "moments", "tau"),
    gives={"a": Scalar, "scaled": Each(Force)},
)


def acceleration(body: Body, x: Given) -> Gives:
    """qdd = L^-1 (z - D^-1 V^T a'), where z = D^-1 L^-T u and a' is the parent's change of acceleration.

    If S consists of coordinate axes, the columns of D^-1 V^T along these axes form L. The components of a' +
    S qdd along them are then computed first, and qdd from these.
    """
    above = motion_to_child(body, x.parent)
    known = known_components(body)
    if known is None:
        rates = [sub(z, above.dot(scaled)) for z, scaled in zip(x.a, x.scaled, strict=True)]
        qdd = forward_substituted(x.L, rates)
        return {"a": qdd, "change": above + relative_motion(body, qdd)}
    change = [*above.angular, *above.linear]
    along = []
    for z, scaled in zip(x.a, x.scaled, strict=True):
        along.append(z)
        for k, entry in enumerate((*scaled.moment, *scaled.force)):
            if k not in known:
                along[-1] = sub(along[-1], mul(entry, change[k]))
    along = forward_substituted(x.L, along)
    qdd = [sub(value, change[k]) for value, k in zip(along, known, strict=True)]
    for value, k in zip(along, known, strict=True):
        change[k] = value
    return {"a": qdd, "change": Motion(Vector(*change[:3]), Vector(*change[3:]))}


ACCELERATIONS = Outward(
    "accelerations",
    "change",
    acceleration,
    world=lambda _: NO_MOTION,
    reads=("placement", "scaled", "L", "a"),
    base_reads=(),
    gives={"a": Scalar, "change": Motion},
)
