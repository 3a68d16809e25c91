"""Joint types, one file each, with the placement of the body and the motions that the joint allows.

`JOINT_TYPES` has the types without parameters, by name. A helical joint has a pitch, see `Helical`. A
universal joint is two revolute joints in series.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rbdgen.model.joints.coordinates import (
    Angle,
    Attitude,
    Coordinate,
    PlanarPose,
    Pose,
    ScrewPosition,
    angle_of,
    elements,
    rotation_about,
    with_angle,
)
from rbdgen.model.joints.floating import Floating
from rbdgen.model.joints.helical import Helical
from rbdgen.model.joints.joint import Follows, Joint
from rbdgen.model.joints.joint_type import Displacement, JointType, Turning
from rbdgen.model.joints.planar import Planar
from rbdgen.model.joints.prismatic import Prismatic
from rbdgen.model.joints.resistance import Resistance
from rbdgen.model.joints.revolute import Revolute
from rbdgen.model.joints.spherical import Spherical

JOINT_TYPES: Final[Mapping[str, JointType]] = {
    "revolute": Revolute(),
    "continuous": Revolute(),
    "prismatic": Prismatic(),
    "planar": Planar(),
    "spherical": Spherical(),
    "floating": Floating(),
}

__all__ = [
    "JOINT_TYPES",
    "Angle",
    "Attitude",
    "Coordinate",
    "Displacement",
    "Floating",
    "Follows",
    "Helical",
    "Joint",
    "JointType",
    "Planar",
    "PlanarPose",
    "Pose",
    "Prismatic",
    "Resistance",
    "Revolute",
    "ScrewPosition",
    "Spherical",
    "Turning",
    "angle_of",
    "elements",
    "rotation_about",
    "with_angle",
]
