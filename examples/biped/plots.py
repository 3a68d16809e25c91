"""Draws the two plots of the squatting biped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import numpy.typing as npt

matplotlib.use("Agg")

import matplotlib.pyplot as plt

Array = npt.NDArray[np.float64]

COLOURS = ("tab:red", "tab:blue", "tab:green")
"""The colours of the control laws."""

SHOWN = 2.0
"""The time that the plots show, in s."""


def plot_squat(
    file: Path, step: float, desired: Array, joints: Mapping[str, int], laws: Mapping[str, Array]
) -> None:
    """Plots some joints over time. `desired` and every law have shape (samples, joints), rad."""
    figure, panels = plt.subplots(len(joints), 1, figsize=(6.4, 6.4), sharex=True)
    for panel, (name, k) in zip(panels, joints.items(), strict=True):
        _draw(panel, step, desired[:, k], {law: path[:, k] for law, path in laws.items()})
        panel.set_ylabel(f"{name} [rad]")
    _finish(figure, panels, file, "squat at 2 Hz, left leg")


def plot_pelvis(file: Path, step: float, desired: Array, laws: Mapping[str, Array]) -> None:
    """Plots the height of the pelvis over time. `desired` and every law have shape (samples, 3), m."""
    figure, panel = plt.subplots(figsize=(6.4, 3.4))
    _draw(panel, step, desired[:, 2], {law: path[:, 2] for law, path in laws.items()})
    panel.set_ylabel("height of the pelvis [m]")
    _finish(figure, [panel], file, "pelvis led at 1 Hz")


def _draw(panel: Any, step: float, desired: Array, laws: Mapping[str, Array]) -> None:
    count = round(SHOWN / step)
    times = step * np.arange(len(desired))[:count]
    panel.plot(times, desired[:count], "k--", linewidth=2.4, label="desired")
    for colour, (law, path) in zip(COLOURS, laws.items(), strict=True):
        panel.plot(times, path[:count], color=colour, linewidth=1.2, label=law)
    panel.grid(alpha=0.3)


def _finish(figure: Any, panels: Sequence[Any], file: Path, title: str) -> None:
    panels[0].set_title(title)
    panels[-1].set_xlabel("time [s]")
    panels[-1].set_xlim(0, SHOWN)
    figure.legend(
        *panels[0].get_legend_handles_labels(), loc="lower center", ncol=2, fontsize=8, frameon=False
    )
    figure.tight_layout(rect=(0, 0.09 if len(panels) > 1 else 0.14, 1, 1))
    figure.savefig(file, dpi=80)
    plt.close(figure)
