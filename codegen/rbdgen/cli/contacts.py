"""Options of contacts."""

from __future__ import annotations

import argparse
from functools import partial

from rbdgen.description.contacts import FORMS, Form


def add_contact_options(group: argparse._ArgumentGroup) -> None:
    """They share one list: rows of contacts stand in the order in which options do."""
    helps: dict[Form, str] = {
        "--contact": "a point of a link (its origin, or X,Y,Z in m) that the world holds, for contact_...",
        "--contact-frame": "a point of a link and the link's axes that the world holds, likewise",
        "--contact-loop": "points of two links, or (:frame) their axes too, that stay together, likewise",
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
        help="functions of contacts also for these alone, such as contact_aba_NAME; once for each set",
    )
