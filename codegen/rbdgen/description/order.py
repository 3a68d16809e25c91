"""The order of joints: depth first, with the children of a link by name, as in Pinocchio, or as in the
file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rbdgen.description.schema import Joint, Order


def ordered(joints: Sequence[Joint], order: Order) -> list[Joint]:
    """Sorts the child joints of one link, which are given in the order of the file."""
    return sorted(joints, key=lambda joint: joint.name) if order == "name" else list(joints)


def reordered(joints: Sequence[Joint], root: str, path: str) -> Iterator[str]:
    """A warning if the file does not list the joints depth first, so that rbdgen's order differs from it."""
    below: dict[str, list[Joint]] = {}
    for joint in joints:
        below.setdefault(joint.parent, []).append(joint)
    found: list[Joint] = []
    stack = below.get(root, [])[::-1]
    while stack:
        joint = stack.pop()
        found.append(joint)
        stack += below.get(joint.child, [])[::-1]
    given, taken = ([joint.name for joint in some if joint.type != "fixed"] for some in (joints, found))
    if given != taken:
        what = "its joints are not numbered depth first"
        yield f"{path}: {what}; vectors follow the order of joint_names instead"
