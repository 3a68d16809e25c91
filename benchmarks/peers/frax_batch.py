"""Measures frax, rigid-body dynamics in JAX: `vmap` over all states in double, compiled, on one core of the
CPU.

It runs in its own process, so that JAX's threads and settings do not affect others.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from timeit import repeat
from typing import Any

from benchmarks.peers.free_joint import world_velocity
from benchmarks.states import States, random_states
from benchmarks.toolchain import ToolError
from rbdgen.model.build import Robot

ROOT = Path(__file__).parents[2]

SETTINGS = {
    "JAX_PLATFORMS": "cpu",
    "JAX_ENABLE_X64": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
    "OPENBLAS_NUM_THREADS": "1",
}
"""Environment variables; frax recommends the last two for the CPU."""


def measure(urdf: Path, robot: Robot, count: int, repetitions: int) -> dict[str, float]:
    """The time per state in ns, by function.

    Raises ToolError if frax is not installed or refuses the robot.
    """
    if find_spec("frax") is None:
        raise ToolError("frax is not installed (pip install frax)")
    joints = [joint.name for joint in robot.joints]
    command = [sys.executable, "-m", "benchmarks.peers.frax_batch", str(urdf), robot.base, json.dumps(joints)]
    done = subprocess.run(
        [*command, str(count), str(repetitions)],
        cwd=ROOT,
        env={**os.environ, **SETTINGS},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise ToolError(f"frax on {urdf.name}: {(done.stderr.strip() or 'no message').splitlines()[-1]}")
    times: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return times


def calls(urdf: Path, joints: list[str], states: States, *, floating: bool) -> dict[str, Any]:
    """Compiled calls for all states, by function, which return results in frax's axes."""
    import jax  # noqa: PLC0415  (a contestant that may be missing)
    from frax import Robot as Frax  # noqa: PLC0415

    robot = Frax(str(urdf), joint_ordering=joints, floating_base="quaternion" if floating else None)
    placed = world_velocity(states, floating=floating)
    q, v, a, tau = map(jax.numpy.asarray, (placed.q, placed.v, placed.a, placed.tau))
    up = jax.numpy.array([0.0, 0.0, 9.81, 0.0, 0.0, 0.0])
    rnea = jax.jit(jax.vmap(lambda q, v, a: robot.rnea(q, v, a, up, None)))
    aba = jax.jit(jax.vmap(lambda q, v, tau: robot.forward_dynamics(q, v, tau, None)))
    crba = jax.jit(jax.vmap(robot.mass_matrix))
    minv = jax.jit(jax.vmap(lambda q: robot.mass_matrix_inverse(robot.mass_matrix(q))))
    return {
        "rnea": lambda: rnea(q, v, a).block_until_ready(),
        "aba": lambda: aba(q, v, tau).block_until_ready(),
        "crba": lambda: crba(q).block_until_ready(),
        "minv": lambda: minv(q).block_until_ready(),
    }


def main() -> None:
    """Prints the times as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("urdf", type=Path)
    parser.add_argument("base", choices=("fixed", "floating"))
    parser.add_argument("joints", type=json.loads)
    parser.add_argument("count", type=int)
    parser.add_argument("repetitions", type=int)
    given = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    floating = given.base == "floating"
    nv = len(given.joints) + (6 if floating else 0)
    states = random_states(nv, floating=floating, count=given.count)
    times = {}
    for name, call in calls(given.urdf, given.joints, states, floating=floating).items():
        call()
        times[name] = 1e9 * min(repeat(call, number=1, repeat=given.repetitions)) / len(states)
    print(json.dumps(times))


if __name__ == "__main__":
    main()
