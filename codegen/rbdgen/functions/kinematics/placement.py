"""Placements of bodies and frames in the world.

The cheap form goes from the root to the frames. The rows of a body's R are those of its parent, each rotated
by the factors of the rotation between the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rbdgen.model.joints import Coordinate
from rbdgen.model.model import WORLD, Model
from rbdgen.model.reduce import PlacedFrame, ReducedBody, ReducedModel
from rbdgen.spatial.ops import IDENTITY, NO_TRANSFORM, ZERO, Matrix, Transform, Vector
from rbdgen.spatial.scalar import Naming, unnamed


def in_world(
    model: Model, q: Sequence[Coordinate], naming: Naming = unnamed, root: int = WORLD
) -> tuple[list[Transform], list[Transform]]:
    """The placements of all bodies and of the chosen frames; q has one coordinate per body.

    If `root` is a body, the placements of all that it carries, including frames on it, are relative to this
    body. All others are relative to the world.
    """
    bodies: list[Transform] = []
    for i, (body, q_i) in enumerate(zip(model.bodies, q, strict=True)):
        above = NO_TRANSFORM if body.parent in (WORLD, root) else bodies[body.parent]
        R, p = above @ body.transform(q_i)
        bodies.append(Transform(R.named(naming, f"R[{i}]"), p.named(naming, f"p[{i}]")))
    on = {**dict(enumerate(bodies)), WORLD: NO_TRANSFORM, root: NO_TRANSFORM}
    return bodies, [on[frame.body] @ frame.placement for frame in model.frames]


@dataclass(frozen=True)
class FromRoot:
    """Bodies and chosen frames of a reduced model in world axes; lengths are in m."""

    bodies: Sequence[ReducedBody]
    frames: Sequence[PlacedFrame]
    R: Sequence[Matrix]
    """The rotation from the axes of every body to those of the world."""
    p: Sequence[Vector]
    """The origin of every body."""
    step: Sequence[Vector]
    """The vector from the parent's origin to the body's."""
    root: int = WORLD
    """The world, or a body. All that this body carries is given in its axes and relative to its origin."""

    @classmethod
    def at(
        cls, reduced: ReducedModel, q: Sequence[Coordinate], naming: Naming = unnamed, root: int = WORLD
    ) -> FromRoot:
        """The placements at joint coordinates q, one per body."""
        reduced = reduced.in_metres
        bodies = reduced.at(q)
        R: list[Matrix] = []
        p: list[Vector] = []
        steps: list[Vector] = []
        for i, body in enumerate(bodies):
            hung = body.parent in (WORLD, root)
            above, at = (IDENTITY, ZERO) if hung else (R[body.parent], p[body.parent])
            step = above.apply(body.translation).named(naming, f"step[{i}]")
            steps.append(step)
            p.append((at + step).named(naming, f"p[{i}]"))
            R.append(turned(above, body).named(naming, f"R[{i}]"))
        return cls(bodies, reduced.frames_on(bodies), R, p, steps, root)

    def placements(self) -> list[Transform]:
        """The placements of the frames."""
        return [Transform(turned(self.above(x), x), self.origin(x) + self.lever(x)) for x in self.frames]

    def above(self, frame: PlacedFrame) -> Matrix:
        """R of the body that carries a frame."""
        return IDENTITY if frame.parent in (WORLD, self.root) else self.R[frame.parent]

    def origin(self, frame: PlacedFrame) -> Vector:
        """The origin of the body that carries a frame."""
        return ZERO if frame.parent in (WORLD, self.root) else self.p[frame.parent]

    def lever(self, frame: PlacedFrame) -> Vector:
        """The vector from the origin of the body that carries a frame to the frame's origin."""
        return self.above(frame).apply(frame.translation)


def turned(R: Matrix, body: ReducedBody | PlacedFrame) -> Matrix:
    """R of a body or frame whose parent has this R."""
    return Matrix(*map(body.rotation.to_child, R))
