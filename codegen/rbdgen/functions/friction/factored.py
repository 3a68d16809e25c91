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
from rbdgen.functions.friction.newton import Block
from rbdgen.functions.inertia_matrix.inverse_hybrid import scaled_product
from rbdgen.functions.kinematics.columns import columns_from_tip
from rbdgen.model.contacts import Contact
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ops import IDENTITY, Vector
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

    def of_six(self, rows: Rows) -> Rows:
        """The contact's rows from those of its point. A sphere touches at its center less radius times n,
        where n is the third axis.
        """
        if self.contact.kind == "frame" or self.contact.second is not None:
            return rows
        x, y, z, by_x, by_y, _ = rows
        if not self.radius:
            return [x, y, z]
        rolling = [[mul(-self.radius, value) for value in by_y], [mul(self.radius, value) for value in by_x]]
        return [
            *([add(*pair) for pair in zip(*both, strict=True)] for both in zip((x, y), rolling, strict=True)),
            z,
        ]

    def on_six(self, forces: Sequence[Scalar]) -> list[Scalar]:
        """The force and moment at the contact's point."""
        if self.contact.kind == "frame" or self.contact.second is not None:
            return list(forces)
        x, y, z = forces
        return [x, y, z, mul(self.radius, y), mul(-self.radius, x), 0]


class OnFactor:
    """The contacts of a robot at a state, before a step. `grounds` has the plane of each contact with
    friction, by the number of the contact.
    """

    def __init__(
        self, reduced: ReducedModel, x: State, blocks: Sequence[Block], grounds: dict[int, Plane]
    ) -> None:
        model = reduced.model
        self.reduced, self.x, self.grounds = reduced, x, grounds
        self.free = Solved.at(reduced, x)
        self.poses = poses(reduced, x.q, x.naming)
        self.touches = [self._touch(k, contact) for k, contact in enumerate(model.contacts)]
        self.v = list(x.v[: model.coupling.independent])
        self.J = self.folded(lambda touch: touch.six.jacobian(model.nv))
        factor = self.free.factor
        self._y = [named(factor.back_substitute(row), x.naming, f"y[{k}]") for k, row in enumerate(self.J)]
        W, D = self.free.W, factor.inverse_diagonal
        self.pushes = [named(scaled_product(W, D, row), x.naming, f"P[{k}]") for k, row in enumerate(self._y)]
        """P^T = J M^-1."""

    def folded(self, six: Callable[[Touch], Rows]) -> Rows:
        """The rows of all contacts over the independent degrees of freedom."""
        rows = (row for touch in self.touches for row in touch.of_six(six(touch)))
        return list(map(self.reduced.model.coupling.folded, rows))

    def _touch(self, k: int, contact: Contact) -> Touch:
        x, pose = self.x, self.poses[k]
        if contact.second is not None:
            seen = paths(self.reduced, k, x.q, x.naming)
            return Touch(ContactRows(contact, "aligned", seen, 1, pose, x.naming), contact, 0)
        axes = self.grounds[k].axes if k in self.grounds else IDENTITY
        own = [pose.rotation.T.apply(e) for e in axes]
        ends = columns_from_tip(on_frames(self.reduced, k, x.q)[0], x.q, x.naming, own)
        rows = ContactRows(replace(contact, kind="frame"), "aligned", ends, 1, pose, x.naming)
        return Touch(rows, contact, contact.radius)

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
        """The distance from its plane of each contact with friction."""
        return [
            sub(plane.normal.dot(self.poses[k].translation), add(plane.offset, self.touches[k].radius))
            for k, plane in self.grounds.items()
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
        """P lambda."""
        return [dot(list(column), list(impulses)) for column in zip(*self.pushes, strict=True)]

    def moved(self, impulses: Sequence[Scalar], dt: Scalar) -> list[Scalar]:
        """v after the step."""
        changes = zip(self.v, self._rates, self.caused(impulses), strict=True)
        return [add(add(v, mul(dt, rate)), change) for v, rate, change in changes]

    def given(self, impulses: Sequence[Scalar]) -> list[Scalar]:
        """The impulses in the axes of their rows."""
        return list(impulses)
