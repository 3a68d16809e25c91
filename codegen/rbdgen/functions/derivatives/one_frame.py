"""Derivatives of inverse dynamics, every quantity in one frame.

Singh, Russell, Wensing, Efficient Analytical Derivatives of Rigid-Body Dynamics using Spatial Vector
Algebra, RA-L 2022, and Carpentier and Mansard, RSS 2018, Alg. 2-3. The frame: the axes of the world with the
origin at the first joint; on a floating base the base's own frame, in which its six columns are unit
vectors and its quaternion touches gravity only. Composite quantities are plain sums there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rbdgen.model.inertia import Inertia
from rbdgen.model.joints import Coordinate
from rbdgen.model.model import WORLD, Model
from rbdgen.spatial.ops import IDENTITY, NO_TRANSFORM, ZERO, Force, Matrix, Motion, Transform, Vector
from rbdgen.spatial.scalar import Naming, Scalar, add, unnamed

Rows = list[list[Scalar]]


class InverseDynamicsDerivatives(NamedTuple):
    """nv x nv each; dtau_dq in the tangent space; dtau_da = M. Entries across branches are exactly 0."""

    dtau_dq: Rows
    dtau_dv: Rows
    dtau_da: Rows
    tau: list[Scalar]


@dataclass(frozen=True, slots=True)
class Composite:
    """A subtree's inertia as (m, h, Sigma), its force f, and the 6 x 6 B of Singh et al. as (Bt, l).

    Bt = -([w x] Sigma + [h x][v x]) summed over bodies, l the linear momentum:
    B = [[Bt, 0], [-l x, 0]] from motion to force.
    """

    mass: Scalar
    first_moment: Vector
    second_moment: Matrix
    force: Force
    momentum: Vector
    Bt: Matrix

    def __add__(self, other: Composite) -> Composite:
        return Composite(
            add(self.mass, other.mass),
            self.first_moment + other.first_moment,
            self.second_moment + other.second_moment,
            self.force + other.force,
            self.momentum + other.momentum,
            self.Bt + other.Bt,
        )

    @property
    def inertia(self) -> Inertia:
        return Inertia.from_second_moment(self.mass, self.first_moment, self.second_moment)

    def B(self, m: Motion) -> Force:
        return Force(self.Bt.apply(m.angular), m.angular.cross(self.momentum))

    def B_transposed(self, m: Motion) -> Vector:
        """The angular part of B^T m; the linear part is 0."""
        return self.Bt.T.apply(m.angular) + self.momentum.cross(m.linear)


@dataclass(frozen=True, slots=True)
class Direction:
    """What one degree of freedom j contributes, in the common frame."""

    S: Motion
    psi1: Motion
    psi2: Motion
    velocity_column: Motion
    """Psi1 + Sdot."""


def rnea_derivatives(
    model: Model,
    q: Sequence[Coordinate],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    naming: Naming = unnamed,
) -> InverseDynamicsDerivatives:
    """dID/dq, dID/dv and M, and tau itself on the way; arguments as in `rnea`."""
    directions, composite = outward(model, q, v, a, naming)
    dtau_dq, dtau_dv, dtau_da = ([[0] * model.nv for _ in range(model.nv)] for _ in range(3))
    result = InverseDynamicsDerivatives(dtau_dq, dtau_dv, dtau_da, [0] * model.nv)
    for i in reversed(range(model.nbodies)):
        parent = model.bodies[i].parent
        fill_columns(model, i, composite[i], directions, result)
        if parent != WORLD:
            composite[parent] = composite[parent] + composite[i]
    return result


def common_frames(model: Model, q: Sequence[Coordinate]) -> list[Transform]:
    """The placement of every body in the common frame."""
    first = model.bodies[0]
    R, p = first.transform(q[0]) if model.is_floating else Transform(IDENTITY, first.placement.translation)
    frames: list[Transform] = []
    for i, (body, q_i) in enumerate(zip(model.bodies, q, strict=True)):
        if body.parent != WORLD:
            frames.append(frames[body.parent] @ body.transform(q_i))
        elif i == 0 and model.is_floating:
            frames.append(NO_TRANSFORM)
        else:
            own = body.transform(q_i)
            frames.append(Transform(R.T @ own.rotation, R.T.apply(own.translation - p)))
    return frames


def root_acceleration(model: Model, q: Sequence[Coordinate]) -> Motion:
    """-gravity in the common frame: what the world's acceleration looks like to the bodies."""
    upward = -model.gravity
    if model.is_floating:
        upward = model.bodies[0].transform(q[0]).rotation.T.apply(upward)
    return Motion(ZERO, upward)


