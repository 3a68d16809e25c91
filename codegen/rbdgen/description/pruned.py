"""Reduces a description to a part of the robot: locks joints, keeps a subtree, or keeps a chain."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches

from rbdgen.description.quoting import quoted
from rbdgen.description.schema import Description, Joint, Origin
from rbdgen.errors import DescriptionError
from rbdgen.spatial.ops import IDENTITY, Matrix, Transform, Vector
from rbdgen.spatial.rpy import rotation_from_rpy, rpy_from_rotation


def pruned(
    description: Description,
    lock: Mapping[str, float] | None = None,
    root: str | None = None,
    tip: str | None = None,
) -> Description:
    """The description with joints locked, and then reduced to a subtree or a chain.

    The warnings of the result list the links that were dropped.

    Args:
        description: the whole robot.
        lock: positions by joint, rad or m. These joints become fixed there, and so do joints that mimic them.
        root: the link that becomes the root; only the links below it are kept. If the base is fixed, the
            frame of this link becomes the world frame.
        tip: the last link of a chain from the root. Only the links of this chain are kept; all others are
            dropped with their mass, fixed links as well, as in a chain of KDL.

    Raises:
        DescriptionError: a joint or link does not exist, or a joint cannot be locked.
    """
    if tip is not None:
        _check_link(description, tip)
    if lock:
        description = _locked(description, lock)
    if root is not None and root != description.root:
        description = _below(description, root)
    return _without_what_hung_there(description if tip is None else _chain(description, tip))


def _without_what_hung_there(description: Description) -> Description:
    """The description without closed loops and places that refer to a link that was dropped."""
    links = {"world"} | {link.name for link in description.links}
    places = tuple(place for place in description.places if place.link is None or place.link in links)
    kept = tuple(loop for loop in description.loops if {loop.frame1, loop.frame2} <= links)
    dropped = (
        f"{loop.where}: a loop of {quoted(loop.frame1)} and {quoted(loop.frame2)} goes to a part that was "
        "dropped; ignored"
        for loop in description.loops
        if loop not in kept
    )
    warnings = (*description.warnings, *dropped)
    return replace(description, loops=kept, places=places, warnings=warnings)


def _locked(description: Description, lock: Mapping[str, float]) -> Description:
    joints = {joint.name: joint for joint in description.joints}
    for name, value in lock.items():
        if name not in joints:
            raise _unknown(description, "joint", name, joints)
        joint = joints[name]
        if joint.type == "fixed":
            what = f"joint {quoted(name)} is fixed, so it cannot be locked"
            raise DescriptionError(description.path, joint.line, what, "leave it out")
        if not math.isfinite(value):
            what = f"joint {quoted(name)} cannot be locked at {value}"
            raise DescriptionError(description.path, joint.line, what, "give a finite number, rad or m")
    values, warnings = dict(lock), []
    followers = [joint for joint in description.joints if joint.mimic is not None]
    for _ in followers:  # one pass for each joint of the longest possible chain of followers
        for joint in followers:
            mimic = joint.mimic
            if mimic is not None and mimic.joint in values and joint.name not in values:
                values[joint.name] = mimic.multiplier * values[mimic.joint] + mimic.offset
                what = f"joint {quoted(joint.name)} mimics {quoted(mimic.joint)}, which is locked; locked too"
                warnings.append(f"{description.path}:{joint.line}: {what}")
    return replace(
        description,
        joints=tuple(
            _fixed(description, joint, values[joint.name]) if joint.name in values else joint
            for joint in description.joints
        ),
        warnings=(*description.warnings, *warnings),
    )


def _fixed(description: Description, joint: Joint, value: float) -> Joint:
    """A fixed joint that holds the child where this joint holds it at position `value`."""
    axis = Vector(*joint.axis)
    if joint.type in ("revolute", "continuous"):
        moved = Transform(_about(axis, value), Vector())
    elif joint.type == "prismatic":
        moved = Transform(IDENTITY, axis * value)
    elif joint.type == "helical":
        moved = Transform(_about(axis, value), axis * (joint.pitch * value))
    else:
        what = f"joint {quoted(joint.name)} is {joint.type}, which has no single position to lock it at"
        raise DescriptionError(description.path, joint.line, what, "lock joints of one coordinate only")
    origin = joint.origin
    if value != 0:
        placement = Transform(rotation_from_rpy(*origin.rpy), Vector(*origin.xyz)) @ moved
        x, y, z = map(float, placement.translation)
        origin = Origin((x, y, z), rpy_from_rotation(placement.rotation))
    return replace(
        joint, type="fixed", origin=origin, axis=(1.0, 0.0, 0.0), limit=None, mimic=None, pitch=0.0
    )


def _about(axis: Vector, angle: float) -> Matrix:
    """Rodrigues' formula for the rotation about the unit vector n: 1 + sin [n x] + (1 - cos) [n x]^2."""
    skew = Matrix.skew(axis)
    return IDENTITY + skew * math.sin(angle) + (skew @ skew) * (1.0 - math.cos(angle))


