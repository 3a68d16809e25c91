"""A functional environment: `state = env.reset(random, leading)`, `state = env.step(state, action)`.

The interface is that of Brax (Freeman et al. 2021): the whole state is a value, and nothing is kept between
calls. The integration step of a library computes the motion of all copies in one call of C.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from rbdgen.errors import BuildError, OptionError
from rbdgen.runtime import Library
from rbdgen.runtime.rollout import Step
from rbdgen.wording import choose

Start = tuple[Any, Any] | Callable[[Any, tuple[int, ...]], tuple[Any, Any]]


class State(NamedTuple):
    """The states of some copies of an environment, all with the same leading axes. JAX takes it as a tree."""

    q: Any
    """The configurations (..., nq)."""
    v: Any
    """The velocities (..., nv)."""
    obs: Any
    """The observations (..., nobs)."""
    reward: Any
    """The rewards of the last action (...)."""
    done: Any
    """Whether the episode has ended by itself (...): as `done` says, or because a number is not finite."""
    truncated: Any
    """Whether the episode has lasted `horizon` actions (...)."""
    steps: Any
    """The number of actions so far (...)."""
    results: tuple[Any, ...]
    """The further results of the last integration step, such as the impulses of contacts."""


class Environment:
    """An environment whose motion is an integration step of a library, such as `step` or `contact_step`.

    The functions that define the task take arrays with any leading axes, of NumPy, or of JAX if
    `framework="jax"`. Then `reset` and `step` work under `jit`, `vmap`, `scan` and `grad`.

    Args:
        library: the library.
        step: the name of its integration step; None for the only one that it has.
        dt: the time step of the integration, in s.
        substeps: the number of integration steps for each action.
        inputs: further inputs of the step by name, such as `{"friction": 0.8 * np.ones(4)}`.
        start: the first q (nq,) and v (nv,), or a function `(random, leading) -> (q, v)` that draws them with
            these leading axes. `random` is what `reset` is given: for NumPy a generator, for JAX a key. None
            means the neutral configuration at rest.
        joints: the names of the joints that actions drive; None for all.
        effort: the torques or forces of the actions 1, in N m or N: one number, or one for each element of v
            that belongs to `joints`. None means the limits of the description.
        observe: `(q, v) -> obs`; None for q and v in a row.
        reward: `(q, v, action) -> (...)`, after the action; None for 0.
        done: `(q, v) -> (...)`, whether an episode ends; None for never.
        horizon: the number of actions after which episodes are truncated; None for never.
        framework: "numpy" or "jax".
        threads: the number of threads of C, for NumPy.

    Attributes:
        actions: the number of elements of an action. They are from -1 to 1; others are clipped.

    Raises:
        OptionError: there is no such step, joint or input, or a joint has no limit of effort.
        BuildError: JAX is missing.
    """

    def __init__(
        self,
        library: Library,
        step: str | None = None,
        *,
        dt: float,
        substeps: int = 1,
        inputs: Mapping[str, Any] | None = None,
        start: Start | None = None,
        joints: Sequence[str] | None = None,
        effort: Any = None,
        observe: Callable[[Any, Any], Any] | None = None,
        reward: Callable[[Any, Any, Any], Any] | None = None,
        done: Callable[[Any, Any], Any] | None = None,
        horizon: int | None = None,
        framework: str = "numpy",
        threads: int = 1,
    ) -> None:
        self.library = library
        self.framework = framework
        self.horizon = horizon
        self._step = _step_of(library, step)
        self._arrays = _module(framework)
        self._compiled = getattr(library.jax, self._step.__name__) if framework == "jax" else None
        if not (dt > 0 and isinstance(substeps, int) and substeps >= 1):
            raise OptionError(
                f"dt={dt!r}, substeps={substeps!r}: give a positive time in s and number of steps"
            )
        self._dt, self._substeps, self._threads = float(dt), substeps, threads
        self._inputs = _inputs_of(self._step, inputs or {})
        self._drive = self._arrays.asarray(_drive(library, joints, effort, self._step.dtype))
        self.actions: int = self._drive.shape[0]
        self._start: Start = (library.neutral(), np.zeros(library.nv)) if start is None else start
        self._observe, self._reward, self._done = observe, reward, done

    def __repr__(self) -> str:
        return f"<environment of {self.library.name}.{self._step.__name__}, {self.actions} actions>"

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of all numbers, which is the library's."""
        return self._step.dtype

    def reset(self, random: Any = None, leading: Sequence[int] = ()) -> State:
        """The states of copies (*leading) at the start of an episode; `random` is passed to `start`."""
        xp, axes = self._arrays, tuple(leading)
        if self._compiled is None:
            random = np.random.default_rng(random)
        q, v = self._start(random, axes) if callable(self._start) else self._start
        q = xp.broadcast_to(xp.asarray(q, self.dtype), (*axes, self.library.nq))
        v = xp.broadcast_to(xp.asarray(v, self.dtype), (*axes, self.library.nv))
        no = xp.zeros(axes, bool)
        results = tuple(xp.zeros((*axes, *y.shape), self.dtype) for y in self._step.signature.outputs[2:])
        return State(
            q,
            v,
            self.observation(q, v),
            xp.zeros(axes, self.dtype),
            no,
            no,
            xp.zeros(axes, np.int32),
            results,
        )

    def step(self, state: State, action: Any) -> State:
        """The states after an action (..., actions). Episodes that have ended go on like the others."""
        xp = self._arrays
        action = xp.clip(xp.asarray(action, self.dtype), -1, 1)
        q, v, *results = self._moved(state.q, state.v, action @ self._drive)
        finite = xp.isfinite(q).all(-1) & xp.isfinite(v).all(-1)
        reward = xp.zeros(finite.shape, self.dtype)
        if self._reward is not None:
            reward = xp.where(finite, self._reward(q, v, action), reward).astype(self.dtype)
        done = ~finite if self._done is None else ~finite | self._done(q, v)
        steps = state.steps + np.int32(1)
        truncated = xp.zeros(steps.shape, bool) if self.horizon is None else steps >= self.horizon
        return State(q, v, self.observation(q, v), reward, done, truncated, steps, tuple(results))

    def select(self, which: Any, one: State, other: State) -> State:
        """The states of `one` where `which` (...) is true, and those of `other` elsewhere."""
        xp = self._arrays

        def chosen(x: Any, y: Any) -> Any:
            return xp.where(which.reshape(which.shape + (1,) * (x.ndim - which.ndim)), x, y)

        *fields, results = zip(one, other, strict=True)
        return State._make([*(chosen(*pair) for pair in fields), tuple(map(chosen, *results))])

    def observation(self, q: Any, v: Any) -> Any:
        """The observations (..., nobs) of states."""
        found = self._arrays.concatenate([q, v], -1) if self._observe is None else self._observe(q, v)
        return found.astype(self.dtype)

    def gymnasium(self, num_envs: int | None = None) -> Any:
        """The environment as a `gymnasium.Env`, or as a `gymnasium.vector.VectorEnv` of `num_envs` copies.

        Raises:
            BuildError: Gymnasium is missing.
            OptionError: `num_envs` is no positive number, or the framework is not NumPy.
        """
        module = import_module("rbdgen.learning.in_gymnasium")  # late, as it needs an extra
        return module.Single(self) if num_envs is None else module.Vector(self, num_envs)

    def _moved(self, q: Any, v: Any, tau: Any) -> Sequence[Any]:
        """The results of the integration after all substeps."""
        names = [x.name for x in self._step.signature.inputs]
        rolling = self._step.signature.rolling
        assert rolling is not None
        control = names[rolling.control]
        further = {**self._inputs, _time_step(self._step): self._dt}
        if self._compiled is not None:
            results = (q, v)
            for _ in range(self._substeps):
                now = dict(zip(names, results[:2], strict=False))
                results = tuple(self._compiled(**now, **{control: tau}, **further))
            return results
        if self._substeps > 1:
            tau = np.repeat(tau[..., None, :], self._substeps, -2)
            options: dict[str, Any] = {"last": True, "threads": self._threads}
            found = self._step.rollout(**{names[0]: q, names[1]: v, control: tau}, **further, **options)
        else:
            given = {names[0]: q, names[1]: v, control: tau, **further}
            found = self._step(**given, threads=self._threads)
        return tuple(found)


