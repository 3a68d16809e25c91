"""The Coriolis matrix C, with all quantities in one common frame.

Echeandia and Wensing, Numerical Methods to Compute the Coriolis Matrix and Christoffel Symbols for Rigid-Body
Systems, 2021, with the matrix B of Singh, Russell and Wensing, RA-L 2022. Let S_j be the motion of degree of
freedom j, S'_j = v x S_j, and let I and B be the inertia and B of the subtree that j moves. Then for a degree
of freedom i of a joint above,

    C_ij = S_i . (B S_j + I S'_j),  C_ji = S'_i . I S_j + S_i . B^T S_j

and within a joint the first equation holds for all pairs. This C satisfies C v = nle - gravity and dM/dt = C
+ C^T. The common frame is that of the derivatives of inverse dynamics, see `derivatives/one_frame.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rbdgen.functions.derivatives.one_frame import Rows, in_common_frame, placed, placed_bodies, turning_part
from rbdgen.model.joints import Coordinate
from rbdgen.model.model import Model
from rbdgen.model.moments import MassMoments
from rbdgen.spatial.ops import (
    IDENTITY,
    NO_MOTION,
    NO_TRANSFORM,
    ZERO,
    Force,
    Matrix,
    Motion,
    Transform,
    Vector,
)
from rbdgen.spatial.planar import FactoredRotation
from rbdgen.spatial.scalar import Naming, Scalar, add, unnamed
from rbdgen.sweeps.bodies import Body
from rbdgen.sweeps.records import Each
from rbdgen.sweeps.straight import Straight
from rbdgen.sweeps.sweep import Freedoms, Given, Gives, Inward, Outward, Pairs, Sum, Sweep


@dataclass(frozen=True, slots=True)
class Moving:
    """A body in the common frame: its pose and its velocity."""

    rotation: Matrix
    translation: Vector
    v: Motion

    def turned(self, rotation: FactoredRotation) -> Moving:
        """The same body with its axes rotated."""
        return Moving(Matrix(*map(rotation.to_parent, self.rotation)), self.translation, self.v)


@dataclass(frozen=True, slots=True)
class Composite:
    """The mass moments of a subtree, and its B as (Bt, l): B = [[Bt, 0], [-l x, 0]] with the linear momentum
    l.
    """

    moments: MassMoments
    momentum: Vector
    Bt: Matrix

    def __add__(self, other: Composite) -> Composite:
        return Composite(self.moments + other.moments, self.momentum + other.momentum, self.Bt + other.Bt)

    def turned(self, _: FactoredRotation) -> Composite:
        """The same composite: in the common frame it does not depend on a body's axes."""
        return self


@dataclass(frozen=True, slots=True)
class Direction:
    """S of a degree of freedom, and S'."""

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
    """The sweeps that compute `C` from v. `world` gives the pose of the world in the common frame. For
    `by_own_motion`, see `step_by_own_motion`.
    """
    outward = Outward(
        "outward",
        "motion",
        step_by_own_motion if by_own_motion else step,
        world=world or (lambda _: Moving(IDENTITY, ZERO, NO_MOTION)),
        reads=("placement", "moments", "v"),
        gives={"motion": Moving, "direction": Each(Direction), "composite": Composite},
        base=base_step,
    )
    inward = Inward("inward", {"composite": Sum(Composite)}, lambda _, x: {"composite": x.composite})
    columns = Freedoms("columns", column, ("direction", "composite"), {"column": Each(Column)})
    entries = Pairs("entries", above, own, reads=("column",), other_reads=("direction",), gives=("C",))
    return outward, inward, columns, entries


def step(body: Body, x: Given) -> Gives:
    """The motion and the composite of a body, and the directions of its joint."""
    return _moved(body, placed(body, x), x.parent.v, x)


def step_by_own_motion(body: Body, x: Given) -> Gives:
    """The same for a joint with one degree of freedom, where S' may use the velocity of the body in place of
    its parent's. Where velocities are sums that are stored, those of parents need no arrays then.
    """
    return _moved(body, placed(body, x), x.parent.v, x, own=True)


def base_step(body: Body, x: Given) -> Gives:
    """The same for a floating base, whose frame is the common one. The world does not move in it."""
    return _moved(body, NO_TRANSFORM, NO_MOTION, x)


def _moved(body: Body, frame: Transform, v: Motion, x: Given, *, own: bool = False) -> Gives:
    columns = [frame.motion_to_parent(S) for S in body.subspace]
    velocity = sum((S * rate for S, rate in zip(columns, x.v, strict=True)), v)
    # the motion of a joint with one degree of freedom does not change its own S
    seen = velocity if own or len(columns) > 1 else v
    moments = in_common_frame(body.moments, *frame)
    momentum = moments.apply(velocity).force
    return {
        "motion": Moving(*frame, velocity),
        "direction": [Direction(S, seen.cross(S)) for S in columns],
        "composite": Composite(moments, momentum, turning_part(moments, velocity)),
    }


def column(x: Given) -> Gives:
    """The forces of a degree of freedom from which entries are computed."""
    S, rate, part = x.direction.S, x.direction.rate, x.composite
    B_S = Force(part.Bt.apply(S.angular), S.angular.cross(part.momentum))
    turning = part.Bt.T.apply(S.angular) + part.momentum.cross(S.linear)
    return {"column": Column(part.moments.apply(S), B_S + part.moments.apply(rate), turning)}


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