def _below(description: Description, root: str) -> Description:
    """The description of `root` and the links below it."""
    _check_link(description, root)
    kept = _carried(description, root)
    links = tuple(link for link in description.links if link.name in kept)
    dropped = [link.name for link in description.links if link.name not in kept]
    line = next(link.line for link in links if link.name == root)
    what = f"link {quoted(root)} is the root; dropped what it does not carry: {_listed(dropped)}"
    part = _kept(description, kept, root, [f"{description.path}:{line}: {what}"])
    # The frame of the root is the new world frame, so places in the old world frame are dropped.
    places = tuple(place for place in description.places if place.link in kept)
    return replace(part, floating=False, places=places)


def _chain(description: Description, tip: str) -> Description:
    """The description of the chain from the root to `tip`."""
    if all(link.name != tip for link in description.links):
        what = f"link {quoted(tip)} is not carried by link {quoted(description.root)}"
        raise DescriptionError(description.path, None, what, "give a tip below the root")
    above = {joint.child: joint for joint in description.joints}
    kept = {tip}
    while (joint := above.get(tip)) is not None:
        tip = joint.parent
        kept.add(tip)
    dropped = []
    for joint in description.joints:
        if joint.parent in kept and joint.child not in kept:
            others = len(_carried(description, joint.child)) - 1
            more = f", with {others} behind it," if others else ""
            what = f"link {quoted(joint.child)}{more} hangs off the chain; dropped, its mass as well"
            dropped.append(f"{description.path}:{joint.line}: {what}")
    return _kept(description, kept, description.root, dropped)


def _kept(description: Description, kept: set[str], root: str, dropped: Sequence[str]) -> Description:
    joints = [joint for joint in description.joints if joint.parent in kept and joint.child in kept]
    names = {joint.name for joint in joints}
    gone = {joint.name for joint in description.joints} - names
    warnings = [*description.warnings, *dropped]
    for k, joint in enumerate(joints):
        if joint.mimic is not None and joint.mimic.joint in gone:
            joints[k] = replace(joint, mimic=None)
            what = f"joint {quoted(joint.name)} mimics {quoted(joint.mimic.joint)}, which was dropped"
            warnings.append(f"{description.path}:{joint.line}: {what}; taken as an independent joint")
    return replace(
        description,
        links=tuple(link for link in description.links if link.name in kept),
        joints=tuple(joints),
        root=root,
        warnings=tuple(warnings),
    )


def _carried(description: Description, root: str) -> set[str]:
    """The names of the link and of all links below it."""
    below: dict[str, list[str]] = {}
    for joint in description.joints:
        below.setdefault(joint.parent, []).append(joint.child)
    carried, stack = set(), [root]
    while stack:
        link = stack.pop()
        carried.add(link)
        stack += below.get(link, ())
    return carried


def _check_link(description: Description, name: str) -> None:
    links = [link.name for link in description.links]
    if name not in links:
        raise _unknown(description, "link", name, links)


def _unknown(description: Description, kind: str, name: str, known: Iterable[str]) -> DescriptionError:
    known = list(known)
    near = get_close_matches(name, known, n=3) or known
    what_to_do = f"give the name of a {kind}, such as {_listed(near)}"
    return DescriptionError(description.path, None, f"there is no {kind} {quoted(name)}", what_to_do)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - 4} more" if len(names) > 4 else ""
    return ", ".join(quoted(name, 40) for name in names[:4]) + more
