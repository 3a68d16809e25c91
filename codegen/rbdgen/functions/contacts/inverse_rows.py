"""Inverse dynamics of floating bases while contacts stand still."""

from __future__ import annotations

from rbdgen.functions.contacts import inverse_dense
from rbdgen.functions.contacts.arguments import LAMBDA
from rbdgen.functions.contacts.floating import contact_rnea_floating, contact_rnea_least_floating
from rbdgen.functions.contacts.inverse_dynamics import contact_rnea, contact_rnea_least
from rbdgen.functions.function import Form, Function, Q, V, cheap
from rbdgen.signature import Argument, Signature

_PAPER = "Nakanishi, Mistry, Schaal, ICRA 2007"

A_JOINTS = Argument(
    "a_joints", "values", ("njoints",), "rad/s^2, m/s^2", "accelerations of all but the base, wanted"
)
TAU_JOINTS = Argument("tau", "values", ("njoints",), "N m, N", "torques and forces of all but the base")
A_BASE = Argument(
    "a_base", "values", (6,), "m/s^2, rad/s^2", "the base's acceleration, linear, angular, base axes, as in a"
)
SHARE = Argument(
    "share",
    "nonnegative",
    ("nshare",),
    "1, m^2",
    "how much each force takes, then (frames) each moment: 1, about 0.01 m^2; 0 for none",
)

RNEA = Function(
    Signature("contact_rnea", (Q, V, A_JOINTS, LAMBDA), (TAU_JOINTS, A_BASE)),
    "joint torques and base acceleration for given contact forces",
    (
        Form("block", f"{_PAPER}, eq. 10 and 11", contact_rnea, over="independent"),
        cheap("composite", "the base held still, then let go as one body", contact_rnea_floating, "tree"),
    ),
    operations=lambda size: 500 * size.bodies + 48 * size.ancestors,
    pinocchio=inverse_dense.of_pinocchio(inverse_dense.contact_rnea),
    projected=inverse_dense.of_functions(inverse_dense.contact_rnea),
)

LEAST = Function(
    Signature("contact_rnea_least", (Q, V, A_JOINTS, SHARE), (TAU_JOINTS, LAMBDA, A_BASE)),
    "joint torques and the least contact forces that carry the base",
    (
        Form(
            "block",
            "least squares in both directions, by M, J and drift",
            contact_rnea_least,
            over="independent",
        ),
        cheap("composite", "the same with contacts as masses", contact_rnea_least_floating, "tree"),
    ),
    operations=lambda size: 700 * size.bodies + 48 * size.ancestors,
    pinocchio=inverse_dense.of_pinocchio(inverse_dense.contact_rnea_least),
    projected=inverse_dense.of_functions(inverse_dense.contact_rnea_least),
)

ROWS: tuple[Function, ...] = (RNEA,)

OF_STANCE: tuple[Function, ...] = (LEAST,)
"""Those that need contacts which alone hold the base."""
