"""Compares many rollouts with the same number of calls of `aba`, and with MuJoCo's own threaded rollout.

`python -m benchmarks.rollouts` (or `make bench-rollouts`) prints a table per robot and writes
results/rollouts_<robot>.json, with the time per step in ns for 1024 rollouts of 50 steps in double. All calls
of a row are measured in turns in one run; the smallest time of many repetitions is reported. `aba` is a batch
with the same number of states. MuJoCo runs without contacts, limits, damping and friction; its semi-implicit
Euler step is the same as `step`. A robot with feet also stands on them, with contacts, beside MuJoCo and MJX,
see `standing`. With --before COMMIT only this tree and another commit are compared, see `before`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np
from rich.console import Group
from rich.table import Table

from benchmarks import before, standing
from benchmarks.batch import RESULTS, Json, least
from benchmarks.bench import attempt, processor
from benchmarks.contestants import SIX, Contest
from benchmarks.peers.mujoco_loop import MujocoLoop
from benchmarks.tables import print_tables
from benchmarks.toolchain import ToolError
from rbdgen.model.build import Robot
from rbdgen.options import Options
from rbdgen.pipeline.page import build_library
from rbdgen.pipeline.robot import load_robot
from rbdgen.runtime import Library

ROBOTS: Final = ("arm7", "quadruped12", "humanoid30")
FUNCTIONS: Final = ("aba", "step", "step_rk4")
ROLLOUTS: Final = 1024
STEPS: Final = 50
DT: Final = 1e-3

Way = Callable[[], object]


def main() -> None:
    """Measures the robots named on the command line, by default an arm and a quadruped."""
    print_tables(__doc__, ROBOTS, tables, compared)


def compared(contest: Contest, commit: str, repetitions: int) -> Table:
    """The rollouts of this tree and of another commit."""
    return before.compare_packages(contest, SIX, commit, FUNCTIONS, once, repetitions)


def once(library: Library) -> before.Ways:
    """The time of each way to compute many steps."""
    return {name: partial(least, way, 1, 2) for name, way in ours(library).items()}


def tables(contest: Contest, repetitions: int) -> Group:
    """Measures a robot, and a robot with feet also on the ground, and returns a table of each."""
    found = [measured(contest, repetitions)]
    if standing.stands(contest):
        found.append(standing.measured(contest, repetitions, ROLLOUTS, STEPS))
    return Group(*found)


def measured(contest: Contest, repetitions: int) -> Table:
    """Measures a robot, writes the report to the folder of results, and returns it as a table."""
    found = report(contest, repetitions)
    path = RESULTS / f"rollouts_{contest.name}.json"
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    title = f"{found['robot']}: {found['rollouts']} rollouts of {found['steps']} steps"
    table = Table(title=title, caption=found["machine"])
    for heading in ("way", "ns a step", "ms in all", "throughput, aba = 1"):
        table.add_column(heading, justify="left" if heading == "way" else "right")
    for name, ns in found["ways"].items():
        whole = ns * found["rollouts"] * found["steps"] / 1e6
        table.add_row(name, f"{ns:.1f}", f"{whole:.2f}", f"{found['ways']['aba'] / ns:.2f}")
    return table


def report(contest: Contest, repetitions: int) -> Json:
    """Nanoseconds per step, by way of computing it."""
    robot = load_robot(contest.urdf, contest.base, mimic="independent")
    ways = ours(build_library(robot, Options.of(functions=FUNCTIONS)))
    ways |= attempt("MuJoCo", lambda: theirs(contest.urdf.read_text(encoding="utf-8"), robot)) or {}
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(repetitions):
        for name, way in ways.items():
            best[name] = min(best[name], least(way, 1, 2) / (ROLLOUTS * STEPS))
    return {
        "robot": contest.name,
        "machine": processor(),
        "rollouts": ROLLOUTS,
        "steps": STEPS,
        "ways": best,
    }


def velocities_and_torques(nv: int) -> tuple[Any, Any]:
    """Velocities near rest, and torques that cause little motion in such a short time."""
    generator = np.random.default_rng(0)
    v = 0.1 * generator.standard_normal((ROLLOUTS, nv))
    return v, 0.1 * generator.standard_normal((ROLLOUTS, STEPS, nv))


def ours(library: Library) -> dict[str, Way]:
    """Calls of rbdgen by name, with the same number of steps each."""
    q = library.random(0, (ROLLOUTS,))
    v, tau = velocities_and_torques(library.manifest["nv"])
    aba, step, fourth = (library.functions[name] for name in FUNCTIONS)
    batch = aba.bind(q, v, np.ascontiguousarray(tau[:, 0]))

    def batches() -> None:
        for _ in range(STEPS):
            batch()

    def rolled(function: Any, **options: Any) -> Way:
        return lambda: function.rollout(q, v, tau, DT, **options)

    return {
        "aba": batches,
        "rollout, last state": rolled(step, last=True),
        "rollout, all states": rolled(step),
        "rollout, last state, two threads": rolled(step, last=True, threads=2),
        "rollout of fourth order, last state": rolled(fourth, last=True),
    }


def theirs(urdf: str, robot: Robot) -> dict[str, Way]:
    """Calls of MuJoCo's rollout. Raises ImportError if MuJoCo is not installed."""
    loop = MujocoLoop(urdf, robot)
    states = loop.random_states(ROLLOUTS)
    _, tau = velocities_and_torques(robot.model.nv)
    return {
        f"MuJoCo, all states, {threads} thread{'s' * (threads > 1)}": loop.rollout(states, tau, DT, threads)
        for threads in (1, 2)
    }


if __name__ == "__main__":
    try:
        main()
    except ToolError as error:
        sys.exit(f"bench-rollouts: {error}")
