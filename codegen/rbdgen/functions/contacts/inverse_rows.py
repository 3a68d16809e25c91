"""The rows of inverse dynamics of a floating base whose contacts are at rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from rbdgen.functions.arguments import Q, V
from rbdgen.functions.contacts import dense, forward_rows, inverse_dense
from rbdgen.functions.contacts.arguments import ACTIVE, LAMBDA, MU
from rbdgen.functions.contacts.floating import contact_rnea_floating, contact_rnea_least_floating
from rbdgen.functions.contacts.inverse_dynamics import contact_rnea, contact_rnea_least
from rbdgen.functions.contacts.multipliers import activity
from rbdgen.functions.form import Form, Outputs, cheap, where_coupled
from rbdgen.functions.function import Function
from rbdgen.functions.needs import CONTACTS, FLOATING_WITH_JOINTS, STANCE
from rbdgen.functions.resistance import model_of
from rbdgen.functions.resisting import resisting
from rbdgen.signature import Argument, Signature
from rbdgen.spatial.scalar import mul
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.sweep import BASE

FORCES = resisting(forward_rows.CONTACT_FORCES)

_PAPER = "Nakanishi, Mistry, Schaal, ICRA 2007"
_ON_MOMENTS = "the first form with mass moments, for robots with followers"

A_JOINTS = Argument(
    "a_joints",
    "values",
    ("njoints",),
    "rad/s^2, m/s^2",
    "desired accelerations of all joints except the base",
)
TAU_JOINTS = Argument(
    "tau", "values", ("njoints",), "N m, N", "torques and forces of all joints except the base"
)
A_BASE = Argument("a_base", "values", (6,), "m/s^2, rad/s^2", "acceleration of the base: its elements of a")
SHARE = Argument(
    "share",
    "nonnegative",
    ("nshare",),
    "1, m^2",
    "weight of each force (such as 1), and of each moment of a frame (0.01 m^2); 0 for none",
)

CONTACT_RNEA = Function(
    Signature("contact_rnea", (Q, V, A_JOINTS, LAMBDA), (TAU_JOINTS, A_BASE)),
    "joint torques and base acceleration for given contact forces",
    (
        Form("block", f"{_PAPER}, eq. 10 and 11", contact_rnea, degrees="independent"),
        cheap(
            "composite",
            "inverse dynamics for a base at rest, then the base's acceleration from the composite inertia",
            contact_rnea_floating,
            "tree",
            can_use_limbs=True,
        ),
        cheap("moments", _ON_MOMENTS, contact_rnea, "independent", worth_trying=where_coupled),
    ),
    operations=lambda size: 500 * size.bodies + 48 * size.ancestors,
    pinocchio=dense.of_pinocchio(inverse_dense.contact_rnea),
    projected=dense.of_functions(inverse_dense.contact_rnea),
    needs=(FLOATING_WITH_JOINTS, CONTACTS),
)

CONTACT_RNEA_LEAST = Function(
    Signature("contact_rnea_least", (Q, V, A_JOINTS, SHARE), (TAU_JOINTS, LAMBDA, A_BASE)),
    "joint torques and the smallest contact forces that support the base",
    (
        Form(
            "block",
            "weighted least squares for a_base and lambda, from M, J and drift",
            contact_rnea_least,
            degrees="independent",
        ),
        cheap(
            "composite",
            "the same, with the weights of contacts as point masses",
            contact_rnea_least_floating,
            "tree",
            can_use_limbs=True,
        ),
        cheap("moments", _ON_MOMENTS, contact_rnea_least, "independent", worth_trying=where_coupled),
    ),
    operations=lambda size: 700 * size.bodies + 48 * size.ancestors,
    pinocchio=dense.of_pinocchio(inverse_dense.contact_rnea_least),
    projected=dense.of_functions(inverse_dense.contact_rnea_least),
    needs=(STANCE,),
)


# ---- with the torques of the previous sample


def _with_forces_before(
    forces: Form, rnea: Callable[[Any, State], Outputs]
) -> Callable[[Any, State], Outputs]:
    """Make a form that computes the contact forces that the previous torques cause, and then the torques for
    these forces.
    """

    def trace(robot: Any, x: State) -> Outputs:
        before = replace(x, tau=[*[0] * BASE, *x.arrays["tau_previous"]])
        (found,) = FORCES.trace(forces, robot, before)
        pushes = list(map(mul, activity(model_of(robot).contacts, x), found))
        tau, _ = rnea(robot, replace(x, arrays={**x.arrays, LAMBDA.name: pushes}))
        return [tau, pushes]

    return trace


TAU_PREVIOUS = replace(TAU_JOINTS, name="tau_previous", meaning="the torques applied one sample before")

CONTACT_CONTROL = Function(
    Signature("contact_control", (Q, V, A_JOINTS, TAU_PREVIOUS, ACTIVE, MU), (TAU_JOINTS, LAMBDA)),
    "joint torques for the contact forces that the torques of the previous sample cause",
    (
        Form(
            "block",
            f"{_PAPER}, eq. 6 and 17",
            _with_forces_before(FORCES.forms[0], contact_rnea),
            degrees="independent",
        ),
        cheap(
            "composite",
            "articulated bodies for the forces, then as contact_rnea",
            _with_forces_before(FORCES.form("articulated"), contact_rnea_floating),
            "tree",
            can_use_limbs=True,
        ),
        cheap(
            "moments",
            _ON_MOMENTS,
            _with_forces_before(FORCES.form("moments"), contact_rnea),
            "independent",
            worth_trying=where_coupled,
        ),
    ),
    operations=lambda size: FORCES.operations(size) + 50 * size.bodies,
    pinocchio=dense.of_pinocchio(inverse_dense.contact_control),
    projected=dense.of_functions(inverse_dense.contact_control),
    needs=(FLOATING_WITH_JOINTS, CONTACTS),
)

ROWS: tuple[Function, ...] = (CONTACT_RNEA, CONTACT_CONTROL, CONTACT_RNEA_LEAST)
