"""The Coriolis matrix C, with all quantities in one common frame.

Echeandia and Wensing, Numerical Methods to Compute the Coriolis Matrix and Christoffel Symbols for Rigid-Body
Systems, 2021, with the matrix B of Singh, Russell and Wensing, RA-L 2022. Let S_j be the motion of degree of
freedom j, S'_j = v x S_j, and let I and B be the inertia and the matrix B of the subtree that j moves. Then
for a degree of freedom i of a joint above,

    C_ij = S_i . (B S_j + I S'_j),  C_ji = S'_i . I S_j + S_i . B^T S_j

and within a joint the first equation holds for all pairs. This C satisfies C v = nle - gravity and dM/dt = C
+ C^T. The common frame is that of the derivatives of inverse dynamics, see `derivatives/one_frame.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from rbdgen.functions.derivatives.one_frame import placed_bodies
from rbdgen.functions.derivatives.singh import BMatrix, Moving, Unturned, in_common_frame, placed
from rbdgen.model.joints import Coordinate
from rbdgen.model.model import Model
from rbdgen.model.moments import MassMoments
from rbdgen.spatial.ops import (
    IDENTITY,
    NO_MOTION,
    NO_TRANSFORM,
    ZERO,
    Force,
    Motion,
    Transform,
    Vector,
)
from rbdgen.spatial.rows import Rows
from rbdgen.spatial.scalar import Naming, Scalar, add, unnamed
from rbdgen.sweeps.bodies import Body
from rbdgen.sweeps.records import Each
from rbdgen.sweeps.straight import Straight
from rbdgen.sweeps.sweep import Freedoms, Given, Gives, Inward, Outward, Pairs, Sum, Sweep


@dataclass(frozen=True, slots=True)
class Composite(Unturned):
    """The mass moments of a subtree, and its matrix B."""

    moments: MassMoments
    B: BMatrix

    def __add__(self, other: Composite) -> Composite:
        return Composite(self.moments + other.moments, self.B + other.B)


@dataclass(frozen=True, slots=True)
class Direction:
    """The motion S of a degree of freedom, and its rate S'."""

    S: Motion
    rate: Motion


@dataclass(frozen=True, slots=True)
class Column:
    """I S, B S + I S', and the angular part of B^T S (its linear part is 0)."""

    unit: Force
    moving: Force
    turning: Vector


def coriolis_sweeps(
    world: Callable[[Given], Moving] | None = None, by_own_motion: bool = False
) -> tuple[Sweep, ...]:
    """The sweeps that compute `C` from v.

    `world` gives the pose of the world in the common frame, and `by_own_motion` is the `own` of `step`.
    """
    outward = Outward(
        "outward",
        "motion",
        partial(step, own=by_own_motion),
        world=world or (lambda _: Moving(IDENTITY, ZERO, NO_MOTION)),
        reads=("placement", "moments", "v"),
        gives={"motion": Moving, "direction": Each(Direction), "composite": Composite},
        base=base_step,
    )
    inward = Inward("inward", {"composite": Sum(Composite)}, lambda _, x: {"composite": x.composite})
    columns = Freedoms("columns", column, ("direction", "composite"), {"column": Each(Column)})
    entries = Pairs("entries", above, own, reads=("column",), other_reads=("direction",), gives=("C",))
    return outward, inward, columns, entries


def step(body: Body, x: Given, *, own: bool = False) -> Gives:
    """Compute the motion and the composite of a body, and the directions of its joint.

    With `own`, S' uses the velocity of the body instead of its parent's, which makes no difference for a
    joint with one degree of freedom. If velocities are stored as sums, those of parents then need no arrays.
    For other joints, S' always uses the velocity of the body.
    """
    return _moved(body, placed(body, x), x.parent.v, x, own=own)


def base_step(body: Body, x: Given) -> Gives:
    """The step of a floating base, whose frame is the common one. The world does not move in this frame."""
    return _moved(body, NO_TRANSFORM, NO_MOTION, x)


def _moved(body: Body, frame: Transform, v: Motion, x: Given, *, own: bool = False) -> Gives:
    columns = [frame.motion_to_parent(S) for S in body.subspace]
    velocity = sum((S * rate for S, rate in zip(columns, x.v, strict=True)), v)
    # the motion of a joint with one degree of freedom does not change its own S
    seen = velocity if own or len(columns) > 1 else v
    moments = in_common_frame(body.moments, *frame)
    return {
        "motion": Moving(*frame, velocity),
        "direction": [Direction(S, seen.cross(S)) for S in columns],
        "composite": Composite(moments, BMatrix.of(moments, velocity)),
    }


def column(x: Given) -> Gives:
    """Compute the forces of a degree of freedom, from which its entries follow."""
    S, rate, part = x.direction.S, x.direction.rate, x.composite
    moving = part.B.apply(S) + part.moments.apply(rate)
    return {"column": Column(part.moments.apply(S), moving, part.B.transposed(S))}


def own(x: Given) -> Gives:
    """An entry between degrees of freedom of one joint."""
    return {"C": x.other.direction.S.dot(x.column.moving)}


def above(x: Given) -> Gives:
    """The two entries between a degree of freedom and one above it."""
    j, other = x.column, x.other.direction
    below = add(other.rate.dot(j.unit), j.turning.dot(other.S.angular))
    return {"C": other.S.dot(j.moving), "C_below": below}


def coriolis(model: Model, q: Sequence[Coordinate], v: Sequence[Scalar], naming: Naming = unnamed) -> Rows:
    """C(q, v), nv x nv. Entries between different branches are exactly 0. q has one coordinate per body.

    Units are N m s/rad between rotations, N s/m between translations, and N s between the two.
    """
    first = model.bodies[0]
    R, p = first.transform(q[0]) if model.is_floating else Transform(IDENTITY, first.placement.translation)
    world = Moving(R.T, -R.T.apply(p), NO_MOTION)
    line = Straight(placed_bodies(model, q), {"v": v}, Given(), naming=naming)
    rows: Rows = line.run(*coriolis_sweeps(lambda _: world))["C"]
    return rows
