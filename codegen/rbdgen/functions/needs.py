"""The features of robots that functions need, and the options that give a robot these features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from rbdgen.errors import either
from rbdgen.model.model import Model
from rbdgen.wording import option


@dataclass(frozen=True)
class Need:
    """A feature that a robot must have for a function to make sense."""

    has: Callable[[Model], bool]
    """Tells whether a robot has the feature."""
    of: str
    """Names the feature in words that can follow "needs"."""
    otherwise: str
    """The options that give the feature to a robot."""
    without: str = ""
    """The name of a function that a robot without the feature can have instead, if there is one."""


def _moves_joints(model: Model) -> bool:
    """Whether the robot has a floating base that carries joints."""
    return model.is_floating and model.sizes["njoints"] > 0


_FLOATING_BASE: Final = option("base", "floating")
_CONTACT: Final = option("contacts", ["NAME=LINK"])

FLOATING: Final = Need(lambda model: model.is_floating, "a floating base", _FLOATING_BASE)

FLOATING_WITH_JOINTS: Final = Need(_moves_joints, "a floating base with joints", _FLOATING_BASE)

FRAMES: Final = Need(lambda model: bool(model.frames), "chosen frames", option("frames", ["NAME"]))

LOOPS: Final = Need(lambda model: bool(model.loops), "closed loops", option("loops", ["FRAME1=FRAME2"]))

INDEPENDENT: Final = Need(
    lambda model: bool(model.independent), "independent velocities", option("independent", ["JOINT"])
)

CONTACTS: Final = Need(lambda model: bool(model.contacts), "contacts", _CONTACT)

POINTS: Final = Need(
    lambda model: any(contact.has_friction for contact in model.contacts),
    "contacts at points or soles",
    _CONTACT,
    "step",
)
"""Contacts that can open and slide."""

PAIRS: Final = Need(
    lambda model: bool(model.distances.pairs), "pairs with distances", option("pairs", "auto")
)
"""Pairs of capsules, or of capsules and obstacles."""

SERVOS: Final = Need(
    lambda model: any(body.joint.can_have_a_servo for body in model.bodies),
    "joints with one coordinate",
    "take contact_step",
)
"""Joints that can have servos."""

ANCHORED: Final = Need(
    lambda model: bool(model.contacts) and all(contact.anchored for contact in model.contacts),
    "contacts that can all be anchored",
    f"{_CONTACT}, and no {either('Loop with frame=True', '--contact-loop with :frame')}",
)
"""Contacts that can be pulled to the points where they were made."""

STANCE: Final = Need(
    lambda model: model.stands and _moves_joints(model),
    "a floating base with joints on a frame or three points",
    f"{_FLOATING_BASE} and {either('contacts=[Frame(NAME, LINK)]', '--contact-frame NAME=LINK')}, "
    f"or {_CONTACT} for each of three points",
)
"""Contacts with the world that hold a floating base on their own."""
