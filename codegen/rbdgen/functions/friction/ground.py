"""The ground at each contact, and the velocity that the law of contact asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from rbdgen.functions.friction.arguments import Law
from rbdgen.functions.friction.cone import TINY
from rbdgen.functions.friction.layout import Block
from rbdgen.spatial.ops import ZERO, Vector
from rbdgen.spatial.scalar import Scalar, add, dot, maximum, mul, select, sqrt, sub

LEAST_PIVOT: Final = 1e-12
"""The least element of the diagonal of G, relative to the trace of its block, and the least pivot of a block,
relative to its element of the diagonal. Smaller ones, which exist where nothing moves a contact in some
direction, are raised to this, so that steps stay finite.
"""

STEEPEST: Final = 1e-8
"""The square of the least angle in rad between the normal and a direction that is projected on the plane."""


@dataclass(frozen=True)
class Plane:
    """A plane n . x = d below a contact, and the axes of the contact's rows.

    The friction of a contact may depend on the direction of the slip: its coefficient across t1 is `across`
    times that along it. The cone of friction is circular again if the impulse is counted along the axes (t1,
    across t2, n) in place of the orthonormal ones, and then the law of Coulomb in its form of the greatest
    dissipation holds along these axes.
    """

    orthonormal: tuple[Vector, Vector, Vector]
    """t1, t2 and the normal n."""
    offset: Scalar
    across: Scalar = 1

    @classmethod
    def of(cls, numbers: Sequence[Scalar], slant: Sequence[Scalar] = ()) -> Plane:
        """The plane of a row of the input `ground`, with the row of the input `anisotropy` if there is one.

        The tangents are computed without a branch, as in Duff et al., Building an orthonormal basis,
        revisited, 2017. For a level plane they are the axes of the world. With anisotropy, t1 is the
        projection of its direction on the plane instead, or as before if the direction is nearly normal.
        """
        x, y, z, offset = numbers
        s = select(z, 0, -1, 1)
        a = -1 / (s + z)
        b = x * y * a
        t1, t2 = Vector(1 + s * x * x * a, s * b, -s * x), Vector(b, s + y * y * a, -y)
        n = Vector(x, y, z)
        if not slant:
            return cls((t1, t2, n), offset)
        *direction, across = slant
        way = Vector(*direction)
        size = way.dot(way)
        way = way - n * n.dot(way)
        steep = select(way.dot(way), size * STEEPEST + TINY, 1 + size, 0)
        way = way + t1 * steep
        t1 = way * (1 / sqrt(way.dot(way)))
        return cls((t1, n.cross(t1), n), offset, across)

    @property
    def normal(self) -> Vector:
        return self.orthonormal[2]

    @property
    def axes(self) -> tuple[Vector, Vector, Vector]:
        """The axes of the contact's rows, along which its impulse is counted."""
        t1, t2, n = self.orthonormal
        return t1, t2 * self.across, n

    def in_world(self, impulse: Sequence[Scalar]) -> list[Scalar]:
        """An impulse along the axes of the plane, in the axes of the world."""
        parts = (e * value for e, value in zip(self.axes, impulse, strict=True))
        return list(sum(parts, ZERO))


def planes(ground: Sequence[Scalar], slants: Sequence[Scalar] = ()) -> list[Plane]:
    """The planes of the input `ground`, and of the input `anisotropy` if there is one."""
    return [Plane.of(ground[k : k + 4], slants[k : k + 4]) for k in range(0, len(ground), 4)]


def in_world(
    blocks: Sequence[Block], grounds: Mapping[int, Sequence[Plane]], impulses: Sequence[Scalar]
) -> list[Scalar]:
    """The impulses of all contacts, those of points on these planes in the axes of the world. `grounds` has
    the planes of each contact with friction, by the number of the contact.
    """
    found = list(impulses)
    for k, planes_of_contact in grounds.items():
        for plane, (_, own) in zip(planes_of_contact, blocks[k].touches, strict=True):
            found[own] = plane.in_world(impulses[own])
    return found


class Spring(NamedTuple):
    """A spring and damper along the normal of a contact, which act at the end of a step.

    With the stiffness k and the damping d, the force k p + d dp/dt of the penetration p at the end of the
    step is lambda / dt, so that

        c_n + lambda_n / (dt (d + dt k)) + b_n = 0,    b_n = gap k / (d + dt k)

    for a contact below its plane. Above it the penetration begins within the step, and b_n is gap / dt.
    """

    stiff: Scalar
    """d + dt k; 0 for a contact without a spring and damper."""
    share: Scalar
    """k / (d + dt k), in 1/s."""
    compliance: Scalar
    """1 / (dt (d + dt k)), in 1/kg."""

    @classmethod
    def of(cls, k: Scalar, d: Scalar, dt: Scalar) -> Spring:
        stiff = d + dt * k
        inverse = 1 / maximum(stiff, TINY)
        return cls(stiff, k * inverse, inverse / dt)

    def chosen(self, with_spring: Scalar, without: Scalar) -> Scalar:
        """One value if there is a spring or damper, and the other one if there is none."""
        return select(0, self.stiff, with_spring, without)


