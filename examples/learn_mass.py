"""Finds the mass of a payload of the arm, by the gradient through a simulated motion.

    python examples/learn_mass.py             prints each guess; needs JAX: pip install 'rbdgen[jax]'
    python examples/learn_mass.py guess.png   also plots them; needs matplotlib: pip install 'rbdgen[plot]'

The arm follows a sine by PD control, with a point mass in its hand that is not in the model. Its joint angles
are measured, with noise. The same motion is simulated with a guess of the mass. JAX differentiates the
squared difference of the angles by the guess, through all steps, and Newton's method on this derivative finds
the mass.

The mass of the last link is a parameter that stays an input: a point mass at the origin of a link only adds
to its mass. With the mass of the payload included, M(q) a + h(q, v) = tau holds. Every step calls compiled C
twice, `crba` and `nle`, and the gradient calls their derivatives.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import rbdgen

jax.config.update("jax_enable_x64", True)

MASS, NOISE = 2.3, 1e-3
"""The mass to find in kg; the standard deviation of measured angles, rad."""

STEP, STEPS = 2e-3, 500
STIFFNESS, DAMPING = 200.0, 20.0
"""The gains of the PD control, N m/rad and N m s/rad, so small that the arm sags under the payload."""

HAND = "ten:link7.m"
"""The parameter: the mass of the last link with the payload at its origin, kg."""


def simulation() -> Callable[[Any], Any]:
    """A function that returns the angles at all steps (STEPS, 7) for a mass."""
    lib = rbdgen.build("arm7", ["crba", "nle"], params=[HAND])
    arm, (empty,) = lib.jax, lib.parameters.defaults

    def step(table: Any, state: Any, t: Any) -> tuple[Any, Any]:
        q, v = state
        wanted = 0.8 * jnp.sin(3 * t + jnp.arange(7))
        tau = STIFFNESS * (wanted - q) - DAMPING * v
        M = arm.crba(q, table) + STEP * DAMPING * jnp.eye(7)  # damping by the velocity at the end of the step
        v = v + STEP * jnp.linalg.solve(M, tau - arm.nle(q, v, table))
        return (q + STEP * v, v), q

    def angles(mass: Any) -> Any:
        table = arm.update({HAND: empty + mass})
        start = 0.8 * jnp.sin(jnp.arange(7)), jnp.zeros(7)
        return jax.lax.scan(lambda state, t: step(table, state, t), start, STEP * jnp.arange(STEPS))[1]

    return angles


def guesses(angles: Callable[[Any], Any], measured: Any, most: int = 10) -> list[tuple[float, float]]:
    """The guesses with the root mean square errors of their motions, in rad; the last guess is the result."""
    slope = jax.jit(jax.value_and_grad(lambda mass: jnp.mean((angles(mass) - measured) ** 2)))
    found: list[tuple[float, float]] = []
    before, mass = 0.0, 0.5
    bent = slope(before)[1]
    while len(found) < most and abs(mass - before) > 1e-6:
        loss, gradient = slope(mass)
        found.append((mass, float(jnp.sqrt(loss))))
        curvature = (gradient - bent) / (mass - before)
        before, bent = mass, gradient
        mass = float(mass - gradient / curvature)
    return found


def main() -> None:
    """Simulates a noisy measurement, finds the mass, prints and plots it."""
    angles = simulation()
    measured = angles(MASS) + NOISE * np.random.default_rng(0).standard_normal((STEPS, 7))
    found = guesses(angles, measured)
    for mass, off in found:
        print(f"{mass:8.4f} kg, angles off by {off:.2e} rad")
    print(f"found {found[-1][0]:.3f} kg, the payload has {MASS} kg")
    if len(sys.argv) > 1:
        plot(found, sys.argv[1])


def plot(found: list[tuple[float, float]], file: str) -> None:
    """Plots the errors of the guesses, and the remaining noise."""
    import matplotlib.pyplot as plt  # noqa: PLC0415

    figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
    axes.semilogy([abs(mass - MASS) for mass, _ in found], "o-", label="mass, kg")
    axes.semilogy([off for _, off in found], "s-", label="angles, rad")
    axes.axhline(NOISE, color="grey", linestyle="--", label="noise of angles, rad")
    axes.set(xlabel="guess", ylabel="off by", xticks=range(len(found)))
    axes.legend()
    figure.savefig(file, dpi=150)


if __name__ == "__main__":
    main()
