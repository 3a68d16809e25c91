"""Robots with closed loops, made body by body."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rbdgen import RobotBuilder

SOLID: dict[str, Any] = {"mass": 1.3, "com": (0.1, 0.02, -0.03), "inertia": (0.01, 0.02, 0.025)}


def four_bar(
    crank: float = 0.3,
    coupler: float = 0.9,
    rocker: float = 0.7,
    tilt: tuple[float, float, float] = (0, 0, 0),
) -> RobotBuilder:
    """A planar four-bar in a tilted plane, open between `tip` of the coupler and `end` of the rocker."""
    turning: dict[str, Any] = {"type": "revolute", "axis": (0, 0, 1), **SOLID}
    built = RobotBuilder("four_bar").add_body("ground")
    built.add_body("plane", parent="ground", type="fixed", rpy=tilt)
    built.add_body("crank", parent="plane", **turning)
    built.add_body("coupler", parent="crank", xyz=(crank, 0, 0), **turning)
    built.add_body("rocker", parent="plane", xyz=(1, 0, 0), **turning)
    built.add_body("tip", parent="coupler", type="fixed", xyz=(coupler, 0, 0))
    return built.add_body("end", parent="rocker", type="fixed", xyz=(rocker, 0, 0), rpy=(0, 0, 1))


def two_legs() -> RobotBuilder:
    """A platform on two legs of a Gough-Stewart platform, one of them open at the ball on the platform."""
    built = RobotBuilder("two_legs").add_body("ground")
    for k, x in enumerate((-0.5, 0.5)):
        universal: dict[str, Any] = {"type": "universal", "axis": (1, 0, 0), "second_axis": (0, 1, 0)}
        built.add_body(f"lower{k}", parent="ground", xyz=(x, 0.1 * k, 0), **universal, **SOLID)
        along: dict[str, Any] = {"type": "prismatic", "axis": (0, 0, 1), "xyz": (0, 0, 0.8)}
        built.add_body(f"upper{k}", parent=f"lower{k}", **along, **SOLID)
    built.add_body("platform", parent="upper0", type="spherical", xyz=(0, 0, 0.2), **SOLID)
    return built.add_body("corner", parent="platform", type="fixed", xyz=(0.6, 0.1, 0))


def three_arms() -> RobotBuilder:
    """A plate in a plane on three arms of two links; the second and the third are open at the plate."""
    turning: dict[str, Any] = {"type": "revolute", "axis": (0, 0, 1), **SOLID}
    built = RobotBuilder("three_arms").add_body("ground")
    for k, (x, y) in enumerate(((0, 0), (1, 0), (0.5, 0.9))):
        built.add_body(f"upper{k}", parent="ground", xyz=(x, y, 0), rpy=(0, 0, 2 * k), **turning)
        built.add_body(f"lower{k}", parent=f"upper{k}", xyz=(0.5, 0, 0), **turning)
        built.add_body(f"hand{k}", parent=f"lower{k}", type="fixed", xyz=(0.5, 0, 0))
    built.add_body("plate", parent="hand0", **turning)
    for k, (x, y) in enumerate(((0.3, 0), (0.15, 0.25)), 1):
        built.add_body(f"corner{k}", parent="plate", type="fixed", xyz=(x, y, 0))
    return built


def legs(count: int) -> RobotBuilder:
    """A body on legs, each with a four-bar between its hip and its shank that is open at the knee's rod."""
    turning: dict[str, Any] = {"type": "revolute", "axis": (0, 0, 1), **SOLID}
    built = RobotBuilder("legs").add_body("base", mass=10, inertia=(1, 1, 1))
    for k in range(count):
        hip = {**turning, "axis": (1, 0, 0)}
        built.add_body(f"hip{k}", parent="base", xyz=(0.3 * k, 0.2, 0), **hip)
        built.add_body(f"thigh{k}", parent=f"hip{k}", **turning)
        built.add_body(f"shank{k}", parent=f"thigh{k}", xyz=(0.3, 0, 0), **turning)
        built.add_body(f"crank{k}", parent=f"hip{k}", xyz=(0.1, 0, 0), **turning)
        built.add_body(f"rod{k}", parent=f"crank{k}", xyz=(0.1, 0, 0), **turning)
        built.add_body(f"heel{k}", parent=f"shank{k}", type="fixed", xyz=(0.1, 0.05, 0))
        built.add_body(f"tip{k}", parent=f"rod{k}", type="fixed", xyz=(0.3, 0, 0))
    return built


def chain_on_the_world(folder: Path) -> Path:
    """Writes a URDF of five links, the last one held at a point, whose fifth joint follows the first."""
    joints = "".join(
        f'<link name="l{k}"><inertial><origin xyz=".1 .05 .02"/><mass value="{k + 1}"/>'
        '<inertia ixx=".1" iyy=".2" izz=".15" ixy=".01" ixz="0" iyz="0"/></inertial></link>'
        f'<joint name="j{k}" type="continuous">'
        f'<parent link="{f"l{k - 1}" if k else "root"}"/><child link="l{k}"/><axis xyz="{axis}"/>'
        f'<origin xyz=".5 .1 0"/>{mimic}</joint>'
        for k, (axis, mimic) in enumerate(
            [
                ("0 0 1", ""),
                ("0 1 0", ""),
                ("0 1 1", ""),
                ("1 0 0", ""),
                ("0 1 0", '<mimic joint="j0" multiplier="-0.6" offset="0.2"/>'),
            ]
        )
    )
    path = folder / "held.urdf"
    path.write_text(f'<robot name="held"><link name="root"/>{joints}</robot>')
    return path