class Approach(NamedTuple):
    """The motion of a contact along the normal of its plane."""

    gap: Scalar
    """The distance of the contact from the plane."""
    dt: Scalar
    before: Scalar
    """The velocity before the step."""
    free: Scalar
    """The velocity after the step if the contact had no impulse."""
    spring: Spring | None = None


def room(gap: Scalar, law: Law, dt: Scalar) -> Scalar:
    """The largest speed towards something at this distance. It is negative if the distance is, so that a part
    of it is taken back.
    """
    speed = gap / dt
    return select(0, gap, speed, maximum(law.pull * speed, -law.push))


def slope_of_room(gap: Scalar, law: Law, dt: Scalar) -> Scalar:
    """The derivative of `room` with respect to the distance."""
    speed = gap / dt
    pulled = select(-law.push, law.pull * speed, law.pull / dt, 0)
    return select(0, gap, 1 / dt, pulled)


def normal_bias(law: Law, x: Approach) -> Scalar:
    """b of the law 0 <= J v_next + b for the normal row of a contact, or of its `Spring`.

    A contact above the ground may come down to it within the step, but not below it. One that is below the
    ground takes back a part of its penetration. A contact that would touch within the step bounces.
    """
    bias, rebound = room(x.gap, law, x.dt), law.restitution * x.before
    found = _bounced(law, x, bias, rebound, bias)
    if x.spring is None:
        return found
    return x.spring.chosen(select(0, x.gap, x.gap / x.dt, x.gap * x.spring.share), found)


def slopes_of_bias(law: Law, x: Approach) -> tuple[Scalar, Scalar]:
    """The derivatives of `normal_bias` with respect to the gap and to the velocity before the step."""
    by_gap, bias = slope_of_room(x.gap, law, x.dt), room(x.gap, law, x.dt)
    slopes = _bounced(law, x, bias, 0, by_gap), _bounced(law, x, bias, law.restitution, 0)
    if x.spring is None:
        return slopes
    sprung = select(0, x.gap, 1 / x.dt, x.spring.share)
    return x.spring.chosen(sprung, slopes[0]), x.spring.chosen(0, slopes[1])


def _bounced(law: Law, x: Approach, bias: Scalar, bounces: Scalar, stays: Scalar) -> Scalar:
    """`bounces` for a contact that bounces, else `stays`. A contact bounces if it would touch within the
    step, is fast, and leaves faster than the bias says.
    """
    rebound = law.restitution * x.before
    larger = select(rebound, bias, bounces, stays)
    fast = select(rebound, -(law.restitution * law.slow), larger, stays)
    return select(x.gap + x.dt * x.free, 0, fast, stays)


def steps(block: Sequence[Sequence[Scalar]]) -> list[Scalar]:
    """The numbers r of the natural map for the rows (t1, t2, n) of a contact, from its block of G.

    That of the normal row is 1 / G_nn, and that of both tangential rows is 1 divided by the largest
    eigenvalue of the tangential block.
    """
    (a, d, _), (_, c, _), (_, _, normal) = block
    half = mul(0.5, sub(a, c))
    spread = add(mul(half, half), mul(d, d))
    tangential = 1 / add(mul(0.5, add(a, c)), sqrt(spread))
    return [tangential, tangential, 1 / normal]


def compliance(block: Sequence[Sequence[Scalar]], softness: Scalar) -> Scalar:
    """R of a corner of a sole with this block of G, in 1/kg. It is positive."""
    own = [row[k] for k, row in enumerate(block)]
    return maximum(softness, maximum(mul(LEAST_PIVOT, dot(own, [1] * len(own))), TINY))


def softened(block: Sequence[Sequence[Scalar]], softness: Sequence[Scalar]) -> list[Scalar]:
    """The diagonal of G + R for the block of a contact, where R is the compliance of each row in 1/kg.

    Every element is positive, also for a row that nothing moves.
    """
    own = [row[k] for k, row in enumerate(block)]
    least = maximum(mul(LEAST_PIVOT, dot(own, [1] * len(own))), TINY)
    return [maximum(add(value, soft), least) for value, soft in zip(own, softness, strict=True)]
