"""Robots with two joints of any two types, and with other features that change what functions compute."""

from __future__ import annotations

from typing import Any, Final, get_args

import numpy as np
from numpy.typing import NDArray

import rbdgen
from rbdgen import RobotBuilder
from rbdgen.description.schema import JointType
from rbdgen.model.build import Base, Robot

TYPES: Final[tuple[JointType, ...]] = tuple(x for x in get_args(JointType) if x != "fixed")
ONE_AXIS: Final = ("revolute", "continuous", "prismatic", "helical")
"""The types of joints that others can follow."""

RESISTANCE: Final[dict[str, Any]] = {"damping": 0.3, "friction": 0.2, "armature": 0.15}
SPRING: Final[dict[str, Any]] = {"stiffness": 2.0, "spring_reference": 0.3}


def pair(
    first: JointType,
    second: JointType,
    *,
    base: Base = "fixed",
    follower: bool = False,
    resisting: bool = False,
) -> Robot:
    """A chain of two joints with oblique axes, general inertias, frames on all links and two contacts.

    With `follower`, another joint follows the first joint that can be followed; if neither can, a revolute
    joint is added below them and followed. With `resisting`, every joint has damping, smooth friction, a
    rotor and a spring, as far as its type allows.
    """
    built = PairBuilder(f"{first}_{second}", sum(map(ord, first + "." + second)), resisting)
    built.add("one", first).add("two", second)
    if follower:
        leader = next((name for name, kind in (("one", first), ("two", second)) if kind in ONE_AXIS), "three")
        if leader == "three":
            built.add("three", "revolute")
        built.add("last", "revolute", mimic=(f"{leader}_joint", 0.5, 0.2))
    moving = [link.name for link in built.robot.description().links]
    return rbdgen.load_robot(
        built.robot,
        base=base,
        damping=resisting,
        friction=("smooth", 0.2) if resisting else None,
        frames=moving if base == "floating" else moving[1:],
        contacts=[
            rbdgen.Frame("sole", moving[-1], (0.1, 0.2, -0.1)),
            rbdgen.Point("knee", "one", (0.2, 0, 0.1)),
        ],
    )


class PairBuilder:
    """Builds a chain with random numbers, in which the parent of every body is the one before."""

    def __init__(self, name: str, seed: int, resisting: bool) -> None:
        self.rng = np.random.default_rng(seed)
        self.resisting = resisting
        self.robot = RobotBuilder(name)
        self.robot.add_body("base", **self._solid())
        self.last = "base"

    def add(self, name: str, kind: JointType, **more: Any) -> PairBuilder:
        if kind in (*ONE_AXIS, "universal"):
            more["axis"] = self._vector(1.0)
        if kind == "universal":
            more["second_axis"] = self._vector(1.0)
        if kind == "helical":
            more["pitch"] = 0.2
        if self.resisting and kind in (*ONE_AXIS, "universal", "spherical"):
            more |= RESISTANCE
        if self.resisting and kind in ONE_AXIS:
            more |= SPRING
        placed = {"xyz": self._vector(0.4), "rpy": self._vector(1.0)}
        self.robot.add_body(name, parent=self.last, type=kind, **placed, **self._solid(), **more)
        self.last = name
        return self

    def _vector(self, size: float) -> list[float]:
        return [float(x) for x in self.rng.normal(size=3) * size]

    def _solid(self) -> dict[str, Any]:
        """The inertia of a few point masses, whose principal moments satisfy the triangle inequality."""
        points: NDArray[np.float64] = self.rng.normal(size=(4, 3)) * 0.3
        second = points.T @ points
        inertia = np.trace(second) * np.eye(3) - second
        return {
            "mass": float(self.rng.uniform(0.5, 2)),
            "com": self._vector(0.2),
            "inertia": inertia.tolist(),
        }
