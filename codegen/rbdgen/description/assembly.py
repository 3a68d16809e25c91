"""Makes a description of links and joints that do not come from a URDF, with the same checks as for a
URDF."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from math import isfinite

from rbdgen.description.quoting import quoted
from rbdgen.description.schema import Description, Joint, Link
from rbdgen.description.soundness import inertia_warnings, missing_inertial_warnings
from rbdgen.description.tree import find_root
from rbdgen.errors import DescriptionError


def assembled(
    name: str, links: Sequence[Link], joints: Sequence[Joint], path: str, warnings: Sequence[str] = ()
) -> Description:
    """The description of these links and joints.

    In messages, `path` stands for the name of the file, and `line` of a link or joint for the line.

    Raises DescriptionError for names and numbers that are not allowed in a URDF either, and if the links and
    joints do not form one tree.
    """
    if not links:
        raise DescriptionError(path, None, "the robot has no body", "add one")
    for kind, things in (("link", links), ("joint", joints)):
        for thing in things:
            _check(path, kind, thing)
    root = find_root(path, links, joints)
    moved = {joint.child for joint in joints if joint.type != "fixed"}
    missing = [link for link in links if link.inertial is None and link.name in moved]
    return Description(
        name=name,
        links=tuple(links),
        joints=tuple(joints),
        root=root,
        path=path,
        sha256=hashlib.sha256(repr((name, links, joints)).encode()).hexdigest(),
        warnings=(*warnings, *inertia_warnings(path, links), *missing_inertial_warnings(path, missing)),
    )


def _check(path: str, kind: str, thing: Link | Joint) -> None:
    """Raises DescriptionError for a name that is not printable, a number that is not finite, or a negative
    mass."""
    if not (thing.name.strip() and thing.name.isprintable()):
        what = f"{quoted(thing.name)} is no name for a {kind}"
        raise DescriptionError(path, thing.line, what, "give a text of printable letters")
    if not all(map(isfinite, _numbers(thing))):
        what = f"{kind} {quoted(thing.name)} has a number that is not finite"
        raise DescriptionError(path, thing.line, what, "correct it")
    if isinstance(thing, Link) and thing.inertial is not None and thing.inertial.mass < 0:
        what = f"mass of link {quoted(thing.name)} is {thing.inertial.mass:g} kg, less than zero"
        raise DescriptionError(path, thing.line, what, "give a mass of zero or more")


def _numbers(thing: Link | Joint) -> Iterator[float]:
    if isinstance(thing, Joint):
        yield from (*thing.origin.xyz, *thing.origin.rpy, *thing.axis)
        yield from (thing.damping, thing.friction, thing.armature, thing.stiffness, thing.spring_reference)
        if thing.mimic is not None:
            yield from (thing.mimic.multiplier, thing.mimic.offset)
    elif thing.inertial is not None:
        i = thing.inertial
        yield from (*i.origin.xyz, *i.origin.rpy, i.mass, i.ixx, i.ixy, i.ixz, i.iyy, i.iyz, i.izz)
