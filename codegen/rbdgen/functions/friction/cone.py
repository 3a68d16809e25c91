"""The natural map of contacts with friction, whose zeros are the impulses.

For impulses lambda = (t, z) and velocities c = G lambda + g of a contact, with positive numbers r_t and r_n,

    F_n = z - max(0, y_n),  y_n = z - r_n c_n
    F_t = t - disc(y_t, mu z+),  y_t = t - r_t c_t,  z+ = max(0, z) if y_n > 0, else 0

where disc(y, r) is the point of the disc of radius r that is nearest to y. F = 0 says that the contact is
open or does not move along its normal, that the friction is at most mu z, and that it opposes the slip
(Alart and Curnier, A mixed formulation for frictional contact problems prone to Newton like solution
methods, 1991).

With a smoothing sigma > 0, max(0, y) is (y + sqrt(y^2 + 4 sigma r_n)) / 2. Then lambda_n c_n = sigma at the
solution, which is a point of the central path of an interior-point method.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from rbdgen.spatial.scalar import Scalar, maximum, select, sqrt

TINY: Final = 1e-18
"""A length that stands for 0 where a division needs a positive number. Its square is no zero in float."""


class Pressed(NamedTuple):
    """The normal part of the natural map of a contact."""

    target: Scalar
    """max(0, y_n), smoothed."""
    on: Scalar
    """The slope of `target` by y_n: 1 for a contact that presses, 0 for one that is open."""


class Scale(NamedTuple):
    """The steps of the natural map of a contact, and its smoothing."""

    tangential: Scalar
    normal: Scalar
    smoothing: Scalar
    """4 sigma r_n."""


def pressed(y: Scalar, smoothing: Scalar) -> Pressed:
    """max(0, y) and its slope."""
    root = sqrt(y * y + smoothing)
    slope = select(0, root, 0.5 + 0.5 * y / maximum(root, TINY), 0)
    return Pressed(0.5 * (y + root), slope)


class Cone(NamedTuple):
    """The natural map of a contact with friction, and what its derivative needs."""

    F: tuple[Scalar, Scalar, Scalar]
    on: Scalar
    kappa: Scalar
    """The factor by which the disc shrinks y_t."""
    slides: Scalar
    """1 if y_t is outside the disc, else 0."""
    direction: tuple[Scalar, Scalar]
    """y_t / |y_t|."""


def cone(impulse: Sequence[Scalar], velocity: Sequence[Scalar], mu: Scalar, scale: Scale) -> Cone:
    """The natural map of a contact."""
    (x, y, z), (u, w, c) = impulse, velocity
    target, on = pressed(z - scale.normal * c, scale.smoothing)
    radius = mu * select(0, target, maximum(z, 0), 0)  # the target is positive where y_n is
    p, s = x - scale.tangential * u, y - scale.tangential * w
    length = maximum(sqrt(p * p + s * s), TINY)
    inverse = 1 / length
    kappa = select(radius, length, radius * inverse, 1)
    F = (x - kappa * p, y - kappa * s, z - target)
    return Cone(F, on, kappa, select(radius, length, 1, 0), (p * inverse, s * inverse))


def shrunk(x: Scalar, y: Scalar, radius: Scalar) -> tuple[Scalar, Scalar]:
    """The point of the disc of this radius that is nearest to (x, y)."""
    factor = radius / maximum(maximum(sqrt(x * x + y * y), radius), TINY)
    return x * factor, y * factor
