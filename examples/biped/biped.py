"""The lower body of a man as a robot: 16 joints, 40 kg, 1.1 m, seven joints in each leg and two in the torso.

The segments are those of the mean man (73.0 kg, 1.741 m) of P. de Leva, Adjustments to Zatsiorsky-Seluyanov's
segment inertia parameters, Journal of Biomechanics 29(9), 1996, table 4. The hips are 0.0955 of the stature
beside the middle plane, and the ankles 0.039 of it above the sole: Drillis and Contini, Body segment
parameters, 1966.

The other choices are this example's. The torso is the lowest quarter of the abdomen, a slice of an elliptic
cylinder. A link between two axes of one anatomical joint is a ball with 5 per cent of the mass beyond it. The
ankle is a quarter of the foot's length in front of the heel. x points forward and y to the left; at q = 0 the
biped stands upright.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import rbdgen

MASS, STATURE = 73.0, 1.741
"""The mass and the stature of the man, in kg and m."""

HIP, ANKLE = 0.0955 * STATURE, 0.039 * STATURE

BALL, SHARE = 0.04, 0.05
"""The radius in m of a link between two axes, and its mass relative to that beyond it."""

SOLES = tuple(rbdgen.Frame(side, f"{side}_foot", (0.05, 0, -ANKLE)) for side in ("left", "right"))
"""The contacts of the feet with the ground."""


@dataclass(frozen=True)
class Segment:
    """A row of the table: mass as a fraction of the whole, length in m, the centre of mass from the upper end
    and the radii of gyration about x, y and z as fractions of the length."""

    fraction: float
    length: float
    centre: float
    radii: tuple[float, float, float]

    @property
    def mass(self) -> float:
        return MASS * self.fraction

    def moments(self, mass: float) -> tuple[float, ...]:
        """The moments of inertia about the centre of mass, for a mass."""
        return tuple(mass * (self.length * radius) ** 2 for radius in self.radii)


PELVIS = Segment(0.1117, 0.1457, 0.6115, (0.615, 0.551, 0.587))
ABDOMEN = Segment(0.1633, 0.2155, 0.4502, (0.482, 0.383, 0.468))
THIGH = Segment(0.1416, 0.4222, 0.4095, (0.329, 0.329, 0.149))
SHANK = Segment(0.0433, 0.4403, 0.4395, (0.251, 0.246, 0.102))
FOOT = Segment(0.0137, 0.2581, 0.4415, (0.124, 0.245, 0.257))  # along x


def biped() -> rbdgen.RobotBuilder:
    """The robot; its root is the pelvis, between the hips."""
    built = rbdgen.RobotBuilder("biped").add_body("pelvis", **solid(PELVIS, PELVIS.mass, PELVIS.length))
    part, mass = ABDOMEN.length / 4, ABDOMEN.mass / 4
    turning(built, "torso_pitch", "pelvis", "waist", "y", (0, 0, PELVIS.length), **ball(SHARE * mass))
    mass *= 1 - SHARE
    turning(
        built,
        "torso_roll",
        "waist",
        "torso",
        "x",
        mass=mass,
        com=(0, 0, part / 2),
        inertia=slice_of(mass, part),
    )
    for side, y in (("left", HIP), ("right", -HIP)):
        add_leg(built, side, y)
    return built


def add_leg(built: rbdgen.RobotBuilder, side: str, y: float) -> None:
    """Adds a leg: hip (yaw, roll, pitch), knee, ankle (pitch, roll, yaw)."""
    hip, thigh, shank, ankle, foot = (f"{side}_{part}" for part in ("hip", "thigh", "shank", "ankle", "foot"))
    light = ball(SHARE * THIGH.mass)
    turning(built, f"{hip}_yaw", "pelvis", f"{hip}1", "z", (0, y, 0), **light)
    turning(built, f"{hip}_roll", f"{hip}1", f"{hip}2", "x", **light)
    turning(built, f"{hip}_pitch", f"{hip}2", thigh, "y", **solid(THIGH, (1 - 2 * SHARE) * THIGH.mass))
    turning(built, f"{side}_knee", thigh, shank, "y", (0, 0, -THIGH.length), **solid(SHANK, SHANK.mass))
    light, mass = ball(SHARE * FOOT.mass), (1 - 2 * SHARE) * FOOT.mass
    turning(built, f"{ankle}_pitch", shank, f"{ankle}1", "y", (0, 0, -SHANK.length), **light)
    turning(built, f"{ankle}_roll", f"{ankle}1", f"{ankle}2", "x", **light)
    centre = ((FOOT.centre - 0.25) * FOOT.length, 0, -ANKLE / 2)
    turning(built, f"{ankle}_yaw", f"{ankle}2", foot, "z", mass=mass, com=centre, inertia=FOOT.moments(mass))


def turning(
    built: rbdgen.RobotBuilder,
    joint: str,
    parent: str,
    link: str,
    axis: str,
    xyz: tuple[float, float, float] = (0, 0, 0),
    **inertial: Any,
) -> None:
    """Adds a link on a revolute joint about a coordinate axis."""
    about = tuple(float(axis == name) for name in "xyz")
    built.add_body(link, parent=parent, joint=joint, type="revolute", axis=about, xyz=xyz, **inertial)


def solid(segment: Segment, mass: float, top: float = 0.0) -> dict[str, Any]:
    """The inertial arguments of a segment of this mass along z, whose upper end is at z = `top`."""
    com = (0, 0, top - segment.centre * segment.length)
    return {"mass": mass, "com": com, "inertia": segment.moments(mass)}


def ball(mass: float) -> dict[str, Any]:
    return {"mass": mass, "inertia": (0.4 * mass * BALL**2,) * 3}


def slice_of(mass: float, height: float) -> tuple[float, ...]:
    """The moments of inertia of a slice of the abdomen with this mass and height."""
    less = (ABDOMEN.length**2 - height**2) / 12
    across, along = ABDOMEN.moments(mass)[:2], ABDOMEN.moments(mass)[2]
    return (*(moment - mass * less for moment in across), along)