def _step_of(library: Library, name: str | None) -> Step:
    """The integration step of this name, or the only one."""
    steps = {
        key: function
        for key, function in library.functions.items()
        if isinstance(function, Step) and getattr(function.signature.rolling, "feedback", False)
    }
    if name is None and len(steps) == 1:
        (name,) = steps
    if name not in steps:
        there = ", ".join(steps) or "none; generate functions=['step'], or 'contact_step' for contacts"
        told = "step: name one" if name is None else f"step={name!r}: is no integration step of q and v"
        raise OptionError(f"{told}; there are: {there}")
    return steps[name]


def _module(framework: str) -> Any:
    """The module of arrays of a framework."""
    if framework == "numpy":
        return np
    if framework != "jax":
        raise OptionError(f"framework={framework!r}: is not known; take 'numpy' or 'jax'")
    try:
        import jax.numpy as jnp  # noqa: PLC0415  (an extra)
    except ImportError as error:
        raise BuildError(f"framework='jax': JAX is missing ({error}); pip install 'rbdgen[jax]'") from error
    return jnp


def _time_step(step: Step) -> str:
    return next(x.name for x in step.signature.inputs if x.kind == "time_step")


def _inputs_of(step: Step, given: Mapping[str, Any]) -> dict[str, Any]:
    """The further inputs of a step. Raises OptionError for one that is unknown or missing."""
    rolling = step.signature.rolling
    assert rolling is not None
    others = [x for k, x in enumerate(step.signature.inputs) if k >= 2 and k != rolling.control]
    others = [x for x in others if x.kind != "time_step"]
    for name in given:
        if name not in [x.name for x in others]:
            remedy = choose(name, [x.name for x in others]) if others else "it has none"
            raise OptionError(f"inputs: {step.__name__} has no further input '{name}'; {remedy}")
    for x in others:
        if x.name not in given and x.default is None and x.kind != "table":
            raise OptionError(
                f"inputs: {step.__name__} needs {x.name} {x.shape}, {x.meaning}; give "
                f"inputs={{'{x.name}': ...}}"
            )
    return {name: np.asarray(value, step.dtype) for name, value in given.items()}


