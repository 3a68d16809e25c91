"""Closed loops: two frames of a tree that stay together, which no joint of the tree says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from rbdgen.description.quoting import quoted
from rbdgen.description.schema import Loop as DescribedLoop
from rbdgen.description.schema import LoopKind, Origin
from rbdgen.errors import ModelError
from rbdgen.model.attachments import Attachment
from rbdgen.spatial.ops import NO_TRANSFORM, Transform, Vector
from rbdgen.spatial.rpy import rotation_from_rpy

WORLD_FRAME = "world"
"""The world's name as a frame, where no link has it."""

_WORLD = -1  # model.WORLD, which imports this


@dataclass(frozen=True)
class Anchor:
    """A frame that a loop holds.

    `body`: that carries it, or WORLD; `placement`: in the frame of the body's joint, m.
    """

    frame: str
    body: int
    placement: Transform


@dataclass(frozen=True)
class Loop:
    """Two frames that stay together: their origins, or (`frame`) their axes as well."""

    first: Anchor
    second: Anchor
    kind: LoopKind

    @property
    def rows(self) -> int:
        """How many equations it is."""
        return 3 if self.kind == "point" else 6


def model_loops(
    described: Sequence[DescribedLoop], attachments: Sequence[Attachment]
) -> tuple[list[Loop], list[str]]:
    """The loops on the bodies, and warnings of those in a file that no joint moves.

    Raises ModelError for an unknown frame, and where no joint moves a loop that the user asked for.
    """
    loops, warnings = [], []
    for one in described:
        loop = _model_loop(one, attachments)
        if loop.first.body != loop.second.body:
            loops.append(loop)
            continue
        frames = f"frames {quoted(loop.first.frame)} and {quoted(loop.second.frame)}"
        what = f"{one.where}: {frames} are on one body, so no joint moves this loop"
        if one.asked:
            raise ModelError(f"{what}; name frames with a joint between them")
        warnings.append(f"{what}; ignored")
    return loops, warnings


def _model_loop(described: DescribedLoop, attachments: Sequence[Attachment]) -> Loop:
    first = _anchor(described, described.frame1, described.origin1, attachments)
    second = _anchor(described, described.frame2, described.origin2, attachments)
    if described.frame1 == described.frame2:
        raise ModelError(
            f"{described.where}: a loop of frame {quoted(first.frame)} with itself; name two frames"
        )
    return Loop(first, second, described.kind)


def _anchor(loop: DescribedLoop, name: str, origin: Origin, attachments: Sequence[Attachment]) -> Anchor:
    own = Transform(rotation_from_rpy(*origin.rpy), Vector(*origin.xyz))
    known = {attachment.link: (attachment.body, attachment.placement) for attachment in attachments}
    known.setdefault(WORLD_FRAME, (_WORLD, NO_TRANSFORM))
    if name not in known:
        near = " or ".join(map(quoted, get_close_matches(name, known, n=3)))
        remedy = f"did you mean {near}?" if near else "name links, or the world; rbdgen inspect shows them"
        raise ModelError(f"{loop.where}: a loop of frame {quoted(name)}, which there is none of; {remedy}")
    body, placement = known[name]
    return Anchor(name, body, placement @ own)
