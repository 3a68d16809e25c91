"""Contacts on articulated bodies: M is factored joint by joint and never formed, see
`contacts/articulated.py`.

Unit forces along the axes of the ground are carried inward over the joints, which gives the rows y of L^-T
J^T. Then G = y D^-1 y^T, and one outward sweep computes L^-1 times the rates that joint torques and
impulses cause.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from rbdgen.functions.articulated.step import ACCELERATIONS
from rbdgen.functions.contacts.articulated import BIAS, PUSHED, UPWARD, VELOCITIES
from rbdgen.functions.contacts.multipliers import Multipliers, product
from rbdgen.functions.contacts.on_bodies import End, outward
from rbdgen.functions.contacts.unit_forces import Contacts, Rows
from rbdgen.functions.friction.ground import Plane, in_world
from rbdgen.functions.friction.layout import Block
from rbdgen.functions.friction.sole import Arm
from rbdgen.model.model import WORLD
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ops import IDENTITY, ZERO, Matrix, Vector
from rbdgen.spatial.scalar import Scalar, add, mul, sub
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.straight import straight


class OnArticulatedBodies:
    """The contacts of a robot at a state, before a step. `grounds` has the planes of each contact with
    friction, by the number of the contact.
    """

    def __init__(
        self, reduced: ReducedModel, x: State, blocks: Sequence[Block], grounds: dict[int, list[Plane]]
    ) -> None:
        reduced = reduced.in_metres
        self._driver, self._x, self._blocks, self._grounds = straight(reduced, x), x, blocks, grounds
        self._values = self._driver.run(BIAS, UPWARD, PUSHED, VELOCITIES)
        self._rates = list(self._values["a"])
        self._floats = [body.floats for body in reduced.model.bodies]
        axes = {
            k: IDENTITY.rows if reduced.model.contacts[k].corners else planes[0].axes
            for k, planes in grounds.items()
        }
        self._contacts = Contacts(reduced, self._driver, grounds=axes)
        self._joints = reduced.model.held_joints
        own = {body.joint.name: i for i, body in enumerate(reduced.model.bodies)}
        y = self._contacts.carried() + [self._contacts.carried_from(own[x.name]) for x in self._joints]
        self._system = Multipliers(y, self._values["inverse_D"])

    @cached_property
    def G(self) -> list[list[Scalar]]:
        """J M^-1 J^T."""
        return self._system.G(self._x.naming)

    @property
    def gaps(self) -> list[Scalar]:
        """The distance from its plane of each point that can touch the ground."""
        found = []
        for k, grounds in self._grounds.items():
            rows = self._contacts.rows[k]
            if rows.contact.corners:
                x = Vector(*(self._height(rows, e) for e in IDENTITY))
                for plane, arm in zip(grounds, self._arms(rows), strict=True):
                    found.append(sub(plane.normal.dot(x + arm), plane.offset))
            else:
                (plane,) = grounds
                height = self._height(rows, plane.normal)
                found.append(sub(height, add(plane.offset, rows.radius)))
        return found

    @cached_property
    def arms(self) -> list[Arm]:
        """P of each corner of a sole, see `sole.py`."""
        return [
            Arm(Matrix(*plane.axes), arm)
            for k, grounds in self._grounds.items()
            if self._contacts.rows[k].contact.corners
            for plane, arm in zip(grounds, self._arms(self._contacts.rows[k]), strict=True)
        ]

    def _arms(self, rows: Rows) -> list[Vector]:
        """The corners of a sole from its point, in the axes of the world."""
        (end,), (axes,) = rows.held.ends, rows.axes
        corners = (end.rotation.to_parent(corner) for corner in rows.contact.corners)
        return [Vector(*(e.dot(corner) for e in axes)) for corner in corners]

    def _height(self, rows: Rows, normal: Vector) -> Scalar:
        """n . x, added up along the path from the world to the contact."""
        (end,), n = rows.held.ends, rows.held.axes.to_parent(normal)
        height: Scalar = 0
        for i in end.path:
            body = self._driver.bodies[i]
            height = add(height, n.dot(body.translation))
            n = body.rotation.to_child(n)
        return add(height, n.dot(end.point))

    @cached_property
    def velocities(self) -> list[Scalar]:
        """J v."""
        return [*self._contacts.velocities(), *(self._x.v[joint.idx_v] for joint in self._joints)]

    @cached_property
    def accelerations(self) -> list[Scalar]:
        """J a of the motion without contacts. J and v are those before the step."""
        rates = dict(enumerate(self._rates))
        relative = [product(row, rates) for row in self._system.y]
        carried = [value for rows in self._contacts.rows for value in self._with_base(rows)]
        carried += [0] * len(self._joints)
        return [add(*pair) for pair in zip(relative, carried, strict=True)]

    def _with_base(self, rows: Rows) -> list[Scalar]:
        """Compute the acceleration of a contact's rows that is due to the part of a floating base's
        acceleration that the sweeps leave out, see `_base`.
        """
        linear = [
            outward(self._driver.bodies, end.path[1:], self._base(end))
            if rows.held.carrier == WORLD
            else ZERO
            for end in rows.held.ends
        ]
        found: list[Scalar] = [0] * rows.contact.rows
        for end, axes, own in zip(rows.held.ends, rows.axes, linear, strict=True):
            for k, e in enumerate(axes):
                found[k] = add(found[k], mul(end.sign, e.dot(own)))
        return found

    def _base(self, end: End) -> Vector:
        """vdot - a', where the sweeps compute a' = vdot + w x v - R^T g, for the base below an end."""
        root = end.path[0]
        return self._left_out(root) if self._floats[root] else ZERO

    def _left_out(self, i: int) -> Vector:
        k = self._driver.bodies[i].joint.idx_v
        v, w = Vector(*self._x.v[k : k + 3]), Vector(*self._x.v[k + 3 : k + 6])
        up: Vector = self._values["up"][i]
        return -(up + w.cross(v))

    def moved(self, impulses: Sequence[Scalar], dt: Scalar) -> list[Scalar]:
        """v after the step."""
        rates = self._system.pushed(impulses, [mul(dt, rate) for rate in self._rates])
        driver = self._driver
        driver.values["a"], driver.kinds["a"] = rates, Scalar
        change = list(driver.run(ACCELERATIONS)["a"])
        for i, body in enumerate(driver.bodies):
            if self._floats[i]:
                k = body.joint.idx_v
                change[k : k + 3] = Vector(*change[k : k + 3]) + self._left_out(i) * dt
        return [add(*pair) for pair in zip(self._x.v, change, strict=True)]

    def given(self, impulses: Sequence[Scalar]) -> list[Scalar]:
        """The impulses in the axes that users know."""
        along: list[Scalar] = []
        held = [block for block in self._blocks if not block.joints]
        for block in held:
            along += [0] * block.size if block.numbers else impulses[block.impulses]
        found, turned = in_world(self._blocks, self._grounds, impulses), self._contacts.given(along)
        for block in held:
            if not block.numbers:
                found[block.impulses] = turned[block.rows]
        return found
