"""Poses and motions of contacts, from columns of Jacobians.

The rows of a contact with the world are the motion of a place on the robot: the motion of its point, in world
axes, and for a frame also the rotation of its body. The rows of a closed loop are the motion of a place on
one body relative to a place on another. This motion is seen from the last body, a, that carries both, and
given in the axes of this body: the rate of R_a^T (x1 - x2), and w1 - w2. The joint of body a and all joints
above it move both ends alike, so their columns are exactly 0, even if the loop is open.

The ends are world-aligned frames of `kinematics`, and the two ends of a closed loop are subtracted.
Accelerations are classical. On a `Model` the ends are computed by the textbook's algorithms, and on a
`ReducedModel` by those in chosen axes.

Featherstone, Rigid Body Dynamics Algorithms, 2008, sections 8.1 and 8.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

from rbdgen.functions.kinematics.columns import Passed, Path, columns, columns_from_root, jacobian
from rbdgen.functions.kinematics.motion import drift, velocity
from rbdgen.functions.kinematics.placement import FromRoot, in_world
from rbdgen.functions.resistance import model_of
from rbdgen.model.contacts import Contact
from rbdgen.model.joints import Coordinate
from rbdgen.model.model import Model
from rbdgen.model.reduce import PlacedFrame, ReducedModel
from rbdgen.spatial.ops import Motion, Transform
from rbdgen.spatial.rows import Rows
from rbdgen.spatial.scalar import Naming, Scalar, sub, unnamed

Robot: TypeAlias = Model | ReducedModel


def contact_pose(
    robot: Robot, q: Sequence[Coordinate], naming: Naming = unnamed
) -> tuple[list[Scalar], list[Scalar]]:
    """Position (K, 3) and rotation (K, 3, 3) of every contact, row-major, for K contacts. See `poses`."""
    found = poses(robot, q, naming)
    return [x for pose in found for x in pose.translation], [x for R, _ in found for row in R for x in row]


def poses(robot: Robot, q: Sequence[Coordinate], naming: Naming = unnamed) -> list[Transform]:
    """The pose of every contact. For a closed loop it is x1 - x2, and the rotation of link 1 in the axes of
    link 2.
    """
    found = []
    for k in range(len(model_of(robot).contacts)):
        first, *second = places(robot, k, q, naming)
        for other in second:
            first = Transform(other.rotation.T @ first.rotation, first.translation - other.translation)
        found.append(first)
    return found


def places(robot: Robot, k: int, q: Sequence[Coordinate], naming: Naming) -> list[Transform]:
    """The ends of contact k, seen from the body that carries them, with positions in the axes of its rows."""
    if isinstance(robot, Model):
        contact = robot.contacts[k]
        return in_world(replace(robot, frames=contact.ends), q, naming, robot.seen_from(contact).body)[1]
    frames, axes = on_frames(robot, k, q)
    found = FromRoot.at(frames, q, naming, axes.parent).placements()
    return [Transform(R, axes.rotation.to_child(p)) for R, p in found]


def paths(robot: Robot, k: int, q: Sequence[Coordinate], naming: Naming) -> list[Path]:
    """The columns of each end of contact k, in the axes of its rows."""
    if isinstance(robot, Model):
        contact = robot.contacts[k]
        ends = replace(robot, frames=contact.ends)
        return columns(ends, q, "aligned", naming, robot.seen_from(contact).body)
    frames, axes = on_frames(robot, k, q)
    turn = axes.rotation.to_child
    return [
        [Passed(joint, tuple(Motion(turn(S.angular), turn(S.linear)) for S in own)) for joint, own in path]
        for path in columns_from_root(frames, q, "aligned", naming, axes.parent)
    ]


def on_frames(reduced: ReducedModel, k: int, q: Sequence[Coordinate]) -> tuple[ReducedModel, PlacedFrame]:
    """The model with the ends of contact k as its chosen frames, in m, and the axes of its rows."""
    reduced = reduced.in_metres
    axes = reduced.contacts_on(reduced.at(q))[k].axes
    return replace(reduced, frames=reduced.contacts[k][1:]), axes


def contact_jacobian(robot: Robot, q: Sequence[Coordinate], naming: Naming = unnamed) -> Rows:
    """J, rows x nv: J v is the velocity of the contacts."""
    model, rows = model_of(robot), list[list[Scalar]]()
    for k, contact in enumerate(model.contacts):
        rows += of_ends(contact, [jacobian(path, model.nv) for path in paths(robot, k, q, naming)])
    return rows


def contact_motion(
    robot: Robot, q: Sequence[Coordinate], v: Sequence[Scalar], naming: Naming = unnamed
) -> tuple[list[Scalar], list[Scalar]]:
    """J v and dJ/dt v of every row: velocities, and accelerations at a = 0 without gravity."""
    rates: list[Scalar] = []
    drifts: list[Scalar] = []
    for k, contact in enumerate(model_of(robot).contacts):
        ends = paths(robot, k, q, naming)
        rates += of_motions(contact, [velocity(path, v) for path in ends])
        drifts += of_motions(contact, [drift(path, v, "aligned", naming) for path in ends])
    return rates, drifts


def of_motions(contact: Contact, ends: Sequence[Motion]) -> list[Scalar]:
    """The rows of a contact from the motions of its ends."""
    return [row[0] for row in of_ends(contact, [[*m.linear, *m.angular] for m in ends])]


def of_ends(contact: Contact, ends: Sequence[Sequence[Scalar]]) -> Rows:
    """The rows of a contact from a row-major matrix of six rows for each end: those of the first end, minus
    those of the second end if there is one.
    """
    width = len(ends[0]) // 6
    entries = [sub(*pair) for pair in zip(*ends, strict=True)] if ends[1:] else list(ends[0])
    return [entries[k : k + width] for k in range(0, width * contact.rows, width)]
