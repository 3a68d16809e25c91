"""Contact kinematics in chosen axes, computed from the ends of contacts up to the body that carries both.

Only a few vectors go from body to body, so no two rotations are multiplied. The velocity of a point needs
only the angular velocities of bodies: it gains w x p at each body on the way up. What goes down are the
accelerations (Luh, Walker and Paul 1980).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rbdgen.functions.contacts.relative import Rows, between, flattened, held
from rbdgen.functions.inverse_dynamics.classical import BodyMotion
from rbdgen.functions.kinematics.columns import Path, columns_from_root
from rbdgen.functions.kinematics.outward import CLASSICAL
from rbdgen.functions.kinematics.placement import FromRoot
from rbdgen.model.joints import Coordinate
from rbdgen.model.model import WORLD
from rbdgen.model.reduce import PlacedContact, PlacedFrame, ReducedBody, ReducedModel
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
    for placed, frames in _with_ends(reduced, q):
        R, p = between(FromRoot.at(frames, q, naming, placed.axes.parent).placements())
        poses.append(Transform(R, placed.axes.rotation.to_child(p)))
    return flattened(poses)


def contact_jacobian(reduced: ReducedModel, q: Sequence[Coordinate]) -> Rows:
    """J, rows x nv, in m. Columns are carried from body to body, which takes fewer operations for points."""
    reduced = reduced.in_metres
    bodies = reduced.at(q)
    contacts = reduced.contacts_on(bodies)
    return _jacobian(
        reduced, contacts, [[columns(bodies, end, x.axes.parent) for end in x.ends] for x in contacts]
    )


def contact_jacobian_from_root(
    reduced: ReducedModel, q: Sequence[Coordinate], naming: Naming = unnamed
) -> Rows:
    """The same matrix with columns computed directly in the axes of the root. This takes fewer operations for
    frames, whose angular rows are columns of rotations.
    """
    reduced = reduced.in_metres
    contacts, seen = [], []
    for placed, frames in _with_ends(reduced, q):
        paths = columns_from_root(frames, q, "aligned", naming, placed.axes.parent)
        contacts.append(placed)
        seen.append([by_freedom(path) for path in paths])
    return _jacobian(reduced, contacts, seen)


Columns = dict[int, Motion]
"""The motion of an end at unit rate of each degree of freedom."""


def _jacobian(
    reduced: ReducedModel, contacts: Sequence[PlacedContact], seen: Sequence[Sequence[Columns]]
) -> Rows:
    """J from the columns of the ends of every contact."""
    rows: Rows = []
    for placed, ends in zip(contacts, seen, strict=True):
        block: Rows = [[0] * reduced.nv for _ in range(placed.contact.rows)]
        for dof in set().union(*ends):
            entries = held_on(placed, [columns.get(dof, NO_MOTION) for columns in ends])
            for row, value in zip(block, entries, strict=True):
                row[dof] = value
        rows += block
    return rows


def _with_ends(
    reduced: ReducedModel, q: Sequence[Coordinate]
) -> Iterator[tuple[PlacedContact, ReducedModel]]:
    """Every contact, and the model with the contact's ends as its chosen frames."""
    for placed, (_, *ends) in zip(reduced.contacts_on(reduced.at(q)), reduced.contacts, strict=True):
        yield placed, replace(reduced, frames=tuple(ends))


def columns(bodies: Sequence[ReducedBody], end: PlacedFrame, root: int) -> Columns:
    """The columns of the degrees of freedom below `root`, in its axes."""
    found: Columns = {}
    i, p = end.parent, end.translation
    while i != root:
        body = bodies[i]
        for dof, S in enumerate(body.subspace, body.joint.idx_v):
            found[dof] = Motion(S.angular, S.linear + S.angular.cross(p))
        up = body.rotation.to_parent
        found = {dof: Motion(up(S.angular), up(S.linear)) for dof, S in found.items()}
        i, p = body.parent, body.translation + up(p)
    return found


def by_freedom(path: Path) -> Columns:
    """The columns of a path."""
    return {dof: S for joint, own in path for dof, S in enumerate(own, joint.idx_v)}


def contact_motion(reduced: ReducedModel, x: State) -> tuple[list[Scalar], list[Scalar]]:
    """J v and dJ/dt v of every row, in m."""
    reduced = reduced.in_metres
    placed = reduced.contacts_on(reduced.at(x.q))
    seen = {root: Seen.by(root, reduced, x) for root in (one.axes.parent for one in placed)}
    rates: list[Scalar] = []
    drifts: list[Scalar] = []
    for one in placed:
        own = seen[one.axes.parent]
        rates += held_on(one, list(map(own.velocity, one.ends)))
        drifts += held_on(one, list(map(own.acceleration, one.ends)))
    return rates, drifts


def held_on(placed: PlacedContact, ends: Sequence[Motion]) -> list[Scalar]:
    """The rows of a contact, from motions of its ends in the axes of the body from which it is seen."""
    turn = placed.axes.rotation.to_child
    return held(placed.contact, [Motion(turn(end.angular), turn(end.linear)) for end in ends])


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

    def velocity(self, end: PlacedFrame) -> Motion:
        """The velocity of an end's point, and the angular velocity of its axes, in the axes of the root."""
        own, i = self.of(end.parent), end.parent
        rate, w = own.w.cross(end.translation), own.w
        while i != self.root:
            body = self.bodies[i]
            rate = rate + relative_motion(body, body.joint.slice(self.v)).linear
            i, up = body.parent, body.rotation.to_parent
            rate, w = up(rate) + self.of(i).w.cross(body.translation), up(w)
        return Motion(w, rate)

    def acceleration(self, end: PlacedFrame) -> Motion:
        """Their classical acceleration."""
        own, i = self.of(end.parent), end.parent
        a, wdot = own.a + own.U.apply(end.translation), own.wdot
        while i != self.root:
            up = self.bodies[i].rotation.to_parent
            i, a, wdot = self.bodies[i].parent, up(a), up(wdot)
        return Motion(wdot, a)
