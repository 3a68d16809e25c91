"""Dynamics constrained by contacts, with articulated bodies: M is factored joint by joint and never formed.

One inward sweep of the articulated-body algorithm computes L, D and V of every joint, see `JointFactor`
(Featherstone 2008, table 7.1). Unit forces in the contacts and tau - h are carried inward over the same
joints, which gives L^-T J^T and L^-T (tau - h). The contact forces are eliminated last, see `multipliers.py`.
An outward sweep computes a.

The linear velocity of a floating base and gravity affect the whole robot alike, so both are left out. The
unknown acceleration of the base is a' = vdot + w x v - R^T g. With this unknown, M, h, J and the drift do not
depend on the linear velocity or on gravity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rbdgen.functions.articulated.step import ACCELERATIONS, ARTICULATED, FACTORS
from rbdgen.functions.contacts.anchors import apart_in_own_axes, pulled
from rbdgen.functions.contacts.multipliers import Multipliers, activity, softness
from rbdgen.functions.contacts.unit_forces import Contacts, moved_on
from rbdgen.functions.inverse_dynamics.classical import BodyMotion, body_forces, inertial_force
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ops import NO_MOTION, ZERO, Motion, Vector
from rbdgen.spatial.scalar import Scalar, add, mul, neg
from rbdgen.sweeps.bodies import (
    Body,
    relative_motion,
)
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.straight import Straight, straight
from rbdgen.sweeps.sweep import Given, Gives, Outward


def turning_base(body: Body, x: Given) -> Gives:
    """The step of a floating base that only rotates, without gravity."""
    motion = BodyMotion(ZERO, relative_motion(body, x.v).angular, ZERO)
    return {"motion": motion, "force": inertial_force(body.moments, motion)}


BIAS = replace(body_forces(accelerated=False), base=turning_base)

UPWARD = Outward(
    "upward",
    "up",
    lambda body, x: {"up": body.rotation.to_child(x.parent)},
    world=lambda x: x.upward,
    reads=("placement",),
    gives={"up": Vector},
)
"""The sweep that computes minus gravity in the axes of every body."""


PUSHED = replace(ARTICULATED, gives={**ARTICULATED.gives, **FACTORS.gives})
"""The sweep that factors M, and gives D^-1 L^-T (tau - h) as `a`."""

VELOCITIES = Outward(
    "velocities",
    "velocity",
    lambda body, x: {"velocity": moved_on(body, x)},
    world=lambda _: NO_MOTION,
    reads=("placement", "v"),
    gives={"velocity": Motion},
)


def delassus(reduced: ReducedModel, x: State) -> list[list[Scalar | None]]:
    """J M^-1 J^T. If limbs are lanes, the entries of `between_limbs` follow."""
    reduced = reduced.in_metres
    driver = straight(reduced, x)
    values = driver.run(FACTORS)
    contacts = Contacts(reduced, driver, own=False)
    system = Multipliers(contacts.carried(), values["inverse_D"], contacts.lanes)
    return [*system.G(x.naming), *system.between_limbs]


def contact_forces(reduced: ReducedModel, x: State, *, anchored: bool = False) -> list[Scalar]:
    """lambda. With `anchored`, the contacts are anchored."""
    return _constrained(reduced.in_metres, x, anchored=anchored)[1]


def contact_dynamics(
    reduced: ReducedModel, x: State, *, anchored: bool = False
) -> tuple[list[Scalar], list[Scalar]]:
    """a (nv) and lambda (nc). With `anchored`, the contacts are anchored."""
    reduced = reduced.in_metres
    driver, forces, rates = _constrained(reduced, x, anchored=anchored)
    a = _accelerations(driver, rates)
    for i, body in enumerate(reduced.model.bodies):
        if body.floats:
            k = body.joint.idx_v
            v, w = Vector(*x.v[k : k + 3]), Vector(*x.v[k + 3 : k + 6])
            a[k : k + 3] = Vector(*a[k : k + 3]) - driver.values["up"][i] - w.cross(v)
    return a, forces


def _constrained(
    reduced: ReducedModel, x: State, *, anchored: bool
) -> tuple[Straight, list[Scalar], list[Scalar]]:
    """The bodies, lambda, and D^-1 L^-T (tau - h + J^T lambda)."""
    driver = straight(reduced, x)
    values = driver.run(BIAS, UPWARD, PUSHED, *([VELOCITIES] if anchored else []))
    contacts, weights = Contacts(reduced, driver), activity(reduced.model.contacts, x)
    wanted = [neg(value) for value in contacts.accelerations()]
    if anchored:
        pull = pulled(x, apart_in_own_axes(reduced, contacts, x.arrays["anchor"]), contacts.velocities())
        wanted = [add(a, b) for a, b in zip(pull, wanted, strict=True)]
    right = [mul(w, value) for w, value in zip(weights, wanted, strict=True)]
    system = Multipliers(contacts.carried(weights), values["inverse_D"], contacts.lanes)
    factors = system.factored(softness(reduced.model.contacts, x), x.naming)
    forces = system.forces(factors, right, values["a"], x.naming)
    return driver, contacts.given(forces), system.pushed(forces, values["a"])


def contact_impulse(reduced: ReducedModel, x: State) -> tuple[list[Scalar], list[Scalar]]:
    """The velocity v after an impulse, and the impulse."""
    reduced = reduced.in_metres
    driver = straight(reduced, x)
    values, still = driver.run(VELOCITIES, FACTORS), [0] * reduced.nv
    contacts, weights = Contacts(reduced, driver), activity(reduced.model.contacts, x)
    (restitution,) = x.arrays["restitution"]
    back = neg(add(1, restitution))
    right = [mul(mul(w, back), value) for w, value in zip(weights, contacts.velocities(), strict=True)]
    system = Multipliers(contacts.carried(weights), values["inverse_D"], contacts.lanes)
    factors = system.factored(softness(reduced.model.contacts, x), x.naming)
    impulse = system.forces(factors, right, still, x.naming)
    change = _accelerations(driver, system.pushed(impulse, still))
    return [add(a, b) for a, b in zip(x.v, change, strict=True)], contacts.given(impulse)


def _accelerations(driver: Straight, rates: Sequence[Scalar]) -> list[Scalar]:
    """L^-1 times the rates, joint by joint from the root."""
    driver.values["a"], driver.kinds["a"] = list(rates), Scalar
    return list(driver.run(ACCELERATIONS)["a"])
