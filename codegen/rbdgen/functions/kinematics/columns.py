"""Jacobians of frames, column by column. A column is the motion of the frame at unit rate of one degree of
freedom.

A motion of a frame is given in one of three conventions:

    local    in the frame's axes, at its origin
    aligned  in the axes of the world, at the frame's origin
    world    in the axes of the world, at the world's origin

A walk from the root computes columns in world axes. A walk from the tip computes them in the frame's axes,
which takes fewer operations for local columns.

Featherstone, Rigid Body Dynamics Algorithms, 2008, chapter 2 and section 4.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

from rbdgen.functions.kinematics.placement import FromRoot, in_world
from rbdgen.model.joints import Coordinate, Joint
from rbdgen.model.model import WORLD, Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ops import IDENTITY, NO_TRANSFORM, Motion, Transform, Vector
from rbdgen.spatial.scalar import Naming, Scalar, add, unnamed

Convention: TypeAlias = Literal["local", "world", "aligned"]

CONVENTIONS: tuple[Convention, ...] = ("local", "world", "aligned")


class Passed(NamedTuple):
    """A joint between the world and a frame, and the frame's motion at unit rate of each of the joint's
    degrees of freedom.
    """

    joint: Joint
    columns: tuple[Motion, ...]


Path: TypeAlias = list[Passed]
"""The joints from the root to a frame."""


def columns(
    model: Model,
    q: Sequence[Coordinate],
    convention: Convention,
    naming: Naming = unnamed,
    root: int = WORLD,
) -> list[Path]:
    """The columns of every chosen frame, one path per frame; q has one coordinate per body.

    `root` is the world, or a body that carries all these frames and takes the place of the world.
    """
    bodies, frames = in_world(model, q, naming, root)
    paths = []
    for k, (frame, T) in enumerate(zip(model.frames, frames, strict=True)):
        seen = {"local": T, "aligned": Transform(IDENTITY, T.translation), "world": NO_TRANSFORM}[convention]
        path = []
        for i in model.path(root, frame.body)[1]:
            at = seen.inverse @ bodies[i]
            joint = model.bodies[i].joint
            path.append(Passed(joint, tuple(map(at.motion_to_parent, joint.motion_subspace))))
        paths.append(named(path, naming, k))
    return paths


def columns_from_root(
    reduced: ReducedModel,
    q: Sequence[Coordinate],
    convention: Convention,
    naming: Naming = unnamed,
    root: int = WORLD,
) -> list[Path]:
    """The columns of all frames in world axes (aligned or world), in m."""
    seen = FromRoot.at(reduced, q, naming, root)
    paths = []
    for k, frame in enumerate(seen.frames):
        path: Path = []
        ahead = seen.lever(frame)
        for i in reversed(reduced.model.path(root, frame.parent)[1]):
            body, R = seen.bodies[i], seen.R[i]
            # from the body's origin to the frame's, or to the world's
            arm = ahead if convention == "aligned" else -seen.p[i]
            turns = ((R.apply(S.angular), R.apply(S.linear)) for S in body.subspace)
            path.append(Passed(body.joint, tuple(Motion(w, v + w.cross(arm)) for w, v in turns)))
            ahead = (ahead + seen.step[i]).named(naming, f"r[{k},{i}]")
        paths.append(named(path[::-1], naming, k))
    return paths


def columns_from_tip(
    reduced: ReducedModel,
    q: Sequence[Coordinate],
    naming: Naming = unnamed,
    axes: Sequence[Vector] = IDENTITY.rows,
) -> list[Path]:
    """The columns of all frames in m, along these axes, which are given in the frames' own axes."""
    reduced = reduced.in_metres
    bodies = reduced.at(q)
    paths = []
    for k, frame in enumerate(reduced.frames_on(bodies)):
        path: Path = []
        # the frame's axes and origin, in the axes of one body after the other
        along, p = [frame.rotation.to_parent(e) for e in axes], frame.translation
        for i in reversed(reduced.model.path(WORLD, frame.parent)[1]):
            body = bodies[i]
            path.append(Passed(body.joint, tuple(seen_along(along, p, S) for S in body.subspace)))
            turned = zip("xyz", map(body.rotation.to_parent, along), strict=True)
            along = [e.named(naming, f"{name}[{k},{i}]") for name, e in turned]
            p = (body.rotation.to_parent(p) + body.translation).named(naming, f"p[{k},{i}]")
        paths.append(named(path[::-1], naming, k))
    return paths


def seen_along(axes: Sequence[Vector], p: Vector, S: Motion) -> Motion:
    """The motion S at the point p, as components along `axes`; the linear ones use e . (w x p) = w . (p x
    e).
    """
    w, v = S.angular, S.linear
    linear = (add(e.dot(v), w.dot(p.cross(e))) for e in axes)
    return Motion(Vector(*(e.dot(w) for e in axes)), Vector(*linear))


def named(path: Path, naming: Naming, frame: int) -> Path:
    """The columns of a frame, with names."""
    return [
        Passed(
            joint,
            tuple(S.named(naming, f"J[{frame},{dof}]") for dof, S in enumerate(own, joint.idx_v)),
        )
        for joint, own in path
    ]


def rows(path: Path, values: Sequence[Sequence[Motion]], nv: int) -> list[Scalar]:
    """A matrix (6, nv), row-major, from a motion for each degree of freedom of every joint of the path."""
    matrix: list[list[Scalar]] = [[0] * nv for _ in range(6)]
    for passed, own in zip(path, values, strict=True):
        for dof, motion in enumerate(own, passed.joint.idx_v):
            for row, value in zip(matrix, (*motion.linear, *motion.angular), strict=True):
                row[dof] = value
    return [value for row in matrix for value in row]


def jacobian(path: Path, nv: int) -> list[Scalar]:
    """J (6, nv), row-major: J v is the velocity of the frame, with the linear rows first."""
    return rows(path, [passed.columns for passed in path], nv)
