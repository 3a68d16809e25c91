"""Contacts on a factor of M, for the derivatives of a step.

M = L^T D L is factored, and W = L^-1 and P = M^-1 J^T are formed. The rows of a contact are in the axes of
its ground. The linear velocity of a floating base is left out of the torques, as in `derivatives/solved.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from rbdgen.functions.contacts.relative import on_frames, paths, poses
from rbdgen.functions.contacts.row_derivatives import ContactRows
from rbdgen.functions.derivatives.known_columns import floating_bases
from rbdgen.functions.derivatives.solved import Solved, named
from rbdgen.functions.friction.ground import Plane
from rbdgen.functions.friction.layout import Block
from rbdgen.functions.friction.resisted import without_dry_friction
from rbdgen.functions.friction.sole import Arm
from rbdgen.functions.inertia_matrix.inverse_hybrid import scaled_product
from rbdgen.functions.kinematics.columns import columns_from_tip
from rbdgen.functions.trajectories.steps import times
from rbdgen.model.contacts import Contact
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ops import IDENTITY, Matrix, Transform, Vector
from rbdgen.spatial.rows import Rows
from rbdgen.spatial.scalar import Scalar, add, dot, mul, sub
from rbdgen.sweeps.inputs import State


@dataclass(frozen=True)
class Touch:
    """The rows of a contact. Those of a contact with the world are made of six rows along fixed axes: the
    motion of its point, and its turning.
    """

    six: ContactRows
    contact: Contact
    radius: float
    across: Scalar = 1
    """The factor of the second axis, see `Plane`."""

    def of_six(self, rows: Rows) -> Rows:
        """The contact's rows from those of its point. A sphere touches at its center less radius times n,
        where n is the third axis.
        """
        if self.contact.kind == "frame" or self.contact.second is not None:
            return rows
        x, y, z, by_x, by_y, _ = rows
        if self.radius:
            rolling = (times(by_y, -self.radius), times(by_x, self.radius))
            x, y = (
                [add(*pair) for pair in zip(*both, strict=True)] for both in zip((x, y), rolling, strict=True)
            )
        return [x, times(y, self.across), z]

    def on_six(self, forces: Sequence[Scalar]) -> list[Scalar]:
        """The force and moment at the contact's point."""
        if self.contact.kind == "frame" or self.contact.second is not None:
            return list(forces)
        x, y, z = forces
        y = mul(self.across, y)
        return [x, y, z, mul(self.radius, y), mul(-self.radius, x), 0]


