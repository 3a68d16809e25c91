"""The distances of capsules on the bodies of a model, for many configurations at once.

The formulas are those of `functions/distances/segments.py`, on arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from rbdgen.model.distances import Capsule
from rbdgen.model.joints import Angle, Coordinate, Joint
from rbdgen.model.model import WORLD, Model
from rbdgen.spatial.ops import NO_TRANSFORM, Transform, Vector

Array: TypeAlias = npt.NDArray[np.float64]

LEAST: float = 1.5e-14
"""A floor under the square of the sine of the angle between two axes, see `distances`."""


def coordinate_of(joint: Joint, q: Array) -> Coordinate:
    """The coordinate of a joint at configurations q (nq, n)."""
    if joint.follows is None:
        values = [q[k] for k in range(joint.idx_q, joint.idx_q + joint.nq)]
    else:
        values = [joint.follows.multiplier * q[joint.follows.idx_q]]
    return joint.type.coordinate(values, angle)


def angle(x: Array) -> Angle:
    """An angle, or many, by cosine and sine."""
    return Angle(np.cos(x), np.sin(x))


def poses(model: Model, q: Array) -> list[Transform]:
    """The poses of all bodies at configurations q (nq, n); numbers are arrays (n,).

    A floating base stands at the world's frame, because distances within a robot do not depend on its pose.
    """
    found: list[Transform] = []
    for body in model.bodies:
        above = NO_TRANSFORM if body.parent == WORLD else found[body.parent]
        found.append(above if body.floats else above @ body.transform(coordinate_of(body.joint, q)))
    return found


def array(vector: Vector, count: int) -> Array:
    """A vector of arrays or numbers as an array (n, 3)."""
    return np.stack([np.broadcast_to(np.asarray(x, float), (count,)) for x in vector], axis=-1)


class Placed(NamedTuple):
    """Many poses of one capsule, or of several."""

    center: Array  # (..., 3)
    axis: Array  # (..., 3)
    half_length: Array  # (...,) or one number
    radius: Array


def placed(capsule: Capsule, pose: Transform, count: int) -> Placed:
    """A capsule at poses of its body, whose numbers are arrays (n,)."""
    center, axis = pose.rotation.apply(capsule.center) + pose.translation, pose.rotation.apply(capsule.axis)
    half_length, radius = np.array(capsule.half_length), np.array(capsule.radius)
    return Placed(array(center, count), array(axis, count), half_length, radius)


def distances(one: Placed, other: Placed) -> Array:
    """The signed distances (...,) of capsules, negative if they overlap.

    The closest points of two segments are found by clamping the parameters in the order s, t, s, which is
    exact because the square of the distance is convex in both.
    """
    r = one.center - other.center
    B, C, F = (
        np.einsum("...k,...k->...", *pair)
        for pair in ((one.axis, other.axis), (one.axis, r), (other.axis, r))
    )
    h1, h2 = one.half_length, other.half_length
    s = np.clip((B * F - C) / np.maximum(1 - B * B, LEAST), -h1, h1)
    t = np.clip(B * s + F, -h2, h2)
    s = np.clip(B * t - C, -h1, h1)
    x = r + s[..., None] * one.axis - t[..., None] * other.axis
    return np.asarray(np.linalg.norm(x, axis=-1) - (one.radius + other.radius))


def sampled(
    model: Model, capsules: Sequence[Capsule], pairs: Sequence[tuple[int, int]], q: Array
) -> tuple[Array, Array]:
    """The least and the largest distances (m,) of pairs (m, 2) of capsules at configurations q (nq, n)."""
    count = q.shape[1]
    bodies = poses(model, q)
    every = [placed(x, NO_TRANSFORM if x.body == WORLD else bodies[x.body], count) for x in capsules]
    least, most = np.empty(len(pairs)), np.empty(len(pairs))
    for k, (i, j) in enumerate(pairs):
        d = distances(every[i], every[j])
        least[k], most[k] = d.min(), d.max()
    return least, most
