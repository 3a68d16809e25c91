"""Converts the options of joint resistance: damping, friction and rotors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rbdgen.description.armature import Rotors, read_armature, with_armature
from rbdgen.description.quoting import told
from rbdgen.description.schema import Description
from rbdgen.errors import OptionError
from rbdgen.model.resistance import Dissipation, Friction

LEAST_VELOCITY = 1e-9
"""The smallest velocity of smooth friction, in rad/s or m/s; its inverse is the largest. A float can hold the
squares of both."""


def dissipation_of(damping: bool, friction: str | tuple[str, float] | None) -> Dissipation:
    """The resistance that `rbdgen.load_robot` is asked for. Raises OptionError for unknown values."""
    if not isinstance(damping, bool):
        raise OptionError(f"damping {told(damping)} is not one of the choices; give True or False")
    return Dissipation(damping, _friction(friction))


def _friction(given: str | tuple[str, float] | None) -> Friction | None:
    """Friction given as None, "exact", ("smooth", velocity), or "smooth:VELOCITY" as on the command line."""
    if given is None:
        return None
    if given == "exact":
        return "exact"
    parts: Iterable[Any] = given.split(":", 1) if isinstance(given, str) else given
    try:
        form, velocity = parts
        scale = float(velocity)
    except (TypeError, ValueError):
        form, scale = None, math.nan
    if form != "smooth" or not LEAST_VELOCITY <= scale <= 1 / LEAST_VELOCITY:
        raise OptionError(
            f"friction {told(given)} is not a model; give exact, or smooth:VELOCITY with a velocity from "
            "1e-9 to 1e9 rad/s or m/s, such as smooth:0.01"
        )
    return "smooth", scale


def with_rotors(
    description: Description, given: str | Path | Mapping[str, Any] | None, bounds: float = 1.0
) -> Description:
    """The description, with the armature of joints replaced by that of a file or a dict.

    `bounds` is a factor on the largest size of the file.
    """
    if given is None:
        return description
    if isinstance(given, Mapping):
        return with_armature(description, Rotors(given, "armature"))
    if not isinstance(given, (str, Path)):
        raise OptionError(f"armature {told(given)} is not a file or a dict; give a file or {{joint: number}}")
    return with_armature(description, read_armature(given, bounds))
