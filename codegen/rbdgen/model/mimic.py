"""Mimic joints of a description: the independent joint that each one follows, and the linear law."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rbdgen.description.quoting import quoted
from rbdgen.description.schema import Description
from rbdgen.description.schema import Joint as DescribedJoint
from rbdgen.errors import ModelError
from rbdgen.model.joints import JOINT_TYPES
from rbdgen.wording import option

Mimics: TypeAlias = Literal["eliminate", "independent"]
"""The treatment of mimic joints: "eliminate" makes them followers without elements of q; "independent" makes
them joints like all others.
"""

LARGEST_MULTIPLIER = 1e9
"""The largest multiplier. It is far above any gear ratio, and its square times any inertia is finite."""

_OTHERWISE = f"or take mimic joints as independent: {option('mimic', 'independent')}"


@dataclass(frozen=True)
class Follower:
    """A joint that another one moves: q = multiplier q_primary + offset."""

    joint: str
    primary: str
    """An independent joint, at the end of a chain of followers."""
    multiplier: float
    """The ratio, in rad/rad, m/rad and so on; 0 for a joint that does not move."""
    offset: float
    """The offset, in rad or m."""


def followers_of(description: Description) -> dict[str, Follower]:
    """All followers by name, with chains of them resolved: k2 (k1 q + c1) + c2.

    The order in the file does not matter. Raises ModelError, with file and line, if a joint follows one that
    is missing, is fixed or has several degrees of freedom, or if followers form a cycle.
    """
    joints = {joint.name: joint for joint in description.joints}
    found: dict[str, Follower] = {}
    for joint in description.joints:
        path: list[DescribedJoint] = []
        at = joint
        while at.mimic is not None and at.name not in found:
            if at in path:
                raise _refused(description, at, f"which comes back to {quoted(at.name)}", "delete a <mimic>")
            path.append(at)
            at = _followed(description, at, joints)
        for follower in reversed(path):
            found[follower.name] = _resolved(description, follower, found)
    return found


def _followed(
    description: Description, joint: DescribedJoint, joints: Mapping[str, DescribedJoint]
) -> DescribedJoint:
    """The joint that this joint names in its <mimic>."""
    assert joint.mimic is not None
    if not _has_one_freedom(joint):
        what = f"but is {joint.type}: only a joint of one degree of freedom can follow"
        raise _refused(description, joint, what, "delete <mimic>")
    other = joints.get(joint.mimic.joint)
    if other is None:
        raise _refused(description, joint, "which is no joint of this file", "correct the name")
    if other is joint:
        raise _refused(description, joint, "which is itself", "delete <mimic>")
    if not _has_one_freedom(other):
        what = f"which is {other.type}: only a joint of one degree of freedom can be followed"
        raise _refused(description, joint, what, "delete <mimic>, or make the joint fixed")
    return other


def _has_one_freedom(joint: DescribedJoint) -> bool:
    known = JOINT_TYPES.get(joint.type)
    return joint.type == "helical" if known is None else known.nv == 1


def _resolved(description: Description, joint: DescribedJoint, found: Mapping[str, Follower]) -> Follower:
    """A follower of an independent joint, or of a follower that is resolved already."""
    assert joint.mimic is not None
    k, c, above = joint.mimic.multiplier, joint.mimic.offset, found.get(joint.mimic.joint)
    if above is None:
        follower = Follower(joint.name, joint.mimic.joint, k, c)
    else:
        follower = Follower(joint.name, above.primary, k * above.multiplier, c + k * above.offset)
    if not abs(follower.multiplier) <= LARGEST_MULTIPLIER:
        what = f"{abs(follower.multiplier):.3g} times as fast as {quoted(follower.primary, 40)}"
        raise _refused(description, joint, what, f"write a multiplier of at most {LARGEST_MULTIPLIER:.0e}")
    return follower


def _refused(description: Description, joint: DescribedJoint, what: str, remedy: str) -> ModelError:
    assert joint.mimic is not None
    return ModelError(
        f"{description.path}:{joint.line}: joint {quoted(joint.name, 40)} mimics "
        f"{quoted(joint.mimic.joint, 40)}, {what}; {remedy}, {_OTHERWISE}"
    )


def describe_mimics(description: Description, mimics: Mimics) -> list[str]:
    """A warning for every mimic joint that says how it is treated."""
    done = "it has no place of its own in q" if mimics == "eliminate" else "taken as an independent joint"
    return [
        f"{description.path}:{joint.line}: "
        f"joint {quoted(joint.name)} mimics {quoted(joint.mimic.joint)}; {done}"
        for joint in description.joints
        if joint.mimic is not None
    ]
