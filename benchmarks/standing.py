"""Rollouts of a robot that stands on its feet: `contact_step` beside MuJoCo's rollout with contacts.

All start from the same states and apply the same torques, which hold the robot up. MuJoCo and MJX have their
default settings; feet are small spheres without mass on a plane, those of soles at their corners, and
contacts are found among these alone. Joint limits, damping and friction in joints are off. The CPU time of
all threads is reported beside the time on the clock, as other programs change it less.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np
from rich.table import Table

from benchmarks.batch import RESULTS, Json
from benchmarks.bench import attempt, processor
from benchmarks.contestants import IN_CONTACT, Contest
from benchmarks.peers.mujoco_loop import MujocoLoop
from rbdgen.description.contacts import Point, Sole
from rbdgen.machine import Real
from rbdgen.model.build import Robot
from rbdgen.options import Options
from rbdgen.pipeline.page import build_library
from rbdgen.pipeline.robot import load_robot
from rbdgen.runtime import Library

FUNCTIONS: Final = ("contact_step", "contact_jacobian", "contact_pose", "gravity")
DT: Final = 2e-3
FRICTION: Final = 0.7
RADIUS: Final = 0.005
"""The radius of the feet in m."""
CROUCH: Final = (0.0, 0.7, -1.4)
"""The angles of each leg of the quadruped in rad."""

MJX: Final = "MJX with contacts in float, all states"

SLOW: Final = (MJX,)
"""The ways that are measured once, because they take long."""

Way = Callable[[], object]


CORNERS: Final = [(x, y, -0.0679) for x in (0.18, -0.06) for y in (0.05, -0.05)]
"""The corners of each sole of the humanoid in m."""


class Stance(NamedTuple):
    """The feet and the posture of a robot that stands."""

    feet: tuple[Point | Sole, ...]
    posture: tuple[float, ...]
    """The angles of its joints; empty for zeros."""


STANCES: Final = {
    "quadruped12": Stance(
        tuple(replace(x, radius=RADIUS) for x in IN_CONTACT.contacts["quadruped12"] if isinstance(x, Point)),
        4 * CROUCH,
    ),
    "humanoid30": Stance(
        tuple(Sole(f"{side}_sole", f"{side}_foot", corners=CORNERS) for side in ("left", "right")), ()
    ),
}


class Start(NamedTuple):
    """The states and torques of rollouts."""

    q: Any
    v: Any
    tau: Any


def measured(contest: Contest, repetitions: int, rollouts: int, steps: int) -> Table:
    """Measures a robot, writes the report to the folder of results, and returns it as a table."""
    found = report(contest, repetitions, rollouts, steps)
    path = RESULTS / f"standing_{contest.name}.json"
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    title = f"{contest.name} on its feet: {rollouts} rollouts of {steps} steps"
    table = Table(title=title, caption=f"{found['machine']}, load {found['load']:.1f}")
    for heading in ("way", "us a step, CPU", "us a step, clock"):
        table.add_column(heading, justify="left" if heading == "way" else "right")
    for name, (cpu, clock) in found["ways"].items():
        table.add_row(name, f"{cpu:.3f}", f"{clock:.3f}")
    return table


def report(contest: Contest, repetitions: int, rollouts: int, steps: int) -> Json:
    """Microseconds of CPU time and on the clock per step, by way of computing it: the smallest of many."""
    ways = ours_by_name(contest, rollouts, steps)
    ways |= attempt("MuJoCo", lambda: theirs_by_name(contest, rollouts, steps)) or {}
    ways |= attempt("MJX", lambda: mjx_by_name(contest, rollouts, steps)) or {}
    best = {name: [float("inf")] * 2 for name in ways}
    for k in range(repetitions):
        for name, way in ways.items():
            if k > 0 and name in SLOW:
                continue
            began = time.process_time(), time.perf_counter()
            way()
            ended = time.process_time(), time.perf_counter()
            taken = [1e6 * (b - a) / (rollouts * steps) for a, b in zip(began, ended, strict=True)]
            best[name] = list(map(min, best[name], taken))
    return {
        "robot": contest.name,
        "machine": processor(),
        "load": os.getloadavg()[0],
        "rollouts": rollouts,
        "steps": steps,
        "ways": best,
    }


def stands(contest: Contest) -> bool:
    """Whether the robot has feet on which it stands here."""
    return contest.name in STANCES


def touching(contest: Contest) -> list[Point]:
    """The spheres on which a robot stands in MuJoCo: its feet, or those above the corners of its soles."""
    found = list[Point]()
    for foot in STANCES[contest.name].feet:
        if isinstance(foot, Point):
            found.append(foot)
            continue
        for k, (x, y, z) in enumerate(foot.corners or ()):
            center = (x, y, z + RADIUS)
            found.append(Point(f"{foot.name}{k}", foot.link, center, radius=RADIUS))
    return found


def standing_robot(contest: Contest) -> Robot:
    feet = STANCES[contest.name].feet
    return load_robot(contest.urdf, contest.base, mimic="independent", contacts=feet)


def library_of(robot: Robot, real: Real = "double") -> Library:
    return build_library(robot, Options.of(functions=FUNCTIONS, real=real))


def start(library: Library, rollouts: int, steps: int, speed: float = 0.05) -> Start:
    """States with all feet on the ground and random velocities of about this speed, and the torques that
    carry the weight.
    """
    nv, stance = library.nv, STANCES[library.manifest["name"]]
    q = library.neutral()
    q[7:] = stance.posture or 0.0
    reach = min(
        x[2] - (foot.radius if isinstance(foot, Point) else 0)
        for x, foot in zip(library.contact_pose(q)[0], stance.feet, strict=True)
    )
    q[2] = -reach
    J, weight = library.contact_jacobian(q), library.gravity(q)
    forces = np.linalg.lstsq(J[:, :6].T, weight[:6], rcond=None)[0]
    tau = weight - J.T @ forces
    tau[:6] = 0
    v = speed * np.random.default_rng(0).standard_normal((rollouts, nv))
    return Start(np.tile(q, (rollouts, 1)), v, np.tile(tau, (rollouts, steps, 1)))


def points_of(library: Library) -> int:
    """The number of points and corners that touch the ground."""
    (points,) = next(x.shape for x in library.contact_step.signature.inputs if x.name == "friction")
    return points


def bound_calls(library: Library, start: Start) -> Way:
    """Single calls of `contact_step` from one state, as many as the rollouts have steps together."""
    q, v, tau = (x[0] for x in (start.q, start.v, start.tau[:, 0]))
    call = library.contact_step.bind(q, v, tau, np.array(DT), friction=np.full(points_of(library), FRICTION))

    def calls() -> None:
        for _ in range(start.tau.shape[0] * start.tau.shape[1]):
            call()

    return calls


def ours(library: Library, start: Start, **options: Any) -> Way:
    """Rollouts of `contact_step`."""
    given = (x.astype(library.contact_step.dtype) for x in start)
    q, v, tau = given
    friction = np.full(points_of(library), FRICTION, q.dtype)
    return lambda: library.rollout(q, v, tau, DT, friction=friction, **options)


def theirs(contest: Contest, robot: Robot, start: Start, threads: int, cone: str = "") -> Way:
    """MuJoCo's rollouts, with its default cones or with "elliptic" ones. Raises ImportError if MuJoCo is not
    installed."""
    loop = mujoco_of(contest, robot, cone)
    return loop.rollout(loop.states_of(start.q, start.v), start.tau, DT, threads)


def by_mjx(contest: Contest, robot: Robot, start: Start) -> Way:
    """MJX's rollouts in float, all in one batch on this processor. Raises ImportError if it is not
    installed.
    """
    loop = mujoco_of(contest, robot)
    return loop.mjx_rollout(loop.states_of(start.q, start.v), start.tau, DT)


def mujoco_of(contest: Contest, robot: Robot, cone: str = "") -> MujocoLoop:
    urdf = contest.urdf.read_text(encoding="utf-8")
    return MujocoLoop(urdf, robot, touching(contest), FRICTION, cone)


def ours_by_name(contest: Contest, rollouts: int, steps: int) -> dict[str, Way]:
    """Calls of rbdgen by name, with the same number of steps each."""
    robot = standing_robot(contest)
    library, single = library_of(robot), library_of(robot, "float")
    begun = start(library, rollouts, steps)
    return {
        "contact_step, last state": ours(library, begun, last=True),
        "contact_step, all states": ours(library, begun),
        "contact_step, all states, two threads": ours(library, begun, threads=2),
        "contact_step in float, all states": ours(single, begun),
        "contact_step, bound calls": bound_calls(library, begun),
    }


def theirs_by_name(contest: Contest, rollouts: int, steps: int) -> dict[str, Way]:
    """Calls of MuJoCo by name. Raises ImportError if it is not installed."""
    robot = standing_robot(contest)
    begun = start(library_of(robot), rollouts, steps)
    return {
        "MuJoCo with contacts, all states, 1 thread": theirs(contest, robot, begun, 1),
        "MuJoCo with contacts, all states, 2 threads": theirs(contest, robot, begun, 2),
        "MuJoCo with contacts, elliptic cones, 1 thread": theirs(contest, robot, begun, 1, "elliptic"),
    }


def mjx_by_name(contest: Contest, rollouts: int, steps: int) -> dict[str, Way]:
    """Calls of MJX by name. Raises ImportError if it is not installed."""
    robot = standing_robot(contest)
    begun = start(library_of(robot), rollouts, steps)
    return {MJX: by_mjx(contest, robot, begun)}
