"""Centre of mass and centroidal momentum in the bodies' own axes, with mass moments.

The moments m, h and Sigma of the subtree that a joint moves are carried from body to parent, as in the
composite-rigid-body algorithm. A motion S has the momentum I S. About the centre of mass c, this column only
has to be rotated to world axes. For this purpose the vector r = c - p, from a body's origin p to c, is
carried from the root to every body.

Rates are those of vectors in the world, expressed in a body's axes. With r' the velocity of a point relative
to the body's origin, l = int r' dm is the rate of h, and the rate of Sigma is int r' r^T dm plus its
transpose.

The root is the floating base if it carries all bodies, so that no large numbers cancel far from the world's
origin. Otherwise it is the world. On a fixed base, two constants that no joint feels are added: the whole
mass, and the first moment of the mass that does not move.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from rbdgen.functions.inverse_dynamics.classical import body_forces
from rbdgen.functions.momentum.in_the_world import rows_of, total_mass
from rbdgen.functions.momentum.rates import angular_velocities, origin_rates, turning
from rbdgen.model.inertia import added_symmetric, from_second_moment
from rbdgen.model.joints import Coordinate
from rbdgen.model.model import WORLD
from rbdgen.model.moments import MassMoments
from rbdgen.model.reduce import ReducedBody, ReducedModel
from rbdgen.spatial.ops import (
    IDENTITY,
    NO_MOTION,
    ZERO,
    ZERO_MATRIX,
    Force,
    Matrix,
    Motion,
    Symmetric,
    Vector,
    mirrored,
)
from rbdgen.spatial.rows import Rows
from rbdgen.spatial.scalar import Naming, Scalar, add, mul, reciprocal, unnamed
from rbdgen.sweeps.bodies import force_to_parent, motion_to_child, relative_motion
from rbdgen.sweeps.inputs import ALONE, Lanes, State
from rbdgen.sweeps.records import named
from rbdgen.sweeps.straight import straight

T = TypeVar("T", Vector, Force, MassMoments, "Rates", "Point")


@dataclass(frozen=True, slots=True)
class Point:
    """The mass and the first moment of a part."""

    mass: Scalar
    first: Vector

    def __add__(self, other: Point) -> Point:
        return Point(add(self.mass, other.mass), self.first + other.first)

    def to_parent(self, body: ReducedBody) -> Point:
        """Move the record to the parent's origin and axes."""
        return Point(self.mass, body.rotation.to_parent(self.first) + body.translation * self.mass)


@dataclass(frozen=True, slots=True)
class Rates:
    """The mass moments of a part, and the rates l (`first`) and d Sigma/dt (`second`) as defined at the
    top.
    """

    moments: MassMoments
    first: Vector
    second: Symmetric

    def __add__(self, other: Rates) -> Rates:
        second = added_symmetric(self.second, other.second)
        return Rates(self.moments + other.moments, self.first + other.first, second)

    def to_parent(self, body: ReducedBody, p_rate: Vector) -> Rates:
        """Move the record to the parent's origin and axes.

        `p_rate` is the rate of the vector from the parent's origin to this one, in the parent's axes.
        """
        R, p = body.rotation, body.translation
        turned = self.moments.rotated(R)
        first = R.to_parent(self.first) + p_rate * turned.mass
        moved = added_symmetric(both_ways(first, p), both_ways(p_rate, turned.first))
        second = added_symmetric(R.symmetric_to_parent(self.second), moved)
        return Rates(turned.translated(p), first, second)

    def apply(self, S: Motion, S_rate: Motion) -> Force:
        """The rate of I S."""
        return MassMoments(0, self.first, self.second).apply(S) + self.moments.apply(S_rate)


def both_ways(a: Vector, b: Vector) -> Matrix:
    """a b^T + b a^T."""
    entries = [
        [add(mul(a[i], b[j]), mul(a[j], b[i])) if j > i else mul(mul(2, a[i]), b[i]) for j in range(3)]
        for i in range(3)
    ]
    return mirrored(entries)


