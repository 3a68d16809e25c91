"""The rows of contact kinematics: pose, Jacobian, velocity and drift."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rbdgen.functions.arguments import Q, V
from rbdgen.functions.contacts import climbing, relative
from rbdgen.functions.contacts.arguments import jacobian, rows
from rbdgen.functions.contacts.pinocchio import Contacts
from rbdgen.functions.form import Form, cheap, flat
from rbdgen.functions.function import Call, Function, Identity
from rbdgen.functions.needs import CONTACTS
from rbdgen.signature import Argument, Signature

_SOURCE = "columns of both ends relative to their common ancestor; Featherstone 2008, chapter 8"
_CLIMBING = "the same in body axes chosen by count, from the contacts toward the root"


def _asked(of: Callable[[Contacts], Any]) -> Callable[[Any, Any, Any, Mapping[str, Any]], Any]:
    """Make the field `pinocchio` of a row, which computes an output from the contacts by Pinocchio."""
    return lambda pin, model, data, x: of(Contacts.at(pin, model, data, x))


def _rate(call: Call, x: Mapping[str, Any]) -> tuple[Any, Any]:
    return np.einsum("...ij,...j->...i", call("contact_jacobian"), x["v"]), call("contact_motion")[0]


def _twice(call: Call, x: Mapping[str, Any]) -> tuple[Any, Any]:
    return call("contact_motion", v=2 * x["v"])[1], 4 * call("contact_motion")[1]


CONTACT_POSE = Function(
    Signature(
        "contact_pose",
        (Q,),
        (
            Argument(
                "position",
                "values",
                ("ncontacts", 3),
                "m",
                "each contact's point in the world; for a loop, point 1 minus point 2 in the rows' axes",
            ),
            Argument(
                "rotation",
                "values",
                ("ncontacts", 3, 3),
                "1",
                "from the axes of each contact's link to the world's; for a loop, from link 1 to link 2",
            ),
        ),
    ),
    "poses of the contacts",
    (
        Form(
            "by_columns",
            _SOURCE,
            lambda model, x: relative.contact_pose(model, x.q, x.naming),
            former_name="columns",
        ),
        cheap(
            "from_root",
            "the same in body axes chosen by count, row by row",
            lambda reduced, x: relative.contact_pose(reduced, x.q, x.naming),
            can_use_limbs=True,
        ),
    ),
    operations=lambda size: 134 * size.holders,
    pinocchio=_asked(lambda contacts: (contacts.position, contacts.rotation)),
    needs=(CONTACTS,),
)

CONTACT_JACOBIAN = Function(
    Signature("contact_jacobian", (Q,), (jacobian("J", "m, 1", "J v: velocities of the contacts"),)),
    "Jacobian of the contacts: J v = 0 while they are closed",
    (
        Form(
            "by_columns",
            _SOURCE,
            lambda model, x: [flat(relative.contact_jacobian(model, x.q, x.naming))],
            former_name="columns",
        ),
        cheap(
            "climbing",
            _CLIMBING,
            lambda reduced, x: [flat(climbing.contact_jacobian(reduced, x.q))],
            can_use_limbs=True,
        ),
        cheap(
            "from_root",
            "the same in body axes chosen by count, row by row",
            lambda reduced, x: [flat(relative.contact_jacobian(reduced, x.q, x.naming))],
        ),
    ),
    operations=lambda size: 136 * size.holders + 10 * size.contacts,
    pinocchio=_asked(lambda contacts: contacts.J),
    needs=(CONTACTS,),
)

CONTACT_MOTION = Function(
    Signature(
        "contact_motion",
        (Q, V),
        (
            rows("velocity", "m/s, rad/s", "velocities of the contacts, J v"),
            rows(
                "drift", "m/s^2, rad/s^2", "accelerations of the contacts at a = 0 without gravity, dJ/dt v"
            ),
        ),
    ),
    "velocities of the contacts, and the drift of J a + drift = 0",
    (
        Form(
            "by_columns",
            _SOURCE,
            lambda model, x: relative.contact_motion(model, x.q, x.v, x.naming),
            former_name="columns",
        ),
        cheap("climbing", _CLIMBING, climbing.contact_motion, can_use_limbs=True),
    ),
    operations=lambda size: 157 * size.holders + 16 * size.contacts + 2 * size.rows,
    pinocchio=_asked(lambda contacts: (contacts.velocity, contacts.drift)),
    needs=(CONTACTS,),
    identities=(
        Identity("J v = velocity of contacts", ("contact_jacobian", "contact_motion"), _rate),
        Identity("drift of contacts at 2 v = 4 times that at v", ("contact_motion",), _twice),
    ),
)

ROWS: tuple[Function, ...] = (CONTACT_POSE, CONTACT_JACOBIAN, CONTACT_MOTION)
