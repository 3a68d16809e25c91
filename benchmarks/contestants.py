"""The robots that are measured."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rbdgen.model.build import Base

ROOT: Final = Path(__file__).parent.parent
BUNDLED: Final = ROOT / "robots"
SHARED: Final = ROOT.parent / "shared" / "robots"
"""More robots, measured where this folder is there."""

FUNCTIONS: Final = ("rnea", "aba", "crba", "minv", "rnea_derivatives", "aba_derivatives")


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


def present() -> tuple[Contest, ...]:
    """Those whose URDF is there."""
    return tuple(contest for contest in CONTESTS if contest.urdf.is_file())