class Whole:
    """A reduced model at a position, and sums over it.

    `root` is a floating base that carries all bodies, or WORLD. `mass` is the mass of all moving bodies, in
    the units of the reduced model.
    """

    def __init__(
        self,
        reduced: ReducedModel,
        q: Sequence[Coordinate],
        naming: Naming = unnamed,
        lanes: Lanes = ALONE,
    ) -> None:
        model = reduced.model
        alone = [body.parent for body in model.bodies].count(WORLD) == 1
        self.root = 0 if model.is_floating and alone else WORLD
        self.mass = mul(total_mass(model, lanes), reduced.unit_length * reduced.unit_length)
        self.reduced, self.naming, self.lanes = reduced, naming, lanes
        self.bodies = reduced.at(q)

    def subtrees(self, own: Sequence[T], to_parent: Callable[[int, T], T]) -> tuple[list[T], T]:
        """For every body the sum over its subtree, in its axes, and the sum over the robot.

        `to_parent` takes a value of body i to its parent. If limbs are lanes, what they hand on is summed.
        """
        sums, total = list(own), None
        for i in reversed(range(len(sums))):
            if i == self.root:
                return sums, sums[i]
            moved, parent = to_parent(i, sums[i]), self.bodies[i].parent
            moved = self.lanes.handed_on(type(moved), moved, i, parent)
            if parent == WORLD:
                total = moved if total is None else moved + total
            else:
                sums[parent] = named(type(moved), sums[parent] + moved, self.naming, f"subtree[{parent}]")
        assert total is not None
        return sums, total

    def in_world(self, v: Vector, i: int) -> Vector:
        """A vector given in the axes of body i or of the root, rotated to world axes."""
        while i != WORLD:
            v, i = self.bodies[i].rotation.to_parent(v), self.bodies[i].parent
        return v

    def turned(self, i: int, v: Vector) -> Vector:
        """A vector given in the axes of body i, rotated to the axes of its parent."""
        return self.bodies[i].rotation.to_parent(v)

    def orientations(self) -> list[Matrix]:
        """The rotations from the bodies' axes to world axes."""
        found: list[Matrix] = []
        for i, body in enumerate(self.bodies):
            above = IDENTITY if body.parent == WORLD else found[body.parent]
            turned = Matrix(*map(body.rotation.to_child, above))
            found.append(turned.named(self.naming, f"R[{i}]"))
        return found

    def seen_from_bodies(self, at_root: Vector, step: Callable[[int, Vector], Vector]) -> list[Vector]:
        """A vector for every body, in its axes. The root has `at_root`, and `step` computes the vector of
        body i from that of its parent, in the parent's axes.
        """
        found: list[Vector] = []
        for i, body in enumerate(self.bodies):
            above = at_root if body.parent == WORLD else found[body.parent]
            found.append(at_root if i == self.root else self.bodies[i].rotation.to_child(step(i, above)))
        return found


# ---- the centre of mass


def per_mass(reduced: ReducedModel, lanes: Lanes = ALONE) -> ReducedModel:
    """The robot with a mass of 1 and lengths in m, whose first moment is its centre of mass."""
    scale = reciprocal(mul(total_mass(reduced.model, lanes), reduced.unit_length))
    return replace(
        reduced,
        moments=tuple(
            MassMoments(mul(own.mass, scale), own.first * scale, ZERO_MATRIX) for own in reduced.moments
        ),
        still=reduced.still * scale,
        gravity=ZERO,
    )


def com(
    reduced: ReducedModel, q: Sequence[Coordinate], naming: Naming = unnamed, lanes: Lanes = ALONE
) -> list[Scalar]:
    """c in world axes, in m."""
    whole = Whole(per_mass(reduced, lanes), q, naming, lanes)
    c = whole.in_world(_center(whole, _points(whole)[1].first), whole.root)
    return [*c] if whole.root == WORLD else [*(c + whole.bodies[whole.root].translation)]


