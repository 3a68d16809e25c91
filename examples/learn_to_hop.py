"""A hopper learns to jump: gradients go through touchdown and 150 steps of a simulation with contacts.

    python examples/learn_to_hop.py       needs JAX: pip install 'rbdgen[jax]'

A trunk on a leg that can push, above the ground. The force of the leg at every step is what is learned; the
reward is the height of the trunk at the end, less the effort. `contact_step` simulates the robot, and
JAX differentiates the whole motion by `contact_step_vjp`. Without smoothing, a foot that does not touch the
ground gives no gradient. With it, contacts push from a distance, and the smoothing shrinks while it learns.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import rbdgen
from rbdgen.runtime import Library

DT, STEPS, ITERATIONS = 4e-3, 150, 60

STRONGEST, EFFORT, RATE = 60.0, 2e-5, 6.0
"""The largest force of the leg, N; the price of its square; and the length of a step of the descent, N."""

SMOOTHINGS = (1e-3, 1e-4, 1e-5)
"""The smoothings in J, each for a third of all iterations."""


def built() -> Library:
    """A trunk that moves along the vertical, and a leg that slides along it, with a foot."""
    upright: dict[str, Any] = {"type": "prismatic", "axis": (0, 0, 1)}
    built = rbdgen.RobotBuilder("hopper").add_body("rail")
    built.add_body("trunk", parent="rail", mass=2.0, inertia=(0.01, 0.01, 0.01), **upright)
    built.add_body("leg", parent="trunk", mass=0.3, inertia=(1e-3, 1e-3, 1e-3), **upright)
    contacts = [rbdgen.Point("foot", "leg", (0, 0, -0.4))]
    robot = rbdgen.load_robot(built, contacts=contacts)
    return rbdgen.build(robot, functions=["contact_step", "contact_step_vjp"])


def motion(lib: Library, forces: Any, smoothing: Any) -> Any:
    """The heights of the trunk and of the foot at every step, (STEPS, 2)."""
    law = jnp.array([1e-4, 1.0, 1.0, 0.0, 0.05, 0.0]).at[5].set(smoothing)
    ground, friction = jnp.array([[0.0, 0.0, 1.0, 0.0]]), jnp.array([1.0])

    def step(state: Any, force: Any) -> Any:
        q, v = state
        spring = -400.0 * q[1] - 4.0 * v[1]  # keeps the leg near the middle of its range
        tau = jnp.array([0.0, spring - force])
        q, v, *_ = lib.jax.contact_step(q, v, tau, DT, ground, friction, law)
        return (q, v), jnp.array([q[0], q[0] + q[1] - 0.4])

    start = (jnp.array([0.43, 0.0]), jnp.zeros(2))
    return jax.lax.scan(step, start, forces)[1]


def learned(lib: Library, iterations: int = ITERATIONS) -> tuple[np.ndarray, list[float]]:
    """The forces, and the height of the trunk at the end after each iteration, without smoothing."""

    def loss(forces: Any, smoothing: Any) -> Any:
        return -motion(lib, forces, smoothing)[-1, 0] + EFFORT * DT * jnp.sum(forces**2)

    slope = jax.jit(jax.grad(loss))
    height = jax.jit(lambda forces: motion(lib, forces, 0.0)[-1, 0])
    forces, heights = jnp.zeros(STEPS), []
    for k in range(iterations):
        gradient = slope(forces, SMOOTHINGS[k * len(SMOOTHINGS) // iterations])
        forces = jnp.clip(forces - RATE * gradient / jnp.abs(gradient).max(), -STRONGEST, STRONGEST)
        heights.append(float(height(forces)))
    return np.asarray(forces), heights


def main() -> None:
    jax.config.update("jax_enable_x64", True)
    lib = built()
    _, heights = learned(lib)
    print("iteration   height of the trunk at the end in m")
    for k in (0, 4, 9, 19, 39, len(heights) - 1):
        print(f"{k + 1:9} {heights[k]:12.3f}")


if __name__ == "__main__":
    main()
