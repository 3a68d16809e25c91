"""Links and joints that come from no file become a description, held to what a file is held to."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from rbdgen.description.schema import Description, Joint, Link
from rbdgen.description.soundness import inertia_warnings, missing_inertial_warnings
from rbdgen.description.tree import find_root
from rbdgen.errors import DescriptionError


def assembled(
    name: str, links: Sequence[Link], joints: Sequence[Joint], path: str, warnings: Sequence[str] = ()
) -> Description:
    """The description; `path` stands for the file in messages, `line` of a link or joint for the line.

    Raises DescriptionError where the links and joints do not form one tree.
    """
    if not links:
        raise DescriptionError(path, None, "the robot has no body", "add one")
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
