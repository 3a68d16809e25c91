"""A functional environment as environments of Gymnasium: one copy, or many that C computes at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdgen.errors import BuildError, OptionError
from rbdgen.learning.environment import Environment, State

try:
    import gymnasium
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space
except ImportError as error:
    raise BuildError(
        f"Gymnasium is missing or too old ({error}); pip install -U 'rbdgen[gymnasium]'"
    ) from error


class Single(gymnasium.Env[Any, Any]):  # type: ignore[misc]  # the extra may be missing
    """One copy of an environment. `reset(seed=...)` seeds the generator that `start` draws with."""

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012  (Gymnasium's own declaration)

    def __init__(self, environment: Environment) -> None:
        self.environment = _of_numpy(environment)
        self.observation_space, self.action_space = _spaces(environment)
        self.state: State | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        del options
        self.state = self.environment.reset(self.np_random)
        return self.state.obs, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if self.state is None:
            raise OptionError("step: the environment has no state yet; call reset() first")
        self.state = state = self.environment.step(self.state, action)
        return state.obs, float(state.reward), bool(state.done), bool(state.truncated), {}


class Vector(VectorEnv[Any, Any, Any]):  # type: ignore[misc]
    """Many copies of an environment, which C steps at once.

    A copy whose episode has ended starts again at its next step, which ignores its action and has the reward
    0 (`AutoresetMode.NEXT_STEP`).
    """

    def __init__(self, environment: Environment, num_envs: int) -> None:
        if not (isinstance(num_envs, int) and num_envs >= 1):
            raise OptionError(f"num_envs={num_envs!r}: give a positive number of copies")
        self.environment = _of_numpy(environment)
        self.num_envs = num_envs
        self.metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}
        self.single_observation_space, self.single_action_space = _spaces(environment)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.state: State | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        del options
        self.state = self.environment.reset(self.np_random, (self.num_envs,))
        return self.state.obs, {}

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        if self.state is None:
            raise OptionError("step: the environments have no state yet; call reset() first")
        ended = self.state.done | self.state.truncated
        state = self.environment.step(self.state, actions)
        if ended.any():
            fresh = self.environment.reset(self.np_random, (self.num_envs,))
            state = self.environment.select(ended, fresh, state)
        self.state = state
        return state.obs, state.reward, state.done, state.truncated, {}


def _of_numpy(environment: Environment) -> Environment:
    if environment.framework != "numpy":
        raise OptionError(
            f"Gymnasium has environments of NumPy, not of {environment.framework}; leave framework out"
        )
    return environment


def _spaces(environment: Environment) -> tuple[Any, Any]:
    """The spaces of observations and actions of one copy."""
    dtype = environment.dtype
    shape = environment.reset(0).obs.shape
    observations = gymnasium.spaces.Box(-np.inf, np.inf, shape, dtype.type)
    return observations, gymnasium.spaces.Box(-1.0, 1.0, (environment.actions,), dtype.type)
