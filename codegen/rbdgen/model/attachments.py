"""The place of every link of a description: the body that carries it, and the pose on that body.

A link that moves on its own is a body. A link after a fixed joint, such as a tool or a foot, is a part of the
body that carries it, and its frame can still be referred to by its name.
"""

from __future__ import annotations

from dataclasses import dataclass

from rbdgen.spatial.ops import Transform


@dataclass(frozen=True)
class Attachment:
    """A link's frame on a body."""

    link: str
    body: int
    """The index of the body, or WORLD for a link that does not move."""
    placement: Transform
    """The pose of the link's frame in the frame of the body's joint (in world axes if `body` is WORLD), in
    m.
    """
    merged: bool
    """Whether the link is a part of a body that has another name."""
