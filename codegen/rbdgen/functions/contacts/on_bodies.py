"""Where contacts act: their ends on the bodies of a reduced model, and the paths to them.

A contact's force is in the axes of its carrier, which is the world or, for a closed loop, the last body that
carries both ends. Only joints between the carrier and an end feel it; all other entries of J^T lambda are 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from rbdgen.model.reduce import ReducedBody, ReducedModel
from rbdgen.spatial.ops import Force, Motion, Vector
from rbdgen.spatial.planar import FactoredRotation
from rbdgen.spatial.scalar import Scalar, add, sub
from rbdgen.sweeps.bodies import along_joint, force_to_parent


class End(NamedTuple):
    """An end of a contact that moves relative to the carrier."""

    sign: int
    """The sign of the contact's force on it."""
    path: tuple[int, ...]
    """The bodies between the carrier (which is not included) and this end's body."""
    point: Vector
    """Its position in the axes of the last body of the path."""

    @property
    def body(self) -> int:
        return self.path[-1]


@dataclass(frozen=True)
class Held:
    """A contact on bodies at a position."""

    rows: slice
    """Its rows in an array over the rows of all contacts."""
    carrier: int
    axes: FactoredRotation
    """The axes of its rows, on the `carrier`."""
    ends: tuple[End, ...]

    def force(self, values: Sequence[Scalar]) -> Force:
        """Its force, taken from the values of all contacts, in the axes of the reduced carrier."""
        own = values[self.rows]
        return Force(*(self.axes.to_parent(Vector(*part)) for part in (own[3:], own[:3])))

    def of(self, motions: Sequence[Motion]) -> list[Scalar]:
        """Its rows of motions of its ends, which are given in the axes of the reduced carrier."""
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
            End(sign, tuple(reduced.model.path(carrier, end.parent)[1]), end.translation)
            for sign, end in zip((1, -1), placed.ends, strict=False)
        )
        moving = tuple(end for end in ends if end.path)
        rows = slice(first, first + placed.contact.rows)
        found.append(Held(rows, carrier, placed.axes.rotation, moving))
    return found


def on_frames(reduced: ReducedModel, k: int) -> ReducedModel:
    """The model with the ends of contact k as its chosen frames."""
    return replace(reduced, frames=reduced.contacts[k][1:])


def outward(bodies: Sequence[ReducedBody], path: Sequence[int], v: Vector) -> Vector:
    """A vector given in the axes before the path, in the axes of the path's last body."""
    for i in path:
        v = bodies[i].rotation.to_child(v)
    return v


def inward(bodies: Sequence[ReducedBody], path: Sequence[int], v: Vector) -> Vector:
    """A vector given in the axes of the path's last body, in the axes before the path."""
    for i in reversed(path):
        v = bodies[i].rotation.to_parent(v)
    return v


def seen_from(bodies: Sequence[ReducedBody], path: Sequence[int], point: Vector) -> Vector:
    """A point of the path's last body, relative to the origin before the path and in the axes there."""
    for i in reversed(path):
        point = bodies[i].translation + bodies[i].rotation.to_parent(point)
    return point


def on_end(bodies: Sequence[ReducedBody], end: End, given: Force, before: int = 0) -> Force:
    """The force about the origin of an end's body, from a force at the contact's point and a moment.

    Both are given in the axes of the carrier or, with `before`, in those after so many first bodies of the
    path.
    """
    n, f = (outward(bodies, end.path[before:], part) for part in (given.moment, given.force))
    return Force(end.point.cross(f) + n, f)


def less_felt(bodies: Sequence[ReducedBody], path: Sequence[int], force: Force, tau: list[Scalar]) -> None:
    """Subtract from torques, in place, the torques of a path's joints for a force on its last body."""
    for i in reversed(path):
        body = bodies[i]
        for k, felt in enumerate(along_joint(body, force), body.joint.idx_v):
            tau[k] = sub(tau[k], felt)
        force = force_to_parent(body, force)
