"""A quadruped trots with a whole-body controller; simulation and controller are generated functions.

    python examples/trot.py               prints the speed, the contact forces, and the drift of stance feet
    python examples/trot.py trot.png      also plots them; needs matplotlib: pip install 'rbdgen[plot]'

Two diagonal feet are in stance while the other two swing. `contact_aba` simulates the robot; its input
`active` says which feet are in stance. At touchdown, `contact_impulse` gives the velocities after the impact.
The controller finds accelerations and contact forces by weighted least squares, from

    J a + drift = 0 for stance feet, and M a + h = J^T lambda for the rows of the base, with a large weight;
    desired accelerations of the base and of swing feet, with a small weight.

`contact_rnea` computes the torques for these. Feet land where they keep the speed (Raibert, Legged Robots
That Balance, 1986).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

import rbdgen
from rbdgen.runtime import Library

Array = npt.NDArray[np.float64]

STEP, STRIDE, SECONDS = 1e-3, 0.16, 3.2
"""The time step of controller and simulation, the duration of a stance, and that of the trot, in s."""

BASE, FEET = 6, tuple(f"{end}_{side}" for end in ("front", "hind") for side in ("left", "right"))

CROUCH, SPEED, LIFT = 0.6, 0.4, 0.06
"""The angle of the hips (that of the knees is twice as large), rad; the speed, m/s; the lift of swing feet,
m."""

FUNCTIONS = [
    "crba",
    "nle",
    "contact_pose",
    "contact_jacobian",
    "contact_motion",
    "contact_aba",
    "contact_impulse",
    "contact_rnea",
]

EXACTLY = 1e3
"""The weight of equations that must hold, where desired accelerations have the weight 1."""

MU = [1e-9]


class Run(NamedTuple):
    """The log, one row per step."""

    base: Array  # positions
    feet: Array  # positions
    forces: Array  # on the feet
    standing: Array  # 1 for feet in stance


class Trot:
    """The simulated robot: `q`, `v`, the feet in stance and since when, and where feet lifted off."""

    def __init__(self, build: Callable[..., Library] = rbdgen.build) -> None:
        held = [rbdgen.Point(foot, f"{foot}_shank", (0, 0, -0.2085)) for foot in FEET]
        self.lib = build(rbdgen.load_robot("quadruped12", base="floating", contacts=held), FUNCTIONS)
        joints = np.tile([0, CROUCH, -2 * CROUCH], 4)
        self.q = np.concatenate([self.lib.neutral()[:7], joints])
        self.hips = self.lib.contact_pose(self.q)[0]
        self.height = -self.hips[0, 2]
        self.q[2] = self.height
        self.v, self.time = np.zeros(BASE + 12), 0.0
        self.standing = np.array([0.0, 1, 1, 0])
        self.touch_down()

    def touch_down(self) -> None:
        """Exchanges stance and swing feet; feet that land stop at once, by an impact."""
        self.standing = 1 - self.standing
        self.lifted, self.since = self.lib.contact_pose(self.q)[0], self.time
        self.v, _ = self.lib.contact_impulse(self.q, self.v, [0], self.standing, MU)

    def step(self) -> tuple[Array, Array]:
        """Simulates one step, and returns the forces on the feet and their positions."""
        lib, feet = self.lib, self.lib.contact_pose(self.q)[0]
        tau = np.concatenate([np.zeros(BASE), self.torques(feet)])
        a, forces = lib.contact_aba(self.q, self.v, tau, self.standing, MU)
        self.q = lib.integrate(self.q, STEP * (self.v + STEP / 2 * a))
        self.v, self.time = self.v + STEP * a, self.time + STEP
        if self.time - self.since > STRIDE - STEP / 2:
            self.touch_down()
        return forces.reshape(4, 3), feet

    def torques(self, feet: Array) -> Array:
        """The torques of the whole-body controller."""
        lib, stands = self.lib, np.repeat(self.standing, 3) > 0
        M, h, J = lib.crba(self.q), lib.nle(self.q, self.v), lib.contact_jacobian(self.q)
        rates, drift = lib.contact_motion(self.q, self.v)
        nv, count = len(self.v), np.count_nonzero(stands)
        swung = self.swinging(feet, rates.reshape(4, 3)).ravel() - drift
        rows = [
            (EXACTLY, np.hstack([J[stands], np.zeros((count, count))]), -drift[stands]),
            (EXACTLY, np.hstack([M[:BASE], -J[stands, :BASE].T]), -h[:BASE]),
            (1.0, np.eye(BASE, nv + count), self.base_acceleration()),
            (1.0, np.hstack([J[~stands], np.zeros((12 - count, count))]), swung[~stands]),
        ]
        A, b = (np.concatenate(parts) for parts in zip(*((w * A, w * b) for w, A, b in rows), strict=True))
        found = np.linalg.lstsq(A, b, rcond=None)[0]
        forces = np.zeros(12)
        forces[stands] = found[nv:]
        tau, _ = lib.contact_rnea(self.q, self.v, found[BASE:nv], forces)
        return np.asarray(tau)

    def base_acceleration(self) -> Array:
        """The desired acceleration of the base, in its axes, for its speed, height and attitude."""
        R = rotation(self.q[3:7])
        velocity, w = R @ self.v[:3], R @ self.v[3:BASE]
        wanted = 8 * (np.array([SPEED, 0, 0]) - velocity)
        wanted[2] = 200 * (self.height - self.q[2]) - 25 * velocity[2]
        turned = 2 * np.sign(self.q[6]) * self.q[3:6]
        turning = -200 * R @ turned - 25 * w
        return np.concatenate([R.T @ wanted - np.cross(self.v[3:BASE], self.v[:3]), R.T @ turning])

    def swinging(self, feet: Array, rates: Array) -> Array:
        """The desired accelerations of swing feet, on their paths from liftoff to touchdown."""
        s = min((self.time - self.since) / STRIDE, 1.0)
        way, up = self.landing(s) - self.lifted, np.array([0, 0, LIFT])
        turn = 2 * np.pi * s
        place = self.lifted + (s - np.sin(turn) / (2 * np.pi)) * way + np.sin(turn / 2) ** 2 * up
        speed = (1 - np.cos(turn)) * way + np.pi * np.sin(turn) * up
        acceleration = 2 * np.pi * (np.sin(turn) * way + np.pi * np.cos(turn) * up)
        pull = 2500 * (place - feet) + 100 * (speed / STRIDE - rates)
        return np.asarray(acceleration / STRIDE**2 + pull)

    def landing(self, s: float) -> Array:
        """The landing positions of swing feet, after a part s of their swing: below the hips, and ahead."""
        velocity = (rotation(self.q[3:7]) @ self.v[:3])[:2]
        fall = np.sqrt(self.height / 9.81)
        ahead = (1.5 - s) * STRIDE * velocity + 0.5 * fall * (velocity - [SPEED, 0])
        return np.hstack([self.q[:2] + self.hips[:, :2] + ahead, np.zeros((4, 1))])


def rotation(quaternion: Array) -> Array:
    """The rotation matrix of a unit quaternion (x, y, z, w)."""
    x, y, z, w = quaternion
    skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.asarray(np.eye(3) + 2 * w * skew + 2 * skew @ skew)


def trotted(robot: Trot, seconds: float) -> Run:
    """Simulates the trot for a time in s, and returns the log."""
    rows: list[tuple[Array, ...]] = []
    for _ in range(round(seconds / STEP)):
        base, standing = robot.q[:7].copy(), robot.standing
        forces, feet = robot.step()
        rows.append((base, feet, forces, standing))
    return Run(*(np.array(column) for column in zip(*rows, strict=True)))


def slips(run: Run) -> Array:
    """The distances of stance feet from where they landed: (samples, feet), m; nan for swing feet."""
    found, landed = np.full(run.standing.shape, np.nan), run.feet[0]
    for k, standing in enumerate(run.standing > 0):
        new = standing & ~(run.standing[k - 1] > 0) if k else standing
        landed = np.where(new[:, None], run.feet[k], landed)
        found[k, standing] = np.linalg.norm(run.feet[k] - landed, axis=1)[standing]
    return found


def told(run: Run) -> str:
    """A text with the speed, the contact forces, and the drift of stance feet."""
    seconds, stands = STEP * len(run.base), run.standing > 0
    way, upward = run.base[-1, 0] - run.base[0, 0], run.forces[..., 2][stands]
    friction = np.linalg.norm(run.forces[..., :2], axis=2)[stands] / upward
    return (
        f"trotted {way:.2f} m in {seconds:.1f} s; each foot pressed with {upward.min():.0f} to "
        f"{upward.max():.0f} N, which takes a friction of {friction.max():.2f}; standing feet drifted by "
        f"{1e3 * np.nanmax(slips(run)):.2f} mm at most"
    )


def plotted(run: Run, file: Path) -> None:
    """Plots the forces on the feet, and the drift of stance feet."""
    import matplotlib  # noqa: PLC0415

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt  # noqa: PLC0415

    figure, (above, below) = plt.subplots(2, 1, figsize=(6.4, 4.8), sharex=True)
    times = STEP * np.arange(len(run.base))
    for k, foot in enumerate(FEET):
        above.plot(times, run.forces[:, k, 2], label=foot.replace("_", " "))
        below.plot(times, 1e3 * slips(run)[:, k])
    above.set(ylabel="upward force [N]", title="a trotting quadruped")
    below.set(ylabel="drift of standing feet [mm]", xlabel="time [s]", xlim=(0, 1.2))
    above.legend(ncol=4, fontsize=8, loc="lower center", bbox_to_anchor=(0.5, -0.25), frameon=False)
    for panel in (above, below):
        panel.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(file, dpi=80)


def main() -> None:
    run = trotted(Trot(), SECONDS)
    print(told(run))
    if len(sys.argv) > 1:
        plotted(run, Path(sys.argv[1]))


if __name__ == "__main__":
    main()
