"""Derivatives of the rows of a contact with respect to q and v, in the axes of the body from which it is
seen.

The rows are those of `relative.py`, times `active`. A force lambda that is constant in these axes has the
torques J^T lambda, whose element k is lambda . (J e_k). Its derivative with respect to q is therefore that of
the contact's velocity at the unit velocity e_k.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rbdgen.functions.contacts.anchors import vectors
from rbdgen.functions.contacts.climbing import contact_pose as reduced_pose
from rbdgen.functions.contacts.on_bodies import on_frames
from rbdgen.functions.contacts.relative import contact_pose, less, paths
from rbdgen.functions.kinematics.columns import Passed, Path, columns_from_root, jacobian
from rbdgen.functions.kinematics.derivatives import acceleration_derivatives, velocity_derivatives
from rbdgen.functions.kinematics.motion import classical_acceleration, velocity
from rbdgen.functions.momentum.energy import half
from rbdgen.model.contacts import Contact
from rbdgen.model.model import Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ops import NO_FORCE, ZERO_MATRIX, Force, Matrix, Motion, Vector
from rbdgen.spatial.scalar import Naming, Scalar, add, dot, mul, unnamed
from rbdgen.sweeps.inputs import State

Rows = list[list[Scalar]]


Anchor: TypeAlias = tuple[Vector, tuple[Vector, ...]]
"""x0 and, for a frame, the columns of R0."""


@dataclass(frozen=True)
class ContactRows:
    """The rows of a contact at a state, in axes in which its force does not turn with a link."""

    contact: Contact
    ends: Sequence[Path]
    """The columns of each of its ends."""
    active: Scalar
    """1 if the contact is active, else 0."""
    rotation: Matrix
    """The rotation of its pose, from the axes of its first link."""
    position: Vector
    """The position of its pose."""
    naming: Naming

    def jacobian(self, nv: int) -> Rows:
        """J, (rows, nv)."""
        return self.matrix(lambda path: jacobian(path, nv), nv)

    def acceleration(self, v: Sequence[Scalar], a: Sequence[Scalar]) -> list[Scalar]:
        """J a + dJ/dt v."""

        def of(path: Path) -> list[Scalar]:
            m = classical_acceleration(path, v, a, self.naming)
            return [*m.linear, *m.angular]

        return [row[0] for row in self.matrix(of, 1)]

    def acceleration_derivatives(self, v: Sequence[Scalar], a: Sequence[Scalar]) -> tuple[Rows, Rows]:
        """The derivatives of the acceleration along q and with respect to v, at fixed a."""
        nv = len(v)
        by_q, by_v = (
            self.matrix(lambda path, which=which: classical_derivative(path, v, a, which), nv)  # type: ignore[misc]
            for which in (0, 1)
        )
        return by_q, by_v

    def torque_derivatives(self, forces: Sequence[Scalar], nv: int) -> Rows:
        """d(J^T lambda)/dq at fixed lambda, (nv, nv). `forces` are those of these rows."""
        dtau: Rows = [[0] * nv for _ in range(nv)]
        joints = {passed.joint.idx_v: passed.joint for path in self.ends for passed in path}
        for k in (k for joint in joints.values() for k in range(joint.idx_v, joint.idx_v + joint.nv)):
            unit = [int(i == k) for i in range(nv)]
            turned = self.matrix(lambda path, e=unit: velocity_derivatives(path, e, "aligned", nv)[0], nv)  # type: ignore[misc]
            for row, force in zip(turned, forces, strict=True):
                dtau[k] = [add(own, mul(force, entry)) for own, entry in zip(dtau[k], row, strict=True)]
        return dtau

    def force(self, forces: Sequence[Scalar]) -> Force:
        """The part of its force that turns with its link, in the frame of the joint of the body that carries
        the link. `torque_derivatives` has the rest.
        """
        del forces
        return NO_FORCE

    def turned(self, forces: Sequence[Scalar], nv: int) -> Rows:
        """The change of its force in the axes that users know if it is constant in those of its rows, in the
        latter, (rows, nv).
        """
        return [[0] * nv for _ in forces]

    def pull(self, x: State, anchor: Anchor) -> list[Scalar]:
        """kp e + kd J v of its point."""
        kp, kd = x.arrays["gains"]
        moving = (dot(row, list(x.v)) for row in self.jacobian(len(x.v)))
        apart = [mul(self.active, value) for value in self.position - anchor[0]]
        return [add(mul(kp, e), mul(kd, rate)) for e, rate in zip(apart, moving, strict=True)]

    def pull_derivatives(self, x: State, anchor: Anchor) -> tuple[Rows, Rows]:
        """The derivatives of kp e + kd J v along q and with respect to v.

        The linear part of e changes by J, and its angular part by E times the rotation, see `change_of_turn`.
        """
        nv, (kp, kd), J = len(x.v), x.arrays["gains"], self.jacobian(len(x.v))
        E = change_of_turn(Matrix(*anchor[1]).T, self.rotation) if anchor[1] else ZERO_MATRIX
        axes = zip(*J[3:], strict=True)
        turned = [list(row) for row in zip(*(E.apply(Vector(*column)) for column in axes), strict=True)]
        dV = self.matrix(lambda path: velocity_derivatives(path, x.v, "aligned", nv)[0], nv)
        pairs = zip([*J[:3], *turned], dV, strict=True)
        by_q = [[add(mul(kp, a), mul(kd, b)) for a, b in zip(*rows, strict=True)] for rows in pairs]
        return by_q, [[mul(kd, value) for value in row] for row in J]

    def matrix(self, of: Callable[[Path], Sequence[Scalar]], nv: int) -> Rows:
        """The rows of the contact, from a row-major matrix (6, nv) for each end."""
        sides = zip(*map(of, self.ends), strict=True)
        entries = [mul(self.active, less(*side)) for side in sides]
        return [entries[k : k + nv] for k in range(0, nv * self.contact.rows, nv)]


def change_of_turn(before: Matrix, now: Matrix) -> Matrix:
    """E, which gives the change E w of half the sum of r0_k x r_k over the columns of R0 and R if R turns by
    w.

    E = (tr(Q) 1 - Q) / 2 with Q = R R0^T.
    """
    Q = now @ before.T
    trace = add(add(Q[0].x, Q[1].y), Q[2].z)
    twice = Matrix.diagonal(trace, trace, trace) - Q
    return Matrix(*(Vector(*map(half, row)) for row in twice))


def contact_rows(model: Model, x: State) -> list[ContactRows]:
    """The rows of all contacts of a model, weighted with the state's `active`."""
    positions, rotations = map(vectors, contact_pose(model, x.q, x.naming))
    found = []
    for k, (contact, active) in enumerate(zip(model.contacts, x.arrays["active"], strict=True)):
        ends, R = paths(model, contact, x.q, x.naming), Matrix(*rotations[3 * k : 3 * k + 3])
        found.append(ContactRows(contact, ends, active, R, positions[k], unnamed))
    return found


