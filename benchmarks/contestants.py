"""The robots that are measured, and the functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.peers import pinocchio_cpp
from rbdgen.functions.table import ALL
from rbdgen.model.build import Base, Robot
from rbdgen.pipeline.robot import load_robot

ROOT: Final = Path(__file__).parent.parent
BUNDLED: Final = ROOT / "robots"
SHARED: Final = ROOT.parent / "shared" / "robots"
"""More robots, measured where this folder is there."""

FUNCTIONS: Final = ("rnea", "aba", "crba", "minv", "rnea_derivatives", "aba_derivatives")

MORE_FUNCTIONS: Final = (
    "frame_placement",
    "frame_jacobian_aligned",
    "com_jacobian",
    "centroidal_matrix",
    "coriolis",
    "regressor",
    "rnea_second",
)


@dataclass(frozen=True)
class Contest:
    """One robot."""

    name: str
    urdf: Path
    base: Base

    @property
    def floating(self) -> bool:
        return self.base == "floating"


CONTESTS: Final = (
    Contest("arm7", BUNDLED / "arm7.urdf", "fixed"),
    Contest("quadruped12", BUNDLED / "quadruped12.urdf", "floating"),
    Contest("humanoid30", BUNDLED / "humanoid30.urdf", "floating"),
    Contest("iiwa", SHARED / "iiwa.urdf", "fixed"),
    Contest("hyq", SHARED / "hyq.urdf", "floating"),
    Contest("atlas", SHARED / "atlas.urdf", "floating"),
)


@dataclass(frozen=True)
class Suite:
    """Functions that are measured together.

    `prefix`: of the names of their files of results; `driver`: what times them in Pinocchio; `frames`: of the
    robots that have some, by the robot's name.
    """

    prefix: str
    functions: tuple[str, ...]
    driver: Path
    frames: Mapping[str, tuple[str, ...]]

    def load(self, contest: Contest) -> Robot:
        """The robot of rbdgen with its frames, mimic joints as Pinocchio has them."""
        frames = self.frames.get(contest.name, ())
        return load_robot(contest.urdf, contest.base, mimic="independent", frames=frames)

    def functions_of(self, contest: Contest) -> tuple[str, ...]:
        """Those that rbdgen has for this robot."""
        known = [name for name in self.functions if name in ALL]
        return tuple(name for name in known if contest.name in self.frames or not ALL[name].of_frames)


SIX: Final = Suite("", FUNCTIONS, pinocchio_cpp.DRIVER, {})
"""What is generated where no function is named."""

MORE: Final = Suite(
    "more_",
    MORE_FUNCTIONS,
    pinocchio_cpp.MORE_DRIVER,
    {
        "arm7": ("link7",),
        "quadruped12": ("*_shank",),
        "humanoid30": ("*_foot", "*_hand"),
    },
)
"""Frames, momentum, the Coriolis matrix, the regressor and second derivatives."""

MORE_HELP: Final = (
    f"measure {', '.join(name for name in MORE_FUNCTIONS if name in ALL)} instead of the six; "
    "writes more_*.json, draws no chart"
)


def present() -> tuple[Contest, ...]:
    """Those whose URDF is there."""
    return tuple(contest for contest in CONTESTS if contest.urdf.is_file())
