"""Rollouts of a robot that stands on its feet: `contact_step` beside MuJoCo's rollout with contacts.

Both start from the same states and apply the same torques, which hold the robot up. MuJoCo has its default
settings; its feet are small spheres without mass on a plane, and it finds contacts among these alone. Joint
limits, damping and friction in joints are off. The CPU time of all threads is reported beside the time on the
clock, as other programs change it less.
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
from rbdgen.description.contacts import Point
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
"""The angles of each leg in rad."""

Way = Callable[[], object]


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
    best = {name: [float("inf")] * 2 for name in ways}
    for _ in range(repetitions):
        for name, way in ways.items():
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


def feet_of(contest: Contest) -> list[Point]:
    """The feet on which a robot stands; empty for robots without legs of three joints."""
    contacts = IN_CONTACT.contacts.get(contest.name, ())
    return [replace(x, radius=RADIUS) for x in contacts if isinstance(x, Point)]


def standing_robot(contest: Contest) -> Robot:
    return load_robot(contest.urdf, contest.base, mimic="independent", contacts=feet_of(contest))


def library_of(robot: Robot, real: Real = "double") -> Library:
    return build_library(robot, Options.of(functions=FUNCTIONS, real=real))


def start(library: Library, rollouts: int, steps: int) -> Start:
    """States near rest with all feet on the ground, and the torques that carry the weight."""
    nv, feet = library.nv, len(library.contacts)
    q = library.neutral()
    q[7:] = np.tile(CROUCH, feet)
    q[2] = RADIUS - library.contact_pose(q)[0][:, 2].min()
    J, weight = library.contact_jacobian(q), library.gravity(q)
    forces = np.linalg.lstsq(J[:, :6].T, weight[:6], rcond=None)[0]
    tau = weight - J.T @ forces
    tau[:6] = 0
    v = 0.05 * np.random.default_rng(0).standard_normal((rollouts, nv))
    return Start(np.tile(q, (rollouts, 1)), v, np.tile(tau, (rollouts, steps, 1)))


def ours(library: Library, start: Start, **options: Any) -> Way:
    """Rollouts of `contact_step`."""
    given = (x.astype(library.contact_step.dtype) for x in start)
    q, v, tau = given
    friction = np.full(len(library.contacts), FRICTION, q.dtype)
    return lambda: library.rollout(q, v, tau, DT, friction=friction, **options)


def theirs(contest: Contest, robot: Robot, start: Start, threads: int, cone: str = "") -> Way:
    """MuJoCo's rollouts, with its default cones or with "elliptic" ones. Raises ImportError if MuJoCo is not
    installed."""
    loop = MujocoLoop(contest.urdf.read_text(encoding="utf-8"), robot, feet_of(contest), FRICTION, cone)
    return loop.rollout(loop.states_of(start.q, start.v), start.tau, DT, threads)


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
