"""Closed loops at the levels of position, velocity and acceleration.

A closed loop holds frame 2 in frame 1. All quantities are those of frame 2 relative to frame 1, in the axes
of frame 1. They are computed on a walk from frame 1 up to the last body that carries both, and from there
down to frame 2. Joints above that body move both frames alike, so their columns are exactly 0.

The rows of a frame are the twist of frame 2 relative to frame 1 at the origin of frame 1, linear part first:
X_1^-1 (J_2 - J_1). The rows of a point are the velocity of the origin of frame 2 relative to frame 1. The
rows of Featherstone, Rigid Body Dynamics Algorithms, 2008, chapter 8, are the same in other axes.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdgen.functions.kinematics.columns import Passed, Path, named, rows
from rbdgen.functions.kinematics.motion import drift, velocity
from rbdgen.functions.momentum.energy import half
from rbdgen.model.closed_loops import Loop
from rbdgen.model.joints import Coordinate, Joint
from rbdgen.model.model import Model
from rbdgen.spatial.ops import Motion, Transform, Vector
from rbdgen.spatial.scalar import Naming, Scalar, sub, unnamed


def walk(model: Model, loop: Loop, q: Sequence[Coordinate]) -> tuple[Path, Transform]:
    """The columns of frame 2 in frame 1, and its placement there. Joints that the walk passes upward count
    with the opposite sign.
    """
    up, down = model.path(loop.first.body, loop.second.body)
    at, path = loop.first.placement.inverse, []
    for i in up:
        path.append(columns_at(model.bodies[i].joint, at, -1))
        at = at @ model.bodies[i].transform(q[i]).inverse
    for i in down:
        at = at @ model.bodies[i].transform(q[i])
        path.append(columns_at(model.bodies[i].joint, at, 1))
    return path, at @ loop.second.placement


def columns_at(joint: Joint, at: Transform, sign: int) -> Passed:
    """The columns of a joint in frame 1. `at` is the placement of its body in frame 1."""
    return Passed(joint, tuple(at.motion_to_parent(S) * sign for S in joint.motion_subspace))


def loop_position(model: Model, q: Sequence[Coordinate], naming: Naming = unnamed) -> list[Scalar]:
    """The residuals of closed loops, 3 or 6 rows each: R_1^T (p_2 - p_1), in m, and, for a frame, sin(angle)
    axis.

    The angle is the rotation of frame 2 relative to frame 1. Its sine is also 0 at half a turn, where the
    loop is not closed. There is one number per row; q has one coordinate per body.
    """
    found: list[Scalar] = []
    for k, loop in enumerate(model.loops):
        R, p = walk(model, loop, q)[1]
        turned = Vector(sub(R[2].y, R[1].z), sub(R[0].z, R[2].x), sub(R[1].x, R[0].y))
        found += p.named(naming, f"p[{k}]")
        found += map(half, turned) if loop.kind == "frame" else ()
    return found


def loop_jacobian(model: Model, q: Sequence[Coordinate], naming: Naming = unnamed) -> list[list[Scalar]]:
    """Jc, rows x nv: Jc v is the velocity of frame 2 relative to frame 1, linear first, in m/s and rad/s.

    For a point it is the rate of `loop_position` everywhere. For a frame this holds only if the loop is
    closed.
    """
    found: list[list[Scalar]] = []
    for k, loop in enumerate(model.loops):
        path, T = walk(model, loop, q)
        moved = [[at_origin(loop, T, S) for S in own] for _, own in named(path, naming, k)]
        entries = rows(path, moved, model.nv)
        found += [entries[n * model.nv : (n + 1) * model.nv] for n in range(loop.rows)]
    return [model.coupling.folded(row) for row in found]


def loop_drift(
    model: Model, q: Sequence[Coordinate], v: Sequence[Scalar], naming: Naming = unnamed
) -> list[Scalar]:
    """dJc/dt v in m/s^2 and rad/s^2: Jc a + drift = 0 holds closed loops at the level of accelerations.

    A column of Jc is fixed to the body of its joint, which moves with the joints before it on the walk.
    """
    found: list[Scalar] = []
    for loop in model.loops:
        path, T = walk(model, loop, q)
        m = drift(path, v, "world", naming)
        if loop.kind == "point":
            V = velocity(path, v)
            m = Motion(m.angular, m.linear + V.angular.cross(at_origin(loop, T, V).linear))
        m = at_origin(loop, T, m)
        found += [*m.linear, *m.angular][: loop.rows]
    return found


def at_origin(loop: Loop, T: Transform, m: Motion) -> Motion:
    """A motion of frame 2, taken at the origin of frame 1 or, for a point, at the origin of frame 2."""
    return Motion(m.angular, m.linear + m.angular.cross(T.translation)) if loop.kind == "point" else m
