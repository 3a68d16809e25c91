"""The robots and the functions that are measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from benchmarks.peers import pinocchio_cpp
from rbdgen.description.contacts import Contact, Frame, Point
from rbdgen.functions.table import ALL
from rbdgen.model.build import Base, Robot
from rbdgen.pipeline.robot import load_robot

ROOT: Final = Path(__file__).parent.parent
BUNDLED: Final = ROOT / "robots"
SHARED: Final = ROOT.parent / "shared" / "robots"
"""A folder of other robots, which are measured if it exists."""

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


CONTACT_FUNCTIONS: Final = (
    "contact_jacobian",
    "contact_motion",
    "delassus",
    "contact_forces",
    "contact_aba",
    "contact_impulse",
    "contact_aba_derivatives",
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
    """Functions that are measured together."""

    prefix: str  # of the names of their files of results
    functions: tuple[str, ...]
    driver: Path  # the driver that measures them in Pinocchio
    frames: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by robot
    contacts: Mapping[str, tuple[Contact, ...]] = field(default_factory=dict)  # by robot
    packed: tuple[str, ...] = ()  # functions whose batches are also measured with packed results

    @property
    def robots(self) -> list[str]:
        """The default robots of the suite: those with frames or contacts of their own, or all if there are
        none."""
        own = [*self.frames, *self.contacts]
        return own or [contest.name for contest in CONTESTS]

    @property
    def told(self) -> str:
        """The help text of the suite's option."""
        functions = ", ".join(name for name in self.functions if name in ALL)
        return f"measure {functions} instead of the six; writes {self.prefix}*.json, draws no chart"

    def load(self, contest: Contest) -> Robot:
        """The robot with its frames and contacts, and with independent mimic joints, as in Pinocchio."""
        frames, contacts = self.frames.get(contest.name, ()), self.contacts.get(contest.name, ())
        return load_robot(contest.urdf, contest.base, mimic="independent", frames=frames, contacts=contacts)

    def functions_of(self, contest: Contest) -> tuple[str, ...]:
        """The functions of the suite that rbdgen has for this robot."""
        known = [name for name in self.functions if name in ALL]
        return tuple(name for name in known if contest.name in self.frames or not ALL[name].of_frames)


SIX: Final = Suite("", FUNCTIONS, pinocchio_cpp.DRIVER)
"""The six default functions."""

MORE: Final = Suite(
    "more_",
    MORE_FUNCTIONS,
    pinocchio_cpp.MORE_DRIVER,
    {
        "arm7": ("link7",),
        "quadruped12": ("*_shank",),
        "humanoid30": ("*_foot", "*_hand"),
    },
    packed=("frame_jacobian_aligned", "regressor"),
)
"""Frames, momentum, the Coriolis matrix, the regressor and second derivatives."""

IN_CONTACT: Final = Suite(
    "contact_",
    CONTACT_FUNCTIONS,
    pinocchio_cpp.CONTACT_DRIVER,
    contacts={
        "quadruped12": tuple(
            Point(f"{place}_foot", f"{place}_shank", (0, 0, -0.2085))
            for place in ("front_left", "front_right", "hind_left", "hind_right")
        ),
        "humanoid30": tuple(
            Frame(f"{side}_sole", f"{side}_foot", (0.0494, 0, -0.0679)) for side in ("left", "right")
        ),
    },
)
"""Dynamics in contact: a quadruped on four points, a humanoid on two soles."""


def suite_of(more: bool, contacts: bool) -> Suite:
    """The suite that these options select."""
    return IN_CONTACT if contacts else MORE if more else SIX


def present() -> tuple[Contest, ...]:
    """The robots whose URDF exists."""
    return tuple(contest for contest in CONTESTS if contest.urdf.is_file())
