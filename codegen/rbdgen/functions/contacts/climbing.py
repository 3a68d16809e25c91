"""Contact kinematics in chosen axes, computed from the ends of contacts up to the body that carries both.

Only a few vectors are carried from body to body, so rotations are not multiplied with each other. The
velocity of a point needs only the angular velocities of the bodies: w x p is added at each body on the way
up. Accelerations are carried down from the carrier to the ends (Luh, Walker and Paul 1980).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from rbdgen.functions.contacts.on_bodies import End, Held, acceleration, held_contacts, motion_inward
from rbdgen.functions.inverse_dynamics.classical import BodyMotion, moved
from rbdgen.functions.kinematics.outward import CLASSICAL
from rbdgen.model.joints import Coordinate
from rbdgen.model.model import WORLD
from rbdgen.model.reduce import ReducedBody, ReducedModel
from rbdgen.spatial.ops import NO_MOTION, ZERO, Motion
from rbdgen.spatial.rows import Rows
from rbdgen.spatial.scalar import Scalar
from rbdgen.sweeps.bodies import Body, relative_motion
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.straight import Straight, straight
from rbdgen.sweeps.sweep import Given

T = TypeVar("T")

AT_REST = BodyMotion(ZERO, ZERO, ZERO)


def contact_jacobian(reduced: ReducedModel, q: Sequence[Coordinate]) -> Rows:
    """J, rows x nv, with lengths in m. Columns are rotated from body to body, which takes fewer operations
    for points.
    """
    reduced = reduced.in_metres
    bodies = reduced.at(q)
    rows: Rows = []
    for held in held_contacts(reduced, bodies):
        ends = [columns(bodies, end) for end in held.ends]
        block: Rows = [[0] * reduced.nv for _ in range(held.rows.stop - held.rows.start)]
        for dof in set().union(*ends):
            entries = held.of([own.get(dof, NO_MOTION) for own in ends])
            for row, value in zip(block, entries, strict=True):
                row[dof] = value
        rows += block
    return rows


def columns(bodies: Sequence[ReducedBody], end: End) -> dict[int, Motion]:
    """The columns of the degrees of freedom between the carrier of a contact and its end, in the carrier's
    axes.
    """
    found: dict[int, Motion] = {}
    p = end.point
    for i in reversed(end.path):
        body = bodies[i]
        for dof, S in enumerate(body.subspace, body.joint.idx_v):
            found[dof] = Motion(S.angular, S.linear + S.angular.cross(p))
        up = body.rotation.to_parent
        found = {dof: Motion(up(S.angular), up(S.linear)) for dof, S in found.items()}
        p = body.translation + up(p)
    return found


def contact_motion(reduced: ReducedModel, x: State) -> tuple[list[Scalar], list[Scalar]]:
    """J v and dJ/dt v of every row, with lengths in m: m/s or rad/s, and m/s^2 or rad/s^2."""
    reduced = reduced.in_metres
    driver: Straight = straight(reduced, x)
    driver.run(replace(CLASSICAL, reads=[name for name in CLASSICAL.reads if name != "a"]))
    rates: list[Scalar] = []
    drifts: list[Scalar] = []
    for held in held_contacts(reduced, driver.bodies):
        motions = [motions_along(driver, held, end) for end in held.ends]
        rates += held.of([velocity(driver, *pair) for pair in zip(held.ends, motions, strict=True)])
        drifts += held.of(
            [
                motion_inward(driver.bodies, end.path, acceleration(end, along[-1]))
                for end, along in zip(held.ends, motions, strict=True)
            ]
        )
    return rates, drifts


def motions_along(driver: Straight, held: Held, end: End) -> list[BodyMotion]:
    """The motions at a = 0 of the carrier, which is at rest, and of the bodies between it and an end.

    If the carrier is the world, a sweep has computed them already.
    """
    return along_path(driver, held, end, "motion", AT_REST, moved)


def along_path(
    driver: Straight, held: Held, end: End, name: str, still: T, step: Callable[[Body, Given], T]
) -> list[T]:
    """The values that a step computes from the carrier to the body of an end. The value at the carrier is
    `still`.

    If the carrier is the world, a sweep has computed these values already and stored them under `name`.
    """
    found = [still]
    for i in end.path:
        if held.carrier == WORLD:
            found.append(driver.values[name][i])
            continue
        joint = driver.bodies[i].joint
        v = list(joint.slice(driver.inputs["v"]))
        found.append(step(driver.bodies[i], Given(parent=found[-1], v=v, a=[0] * joint.nv)))
    return found


def velocity(driver: Straight, end: End, motions: Sequence[BodyMotion]) -> Motion:
    """The velocity of an end's point, and the angular velocity of its axes, in the axes of the carrier."""
    rate, w = motions[-1].w.cross(end.point), motions[-1].w
    for i, above in zip(reversed(end.path), reversed(motions[:-1]), strict=True):
        body, up = driver.bodies[i], driver.bodies[i].rotation.to_parent
        rate = rate + relative_motion(body, body.joint.slice(driver.inputs["v"])).linear
        rate, w = up(rate) + above.w.cross(body.translation), up(w)
    return Motion(w, rate)
