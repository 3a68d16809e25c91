"""The rows of contacts at a state, and their derivatives with respect to q and v.

The rows are those of `relative.py`, times `active`. They are given in the axes of the body from which the
contact is seen. For contacts with the world they may instead be given in the axes of the link. These axes
turn with the link, as does a force that is constant in them. Only the motion of the other bodies then changes
the rows.

In axes that do not turn, a constant force lambda has the torques J^T lambda, whose element k is lambda . (J
e_k). The derivative of this element with respect to q is therefore lambda . d(J e_k)/dq, where J e_k is the
velocity of the contact at the unit velocity e_k.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rbdgen.functions.contacts.anchors import turned
from rbdgen.functions.contacts.relative import of_ends, of_motions, on_frames, paths, poses
from rbdgen.functions.kinematics.columns import Convention, Path, columns_from_tip, jacobian, rows
from rbdgen.functions.kinematics.derivatives import along, velocity_derivatives
from rbdgen.functions.kinematics.motion import (
    Rates,
    before,
    classical_acceleration,
    gained,
    rates,
    velocity,
)
from rbdgen.functions.momentum.energy import half
from rbdgen.model.contacts import Contact
from rbdgen.model.model import Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ops import (
    IDENTITY,
    NO_FORCE,
    NO_MOTION,
    ZERO,
    ZERO_MATRIX,
    Force,
    Matrix,
    Motion,
    Transform,
    Vector,
)
from rbdgen.spatial.rows import Rows
from rbdgen.spatial.scalar import Naming, Scalar, add, mul, unnamed
from rbdgen.sweeps.inputs import State

Anchor: TypeAlias = tuple[Vector, tuple[Vector, ...]]
"""x0 and, for a frame, the columns of R0."""


@dataclass(frozen=True)
class ContactRows:
    """The rows of a contact at a state."""

    contact: Contact
    axes: Convention
    """The axes of the rows: aligned with the body from which the contact is seen, or those of its link."""
    ends: Sequence[Path]
    """The columns of each of its ends, in the axes of its rows."""
    active: Scalar
    """1 if the contact is active, else 0."""
    pose: Transform
    """The pose of the contact, see `relative.poses`."""
    naming: Naming = unnamed

    @property
    def turning(self) -> bool:
        """Whether the axes of the rows turn with the link."""
        return self.axes == "local"

    def jacobian(self, nv: int) -> Rows:
        """J, (rows, nv)."""
        return self._matrix([jacobian(path, nv) for path in self.ends])

    def velocity_derivatives(self, v: Sequence[Scalar]) -> Rows:
        """The derivative of J v along q."""
        ends = [velocity_derivatives(path, v, self.axes, len(v), self.naming)[0] for path in self.ends]
        return self._matrix(ends)

    def acceleration(self, v: Sequence[Scalar], a: Sequence[Scalar]) -> list[Scalar]:
        """J a + dJ/dt v."""
        return self._of_motions([classical_acceleration(path, v, a, self.naming) for path in self.ends])

    def acceleration_derivatives(self, v: Sequence[Scalar], a: Sequence[Scalar]) -> tuple[Rows, Rows]:
        """The derivatives of the acceleration along q and with respect to v, at fixed a."""
        ends = (classical_derivatives(path, v, a, self.axes, self.naming) for path in self.ends)
        by_q, by_v = zip(*ends, strict=True)
        return self._matrix(by_q), self._matrix(by_v)

    def torque_derivatives(self, forces: Sequence[Scalar], nv: int) -> Rows:
        """d(J^T lambda)/dq, (nv, nv), for a lambda that is fixed in axes that do not turn. `forces` are the
        elements of lambda for these rows.
        """
        dtau: Rows = [[0] * nv for _ in range(nv)]
        if self.turning:
            return dtau
        joints = {passed.joint.idx_v: passed.joint for path in self.ends for passed in path}
        for k in (k for joint in joints.values() for k in range(joint.idx_v, joint.idx_v + joint.nv)):
            unit = [int(i == k) for i in range(nv)]
            turned = self._matrix([velocity_derivatives(path, unit, self.axes, nv)[0] for path in self.ends])
            for row, force in zip(turned, forces, strict=True):
                dtau[k] = [add(own, mul(force, entry)) for own, entry in zip(dtau[k], row, strict=True)]
        return dtau

    def force(self, forces: Sequence[Scalar]) -> Force:
        """The part of the contact's force that turns with its link, in the joint frame of the body that
        carries the link. `torque_derivatives` accounts for the rest.
        """
        if not self.turning:
            return NO_FORCE
        own = [mul(self.active, value) for value in forces]
        moment = Vector(*own[3:]) if own[3:] else ZERO
        return self.contact.first.placement.force_to_parent(Force(moment, Vector(*own[:3])))

    def turned(self, forces: Sequence[Scalar], nv: int) -> Rows:
        """The derivative with respect to q of a force that is constant in the axes of these rows, (rows, nv).

        This is the derivative of the force as a vector in the axes that users know, but with components in
        the axes of the rows.
        """
        found: Rows = [[0] * nv for _ in forces]
        parts = [Vector(*forces[k : k + 3]) for k in range(0, len(forces), 3)]
        for passed in self.ends[0] if self.turning else ():
            for dof, S in enumerate(passed.columns, passed.joint.idx_v):
                changes = (value for part in parts for value in S.angular.cross(part))
                for row, value in zip(found, changes, strict=True):
                    row[dof] = value
        return found

    def seen(self, anchor: Anchor) -> tuple[Vector, Sequence[Vector], Matrix]:
        """x - x0, the columns of R0, and R in the axes of the rows."""
        (x0, R0), (R, x) = anchor, self.pose
        if self.turning:
            return R.T.apply(x - x0), list(map(R.T.apply, R0)), IDENTITY
        return x - x0, R0, R

    def apart(self, anchor: Anchor) -> Motion:
        """The error e of the contact from its anchor, see `anchors.py`."""
        offset, R0, R = self.seen(anchor)
        return Motion(Vector(*turned(R0, R.T.rows)) if R0 else ZERO, offset)

    def pull(self, x: State, anchor: Anchor) -> list[Scalar]:
        """kp e + kd J v of the contact."""
        kp, kd = x.arrays["gains"]
        first, *second = (velocity(path, x.v) * kd for path in self.ends)
        return self._of_motions([self.apart(anchor) * kp + first, *second])

    def pull_derivatives(self, x: State, anchor: Anchor) -> tuple[Rows, Rows]:
        """The derivatives of kp e + kd J v along q and with respect to v.

        The derivative of the linear part of e with respect to q is the linear part of J. The derivative of
        its angular part is E times the angular part of J, see `change_of_turn`. In axes that turn with the
        link, both parts also turn.
        """
        nv, (kp, kd), e = len(x.v), x.arrays["gains"], self.apart(anchor)
        _, R0, R = self.seen(anchor)
        E = change_of_turn(Matrix(*R0).T, R) if R0 else ZERO_MATRIX

        turning = e if self.turning else NO_MOTION

        def change(S: Motion) -> Motion:
            angular = E.apply(S.angular) - S.angular.cross(turning.angular)
            changed: Motion = Motion(angular, S.linear - S.angular.cross(turning.linear)) * kp
            return changed

        def by_q(path: Path) -> list[Scalar]:
            apart = rows(path, [list(map(change, passed.columns)) for passed in path], nv)
            moved = velocity_derivatives(path, x.v, self.axes, nv, self.naming)[0]
            return [add(own, mul(kd, other)) for own, other in zip(apart, moved, strict=True)]

        by_v = [[mul(kd, value) for value in row] for row in self.jacobian(nv)]
        return self._matrix(list(map(by_q, self.ends))), by_v

    def _of_motions(self, ends: Sequence[Motion]) -> list[Scalar]:
        return [mul(self.active, value) for value in of_motions(self.contact, ends)]

    def _matrix(self, ends: Sequence[Sequence[Scalar]]) -> Rows:
        """The rows of the contact, from a row-major matrix of six rows for each end."""
        return [[mul(self.active, value) for value in row] for row in of_ends(self.contact, ends)]


def classical_derivatives(
    path: Path, v: Sequence[Scalar], a: Sequence[Scalar], axes: Convention, naming: Naming
) -> tuple[list[Scalar], list[Scalar]]:
    """The derivatives of an end's classical acceleration A along q and with respect to v, (6, nv), row-major.

    With the names of `kinematics/derivatives.py`, psi = v_p x S, u = V - v_p and r = V - v_b:

        dA/dq = along(S, a_p, A - a_p) + [psi_w x u_w; w_p x psi_v + psi_w x (V_v + u_v)]
        dA/dv = psi + [S_w x r_w; w_b x S_v + S_w x (V_v + r_v)]

    The linear parts combine the derivative of w x V with that of the spatial acceleration. The angular
    velocity of the point, minus the part that is due to joints below a body, is that of this body.
    """
    moving, A = rates(path, v, naming), classical_acceleration(path, v, a, naming)
    V = velocity(path, v)

    def along_joint(x: Rates, a_p: Motion, S: Motion) -> tuple[Motion, Motion]:
        psi, u, r = x.above.cross(S), x.onward, x.rest
        slip = x.above.angular.cross(psi.linear) + psi.angular.cross(V.linear + u.linear)
        by_q = along(S, a_p, A - a_p, axes) + Motion(psi.angular.cross(u.angular), slip)
        slip = x.below.angular.cross(S.linear) + S.angular.cross(V.linear + r.linear)
        return by_q, psi + Motion(S.angular.cross(r.angular), slip)

    above = before(gained(moving, a), naming, "a")
    found = [[along_joint(x, a_p, S) for S in x.passed.columns] for x, a_p in zip(moving, above, strict=True)]
    by_q, by_v = ([[pair[u] for pair in own] for own in found] for u in (0, 1))
    return rows(path, by_q, len(v)), rows(path, by_v, len(v))


def change_of_turn(before: Matrix, now: Matrix) -> Matrix:
    """The matrix E = (tr(Q) 1 - Q) / 2 with Q = R R0^T.

    If R turns by w, half the sum of r0_k x r_k over the columns of R0 and R changes by E w.
    """
    Q = now @ before.T
    trace = add(add(Q[0].x, Q[1].y), Q[2].z)
    twice = Matrix.diagonal(trace, trace, trace) - Q
    return Matrix(*(Vector(*map(half, row)) for row in twice))


def contact_rows(model: Model, x: State) -> list[ContactRows]:
    """The rows of all contacts in the axes of the bodies from which they are seen."""
    each = zip(model.contacts, x.arrays["active"], poses(model, x.q, x.naming), strict=True)
    return [
        ContactRows(contact, "aligned", paths(model, k, x.q, x.naming), active, pose)
        for k, (contact, active, pose) in enumerate(each)
    ]


def turning_rows(reduced: ReducedModel, x: State) -> list[ContactRows]:
    """The rows of all contacts with lengths in m. Those of contacts with the world are in the axes of their
    links.
    """
    each = zip(reduced.model.contacts, x.arrays["active"], poses(reduced, x.q, x.naming), strict=True)
    found = []
    for k, (contact, active, pose) in enumerate(each):
        if contact.second is None:
            ends = columns_from_tip(on_frames(reduced, k, x.q)[0], x.q, x.naming)
            found.append(ContactRows(contact, "local", ends, active, pose, x.naming))
        else:
            found.append(ContactRows(contact, "aligned", paths(reduced, k, x.q, x.naming), active, pose))
    return found
