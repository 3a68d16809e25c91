"""Shows the results: a table on the terminal, and a bar chart for the README."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table

CHARTED: Final = ("arm7", "quadruped12", "humanoid30")
COLOURS: Final = {"rbdgen": "#1f6feb", "casadi": "#f2a33a", "cppadcg": "#9a9a9a"}
NAMES: Final = {
    "rbdgen": "rbdgen",
    "pinocchio": "Pinocchio C++",
    "casadi": "CasADi's C, same graph",
    "cppadcg": "CppADCodeGen",
}
LABELS: Final = {
    "rnea": "RNEA",
    "aba": "ABA",
    "crba": "CRBA",
    "minv": "M⁻¹",
    "rnea_derivatives": "∂ID",
    "aba_derivatives": "∂FD",
}

BATCH_WAYS: Final = {
    "pinocchio": "Pinocchio C++",
    "mujoco": "MuJoCo",
    "frax": "frax",
    "bound": "a bound call",
    "batch": "a batch",
    "float": "a batch in float",
    "long": "a long batch",
    "threads": "on 2 threads",
}
BATCH_COLOURS: Final = {
    "mujoco": "#9a9a9a",
    "frax": "#f2a33a",
    "batch": "#1f6feb",
    "threads": "#0b3d91",
    "float": "#8ab4f8",
}

Json = Mapping[str, Any]


def print_table(report: Json) -> None:
    """Prints microseconds per call by competitor, and how many times as fast as Pinocchio rbdgen is."""
    made = report["generation"]
    table = Table(
        title=f"{report['robot']}, {report['base']} base, {report['dof']} degrees of freedom: "
        f"designed in {made['design_seconds']:.1f} s, compiled in {made['build_seconds']:.1f} s, "
        f"{made['peak_megabytes']} MB",
        caption=report["machine"],
    )
    rows = report["functions"].values()
    timed = [who for who in NAMES if any(who in row["times"] for row in rows)]
    for heading in ("function", "form", "compiler"):
        table.add_column(heading)
    times_us = [f"{NAMES[who]}, us" for who in timed]
    for heading in ("operations", "kB", *times_us, "ratio", "spread", "error"):
        table.add_column(heading, justify="right")
    for name, row in report["functions"].items():
        times, ratio = row["times"], speed(row, "rbdgen")
        own = times["rbdgen"]
        table.add_row(
            name,
            row["form"].partition(" (")[0],
            "clang" if "clang" in own["compiler"] else "gcc",
            str(row["operations"]),
            f"{row['text_bytes'] / 1000:.0f}",
            *(f"{times[who]['ns'] / 1000:.3f}" if who in times else "" for who in timed),
            "" if ratio is None else f"{ratio:.1f}x",
            f"{own['spread']:.2f}",
            "" if row["error"] is None else f"{row['error']:.0e}",
        )
    Console(width=190).print(table)


def speed(row: Json, who: str) -> float | None:
    """The speed relative to Pinocchio's C++; None if one of the two was not measured."""
    times = row["times"]
    return times["pinocchio"]["ns"] / times[who]["ns"] if {who, "pinocchio"} <= times.keys() else None


def draw(results: Path, path: Path) -> None:
    """Draws a panel per robot with the speeds of functions relative to Pinocchio's C++.

    The file is deterministic.
    """
    import matplotlib as mpl  # noqa: PLC0415  (only the chart needs it)
    from matplotlib.figure import Figure  # noqa: PLC0415

    found = [results / f"{name}.json" for name in CHARTED]
    reports = [json.loads(file.read_text()) for file in found if file.is_file()]
    if not reports:
        return
    mpl.rcParams["svg.hashsalt"] = "rbdgen"
    mpl.rcParams["svg.fonttype"] = "none"
    figure = Figure(figsize=(3.6 * len(reports) + 0.6, 3.4), layout="constrained")
    for axes, report in zip(
        figure.subplots(1, len(reports), sharey=True, squeeze=False)[0], reports, strict=True
    ):
        _panel(axes, report)
    figure.axes[0].set_ylabel("times as fast as Pinocchio C++")
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})


def _panel(axes: Any, report: Json) -> None:
    rows = report["functions"]
    shown = [who for who in COLOURS if any(who in row["times"] for row in rows.values())]
    width = 0.8 / len(shown)
    for place, who in enumerate(shown):
        left = [k - 0.4 + width * (place + 0.5) for k in range(len(rows))]
        heights = [speed(row, who) or 0.0 for row in rows.values()]
        bars = axes.bar(left, heights, width, color=COLOURS[who], label=NAMES[who])
        if who == "rbdgen":
            axes.bar_label(bars, [f"{h:.1f}" if h else "" for h in heights], fontsize=8, padding=1)
    axes.axhline(1.0, color="black", linewidth=0.8)
    axes.set_xticks(range(len(rows)), [LABELS[name] for name in rows], fontsize=9)
    axes.set_title(f"{report['robot']}, {report['dof']} dof", fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)


def batch_ratio(row: Json, way: str) -> float | None:
    """The speed per state relative to Pinocchio's C++; None if one of the two was not measured."""
    return row["pinocchio"] / row[way] if row["pinocchio"] and row[way] else None


def draw_batches(results: Path, path: Path) -> None:
    """Draws a panel per robot with states per second relative to Pinocchio's C++ in a loop, logarithmic.

    The file is deterministic.
    """
    import matplotlib as mpl  # noqa: PLC0415  (only the chart needs it)
    from matplotlib.figure import Figure  # noqa: PLC0415

    found = [results / f"batch_{name}.json" for name in CHARTED]
    reports = [json.loads(file.read_text()) for file in found if file.is_file()]
    if not reports:
        return
    mpl.rcParams["svg.hashsalt"] = "rbdgen"
    mpl.rcParams["svg.fonttype"] = "none"
    figure = Figure(figsize=(4.2 * len(reports) + 0.6, 3.6), layout="constrained")
    panels = figure.subplots(1, len(reports), sharey=True, squeeze=False)[0]
    for axes, report in zip(panels, reports, strict=True):
        _batch_panel(axes, report)
    figure.axes[0].set_ylabel("states a second, Pinocchio C++ = 1")
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})


def _batch_panel(axes: Any, report: Json) -> None:
    rows = report["functions"]
    shown = [way for way in BATCH_COLOURS if any(batch_ratio(row, way) for row in rows.values())]
    width = 0.84 / max(1, len(shown))
    for place, way in enumerate(shown):
        middle = -0.42 + width * (place + 0.5)
        there = {k: ratio for k, row in enumerate(rows.values()) if (ratio := batch_ratio(row, way))}
        # Bars start at 1, the speed of Pinocchio; those of slower ones point down.
        heights = [ratio - 1 for ratio in there.values()]
        where = [k + middle for k in there]
        bars = axes.bar(where, heights, width, bottom=1, color=BATCH_COLOURS[way], label=BATCH_WAYS[way])
        if way == "batch":
            axes.bar_label(bars, [f"{ratio:.0f}" for ratio in there.values()], fontsize=7, padding=1)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.axhline(1.0, color="black", linewidth=0.8)
    axes.set_xticks(range(len(rows)), [LABELS[name] for name in rows], fontsize=9)
    axes.set_title(report["robot"], fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)
