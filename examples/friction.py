"""Simulates a slope, bounces and an impact while sliding by `contact_step`, and draws docs/friction.svg.

    python examples/friction.py            prints the results beside the laws
    python examples/friction.py FOLDER     also draws them there; needs pip install 'rbdgen[plot]'

The impact is also simulated by MuJoCo, if it is installed.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import rbdgen

Array = npt.NDArray[np.float64]

G, STEP = 9.81, 1e-3
"""Gravity in m/s^2, and the time step in s."""

MASS, HALF = 2.0, (0.1, 0.1, 0.05)
"""The mass of the block in kg, and half of its edges in m."""

CORNERS = [(x, y, -HALF[2]) for x in (HALF[0], -HALF[0]) for y in (HALF[1], -HALF[1])]

SLOPE_FRICTION, SLOPE_TIME = 0.6, 0.4
BALL, HEIGHT, RESTITUTIONS = 0.1, 0.5, (0.3, 0.6, 0.9)
"""The radius of the ball and the height that it falls from in m, and its coefficients of restitution."""

SPEED, FALL, IMPACT_FRICTION = 2.0, 0.5, 0.5
"""The speeds in m/s along and towards the ground with which the block lands, and its friction."""


class Slope(NamedTuple):
    """Speeds along slopes after SLOPE_TIME from rest."""

    angle: Array  # rad
    speed: Array  # m/s
    law: Array  # by Coulomb, m/s


class Bounce(NamedTuple):
    """The height of the lowest point of balls over time."""

    time: Array  # (steps)
    height: Array  # (balls, steps), m


class Impact(NamedTuple):
    """The height of the block above the ground over time."""

    time: Array
    height: Array


def block() -> Any:
    """`contact_step` of a block with contacts at its lower corners.

    It has more iterations than by default, as the twelve rows of its contacts have rank six.
    """
    x, y, z = (2 * half for half in HALF)
    inertia = tuple(MASS / 12 * (a * a + b * b) for a, b in ((y, z), (x, z), (x, y)))
    body = rbdgen.RobotBuilder("block").add_body("body", mass=MASS, inertia=inertia)
    contacts = [rbdgen.Point(f"corner{k}", "body", corner) for k, corner in enumerate(CORNERS)]
    robot = rbdgen.load_robot(body, base="floating", contacts=contacts, contact_solver=(5, 8, 2))
    return rbdgen.build(robot, functions=["contact_step"])


def slope(angles: Array) -> Slope:
    """Blocks that start at rest on slopes, all of them in one call per step."""
    lib, count = block(), len(angles)
    normal = np.stack([-np.sin(angles), 0 * angles, np.cos(angles)], axis=1)
    q, v = np.tile(lib.neutral(), (count, 1)), np.zeros((count, 6))
    q[:, :3] = HALF[2] * normal
    q[:, 4], q[:, 6] = -np.sin(angles / 2), np.cos(angles / 2)  # turned about y with the ground
    ground = np.concatenate([np.repeat(normal[:, None], 4, axis=1), np.zeros((count, 4, 1))], axis=2)
    for _ in range(round(SLOPE_TIME / STEP)):
        q, v, *_ = lib.contact_step(
            q, v, np.zeros((count, 6)), STEP, ground=ground, friction=[SLOPE_FRICTION] * 4
        )
    pull = np.sin(angles) - SLOPE_FRICTION * np.cos(angles)
    return Slope(angles, np.linalg.norm(v[:, :3], axis=1), G * SLOPE_TIME * np.maximum(pull, 0))


def bounce(seconds: float = 2.0) -> Bounce:
    """Balls of several coefficients of restitution that fall on level ground."""
    inertia = (0.4 * MASS * BALL**2,) * 3
    ball = rbdgen.RobotBuilder("ball").add_body("ball", mass=MASS, inertia=inertia)
    contacts = [rbdgen.Point("skin", "ball", radius=BALL)]
    robot = rbdgen.load_robot(ball, base="floating", contacts=contacts)
    lib = rbdgen.build(robot, functions=["contact_step"])
    law = np.array([[1e-4, 0.2, 1, restitution, 0.05, 0] for restitution in RESTITUTIONS])
    count, steps = len(law), round(seconds / STEP)
    q, v = np.tile(lib.neutral(), (count, 1)), np.zeros((count, 6))
    q[:, 2] = BALL + HEIGHT
    height = np.empty((count, steps))
    for k in range(steps):
        q, v, *_ = lib.contact_step(q, v, np.zeros((count, 6)), STEP, friction=[0.5], law=law)
        height[:, k] = q[:, 2] - BALL
    return Bounce(STEP * np.arange(1, steps + 1), height)


def impact(seconds: float = 0.3) -> Impact:
    """The block lands while it moves along the ground."""
    lib = block()
    q, v = lib.neutral(), np.array([SPEED, 0, -FALL, 0, 0, 0])
    q[2] = HALF[2]
    height = np.empty(round(seconds / STEP))
    for k in range(len(height)):
        q, v, *_ = lib.contact_step(q, v, np.zeros(6), STEP, friction=[IMPACT_FRICTION] * 4)
        height[k] = _above(q[2], _rotation(q[3:7]))
    return Impact(STEP * np.arange(1, len(height) + 1), height)


def impact_of_mujoco(seconds: float = 0.3) -> Impact | None:
    """The same block in MuJoCo with its default settings and elliptic cones; None if it is not installed."""
    if find_spec("mujoco") is None:
        return None
    import mujoco  # noqa: PLC0415  (optional)

    touch = f'type="sphere" size="0.001" mass="0" condim="3" friction="{IMPACT_FRICTION} 0 0"'
    corners = "".join(f'<geom {touch} pos="{x} {y} {z + 0.001}"/>' for x, y, z in CORNERS)
    x, y, z = HALF
    text = f"""<mujoco><option timestep="{STEP}" gravity="0 0 -{G}" cone="elliptic"/><worldbody>
        <geom type="plane" size="9 9 1" condim="3" friction="{IMPACT_FRICTION} 0 0"/>
        <body pos="0 0 {z}"><freejoint/>{corners}
        <geom type="box" size="{x} {y} {z}" mass="{MASS}" contype="0" conaffinity="0"/></body>
        </worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qvel[:] = [SPEED, 0, -FALL, 0, 0, 0]
    height = np.empty(round(seconds / STEP))
    for k in range(len(height)):
        mujoco.mj_step(model, data)
        mujoco.mj_kinematics(model, data)
        height[k] = _above(data.xpos[1][2], data.xmat[1].reshape(3, 3))
    return Impact(STEP * np.arange(1, len(height) + 1), height)


