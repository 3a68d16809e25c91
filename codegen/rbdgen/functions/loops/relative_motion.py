"""Closed loops at the levels of position, velocity and acceleration.

A closed loop holds frame 2 in frame 1. All quantities are those of frame 2 relative to frame 1, in the axes
of frame 1. The walk goes from frame 1 up to the last body that carries both, and from there down to frame 2.
Joints above that body move both frames alike, so their columns are exactly 0.

Featherstone, Rigid Body Dynamics Algorithms, 2008, chapter 8; his rows are these in other axes.

Rows of a frame: the twist of frame 2 relative to frame 1 at the origin of frame 1, linear first: X_1^-1 (J_2
- J_1). Rows of a point: the velocity of the origin of frame 2 relative to frame 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rbdgen.functions.inverse_dynamics.newton_euler import joint_motion
from rbdgen.functions.momentum.energy import half
from rbdgen.model.joints import Coordinate, Joint
from rbdgen.model.loops import Loop
from rbdgen.model.model import Model
from rbdgen.spatial.ops import NO_MOTION, Motion, Transform, Vector
from rbdgen.spatial.scalar import Naming, Scalar, sub, unnamed


class Passed(NamedTuple):
    """A joint on the walk, the placement of its body in frame 1, and the direction: 1 if the walk goes down
    to the body, -1 if it goes up from it.
    """

    joint: Joint
    at: Transform
    sign: int

    def seen(self, m: Motion) -> Motion:
        """The motion of all that follows on the walk for a motion m of the joint, in frame 1."""
        return self.at.motion_to_parent(m) * self.sign


def walk(model: Model, loop: Loop, q: Sequence[Coordinate]) -> tuple[list[Passed], Transform]:
    """The joints from frame 1 to frame 2, and the placement of frame 2 in frame 1."""
    up, down = model.path(loop.first.body, loop.second.body)
    at = loop.first.placement.inverse
    passed = []
    for i in up:
        passed.append(Passed(model.bodies[i].joint, at, -1))
        at = at @ model.bodies[i].transform(q[i]).inverse
    for i in down:
        at = at @ model.bodies[i].transform(q[i])
        passed.append(Passed(model.bodies[i].joint, at, 1))
    return passed, at @ loop.second.placement


def loop_position(model: Model, q: Sequence[Coordinate], naming: Naming = unnamed) -> list[Scalar]:
    """The residuals of closed loops, 3 or 6 rows each: R_1^T (p_2 - p_1), in m, and sin(angle) axis.

    The angle is the rotation of frame 2 relative to frame 1. Its sine is also 0 at half a turn, where the
    loop is not closed. There is one number per row; q has one coordinate per body.
    """
    rows: list[Scalar] = []
    for k, loop in enumerate(model.loops):
        R, p = walk(model, loop, q)[1]
        turned = Vector(sub(R[2].y, R[1].z), sub(R[0].z, R[2].x), sub(R[1].x, R[0].y))
        rows += p.named(naming, f"p[{k}]")
        rows += map(half, turned) if loop.kind == "frame" else ()
    return rows


def loop_jacobian(model: Model, q: Sequence[Coordinate], naming: Naming = unnamed) -> list[list[Scalar]]:
    """Jc, rows x nv: Jc v is the velocity of frame 2 relative to frame 1, linear first, in m/s and rad/s.

    For a point it is the rate of `loop_position` everywhere, for a frame only where the loop is closed.
    """
    rows: list[list[Scalar]] = []
    for k, loop in enumerate(model.loops):
        block: list[list[Scalar]] = [[0] * model.nv for _ in range(loop.rows)]
        passed, T = walk(model, loop, q)
        for step in passed:
            for dof, S in enumerate(step.joint.motion_subspace, step.joint.idx_v):
                s = step.seen(S).named(naming, f"s[{k},{dof}]")
                for row, value in zip(block, held(loop, T, s), strict=True):
                    row[dof] = value
        rows += block
    return [model.coupling.folded(row) for row in rows]


def loop_drift(
    model: Model, q: Sequence[Coordinate], v: Sequence[Scalar], naming: Naming = unnamed
) -> list[Scalar]:
    """dJc/dt v in m/s^2 and rad/s^2: Jc a + drift = 0 holds closed loops at the level of accelerations.

    A column of Jc is fixed to its body, which moves with the joints before it on the walk.
    """
    rows: list[Scalar] = []
    for k, loop in enumerate(model.loops):
        passed, T = walk(model, loop, q)
        velocity = drift = NO_MOTION
        for n, step in enumerate(passed):
            motion = step.seen(joint_motion(step.joint, v))
            drift = (drift + velocity.cross(motion)).named(naming, f"bias[{k},{n}]")
            velocity = (velocity + motion).named(naming, f"V[{k},{n}]")
        if loop.kind == "point":
            moving = velocity.linear + velocity.angular.cross(T.translation)
            drift = Motion(drift.angular, drift.linear + velocity.angular.cross(moving))
        rows += held(loop, T, drift)
    return rows


def held(loop: Loop, T: Transform, m: Motion) -> list[Scalar]:
    """The rows of a motion of frame 2: those of its origin alone, or all six."""
    if loop.kind == "point":
        return [*(m.linear + m.angular.cross(T.translation))]
    return [*m.linear, *m.angular]
