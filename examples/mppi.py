"""A pole on a cart swings up and stays up by sampling: every 20 ms a thousand rollouts choose the next force.

    python examples/mppi.py               prints when the pole stands, and how fast all of it is
    python examples/mppi.py mppi.png      also plots it; needs matplotlib: pip install 'rbdgen[plot]'

Forces of the next second are those of before, shifted, plus noise, a thousand times. `lib.rollout` says
where each of them leads, and what leads to less cost weighs more (Williams, Aldrich, Theodorou, Model
predictive path integral control, 2017). A motor drives the cart alone. The cart that is controlled moves by
`step_rk4`, the rollouts by `step`.
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
"""In s, steps, and how many futures are tried at every step."""

NOISE, TEMPERATURE, STRONGEST = 6.0, 2.0, 20.0
"""Of forces, in N; what differs by so much cost weighs less by 1/e; the motor's limit, in N."""

SECONDS = 5.0


class Run(NamedTuple):
    """What is logged: a row a step; `wall`: seconds that it took, `rolled`: those of them in rollouts."""

    q: Array
    force: Array
    wall: float
    rolled: float

    @property
    def tilt(self) -> Array:
        """How far the pole is from upright, in rad."""
        return np.abs(np.angle(np.exp(1j * (self.q[:, 1] - np.pi))))

    @property
    def standing(self) -> float:
        """The time from which on it stays within 0.2 rad, in s."""
        return DT * float(np.max(np.nonzero(self.tilt > 0.2)[0], initial=-1) + 1)


def cart_pole() -> Library:
    """The cart slides along x; the pole hangs at q = 0 and stands at pi."""
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
    """Of every rollout: (..., HORIZON, 2) gives (...)."""
    upright = 1 + np.cos(q[..., 1])
    each = 10 * upright + q[..., 0] ** 2 + 0.05 * v[..., 0] ** 2 + 0.05 * v[..., 1] ** 2 + 1e-3 * force**2
    return np.asarray(each.sum(-1))


def swung_up(lib: Library, seconds: float = SECONDS, rollouts: int = ROLLOUTS, threads: int = 1) -> Run:
    """From hanging at rest."""
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
    """The pole, the cart and the force."""
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
