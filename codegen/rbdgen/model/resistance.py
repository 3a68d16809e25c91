"""The resistance of a description's joints: the part that enters the model, and the part that is left out.

Rotors and springs store energy: they are always used if they are given, just as masses are. Damping and
friction dissipate energy: they are used only on request, because many programs add their own torques for
them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rbdgen.description.quoting import quoted
from rbdgen.description.schema import Description
from rbdgen.description.schema import Joint as DescribedJoint
from rbdgen.errors import ModelError
from rbdgen.model.joints import JOINT_TYPES, Resistance
from rbdgen.wording import both

Friction: TypeAlias = Literal["exact"] | tuple[Literal["smooth"], float]

LARGEST = 1e30
"""The largest value in SI units, so that products stay finite."""


@dataclass(frozen=True)
class Dissipation:
    """Whether damping and friction are used."""

    damping: bool = False
    friction: Friction | None = None
    """None for no friction; "exact" for the sign of the velocity, 0 at rest; ("smooth", e) for
    v / sqrt(v^2 + e^2) with e in rad/s or m/s.
    """

    @property
    def smoothing(self) -> float:
        """e, which is 0 for the exact sign."""
        return self.friction[1] if isinstance(self.friction, tuple) else 0.0

    def as_json(self) -> dict[str, bool | str | None]:
        """The values as the command line takes them."""
        friction = self.friction if self.friction in (None, "exact") else f"smooth:{self.smoothing!r}"
        return {"damping": self.damping, "friction": friction}


LOSSLESS = Dissipation()


def resistance_of(joint: DescribedJoint, dissipation: Dissipation, path: str) -> Resistance:
    """The resistance of each degree of freedom of a moving joint.

    Raises ModelError for a spring on a joint that does not have a single coordinate, and for negative values.
    """
    if joint.stiffness != 0 and _several(joint):
        raise ModelError(
            f"{path}:{joint.line}: joint {quoted(joint.name)} is {joint.type} and has a stiffness, "
            f"{joint.stiffness:g}; springs act on joints of one degree of freedom: leave it out"
        )
    if not _resists(joint):
        return Resistance()
    used = {
        "damping": joint.damping if dissipation.damping else 0.0,
        "friction": joint.friction if dissipation.friction else 0.0,
        "stiffness": joint.stiffness,
        "armature": joint.armature,
    }
    for what, value in used.items():
        if not 0 <= value <= LARGEST:
            raise ModelError(
                f"{path}:{joint.line}: joint {quoted(joint.name)} has {what} {value:g}; write a number from "
                f"0 to {LARGEST:g}"
            )
    return Resistance(smoothing=dissipation.smoothing, reference=joint.spring_reference, **used)


def left_out(description: Description, dissipation: Dissipation) -> Iterator[str]:
    """The resistance that is given but not used: one line per joint, or one per kind where the description
    has no lines.
    """
    alike: dict[str, list[str]] = {}
    for joint, given, remedy in _unused(description, dissipation):
        values = ", ".join(f"{what} {value:g}" for what, value in given.items())
        if description.lines:
            where = f"{description.path}:{joint.line}"
            yield f"{where}: joint {quoted(joint.name)} has {values}; {remedy}"
        else:
            alike.setdefault(f"{', '.join(given)}; {remedy}", []).append(joint.name)
    for said, names in alike.items():
        listed = ", ".join(quoted(name, 40) for name in names[:3])
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        have = "joint {} has" if len(names) == 1 else "joints {} have"
        yield f"{description.path}: {have.format(f'{listed}{more}')} {said}"


def _unused(
    description: Description, dissipation: Dissipation
) -> Iterator[tuple[DescribedJoint, dict[str, float], str]]:
    """The joints whose resistance is not used, with its values and advice."""
    for joint in description.joints:
        if joint.type == "fixed":
            continue
        given = {"damping": joint.damping, "friction": joint.friction, "armature": joint.armature}
        remedy = f"ignored: {joint.type} joints have none"
        if _resists(joint):
            used = {"damping": dissipation.damping, "friction": dissipation.friction, "armature": True}
            given = {what: value for what, value in given.items() if not used[what]}
            options = {"damping": both("damping", True), "friction": both("friction", "exact")}
            asked = " and ".join(options[what] for what, value in given.items() if value != 0)
            remedy = f"left out: pass {asked}, or add these torques yourself"
        given = {what: value for what, value in given.items() if value != 0}
        if given:
            yield joint, given, remedy


def _resists(joint: DescribedJoint) -> bool:
    return joint.type not in JOINT_TYPES or JOINT_TYPES[joint.type].resists


def _several(joint: DescribedJoint) -> bool:
    return joint.type == "universal" or (joint.type in JOINT_TYPES and JOINT_TYPES[joint.type].nv > 1)
