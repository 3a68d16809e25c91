"""Reads the log of the emulated controller, prints its tracking errors, and plots it.

    python plot.py tracking.log tracking.png

The plot needs matplotlib: pip install 'rbdgen[plot]'.
"""

from __future__ import annotations

import struct
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

JOINTS = 7
TICKS_PER_SECOND = 25e6  # the timer's clock
INSTRUCTIONS_PER_TICK = 1e9 / 2**5 / TICKS_PER_SECOND  # as qemu was told: -icount shift=5
SETTLED = 1.0  # seconds after which the initial error is gone

Numbers = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Log:
    """The log: `t` in s, `q` and `reference` in rad, and `tau` in N m, with one row per sample.

    `ticks` is the timer's count for the longest control step, and `late` the number of steps that took more
    than a millisecond.
    """

    t: Numbers
    q: Numbers
    reference: Numbers
    tau: Numbers
    ticks: int
    late: int

    @property
    def error(self) -> Numbers:
        return self.q - self.reference


def read(path: Path) -> Log:
    """Reads a log that `main.c` wrote. Raises ValueError if it is incomplete."""
    lines = [line.split() for line in path.read_text(encoding="ascii").splitlines()]
    if not lines or lines[-1] != ["end"]:
        raise ValueError(f"{path}: the log is cut short; run make again")
    rows = np.array(
        [
            [struct.unpack(">f", bytes.fromhex(word))[0] for word in words]
            for name, *words in lines
            if name == "state"
        ],
        dtype=np.float32,
    )
    counts = {words[0]: int(words[1], 16) for words in lines if words[0] in ("ticks", "late")}
    q, reference, tau = (rows[:, 1 + k * JOINTS : 1 + (k + 1) * JOINTS] for k in range(3))
    return Log(rows[:, 0], q, reference, tau, counts["ticks"], counts["late"])


def summary(log: Log) -> str:
    """A table with the largest error at the start and once settled, the largest torque, and the cost of a
    step."""
    settled = np.abs(log.error[log.t >= SETTLED]).max(axis=0)
    lines = ["joint   error at start   after 1 s (rad)   torque at most (N m)"]
    for i in range(JOINTS):
        torque = np.abs(log.tau[:, i]).max()
        lines.append(f"{i + 1:5d}   {abs(log.error[0, i]):14.4f}   {settled[i]:15.5f}   {torque:20.2f}")
    instructions = log.ticks * INSTRUCTIONS_PER_TICK
    lines.append(f"longest control step: {instructions:.0f} instructions; late steps: {log.late}")
    return "\n".join(lines)


def plot(log: Log, path: Path) -> None:
    """Plots angles with their reference, tracking errors and torques."""
    import matplotlib  # noqa: PLC0415  (an extra: the summary works without)

    matplotlib.use("Agg")
    from matplotlib import pyplot  # noqa: PLC0415

    figure, (angles, errors, torques) = pyplot.subplots(
        3, 1, sharex=True, figsize=(8, 9), layout="constrained"
    )
    for i in range(JOINTS):
        colour = f"C{i}"
        angles.plot(log.t, log.q[:, i], colour, label=f"joint {i + 1}")
        angles.plot(log.t, log.reference[:, i], colour, linestyle=":")
        errors.semilogy(log.t, np.maximum(np.abs(log.error[:, i]), 1e-7), colour)
        torques.plot(log.t, log.tau[:, i], colour)
    figure.suptitle("Computed torque at 1 kHz on an emulated Cortex-M7")
    angles.set(ylabel="angle, rad (dotted: reference)")
    angles.legend(ncols=JOINTS, fontsize="x-small", loc="lower center", bbox_to_anchor=(0.5, 1.0))
    errors.set(ylabel="|tracking error|, rad")
    torques.set(ylabel="torque, N m", xlabel="time, s")
    figure.savefig(path, dpi=120)


def main(log_path: str, picture: str) -> None:
    log = read(Path(log_path))
    print(summary(log))
    plot(log, Path(picture))
    print(f"wrote {picture}")


if __name__ == "__main__":
    main(*sys.argv[1:3])