class OnFactor:
    """The contacts of a robot at a state, before a step. `grounds` has the planes of each contact with
    friction, by the number of the contact.
    """

    def __init__(
        self, reduced: ReducedModel, x: State, blocks: Sequence[Block], grounds: dict[int, list[Plane]]
    ) -> None:
        model, planes = reduced.model, [grounds.get(k, [None]) for k in range(len(reduced.model.contacts))]
        self.reduced, self.x, self._grounds = reduced, x, grounds
        self.free = Solved.at(without_dry_friction(reduced), x)
        self._poses = poses(reduced, x.q, x.naming)
        held = [own[0] if len(own) == 1 else None for own in planes]
        self._held = self._touches(reduced, self._poses, held)
        self.touches = self._held
        """The places where impulses act: the corners of soles, and all other contacts."""
        if any(contact.corners for contact in model.contacts):
            points = reduced.on_points
            at = poses(points, x.q, x.naming)
            self.touches = self._touches(points, at, [plane for own in planes for plane in own])
        self.v = list(x.v[: model.coupling.independent])
        self.J = self.folded(self._held, self._jacobian) + self.rows_of_joints
        """The rows of all contacts; those of a sole are the six of its frame."""
        factor = self.free.factor
        self._y = [named(factor.back_substitute(row), x.naming, f"y[{k}]") for k, row in enumerate(self.J)]
        W, D = self.free.W, factor.inverse_diagonal
        self.pushes = [named(scaled_product(W, D, row), x.naming, f"P[{k}]") for k, row in enumerate(self._y)]
        """P^T = J M^-1."""

    def _jacobian(self, touch: Touch) -> Rows:
        return touch.six.jacobian(self.reduced.model.nv)

    @cached_property
    def J_of_impulses(self) -> Rows:
        """A row for every impulse."""
        return self.folded(self.touches, self._jacobian) + self.rows_of_joints

    def folded(self, touches: Sequence[Touch], six: Callable[[Touch], Rows]) -> Rows:
        """The rows at these places over the independent degrees of freedom."""
        rows = (row for touch in touches for row in touch.of_six(six(touch)))
        return list(map(self.reduced.model.coupling.folded, rows))

    @property
    def rows_of_joints(self) -> Rows:
        """The rows of joints with limits or dry friction."""
        size = self.reduced.model.coupling.independent
        return [[int(k == x.idx_v) for k in range(size)] for x in self.reduced.model.held_joints]

    def _touches(
        self, reduced: ReducedModel, at: Sequence[Transform], planes: Sequence[Plane | None]
    ) -> list[Touch]:
        """The contacts of a robot with these poses, in the axes of their planes or of the world."""
        x, found = self.x, list[Touch]()
        for k, (contact, pose, plane) in enumerate(zip(reduced.model.contacts, at, planes, strict=True)):
            if contact.second is not None:
                seen = paths(reduced, k, x.q, x.naming)
                found.append(Touch(ContactRows(contact, "aligned", seen, 1, pose, x.naming), contact, 0))
                continue
            own = [pose.rotation.T.apply(e) for e in (IDENTITY if plane is None else plane.orthonormal)]
            ends = columns_from_tip(on_frames(reduced, k, x.q)[0], x.q, x.naming, own)
            rows = ContactRows(replace(contact, kind="frame"), "aligned", ends, 1, pose, x.naming)
            found.append(Touch(rows, contact, contact.radius, 1 if plane is None else plane.across))
        return found

    @cached_property
    def G(self) -> Rows:
        """J M^-1 J^T."""
        n = len(self.J)
        G: Rows = [[0] * n for _ in range(n)]
        scaled = list(map(self.free.factor.scale, self._y))
        for i in range(n):
            for j in range(i, n):
                G[i][j] = G[j][i] = dot(self._y[i], scaled[j])
        return G

    @property
    def gaps(self) -> list[Scalar]:
        """The distance from its plane of each point that can touch the ground."""
        grounds = (plane for own in self._grounds.values() for plane in own)
        return [
            sub(plane.normal.dot(touch.six.pose.translation), add(plane.offset, touch.radius))
            for plane, touch in zip(grounds, (x for x in self.touches if x.contact.touching), strict=True)
        ]

    @cached_property
    def arms(self) -> list[Arm]:
        """P of each corner of a sole, see `sole.py`."""
        return [
            Arm(Matrix(*plane.axes), self._poses[k].rotation.apply(corner))
            for k, grounds in self._grounds.items()
            for plane, corner in zip(grounds, self.reduced.model.contacts[k].corners, strict=False)
        ]

    @cached_property
    def velocities(self) -> list[Scalar]:
        """J v."""
        return [dot(row, self.v) for row in self.J]

    @cached_property
    def accelerations(self) -> list[Scalar]:
        """J a of the motion without contacts. J and v are those before the step."""
        return [dot(row, self._rates) for row in self.J]

    @cached_property
    def _rates(self) -> list[Scalar]:
        """vdot of the motion without contacts."""
        rates = list(self.free.accelerations)
        for k in floating_bases(self.reduced.model):
            v, w = Vector(*self.v[k : k + 3]), Vector(*self.v[k + 3 : k + 6])
            rates[k : k + 3] = Vector(*rates[k : k + 3]) - w.cross(v)
        return rates

    def caused(self, impulses: Sequence[Scalar]) -> list[Scalar]:
        """P f, from the impulses f along the rows."""
        return [dot(list(column), list(impulses)) for column in zip(*self.pushes, strict=True)]

    def moved(self, impulses: Sequence[Scalar], dt: Scalar) -> list[Scalar]:
        """v after the step, from the impulses along the rows."""
        changes = zip(self.v, self._rates, self.caused(impulses), strict=True)
        return [add(add(v, mul(dt, rate)), change) for v, rate, change in changes]

    def given(self, impulses: Sequence[Scalar]) -> list[Scalar]:
        """The impulses in the axes of their rows."""
        return list(impulses)
