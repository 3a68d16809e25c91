"""Bounds on the size of a robot from any source, which are checked before a model is made of it.

A model takes about half a millisecond for each link, and more where joints follow others. The bounds keep it
within 10 s and 1 GB.
"""

from __future__ import annotations

from typing import Final

from rbdgen.description.document import MORE
from rbdgen.description.schema import Description
from rbdgen.errors import DescriptionError
from rbdgen.wording import option

MOST_LINKS: Final = 10_000

MOST_PAIRS: Final = 700_000
"""The largest number of moving joints times the degrees of freedom of those that follow no other."""

_FREEDOMS: Final = {"planar": 3, "spherical": 3, "floating": 6, "universal": 2, "fixed": 0}
"""Joints of other types have 1."""


def check_links(description: Description, bounds: float = 1.0) -> None:
    """Raises DescriptionError for a robot of more than `bounds` times `MOST_LINKS` links."""
    most = int(bounds * MOST_LINKS)
    if len(description.links) > most:
        what = f"has {len(description.links):,} links, more than the {most:,} a robot may have"
        raise DescriptionError(description.path, None, what, f"leave out what is not needed, {MORE}")


def check_followers(description: Description, bounds: float = 1.0) -> None:
    """Raises DescriptionError for a robot with joints that follow others, if it has too many joints.

    On such a robot, the check that the joint-space inertia matrix can be inverted does not go limb by limb:
    its time grows with the number of joints times the square of the number of those that follow no other.
    """
    moving = [joint for joint in description.joints if joint.type != "fixed"]
    leading = sum(_FREEDOMS.get(joint.type, 1) for joint in moving if joint.mimic is None)
    follows = any(joint.mimic is not None for joint in moving)
    if follows and len(moving) * leading > bounds * MOST_PAIRS:
        what = f"has {len(moving):,} joints, too many for mimic joints"
        what_to_do = f"give {option('mimic', 'independent')}, {MORE}"
        raise DescriptionError(description.path, None, what, what_to_do)
