"""The bundled quadruped on four feet, and a pose in which it stands."""

from __future__ import annotations

import rbdgen
from rbdgen import Point
from rbdgen.model.robot import Robot


def quadruped() -> Robot:
    feet = [
        Point(f"{end}_{side}", f"{end}_{side}_shank", (0, 0, -0.2), radius=0.02)
        for end in ("front", "hind")
        for side in ("left", "right")
    ]
    return rbdgen.load_robot("quadruped12", base="floating", contacts=feet)


STANDING = {
    f"{end}_{side}_{joint}": angle
    for end in ("front", "hind")
    for side in ("left", "right")
    for joint, angle in (("flexion", 0.7), ("knee", -1.4))
}
