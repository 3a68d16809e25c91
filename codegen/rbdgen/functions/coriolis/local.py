"""The Coriolis matrix in the bodies' own axes, velocities relative to each frame's origin.

The entries are those of `one_frame.py`. The composites are those of `derivatives/local.py`, which are linear
in velocities: here l2 and K2 are l = int r' dm and K = int r' r^T dm, without the factor 2.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdgen.functions.derivatives.local import Column, Subtree
from rbdgen.functions.derivatives.one_frame import Rows
from rbdgen.functions.momentum.rates import angular_velocities, origin_rates, turning
from rbdgen.model.joints import Coordinate
from rbdgen.model.model import WORLD
from rbdgen.model.moments import MassMoments
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ops import NO_FORCE, Force, Matrix, Motion, Vector
from rbdgen.spatial.scalar import Naming, Scalar, add, unnamed
from rbdgen.sweeps.records import named


def coriolis_local(
    reduced: ReducedModel, q: Sequence[Coordinate], v: Sequence[Scalar], naming: Naming = unnamed
) -> Rows:
    """C(q, v), nv x nv; arguments as in `coriolis`."""
    bodies = reduced.at(q)
    w = angular_velocities(bodies, v, naming)
    p_rates = origin_rates(bodies, w, v)
    S_rates = [[turning(w[i], S) for S in body.subspace] for i, body in enumerate(bodies)]
    subtrees = [_own(body.moments, own) for body, own in zip(bodies, w, strict=True)]
    C: Rows = [[0] * reduced.nv for _ in range(reduced.nv)]
    for j in reversed(range(len(bodies))):
        body, subtree = bodies[j], subtrees[j]
        for k, (S, rate) in enumerate(zip(body.subspace, S_rates[j], strict=True), body.joint.idx_v):
            column, at = _column(subtree, S, rate), j
            for row, S_row in enumerate(body.subspace, body.joint.idx_v):
                C[row][k] = S_row.dot(column.by_v)
            while (parent := bodies[at].parent) != WORLD:
                column = column.to_parent(bodies[at], p_rates[at])
                column = named(Column, column, naming, f"column[{k},{parent}]")
                at = parent
                above = zip(bodies[at].subspace, S_rates[at], strict=True)
                for i, (S_i, rate_i) in enumerate(above, bodies[at].joint.idx_v):
                    C[i][k] = S_i.dot(column.by_v)
                    C[k][i] = add(rate_i.dot(column.by_a), column.row.dot(S_i.angular))
        if body.parent != WORLD:
            whole = subtrees[body.parent] + subtree.to_parent(body, p_rates[j])
            subtrees[body.parent] = named(Subtree, whole, naming, f"subtree[{body.parent}]")
    return C


def _own(own: MassMoments, w: Vector) -> Subtree:
    return Subtree(own, NO_FORCE, w.cross(own.first), Matrix.skew(w) @ own.second)


def _column(subtree: Subtree, S: Motion, rate: Motion) -> Column:
    """I S; I S' with the momentum that turns; and what ancestors' changes meet."""
    moments, Q = subtree.moments, subtree.Q
    turning = Force(Q.apply(S.angular), S.angular.cross(subtree.l2))
    row = Q.T.apply(S.angular) + subtree.l2.cross(S.linear)
    return Column(moments.apply(S), moments.apply(rate) + turning, NO_FORCE, row)
