"""The rows of derivatives of forward dynamics constrained by contacts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from rbdgen.functions.arguments import TAU, A, Q, V, square
from rbdgen.functions.contacts.arguments import ACTIVE, LAMBDA, MU, jacobian
from rbdgen.functions.contacts.derivative_columns import contact_aba_derivatives_columns
from rbdgen.functions.contacts.derivatives import contact_aba_derivatives
from rbdgen.functions.contacts.derivatives_in_limbs import contact_aba_derivatives_in_limbs
from rbdgen.functions.contacts.forward_rows import ANCHOR, GAINS
from rbdgen.functions.derivatives.in_limbs import limbs_and_columns_fill
from rbdgen.functions.form import Form, in_loops
from rbdgen.functions.function import Call, Function, Identity
from rbdgen.functions.needs import ANCHORED, CONTACTS
from rbdgen.signature import Signature


def _held_by_torques(call: Call, x: Mapping[str, Any]) -> tuple[Any, Any]:
    """Both sides of J da/dtau = -mu dlambda/dtau, the derivative of the constraint with respect to tau, with
    all contacts active."""
    by_torque = call("contact_aba_derivatives", active=np.ones_like(x["active"]))
    moved = call("contact_jacobian") @ by_torque.da_dtau
    return moved, -x["mu"][..., None] * by_torque.dlambda_dtau


def _derivatives(*, anchored: bool, values: bool = False) -> Function:
    """The row of the derivatives; with `values`, the accelerations and forces come first."""
    suffix = "_held" if anchored else ""
    name = f"contact_aba_{'and_' if values else ''}derivatives{suffix}"
    apart = f"contact_aba{suffix}", f"contact_aba_derivatives{suffix}"
    same = Identity(
        f"a, lambda and their derivatives are those of {' and '.join(apart)}",
        (*apart, name),
        lambda call, _: (call(name), (*call(apart[0]), *call(apart[1]))),
    )
    still = Identity("J da/dtau + mu dlambda/dtau = 0", ("contact_jacobian", name), _held_by_torques)
    return Function(
        Signature(
            name,
            (Q, V, TAU, ACTIVE, MU, *((GAINS, ANCHOR) if anchored else ())),
            (
                *((A, LAMBDA) if values else ()),
                square("da_dq", "1/s^2, 1/(m s^2), m/s^2", "derivative of a along q, in its tangent space"),
                square("da_dv", "1/s, 1/(m s), m/s", "derivative of a by v"),
                square("da_dtau", "1/(kg m^2), 1/(kg m), 1/kg", "derivative of a by tau", symmetric=True),
                jacobian("dlambda_dq", "N/rad, N/m, N m", "derivative of lambda along q"),
                jacobian("dlambda_dv", "N s/rad, N s/m, N m s", "derivative of lambda by v"),
                jacobian("dlambda_dtau", "1/m, 1", "derivative of lambda by tau"),
            ),
        ),
        (
            "accelerations, contact forces and their derivatives"
            if values
            else "derivatives of forward dynamics"
        )
        + (" with contacts that are pulled to anchors" if anchored else " with contacts"),
        (
            Form(
                "world",
                "Carpentier, Budhiraja and Mansard, RSS 2021",
                partial(contact_aba_derivatives, anchored=anchored, values=values),
                degrees="independent",
            ),
            in_loops(
                "the same in the axes of the contacts' links; one product runs for every column",
                partial(contact_aba_derivatives_columns, anchored=anchored, values=values),
                "columns",
                for_size=False,
                degrees="independent",
            ),
            in_loops(
                "the solution of `columns`; alike limbs may be lanes up to the last products",
                partial(contact_aba_derivatives_in_limbs, anchored=anchored, values=values),
                "halves",
                for_size=False,
                degrees="tree",
                worth_trying=limbs_and_columns_fill,
                can_use_limbs=True,
            ),
        ),
        operations=lambda size: 1767 * size.bodies + 737 * size.rows + 59 * size.connected,
        identities=(same,) if values else () if anchored else (still,),
        derivative_of=None if values else f"contact_aba{suffix}",
        needs=(ANCHORED if anchored else CONTACTS,),
        on_request=values,
    )


CONTACT_ABA_DERIVATIVES = _derivatives(anchored=False)

CONTACT_ABA_DERIVATIVES_HELD = _derivatives(anchored=True)

CONTACT_ABA_AND_DERIVATIVES = _derivatives(anchored=False, values=True)

CONTACT_ABA_AND_DERIVATIVES_HELD = _derivatives(anchored=True, values=True)

ROWS: tuple[Function, ...] = (
    CONTACT_ABA_DERIVATIVES,
    CONTACT_ABA_AND_DERIVATIVES,
    CONTACT_ABA_DERIVATIVES_HELD,
    CONTACT_ABA_AND_DERIVATIVES_HELD,
)
