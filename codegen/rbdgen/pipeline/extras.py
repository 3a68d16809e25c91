"""Checks that a robot has what the extras of steps with friction are about."""

from __future__ import annotations

from rbdgen.description.contacts import OF_POINTS, Extra
from rbdgen.errors import OptionError
from rbdgen.model.model import Model
from rbdgen.model.resistance import Dissipation
from rbdgen.wording import option


def check_extras(model: Model, dissipation: Dissipation) -> None:
    """Raises OptionError for an extra that has no effect on this robot."""
    for extra in model.contact_with:
        missing = _missing(model, dissipation, extra)
        if missing is not None:
            raise OptionError(f"{option('contact_with', [extra])}: {missing}")


def _missing(model: Model, dissipation: Dissipation, extra: Extra) -> str | None:
    """The error of a robot that lacks something for an extra, and the advice; None if nothing is missing."""
    if extra in OF_POINTS:
        if any(contact.has_friction for contact in model.contacts):
            return None
        return f"there are no contacts at points or soles; give {option('contacts', ['NAME=LINK'])}"
    if extra == "friction" and dissipation.friction is None:
        return f"the friction of joints is not used; give {option('friction', 'exact')} as well"
    has = model.has_limits if extra == "limits" else model.has_dry_friction
    if any(has(joint) for joint in model.held_joints):
        return None
    return f"no joint with one coordinate of its own has {extra}; leave it out"
