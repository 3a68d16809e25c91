"""Writes the equations of motion of two robots as text, as HTML, and as an image drawn by matplotlib.

    python examples/equations/pages.py [FOLDER]

writes three files for each robot, by default into the folder of this program. It needs matplotlib
(`pip install rbdgen[plot]`).
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure
from PIL import Image

import rbdgen

ROBOTS = ("double_pendulum", "planar3r")


def draw(latex: str, file: Path) -> None:
    """Draws the lines of all displayed formulas below one another into an image in shades of grey."""
    lines = [line.removesuffix(r" \\").replace("&", "") for line in latex.splitlines() if "&=" in line]
    with mpl.rc_context({"mathtext.fontset": "cm"}):
        figure = Figure(figsize=(1, 0.4 * len(lines)))
        for k, line in enumerate(lines):
            figure.text(0, 1 - (k + 0.5) / len(lines), f"${line}$", fontsize=14, va="center")
        figure.savefig(file, dpi=80, bbox_inches="tight", pad_inches=0.2)
    with Image.open(file) as coloured:
        grey = coloured.convert("L")
    grey.save(file, optimize=True)


def main(folder: Path) -> None:
    """Writes the files of all robots into a folder."""
    for name in ROBOTS:
        equations = rbdgen.equations(rbdgen.load_robot(name))
        (folder / f"{name}.txt").write_text(equations.text(), encoding="utf-8")
        (folder / f"{name}.html").write_text(equations.html(), encoding="utf-8")
        draw(equations.latex(), folder / f"{name}.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
