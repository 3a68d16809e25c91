"""The impulse of one contact if those of all other contacts are known, in a fixed number of operations.

Let D be the contact's own block of G = J M^-1 J^T, and b the velocity of the contact if its own impulse is 0,
in the axes (t1, t2, n) of the ground. The exact law of Coulomb knows three cases, which are all computed:

    open    if b_n >= 0: the impulse is 0
    stick   if the impulse -D^-1 b, which stops the contact, is inside the cone of friction
    slide   otherwise: the impulse is (-mu z e, z), where the unit vector e is the direction of the slip

For a sliding contact, z is such that the normal velocity is 0. The velocity b + D (-mu z e, z) is thus a
function of e, and its tangential part must have the direction e. This direction is found by halvings of a
half circle around a first guess, as in Hwangbo, Lee and Hutter, Per-contact iteration method for solving
contact dynamics, 2018. A halving turns e by a constant angle to the left or to the right, so it needs no
division and no trigonometric function.
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
"""The least resistance of a sliding contact to its normal impulse, relative to D_nn. The true resistance of a
contact that jams is negative.
"""

Tangent = tuple[Scalar, Scalar]
"""A vector of the tangent plane."""


def impulse_of_cone(D: Rows, b: Sequence[Scalar], mu: Scalar) -> list[Scalar]:
    """The impulse (t1, t2, n) of a contact with friction.

    Args:
        D: its block of G, 3 x 3.
        b: its velocity if its own impulse is 0.
        mu: the coefficient of friction.
    """
    (_, _, u), (_, _, w), (_, _, normal) = D
    x, y, z = stopping_impulse(D, b)
    length, radius = x * x + y * y, mu * z
    inverse = 1 / maximum(sqrt(length), TINY)
    p, s = _slip(D, b, mu, (-x * inverse, -y * inverse))
    pressing = maximum(-b[2], 0) / maximum(normal - mu * (u * p + w * s), normal * LEAST_RESISTANCE)
    push = -(mu * pressing)
    found = []
    for sticks, slides in zip((x, y, z), (push * p, push * s, pressing), strict=True):
        # all comparisons with NaN are false, so NaN leads to the last case, which keeps it
        closed = select(radius * radius, length, slides, select(z, 0, slides, sticks))
        found.append(select_le(0, b[2], 0, closed))
    return found


def _slip(D: Rows, b: Sequence[Scalar], mu: Scalar, e: Tangent) -> Tangent:
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


def stopping_impulse(D: Rows, b: Sequence[Scalar]) -> list[Scalar]:
    """The impulse that stops a contact in all its rows."""
    return [-value for value in ldl(D, least=LEAST_PIVOT).solve(b)]
