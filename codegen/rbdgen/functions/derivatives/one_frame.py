"""Derivatives of inverse dynamics, with all quantities in one common frame.

Singh, Russell, Wensing, Efficient Analytical Derivatives of Rigid-Body Dynamics using Spatial Vector Algebra,
RA-L 2022, and Carpentier and Mansard, RSS 2018, Alg. 2-3. The common frame has the axes of the world and its
origin at the first joint. On a floating base it is the base's own frame, in which the base's six columns are
unit vectors and its quaternion affects gravity only. In a common frame, composite quantities are plain sums.

An outward sweep computes the directions of all degrees of freedom and the composite of every body, and an
inward sweep computes the composites of subtrees. Then the forces t1 to t4 of each degree of freedom j are
computed, and last the entries between j and each degree of freedom above it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from rbdgen.functions.derivatives.singh import BMatrix, Moving, Unturned, in_common_frame, placed
from rbdgen.model.joints import Coordinate, Joint
from rbdgen.model.model import Body as ModelBody
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
from rbdgen.spatial.rows import Rows
from rbdgen.spatial.scalar import Naming, Scalar, add, unnamed
from rbdgen.sweeps.bodies import Body
from rbdgen.sweeps.records import Each
from rbdgen.sweeps.straight import Straight
from rbdgen.sweeps.sweep import Freedoms, Given, Gives, Inward, Outward, Pairs, Sum

OUTPUTS = ("dtau_dq", "dtau_dv", "dtau_da")


class InverseDynamicsDerivatives(NamedTuple):
    """The derivatives of inverse dynamics, nv x nv each; dtau_dq is in the tangent space, and dtau_da = M.

    Entries between different branches are exactly 0.
    """

    dtau_dq: Rows
    dtau_dv: Rows
    dtau_da: Rows
    tau: list[Scalar]


@dataclass(frozen=True, slots=True)
class Accelerated(Moving):
    """A body in the common frame: its pose, its velocity and its acceleration."""

    a: Motion


@dataclass(frozen=True, slots=True)
class Composite(Unturned):
    """The mass moments of a subtree, its force f, and its B."""

    moments: MassMoments
    force: Force
    B: BMatrix

    def __add__(self, other: Composite) -> Composite:
        return Composite(self.moments + other.moments, self.force + other.force, self.B + other.B)


@dataclass(frozen=True, slots=True)
class Direction:
    """The motions S, Psi1 and Psi2 of a degree of freedom j (Singh et al.). `velocity_column` is Psi1 +
    dS/dt.
    """

    S: Motion
    psi1: Motion
    psi2: Motion
    velocity_column: Motion


@dataclass(frozen=True, slots=True)
class Column:
    """The forces t1 to t4 of a degree of freedom j. Of t4 only the angular part is given. `turned` is t3 + S
    x* f.
    """

    t1: Force
    t2: Force
    t3: Force
    turned: Force
    t4: Vector


def derivatives(
    outputs: Sequence[str] = OUTPUTS,
    world: Callable[[Given], Accelerated] | None = None,
    beside: bool = False,
    external: bool = False,
    by_own_motion: bool = False,
) -> tuple[Outward, Inward, Freedoms, Pairs]:
    """The sweeps that compute the `outputs` from v and a.

    `world` gives the motion of the world in the common frame. With `beside`, motion is seen from a frame that
    translates with the floating base, see `base_seen_beside`. With `external`, the sweeps also read fext,
    whose forces turn with their bodies. `by_own_motion` is the `own` of `moved`.
    """
    outward = Outward(
        "outward",
        "motion",
        partial(step, own=by_own_motion),
        world=world or (lambda x: Accelerated(IDENTITY, ZERO, NO_MOTION, Motion(ZERO, x.upward))),
        reads=("placement", "moments", "upward", "v", "a", *(("fext",) if external else ())),
        gives={"motion": Accelerated, "direction": Each(Direction), "composite": Composite},
        base=base_seen_beside if beside else base_step,
    )
    entries = Pairs(
        "entries",
        entries_above,
        own_entries,
        reads=("column",),
        other_reads=("direction",),
        gives=outputs,
        symmetric=[output for output in outputs if output == "dtau_da"],
    )
    return outward, INWARD, COLUMNS, entries


def step(body: Body, x: Given, *, own: bool = False) -> Gives:
    """Compute the motion and the composite of a body, and the directions of its joint.

    For `own`, see `moved`.
    """
    return moved(body, placed(body, x), x.parent.v, x.parent.a, x, own=own)


def base_step(body: Body, x: Given) -> Gives:
    """The step of a floating base, whose frame is the common one. The world does not move in this frame."""
    upward = Motion(ZERO, body.rotation.to_child(x.upward))
    return moved(body, NO_TRANSFORM, NO_MOTION, upward, x)


def moved(body: Body, frame: Transform, v: Motion, a: Motion, x: Given, *, own: bool = False) -> Gives:
    """The values that the step gives for a body whose pose in the common frame is `frame`. v and a are the
    velocity and the acceleration of the parent.

    Psi1 = v x S and Psi2 = a x S + v x Psi1 use the parent's motion. For a joint with one degree of freedom
    the motion of the body gives the same values, because the terms that the joint adds cancel. With `own`,
    this motion is used; if motions are stored as sums, those of the parents then need no arrays. The rate of
    S itself always depends on the motion of the body.
    """
    columns = [frame.motion_to_parent(S) for S in body.subspace]
    velocity = sum((S * rate for S, rate in zip(columns, x.v, strict=True)), v)
    seen_v = velocity if own else v
    psi = [seen_v.cross(S) for S in columns]
    rates = zip(columns, psi, x.v, x.a, strict=True)
    acceleration = sum((S * second + psi1 * rate for S, psi1, rate, second in rates), a)
    seen_a = acceleration if own else a
    several = len(columns) > 1
    directions = [
        Direction(
            S, psi1, seen_a.cross(S) + seen_v.cross(psi1), psi1 + velocity.cross(S) if several else psi1 * 2
        )
        for S, psi1 in zip(columns, psi, strict=True)
    ]
    moving = Accelerated(*frame, velocity, acceleration)
    composite = own_composite(body.moments, moving)
    if x.fext is not None:
        composite = replace(composite, force=composite.force - frame.force_to_parent(x.fext))
    return {"motion": moving, "composite": composite, "direction": directions}


def base_seen_beside(body: Body, x: Given) -> Gives:
    """The step of a floating base seen from a frame that translates with it. In this frame the base rotates,
    and its origin has the acceleration vdot + w x v.

    tau depends on the base's linear velocity through this classical acceleration alone. The effect of the
    linear velocity on this acceleration is left out of dtau_dv, because terms that cancel would leave
    rounding errors there.
    """
    linear, w = Vector(*x.v[:3]), Vector(*x.v[3:])
    classical = Vector(*x.a[:3]) + w.cross(linear)
    seen = Given(v=[0, 0, 0, *w], a=[*classical, *x.a[3:]], upward=x.upward, fext=x.fext)
    gives = base_step(body, seen)
    shifts, turns = gives["direction"][:3], gives["direction"][3:]
    return {**gives, "direction": [*(replace(d, velocity_column=NO_MOTION) for d in shifts), *turns]}


def own_composite(own: MassMoments, moving: Accelerated) -> Composite:
    """The quantities of one body in the common frame; the moments are given in its own frame.

    The force of a body is I a + v x* I v, and v x* I v = B v by the definition of B.
    """
    moments = in_common_frame(own, moving.rotation, moving.translation)
    B = BMatrix.of(moments, moving.v)
    return Composite(moments, moments.apply(moving.a) + B.apply(moving.v), B)


INWARD = Inward("inward", {"composite": Sum(Composite)}, lambda _, x: {"composite": x.composite})


def column(x: Given) -> Gives:
    """Compute t1 to t4 of a degree of freedom, and its torque as a by-product."""
    d, subtree = x.direction, x.composite
    moments, B = subtree.moments, subtree.B
    t1 = moments.apply(d.S)
    t2 = B.apply(d.S) * 2 + moments.apply(d.velocity_column)
    t3 = B.apply(d.psi1) * 2 + moments.apply(d.psi2)
    turned = t3 + d.S.cross_force(subtree.force)
    return {
        "column": Column(t1, t2, t3, turned, B.transposed(d.S) * 2),
        "tau": d.S.dot(subtree.force),
    }


COLUMNS = Freedoms("columns", column, ("direction", "composite"), {"column": Each(Column)})

TORQUES = Freedoms("torques", column, ("direction", "composite"), {"tau": Scalar})


def own_entries(x: Given) -> Gives:
    """The entries between degrees of freedom of one joint. Their motions S turn with the body, so S x* f does
    not occur.

    For a joint with one degree of freedom S^T (S x* f) is 0 anyway.
    """
    S, j = x.other.direction.S, x.column
    return {"dtau_dq": S.dot(j.t3), "dtau_dv": S.dot(j.t2), "dtau_da": S.dot(j.t1)}


def entries_above(x: Given) -> Gives:
    """The two entries between degree of freedom j and one above it."""
    j, other = x.column, x.other.direction
    return {
        "dtau_dq": other.S.dot(j.turned),
        "dtau_dv": other.S.dot(j.t2),
        "dtau_da": other.S.dot(j.t1),
        "dtau_dq_below": add(j.t4.dot(other.psi1.angular), other.psi2.dot(j.t1)),
        "dtau_dv_below": add(j.t4.dot(other.S.angular), other.velocity_column.dot(j.t1)),
    }


# ---- on a plain model, as in the textbook


class Rotation(NamedTuple):
    """A rotation from a child's axes to its parent's, as a full matrix."""

    matrix: Matrix

    def to_child(self, v: Vector) -> Vector:
        return self.matrix.T.apply(v)


class PlacedBody(NamedTuple):
    """A body of a model at a position of its joint."""

    parent: int
    joint: Joint
    rotation: Rotation
    translation: Vector
    moments: MassMoments

    @staticmethod
    def of(body: ModelBody, q: Coordinate) -> PlacedBody:
        own, (rotation, translation) = body.inertia, body.transform(q)
        moments = MassMoments(own.mass, own.first_moment, own.second_moment)
        return PlacedBody(body.parent, body.joint, Rotation(rotation), translation, moments)

    @property
    def subspace(self) -> tuple[Motion, ...]:
        """The motion subspace S."""
        return self.joint.motion_subspace


def placed_bodies(model: Model, q: Sequence[Coordinate]) -> list[PlacedBody]:
    """All bodies of a model at joint coordinates q."""
    return [PlacedBody.of(body, q_i) for body, q_i in zip(model.bodies, q, strict=True)]


def rnea_derivatives(
    model: Model,
    q: Sequence[Coordinate],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    fext: Sequence[Force] | None = None,
    naming: Naming = unnamed,
    beside: bool = False,
) -> InverseDynamicsDerivatives:
    """dID/dq, dID/dv and M, and tau as a by-product; `fext` turns with the bodies.

    Arguments are as in `rnea`; for `beside`, see `derivatives`.
    """
    first = model.bodies[0]
    R, p = first.transform(q[0]) if model.is_floating else Transform(IDENTITY, first.placement.translation)
    world = Accelerated(R.T, -R.T.apply(p), NO_MOTION, Motion(ZERO, R.T.apply(-model.gravity)))
    line = Straight(placed_bodies(model, q), {"v": v, "a": a}, Given(upward=-model.gravity), fext, naming)
    sweeps = derivatives(world=lambda _: world, beside=beside, external=fext is not None)
    values = line.run(*sweeps, TORQUES)
    return InverseDynamicsDerivatives(*(values[name] for name in (*OUTPUTS, "tau")))
