"""Robots with contacts: on points, on soles, an arm that touches the world, closed loops, and random ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, Final

import numpy as np
from support.rationals import Rationals, Z
from support.robots import BUNDLED

import rbdgen
from rbdgen import Frame, Loop, Point, RobotBuilder
from rbdgen.model.build import Robot
from rbdgen.model.contacts import Contact, ContactKind
from rbdgen.model.frames import Frame as PlacedFrame
from rbdgen.model.model import WORLD, Model

SOLID: dict[str, Any] = {"mass": 1.3, "com": (0.1, 0.02, -0.03), "inertia": (0.05, 0.06, 0.07)}

FEET = tuple(f"{end}_{side}" for end in ("front", "hind") for side in ("left", "right"))


def quadruped() -> Robot:
    """The quadruped on the points of its four feet."""
    feet = [Point(foot, f"{foot}_shank", (0, 0, -0.2085)) for foot in FEET]
    return rbdgen.load_robot(BUNDLED["quadruped12"], base="floating", contacts=feet)


def humanoid() -> Robot:
    """The humanoid on its two soles."""
    soles = [Frame(side, f"{side}_foot", (0.0494, 0, -0.0679)) for side in ("left", "right")]
    return rbdgen.load_robot(BUNDLED["humanoid30"], base="floating", contacts=soles)


def legs() -> RobotBuilder:
    """A trunk with an arm of a prismatic and a revolute joint, and with two legs of three joints and a sole
    each."""
    built = RobotBuilder("biped").add_body("trunk", mass=9, com=(0, 0, 0.1), inertia=(0.4, 0.3, 0.2))
    for side, y in (("left", 0.1), ("right", -0.1)):
        turning: dict[str, Any] = {"type": "revolute", **SOLID}
        built.add_body(f"{side}_thigh", parent="trunk", xyz=(0, y, -0.1), axis=(0, 1, 0), **turning)
        built.add_body(f"{side}_shank", parent=f"{side}_thigh", xyz=(0, 0, -0.4), axis=(0, 1, 0), **turning)
        built.add_body(f"{side}_foot", parent=f"{side}_shank", xyz=(0, 0, -0.4), axis=(1, 0, 0), **turning)
        built.add_body(
            f"{side}_sole", parent=f"{side}_foot", type="fixed", xyz=(0.05, 0, -0.07), rpy=(0, 0, 0.3)
        )
    built.add_body("boom", parent="trunk", xyz=(0, 0, 0.4), type="prismatic", axis=(1, 0, 0), **SOLID)
    bent: dict[str, Any] = {"type": "revolute", "axis": (0, 0.6, 0.8), **SOLID}
    return built.add_body("hand", parent="boom", xyz=(0.2, 0, 0), **bent)


def biped() -> Robot:
    """A small robot on two frames."""
    soles = [Frame(side, f"{side}_sole") for side in ("left", "right")]
    return rbdgen.load_robot(legs(), base="floating", contacts=soles)


def mixed() -> Robot:
    """A robot with contacts of all sizes: a frame and a point on one leg, and two points on one body."""
    held = [
        Frame("sole", "left_sole"),
        Point("knee", "left_shank", (0.02, 0, 0.1)),
        Point("tail", "trunk", (-0.3, 0.05, 0.1)),
        Point("hand", "hand", (0.1, 0, 0.2)),
    ]
    return rbdgen.load_robot(legs(), base="floating", contacts=held)


def arm() -> Robot:
    """An arm on a fixed base, with a point contact at its last link."""
    return rbdgen.load_robot(BUNDLED["arm7"], contacts=[Point("tip", "link7", (0.02, 0.1, 0.05))])


def closed() -> Robot:
    """A robot with loops between limbs, within a limb (a frame), and to the world, and with a sole."""
    held = [
        Loop("grasp", "hand", (0.1, 0, 0), "right_shank", (0, 0.1, -0.1)),
        Loop("brace", "left_sole", (0, 0, 0.1), "left_shank", (0.1, 0, 0), frame=True),
        Loop("rope", "world", (0.5, 0, 1.5), "hand", (0, 0, 0.1)),
        Frame("sole", "right_sole"),
    ]
    return rbdgen.load_robot(legs(), base="floating", contacts=held)


def standing() -> Robot:
    """The same tree on a fixed base, with a loop between its hand and a foot, and a contact of the other
    foot."""
    held = [
        Loop("grasp", "hand", (0.1, 0, 0), "right_foot", (0, 0.1, 0)),
        Point("foot", "left_foot", (0, 0, -0.07)),
    ]
    return rbdgen.load_robot(legs(), contacts=held)


MAKERS: Final[dict[str, Callable[[], Robot]]] = {
    make.__name__: make for make in (quadruped, humanoid, biped, mixed, arm, closed, standing)
}


@cache
def robot_with_contacts(name: str) -> Robot:
    """The robot of this name in `MAKERS`."""
    return MAKERS[name]()


def with_contacts(model: Model, seed: int, count: int = 3) -> Model:
    """The model with points, frames and loops at rational places of random bodies, the world and the base."""
    numbers, rng = Rationals(seed), np.random.default_rng(seed)

    def place(lowest: int) -> PlacedFrame:
        body = int(rng.integers(lowest, model.nbodies))
        joint = None if body == WORLD else model.bodies[body].joint
        # The rotation has rational angles to the axes that a reduced model aligns with the joint's axis.
        placement = numbers.placement(Z, joint.axis if joint and joint.type.one_axis else None)
        return PlacedFrame(f"place{body}", body, placement)

    contacts = []
    for k in range(count):
        kind: ContactKind = "frame" if rng.random() < 0.5 else "point"
        first, second = place(0), place(WORLD)
        two = first.body != second.body and rng.random() < 0.5
        contacts.append(Contact(f"contact{k}", kind, first, second if two else None))
    return replace(model, contacts=tuple(contacts))
