"""Random robots made with the builder: joints of all types, followers, resistance, contacts, closed loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from support.linkages import four_bar, three_arms, two_legs
from support.pairs import ONE_AXIS

import rbdgen
from rbdgen import RobotBuilder
from rbdgen.model.build import Robot

KINDS = {
    "one_axis": "revolute, continuous, prismatic and helical joints",
    "several_axes": "planar, spherical, floating and universal joints among others",
    "floating_base": "a floating base that carries joints of all types",
    "followers": "joints that follow others, some of them in chains",
    "resistance": "damping, smooth friction, springs and rotors",
    "exact_friction": "friction by the sign of velocities",
    "contacts": "points, frames and loops in contact, and sets of them, on both bases",
    "closed_loops": "linkages with independent velocities",
    "aligned": "axes along coordinates, zero offsets, centres of mass on axes",
    "all_at_once": "joints of all types with all of these",
}

SEVERAL_AXES = ("planar", "spherical", "floating", "universal")

TOOL = "tool"

FLOATING = {"floating_base"}
FOLLOWING = {"followers", "all_at_once"}
RESISTING = {"resistance", "exact_friction", "all_at_once"}
TOUCHING = {"contacts", "all_at_once"}
MULTIPLIERS = (1.0, -1.0, 2.0, -0.5, 0.3)
OFFSETS = (0.0, np.pi / 2, 0.4, -1.1)


@dataclass(frozen=True)
class Recipe:
    """A robot before it is loaded: a builder, and the options of `load_robot`."""

    built: RobotBuilder
    options: Mapping[str, Any]

    def robot(self) -> Robot:
        return rbdgen.load_robot(self.built, **self.options)


def random_robot(kind: str, rng: np.random.Generator, most: int = 3) -> Recipe:
    """Draws a robot of a kind with up to `most` bodies, not counting the root, followers and a fixed link."""
    if kind == "closed_loops":
        return _linkage(rng)
    drawing = Drawing(kind, rng)
    for k in range(int(rng.integers(1, most + 1))):
        drawing.add(f"link{k}")
    if kind in FOLLOWING:
        drawing.add_followers()
    if rng.random() < 0.3:
        drawing.add_tool()
    return drawing.recipe()


@dataclass
class Drawing:
    """A robot that is being drawn."""

    kind: str
    rng: np.random.Generator

    def __post_init__(self) -> None:
        self.built = RobotBuilder(self.kind).add_body("root", **self.solid())
        self.links = ["root"]
        self.single: list[str] = []

    def add(self, name: str) -> None:
        """Adds a body on a joint of a random type."""
        types = ONE_AXIS if self.kind in ("one_axis", "aligned") else (*ONE_AXIS, *SEVERAL_AXES)
        if self.kind == "several_axes" and self.rng.random() < 0.6:
            types = SEVERAL_AXES
        joint = str(self.rng.choice(types))
        below = self.links[-1] if self.rng.random() < 0.7 else str(self.rng.choice(self.links))
        self._body(name, below, joint)
        if joint in ONE_AXIS:
            self.single.append(name)

    def add_followers(self) -> None:
        """Adds one or two bodies whose joints follow others; the second may follow the first."""
        if not self.single:
            self._body("leader", self.links[-1], "revolute")
            self.single.append("leader")
        for k in range(int(self.rng.integers(1, 3))):
            leader = str(self.rng.choice(self.single))
            multiplier, offset = (float(self.rng.choice(x)) for x in (MULTIPLIERS, OFFSETS))
            joint = str(self.rng.choice(ONE_AXIS))
            parent = str(self.rng.choice(self.links))
            self._body(f"led{k}", parent, joint, mimic=(f"{leader}_joint", multiplier, offset))
            self.single.append(f"led{k}")

    def add_tool(self) -> None:
        """Adds a link that is fixed to the last one."""
        self._body(TOOL, self.links[-1], "fixed")

    def recipe(self) -> Recipe:
        more: dict[str, Any] = {}
        if self.kind in RESISTING:
            smooth = self.kind != "exact_friction"
            more |= {"damping": True, "friction": ("smooth", 0.3) if smooth else "exact"}
        half = self.rng.random() < 0.5
        floating = self.kind in FLOATING or (self.kind in (*TOUCHING, "followers", "several_axes") and half)
        moving = self.links if floating else self.links[1:]
        if self.kind in TOUCHING:
            more |= self._contacts(moving)
        frames = list(dict.fromkeys([moving[-1], str(self.rng.choice(moving))]))
        direction = (0, 0, -9.81) if self.rng.random() < 0.7 else self._vector(5.0)
        base = "floating" if floating else "fixed"
        return Recipe(self.built, {"base": base, "gravity": direction, "frames": frames, **more})

    def _contacts(self, moving: Sequence[str]) -> dict[str, Any]:
        def place() -> list[float]:
            return self._vector(0.2)

        held: list[Any] = [rbdgen.Point("tip", moving[-1], place())]
        if self.rng.random() < 0.5:
            held.append(rbdgen.Frame("sole", str(self.rng.choice(moving)), place()))
        bodies = [link for link in moving if link != TOOL]
        if len(bodies) > 1 and self.rng.random() < 0.5:
            frame = bool(self.rng.random() < 0.3)
            held.append(rbdgen.Loop("rod", bodies[0], place(), bodies[-1], place(), frame=frame))
        sets = {"one": ["tip"]} if self.rng.random() < 0.3 else {}
        return {"contacts": held, "contact_sets": sets}

    def _body(self, name: str, parent: str, joint: Any, **more: Any) -> None:
        if joint in (*ONE_AXIS, "universal"):
            more["axis"] = self._axis()
        if joint == "universal":
            more["second_axis"] = self._vector(1.0)
        if joint == "helical":
            more["pitch"] = float(self.rng.choice([0.2, -0.1, 1.0]))
        if self.kind in RESISTING and joint not in ("planar", "floating", "fixed"):
            d, f, A = (float(x) for x in self.rng.uniform(0.05, 1, 3) * self.rng.integers(0, 2, 3))
            more |= {"damping": d, "friction": f, "armature": A}
        if self.kind in RESISTING and joint in ONE_AXIS and self.rng.random() < 0.5:
            more |= {"stiffness": 2.0, "spring_reference": 0.3}
        self.built.add_body(
            name,
            parent=parent,
            type=joint,
            **more,
            **self._place(),
            **self.solid(),
        )
        self.links.append(name)

    def solid(self) -> dict[str, Any]:
        """The inertial arguments of a random body: of a few point masses, or of a box along the axes."""
        mass = float(self.rng.uniform(0.5, 3))
        if self.kind == "aligned":
            sides = self.rng.uniform(0.1, 0.5, 3) ** 2
            box = [float(mass / 12 * (sum(sides) - side)) for side in sides]
            return {"mass": mass, "com": self._along(0.3), "inertia": box}
        points = self.rng.normal(size=(4, 3)) * 0.3
        second = points.T @ points
        inertia = np.trace(second) * np.eye(3) - second
        return {"mass": mass, "com": self._vector(0.2), "inertia": inertia.tolist()}

    def _place(self) -> dict[str, Any]:
        if self.kind != "aligned":
            return {"xyz": self._vector(0.4), "rpy": self._vector(1.0)}
        angles = self.rng.integers(-1, 3, 3) * np.pi / 2
        return {"xyz": self._along(0.5), "rpy": [float(x) for x in angles]}

    def _axis(self) -> list[float]:
        return self._along(1.0) if self.kind == "aligned" or self.rng.random() < 0.3 else self._vector(1.0)

    def _along(self, size: float) -> list[float]:
        """A random vector along a coordinate axis, in either direction, which may be 0."""
        vector = np.zeros(3)
        way = self.rng.choice([-1, 1]) if size == 1.0 else self.rng.choice([-1, 0, 1])
        vector[self.rng.integers(3)] = size * way
        return vector.tolist()

    def _vector(self, size: float) -> list[float]:
        return [float(x) for x in self.rng.normal(size=3) * size]


def _linkage(rng: np.random.Generator) -> Recipe:
    """Draws a linkage in a tilted plane or in space."""
    kind = int(rng.integers(4))
    if kind == 0:
        x, y, z = (float(x) for x in rng.normal(size=3))
        joint = str(rng.choice(["crank_joint", "rocker_joint"]))
        built = four_bar(*(float(x) for x in rng.uniform(0.4, 0.8, 3)), tilt=(x, y, z))
        return Recipe(built, {"loops": ["tip=end:point"], "independent": [joint]})
    if kind == 1:
        legs = ["lower0_joint_1", "lower0_joint_2", "upper0_joint", "platform_joint"]
        return Recipe(two_legs(), {"loops": ["corner=upper1:point"], "independent": legs})
    if kind == 2:
        arms = [f"upper{k}_joint" for k in range(3)]
        loops = ["hand1=corner1:point", "hand2=corner2:point"]
        return Recipe(three_arms(), {"loops": loops, "independent": arms})
    drawing = Drawing("several_axes", rng)
    for k in range(3):
        drawing.add(f"link{k}")
    first, second = drawing.links[int(rng.integers(3)) :][:2]
    loop = f"{first}={second}" + str(rng.choice(["", ":point"]))
    return Recipe(drawing.built, {"base": "floating", "loops": [loop]})
