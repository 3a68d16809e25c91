"""Finds masses, lengths and inertias that are too large or too small for the precision of a double."""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan

from rbdgen.model.model import WORLD, Body, Model
from rbdgen.model.regularity import typical_length
from rbdgen.spatial.scalar import Scalar

LARGEST_MASS = 1e30
"""The largest mass, in kg; its inverse is the smallest mass. Products with lengths, their squares and their
inverses stay finite.
"""

LARGEST_LENGTH = 1e30
"""The largest length, in m. There is no smallest length, because rounding of a right angle often leaves a
tiny one.
"""

FARTHEST = 1e6
"""The largest distance of a joint, in radii of gyration. For a joint that is farther away, m p^2 leaves few
digits of the inertia.
"""


def out_of_scale(model: Model) -> tuple[int, str] | None:
    """The first body with a number out of scale, and a text that explains it; None if there is none."""
    unit = typical_length(model)
    for i, body in enumerate(model.bodies):
        found = _own(body) or _beside(body, unit)
        if found is not None:
            return i, found
    return None


def _own(body: Body) -> str | None:
    """Describes a quantity of the body that is out of range in any robot; None if there is none."""
    inertia = body.inertia
    distance = _largest(body.placement.translation)
    if not distance <= LARGEST_LENGTH:
        return f"is {distance:.1e} m from its parent, more than a double can compute with: keep to 1e30 m"
    if not _within(_largest([inertia.mass]), LARGEST_MASS):
        return f"moves a mass of {float(inertia.mass):.1e} kg; write 0, or a mass from 1e-30 to 1e30 kg"
    moment = _largest(entry for row in inertia.rotational for entry in row)
    if not _within(moment, LARGEST_MASS * LARGEST_LENGTH):
        return f"moves an inertia of {moment:.1e} kg m^2 about its frame; write 0, or 1e-60 to 1e60 kg m^2"
    return None


def _beside(body: Body, unit: float) -> str | None:
    """Describes a quantity of the body that is too large for the size of the robot; None if there is none."""
    distance = _largest(body.placement.translation)
    if body.parent != WORLD and distance > FARTHEST * unit:
        return (
            f"is {distance:.1e} m from its parent, where the bodies' radius of gyration is {unit:.1e} m; "
            "doubles are not precise enough for that: check the units"
        )
    return None


def _within(size: float, largest: float) -> bool:
    """Whether a size is 0 or from 1 / largest to largest; False for infinity and NaN."""
    return size == 0 or 1 / largest <= size <= largest


def _largest(values: Iterable[Scalar]) -> float:
    """The largest absolute value; NaN if any value is NaN."""
    sizes = [abs(float(value)) for value in values]
    return next((size for size in sizes if isnan(size)), max(sizes))
