"""Contacts from M and J, which are computed as such, see `contacts/composite.py`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from rbdgen.functions.contacts import composite
from rbdgen.functions.contacts.composite import Robot
from rbdgen.functions.contacts.multipliers import product
from rbdgen.functions.contacts.relative import of_ends, paths, places
from rbdgen.functions.friction.ground import Plane, in_world
from rbdgen.functions.friction.layout import Block
from rbdgen.functions.friction.sole import Arm
from rbdgen.functions.kinematics.columns import jacobian
from rbdgen.functions.resistance import model_of
from rbdgen.spatial.ops import ZERO, Matrix, Transform, Vector
from rbdgen.spatial.rows import Rows
from rbdgen.spatial.scalar import Scalar, add, dot, mul, sub
from rbdgen.sweeps.inputs import State


class OnMatrices:
    """The contacts of a robot at a state, before a step. `grounds` has the planes of each contact with
    friction, by the number of the contact.
    """

    def __init__(
        self, robot: Robot, x: State, blocks: Sequence[Block], grounds: dict[int, list[Plane]]
    ) -> None:
        self._robot, self._model, self._x = robot, model_of(robot), x
        self._blocks, self._grounds = blocks, grounds
        self._inertia = composite.inertia(robot, x)
        against = composite.bias(robot, x)
        self._torques = [sub(*pair) for pair in zip(x.tau, against, strict=True)]
        self._v = list(x.v[: self._model.coupling.independent])
        self._J = [row for k in range(len(self._model.contacts)) for row in self._rows(k)]
        size = len(self._v)
        self._J += [[int(k == joint.idx_v) for k in range(size)] for joint in self._model.held_joints]
        self._system = composite.multipliers(self._inertia, self._J)

    def _rows(self, k: int) -> Rows:
        """The rows of a contact over the independent degrees of freedom: those of a point in the axes of its
        ground.
        """
        contact, nv = self._model.contacts[k], self._model.nv
        ends = [jacobian(path, nv) for path in paths(self._robot, k, self._x.q, self._x.naming)]
        rows = of_ends(contact, ends)
        if k in self._grounds and not contact.corners:
            (plane,) = self._grounds[k]
            # a sphere with the center x touches the plane at x - r n. Along e, this point has the velocity
            # e . v - r (n x e) . w.
            spins = [ends[0][i : i + nv] for i in range(3 * nv, 6 * nv, nv)]
            rows = [
                [
                    add(e.dot(Vector(*linear)), mul(-contact.radius, lever.dot(Vector(*angular))))
                    for linear, angular in zip(zip(*rows, strict=True), zip(*spins, strict=True), strict=True)
                ]
                for e, lever in zip(plane.axes, (plane.normal.cross(e) for e in plane.axes), strict=True)
            ]
        return list(map(self._model.coupling.folded, rows))

    @cached_property
    def G(self) -> Rows:
        """J M^-1 J^T."""
        return self._system.G(self._x.naming)

    @property
    def gaps(self) -> list[Scalar]:
        """The distance from its plane of each point that can touch the ground."""
        found = []
        for k, grounds in self._grounds.items():
            contact, (R, x) = self._model.contacts[k], self._poses[k]
            for plane, corner in zip(grounds, contact.corners or [ZERO], strict=True):
                reach = add(plane.offset, contact.radius)
                found.append(sub(plane.normal.dot(x + R.apply(corner)), reach))
        return found

    @cached_property
    def arms(self) -> list[Arm]:
        """P of each corner of a sole, see `sole.py`."""
        return [
            Arm(Matrix(*plane.axes), self._poses[k].rotation.apply(corner))
            for k, grounds in self._grounds.items()
            for plane, corner in zip(grounds, self._model.contacts[k].corners, strict=False)
        ]

    @cached_property
    def _poses(self) -> dict[int, Transform]:
        """The poses of contacts with friction."""
        return {k: places(self._robot, k, self._x.q, self._x.naming)[0] for k in self._grounds}

    @cached_property
    def velocities(self) -> list[Scalar]:
        """J v."""
        return [dot(row, self._v) for row in self._J]

    @cached_property
    def accelerations(self) -> list[Scalar]:
        """J a of the motion without contacts. J and v are those before the step."""
        factor = self._inertia
        rates = dict(enumerate(factor.scale(factor.back_substitute(self._torques))))
        return [product(row, rates) for row in self._system.y]

    def moved(self, impulses: Sequence[Scalar], dt: Scalar) -> list[Scalar]:
        """v after the step."""
        pushes = [dot(list(column), list(impulses)) for column in zip(*self._J, strict=True)]
        total = [add(mul(dt, tau), push) for tau, push in zip(self._torques, pushes, strict=True)]
        return [add(*pair) for pair in zip(self._v, self._inertia.solve(total), strict=True)]

    def given(self, impulses: Sequence[Scalar]) -> list[Scalar]:
        """The impulses in the axes that users know."""
        return in_world(self._blocks, self._grounds, impulses)
