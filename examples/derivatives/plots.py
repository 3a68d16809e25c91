"""Draws Fig. 2 and Fig. 3 of the paper, with rbdgen's results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import matplotlib
import numpy as np

from benchmarks.bench import Json
from examples.derivatives.precision import STEPS, Errors, Zeros

matplotlib.use("Agg")

import matplotlib.pyplot as plt

STYLE: Final = {"svg.hashsalt": "rbdgen", "svg.fonttype": "path", "font.size": 9}

METADATA: Final = {"Date": None, "Creator": None}
"""Left out, so that the same results give the same file."""

PANELS: Final = {
    "inverse dynamics (ID)": ("rnea", "rnea_derivatives", "rnea_jacobian", "rnea_differences"),
    "forward dynamics (FD)": ("aba", "aba_derivatives", "aba_jacobian", "aba_differences"),
    "inverse of the inertia matrix": ("minv", "minv_cholesky"),
}

COLOURS: Final = {
    "rnea": ("tab:grey", "the function itself"),
    "aba": ("tab:grey", "the function itself"),
    "derivatives": ("tab:blue", "analytical derivatives"),
    "jacobian": ("tab:green", "automatic differentiation"),
    "differences": ("tab:red", "finite differences"),
    "minv": ("tab:blue", "recursion"),
    "cholesky": ("tab:red", "Cholesky factorization"),
}
"""The colour of a method and its name, by the last part of a function's name."""

MARKS: Final = {
    "rbdgen": ("o", "-"),
    "Pinocchio": ("s", "--"),
    "CasADi": ("^", ":"),
    "CppADCodeGen": ("v", "-."),
}
"""The marker and the line of each contestant."""


def plot_times(file: Path, robots: Sequence[Json]) -> None:
    """Fig. 2: the times of all contestants over the degrees of freedom, on logarithmic scales."""
    with plt.rc_context(STYLE):
        figure, panels = plt.subplots(1, len(PANELS), figsize=(10.5, 4.6))
        for panel, (title, names) in zip(panels, PANELS.items(), strict=True):
            for name in names:
                _draw_times(panel, name, robots)
            dofs = [robot["dof"] for robot in robots]
            panel.set(title=title, xlabel="degrees of freedom", xscale="log", yscale="log", xticks=dofs)
            panel.set_xticklabels(map(str, dofs))
            panel.minorticks_off()
            panel.grid(alpha=0.3)
            panel.legend(handles=_colours(names), fontsize=7, frameon=False)
        panels[0].set_ylabel("time of a call [us]")
        lines = [
            plt.Line2D([], [], color="black", marker=mark, linestyle=line, label=who)
            for who, (mark, line) in MARKS.items()
            if any(who in times for robot in robots for times in robot["functions"].values())
        ]
        figure.legend(handles=lines, loc="lower center", ncol=len(lines), frameon=False)
        figure.tight_layout(rect=(0, 0.07, 1, 1))
        _save(figure, file)


def plot_precision(file: Path, zeros: Mapping[str, Zeros], errors: Mapping[str, Errors]) -> None:
    """Fig. 3: finite differences of derivatives that are zero; beside it their errors for all steps."""
    with plt.rc_context(STYLE):
        figure, panels = plt.subplots(1, len(zeros) + 1, figsize=(10.5, 3.6))
        for panel, (label, found) in zip(panels, zeros.items(), strict=False):
            size = np.abs(found.differences)
            shown = np.log10(np.where(size > 0, size, np.nan))
            image = panel.imshow(shown, cmap="viridis")
            panel.set_title(
                f"{label} by v at rest: 0, but by\ndifferences up to {size.max():.0e}", fontsize=9
            )
            figure.colorbar(image, ax=panel, shrink=0.8, label="log10 of the size")
        for label, colour in zip(errors, ("tab:blue", "tab:red"), strict=True):
            panels[-1].loglog(STEPS, errors[label].forward, color=colour, label=f"{label}, forward")
            panels[-1].loglog(STEPS, errors[label].central, "--", color=colour, label=f"{label}, central")
        panels[-1].set(title="by v at a random state", xlabel="step", ylabel="relative error")
        panels[-1].grid(alpha=0.3)
        panels[-1].legend(fontsize=7, frameon=False)
        figure.tight_layout()
        _save(figure, file)


def _draw_times(panel: Any, name: str, robots: Sequence[Json]) -> None:
    colour, _ = _method(name)
    for who, (mark, line) in MARKS.items():
        points = [
            (robot["dof"], robot["functions"][name][who]["ns"] / 1000)
            for robot in robots
            if who in robot["functions"][name]
        ]
        if points:
            panel.plot(*zip(*points, strict=True), color=colour, marker=mark, linestyle=line, markersize=4)


def _colours(names: Sequence[str]) -> list[Any]:
    return [plt.Line2D([], [], color=colour, label=label) for colour, label in map(_method, names)]


def _method(name: str) -> tuple[str, str]:
    return COLOURS[name.rpartition("_")[2]]


def _save(figure: Any, file: Path) -> None:
    figure.savefig(file, metadata=METADATA)
    plt.close(figure)