def com_velocity(
    reduced: ReducedModel,
    q: Sequence[Coordinate],
    v: Sequence[Scalar],
    naming: Naming = unnamed,
    lanes: Lanes = ALONE,
) -> list[Scalar]:
    """dc/dt in m/s."""
    whole = Whole(per_mass(reduced, lanes), q, naming, lanes)
    linear = [momentum.force for momentum in _momenta(whole, v)]
    return [*whole.in_world(whole.subtrees(linear, whole.turned)[1], whole.root)]


def com_acceleration(
    reduced: ReducedModel,
    q: Sequence[Coordinate],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    naming: Naming = unnamed,
    lanes: Lanes = ALONE,
) -> list[Scalar]:
    """The second derivative of c in m/s^2."""
    whole = Whole(per_mass(reduced, lanes), q, naming, lanes)
    given = straight(whole.reduced, State(q, v, a, naming=naming)).run(body_forces())
    forces = [force.force for force in given["force"]]
    return [*whole.in_world(whole.subtrees(forces, whole.turned)[1], whole.root)]


def com_jacobian(
    reduced: ReducedModel,
    q: Sequence[Coordinate],
    naming: Naming = unnamed,
    lanes: Lanes = ALONE,
    *,
    carried: bool = False,
) -> Rows:
    """J, 3 x nv: dc/dt = J v. With `carried`, columns are rotated from body to body, which takes fewer
    operations near the root.
    """
    whole = Whole(per_mass(reduced, lanes), q, naming, lanes)
    R = [] if carried else whole.orientations()
    columns = []
    for i, (body, part) in enumerate(zip(whole.bodies, _points(whole)[0], strict=True)):
        mass = 1 if i == whole.root else part.mass
        for S in body.subspace:
            column = S.linear * mass + S.angular.cross(part.first)
            columns.append([*(whole.in_world(column, i) if carried else R[i].apply(column))])
    return rows_of(reduced.model, columns)


def _points(whole: Whole) -> tuple[list[Point], Point]:
    own = [Point(body.moments.mass, body.moments.first) for body in whole.bodies]
    return whole.subtrees(own, lambda i, point: point.to_parent(whole.bodies[i]))


def _center(whole: Whole, first: Vector) -> Vector:
    """The first moment of the robot about its root. On a fixed base it includes the mass that does not
    move.
    """
    return first + whole.reduced.still if whole.root == WORLD else first


def _momenta(whole: Whole, v: Sequence[Scalar]) -> list[Force]:
    """The momentum of each single body about its origin."""
    velocities: list[Motion] = []
    for body in whole.bodies:
        above = NO_MOTION if body.parent == WORLD else motion_to_child(body, velocities[body.parent])
        velocities.append(above + relative_motion(body, body.joint.slice(v)))
    return [body.moments.apply(own) for body, own in zip(whole.bodies, velocities, strict=True)]


# ---- momentum about the centre of mass


def centroidal_momentum(
    reduced: ReducedModel,
    q: Sequence[Coordinate],
    v: Sequence[Scalar],
    naming: Naming = unnamed,
    lanes: Lanes = ALONE,
) -> list[Scalar]:
    """h_g in N s and N m s: linear, then angular about c, both in world axes."""
    whole = Whole(reduced.of_momentum, q, naming, lanes)
    _, total = whole.subtrees(_momenta(whole, v), lambda i, f: force_to_parent(whole.bodies[i], f))
    r = _center(whole, _points(whole)[1].first) * reciprocal(whole.mass)
    linear = whole.in_world(total.force, whole.root) * reciprocal(reduced.unit_length)
    return [*linear, *whole.in_world(total.moment - r.cross(total.force), whole.root)]


