"""Poses and motions of contacts, from columns of Jacobians.

A contact with the world is the motion of a place on the robot: that of its point, in world axes, and for a
frame also the rotation of its body. A closed loop is the motion of a place on one body relative to a place on
another, seen from the last body a that carries both, in the axes of a: e = R_a^T (x1 - x2), w1 - w2. Joints
above a move both ends alike, so their columns are exactly 0, even if the loop is open.

Ends are world-aligned frames of `kinematics`, and the two ends of a closed loop are subtracted. Accelerations
are classical.

Featherstone, Rigid Body Dynamics Algorithms, 2008, sections 8.1 and 8.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rbdgen.functions.kinematics.columns import Path, columns, jacobian
from rbdgen.functions.kinematics.motion import drift, velocity
from rbdgen.functions.kinematics.placement import in_world
from rbdgen.model.contacts import Contact
from rbdgen.model.joints import Coordinate
from rbdgen.model.model import Model
from rbdgen.spatial.ops import Motion, Transform
from rbdgen.spatial.scalar import Naming, Scalar, sub, unnamed

Rows = list[list[Scalar]]


def contact_pose(
    model: Model, q: Sequence[Coordinate], naming: Naming = unnamed
) -> tuple[list[Scalar], list[Scalar]]:
    """Position and rotation of every contact, (K, 3) and (K, 3, 3), see `between`."""
    poses = []
    for contact in model.contacts:
        ends = replace(model, frames=contact.ends)
        poses.append(between(in_world(ends, q, naming, model.seen_from(contact).body)[1]))
    return flattened(poses)


def between(ends: Sequence[Transform]) -> Transform:
    """The pose of a contact. For a closed loop it is x1 - x2, and the rotation of link 1 in the axes of link
    2.
    """
    first, *second = ends
    for other in second:
        return Transform(other.rotation.T @ first.rotation, first.translation - other.translation)
    return first


def flattened(poses: Sequence[Transform]) -> tuple[list[Scalar], list[Scalar]]:
    """Positions and rotations, row-major."""
    return [x for pose in poses for x in pose.translation], [x for R, _ in poses for row in R for x in row]


def contact_jacobian(model: Model, q: Sequence[Coordinate], naming: Naming = unnamed) -> Rows:
    """J, rows x nv: J v is the velocity of the contacts."""
    return jacobian_of(model, [paths(model, contact, q, naming) for contact in model.contacts])


def jacobian_of(model: Model, ends: Sequence[Sequence[Path]]) -> Rows:
    """J from the columns of the ends of every contact."""
    rows: Rows = []
    for contact, paths in zip(model.contacts, ends, strict=True):
        sides = [jacobian(path, model.nv) for path in paths]
        block = [less(*entries) for entries in zip(*sides, strict=True)]
        rows += [block[k * model.nv : (k + 1) * model.nv] for k in range(contact.rows)]
    return rows


def contact_motion(
    model: Model, q: Sequence[Coordinate], v: Sequence[Scalar], naming: Naming = unnamed
) -> tuple[list[Scalar], list[Scalar]]:
    """J v and dJ/dt v of every row: velocities, and accelerations at a = 0 without gravity."""
    rates: list[Scalar] = []
    drifts: list[Scalar] = []
    for contact in model.contacts:
        ends = paths(model, contact, q, naming)
        rates += held(contact, [velocity(path, v) for path in ends])
        drifts += held(contact, [drift(path, v, "aligned", naming) for path in ends])
    return rates, drifts


def paths(model: Model, contact: Contact, q: Sequence[Coordinate], naming: Naming) -> list[Path]:
    """The columns of each end."""
    ends = replace(model, frames=contact.ends)
    return columns(ends, q, "aligned", naming, model.seen_from(contact).body)


def held(contact: Contact, ends: Sequence[Motion]) -> list[Scalar]:
    """The rows of a contact from the motions of its ends."""
    six = zip(*((*end.linear, *end.angular) for end in ends), strict=True)
    return [less(*entries) for entries in six][: contact.rows]


def less(first: Scalar, *second: Scalar) -> Scalar:
    """The value of the first end, minus that of the second end if there is one."""
    return sub(first, *second) if second else first
