"""Where every link of a description stands: on which body, and how placed.

A link that moves by itself is a body. A link behind a fixed joint, such as a tool or a foot, is a part of the
body that carries it, and its frame stays known by its name.
"""

from __future__ import annotations

from dataclasses import dataclass

from rbdgen.spatial.ops import Transform


@dataclass(frozen=True)
class Attachment:
    """A link's frame on a body.

    `body`: its index, or WORLD for a link that does not move; `placement`: of the link's frame in the frame
    of the body's joint (of the world's axes where body is WORLD), m; `merged`: whether the link is a part of
    a body that has another name.
    """

    link: str
    body: int
    placement: Transform
    merged: bool
