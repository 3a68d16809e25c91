"""Derivatives of forward dynamics in contact, contacts in the axes of what they are seen from.

M a + h = tau + J^T lambda and J a + d + mu lambda = 0 hold at every u, one of q, v and tau. So, with
B = M^-1 J^T, C = (J B + mu)^-1, dID that of inverse dynamics at fixed a and lambda, and dc that of J a + d at
fixed a,

    da = M^-1 b + B dlambda,    dlambda = -C (dc + J M^-1 b),    b = dtau - dID

Carpentier, Budhiraja and Mansard, RSS 2021. dID has a part of the forces, -d(J^T lambda)/dq.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdgen.functions.contacts.row_derivatives import contact_rows
from rbdgen.functions.derivatives.one_frame import rnea_derivatives
from rbdgen.functions.function import Outputs, flat
from rbdgen.functions.inertia_matrix.composite import crba
from rbdgen.functions.inertia_matrix.inverse import factored
from rbdgen.functions.inverse_dynamics.newton_euler import rnea
from rbdgen.functions.resistance import add_to_diagonal, less, slopes
from rbdgen.model.model import Model
from rbdgen.spatial.ldl import ldl
from rbdgen.spatial.scalar import Scalar, add, dot, mul, neg, sub
from rbdgen.sweeps.inputs import State


def contact_aba_derivatives(model: Model, x: State) -> Outputs:
    """da_dq, da_dv, da_dtau (nv, nv) and dlambda_dq, dlambda_dv, dlambda_dtau (nc, nv), row-major."""
    coupling, nv = model.coupling, model.nv
    contacts = contact_rows(model, x)
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
        turned = own.torque_derivatives([next(rest) for _ in range(own.contact.rows)], nv)
        for row, part in zip(torque.dtau_dq, turned, strict=True):
            row[:] = [sub(value, other) for value, other in zip(row, part, strict=True)]
    resistance = slopes(model, x)
    add_to_diagonal(torque.dtau_dq, resistance.by_q)
    add_to_diagonal(torque.dtau_dv, resistance.by_v)
    c_q, c_v = [], []
    for own in contacts:
        by_q, by_v = own.acceleration_derivatives(x.v, a)
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
