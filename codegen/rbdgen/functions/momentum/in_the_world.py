"""Centre of mass and centroidal momentum, with all quantities in world axes and about the world's origin.

Wensing and Orin, Improved Computation of the Humanoid Centroidal Dynamics, IJHR 2016. Let S be the motion of
degree of freedom j, S' = v x S its rate for the velocity v of its body, and I the inertia of the subtree that
j moves. At unit velocity the momentum is h = I S, and its rate is I' S + I S'. With the moment taken about
the centre of mass c, h is a column of A_g.

The spin of rotors is not included, as in Pinocchio. M and the kinetic energy include it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rbdgen.errors import ModelError
from rbdgen.model.inertia import Inertia
from rbdgen.model.joints import Coordinate
from rbdgen.model.model import WORLD, Model
from rbdgen.spatial.ops import (
    NO_FORCE,
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
from rbdgen.spatial.scalar import Naming, Scalar, add, is_zero, reciprocal, unnamed
from rbdgen.sweeps.inputs import ALONE, Lanes


def total_mass(model: Model, lanes: Lanes = ALONE) -> Scalar:
    """The mass of all moving bodies, in kg. Raises ModelError if it is 0."""
    mass: Scalar = 0
    for i, body in enumerate(model.bodies):
        mass = add(mass, lanes.handed_on(Scalar, body.inertia.mass, i, WORLD))
    if is_zero(mass):
        raise ModelError(f"model '{model.name}': its moving bodies have no mass; give them some")
    return mass


@dataclass(frozen=True)
class Moving:
    """A body at a state, in world axes and about the world's origin."""

    placement: Transform
    v: Motion
    a: Motion
    columns: Sequence[Motion]
    """The motions S of its joint."""
    column_rates: Sequence[Motion]
    """The rates S' of these motions."""
    inertia: Inertia
    inertia_rate: Inertia
    """The rate of its inertia, as an inertia whose mass is 0."""

    @property
    def momentum(self) -> Force:
        return self.inertia.apply(self.v)

    @property
    def momentum_rate(self) -> Force:
        return self.inertia.equation_of_motion(self.v, self.a)


def moving(
    model: Model,
    q: Sequence[Coordinate],
    v: Sequence[Scalar] = (),
    a: Sequence[Scalar] = (),
    naming: Naming = unnamed,
) -> list[Moving]:
    """All bodies in the world, without gravity. v and a are 0 if they are not given."""
    v, a = v or [0] * model.nv, a or [0] * model.nv
    found: list[Moving] = []
    for body, q_i in zip(model.bodies, q, strict=True):
        above, velocity, acceleration = NO_TRANSFORM, NO_MOTION, NO_MOTION
        if body.parent != WORLD:
            parent = found[body.parent]
            above, velocity, acceleration = parent.placement, parent.v, parent.a
        at = above @ body.transform(q_i)
        columns = [at.motion_to_parent(S) for S in body.joint.motion_subspace]
        for S, rate in zip(columns, body.joint.slice(v), strict=True):
            velocity = velocity + S * rate
        velocity = velocity.named(naming, f"v[{len(found)}]")
        rates = [velocity.cross(S) for S in columns]
        for S, change, rate, second in zip(
            columns, rates, body.joint.slice(v), body.joint.slice(a), strict=True
        ):
            acceleration = acceleration + S * second + change * rate
        inertia = body.inertia.transformed(at)
        found.append(
            Moving(at, velocity, acceleration, columns, rates, inertia, inertia_rate(inertia, velocity))
        )
    return found


def inertia_rate(inertia: Inertia, v: Motion) -> Inertia:
    """The rates of h = int r dm and Sigma = int r r^T dm, with r' = v + w x r, in the form of an inertia. The
    rate of m is 0.
    """
    h = inertia.first_moment
    half = Matrix.skew(v.angular) @ inertia.second_moment + Matrix.outer(v.linear, h)
    return Inertia.from_second_moment(0, inertia.apply(v).force, half + half.T)


def moved_by(model: Model, own: Sequence[Inertia]) -> list[Inertia]:
    """For every body, the sum of these values over its subtree."""
    sums = list(own)
    for i in reversed(range(model.nbodies)):
        if (parent := model.bodies[i].parent) != WORLD:
            sums[parent] = sums[parent] + sums[i]
    return sums


# ---- the centre of mass


def com(model: Model, q: Sequence[Coordinate], naming: Naming = unnamed) -> list[Scalar]:
    """c = h / m in world axes, in m. Mass that is fixed to the world is not included."""
    return [*_center(model, moving(model, q, naming=naming))]


