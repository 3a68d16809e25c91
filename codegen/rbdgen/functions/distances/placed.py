"""Capsules and joints at a configuration.

All is in the axes of the root: the floating base, or the world of a robot without one. Pairs of the robot
with itself then do not depend on the pose of the base, and obstacles are moved to the base instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

from rbdgen.functions.distances.obstacles import Obstacle, obstacles_of
from rbdgen.functions.distances.segments import Segment
from rbdgen.functions.kinematics.placement import FromRoot, in_world
from rbdgen.model.distances import Capsule, cleared
from rbdgen.model.model import WORLD, Model
from rbdgen.model.reduce import ReducedBody, ReducedModel
from rbdgen.spatial.ops import NO_TRANSFORM, ZERO, Matrix, Motion, Transform, Vector
from rbdgen.spatial.planar import PlanarRotation, Z
from rbdgen.spatial.scalar import Scalar
from rbdgen.sweeps.inputs import State


@dataclass(frozen=True)
class Placed:
    """Bodies and capsules of a model in the axes of the root."""

    model: Model
    x: State
    root: int
    poses: Sequence[Transform]
    """The pose of every body in the root; that of the root itself is in the world."""
    capsules: Sequence[Segment]
    subspaces: Sequence[Sequence[Motion]]
    """The motion subspace of every body's joint, in the axes of the body."""

    @classmethod
    def at(cls, robot: Model | ReducedModel, x: State) -> Self:
        """The robot at the configuration of a state."""
        model = robot if isinstance(robot, Model) else robot.model
        root = 0 if model.is_floating else WORLD
        if isinstance(robot, Model):
            poses, _ = in_world(robot, x.q, x.naming, root)
            own = [(one.center, one.axis) for one in model.distances.capsules]
            subspaces = [body.joint.motion_subspace for body in robot.bodies]
        else:
            robot = robot.in_metres
            seen = FromRoot.at(robot, x.q, x.naming, root)
            poses = [Transform(R, p) for R, p in zip(seen.R, seen.p, strict=True)]
            own = [_on_reduced(robot, seen.bodies, one) for one in model.distances.capsules]
            subspaces = [body.subspace for body in seen.bodies]
        placed = cls(model, x, root, poses, (), subspaces)
        capsules = [
            placed.segment(one, *place, k)
            for k, (one, place) in enumerate(zip(model.distances.capsules, own, strict=True))
        ]
        return cls(model, x, root, poses, capsules, subspaces)

    def segment(self, capsule: Capsule, center: Vector, axis: Vector, number: int) -> Segment:
        """A capsule, from its centre and axis in the axes of its body."""
        R, p = self.on(capsule.body)
        return Segment(
            (p + R.apply(center)).named(self.x.naming, f"c[{number}]"),
            R.apply(axis).named(self.x.naming, f"u[{number}]") if capsule.half_length else ZERO,
            capsule.half_length,
            capsule.radius,
        )

    def on(self, body: int) -> Transform:
        """The pose of a body, or of the world, in the root."""
        if body == self.root:
            return NO_TRANSFORM
        return self.base.inverse if body == WORLD else self.poses[body]

    @property
    def base(self) -> Transform:
        """The pose of the root in the world."""
        return NO_TRANSFORM if self.root == WORLD else self.poses[self.root]

    @cached_property
    def obstacles(self) -> dict[str, list[Obstacle]]:
        """The obstacles of each kind, in the axes of the root."""
        return obstacles_of(self.x.arrays, self.base, self.x.sqrt)

    @cached_property
    def columns(self) -> Sequence[tuple[Motion, ...]]:
        """The motion at the origin of the root for each degree of freedom of each joint."""
        return [tuple(self._column(i, S) for S in subspace) for i, subspace in enumerate(self.subspaces)]

    def _column(self, body: int, S: Motion) -> Motion:
        R, p = self.on(body)
        w = R.apply(S.angular)
        return Motion(w, R.apply(S.linear) + p.cross(w))

    def twists(self, rates: Sequence[Scalar]) -> list[Motion]:
        """The motion of every body relative to the root, at these rates of all degrees of freedom. That of
        the root itself is relative to the world.
        """
        found: list[Motion] = []
        for i, body in enumerate(self.model.bodies):
            own = Motion(ZERO, ZERO) if body.parent in (WORLD, self.root) else found[body.parent]
            for column, rate in zip(self.columns[i], body.joint.slice(rates), strict=True):
                own = own + column * rate
            found.append(own.named(self.x.naming, f"twist[{i}]"))
        return found


def _on_reduced(
    reduced: ReducedModel, placed: Sequence[ReducedBody], capsule: Capsule
) -> tuple[Vector, Vector]:
    """The centre and the axis of a capsule in the axes of its body in a reduced model."""
    if capsule.body == WORLD:
        return capsule.center, capsule.axis
    back: Matrix
    back, origin = reduced.bodies[capsule.body].frame.inverse
    center, axis = cleared(back.apply(capsule.center) + origin), cleared(back.apply(capsule.axis))
    lag = placed[capsule.body].lag
    if lag is None:
        return center, axis
    turned = PlanarRotation(Z, *lag)
    return turned.apply(center), turned.apply(axis)
