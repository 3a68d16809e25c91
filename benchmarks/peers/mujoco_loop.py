"""Measures MuJoCo: for every state, Python sets the state and calls `mj_inverse` or `mj_forward`, on one
core.

Contacts, limits, damping and friction are disabled, so that the dynamics are those that rbdgen computes. Feet
that are given are spheres on a plane, with contacts.
`mj_forward` also computes other parts of a simulation step, as it does for users of MuJoCo.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from timeit import repeat
from typing import Any

import numpy as np

from benchmarks.peers.free_joint import world_velocity
from benchmarks.states import Rows, States
from rbdgen.description.contacts import Point
from rbdgen.model.build import Robot

FUNCTIONS = ("rnea", "aba")


class MujocoLoop:
    """A robot in MuJoCo. Raises ImportError if MuJoCo is not installed."""

    def __init__(
        self, urdf: str, robot: Robot, feet: Sequence[Point] = (), friction: float = 1.0, cone: str = ""
    ) -> None:
        import mujoco  # noqa: PLC0415  (a contestant that may be missing)

        self._mujoco = mujoco
        self._floating = robot.base == "floating"
        spec = mujoco.MjSpec.from_string(urdf)
        bodies = robot.model.bodies
        if self._floating:
            spec.body(bodies[0].name).add_freejoint(name=bodies[0].joint.name)
        if feet:
            _stand(mujoco, spec, feet, friction)
        self._model: Any = spec.compile()
        if cone:
            self._model.opt.cone = getattr(mujoco.mjtCone, f"mjCONE_{cone.upper()}")
        for array in (self._model.dof_damping, self._model.dof_frictionloss, self._model.dof_armature):
            array[:] = 0.0
        off = mujoco.mjtDisableBit.mjDSBL_LIMIT if feet else mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
        self._model.opt.disableflags |= off
        self._model.opt.gravity[:] = [float(x) for x in robot.model.gravity]
        self._data = mujoco.MjData(self._model)
        q: list[int] = []
        v: list[int] = []
        for joint in (body.joint for body in bodies):
            place = self._model.joint(joint.name)
            q += range(int(place.qposadr[0]), int(place.qposadr[0]) + joint.nq)
            v += range(int(place.dofadr[0]), int(place.dofadr[0]) + joint.nv)
        self._q, self._v = np.argsort(q), np.argsort(v)

    def calls(self, states: States) -> Mapping[str, Callable[[], Rows]]:
        """Loops over all states, by function; results are in MuJoCo's axes and rbdgen's order."""
        mujoco, model, data = self._mujoco, self._model, self._data
        placed = world_velocity(states, floating=self._floating)
        q = np.ascontiguousarray(placed.q[:, self._q])
        v, a, tau = (np.ascontiguousarray(x[:, self._v]) for x in (placed.v, placed.a, placed.tau))
        results = np.empty_like(v)
        order = np.argsort(self._v)

        def rnea() -> Rows:
            for k in range(len(q)):
                data.qpos, data.qvel, data.qacc = q[k], v[k], a[k]
                mujoco.mj_inverse(model, data)
                results[k] = data.qfrc_inverse
            return results[:, order]

        def aba() -> Rows:
            for k in range(len(q)):
                data.qpos, data.qvel, data.qfrc_applied = q[k], v[k], tau[k]
                mujoco.mj_forward(model, data)
                results[k] = data.qacc
            return results[:, order]

        return {"rnea": rnea, "aba": aba}

    def random_states(self, count: int) -> Rows:
        """Random states near rest for MuJoCo's rollouts: time, q and v, in MuJoCo's order."""
        generator, model = np.random.default_rng(0), self._model
        q = generator.uniform(-1, 1, (count, model.nq))
        if self._floating:
            q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
        return np.hstack([np.zeros((count, 1)), q, 0.1 * generator.standard_normal((count, model.nv))])

    def states_of(self, q: Rows, v: Rows) -> Rows:
        """The states of MuJoCo's rollouts for states of rbdgen."""
        placed = world_velocity(States(q, v, 0 * v, 0 * v), floating=self._floating)
        return np.hstack([np.zeros((len(q), 1)), placed.q[:, self._q], placed.v[:, self._v]])

    def rollout(self, states: Rows, tau: Rows, dt: float, threads: int) -> Callable[[], Rows]:
        """MuJoCo's own rollout: returns all states for states (count, 1 + nq + nv) and tau (count, steps,
        nv)."""
        from mujoco.rollout import Rollout  # noqa: PLC0415

        self._model.opt.timestep = dt
        data = [self._mujoco.MjData(self._model) for _ in range(threads)]
        applied = self._mujoco.mjtState.mjSTATE_QFRC_APPLIED
        pool = Rollout(nthread=threads)
        tau = np.ascontiguousarray(tau[..., self._v])

        def run() -> Rows:
            given = {"control": tau, "control_spec": int(applied.value)}
            found: Rows = pool.rollout(self._model, data, states, **given)[0]
            return found

        return run

    def mjx_rollout(self, states: Rows, tau: Rows, dt: float) -> Callable[[], Rows]:
        """A function that computes all rollouts by MJX, in float and in one compiled batch.

        Raises ImportError if MJX or JAX is not installed.
        """
        import jax  # noqa: PLC0415
        from mujoco import mjx  # noqa: PLC0415

        self._model.opt.timestep = dt
        model, nq = mjx.put_model(self._model), self._model.nq
        begun = mjx.make_data(self._model)

        def rolled(state: Any, applied: Any) -> Any:
            def step(data: Any, tau: Any) -> tuple[Any, Any]:
                moved = mjx.step(model, data.replace(qfrc_applied=tau))
                return moved, jax.numpy.concatenate([moved.qpos, moved.qvel])

            data = begun.replace(qpos=state[1 : 1 + nq], qvel=state[1 + nq :])
            return jax.lax.scan(step, data, applied)[1]

        batch = jax.jit(jax.vmap(rolled))
        given = (np.float32(states), np.float32(tau[..., self._v]))
        batch(*given)  # it is compiled here

        def run() -> Rows:
            return np.asarray(batch(*given))

        return run


def _stand(mujoco: Any, spec: Any, feet: Sequence[Point], friction: float) -> None:
    """Puts small spheres without mass on a plane, the only shapes that touch."""
    for body in spec.bodies:
        for geom in list(body.geoms):
            spec.delete(geom)
    common: dict[str, Any] = {"friction": [friction, 0, 0], "condim": 3}
    kinds = mujoco.mjtGeom
    plane = {"size": [0, 0, 1], "contype": 1, "conaffinity": 2}
    spec.worldbody.add_geom(type=kinds.mjGEOM_PLANE, **plane, **common)
    for foot in feet:
        ball = {
            "size": [foot.radius, 0, 0],
            "pos": list(foot.point),
            "mass": 0,
            "contype": 2,
            "conaffinity": 1,
        }
        spec.body(foot.link).add_geom(type=kinds.mjGEOM_SPHERE, **ball, **common)


def measure(urdf: str, robot: Robot, states: States, repetitions: int) -> dict[str, float]:
    """The smallest time per state of several repetitions in ns, by function."""
    calls = MujocoLoop(urdf, robot).calls(states)
    return {
        name: 1e9 * min(repeat(call, number=1, repeat=repetitions)) / len(states)
        for name, call in calls.items()
    }
