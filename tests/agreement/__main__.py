"""Writes docs/robots.md: `make robots`."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

from agreement import mjcf, urdf
from agreement.row import Row, table

PAGE = Path(__file__).parents[2] / "docs" / "robots.md"

MODELS = ("dm_control/suite", "gymnasium/envs/mujoco/assets")
"""Folders of MJCF files in wheels."""

HEAD = """# Robots

`make robots` writes this page. Every figure is the largest error over three random states, relative to the
largest entry of the result.

**URDF.** Every file of [example-robot-data](https://github.com/Gepetto/example-robot-data) is read with a
fixed and with a floating base; rotations are used as they are in the file, without rounding. Each function
that has a counterpart in Pinocchio is compared in all its forms without loops. A column shows the largest
figure of its functions, which are listed below. The frames are those at the ends of up to three limbs, as
both programs read them from the file. The same frames are in contact: the first one with its axes, and each
other one as a point. A continuous joint has one coordinate in both programs. Mimic joints are independent.
Functions that divide by M lose as many digits as its condition number has; a remark gives this number if a
figure is above 1e-10. A remark also says why a file is refused: it has links without mass, no name or no
joint. Second derivatives and derivatives of contact dynamics with a mask are not compared, because Pinocchio
does not have them in Python.

**MJCF.** The models of the suite of [dm_control](https://github.com/google-deepmind/dm_control) and of
[gymnasium](https://github.com/Farama-Foundation/Gymnasium) are compared with MuJoCo, element by element in
the order of `qpos` and `qvel`: M with rotors, the bias force with springs and damping, and the acceleration
without contacts, other constraints and actuators. A remark lists all other features that `--ignore all` left
out of a model.

"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "wheels", type=Path, nargs="+", help="the wheels of dm_control and gymnasium, which contain models"
    )
    wheels = parser.parse_args().wheels
    urdfs = []
    for row in urdf.rows():
        print(" | ".join(row.cells(urdf.COLUMNS)), file=sys.stderr, flush=True)
        urdfs.append(row)
    mjcfs = [row for wheel in wheels for row in of_wheel(wheel)]
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(
        HEAD
        + urdf.columns()
        + "\n"
        + table("URDF, against Pinocchio", urdf.COLUMNS, urdfs)
        + "\n"
        + table("MJCF, against MuJoCo", mjcf.COLUMNS, mjcfs),
        encoding="utf-8",
    )


def of_wheel(wheel: Path) -> list[Row]:
    """Compares all models that a wheel contains, one row for each."""
    with TemporaryDirectory() as folder, ZipFile(wheel) as packed:
        packed.extractall(folder, [name for name in packed.namelist() if name.startswith(MODELS)])
        return [
            replace(row, robot=f"{place.partition('/')[0]}: {row.robot}")
            for place in MODELS
            for row in mjcf.rows(Path(folder) / place)
        ]


if __name__ == "__main__":
    main()
