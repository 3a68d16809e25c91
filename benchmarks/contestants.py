"""The robots that are measured, and the speed that each function shall reach on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from rbdgen.model.build import Base

ROOT: Final = Path(__file__).parent.parent
BUNDLED: Final = ROOT / "robots"
SHARED: Final = ROOT.parent / "shared" / "robots"
"""More robots, measured where this folder is there."""

FUNCTIONS: Final = ("rnea", "aba", "crba", "minv", "rnea_derivatives", "aba_derivatives")

ARM: Final = MappingProxyType(
    {"rnea": 8.0, "aba": 8.0, "minv": 9.0, "rnea_derivatives": 6.0, "aba_derivatives": 5.0}
)
QUADRUPED: Final = MappingProxyType(
    {"rnea": 5.0, "aba": 6.0, "minv": 4.0, "rnea_derivatives": 3.5, "aba_derivatives": 3.0}
)
HUMANOID: Final = MappingProxyType(
    {"rnea": 4.0, "aba": 4.0, "minv": 2.0, "rnea_derivatives": 2.3, "aba_derivatives": 1.5}
)


@dataclass(frozen=True)
class Contest:
    """One robot; `targets`: how many times as fast as Pinocchio's C++ one call shall be, by function."""

    name: str
    urdf: Path
    base: Base
    targets: Mapping[str, float]

    @property
    def floating(self) -> bool:
        return self.base == "floating"


CONTESTS: Final = (
    Contest("arm7", BUNDLED / "arm7.urdf", "fixed", ARM),
    Contest("quadruped12", BUNDLED / "quadruped12.urdf", "floating", QUADRUPED),
    Contest("humanoid30", BUNDLED / "humanoid30.urdf", "floating", HUMANOID),
    Contest("iiwa", SHARED / "iiwa.urdf", "fixed", ARM),
    Contest("hyq", SHARED / "hyq.urdf", "floating", QUADRUPED),
    Contest("atlas", SHARED / "atlas.urdf", "floating", HUMANOID),
)


def present() -> tuple[Contest, ...]:
    """Those whose URDF is there."""
    return tuple(contest for contest in CONTESTS if contest.urdf.is_file())
