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
from rbdgen.functions.friction.ground import Plane
from rbdgen.functions.friction.newton import Block
from rbdgen.model.model import WORLD
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ops import ZERO, Vector
from rbdgen.spatial.scalar import Scalar, add, mul, sub
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.straight import straight


class OnArticulatedBodies:
    """The contacts of a robot at a state, before a step. `grounds` has the plane of each contact with
    friction, by the number of the contact.
    """

    def __init__(
        self, reduced: ReducedModel, x: State, blocks: Sequence[Block], grounds: dict[int, Plane]
    ) -> None:
        reduced = reduced.in_metres
        self._driver, self._x, self._blocks, self._grounds = straight(reduced, x), x, blocks, grounds
        self._values = self._driver.run(BIAS, UPWARD, PUSHED, VELOCITIES)
        self._rates = list(self._values["a"])
        self._floats = [body.floats for body in reduced.model.bodies]
        self._contacts = Contacts(
            reduced, self._driver, grounds={k: plane.axes for k, plane in grounds.items()}
        )
        self._system = Multipliers(self._contacts.carried(), self._values["inverse_D"])

    @cached_property
    def G(self) -> list[list[Scalar]]:
        """J M^-1 J^T."""
        return self._system.G(self._x.naming)

    @property
    def gaps(self) -> list[Scalar]:
        """The distance from its plane of each contact with friction."""
        return [self._gap(self._contacts.rows[k], plane) for k, plane in self._grounds.items()]

    def _gap(self, rows: Rows, plane: Plane) -> Scalar:
        """n . x, added up along the path from the world to the contact, less the offset and the radius."""
        (end,), n = rows.held.ends, rows.held.axes.to_parent(plane.normal)
        height: Scalar = 0
        for i in end.path:
            body = self._driver.bodies[i]
            height = add(height, n.dot(body.translation))
            n = body.rotation.to_child(n)
        return sub(add(height, n.dot(end.point)), add(plane.offset, rows.radius))

    @cached_property
    def velocities(self) -> list[Scalar]:
        """J v."""
        return self._contacts.velocities()

    @cached_property
    def accelerations(self) -> list[Scalar]:
        """J a of the motion without contacts. J and v are those before the step."""
        rates = dict(enumerate(self._rates))
        relative = [product(row, rates) for row in self._system.y]
        carried = [value for rows in self._contacts.rows for value in self._with_base(rows)]
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
        found = self._contacts.given(impulses)
        for k, plane in self._grounds.items():
            rows = self._blocks[k].rows
            found[rows] = plane.in_world(impulses[rows])
        return found