def com_velocity(
    model: Model, q: Sequence[Coordinate], v: Sequence[Scalar], naming: Naming = unnamed
) -> list[Scalar]:
    """dc/dt in m/s: linear momentum divided by mass."""
    return [*_velocity(model, moving(model, q, v, naming=naming))]


def com_acceleration(
    model: Model, q: Sequence[Coordinate], v: Sequence[Scalar], a: Sequence[Scalar], naming: Naming = unnamed
) -> list[Scalar]:
    """The second derivative of c in m/s^2: force divided by mass, without gravity."""
    forces = (body.momentum_rate.force for body in moving(model, q, v, a, naming=naming))
    return [*(sum(forces, ZERO) * reciprocal(total_mass(model)))]


def com_jacobian(model: Model, q: Sequence[Coordinate], naming: Naming = unnamed) -> Rows:
    """J, 3 x nv: dc/dt = J v."""
    per_mass = reciprocal(total_mass(model))
    columns = _columns(model, moving(model, q, naming=naming))
    return rows_of(model, [[*(column.force * per_mass)] for column in columns])


def _center(model: Model, bodies: Sequence[Moving]) -> Vector:
    c: Vector = sum((body.inertia.first_moment for body in bodies), ZERO) * reciprocal(total_mass(model))
    return c


def _velocity(model: Model, bodies: Sequence[Moving]) -> Vector:
    rate: Vector = sum((body.momentum.force for body in bodies), ZERO) * reciprocal(total_mass(model))
    return rate


# ---- momentum about the centre of mass


def centroidal_momentum(
    model: Model, q: Sequence[Coordinate], v: Sequence[Scalar], naming: Naming = unnamed
) -> list[Scalar]:
    """h_g in N s and N m s: linear, then angular about c, both in world axes."""
    bodies = moving(model, q, v, naming=naming)
    total = sum((body.momentum for body in bodies), NO_FORCE)
    return _linear_first(about(_center(model, bodies), total))


def centroidal_matrix(model: Model, q: Sequence[Coordinate], naming: Naming = unnamed) -> Rows:
    """A_g, 6 x nv: h_g = A_g v."""
    bodies = moving(model, q, naming=naming)
    c = _center(model, bodies)
    return rows_of(model, [_linear_first(about(c, column)) for column in _columns(model, bodies)])


def centroidal_matrix_rate(
    model: Model, q: Sequence[Coordinate], v: Sequence[Scalar], naming: Naming = unnamed
) -> Rows:
    """dA_g/dt, 6 x nv: dh_g/dt = A_g a + dA_g/dt v."""
    bodies = moving(model, q, v, naming=naming)
    inertias = moved_by(model, [body.inertia for body in bodies])
    rates = moved_by(model, [body.inertia_rate for body in bodies])
    c, velocity = _center(model, bodies), _velocity(model, bodies)
    columns = []
    for body, inertia, change in zip(bodies, inertias, rates, strict=True):
        for S, S_rate in zip(body.columns, body.column_rates, strict=True):
            moved = about(c, change.apply(S) + inertia.apply(S_rate))
            slip = velocity.cross(inertia.apply(S).force)
            columns.append(_linear_first(Force(moved.moment - slip, moved.force)))
    return rows_of(model, columns)


def about(c: Vector, momentum: Force) -> Force:
    """Angular momentum about c, from that about the origin."""
    return Force(momentum.moment - c.cross(momentum.force), momentum.force)


def _columns(model: Model, bodies: Sequence[Moving]) -> list[Force]:
    """The momentum about the world's origin at unit velocity of each degree of freedom."""
    inertias = moved_by(model, [body.inertia for body in bodies])
    return [inertia.apply(S) for body, inertia in zip(bodies, inertias, strict=True) for S in body.columns]


def _linear_first(momentum: Force) -> list[Scalar]:
    return [*momentum.force, *momentum.moment]


def rows_of(model: Model, columns: Sequence[Sequence[Scalar]]) -> Rows:
    """The rows of the matrix with these columns, which are given in the order of the bodies. In the matrix,
    the columns of joints that follow others are last.
    """
    order = [k for body in model.bodies for k in range(body.joint.idx_v, body.joint.idx_v + body.joint.nv)]
    placed = dict(zip(order, columns, strict=True))
    return [list(row) for row in zip(*(placed[k] for k in range(model.nv)), strict=True)]
