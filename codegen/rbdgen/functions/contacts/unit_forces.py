"""Rows of contacts on bodies in their own axes: velocities and accelerations, and unit forces carried inward.

Rows of a contact with the world are in the axes of its body, where unit forces have the most zeros, or in
world axes. Rows of a closed loop are in the axes of the body that carries both ends.

A unit force in a row is carried inward in the same way as a bias force. At every joint it gives y = L^-T S^T
f, and f - V D^-1 y goes on to the parent, with L, V and D of `JointFactor`. The values y along the way are a
row of L^-T J^T.

A closed loop has two opposite unit forces, which meet at the body that carries both ends. If all joints were
rigid, the two forces would cancel there. Their values for rigid joints are therefore subtracted, so that only
the part that is due to the joints below is passed on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from rbdgen.functions.between_limbs import Entries
from rbdgen.functions.contacts.climbing import along_path, motions_along
from rbdgen.functions.contacts.in_lanes import RowLanes
from rbdgen.functions.contacts.on_bodies import End, Held, acceleration, held_contacts, inward, outward
from rbdgen.model.articulated import combination
from rbdgen.model.contacts import Contact
from rbdgen.model.model import WORLD
from rbdgen.model.reduce import ReducedBody, ReducedModel
from rbdgen.spatial.ldl import back_substituted
from rbdgen.spatial.ops import IDENTITY, NO_FORCE, NO_MOTION, ZERO, Force, Motion, Vector
from rbdgen.spatial.scalar import Scalar, add, mul
from rbdgen.sweeps.bodies import (
    Body,
    along_joint,
    force_to_parent,
    motion_to_child,
    relative_motion,
    with_joint_force,
)
from rbdgen.sweeps.straight import Straight
from rbdgen.sweeps.sweep import Given

NO_GROUNDS: Final[Mapping[int, Sequence[Vector]]] = MappingProxyType({})


def moved_on(body: Body, x: Given) -> Motion:
    """Compute the velocity of a body from that of its parent."""
    return motion_to_child(body, x.parent) + relative_motion(body, x.v)


@dataclass(frozen=True)
class Rows:
    """The rows of a contact."""

    contact: Contact
    held: Held
    axes: tuple[Sequence[Vector], ...]
    """For every end, the axes of the rows as vectors in the axes of the end's body."""
    own: bool
    """Whether the rows are in the axes of the body at the contact."""
    radius: float = 0
    """The radius of a sphere that touches the ground in place of the contact's point. The last of the axes is
    then the normal of the ground.
    """

    def of(self, motions: Sequence[Motion]) -> list[Scalar]:
        """The values of the rows from the motions of the ends' points, each in the axes of its body."""
        found: list[Scalar] = [0] * self.contact.rows
        for end, axes, m in zip(self.held.ends, self.axes, motions, strict=True):
            parts = [m.linear, m.angular] if self.contact.kind == "frame" else [m.linear]
            values = [mul(end.sign, e.dot(part)) for part in parts for e in axes]
            found = [add(a, b) for a, b in zip(found, values, strict=True)]
        return found

    def forces(self) -> list[list[Force]]:
        """For every end, a unit force for each row, about the origin of the end's body."""
        found = []
        for end, axes in zip(self.held.ends, self.axes, strict=True):
            signed, point = [e * end.sign for e in axes], self.point(end, axes)
            moments = [Force(e, ZERO) for e in signed] if self.contact.kind == "frame" else []
            found.append([*(Force(point.cross(e), e) for e in signed), *moments])
        return found

    def point(self, end: End, axes: Sequence[Vector]) -> Vector:
        """The point at which the contact touches, in the axes of an end's body."""
        return end.point - axes[2] * self.radius if self.radius else end.point


