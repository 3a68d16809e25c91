"""Named frames: links, joints and further places on a robot, by their names in the description."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from rbdgen.description.quoting import quoted
from rbdgen.description.schema import Description, Origin
from rbdgen.errors import ModelError
from rbdgen.model.attachments import Attachment
from rbdgen.model.rotations import snap_rotation
from rbdgen.spatial.ops import NO_TRANSFORM, Transform, Vector
from rbdgen.spatial.rpy import rotation_from_rpy
from rbdgen.wording import near, option

WORLD_FRAME = "world"
"""The name of the world as a frame, unless a link has it."""

_WORLD = -1  # model.WORLD; that module imports this one


@dataclass(frozen=True)
class Frame:
    """A frame that a body carries."""

    name: str
    body: int
    """The index of the body, or WORLD."""
    placement: Transform
    """The pose in the frame of the body's joint (in world axes if `body` is WORLD), in m."""


def known_frames(
    description: Description, attachments: Sequence[Attachment], snap: float
) -> dict[str, Frame]:
    """All frames of a robot by name: links and places on them in the description's order, then joints.

    The frame of a joint moves with the joint's child, so it is the frame of that link. If two frames share a
    name, it stands for the first one; "world" stands for the world unless a link has this name. `snap` is as
    for placements of joints.
    """
    known = {x.link: Frame(x.link, x.body, x.placement) for x in attachments}
    world = Frame(WORLD_FRAME, _WORLD, NO_TRANSFORM)
    found = {link.name: known[link.name] for link in description.links}
    for place in description.places:
        carrier = world if place.link is None else known[place.link]
        R, p = carrier.placement @ placed(place.origin)
        on_body = Transform(snap_rotation(R, snap)[0], p)
        found.setdefault(place.name, Frame(place.name, carrier.body, on_body))
    for joint in description.joints:
        child = known[joint.child]
        found.setdefault(joint.name, Frame(joint.name, child.body, child.placement))
    if WORLD_FRAME not in known:
        found.pop(WORLD_FRAME, None)
        found[WORLD_FRAME] = world
    return found


def chosen_frames(asked: Iterable[str], known: Mapping[str, Frame], description: Description) -> list[Frame]:
    """The frames that were asked for, in order and without repetition.

    `asked` has names, or patterns such as "foot_*", which stand for the links and places that match, in the
    description's order. Raises ModelError for a name or a pattern that matches none.
    """
    chosen: dict[str, Frame] = {}
    for name in asked:
        found = matching(name, known, description)
        if not found:
            what = f"{description.path}: {option('frames', [name])}: there is no frame {quoted(name)}"
            raise ModelError(f"{what}; {nearest(name, known, 'a link or joint')}")
        chosen |= {place: known[place] for place in found}
    return list(chosen.values())


def matching(name: str, known: Mapping[str, Frame], description: Description) -> list[str]:
    """The frame of this name, or the links and places on links that match it as a pattern, in order."""
    if name in known:
        return [name]
    places = [*(x.name for x in description.links), *(x.name for x in description.places)]
    return [place for place in places if fnmatchcase(place, name)]


def nearest(name: str, known: Iterable[str], kind: str) -> str:
    """The advice about an unknown name, as a part of an error message."""
    meant = " or ".join(map(quoted, near(name, known)))
    return f"did you mean {meant}?" if meant else f"name {kind}, or the world; rbdgen inspect shows them"


def placed(origin: Origin) -> Transform:
    """An origin of a description as a transform."""
    return Transform(rotation_from_rpy(*origin.rpy), Vector(*origin.xyz))
