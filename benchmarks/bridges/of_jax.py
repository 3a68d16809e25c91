"""JAX, compiled, in double on one core: compares `lib.jax` with bound calls, and with frax if it is
installed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from typing import Any

from benchmarks.bridges.turns import Call, Case, Times
from benchmarks.bridges.turns import cases as all_cases
from benchmarks.peers.frax_batch import SETTINGS

os.environ.update(SETTINGS)  # JAX reads them when it is imported

import jax
import jax.numpy as jnp


def cases(repetitions: int) -> Iterator[tuple[str, Times]]:
    """The cases. frax only takes part for fixed bases; a function that only passes arrays shows JAX's own
    part."""
    return all_cases(contestants, repetitions)


def contestants(case: Case, states: int) -> Mapping[str, tuple[Call, Call]]:
    """Compiled calls that wait for their results. Gradients are those of weighted results by all inputs."""
    functions = {"lib.jax": getattr(case.library.jax, case.function), "frax": _frax(case, states)}
    functions["JAX, a sum"] = lambda *x: x[-1] + x[-2]
    arrays, weights = case.of(states)
    given, w = [jax.device_put(x) for x in arrays], jax.device_put(weights)
    found = {}
    for who, function in functions.items():
        if function is not None:
            loss = lambda *x, function=function: jnp.sum(w * function(*x))  # noqa: E731
            found[who] = _call(jax.jit(function), given), _call(jax.jit(jax.grad(loss, (0, 1, 2))), given)
    return found


def _call(function: Callable[..., Any], given: list[Any]) -> Call:
    return lambda: jax.block_until_ready(function(*given))


def _frax(case: Case, states: int) -> Callable[..., Any] | None:
    if find_spec("frax") is None or case.robot.base == "floating":
        return None
    from frax import Robot as Frax  # noqa: PLC0415

    robot = Frax(case.urdf, joint_ordering=list(case.library.joint_names))
    up = jnp.array([0.0, 0.0, 9.81, 0.0, 0.0, 0.0])
    functions = {
        "rnea": lambda q, v, a: robot.rnea(q, v, a, up, None),
        "aba": lambda q, v, tau: robot.forward_dynamics(q, v, tau, None),
    }
    single = functions[case.function]
    return single if states == 1 else jax.vmap(single)
