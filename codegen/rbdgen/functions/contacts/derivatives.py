"""Derivatives of forward dynamics in contact, in the axes of the bodies from which contacts are seen.

M a + h = tau + J^T lambda and J a + d + mu lambda = 0 hold at all values of u, which is one of q, v and tau.
Let dID be the derivative of inverse dynamics with respect to u at fixed a and lambda, and dd that of J a + d
at fixed a. Then da and dlambda solve a system of the same form:

    M da = dtau - dID + J^T dlambda,    J da + dd + mu dlambda = 0

This follows Carpentier, Budhiraja and Mansard, RSS 2021. The contact forces contribute -d(J^T lambda)/dq to
dID.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rbdgen.functions.contacts.anchors import anchors
from rbdgen.functions.contacts.composite import contact_dynamics, inertia, jacobian, pushed, weighted
from rbdgen.functions.contacts.multipliers import activity
from rbdgen.functions.contacts.row_derivatives import contact_rows
from rbdgen.functions.derivatives.one_frame import rnea_derivatives
from rbdgen.functions.form import Outputs, flat
from rbdgen.functions.resistance import add_to_diagonal, less, slopes
from rbdgen.model.model import Model
from rbdgen.spatial.rows import Rows
from rbdgen.spatial.scalar import Scalar, add, neg, sub, unnamed
from rbdgen.sweeps.inputs import State


def contact_aba_derivatives(
    model: Model, x: State, *, anchored: bool = False, values: bool = False
) -> Outputs:
    """Compute da_dq, da_dv, da_dtau (nv, nv) and dlambda_dq, dlambda_dv, dlambda_dtau (nc, nv), row-major.

    With `anchored`, contacts are anchored, which adds kp e + kd J v to J a + d. With `values`, a (nv) and
    lambda (nc) come first.
    """
    coupling, n = model.coupling, model.coupling.independent
    a, forces = contact_dynamics(model, replace(x, tau=less(model, x)), anchored=anchored)
    x = replace(x, a=coupling.extended(a), naming=unnamed)
    M, J = inertia(model, x), weighted(activity(model.contacts, x), jacobian(model, x))
    tau_q, tau_v = torque_derivatives(model, x, forces)
    each = [own.acceleration_derivatives(x.v, x.a) for own in contact_rows(model, x)]
    d_q, d_v = ([row for rows in each for row in rows[u]] for u in (0, 1))
    if anchored:
        pulls = pull_derivatives(model, x)
        d_q, d_v = (
            [[add(*pair) for pair in zip(*rows, strict=True)] for rows in zip(d, pull, strict=True)]
            for d, pull in zip((d_q, d_v), pulls, strict=True)
        )
    d_q, d_v = (list(map(coupling.folded, d)) for d in (d_q, d_v))

    def columns(b: Rows, dd: Rows) -> list[tuple[list[Scalar], list[Scalar]]]:
        """da and dlambda, column by column."""
        return [pushed(model, x, M, J, [neg(row[k]) for row in dd], [row[k] for row in b]) for k in range(n)]

    unit = [[int(i == k) for k in range(n)] for i in range(n)]
    solved = [columns(tau_q, d_q), columns(tau_v, d_v), columns(unit, [[0] * n for _ in J])]
    parts = [[column[part] for column in by] for part in (0, 1) for by in solved]
    derivatives = [flat(list(zip(*part, strict=True))) for part in parts]
    return [a, forces, *derivatives] if values else derivatives


def pull_derivatives(model: Model, x: State) -> tuple[Rows, Rows]:
    """The derivatives of kp e + kd J v along q and with respect to v."""
    by_q: Rows = []
    by_v: Rows = []
    for own, anchor in zip(contact_rows(model, x), anchors(model.contacts, x.arrays["anchor"]), strict=True):
        both = own.pull_derivatives(x, anchor)
        by_q += both[0]
        by_v += both[1]
    return by_q, by_v


def torque_derivatives(model: Model, x: State, forces: Sequence[Scalar]) -> tuple[Rows, Rows]:
    """-dID/dq and -dID/dv at fixed a and lambda, over the independent degrees of freedom."""
    torque, rest = rnea_derivatives(model, x.q, x.v, x.a), iter(forces)
    for own in contact_rows(model, x):
        turned = own.torque_derivatives([next(rest) for _ in range(own.contact.rows)], model.nv)
        for row, part in zip(torque.dtau_dq, turned, strict=True):
            row[:] = [sub(value, other) for value, other in zip(row, part, strict=True)]
    resistance = slopes(model, x)
    add_to_diagonal(torque.dtau_dq, resistance.by_q)
    add_to_diagonal(torque.dtau_dv, resistance.by_v)
    by_q, by_v = map(model.coupling.folded_matrix, (torque.dtau_dq, torque.dtau_dv))
    return [list(map(neg, row)) for row in by_q], [list(map(neg, row)) for row in by_v]