def outward(
    model: Model, q: Sequence[Coordinate], v: Sequence[Scalar], a: Sequence[Scalar], naming: Naming
) -> tuple[list[Direction], list[Composite]]:
    """Root to leaves: the directions of all degrees of freedom, and every body's own `Composite`."""
    frames = common_frames(model, q)
    world_acceleration = root_acceleration(model, q)
    velocity: list[Motion] = []
    acceleration: list[Motion] = []
    directions: list[Direction] = []
    bodies: list[Composite] = []
    for i, body in enumerate(model.bodies):
        joint = body.joint
        parent_v, parent_a = Motion(ZERO, ZERO), world_acceleration
        if body.parent != WORLD:
            parent_v, parent_a = velocity[body.parent], acceleration[body.parent]
        frame = Transform(
            frames[i].rotation.named(naming, f"R[{i}]"), frames[i].translation.named(naming, f"p[{i}]")
        )
        columns = [frame.motion_to_parent(S) for S in joint.motion_subspace]
        rate = _combination(columns, joint.slice(v))
        velocity.append((parent_v + rate).named(naming, f"v[{i}]"))
        drift = parent_v.cross(rate)
        acceleration.append(
            (parent_a + _combination(columns, joint.slice(a)) + drift).named(naming, f"a[{i}]")
        )
        for S in columns:
            psi1 = parent_v.cross(S)
            psi2 = parent_a.cross(S) + parent_v.cross(psi1)
            column = psi1 * 2 if joint.nv == 1 else psi1 + velocity[i].cross(S)
            directions.append(Direction(S, psi1, psi2, column))
        own = body.inertia
        bodies.append(
            own_composite(own.mass, own.first_moment, own.second_moment, frame, velocity[i], acceleration[i])
        )
    return directions, bodies


def own_composite(
    m: Scalar, first_moment: Vector, second_moment: Matrix, frame: Transform, v: Motion, a: Motion
) -> Composite:
    """One body's quantities in the common frame; its moments are in its own."""
    R, p = frame
    h = R.apply(first_moment)
    shifted = h + p * m
    sigma = R.congruence(second_moment) + Matrix.outer(shifted, p) + Matrix.outer(p, h)
    moved = Inertia.from_second_moment(m, shifted, sigma)
    momentum = moved.apply(v)
    skew = Matrix.skew
    Bt = -(skew(v.angular) @ sigma + skew(shifted) @ skew(v.linear))
    force = moved.apply(a) + v.cross_force(momentum)
    return Composite(m, shifted, sigma, force, momentum.force, Bt)


def fill_columns(
    model: Model,
    i: int,
    subtree: Composite,
    directions: Sequence[Direction],
    result: InverseDynamicsDerivatives,
) -> None:
    """All entries between body i's degrees of freedom j and those of its own joint and of its ancestors."""
    joint = model.bodies[i].joint
    own = range(joint.idx_v, joint.idx_v + joint.nv)
    inertia = subtree.inertia
    for j in own:
        d = directions[j]
        t1 = inertia.apply(d.S)
        t2 = subtree.B(d.S) * 2 + inertia.apply(d.velocity_column)
        t3 = subtree.B(d.psi1) * 2 + inertia.apply(d.psi2)
        turned = t3 + d.S.cross_force(subtree.force)
        t4 = subtree.B_transposed(d.S) * 2
        result.tau[j] = d.S.dot(subtree.force)
        for k in own:
            S = directions[k].S
            result.dtau_da[k][j] = S.dot(t1)
            result.dtau_dv[k][j] = S.dot(t2)
            # within one joint S turns with the body; a single S along itself feels no S x* f either
            result.dtau_dq[k][j] = S.dot(t3)
        for k in model.ancestor_dofs(own[0]):
            other = directions[k]
            result.dtau_da[k][j] = result.dtau_da[j][k] = other.S.dot(t1)
            result.dtau_dv[k][j] = other.S.dot(t2)
            result.dtau_dq[k][j] = other.S.dot(turned)
            result.dtau_dq[j][k] = add(t4.dot(other.psi1.angular), other.psi2.dot(t1))
            result.dtau_dv[j][k] = add(t4.dot(other.S.angular), other.velocity_column.dot(t1))


def _combination(columns: Sequence[Motion], rates: Sequence[Scalar]) -> Motion:
    total = Motion(ZERO, ZERO)
    for column, rate in zip(columns, rates, strict=True):
        total = total + column * rate
    return total
