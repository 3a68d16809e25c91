"""Closed loops: two frames of a tree that are held together, without a joint of the tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rbdgen.description.quoting import quoted
from rbdgen.description.schema import Loop as DescribedLoop
from rbdgen.description.schema import LoopKind, Origin
from rbdgen.errors import ModelError
from rbdgen.model.frames import Frame, nearest, placed


@dataclass(frozen=True)
class Loop:
    """Two frames that are held together: their origins, and for kind "frame" also their axes."""

    first: Frame
    second: Frame
    kind: LoopKind

    @property
    def rows(self) -> int:
        """The number of equations."""
        return 3 if self.kind == "point" else 6


def model_loops(
    described: Sequence[DescribedLoop], known: Mapping[str, Frame]
) -> tuple[list[Loop], list[str]]:
    """The closed loops on the bodies, and warnings about loops of a file that no joint moves.

    `known` has all frames by name. Raises ModelError for an unknown frame, and if no joint moves a closed
    loop that the user asked for.
    """
    loops, warnings = [], []
    for one in described:
        loop = _model_loop(one, known)
        if loop.first.body != loop.second.body:
            loops.append(loop)
            continue
        frames = f"frames {quoted(loop.first.name)} and {quoted(loop.second.name)}"
        what = f"{one.where}: {frames} are on one body, so no joint moves this loop"
        if one.asked:
            raise ModelError(f"{what}; name frames with a joint between them")
        warnings.append(f"{what}; ignored")
    return loops, warnings


def _model_loop(described: DescribedLoop, known: Mapping[str, Frame]) -> Loop:
    first = _held(described, described.frame1, described.origin1, known)
    second = _held(described, described.frame2, described.origin2, known)
    if described.frame1 == described.frame2:
        raise ModelError(
            f"{described.where}: a loop of frame {quoted(first.name)} with itself; name two frames"
        )
    return Loop(first, second, described.kind)


def _held(loop: DescribedLoop, name: str, origin: Origin, known: Mapping[str, Frame]) -> Frame:
    """The frame of a closed loop at `origin` in the frame of this name."""
    if name not in known:
        what = f"{loop.where}: a loop of frame {quoted(name)}, which does not exist"
        raise ModelError(f"{what}; {nearest(name, known, 'links')}")
    body, placement = known[name].body, known[name].placement
    return Frame(name, body, placement @ placed(origin))