def _above(z: float, rotation: Array) -> float:
    """The height of the lowest corner."""
    return float(z + (np.array(CORNERS) @ rotation[2]).min())


def _rotation(quaternion: Array) -> Array:
    x, y, z, w = quaternion
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.asarray(np.eye(3) + 2 * (w * cross + cross @ cross))


def peaks(height: Array) -> Array:
    """The highest points between impacts of one ball, after the first impact."""
    inner = (height[1:-1] > height[:-2]) & (height[1:-1] >= height[2:])
    return np.asarray(height[1:-1][inner])


def draw(file: Path, slid: Slope, bounced: Bounce, ours: Impact, theirs: Impact | None) -> None:
    """Draws the three experiments side by side."""
    import matplotlib  # noqa: PLC0415  (optional)

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt  # noqa: PLC0415

    with plt.rc_context({"svg.hashsalt": "rbdgen", "font.size": 9}):
        figure, (left, middle, right) = plt.subplots(1, 3, figsize=(10.5, 3.2))
        left.plot(np.rad2deg(slid.angle), slid.law, "k-", linewidth=1, label="law of Coulomb")
        left.plot(np.rad2deg(slid.angle), slid.speed, "o", markersize=3, label="contact_step")
        left.set(
            title=f"block on a slope, friction {SLOPE_FRICTION}",
            xlabel="angle [deg]",
            ylabel=f"speed after {SLOPE_TIME} s [m/s]",
        )
        for restitution, height in zip(RESTITUTIONS, bounced.height, strict=True):
            (line,) = middle.plot(bounced.time, height, linewidth=1, label=f"restitution {restitution}")
            middle.axhline(HEIGHT * restitution**2, color=line.get_color(), linestyle=":", linewidth=1)
        middle.set(title="balls fall by 0.5 m; dotted: e^2 h", xlabel="time [s]", ylabel="height [m]")
        for who, found in (("contact_step", ours), ("MuJoCo, soft contacts", theirs)):
            if found is not None:
                right.plot(found.time, 1000 * found.height, linewidth=1, label=who)
        right.set(title="block lands at 2 m/s along the ground", xlabel="time [s]", ylabel="height [mm]")
        for panel in (left, middle, right):
            panel.grid(alpha=0.3)
            panel.legend(fontsize=7, frameon=False)
        figure.tight_layout()
        figure.savefig(file, metadata={"Date": None, "Creator": None})
        plt.close(figure)


def main() -> None:
    """Runs the experiments, prints their results and draws them if a folder is given."""
    slid, bounced, ours, theirs = (
        slope(np.deg2rad(np.linspace(0, 60, 31))),
        bounce(),
        impact(),
        impact_of_mujoco(),
    )
    error = np.abs(slid.speed - slid.law).max()
    print(f"slope: speeds are those of Coulomb's law within {error:.1e} m/s")
    for restitution, height in zip(RESTITUTIONS, bounced.height, strict=True):
        law = HEIGHT * restitution**2
        print(f"restitution {restitution}: rises to {peaks(height)[0]:.3f} m; e^2 h = {law:.3f} m")
    print(f"impact: leaves the ground by at most {max(ours.height.max(), 0):.1e} m")
    if theirs is not None:
        print(f"impact in MuJoCo: leaves the ground by at most {theirs.height.max():.1e} m")
    if len(sys.argv) > 1:
        folder = Path(sys.argv[1])
        folder.mkdir(parents=True, exist_ok=True)
        draw(folder / "friction.svg", slid, bounced, ours, theirs)


if __name__ == "__main__":
    main()