def _drive(library: Library, joints: Sequence[str] | None, effort: Any, dtype: Any) -> Any:
    """The matrix (actions, nv) that turns actions into torques."""
    rows = library.manifest["joints"]
    names = list(library.joint_names) if joints is None else list(joints)
    for name in names:
        if name not in library.joint_names:
            raise OptionError(f"joints: there is no joint '{name}'; {choose(name, library.joint_names)}")
    ends = dict(zip(library.idx_v, (*library.idx_v[1:], library.nv), strict=True))
    driven = [
        (row, k) for row in rows if row["name"] in names for k in range(row["idx_v"], ends[row["idx_v"]])
    ]
    if effort is None:
        without = next((row["name"] for row, _ in driven if row["effort"] is None), None)
        if without is not None:
            raise OptionError(f"joint '{without}' has no limit of effort in the description; give effort=...")
        effort = [row["effort"] for row, _ in driven]
    try:
        strengths = np.broadcast_to(np.asarray(effort, dtype), (len(driven),))
    except (ValueError, TypeError) as error:
        raise OptionError(f"effort={effort!r}: give a number, or {len(driven)} of them") from error
    matrix = np.zeros((len(driven), library.nv), dtype)
    matrix[range(len(driven)), [k for _, k in driven]] = strengths
    return matrix