def centroidal_matrix(
    reduced: ReducedModel, q: Sequence[Coordinate], naming: Naming = unnamed, lanes: Lanes = ALONE
) -> Rows:
    """A_g, 6 x nv: h_g = A_g v."""
    whole = Whole(reduced.of_momentum, q, naming, lanes)
    own = [body.moments for body in whole.bodies]
    parts, total = whole.subtrees(
        own, lambda i, part: part.rotated(whole.bodies[i].rotation).translated(whole.bodies[i].translation)
    )
    r = _center(whole, total.first) * reciprocal(whole.mass)
    towards = whole.seen_from_bodies(r, lambda i, r: r - whole.bodies[i].translation)
    R, columns = whole.orientations(), []
    for i, (body, part) in enumerate(zip(whole.bodies, parts, strict=True)):
        for S in body.subspace:
            columns.append(_in_world(whole, R[i], _about(whole, i, part, towards[i], S)))
    return rows_of(reduced.model, columns)


def centroidal_matrix_rate(
    reduced: ReducedModel,
    q: Sequence[Coordinate],
    v: Sequence[Scalar],
    naming: Naming = unnamed,
    lanes: Lanes = ALONE,
) -> Rows:
    """dA_g/dt, 6 x nv: dh_g/dt = A_g a + dA_g/dt v."""
    whole = Whole(reduced.of_momentum, q, naming, lanes)
    bodies, w = whole.bodies, angular_velocities(whole.bodies, v, naming)
    p_rates = origin_rates(bodies, w, v)
    own = [_own_rates(body.moments, own) for body, own in zip(bodies, w, strict=True)]
    parts, total = whole.subtrees(own, lambda i, part: part.to_parent(bodies[i], p_rates[i]))
    per_mass = reciprocal(whole.mass)
    r = whole.seen_from_bodies(
        _center(whole, total.moments.first) * per_mass, lambda i, r: r - bodies[i].translation
    )
    r_rates = whole.seen_from_bodies(total.first * per_mass, lambda i, rate: rate - p_rates[i])
    R, columns = whole.orientations(), []
    for i, body in enumerate(bodies):
        for S in body.subspace:
            column = _rate_about(whole, i, parts[i], (r[i], r_rates[i]), (S, turning(w[i], S)))
            columns.append(_in_world(whole, R[i], column))
    return rows_of(reduced.model, columns)


def _own_rates(own: MassMoments, w: Vector) -> Rates:
    half = Matrix.skew(w) @ own.second
    return Rates(own, w.cross(own.first), half + half.T)


def _rate_about(
    whole: Whole, i: int, part: Rates, r: tuple[Vector, Vector], S: tuple[Motion, Motion]
) -> Force:
    """The rate of `_about`. r and S are given together with their rates."""
    if i == whole.root:
        moments, at, turn = part.moments, r[0], S[0].angular
        turning = from_second_moment(moments.second - Matrix.outer(moments.first, at))
        turning_rate = from_second_moment(part.second - both_ways(part.first, at))
        linear = S[1].linear * whole.mass + S[1].angular.cross(moments.first) + turn.cross(part.first)
        return Force(turning_rate.apply(turn) + turning.apply(S[1].angular), linear)
    column, rate = part.moments.apply(S[0]), part.apply(*S)
    return Force(rate.moment - r[1].cross(column.force) - r[0].cross(rate.force), rate.force)


def _about(whole: Whole, i: int, part: MassMoments, r: Vector, S: Motion) -> Force:
    """The momentum about c at unit velocity of body i's joint along S."""
    if i == whole.root:
        # h = m r, so a linear motion has no angular momentum about c
        turning = from_second_moment(part.second - Matrix.outer(part.first, r))
        return Force(turning.apply(S.angular), S.linear * whole.mass + S.angular.cross(part.first))
    column = part.apply(S)
    return Force(column.moment - r.cross(column.force), column.force)


def _in_world(whole: Whole, R: Matrix, momentum: Force) -> list[Scalar]:
    """The momentum in world axes: linear, then angular."""
    linear = R.apply(momentum.force) * reciprocal(whole.reduced.unit_length)
    return [*linear, *R.apply(momentum.moment)]