def reduced_contact_rows(reduced: ReducedModel, k: int, x: State) -> ContactRows:
    """The rows of contact k, computed in chosen axes, in m."""
    reduced = reduced.in_metres
    placed = reduced.contacts_on(reduced.at(x.q))[k]
    turn = placed.axes.rotation.to_child

    def seen(path: Path) -> Path:
        """The path in the axes of the contact's rows."""
        return [
            Passed(joint, tuple(Motion(turn(S.angular), turn(S.linear)) for S in own)) for joint, own in path
        ]

    paths = columns_from_root(on_frames(reduced, k), x.q, "aligned", x.naming, placed.axes.parent)
    positions, rotations = map(vectors, reduced_pose(reduced, x.q, x.naming))
    R, active = Matrix(*rotations[3 * k : 3 * k + 3]), x.arrays["active"][k]
    return ContactRows(placed.contact, list(map(seen, paths)), active, R, positions[k], unnamed)


def classical_derivative(path: Path, v: Sequence[Scalar], a: Sequence[Scalar], which: int) -> list[Scalar]:
    """The derivative of A + w x V along q (`which` = 0) or with respect to v (1), (6, nv), row-major."""
    nv, V = len(v), velocity(path, v)
    dA = acceleration_derivatives(path, v, a, "aligned", nv)[which]
    dV = velocity_derivatives(path, v, "aligned", nv)[which]
    columns = zip(*(dV[k : k + nv] for k in range(0, 6 * nv, nv)), strict=True)
    slips = [slip(V, Motion(Vector(*m[3:]), Vector(*m[:3]))) for m in columns]
    added = [value for row in zip(*slips, strict=True) for value in row]
    return [*(add(*pair) for pair in zip(dA, added, strict=False)), *dA[3 * nv :]]


def slip(V: Motion, dV: Motion) -> Vector:
    """The derivative of w x V."""
    return dV.angular.cross(V.linear) + V.angular.cross(dV.linear)
