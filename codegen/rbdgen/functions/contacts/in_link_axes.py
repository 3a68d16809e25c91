"""Contacts in axes that turn with the bodies on which they act, so that only motion changes their rows.

A contact with the world is expressed in the axes of its link: its rows, its force, and the force on the link.
A closed loop is expressed in the axes of the body from which it is seen; its force turns relative to its
links, which `row_derivatives.py` accounts for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rbdgen.functions.contacts import anchors
from rbdgen.functions.contacts.on_bodies import on_frames
from rbdgen.functions.contacts.row_derivatives import (
    Anchor,
    ContactRows,
    Rows,
    change_of_turn,
    reduced_contact_rows,
)
from rbdgen.functions.kinematics.columns import Path, columns_from_tip, rows
from rbdgen.functions.kinematics.motion import (
    Rates,
    before,
    gained,
    rates,
    total,
    velocity,
)
from rbdgen.functions.kinematics.placement import FromRoot
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ops import IDENTITY, ZERO, ZERO_MATRIX, Force, Matrix, Motion, Vector
from rbdgen.spatial.scalar import Scalar, mul
from rbdgen.sweeps.inputs import State


@dataclass(frozen=True)
class LinkRows(ContactRows):
    """A contact with the world at a state, in the axes of its link. Its pose is that in the world."""

    @property
    def path(self) -> Path:
        """The columns of its point."""
        (path,) = self.ends
        return path

    def acceleration_derivatives(self, v: Sequence[Scalar], a: Sequence[Scalar]) -> tuple[Rows, Rows]:
        """The derivatives of the spatial acceleration (see `along` in `kinematics/derivatives.py`) and of w x
        v.

        Both contain products with velocities on either side of the joint. Those of the linear part are
        combined here: w of the point minus the part below a body is the body's own w.
        """
        moving = rates(self.path, v, self.naming)
        above = before(gained(moving, a), self.naming, "a")
        V = total([x.own for x in moving])

        def along(x: Rates, a_p: Motion, S: Motion, psi: Motion) -> Motion:
            turning = a_p.angular.cross(S.angular) + psi.angular.cross(x.onward.angular)
            changed = a_p.angular.cross(S.linear) + x.above.angular.cross(psi.linear)
            carried = a_p.linear.cross(S.angular) + psi.angular.cross(V.linear + x.onward.linear)
            return Motion(turning, changed + carried)

        def by_rate(x: Rates, S: Motion, psi: Motion) -> Motion:
            moved = x.below.angular.cross(S.linear) + S.angular.cross(V.linear + x.rest.linear)
            return Motion(psi.angular + S.angular.cross(x.rest.angular), psi.linear + moved)

        by_q, by_v = [], []
        for x, a_p in zip(moving, above, strict=True):
            turned = [(S, x.above.cross(S)) for S in x.passed.columns]
            by_q.append([along(x, a_p, S, psi) for S, psi in turned])
            by_v.append([by_rate(x, S, psi) for S, psi in turned])
        return self.of_joints(by_q, len(v)), self.of_joints(by_v, len(v))

    def apart(self, anchor: Anchor) -> Motion:
        """The error e from its anchor, see `anchors.py`."""
        x0, R0 = anchor
        own = self.rotation.T
        axes: Iterable[Scalar] = anchors.turned([own.apply(r0) for r0 in R0], IDENTITY.rows) if R0 else ZERO
        return Motion(Vector(*axes), own.apply(self.position - x0))

    def pull(self, x: State, anchor: Anchor) -> list[Scalar]:
        kp, kd = x.arrays["gains"]
        return self.of(self.apart(anchor) * kp + velocity(self.path, x.v) * kd)

    def pull_derivatives(self, x: State, anchor: Anchor) -> tuple[Rows, Rows]:
        """The same; the anchor turns relative to the link."""
        (kp, kd), e = x.arrays["gains"], self.apart(anchor)
        E = change_of_turn(self.rotation.T @ Matrix(*anchor[1]).T, IDENTITY) if anchor[1] else ZERO_MATRIX

        def along(S: Motion, psi: Motion) -> Motion:
            turn: Vector = E.apply(S.angular) - S.angular.cross(e.angular)
            apart = Motion(turn, S.linear - S.angular.cross(e.linear))
            change: Motion = apart * kp + psi * kd
            return change

        moving = rates(self.path, x.v, self.naming)
        by_q = [[along(S, step.above.cross(S)) for S in step.passed.columns] for step in moving]
        by_v = [[S * kd for S in step.passed.columns] for step in moving]
        return self.of_joints(by_q, len(x.v)), self.of_joints(by_v, len(x.v))

    def force(self, forces: Sequence[Scalar]) -> Force:
        own = [mul(self.active, value) for value in forces]
        moment = Vector(*own[3:]) if own[3:] else ZERO
        return self.contact.first.placement.force_to_parent(Force(moment, Vector(*own[:3])))

    def torque_derivatives(self, forces: Sequence[Scalar], nv: int) -> Rows:
        """0: the force turns with its link."""
        del forces
        return [[0] * nv for _ in range(nv)]

    def turned(self, forces: Sequence[Scalar], nv: int) -> Rows:
        parts = [Vector(*forces[k : k + 3]) for k in range(0, len(forces), 3)]
        found: Rows = [[0] * nv for _ in forces]
        for passed in self.path:
            for dof, S in enumerate(passed.columns, passed.joint.idx_v):
                changes = (value for part in parts for value in S.angular.cross(part))
                for row, value in zip(found, changes, strict=True):
                    row[dof] = value
        return found

    def of_joints(self, columns: Sequence[Sequence[Motion]], nv: int) -> Rows:
        """The contact's rows over all degrees of freedom, from a motion for each of those on its path."""
        return self.matrix(lambda path: rows(path, columns, nv), nv)

    def of(self, m: Motion) -> list[Scalar]:
        """The rows of a motion of its point and axes."""
        held = (m.linear, m.angular)[: self.contact.rows // 3]
        return [mul(self.active, value) for part in held for value in part]


def turning_rows(reduced: ReducedModel, x: State) -> list[ContactRows]:
    """The rows of all contacts of a model, in m, weighted with the state's `active`."""
    reduced = reduced.in_metres
    found: list[ContactRows] = []
    for k, (contact, active) in enumerate(zip(reduced.model.contacts, x.arrays["active"], strict=True)):
        if contact.second is not None:
            found.append(reduced_contact_rows(reduced, k, x))
            continue
        framed = on_frames(reduced, k)
        (path,) = columns_from_tip(framed, x.q, x.naming)
        ((R, p),) = FromRoot.at(framed, x.q, x.naming).placements()
        found.append(LinkRows(contact, [path], active, R, p, x.naming))
    return found
