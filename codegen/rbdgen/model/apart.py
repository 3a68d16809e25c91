"""Proves that two capsules of a robot never meet, whatever its joints do within their limits.

A box of joint angles, with centre c and half widths w, is cleared if the distance at c is larger than the
displacements of both capsules within the box. Otherwise it is halved. On a path of joints 1..n from the last
body that carries both, joint k moves the points of a capsule's axis by at most its rate times their distance
from its own axis. This distance is at most

    rho_k = min(that at c + sum over l > k of rho_l w_l, reach_k)

since only the joints l beyond k change it. reach_k holds in every configuration: the lengths along the path,
with the travel of slides. The displacement is then at most the sum of rho_k w_k.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rbdgen.model.clearances import Array, angle, array, distances, placed
from rbdgen.model.distances import Capsule
from rbdgen.model.joints import Helical, Prismatic, Revolute
from rbdgen.model.model import Model
from rbdgen.spatial.ops import NO_TRANSFORM, Vector

BUDGET = 30_000
"""The largest number of boxes of one proof."""

HOPELESS = 9
"""A proof is given up if no box was cleared after halving all of them so many times."""

MARGIN = 1e-6
"""The distance in m by which capsules are apart at least, far above rounding."""


class Range(NamedTuple):
    """The positions of all joints: limits, or +-pi for angles without limits, or +-inf for lengths."""

    lower: Array  # (nq,)
    upper: Array


def ranges(model: Model) -> Range:
    """The ranges of the elements of q."""
    size = model.sizes["nq"]
    lower, upper = np.full(size, -math.inf), np.full(size, math.inf)
    for body in model.bodies:
        joint = body.joint
        if joint.follows is not None or joint.nq != 1:
            continue
        k, limit = joint.idx_q, joint.limit
        if limit is not None:
            lower[k] = -math.inf if limit.lower is None else limit.lower
            upper[k] = math.inf if limit.upper is None else limit.upper
        if isinstance(joint.type, Revolute) and not np.isfinite([lower[k], upper[k]]).all():
            lower[k], upper[k] = -math.pi, math.pi
    return Range(lower, upper)


class _Step(NamedTuple):
    """A joint on the path to a capsule."""

    body: int
    variable: int
    """The element of q that moves it."""
    multiplier: float
    turns: bool
    pitch: float
    reach: float
    """An upper bound on the distance of the capsule's axis from the joint's axis."""


def proved_apart(model: Model, one: Capsule, other: Capsule, of: Range) -> int | None:
    """The number of boxes of a proof that two capsules never meet; None if there is no proof within `BUDGET`.

    Joints that turn without limits take all angles. There is no proof if a joint between the capsules has
    several degrees of freedom, or if it slides without limits.
    """
    top = model.common(one.body, other.body)
    chains = []
    for capsule in (one, other):
        chain = _chain(model, capsule, top, of)
        if chain is None:
            return None
        chains.append((capsule, chain))
    moved = sorted({step.variable for _, chain in chains for step in chain})
    center = (of.lower[moved] + of.upper[moved]) / 2
    half = (of.upper[moved] - of.lower[moved]) / 2
    centers, halves = center[None], half[None]
    done = 0
    for level in range(64):
        done += len(centers)
        if done > BUDGET:
            return None
        gap, widths = _gap(model, chains, moved, centers, halves)
        if (gap <= MARGIN).any():
            return None
        open_boxes = gap - widths.sum(axis=1) <= MARGIN
        if not open_boxes.any():
            return done
        if level >= HOPELESS and open_boxes.all() and len(centers) == 2**level:
            return None
        centers, halves = _halved(centers[open_boxes], halves[open_boxes], widths[open_boxes].argmax(axis=1))
    return None


def _halved(centers: Array, halves: Array, along: Array) -> tuple[Array, Array]:
    """The halves of boxes (n, m), each cut across one of its variables."""
    rows = np.arange(len(centers))
    halves = halves.copy()
    halves[rows, along] /= 2
    shift = np.zeros_like(halves)
    shift[rows, along] = halves[rows, along]
    return np.concatenate([centers - shift, centers + shift]), np.concatenate([halves, halves])


def _chain(model: Model, capsule: Capsule, top: int, of: Range) -> list[_Step] | None:
    """The joints from a body down to a capsule; None if a proof cannot treat them."""
    steps: list[_Step] = []
    reach = max(_length(end) for end in capsule.ends)
    at = capsule.body
    while at != top:
        body = model.bodies[at]
        joint, follows = body.joint, body.joint.follows
        if not isinstance(joint.type, (Revolute, Prismatic, Helical)):
            return None
        variable, multiplier = (joint.idx_q, 1.0) if follows is None else (follows.idx_q, follows.multiplier)
        farthest = abs(multiplier) * max(abs(of.lower[variable]), abs(of.upper[variable]))
        if not math.isfinite(farthest):
            return None
        turns = not isinstance(joint.type, Prismatic)
        pitch = 1.0 if not turns else abs(float(getattr(joint.type, "pitch", 0.0)))
        steps.append(_Step(at, variable, multiplier, turns, pitch, reach if turns else 0.0))
        reach += _length(body.placement.translation) + pitch * farthest
        at = body.parent
    return steps[::-1]


def _length(vector: Vector) -> float:
    return math.hypot(*map(float, vector))


def _gap(
    model: Model,
    chains: Sequence[tuple[Capsule, list[_Step]]],
    moved: Sequence[int],
    centers: Array,
    halves: Array,
) -> tuple[Array, Array]:
    """The distances (n,) of two capsules at the centres of boxes (n, m), and the largest displacements (n, m)
    that each variable causes within them."""
    columns = {variable: k for k, variable in enumerate(moved)}
    count = len(centers)
    widths = np.zeros_like(halves)
    both = []
    for capsule, chain in chains:
        pose, axes = NO_TRANSFORM, []
        for step in chain:
            body = model.bodies[step.body]
            frame = pose @ body.placement
            axes.append(
                (array(frame.translation, count), array(frame.rotation.apply(body.joint.axis), count))
            )
            q = step.multiplier * centers[:, columns[step.variable]]
            pose = pose @ body.transform(body.joint.type.coordinate([q], angle))
        both.append(placed(capsule, pose, count))
        ends = [array(pose.rotation.apply(end) + pose.translation, count) for end in capsule.ends]
        beyond = np.zeros(count)
        for step, (origin, axis) in zip(reversed(chain), reversed(axes), strict=True):
            w = abs(step.multiplier) * halves[:, columns[step.variable]]
            rate = np.full(count, step.pitch)
            if step.turns:
                apart = [np.linalg.norm(np.cross(end - origin, axis), axis=1) for end in ends]
                rate += np.minimum(np.maximum(*apart) + beyond, step.reach)
            widths[:, columns[step.variable]] += rate * w
            beyond += rate * w
    return distances(*both), widths
