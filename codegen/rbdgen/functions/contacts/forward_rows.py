"""The rows of forward dynamics constrained by contacts, of contact forces, and of impulses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from rbdgen.functions.arguments import TAU, A, Q, V
from rbdgen.functions.contacts import articulated, composite, dense
from rbdgen.functions.contacts.arguments import ACTIVE, LAMBDA, MU, rows
from rbdgen.functions.form import Form, Outputs, cheap, flat, where_coupled
from rbdgen.functions.forward_dynamics.rows import RESISTED
from rbdgen.functions.function import Call, Function, Identity, products
from rbdgen.functions.needs import ANCHORED, CONTACTS
from rbdgen.model.model import Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.model.tree_size import TreeSize
from rbdgen.signature import Argument, Signature
from rbdgen.sweeps.inputs import State

GAINS = Argument(
    "gains", "nonnegative", (2,), "1/s^2, 1/s", "kp, kd: J a + drift + mu lambda = - kp e - kd J v"
)
ANCHOR = Argument(
    "anchor",
    "values",
    ("nanchor",),
    "m, 1",
    "poses to which contacts are pulled, as of contact_pose: position and, for frames, rotation",
)
RESTITUTION = Argument(
    "restitution",
    "nonnegative",
    (1,),
    "1",
    "J v_plus = - restitution J v: 0 is inelastic, 1 is elastic",
    default=0.0,
)


def _forms(
    textbook: Callable[[Model | ReducedModel, State], Outputs],
    cheaper: Callable[[ReducedModel, State], Outputs],
) -> tuple[Form, ...]:
    source = "M, J and drift, with the factor of M; Featherstone 2008, section 8.5"
    carried = "articulated bodies; unit forces are transformed to the root; Featherstone 2008, table 7.1"
    moments = "the first form with mass moments, for robots with followers"
    return (
        Form("composite", source, textbook, degrees="independent"),
        cheap("articulated", carried, cheaper, "tree", can_use_limbs=True),
        cheap("moments", moments, textbook, "independent", worth_trying=where_coupled),
    )


def _operations(body: int, row: int = 0) -> Callable[[TreeSize], int]:
    """The operations of M and its factor, of the rows of L^-T J^T and of their products.

    `body` operations are added for every body, and `row` for every pair of a body and a contact row that it
    moves. If `row` is not 0, the operations of the factorisation of G are added too.
    """
    return lambda size: (
        body * size.bodies
        + 48 * size.ancestors
        + size.factor
        + row * size.rows
        + size.carried
        + 2 * size.shared
        + (size.forces**3 // 3 if row else 0)
    )


# ---- identities


def _of_delassus(call: Call, _: Mapping[str, Any]) -> tuple[Any, Any]:
    J = call("contact_jacobian")
    return J @ call("minv") @ np.swapaxes(J, -1, -2), call("delassus")


def _of_motion(call: Call, x: Mapping[str, Any]) -> tuple[Any, Any]:
    """Both sides of M a + h = tau + J^T lambda with all contacts active."""
    a, forces = call("contact_aba", active=1 + 0 * x["active"])
    push = np.swapaxes(call("contact_jacobian"), -1, -2)
    return call("rnea", a=a), x["tau"] + products(push, forces)


def _of_acceleration(call: Call, x: Mapping[str, Any]) -> tuple[Any, Any]:
    """Both sides of J a + drift = -mu lambda with all contacts active."""
    a, forces = call("contact_aba", active=1 + 0 * x["active"])
    moved = products(call("contact_jacobian"), a) + call("contact_motion")[1]
    return moved, -x["mu"] * forces


def _of_impulse(call: Call, x: Mapping[str, Any]) -> tuple[Any, Any]:
    """Both sides of M (v_plus - v) = J^T impulse with all contacts active."""
    v_plus, impulse = call("contact_impulse", active=1 + 0 * x["active"])
    return products(call("crba"), v_plus - x["v"]), products(
        np.swapaxes(call("contact_jacobian"), -1, -2), impulse
    )


# ---- the rows


def _forces(*, anchored: bool) -> Function:
    name = "contact_forces_held" if anchored else "contact_forces"
    solved = dense.anchored_forces if anchored else dense.forces
    return Function(
        Signature(name, (Q, V, TAU, ACTIVE, MU, *((GAINS, ANCHOR) if anchored else ())), (LAMBDA,)),
        "contact forces" + (" of contacts that are pulled to anchors" if anchored else ""),
        _forms(
            lambda robot, x: [composite.contact_dynamics(robot, x, anchored=anchored)[1]],
            lambda reduced, x: [articulated.contact_forces(reduced, x, anchored=anchored)],
        ),
        operations=_operations(515, 18) if anchored else _operations(509, 15),
        pinocchio=dense.of_pinocchio(solved),
        projected=dense.of_functions(solved),
        resistance=RESISTED,
        needs=(ANCHORED if anchored else CONTACTS,),
    )


def _dynamics(*, anchored: bool) -> Function:
    name = "contact_aba_held" if anchored else "contact_aba"
    solved = dense.anchored_dynamics if anchored else dense.dynamics
    plain = (
        Identity("M a + h = tau + J^T lambda", ("rnea", "contact_jacobian", name), _of_motion),
        Identity(
            "J a + drift + mu lambda = 0", ("contact_jacobian", "contact_motion", name), _of_acceleration
        ),
    )
    return Function(
        Signature(name, (Q, V, TAU, ACTIVE, MU, *((GAINS, ANCHOR) if anchored else ())), (A, LAMBDA)),
        "forward dynamics with contacts, and contact forces"
        + (", with contacts pulled to anchors" if anchored else ""),
        _forms(
            partial(composite.contact_dynamics, anchored=anchored),
            partial(articulated.contact_dynamics, anchored=anchored),
        ),
        operations=_operations(547, 20) if anchored else _operations(541, 18),
        pinocchio=dense.of_pinocchio(solved),
        projected=dense.of_functions(solved),
        resistance=RESISTED,
        identities=() if anchored else plain,
        needs=(ANCHORED if anchored else CONTACTS,),
    )


DELASSUS = Function(
    Signature(
        "delassus",
        (Q,),
        (
            Argument(
                "G",
                "values",
                ("nc", "nc"),
                "1/kg, 1/(kg m), 1/(kg m^2)",
                "J M^-1 J^T: accelerations of the contacts per unit contact force",
                symmetric=(0, 1),
            ),
        ),
    ),
    "Delassus matrix J M^-1 J^T: accelerations of the contacts per unit contact force",
    _forms(
        lambda robot, x: [flat(composite.delassus(robot, x))],
        lambda reduced, x: [flat(articulated.delassus(reduced, x))],
    ),
    operations=_operations(216),
    pinocchio=dense.of_pinocchio(dense.delassus),
    projected=dense.of_functions(dense.delassus),
    identities=(Identity("J Minv J^T = G", ("minv", "contact_jacobian", "delassus"), _of_delassus),),
    needs=(CONTACTS,),
)

CONTACT_FORCES = _forces(anchored=False)

CONTACT_ABA = _dynamics(anchored=False)

CONTACT_IMPULSE = Function(
    Signature(
        "contact_impulse",
        (Q, V, RESTITUTION, ACTIVE, MU),
        (
            Argument("v_plus", "velocity", ("nv",), "rad/s, m/s", "joint velocities after the impulse"),
            rows("impulse", "N s, N m s", "impulses that the world exerts on the robot, in the rows' axes"),
        ),
    ),
    "velocities after an impact at the contacts, and its impulses",
    _forms(composite.contact_impulse, articulated.contact_impulse),
    operations=_operations(280, 12),
    pinocchio=dense.of_pinocchio(dense.impulse),
    projected=dense.of_functions(dense.impulse),
    identities=(
        Identity(
            "M (v_plus - v) = J^T impulse", ("crba", "contact_jacobian", "contact_impulse"), _of_impulse
        ),
    ),
    needs=(CONTACTS,),
)

CONTACT_FORCES_HELD = _forces(anchored=True)

CONTACT_ABA_HELD = _dynamics(anchored=True)

ROWS: tuple[Function, ...] = (
    DELASSUS,
    CONTACT_FORCES,
    CONTACT_ABA,
    CONTACT_IMPULSE,
    CONTACT_FORCES_HELD,
    CONTACT_ABA_HELD,
)
