"""Contact kinematics in chosen axes, computed from the ends of contacts up to the body that carries both.

Only a few vectors go from body to body, so no two rotations are multiplied. The velocity of a point needs
only the angular velocities of bodies: it gains w x p at each body on the way up. What goes down are the
accelerations (Luh, Walker and Paul 1980).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rbdgen.functions.contacts.on_bodies import End, Held, held_contacts, inward, on_frames
from rbdgen.functions.contacts.relative import Rows, between, flattened
from rbdgen.functions.inverse_dynamics.classical import BodyMotion
from rbdgen.functions.kinematics.columns import Path, columns_from_root
from rbdgen.functions.kinematics.outward import CLASSICAL
from rbdgen.functions.kinematics.placement import FromRoot
from rbdgen.model.joints import Coordinate
from rbdgen.model.model import WORLD
from rbdgen.model.reduce import ReducedBody, ReducedModel
from rbdgen.spatial.ops import NO_MOTION, ZERO, Motion, Transform
from rbdgen.spatial.scalar import Naming, Scalar, unnamed
from rbdgen.sweeps.bodies import Body, relative_motion
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.straight import Straight, straight
from rbdgen.sweeps.sweep import Given, Gives

AT_REST = BodyMotion(ZERO, ZERO, ZERO)


def contact_pose(
    reduced: ReducedModel, q: Sequence[Coordinate], naming: Naming = unnamed
) -> tuple[list[Scalar], list[Scalar]]:
    """The position (m) and rotation of every contact."""
    reduced = reduced.in_metres
    poses = []
    for k, held in enumerate(held_contacts(reduced, reduced.at(q))):
        seen = FromRoot.at(on_frames(reduced, k), q, naming, held.carrier)
        R, p = between(seen.placements())
        poses.append(Transform(R, held.axes.to_child(p)))
    return flattened(poses)


def contact_jacobian(reduced: ReducedModel, q: Sequence[Coordinate]) -> Rows:
    """J, rows x nv, in m. Columns are carried from body to body, which takes fewer operations for points."""
    reduced = reduced.in_metres
    bodies = reduced.at(q)
    contacts = held_contacts(reduced, bodies)
    return _jacobian(reduced.nv, contacts, [[columns(bodies, end) for end in x.ends] for x in contacts])


def contact_jacobian_from_root(
    reduced: ReducedModel, q: Sequence[Coordinate], naming: Naming = unnamed
) -> Rows:
    """The same matrix with columns computed directly in the axes of the root. This takes fewer operations for
    frames, whose angular rows are columns of rotations.
    """
    reduced = reduced.in_metres
    contacts = held_contacts(reduced, reduced.at(q))
    paths = [
        columns_from_root(on_frames(reduced, k), q, "aligned", naming, held.carrier)
        for k, held in enumerate(contacts)
    ]
    return _jacobian(reduced.nv, contacts, [[by_freedom(path) for path in ends if path] for ends in paths])


Columns = dict[int, Motion]
"""The motion of an end at unit rate of each degree of freedom."""


def _jacobian(nv: int, contacts: Sequence[Held], seen: Sequence[Sequence[Columns]]) -> Rows:
    """J from the columns of the ends of every contact."""
    rows: Rows = []
    for held, ends in zip(contacts, seen, strict=True):
        block: Rows = [[0] * nv for _ in range(held.rows.stop - held.rows.start)]
        for dof in set().union(*ends):
            entries = held.of([columns.get(dof, NO_MOTION) for columns in ends])
            for row, value in zip(block, entries, strict=True):
                row[dof] = value
        rows += block
    return rows


def columns(bodies: Sequence[ReducedBody], end: End) -> Columns:
    """The columns of the degrees of freedom between the carrier of a contact and its end, in the carrier's
    axes.
    """
    found: Columns = {}
    p = end.point
    for i in reversed(end.path):
        body = bodies[i]
        for dof, S in enumerate(body.subspace, body.joint.idx_v):
            found[dof] = Motion(S.angular, S.linear + S.angular.cross(p))
        up = body.rotation.to_parent
        found = {dof: Motion(up(S.angular), up(S.linear)) for dof, S in found.items()}
        p = body.translation + up(p)
    return found


def by_freedom(path: Path) -> Columns:
    """The columns of a path."""
    return {dof: S for joint, own in path for dof, S in enumerate(own, joint.idx_v)}


def contact_motion(reduced: ReducedModel, x: State) -> tuple[list[Scalar], list[Scalar]]:
    """J v and dJ/dt v of every row, in m."""
    reduced = reduced.in_metres
    contacts = held_contacts(reduced, reduced.at(x.q))
    seen = {root: Seen.by(root, reduced, x) for root in (held.carrier for held in contacts)}
    rates: list[Scalar] = []
    drifts: list[Scalar] = []
    for held in contacts:
        own = seen[held.carrier]
        rates += held.of(list(map(own.velocity, held.ends)))
        drifts += held.of(list(map(own.acceleration, held.ends)))
    return rates, drifts


@dataclass(frozen=True)
class Seen:
    """Bodies and their motions at a = 0 relative to one of them, or to the world."""

    root: int
    """The body that stands still, or WORLD."""
    bodies: Sequence[ReducedBody]
    motion: Sequence[BodyMotion]
    v: Sequence[Scalar]
    """The velocities of the joints."""

    @classmethod
    def by(cls, root: int, reduced: ReducedModel, x: State) -> Seen:
        """The motions at a state."""
        driver: Straight = straight(reduced, x)
        still = None if root == WORLD else driver.bodies[root]

        def step(body: Body, given: Given) -> Gives:
            return {"motion": AT_REST} if body is still else CLASSICAL.step(body, given)

        sweep = replace(CLASSICAL, step=step, reads=[name for name in CLASSICAL.reads if name != "a"])
        return cls(root, driver.bodies, driver.run(sweep)["motion"], x.v)

    def of(self, i: int) -> BodyMotion:
        """The motion of a body, or of the root."""
        return AT_REST if i == self.root else self.motion[i]

    def velocity(self, end: End) -> Motion:
        """The velocity of an end's point, and the angular velocity of its axes, in the axes of the root."""
        own = self.of(end.body)
        rate, w = own.w.cross(end.point), own.w
        for i in reversed(end.path):
            body, up = self.bodies[i], self.bodies[i].rotation.to_parent
            rate = rate + relative_motion(body, body.joint.slice(self.v)).linear
            rate, w = up(rate) + self.of(body.parent).w.cross(body.translation), up(w)
        return Motion(w, rate)

    def acceleration(self, end: End) -> Motion:
        """Their classical acceleration."""
        own = self.of(end.body)
        wdot, a = own.wdot, own.a + own.U.apply(end.point)
        return Motion(inward(self.bodies, end.path, wdot), inward(self.bodies, end.path, a))
