"""Derivatives of forward dynamics in contact, all in world axes: the textbook's form.

M a + h = tau + J^T lambda and J a + d + mu lambda = 0 hold at every u, one of q, v and tau. So, with
B = M^-1 J^T, C = (J B + mu)^-1, dID that of inverse dynamics at fixed a and lambda, and dc that of J a + d at
fixed a,

    da = M^-1 b + B dlambda,    dlambda = -C (dc + J M^-1 b),    b = dtau - dID

Carpentier, Budhiraja and Mansard, RSS 2021. dID has the part of forces that stand in world axes,
-d(J^T lambda)/dq: entry k is -lambda d(J e_k)/dq, the derivative of a velocity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rbdgen.functions.derivatives.one_frame import rnea_derivatives
from rbdgen.functions.function import Outputs, flat
from rbdgen.functions.inertia_matrix.composite import crba
from rbdgen.functions.inertia_matrix.inverse import factored
from rbdgen.functions.inverse_dynamics.newton_euler import rnea
from rbdgen.functions.kinematics.columns import Path, columns, jacobian
from rbdgen.functions.kinematics.derivatives import acceleration_derivatives, velocity_derivatives
from rbdgen.functions.kinematics.motion import classical_acceleration, velocity
from rbdgen.functions.resistance import add_to_diagonal, less, slopes
from rbdgen.model.contacts import Contact
from rbdgen.model.model import Model
from rbdgen.spatial.ldl import ldl
from rbdgen.spatial.ops import Motion, Vector
from rbdgen.spatial.scalar import Scalar, add, dot, mul, neg, sub
from rbdgen.sweeps.inputs import State

Rows = list[list[Scalar]]


def contact_aba_derivatives(model: Model, x: State) -> Outputs:
    """da_dq, da_dv, da_dtau (nv, nv) and dlambda_dq, dlambda_dv, dlambda_dtau (nc, nv), row-major."""
    coupling, nv = model.coupling, model.nv
    contacts = standing(model, x)
    M = factored(model, crba(model, x.q, x.naming), x.naming)
    J = [coupling.folded(row) for own in contacts for row in own.jacobian(nv)]
    drift = [value for own in contacts for value in own.acceleration(x.v, [0] * nv)]
    B = [M.solve(row) for row in J]
    G = [[dot(row, column) for column in B] for row in J]
    for k, active in enumerate(own.active for own in contacts for _ in range(own.contact.rows)):
        G[k][k] = add(G[k][k], add(x.arrays["mu"][0], sub(1, active)))
    compliance = ldl(G, naming=x.naming)
    bias = coupling.folded(rnea(model, x.q, x.v, [0] * nv, naming=x.naming))
    free = M.solve([sub(u, h) for u, h in zip(less(model, x), bias, strict=True)])
    forces = compliance.solve([neg(add(d, dot(row, free))) for d, row in zip(drift, J, strict=True)])
    a = free
    for column, force in zip(B, forces, strict=True):
        a = [add(value, mul(entry, force)) for value, entry in zip(a, column, strict=True)]
    a = coupling.extended(a)

    torque = rnea_derivatives(model, x.q, x.v, a, x.naming)
    rest = iter(forces)
    for own in contacts:
        own.take_turned_forces(torque.dtau_dq, [next(rest) for _ in range(own.contact.rows)])
    resistance = slopes(model, x)
    add_to_diagonal(torque.dtau_dq, resistance.by_q)
    add_to_diagonal(torque.dtau_dv, resistance.by_v)
    c_q, c_v = [], []
    for own in contacts:
        by_q, by_v = own.acceleration_derivatives(x.v, a, nv)
        c_q += [coupling.folded(row) for row in by_q]
        c_v += [coupling.folded(row) for row in by_v]

    def solved(b: Sequence[Scalar], dc: Sequence[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
        """A column of da and dlambda."""
        da = M.solve(b)
        dforces = compliance.solve([neg(add(d, dot(row, da))) for d, row in zip(dc, J, strict=True)])
        for column, force in zip(B, dforces, strict=True):
            da = [add(value, mul(entry, force)) for value, entry in zip(da, column, strict=True)]
        return da, dforces

    n = coupling.independent
    minus_dq, minus_dv = (
        [list(map(neg, row)) for row in coupling.folded_matrix(by)] for by in (torque.dtau_dq, torque.dtau_dv)
    )
    unit = [[int(i == k) for k in range(n)] for i in range(n)]
    systems = ((minus_dq, c_q), (minus_dv, c_v), (unit, [[0] * n for _ in J]))
    by_u = [[solved([row[k] for row in b], [row[k] for row in dc]) for k in range(n)] for b, dc in systems]
    parts = [[column[part] for column in columns] for part in (0, 1) for columns in by_u]
    return [flat(list(zip(*part, strict=True))) for part in parts]


def standing(model: Model, x: State) -> list[Standing]:
    """The contacts of a model, with their activity of `x`."""
    framed = replace(model, frames=tuple(contact.first for contact in model.contacts))
    paths = columns(framed, x.q, "aligned", x.naming)
    return [Standing(*own) for own in zip(model.contacts, paths, x.arrays["active"], strict=True)]


@dataclass(frozen=True)
class Standing:
    """A contact with the world, in world axes: the columns of its Jacobian, whether it is active, 1 or 0."""

    contact: Contact
    path: Path
    active: Scalar

    def jacobian(self, nv: int) -> Rows:
        return self.rows(jacobian(self.path, nv), nv)

    def acceleration(self, v: Sequence[Scalar], a: Sequence[Scalar]) -> list[Scalar]:
        """The classical one."""
        m = classical_acceleration(self.path, v, a)
        return [mul(self.active, value) for value in (*m.linear, *m.angular)[: self.contact.rows]]

    def acceleration_derivatives(
        self, v: Sequence[Scalar], a: Sequence[Scalar], nv: int
    ) -> tuple[Rows, Rows]:
        """Of the classical acceleration A + w x V, along q and by v."""
        V = velocity(self.path, v)
        dA = acceleration_derivatives(self.path, v, a, "aligned", nv)
        dV = velocity_derivatives(self.path, v, "aligned", nv)
        by_q, by_v = (self.rows(of_point(*u, V, nv), nv) for u in zip(dA, dV, strict=False))
        return by_q, by_v

    def take_turned_forces(self, dtau_dq: Rows, forces: Sequence[Scalar]) -> None:
        """Subtract d(J^T lambda)/dq at a fixed lambda."""
        nv = len(dtau_dq)
        for joint in (passed.joint for passed in self.path):
            for k in range(joint.idx_v, joint.idx_v + joint.nv):
                unit = [int(i == k) for i in range(nv)]
                turned = self.rows(velocity_derivatives(self.path, unit, "aligned", nv)[0], nv)
                for row, force in zip(turned, forces, strict=True):
                    dtau_dq[k] = [
                        sub(own, mul(force, part)) for own, part in zip(dtau_dq[k], row, strict=True)
                    ]

    def rows(self, matrix: Sequence[Scalar], nv: int) -> Rows:
        """Those that it holds, of a matrix (6, nv)."""
        held = range(0, nv * self.contact.rows, nv)
        return [[mul(self.active, value) for value in matrix[k : k + nv]] for k in held]


def of_point(dA: Sequence[Scalar], dV: Sequence[Scalar], V: Motion, nv: int) -> list[Scalar]:
    """The derivative of A + w x V, (6, nv), from those of A and V."""
    linear, angular = (
        [Vector(*column) for column in zip(*(dV[nv * k : nv * k + nv] for k in three), strict=True)]
        for three in ((0, 1, 2), (3, 4, 5))
    )
    slips = [dw.cross(V.linear) + V.angular.cross(du) for du, dw in zip(linear, angular, strict=True)]
    added = [value for row in zip(*slips, strict=True) for value in row]
    return [*(add(*pair) for pair in zip(dA, added, strict=False)), *dA[3 * nv :]]
