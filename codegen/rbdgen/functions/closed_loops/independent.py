"""Independent rows and velocities of closed loops, found numerically by ranks in closed positions.

A planar four-bar linkage that is closed by a frame has six rows, of which three are redundant. The rank is
taken to be that of most closed positions. In singular positions, such as that of a stretched four-bar
linkage, it is lower for any choice of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rbdgen.functions.closed_loops.relative_motion import loop_jacobian, loop_position, walk
from rbdgen.model.joints import Coordinate
from rbdgen.model.model import Model
from rbdgen.sweeps.inputs import coordinates

_Array = npt.NDArray[np.float64]

STARTS = 64
"""The number of random configurations from which Newton's method starts."""

STEPS = 60

LONGEST_STEP = 0.5
"""The largest norm of a step over all velocities, in rad or m. Far from a solution, full steps may lead
astray.
"""

ENOUGH = 8
"""The number of closed positions after which the search ends."""

CLOSED = 1e-10
"""A loop with a smaller gap is closed. The gap is in rad or m, or in lengths of the robot if this length
exceeds 1 m.
"""

DEPENDENT = 1e-7
"""A singular value that is smaller than this, relative to the largest, counts as 0."""


def independent_rows(model: Model) -> tuple[int, ...] | None:
    """A largest set of rows of `loop_jacobian` that are independent in closed positions, in order.

    They are chosen by a QR factorisation with pivoting. The result is None if no closed position was found.
    """
    q = closed_positions(model)
    if not len(q):
        return None
    jacobians = _jacobians(model, q)
    singular = np.linalg.svd(jacobians, compute_uv=False)
    ranks = np.sum(singular > DEPENDENT * singular[:, :1], axis=1)
    rank = int(np.median(ranks))
    usual = jacobians[ranks == rank]
    choices = {_pivots(J, rank) for J in usual}
    return max(sorted(choices), key=lambda rows: _least(usual, rows))


def moved_by_loops(model: Model) -> list[int]:
    """The elements of v that affect closed loops: those of joints between their frames, or of joints that
    these follow.
    """
    paths = [model.path(loop.first.body, loop.second.body) for loop in model.loops]
    joints = [model.bodies[i].joint for path in paths for part in path for i in part]
    moved = {joint.idx_v + k for joint in joints for k in range(joint.nv)}
    groups = enumerate(model.coupling.groups)
    return [g for g, members in groups if any(k in moved for k, _ in members)]


def are_determined(model: Model, dependent: Sequence[int]) -> bool:
    """Whether these elements of v follow from all others in most closed positions."""
    if not dependent:
        return True
    columns = _jacobians(model, closed_positions(model))[:, :, list(dependent)]
    singular = np.linalg.svd(columns, compute_uv=False)
    return bool(np.mean(singular[:, -1] > DEPENDENT * singular[:, 0]) > 0.5)


def closed_positions(model: Model) -> _Array:
    """Configurations (n, nq) in which all loops are closed, by Newton's method from STARTS random ones."""
    q = model.manifold.random(np.random.default_rng(0), (STARTS,))
    for _ in range(STEPS):
        enough = np.sum(_is_closed(model, q)) >= ENOUGH
        step = -(np.linalg.pinv(_jacobians(model, q), rcond=DEPENDENT) @ _open(model, q)[..., None])[..., 0]
        longest = np.maximum(np.linalg.norm(step, axis=1, keepdims=True) / LONGEST_STEP, 1)
        q = model.manifold.integrate(q, step / longest)
        if enough:  # after one more step, which squared the errors of the closed positions
            break
    return q[_is_closed(model, q)]


def _is_closed(model: Model, q: _Array) -> npt.NDArray[np.bool_]:
    closed = np.abs(_open(model, q)).max(axis=1) < CLOSED * max(1.0, _length(model))
    for loop in model.loops:
        R = walk(model, loop, _coordinates(model, q))[1].rotation
        if loop.kind == "frame":  # the residual is also 0 at half a turn, which is not closed
            closed = closed & (np.asarray(R.trace(), float) > 0)
    return np.asarray(closed)


def _length(model: Model) -> float:
    """The sum of all lengths of the robot, in m."""
    anchors = [anchor.placement for loop in model.loops for anchor in (loop.first, loop.second)]
    placements = [*(body.placement for body in model.bodies), *anchors]
    return sum(float(abs(x)) for placement in placements for x in placement.translation)


def _pivots(jacobian: _Array, rank: int) -> tuple[int, ...]:
    """The rows that a QR factorisation of the transpose with pivoting picks. In each step it takes the row
    with the longest remainder.
    """
    left, rows = jacobian.copy(), []
    for _ in range(rank):
        longest = int(np.argmax(np.linalg.norm(left, axis=1)))
        along = left[longest] / np.linalg.norm(left[longest])
        left = left - np.outer(left @ along, along)
        rows.append(longest)
    return tuple(sorted(rows))


def _least(jacobians: _Array, rows: tuple[int, ...]) -> float:
    """The distance of these rows from being dependent, in the worst of the positions."""
    if not rows:
        return 0.0
    return float(np.linalg.svd(jacobians[:, list(rows)], compute_uv=False)[:, -1].min())


def _coordinates(model: Model, q: _Array) -> list[Coordinate]:
    """The coordinates of the joints, whose numbers are arrays over positions."""
    return coordinates(model, list(q.T), np.cos, np.sin)


def _open(model: Model, q: _Array) -> _Array:
    """The values of `loop_position` in n configurations, (n, rows)."""
    return _stacked(loop_position(model, _coordinates(model, q)), len(q))


def _jacobians(model: Model, q: _Array) -> _Array:
    """The values of `loop_jacobian` in n configurations, (n, rows, nv)."""
    rows = loop_jacobian(model, _coordinates(model, q))
    return np.stack([_stacked(row, len(q)) for row in rows], axis=1)


def _stacked(numbers: Sequence[Any], count: int) -> _Array:
    return np.stack([np.broadcast_to(np.asarray(x, float), (count,)) for x in numbers], axis=1)
