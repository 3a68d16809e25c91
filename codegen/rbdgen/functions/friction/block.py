"""The impulse of one contact if those of all other contacts are known, in a fixed number of operations.

Let D be the contact's own block of G = J M^-1 J^T, and b the velocity of the contact if its own impulse is 0,
in the axes (t1, t2, n) of the ground. The exact law of Coulomb knows three cases, which are all computed:

    open    b_n >= 0, and the impulse is 0
    stick   the impulse -D^-1 b, if it is inside the cone of friction
    slide   the impulse (-mu z e, z), where the slip has the direction e, which is a unit vector

The slip of an impulse in the direction e is b + D (-mu z e, z), with z such that its normal part is 0. The
direction e for which the slip has the same direction is found by halvings of a half circle, as in Hwangbo,
Lee and Hutter, Per-contact iteration method for solving contact dynamics, 2018. A halving turns e by a
constant angle to one of both sides, so it needs no division and no trigonometric function.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, pi, sin
from typing import Final

from rbdgen.functions.friction.cone import TINY
from rbdgen.functions.friction.ground import LEAST_PIVOT
from rbdgen.spatial.ldl import ldl
from rbdgen.spatial.scalar import Scalar, maximum, select, select_le, sqrt

Rows = Sequence[Sequence[Scalar]]

HALVINGS: Final = 12
"""The number of halvings. With 8 of them, the Newton steps that follow have more to do."""

LEAST_RESISTANCE: Final = 1e-3
"""The least resistance of a sliding contact to its normal impulse, relative to D_nn. In a contact that jams,
the true resistance is negative.
"""

Plane = tuple[Scalar, Scalar]
"""A vector of the tangent plane."""


def impulse_of_cone(D: Rows, b: Sequence[Scalar], mu: Scalar) -> list[Scalar]:
    """The impulse (t1, t2, n) of a contact with friction.

    Args:
        D: its block of G, 3 x 3.
        b: its velocity if its own impulse is 0.
        mu: the coefficient of friction.
    """
    (_, _, u), (_, _, w), (_, _, normal) = D
    x, y, z = impulse_of_joint(D, b)
    length, radius = x * x + y * y, mu * z
    inverse = 1 / maximum(sqrt(length), TINY)
    p, s = _slip(D, b, mu, (-x * inverse, -y * inverse))
    pressing = maximum(-b[2], 0) / maximum(normal - mu * (u * p + w * s), normal * LEAST_RESISTANCE)
    push = -(mu * pressing)
    found = []
    for sticks, slides in zip((x, y, z), (push * p, push * s, pressing), strict=True):
        # a NaN passes all comparisons to the last case
        closed = select(radius * radius, length, slides, select(z, 0, slides, sticks))
        found.append(select_le(0, b[2], 0, closed))
    return found


def _slip(D: Rows, b: Sequence[Scalar], mu: Scalar, e: Plane) -> Plane:
    """The direction of the slip, from a first guess e."""
    (a, d, u), (_, c, w), (_, _, normal) = D
    x, y = e
    least, tilt, lifted = normal * LEAST_RESISTANCE, (mu * u, mu * w), (b[2] * u, b[2] * w)
    pressed = mu * b[2]
    a, c, d = pressed * a, pressed * c, pressed * d
    for k in range(HALVINGS):
        resisting = maximum(normal - (tilt[0] * x + tilt[1] * y), least)
        slip_x = b[0] * resisting - lifted[0] + (a * x + d * y)
        slip_y = b[1] * resisting - lifted[1] + (d * x + c * y)
        angle = pi / 4 / 2**k
        turn = select(0, x * slip_y - y * slip_x, sin(angle), -sin(angle))
        x, y = cos(angle) * x - turn * y, cos(angle) * y + turn * x
    return x, y


def impulse_of_joint(D: Rows, b: Sequence[Scalar]) -> list[Scalar]:
    """The impulse with which all rows of a bilateral contact come to rest."""
    return [-value for value in ldl(D, least=LEAST_PIVOT).solve(b)]
