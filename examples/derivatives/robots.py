"""The robots of the experiments, with as many degrees of freedom as those of the paper.

HyQ is the robot of the paper. The KUKA LWR and Atlas are not in example-robot-data; bundled robots with the
same numbers of degrees of freedom take their places.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Final

from benchmarks.contestants import BUNDLED, Contest
from benchmarks.toolchain import ToolError

IN_THE_PAPER: Final = {"arm7": "KUKA LWR", "hyq": "HyQ", "humanoid30": "Atlas"}
"""The robot of the paper whose place each robot takes."""

HYQ: Final = "hyq_description/robots/hyq_no_sensors.urdf"


def robots() -> tuple[Contest, ...]:
    """The robots, in the order of the paper. Raises ToolError if example-robot-data is not installed."""
    return (
        Contest("arm7", BUNDLED / "arm7.urdf", "fixed"),
        Contest("hyq", _public(HYQ), "floating"),
        Contest("humanoid30", BUNDLED / "humanoid30.urdf", "floating"),
    )


def _public(file: str) -> Path:
    try:
        place = distribution("example-robot-data").locate_file(
            f"cmeel.prefix/share/example-robot-data/robots/{file}"
        )
    except PackageNotFoundError as error:
        raise ToolError("HyQ is not here: pip install example-robot-data") from error
    return Path(str(place))
