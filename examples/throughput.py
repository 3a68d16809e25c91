"""Steps per second of the quadruped on four feet: rollouts of `contact_step`, beside those of MuJoCo.

    python examples/throughput.py                   1024 rollouts of 50 steps
    python examples/throughput.py ROLLOUTS STEPS

Both start from the same states near rest, with the torques that carry the weight and the same feet, friction
and time step, and return all states. MuJoCo takes part if it is installed, with its default settings, and
finds contacts between the feet and the ground alone.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import rbdgen
from rbdgen.runtime import Library

Array = npt.NDArray[np.float64]

URDF = Path(__file__).parents[1] / "robots" / "quadruped12.urdf"
SHANKS = [f"{end}_{side}_shank" for end in ("front", "hind") for side in ("left", "right")]
FOOT, RADIUS = (0.0, 0.0, -0.2085), 0.005
"""The centre of a foot in its shank and its radius, in m."""

STEP, FRICTION, CROUCH, REPETITIONS = 2e-3, 0.7, (0.0, 0.7, -1.4), 5
"""The time step in s, the coefficient of friction, the angles of a leg in rad, and how often is measured."""


class Start(NamedTuple):
    """The states (rollouts, ...) and torques (rollouts, steps, nv) of rollouts; the base is not turned."""

    q: Array
    v: Array
    tau: Array


def quadruped() -> Library:
    feet = [
        rbdgen.Point(shank.removesuffix("shank") + "foot", shank, FOOT, radius=RADIUS) for shank in SHANKS
    ]
    robot = rbdgen.load_robot(URDF, base="floating", contacts=feet)
    return rbdgen.build(robot, functions=["contact_step", "contact_jacobian", "contact_pose", "gravity"])


def start(library: Library, rollouts: int, steps: int) -> Start:
    """States near rest with all feet on the ground, and the torques that carry the weight."""
    q = library.neutral()
    q[7:] = np.tile(CROUCH, len(SHANKS))
    q[2] = RADIUS - library.contact_pose(q)[0][:, 2].min()
    J, weight = library.contact_jacobian(q), library.gravity(q)
    tau = weight - J.T @ np.linalg.lstsq(J[:, :6].T, weight[:6], rcond=None)[0]
    tau[:6] = 0
    v = 0.05 * np.random.default_rng(0).standard_normal((rollouts, library.nv))
    return Start(np.tile(q, (rollouts, 1)), v, np.tile(tau, (rollouts, steps, 1)))


def ours(library: Library, begun: Start, threads: int) -> Array:
    """The positions of the base after every step, (rollouts, steps, 3)."""
    friction = np.full(len(SHANKS), FRICTION)
    found = library.rollout(*begun, STEP, friction=friction, threads=threads)
    return np.asarray(found.q[..., :3])


def mujoco_rollout(library: Library, threads: int) -> Callable[[Start], Array]:
    """The same rollouts by MuJoCo."""
    import mujoco  # noqa: PLC0415  (optional)
    from mujoco.rollout import Rollout  # noqa: PLC0415

    model = _mujoco_model(mujoco)
    data, pool = [mujoco.MjData(model) for _ in range(threads)], Rollout(nthread=threads)
    order = [model.joint(joint["name"]).dofadr[0] for joint in library.manifest["joints"]]
    applied = int(mujoco.mjtState.mjSTATE_QFRC_APPLIED.value)

    def run(begun: Start) -> Array:
        count, q = len(begun.q), np.empty_like(begun.q)
        v, tau = begun.v.copy(), begun.tau.copy()
        q[:, :3], q[:, 3:7] = begun.q[:, :3], begun.q[:, [6, 3, 4, 5]]
        q[:, np.array(order) + 1], v[:, order], tau[..., order] = (
            begun.q[:, 7:],
            begun.v[:, 6:],
            begun.tau[..., 6:],
        )
        states = np.hstack([np.zeros((count, 1)), q, v])
        found = pool.rollout(model, data, states, control=tau, control_spec=applied)[0]
        return np.asarray(found[..., 1:4])

    return run


def _mujoco_model(mujoco: Any) -> Any:
    """The quadruped with spheres as feet on a plane; limits, damping and friction of joints are off."""
    spec = mujoco.MjSpec.from_string(URDF.read_text(encoding="utf-8"))
    spec.worldbody.first_body().add_freejoint()
    for body in spec.bodies:
        for geom in list(body.geoms):
            spec.delete(geom)
    touch: dict[str, Any] = {"friction": [FRICTION, 0, 0], "condim": 3}
    plane, sphere = mujoco.mjtGeom.mjGEOM_PLANE, mujoco.mjtGeom.mjGEOM_SPHERE
    spec.worldbody.add_geom(type=plane, size=[0, 0, 1], contype=1, conaffinity=2, **touch)
    for shank in SHANKS:
        foot = {"size": [RADIUS, 0, 0], "pos": list(FOOT), "mass": 0, "contype": 2, "conaffinity": 1}
        spec.body(shank).add_geom(type=sphere, **foot, **touch)
    model = spec.compile()
    model.opt.timestep = STEP
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_LIMIT
    for array in (model.dof_damping, model.dof_frictionloss, model.dof_armature):
        array[:] = 0.0
    return model


def main() -> None:
    """Prints a table of steps per second, by program and number of threads."""
    rollouts, steps = map(int, sys.argv[1:]) if len(sys.argv) > 1 else (1024, 50)
    library = quadruped()
    begun = start(library, rollouts, steps)
    print(f"the quadruped on four feet: {rollouts} rollouts of {steps} steps of {1000 * STEP:g} ms")
    print("program   threads   million steps per second   change of height in mm")
    for threads in sorted({1, os.cpu_count() or 1}):
        ways: dict[str, Callable[[Start], Array]] = {
            "rbdgen": lambda given, n=threads: ours(library, given, n)
        }
        if find_spec("mujoco") is not None:
            ways["MuJoCo"] = mujoco_rollout(library, threads)
        for name, way in ways.items():
            seconds = np.inf
            for _ in range(REPETITIONS):
                began = time.perf_counter()
                found = way(begun)
                seconds = min(seconds, time.perf_counter() - began)
            sunk = 1000 * np.abs(found[:, -1, 2] - begun.q[:, 2]).max()
            print(f"{name:7} {threads:9} {rollouts * steps / seconds / 1e6:26.3f} {sunk:24.2f}")


if __name__ == "__main__":
    main()
