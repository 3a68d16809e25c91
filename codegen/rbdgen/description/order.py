"""The order of joints: depth first, the children of a link by joint name, as Pinocchio orders a URDF's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rbdgen.description.schema import Joint


def reordered(joints: Sequence[Joint], root: str, path: str) -> Iterator[str]:
    """A warning where joints that have an order of their own get another one."""
    below: dict[str, list[Joint]] = {}
    for joint in joints:
        below.setdefault(joint.parent, []).append(joint)
    order: list[Joint] = []
    stack = sorted(below.get(root, ()), key=lambda joint: joint.name, reverse=True)
    while stack:
        joint = stack.pop()
        order.append(joint)
        stack += sorted(below.get(joint.child, ()), key=lambda joint: joint.name, reverse=True)
    given, found = ([joint.name for joint in some if joint.type != "fixed"] for some in (joints, order))
    if given != found:
        yield f"{path}: its joints are not ordered by name; vectors follow the order of joint_names instead"