class Contacts:
    """The contacts of a reduced model, on bodies at a state for which sweeps have been run.

    `own` says whether rows of contacts with the world are in the axes of their bodies. Those of the contacts
    in `grounds`, by number, are in the axes of the ground that it gives, whose last one is the normal.
    """

    def __init__(
        self,
        reduced: ReducedModel,
        driver: Straight,
        *,
        own: bool = True,
        grounds: Mapping[int, Sequence[Vector]] = NO_GROUNDS,
    ) -> None:
        self.driver: Straight = driver
        self.bodies: Sequence[ReducedBody] = driver.bodies
        self.lanes = RowLanes.of(reduced.model.contacts, driver.lanes, driver.lanes.freedoms(self.bodies))
        self.rows: list[Rows] = []
        every = zip(held_contacts(reduced, self.bodies), reduced.model.contacts, strict=True)
        for k, (held, contact) in enumerate(every):
            turned = own and contact.second is None and k not in grounds
            seen = [held.axes.to_parent(e) for e in grounds.get(k, IDENTITY)]
            axes = (
                IDENTITY.rows if turned else tuple(outward(self.bodies, end.path, e) for e in seen)
                for end in held.ends
            )
            self.rows.append(Rows(contact, held, tuple(axes), turned, contact.radius if k in grounds else 0))

    def given(self, values: Sequence[Scalar]) -> list[Scalar]:
        """Rotate the values of all rows to the axes that users know, which are those of the world or of the
        carrier of a closed loop.
        """
        found: list[Scalar] = []
        for rows in self.rows:
            own = values[rows.held.rows]
            for part in (Vector(*own[k : k + 3]) for k in range(0, len(own), 3)):
                found += inward(self.bodies, rows.held.ends[0].path, part) if rows.own else part
        return found

    def accelerations(self) -> list[Scalar]:
        """The accelerations of the contacts at qdd = 0 and, for floating bases, at a' = 0.

        The `motion` of the bodies includes minus gravity, as if the world accelerated. This part, `up`, is
        subtracted here.
        """

        def of(rows: Rows, end: End, _: Sequence[Vector]) -> Motion:
            own = acceleration(end, motions_along(self.driver, rows.held, end)[-1])
            up = self.driver.values["up"][end.body] if rows.held.carrier == WORLD else ZERO
            return Motion(own.angular, own.linear - up)

        return self._of_all(of)

    def velocities(self) -> list[Scalar]:
        """J v."""

        def of(rows: Rows, end: End, axes: Sequence[Vector]) -> Motion:
            own: Motion = along_path(self.driver, rows.held, end, "velocity", NO_MOTION, moved_on)[-1]
            return Motion(own.angular, own.linear + own.angular.cross(rows.point(end, axes)))

        return self._of_all(of)

    def _of_all(self, motion: Callable[[Rows, End, Sequence[Vector]], Motion]) -> list[Scalar]:
        found: list[Scalar] = []
        for rows in self.rows:
            found += rows.of([motion(rows, *end) for end in zip(rows.held.ends, rows.axes, strict=True)])
        return found

    def carried(self, weights: Sequence[Scalar] | None = None) -> list[Entries]:
        """A row of L^-T J^T for every row of the contacts, each times its weight."""
        found: list[Entries] = []
        for rows in self.rows:
            weight = 1 if weights is None else weights[rows.held.rows.start]
            found += self._carried(rows, [[force * weight for force in end] for end in rows.forces()])
        return found

    def carried_from(self, i: int) -> Entries:
        """A row of L^-T J^T for the velocity of the joint of body i, which has one degree of freedom: of a
        unit torque at this joint, which pushes against the parent.
        """
        body, row = self.bodies[i], dict[int, Scalar]({self.bodies[i].joint.idx_v: 1})
        force = NO_FORCE - combination(body.joint.slice(self.driver.values["scaled"]), [1])
        force = force_to_parent(body, with_joint_force(body, force, [-1]))
        while (i := self.bodies[i].parent) != WORLD:
            force = self._passed(i, force, row)
        return row

    def _carried(self, rows: Rows, forces: Sequence[Sequence[Force]]) -> list[dict[int, Scalar]]:
        found: list[dict[int, Scalar]] = [{} for _ in range(rows.contact.rows)]
        waiting = dict(zip((end.body for end in rows.held.ends), forces, strict=True))
        while waiting:
            i = max(waiting)  # parents come before their children
            onward = waiting.pop(i)
            if i == rows.held.carrier:
                alone = self._by_themselves(rows.held.ends, forces)
                onward = [a - b for a, b in zip(onward, alone, strict=True)]
            onward = [self._passed(i, force, row) for force, row in zip(onward, found, strict=True)]
            parent = self.bodies[i].parent
            if parent != WORLD:
                met = waiting.get(parent, [NO_FORCE] * rows.contact.rows)
                waiting[parent] = [a + b for a, b in zip(met, onward, strict=True)]
        return found

    def _passed(self, i: int, force: Force, row: dict[int, Scalar]) -> Force:
        """The force that the parent of body i feels. The values y at the joint are added to the row."""
        body, values = self.bodies[i], self.driver.values
        y = back_substituted(values["L"][i], along_joint(body, force))
        row |= dict(enumerate(y, body.joint.idx_v))
        rest = force - combination(body.joint.slice(values["scaled"]), y)
        return force_to_parent(body, with_joint_force(body, rest, [0] * body.joint.nv))

    def _by_themselves(self, ends: Sequence[End], forces: Sequence[Sequence[Force]]) -> list[Force]:
        """The sum of a closed loop's forces on its carrier if all joints between the carrier and the ends
        were rigid.
        """
        total = [NO_FORCE] * len(forces[0])
        for end, own in zip(ends, forces, strict=True):
            for n, force in enumerate(own):
                for i in reversed(end.path):
                    force = force_to_parent(self.bodies[i], force)  # noqa: PLW2901
                total[n] = total[n] + force
        return total
