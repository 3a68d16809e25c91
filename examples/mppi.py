"""Swings up a pole on a cart by sampling control: every 20 ms, 1024 rollouts determine the next force.

    python examples/mppi.py               prints when the pole is upright, and the time of a control step
    python examples/mppi.py mppi.png      also plots it; needs matplotlib: pip install 'rbdgen[plot]'

The planned forces of the next second are those of the step before, shifted by one step. Every rollout adds
noise to them, and `lib.rollout` computes the resulting motions. The new plan is a mean of all rollouts, in
which those with less cost have more weight (Williams, Aldrich, Theodorou, Model predictive path integral
control, 2017). The only motor drives the cart. The simulated cart moves by `step_rk4`, and the rollouts use
`step`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

import rbdgen
from rbdgen.runtime import Library

Array = npt.NDArray[np.float64]

DT, HORIZON, ROLLOUTS = 0.02, 50, 1024
"""The time step in s, the number of steps of a rollout, and the number of rollouts for every control step."""

NOISE, TEMPERATURE, STRONGEST = 6.0, 2.0, 20.0
"""The standard deviation of the noise of forces, in N; the difference of cost for which the weight decreases
by the factor e; the largest force of the motor, in N."""

SECONDS = 5.0


class Run(NamedTuple):
    """The log, one row per step.

    `wall` is the time of a step in s, and `rolled` the part of it for rollouts.
    """

    q: Array
    force: Array
    wall: float
    rolled: float

    @property
    def tilt(self) -> Array:
        """The angle of the pole from upright, in rad."""
        return np.abs(np.angle(np.exp(1j * (self.q[:, 1] - np.pi))))

    @property
    def standing(self) -> float:
        """The time after which the pole stays within 0.2 rad of upright, in s."""
        return DT * float(np.max(np.nonzero(self.tilt > 0.2)[0], initial=-1) + 1)


def cart_pole() -> Library:
    """The cart, which slides along x, with its pole, which hangs at q = 0 and is upright at q = pi."""
    builder = rbdgen.RobotBuilder("cart_pole")
    builder.add_body("rail")
    builder.add_body("cart", parent="rail", type="prismatic", axis=(1, 0, 0), mass=1.0)
    builder.add_body(
        "pole",
        parent="cart",
        type="revolute",
        axis=(0, 1, 0),
        mass=0.2,
        com=(0, 0, -0.3),
        inertia=(0.006, 0.006, 1e-4),
    )
    return rbdgen.build(rbdgen.load_robot(builder), ["step", "step_rk4"])


def cost(q: Array, v: Array, force: Array) -> Array:
    """The cost of every rollout: (...) for q and v of shape (..., HORIZON, 2)."""
    upright = 1 + np.cos(q[..., 1])
    each = 10 * upright + q[..., 0] ** 2 + 0.05 * v[..., 0] ** 2 + 0.05 * v[..., 1] ** 2 + 1e-3 * force**2
    return np.asarray(each.sum(-1))


def swung_up(lib: Library, seconds: float = SECONDS, rollouts: int = ROLLOUTS, threads: int = 1) -> Run:
    """Runs the control from the pole hanging at rest, and returns the log."""
    generator = np.random.default_rng(0)
    q, v = lib.neutral(), np.zeros(2)
    plan, tau = np.zeros(HORIZON), np.zeros((rollouts, HORIZON, 2))
    path, forces, rolled = [], [], 0.0
    begun = perf_counter()
    for _ in range(round(seconds / DT)):
        noise = NOISE * generator.standard_normal((rollouts, HORIZON))
        tau[..., 0] = np.clip(plan + noise, -STRONGEST, STRONGEST)
        before = perf_counter()
        states = lib.rollout(q, v, tau, DT, threads=threads)
        rolled += perf_counter() - before
        costs = cost(states.q, states.v, tau[..., 0])
        weights = np.exp((costs.min() - costs) / TEMPERATURE)
        plan = weights @ tau[..., 0] / weights.sum()
        q, v = lib.step_rk4(q, v, (plan[0], 0.0), DT)
        path.append(q)
        forces.append(plan[0])
        plan = np.append(plan[1:], 0.0)
    return Run(np.array(path), np.array(forces), perf_counter() - begun, rolled)


def told(run: Run) -> str:
    seconds = DT * len(run.q)
    return (
        f"the pole stands from {run.standing:.2f} s on, {run.tilt[-1]:.3f} rad from upright at the end; "
        f"{seconds / run.wall:.1f} times as fast as real time; {ROLLOUTS} rollouts of {HORIZON} steps took "
        f"{1e6 * run.rolled / len(run.q):.0f} us each time, {100 * run.rolled / run.wall:.0f} % of all"
    )


def plotted(run: Run, file: Path) -> None:
    """Plots the angle of the pole, the position of the cart and the force."""
    import matplotlib  # noqa: PLC0415

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt  # noqa: PLC0415

    figure, (above, below) = plt.subplots(2, 1, figsize=(6.4, 4.0), sharex=True)
    times = DT * np.arange(1, 1 + len(run.q))
    above.plot(times, run.q[:, 1], label="pole [rad]")
    above.plot(times, run.q[:, 0], label="cart [m]")
    above.axhline(np.pi * np.round(run.q[-1, 1] / np.pi), color="grey", linewidth=0.8)
    below.plot(times, run.force, color="tab:green", label="force [N]")
    below.set(xlabel="time [s]", xlim=(0, times[-1]))
    above.set(title=f"a pole on a cart, by {ROLLOUTS} rollouts every {1e3 * DT:.0f} ms")
    for panel in (above, below):
        panel.legend(fontsize=8, loc="upper right")
        panel.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(file, dpi=80)


def main() -> None:
    run = swung_up(cart_pole())
    print(told(run))
    if len(sys.argv) > 1:
        plotted(run, Path(sys.argv[1]))


if __name__ == "__main__":
    main()
