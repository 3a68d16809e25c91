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


@dataclass(frozen=True)
class Plane:
    """A plane n . x = d below a contact, and the axes (t1, t2, n) of the contact's rows."""

    axes: tuple[Vector, Vector, Vector]
    offset: Scalar

    @classmethod
    def of(cls, numbers: Sequence[Scalar]) -> Plane:
        """The plane of a row of the input `ground`.

        The tangents are computed without a branch, as in Duff et al., Building an orthonormal basis,
        revisited, 2017. For a level plane they are the axes of the world.
        """
        x, y, z, offset = numbers
        s = select(z, 0, -1, 1)
        a = -1 / (s + z)
        b = x * y * a
        t1, t2 = Vector(1 + s * x * x * a, s * b, -s * x), Vector(b, s + y * y * a, -y)
        return cls((t1, t2, Vector(x, y, z)), offset)

    @property
    def normal(self) -> Vector:
        return self.axes[2]

    def in_world(self, impulse: Sequence[Scalar]) -> list[Scalar]:
        """An impulse along the axes of the plane, in the axes of the world."""
        parts = (e * value for e, value in zip(self.axes, impulse, strict=True))
        return list(sum(parts, ZERO))


def planes(ground: Sequence[Scalar]) -> list[Plane]:
    """The planes of the input `ground`."""
    return [Plane.of(ground[k : k + 4]) for k in range(0, len(ground), 4)]


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


class Approach(NamedTuple):
    """The motion of a contact along the normal of its plane."""

    gap: Scalar
    """The distance of the contact from the plane."""
    dt: Scalar
    before: Scalar
    """The velocity before the step."""
    free: Scalar
    """The velocity after the step if the contact had no impulse."""


def normal_bias(law: Law, x: Approach) -> Scalar:
    """b of the law 0 <= J v_next + b for the normal row of a contact.

    A contact above the ground may come down to it within the step, but not below it. One that is below the
    ground takes back a part of its penetration. A contact that would touch within the step bounces.
    """
    speed, rebound = x.gap / x.dt, law.restitution * x.before
    back = maximum(law.pull * speed, -law.push)
    bias = select(0, x.gap, speed, back)
    return _bounced(law, x, bias, rebound, bias)


def slopes_of_bias(law: Law, x: Approach) -> tuple[Scalar, Scalar]:
    """The derivatives of `normal_bias` with respect to the gap and to the velocity before the step."""
    speed = x.gap / x.dt
    pulled = select(-law.push, law.pull * speed, law.pull / x.dt, 0)
    by_gap = select(0, x.gap, 1 / x.dt, pulled)
    bias = select(0, x.gap, speed, maximum(law.pull * speed, -law.push))
    return _bounced(law, x, bias, 0, by_gap), _bounced(law, x, bias, law.restitution, 0)


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


def softened(block: Sequence[Sequence[Scalar]], softness: Scalar) -> list[Scalar]:
    """The diagonal of G + R for the block of a contact, where R is its compliance in 1/kg.

    Every element is positive, also for a row that nothing moves.
    """
    own = [row[k] for k, row in enumerate(block)]
    least = maximum(mul(LEAST_PIVOT, dot(own, [1] * len(own))), TINY)
    return [maximum(add(value, softness), least) for value in own]
