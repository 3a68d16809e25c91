"""The options that add contacts, and those of files that are written in addition to the C."""

from __future__ import annotations

import argparse
from functools import partial

from rbdgen.description.contacts import DEFAULT_PLAN, FORMS, SOLE_PLAN, Form, SolverPlan
from rbdgen.emit.backends import ON_REQUEST


def add_contact_options(group: argparse._ArgumentGroup) -> None:
    """Adds the options of contacts. They share one list, so contacts have the order of the options."""
    helps: dict[Form, str] = {
        "--contact": "keep a point of a link (its origin, or X,Y,Z in m) in place, for contact_...",
        "--contact-frame": "keep a point of a link and the link's axes in place, for contact_...",
        "--contact-sole": "the same for a rectangular foot, whose corners contact_step lets open and slide",
        "--contact-loop": "keep points of two links together, and with :frame their axes, for contact_...",
    }
    for option, text in helps.items():
        group.add_argument(
            option,
            metavar=FORMS[option],
            dest="contacts",
            action="append",
            default=[],
            type=partial(lambda option, text: (option, text), option),
            help=text,
        )
    group.add_argument(
        "--contact-set",
        metavar="NAME=CONTACT,CONTACT",
        action="append",
        default=[],
        help="also functions of only these contacts, such as contact_aba_NAME; once for each set",
    )

    group.add_argument(
        "--contact-solver",
        metavar="S,N,B",
        help="iterations of contact_step: S sweeps, N Newton steps, B sweeps between them "
        f"({_said(DEFAULT_PLAN)}; with soles {_said(SOLE_PLAN)})",
    )


def _said(plan: SolverPlan) -> str:
    return ",".join(map(str, plan))


def add_emit_options(group: argparse._ArgumentGroup) -> None:
    """Adds the option --emit and those that belong to it."""
    group.add_argument(
        "--emit",
        metavar="NAME",
        action="append",
        default=[],
        help="also write " + ", ".join(f"{name}: {row.adds}" for name, row in ON_REQUEST.items()),
    )
    group.add_argument(
        "--knots",
        metavar="N",
        type=int,
        default=1,
        help="--emit casadi --knots N means --emit casadi:N",
    )
