"""Contacts with the world in the axes of their links: Jacobian, acceleration, force, and how they change.

There nothing of a contact changes with q but by the motion of other bodies against its link.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rbdgen.functions.kinematics.columns import Path, columns_from_tip
from rbdgen.functions.kinematics.motion import before, gained, rates, total
from rbdgen.model.contacts import Contact
from rbdgen.model.model import Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ops import NO_FORCE, ZERO, Force, Motion, Vector
from rbdgen.spatial.scalar import Naming, Scalar, mul
from rbdgen.sweeps.inputs import State

Rows = list[list[Scalar]]


@dataclass(frozen=True)
class Touching:
    """A contact with the world at a state, in the axes of its link.

    `path`: the columns of its Jacobian; `active`: 1, or 0 where it does not hold; `rows`: those of all
    contacts that are its own.
    """

    contact: Contact
    path: Path
    active: Scalar
    rows: range

    def of(self, m: Motion) -> list[Scalar]:
        """The rows of a motion of its frame."""
        held = (m.linear, m.angular)[: self.contact.rows // 3]
        return [mul(self.active, value) for part in held for value in part]

    def matrix(self, columns: Sequence[Sequence[Motion]], nv: int) -> Rows:
        """Its rows over all degrees of freedom, from a motion for each of those on its path."""
        rows: Rows = [[0] * nv for _ in self.rows]
        for passed, own in zip(self.path, columns, strict=True):
            for dof, motion in enumerate(own, passed.joint.idx_v):
                for row, value in zip(rows, self.of(motion), strict=True):
                    row[dof] = value
        return rows

    def force(self, forces: Sequence[Scalar]) -> Force:
        """The force that acts at its point, of all contacts' forces."""
        own = [mul(self.active, forces[k]) for k in self.rows]
        return Force(Vector(*own[3:]) if own[3:] else ZERO, Vector(*own[:3]))

    def acceleration_derivatives(
        self, v: Sequence[Scalar], a: Sequence[Scalar], naming: Naming
    ) -> tuple[list[list[Motion]], list[list[Motion]]]:
        """The classical acceleration along q and by v, in axes that turn with the link; see `along` in
        `kinematics/derivatives.py` for the spatial one."""
        moving = rates(self.path, v, naming)
        above = before(gained(moving, a), naming, "a")
        V = total([x.own for x in moving])

        def of_point(m: Motion, dV: Motion) -> Motion:
            slip = dV.angular.cross(V.linear) + V.angular.cross(dV.linear)
            return Motion(m.angular, m.linear + slip)

        by_q, by_v = [], []
        for x, a_p in zip(moving, above, strict=True):
            turned = [(S, x.above.cross(S)) for S in x.passed.columns]
            by_q.append([of_point(a_p.cross(S) + psi.cross(x.onward), psi) for S, psi in turned])
            by_v.append([of_point(psi + S.cross(x.rest), S) for S, psi in turned])
        return by_q, by_v


def touching(reduced: ReducedModel, x: State) -> list[Touching]:
    """The contacts of a model, with their activity of `x`."""
    paths = columns_from_tip(as_frames(reduced), x.q, x.naming)
    found, first = [], 0
    for contact, path, active in zip(reduced.model.contacts, paths, x.arrays["active"], strict=True):
        found.append(Touching(contact, path, active, range(first, first + contact.rows)))
        first += contact.rows
    return found


def as_frames(reduced: ReducedModel) -> ReducedModel:
    """A model whose frames are the places of its contacts, in m."""
    reduced = reduced.in_metres
    return replace(reduced, frames=tuple(end for ends in reduced.contacts for end in ends))


def turned(own: Touching, forces: Sequence[Scalar], nv: int) -> Rows:
    """What a turn of its link adds to its force seen from the world, along every degree of freedom."""
    values = [forces[k] for k in own.rows]
    parts = [Vector(*values[k : k + 3]) for k in range(0, len(values), 3)]
    rows: Rows = [[0] * nv for _ in values]
    for passed in own.path:
        for dof, S in enumerate(passed.columns, passed.joint.idx_v):
            for row, value in zip(rows, (x for part in parts for x in S.angular.cross(part)), strict=True):
                row[dof] = value
    return rows


def on_bodies(model: Model, contacts: Sequence[Touching], forces: Sequence[Scalar]) -> list[Force]:
    """What contacts do to every body, in its joint's frame."""
    felt_by = [NO_FORCE] * model.nbodies
    for own in contacts:
        place = own.contact.first
        felt_by[place.body] = felt_by[place.body] + place.placement.force_to_parent(own.force(forces))
    return felt_by
