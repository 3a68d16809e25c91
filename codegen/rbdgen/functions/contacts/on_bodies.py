"""The ends of contacts on the bodies of a reduced model, and the paths to them.

A contact's force is in the axes of its carrier, which is the world or, for a closed loop, the last body that
carries both ends. Only joints between the carrier and an end feel it; all other entries of J^T lambda are 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rbdgen.functions.inverse_dynamics.classical import BodyMotion
from rbdgen.model.reduce import ReducedBody, ReducedModel
from rbdgen.spatial.ops import Force, Motion, Vector
from rbdgen.spatial.planar import FactoredRotation
from rbdgen.spatial.scalar import Scalar, add, sub
from rbdgen.sweeps.bodies import along_joint, force_to_parent
from rbdgen.sweeps.inputs import Lanes


class End(NamedTuple):
    """An end of a contact that moves relative to the carrier."""

    sign: int
    """The sign of the contact's force on this end."""
    path: tuple[int, ...]
    """The bodies between the carrier (which is not included) and this end's body."""
    point: Vector
    """The position of the contact in the axes of the last body of the path."""
    rotation: FactoredRotation
    """The rotation from the axes of the link at this end to those of the last body of the path."""

    @property
    def body(self) -> int:
        return self.path[-1]


@dataclass(frozen=True)
class Held:
    """A contact on the bodies of a reduced model at a configuration."""

    rows: slice
    """The rows of the contact in an array over the rows of all contacts."""
    carrier: int
    axes: FactoredRotation
    """The axes of its rows, on the `carrier`."""
    ends: tuple[End, ...]

    def on(self, end: End, force: Force, lanes: Lanes) -> Force:
        """The force of this contact on an end. If the contact stands for several but the end does not, it is
        the sum of the forces of them all.
        """
        alone = end.body not in lanes.bodies and self.stands_for_several(lanes)
        return lanes.joined(Force, force) if alone else force

    def stands_for_several(self, lanes: Lanes) -> bool:
        """Whether the contact is on bodies that stand for several."""
        return any(end.body in lanes.bodies for end in self.ends)

    def force(self, values: Sequence[Scalar]) -> Force:
        """The force of this contact in the axes of the carrier in the reduced model, from the values of all
        contacts.
        """
        own = values[self.rows]
        return Force(*(self.axes.to_parent(Vector(*part)) for part in (own[3:], own[:3])))

    def of(self, motions: Sequence[Motion]) -> list[Scalar]:
        """The rows of this contact from the motions of its ends in the axes of the carrier in the reduced
        model.
        """
        found: list[Scalar] = [0] * (self.rows.stop - self.rows.start)
        for end, motion in zip(self.ends, motions, strict=True):
            w, v = self.axes.to_child(motion.angular), self.axes.to_child(motion.linear)
            signed = add if end.sign > 0 else sub
            found = [signed(*pair) for pair in zip(found, (*v, *w), strict=False)]
        return found


def held_contacts(reduced: ReducedModel, bodies: Sequence[ReducedBody]) -> list[Held]:
    """The contacts of the model, in order."""
    found: list[Held] = []
    for placed in reduced.contacts_on(bodies):
        first, carrier = found[-1].rows.stop if found else 0, placed.axes.parent
        ends = (
            End(sign, tuple(reduced.model.path(carrier, end.parent)[1]), end.translation, end.rotation)
            for sign, end in zip((1, -1), placed.ends, strict=False)
        )
        moving = tuple(end for end in ends if end.path)
        rows = slice(first, first + placed.contact.rows)
        found.append(Held(rows, carrier, placed.axes.rotation, moving))
    return found


def outward(bodies: Sequence[ReducedBody], path: Sequence[int], v: Vector) -> Vector:
    """Rotate a vector from the axes of the body before the path to those of the path's last body."""
    for i in path:
        v = bodies[i].rotation.to_child(v)
    return v


def inward(bodies: Sequence[ReducedBody], path: Sequence[int], v: Vector) -> Vector:
    """Rotate a vector from the axes of the path's last body to those of the body before the path."""
    for i in reversed(path):
        v = bodies[i].rotation.to_parent(v)
    return v


def motion_inward(bodies: Sequence[ReducedBody], path: Sequence[int], m: Motion) -> Motion:
    """Rotate a motion from the axes of the path's last body to those of the body before the path."""
    return Motion(inward(bodies, path, m.angular), inward(bodies, path, m.linear))


def acceleration(end: End, m: BodyMotion) -> Motion:
    """The classical acceleration of an end's point, and the angular acceleration, in the axes of its body."""
    return Motion(m.wdot, m.a + m.U.apply(end.point))


def seen_from(bodies: Sequence[ReducedBody], path: Sequence[int], point: Vector) -> Vector:
    """A point of the path's last body, relative to the origin of the body before the path and in its axes."""
    for i in reversed(path):
        point = bodies[i].translation + bodies[i].rotation.to_parent(point)
    return point


def on_end(bodies: Sequence[ReducedBody], end: End, given: Force, before: int = 0) -> Force:
    """The force about the origin of an end's body, from a force at the contact's point and a moment.

    Both are given in the axes of the carrier or, if `before` is positive, in those of the last of the first
    `before` bodies of the path.
    """
    n, f = (outward(bodies, end.path[before:], part) for part in (given.moment, given.force))
    return Force(end.point.cross(f) + n, f)


def less_felt(
    bodies: Sequence[ReducedBody],
    path: Sequence[int],
    force: Force,
    tau: list[Scalar],
    lanes: Lanes,
) -> None:
    """Subtract, in place, the torques that a force on the last body of a path has at the joints of the
    path.
    """
    for i in reversed(path):
        body = bodies[i]
        for k, felt in enumerate(along_joint(body, force), body.joint.idx_v):
            tau[k] = sub(tau[k], felt)
        force = lanes.handed_on(Force, force_to_parent(body, force), i, body.parent)
