"""The robots that tests run on: those of this project and those of example-robot-data."""

from __future__ import annotations

from functools import cache
from importlib.metadata import distribution
from pathlib import Path

from rbdgen.description.urdf import read_urdf
from rbdgen.model.build import DEFAULT_SNAP, Base, Robot, build_robot

BASES: tuple[Base, ...] = ("fixed", "floating")

_FOLDER = Path(__file__).parents[2] / "robots"
PUBLIC_FOLDER = Path(
    str(distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots"))
)

BUNDLED = {path.stem: path for path in sorted(_FOLDER.glob("*.urdf"))}

PUBLIC = {
    name: PUBLIC_FOLDER / path
    for name, path in (
        ("ur5", "ur_description/urdf/ur5_robot.urdf"),
        ("panda", "panda_description/urdf/panda.urdf"),
        ("hyq", "hyq_description/robots/hyq_no_sensors.urdf"),
        ("solo12", "solo_description/robots/solo12.urdf"),
        ("anymal", "anymal_b_simple_description/robots/anymal.urdf"),
        ("talos_reduced", "talos_data/robots/talos_reduced.urdf"),
    )
}

PANDA_COLLISION = PUBLIC_FOLDER / "panda_description/urdf/panda_collision.urdf"
"""Panda with spheres and cylinders for collision."""

ICUB = PUBLIC_FOLDER / "icub_description/robots/icub.urdf"
"""A robot whose frames were rotated on export, so that its offsets contain rounding errors."""

PATHS = {**BUNDLED, **PUBLIC}


@cache
def robot(name: str, base: Base = "fixed", snap: float = DEFAULT_SNAP) -> Robot:
    """The robot of this name, with independent mimic joints, as in Pinocchio by default."""
    return build_robot(read_urdf(PATHS[name]), base=base, snap=snap, mimic="independent")
