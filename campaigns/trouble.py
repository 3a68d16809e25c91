"""Random robots as URDF text with troublesome numbers, such as those of CAD exports and odd machines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import pi
from random import Random

Numbers = list[float]

MOVING = ("revolute", "continuous", "prismatic")

QUARTER_TURNS = (0.0, 0.0, pi / 2, -pi / 2, pi)

CAD_TURNS = (0.0, 1.5708, -1.5708, 3.14159, 1.57079632679, -1.570796, 3.1415926535897931, 1.5707963267948963)


@dataclass
class Part:
    """A link and the joint above it; parent 0 is the root link. Without a mass, the link has no inertial."""

    parent: int
    type: str
    xyz: Numbers
    rpy: Numbers
    axis: Numbers
    mass: float | None
    center: Numbers
    turned: Numbers
    inertia: Numbers


@dataclass
class Plan:
    """A robot before it is written as a URDF."""

    parts: list[Part]
    root: Part
    floating: bool = False
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    kind: str = field(default="")

    @property
    def urdf(self) -> str:
        lines = ['<robot name="attacked">', _link(0, self.root)]
        for k, part in enumerate(self.parts, 1):
            lines += [_link(k, part), _joint(k, part)]
        return "\n".join([*lines, "</robot>"])


def _link(index: int, part: Part) -> str:
    if part.mass is None:
        return f'<link name="link_{index}"/>'
    names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    inertia = " ".join(f'{name}="{value!r}"' for name, value in zip(names, part.inertia, strict=True))
    return (
        f'<link name="link_{index}"><inertial><origin xyz="{_text(part.center)}" rpy="{_text(part.turned)}"/>'
        f'<mass value="{part.mass!r}"/><inertia {inertia}/></inertial></link>'
    )


def _joint(index: int, part: Part) -> str:
    limit = '<limit lower="-9" upper="9" effort="9" velocity="9"/>' if part.type in MOVING else ""
    return (
        f'<joint name="joint_{index:02}" type="{part.type}"><parent link="link_{part.parent}"/>'
        f'<child link="link_{index}"/><origin xyz="{_text(part.xyz)}" rpy="{_text(part.rpy)}"/>'
        f'<axis xyz="{_text(part.axis)}"/>{limit}</joint>'
    )


def _text(values: Numbers) -> str:
    return " ".join(map(repr, values))


def plan(kind: str, rng: Random) -> Plan:
    """Draws a robot of this kind, a name in `KINDS`."""
    robot = KINDS[kind][1](rng)
    robot.kind = kind
    return robot


def number(rng: Random, low: float, high: float) -> float:
    """Draws a number of either sign, whose magnitude is log-uniform between `low` and `high`."""
    found: float = rng.choice((-1.0, 1.0)) * low * (high / low) ** rng.random()
    return found


def vector(rng: Random, size: float) -> Numbers:
    return [rng.uniform(-size, size) for _ in range(3)]


def coordinate_axis(rng: Random) -> Numbers:
    axis = [0.0, 0.0, 0.0]
    axis[rng.randrange(3)] = rng.choice((-1.0, 1.0))
    return axis


def body(rng: Random, part: Part, mass: float, radius: float = 0.2) -> None:
    """Gives a part the inertia of six random point masses that share the mass."""
    points = [[rng.gauss(0, radius) for _ in range(3)] for _ in range(6)]
    xx, xy, xz, yy, yz, zz = (
        sum(p[i] * p[j] for p in points) * mass / 6
        for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
    )
    part.mass, part.inertia = mass, [yy + zz, -xy, -xz, xx + zz, -yz, xx + yy]


def part(rng: Random, parent: int, type: str) -> Part:
    axis = coordinate_axis(rng) if rng.random() < 0.5 else [rng.gauss(0, 1) for _ in range(3)]
    rpy = [rng.choice(QUARTER_TURNS) for _ in range(3)] if rng.random() < 0.4 else vector(rng, 3)
    turned = vector(rng, 3) if rng.random() < 0.3 else [0.0] * 3
    made = Part(parent, type, vector(rng, 0.5), rpy, axis, None, vector(rng, 0.2), turned, [0.0] * 6)
    body(rng, made, rng.uniform(0.5, 5))
    return made


def tree(rng: Random, least: int = 2, most: int = 5, types: tuple[str, ...] = MOVING) -> Plan:
    """Draws a tree with `least` to `most` links beside the root, most of which form a chain."""
    count = rng.randint(least, most)
    parents = [k if rng.random() < 0.8 else rng.randint(0, k) for k in range(count)]
    return Plan([part(rng, p, rng.choice(types)) for p in parents], part(rng, 0, "fixed"))


def axis_aligned(rng: Random) -> Plan:
    robot = tree(rng)
    for x in robot.parts:
        x.axis, x.rpy = coordinate_axis(rng), [rng.choice(QUARTER_TURNS) for _ in range(3)]
    return robot


def near_aligned(rng: Random) -> Plan:
    robot = axis_aligned(rng)
    for x in robot.parts:
        k = rng.randrange(3)
        if x.axis[k] == 0:
            x.axis[k] = number(rng, 1e-16, 1e-7)
        if rng.random() < 0.5:
            x.rpy[rng.randrange(3)] += number(rng, 1e-16, 1e-7)
    return robot


def parallel(rng: Random) -> Plan:
    robot = tree(rng, types=("revolute", "revolute", "prismatic"))
    axis, off = coordinate_axis(rng), rng.random() < 0.5
    for x in robot.parts:
        x.axis = [c * rng.choice((-1, 1)) for c in axis]
        x.rpy = [rng.choice((0.0, pi, 0.3)) * abs(c) for c in axis]
        if off:
            x.rpy[rng.randrange(3)] += number(rng, 1e-16, 1e-5)
    return robot


def intersecting(rng: Random) -> Plan:
    robot = tree(rng)
    for x in robot.parts:
        x.xyz = [value if rng.random() < 0.3 else 0.0 for value in x.xyz]
        x.center = [value if rng.random() < 0.6 else 0.0 for value in x.center]
    return robot


def tiny_lengths(rng: Random) -> Plan:
    robot = tree(rng, types=rng.choice((MOVING, ("revolute",), ("revolute",))))
    for x in robot.parts:
        x.xyz = [value if rng.random() < 0.4 else number(rng, 1e-14, 1e-6) for value in x.xyz]
        if rng.random() < 0.3:
            x.center = [number(rng, 1e-14, 1e-6) for _ in range(3)]
    return robot


def denormal_lengths(rng: Random) -> Plan:
    robot = tree(rng, types=("revolute",))
    for x in robot.parts:
        x.xyz = [value if rng.random() < 0.5 else number(rng, 1e-60, 1e-14) for value in x.xyz]
    return robot


def huge_lengths(rng: Random) -> Plan:
    robot = tree(rng)
    for x in robot.parts:
        x.xyz = [number(rng, 1, 1e5) if rng.random() < 0.5 else value for value in x.xyz]
    return robot


def masses(rng: Random) -> Plan:
    robot = tree(rng)
    for x in robot.parts:
        body(rng, x, abs(number(rng, 1e-3, 1e3)))
    return robot


def massless(rng: Random) -> Plan:
    robot = tree(rng, 3, 6)
    behind = {x.parent for x in robot.parts}
    for k, x in enumerate(robot.parts, 1):
        if k in behind and rng.random() < 0.5:
            x.mass = None
    return robot


def identical_limbs(rng: Random) -> Plan:
    limb = tree(rng, 1, 3, ("revolute", "revolute", "prismatic")).parts
    robot = Plan([], part(rng, 0, "fixed"))
    for turn in range(rng.randint(2, 4)):
        start = len(robot.parts)
        for k, x in enumerate(limb):
            copy = Part(**{**vars(x), "parent": 0 if k == 0 else start + x.parent})
            if k == 0:
                copy.xyz, copy.rpy = [0.3 * (turn % 2), 0.2 * (turn // 2), 0.0], [0.0, 0.0, pi / 2 * turn]
            robot.parts.append(copy)
    robot.floating = rng.random() < 0.3
    return robot


def long_chain(rng: Random) -> Plan:
    robot = tree(rng, 7, 11)
    for k, x in enumerate(robot.parts):
        x.parent = k
    return robot


def wide_tree(rng: Random) -> Plan:
    robot = tree(rng, 5, 9)
    for k, x in enumerate(robot.parts):
        x.parent = rng.choice((0, 0, rng.randint(0, k)))
    return robot


def prismatic_only(rng: Random) -> Plan:
    return tree(rng, 1, 4, ("prismatic",))


def any_joints(rng: Random) -> Plan:
    return tree(rng, 2, 6, (*MOVING, "fixed", "continuous"))


def floating_base(rng: Random) -> Plan:
    robot = tree(rng, 0, 4)
    robot.floating = True
    return robot


def points_and_discs(rng: Random) -> Plan:
    robot = tree(rng)
    for x in robot.parts:
        shape, m = rng.choice(("point", "rod", "disc", "ball")), rng.uniform(0.1, 5)
        k = rng.randrange(3)
        J = {"point": [0.0] * 3, "rod": [0.1] * 3, "disc": [0.1] * 3, "ball": [0.1] * 3}[shape]
        J[k] = {"point": 0.0, "rod": 0.0, "disc": 0.2, "ball": 0.1}[shape]
        x.mass, x.inertia = m, [J[0], 0.0, 0.0, J[1], 0.0, J[2]]
        if shape == "ball" and rng.random() < 0.5:
            x.center = [0.0] * 3
    return robot


def other_gravity(rng: Random) -> Plan:
    robot = tree(rng)
    tilted = (rng.gauss(0, 5), rng.gauss(0, 5), rng.gauss(0, 5))
    robot.gravity = rng.choice((tilted, (9.81, 0.0, 0.0), (0.0, -1e-9, 3.7), (0.0, 0.0, 0.0)))
    return robot


def fixed_links(rng: Random) -> Plan:
    robot = tree(rng, 4, 8, ("revolute", "prismatic", "fixed", "fixed", "fixed"))
    robot.parts[-1].type = "revolute"
    for x in robot.parts:
        if x.type == "fixed" and rng.random() < 0.3:
            x.mass = None
    return robot


def cad_export(rng: Random) -> Plan:
    """Draws a robot with angles of few digits, and residues of up to 1e-12 in place of 0."""

    def residue() -> float:
        return number(rng, 1e-24, 1e-12) if rng.random() < 0.5 else 0.0

    robot = tree(rng)
    for x in robot.parts:
        x.rpy = [rng.choice(CAD_TURNS) + residue() for _ in range(3)]
        x.axis = [value + residue() for value in coordinate_axis(rng)]
        x.xyz = [rng.choice((0.0, round(value, 3))) + residue() for value in x.xyz]
        x.center = [round(value, 6) + residue() for value in x.center]
        x.turned = [rng.choice(CAD_TURNS) for _ in range(3)]
    return robot


def all_at_once(rng: Random) -> Plan:
    """Draws every part from a robot of another kind."""
    donors = [near_aligned, tiny_lengths, intersecting, masses, cad_export, points_and_discs, axis_aligned]
    robot = tree(rng, 3, 6)
    for k, x in enumerate(robot.parts):
        other = rng.choice(donors)(rng).parts[-1]
        robot.parts[k] = Part(**{**vars(other), "parent": x.parent})
    robot.floating = rng.random() < 0.2
    return robot


KINDS: Mapping[str, tuple[str, Callable[[Random], Plan]]] = {
    "axis_aligned": ("axes and rotations along the coordinate axes", axis_aligned),
    "near_aligned": ("axes and rotations that are off the coordinate axes by 1e-16 to 1e-7", near_aligned),
    "parallel": ("all axes parallel, or nearly: angles of 1e-16 to 1e-5", parallel),
    "intersecting": ("zero offsets, centres of mass on the axes", intersecting),
    "tiny_lengths": ("offsets of 1e-14 to 1e-6 m", tiny_lengths),
    "denormal_lengths": ("offsets of 1e-60 to 1e-14 m", denormal_lengths),
    "huge_lengths": ("offsets of up to 1e5 m", huge_lengths),
    "masses": ("masses of 1 g to 1 t in one robot", masses),
    "massless": ("moving links without mass or inertia", massless),
    "identical_limbs": ("two to four equal limbs", identical_limbs),
    "long_chain": ("chains of 7 to 11 joints", long_chain),
    "wide_tree": ("trees of 5 to 9 joints", wide_tree),
    "prismatic_only": ("no rotation anywhere", prismatic_only),
    "any_joints": ("revolute, continuous, prismatic and fixed joints", any_joints),
    "floating_base": ("a floating base with 0 to 4 joints", floating_base),
    "points_and_discs": ("point masses, rods, discs and balls", points_and_discs),
    "other_gravity": ("gravity that is oblique, sideways or none", other_gravity),
    "fixed_links": ("chains of fixed links, with and without mass, turned in every way", fixed_links),
    "cad_export": ("right angles with few digits, and residues in place of 0", cad_export),
    "all_at_once": ("parts of several of these in one robot", all_at_once),
}
