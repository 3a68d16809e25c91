"""A safety filter of the arm in one C function: it follows a command as long as nothing comes too close.

    python examples/safety_filter.py            prints how near the arm comes
    python examples/safety_filter.py FOLDER     also draws it there; needs pip install 'rbdgen[plot]'

The command wants to swing the arm to and fro through a ball that crosses its way. The filter returns the
velocity nearest to the command with which the smooth minimum h of all distances, of the arm from itself and
from the ball, cannot fall below a margin: dh/dq u >= speed - rate (h - margin), where `speed` bounds how fast
the ball moves. With one constraint, the nearest velocity has a closed form. After Ames et al., Control
barrier functions: theory and applications, ECC 2019, section II.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import rbdgen

ROBOT = rbdgen.load_robot("arm7", shapes="visual", pairs="auto", obstacles="spheres=1", softmin=200.0)

MARGIN, RATE = 0.03, 20.0
"""The least smooth minimum in m, and how fast it may be approached, in 1/s."""

STEP, STEPS = 1e-3, 4000
"""The time step in s and the number of steps."""

RADIUS, SPEED = 0.1, 0.3
"""The radius of the ball in m, and its speed in m/s."""


@rbdgen.function(
    inputs={"command": "v", "ball": ("m", 1, 4), "speed": ("m/s", ())},
    outputs={"u": "v", "h": ("m", ())},
)
def safe(robot: Any, q: Any, command: Any, ball: Any, speed: Any) -> Any:
    """The velocity nearest to the command that keeps the distance, and the smooth minimum of distances."""
    h = robot.distance_softmin(q, ball)[0]
    g = robot.distance_softmin_gradient(q, ball)[0]
    missing = speed - RATE * (h - MARGIN) - g @ command
    return command + g * np.maximum(missing, 0.0) / np.maximum(g @ g, 1e-9), h


class Ride(NamedTuple):
    """At every step, the smallest distance in mm and the largest velocity of a joint in rad/s."""

    nearest: NDArray[np.float64]
    fastest: NDArray[np.float64]


def ride(library: Any, *, filtered: bool) -> Ride:
    """Swings the arm for a while and looks at all distances."""
    q = np.array([-1.0, 0.9, 0.0, -1.2, 0.0, 0.5, 0.0])
    middle, nearest, fastest = q.copy(), np.zeros(STEPS), np.zeros(STEPS)
    middle[0] = 0.0
    for k in range(STEPS):
        t = k * STEP
        way = SPEED * t - 0.6
        ball = np.array([[0.55, way, 0.45, RADIUS]])
        command = 3.0 * (middle + np.array([np.sin(1.5 * t - np.pi / 2), 0, 0, 0, 0, 0, 0]) - q)
        u = library.safe(q, command, ball, SPEED).u if filtered else command
        q = q + STEP * u
        nearest[k], fastest[k] = 1000 * library.distances(q, ball).min(), np.abs(u).max()
    return Ride(nearest, fastest)


def draw(file: Path, rides: dict[str, Ride]) -> None:
    """Draws distances and velocities over time."""
    import matplotlib  # noqa: PLC0415  (optional)

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt  # noqa: PLC0415

    with plt.rc_context({"svg.hashsalt": "rbdgen", "font.size": 9}):
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.0, 3.0))
        times = STEP * np.arange(STEPS)[::10]
        left.axhline(1000 * MARGIN, color="k", linewidth=0.8, linestyle="--", label="margin")
        for (name, found), style in zip(rides.items(), ("C7-", "C0-"), strict=True):
            left.plot(times, found.nearest[::10], style, label=name)
            right.plot(times, found.fastest[::10], style, label=name)
        left.set(xlabel="time, s", ylabel="nearest, mm")
        right.set(xlabel="time, s", ylabel="fastest joint, rad/s")
        left.legend(fontsize=8)
        for panel in (left, right):
            panel.spines[["top", "right"]].set_visible(False)
        figure.tight_layout()
        figure.savefig(file, metadata={"Date": None})
        plt.close(figure)


def main() -> None:
    """Swings the arm without the filter and with it."""
    library = rbdgen.build(ROBOT, functions=[safe, "distances"])
    pairs = library.manifest["distance_pairs"]["pairs"]
    print(f"{len(pairs)} pairs; the filter takes {library.safe.cost['total']} operations")
    rides = {name: ride(library, filtered=name == "filtered") for name in ("command alone", "filtered")}
    for name, found in rides.items():
        print(f"{name}: nearest {found.nearest.min():.1f} mm, fastest {found.fastest.max():.1f} rad/s")
    if len(sys.argv) > 1:
        folder = Path(sys.argv[1])
        folder.mkdir(parents=True, exist_ok=True)
        draw(folder / "safety_filter.svg", rides)


if __name__ == "__main__":
    main()
