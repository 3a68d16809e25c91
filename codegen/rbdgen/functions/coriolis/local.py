"""The Coriolis matrix in the bodies' own axes, velocities relative to each frame's origin.

The entries are those of `one_frame.py`. The composites are those of `derivatives/local.py`, which are linear
in velocities: here l2 and K2 are l = int r' dm and K = int r' r^T dm, without the factor 2.
"""

from __future__ import annotations

from rbdgen.functions.coriolis.one_frame import Direction
from rbdgen.functions.derivatives.local import Column, Subtree, carry
from rbdgen.functions.momentum.rates import origin_rate, turning
from rbdgen.model.moments import MassMoments
from rbdgen.model.reduce import ReducedBody
from rbdgen.spatial.ops import NO_FORCE, ZERO, Force, Matrix, Vector
from rbdgen.spatial.scalar import add
from rbdgen.sweeps.bodies import relative_motion
from rbdgen.sweeps.records import Each, Entry
from rbdgen.sweeps.sweep import Climb, Given, Gives, Inward, Outward, Sum


def step(body: ReducedBody, x: Given) -> Gives:
    """A body's angular velocity, the directions of its joint, the rate of its origin, and its composites."""
    w = body.rotation.to_child(x.parent) + relative_motion(body, x.v).angular
    return {
        "w": w,
        "direction": [Direction(S, turning(w, S)) for S in body.subspace],
        "rate": origin_rate(body, x.parent, x.v),
        "subtree": own_subtree(body.moments, w),
    }


def own_subtree(own: MassMoments, w: Vector) -> Subtree:
    """The composites of one body alone."""
    return Subtree(own, NO_FORCE, w.cross(own.first), Matrix.skew(w) @ own.second)


def own_entries(body: ReducedBody, x: Given) -> Gives:
    """The entries between the degrees of freedom of one joint; the columns that its ancestors see."""
    columns = [own_column(direction, x.subtree) for direction in x.direction]
    return {
        "C": [S.dot(column.by_v) for S in body.subspace for column in columns],
        "column": columns,
        "subtree": x.subtree.to_parent(body, x.rate),
    }


def own_column(direction: Direction, subtree: Subtree) -> Column:
    """I S; I S' with the momentum that turns; and what changes of the ancestors meet."""
    S, moments, Q = direction.S, subtree.moments, subtree.Q
    turned = Force(Q.apply(S.angular), S.angular.cross(subtree.l2))
    row = Q.T.apply(S.angular) + subtree.l2.cross(S.linear)
    return Column(moments.apply(S), moments.apply(direction.rate) + turned, NO_FORCE, row)


def entries_above(_: object, x: Given) -> Gives:
    """The entries between a degree of freedom and those of a joint above it, both ways."""
    return {
        "C": [above.S.dot(x.column.by_v) for above in x.direction],
        "C_below": [
            add(above.rate.dot(x.column.by_a), x.column.row.dot(above.S.angular)) for above in x.direction
        ],
    }


CORIOLIS_MATRIX = (
    Outward(
        "outward",
        "w",
        step,
        world=lambda _: ZERO,
        reads=("placement", "moments", "v"),
        gives={"w": Vector, "direction": Each(Direction), "rate": Vector, "subtree": Subtree},
    ),
    Inward(
        "inward",
        {"subtree": Sum(Subtree)},
        own_entries,
        reads=("placement", "direction", "rate"),
        gives={"C": Entry, "column": Each(Column)},
    ),
    Climb(
        "climb",
        "column",
        carry,
        entries_above,
        gives=("C", "C_below"),
        reads=("direction",),
        carry_reads=("rate",),
    ),
)
"""The sweeps that give `C`, nv x nv, of v; its entries between branches are exactly 0."""
