"""Rows of contacts on bodies in their own axes: how contacts move, and unit forces in them carried inward.

Rows of a contact with the world stand in the axes of its body, where unit forces have most zeros, or in those
of the world; rows of a loop in those of the body that carries both of its ends.

A unit force goes inward as bias forces do: at every joint it leaves y = L^-T S^T f, and goes on without
V D^-1 y. What it leaves on its way is a row of L^-T J^T. The two forces of a loop hold each other up where
they meet: there what they are by themselves is taken off, and what the joints below made of them goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rbdgen.functions.contacts.multipliers import Entries
from rbdgen.functions.contacts.on_bodies import End, Held, held_contacts, inward, outward
from rbdgen.functions.inverse_dynamics.classical import BodyMotion, moved
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

AT_REST = BodyMotion(ZERO, ZERO, ZERO)


def moved_on(body: Body, x: Given) -> Motion:
    """One body's velocity from its parent's."""
    return motion_to_child(body, x.parent) + relative_motion(body, x.v)


@dataclass(frozen=True)
class Rows:
    """A contact's: `axes`: theirs, for every end in the axes of its body; `own`: whether they are these."""

    contact: Contact
    held: Held
    axes: tuple[Sequence[Vector], ...]
    own: bool

    def of(self, motions: Sequence[Motion]) -> list[Scalar]:
        """From motions of the ends' points, each in the axes of its body."""
        found: list[Scalar] = [0] * self.contact.rows
        for end, axes, m in zip(self.held.ends, self.axes, motions, strict=True):
            parts = [m.linear, m.angular] if self.contact.kind == "frame" else [m.linear]
            values = [mul(end.sign, e.dot(part)) for part in parts for e in axes]
            found = [add(a, b) for a, b in zip(found, values, strict=True)]
        return found

    def forces(self) -> list[list[Force]]:
        """For every end a unit force of each row, about the origin of its body."""
        found = []
        for end, axes in zip(self.held.ends, self.axes, strict=True):
            signed = [e * end.sign for e in axes]
            moments = [Force(e, ZERO) for e in signed] if self.contact.kind == "frame" else []
            found.append([*(Force(end.point.cross(e), e) for e in signed), *moments])
        return found


class Contacts:
    """Those of a reduced model, on bodies at a state over which sweeps ran.

    `own`: whether rows of contacts with the world stand in the axes of their bodies.
    """

    def __init__(self, reduced: ReducedModel, driver: Straight, *, own: bool = True) -> None:
        self.driver: Straight = driver
        self.bodies: Sequence[ReducedBody] = driver.bodies
        self.rows: list[Rows] = []
        for held, contact in zip(held_contacts(reduced, self.bodies), reduced.model.contacts, strict=True):
            turned = own and contact.second is None
            seen = [held.axes.to_parent(e) for e in IDENTITY]
            axes = (
                IDENTITY.rows if turned else tuple(outward(self.bodies, end.path, e) for e in seen)
                for end in held.ends
            )
            self.rows.append(Rows(contact, held, tuple(axes), turned))

    def given(self, values: Sequence[Scalar]) -> list[Scalar]:
        """Numbers of all rows in the axes that users know, those of the world or of a loop's carrier."""
        found: list[Scalar] = []
        for rows in self.rows:
            own = values[rows.held.rows]
            for part in (Vector(*own[k : k + 3]) for k in range(0, len(own), 3)):
                found += inward(self.bodies, rows.held.ends[0].path, part) if rows.own else part
        return found

    def accelerations(self) -> list[Scalar]:
        """Of the contacts at qdd = 0 and, of floating bases, a' = 0.

        The bodies' `motion` has minus gravity in it, `up`, as if the world accelerated; contacts do not.
        """
        values = self.driver.values

        def acceleration(held: Held, end: End) -> Motion:
            if held.carrier == WORLD:
                own, up = values["motion"][end.body], values["up"][end.body]
            else:
                own, up = self._seen(end, AT_REST, moved), ZERO
            return Motion(own.wdot, own.a + own.U.apply(end.point) - up)

        return self._of_all(acceleration)

    def velocities(self) -> list[Scalar]:
        """J v."""

        def velocity(held: Held, end: End) -> Motion:
            known = self.driver.values["velocity"]
            own = known[end.body] if held.carrier == WORLD else self._seen(end, NO_MOTION, moved_on)
            return Motion(own.angular, own.linear + own.angular.cross(end.point))

        return self._of_all(velocity)

    def _of_all(self, motion: Callable[[Held, End], Motion]) -> list[Scalar]:
        moving = ([motion(rows.held, end) for end in rows.held.ends] for rows in self.rows)
        return [value for rows, motions in zip(self.rows, moving, strict=True) for value in rows.of(motions)]

    def _seen(self, end: End, still: Any, step: Callable[[Body, Given], Any]) -> Any:
        """The motion of an end's body as its contact's carrier sees it, if that stood still."""
        for i in end.path:
            joint = self.bodies[i].joint
            v = list(joint.slice(self.driver.inputs["v"]))
            still = step(self.bodies[i], Given(parent=still, v=v, a=[0] * joint.nv))
        return still

    def carried(self, weights: Sequence[Scalar] | None = None) -> list[Entries]:
        """A row of L^-T J^T for every row of the contacts, each times its weight."""
        found: list[Entries] = []
        for rows in self.rows:
            weight = 1 if weights is None else weights[rows.held.rows.start]
            found += self._carried(rows, [[force * weight for force in end] for end in rows.forces()])
        return found

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
        """What the parent of body i feels; what the force leaves at the joint goes to the row."""
        body, values = self.bodies[i], self.driver.values
        y = back_substituted(values["L"][i], along_joint(body, force))
        row |= dict(enumerate(y, body.joint.idx_v))
        rest = force - combination(body.joint.slice(values["scaled"]), y)
        return force_to_parent(body, with_joint_force(body, rest, [0] * body.joint.nv))

    def _by_themselves(self, ends: Sequence[End], forces: Sequence[Sequence[Force]]) -> list[Force]:
        """What a loop's forces would be on its carrier if all joints between were rigid."""
        total = [NO_FORCE] * len(forces[0])
        for end, own in zip(ends, forces, strict=True):
            for n, force in enumerate(own):
                for i in reversed(end.path):
                    force = force_to_parent(self.bodies[i], force)  # noqa: PLW2901
                total[n] = total[n] + force
        return total
