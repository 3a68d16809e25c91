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
from typing import Final, NamedTuple

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


class Slip(NamedTuple):
    """The velocity at which a contact slips, times its resistance to the normal impulse, as a function of the
    direction e of the slip.
    """

    normal: Scalar
    least: Scalar
    """The least resistance."""
    tilt_x: Scalar
    tilt_y: Scalar
    free_x: Scalar
    free_y: Scalar
    lifted_x: Scalar
    lifted_y: Scalar
    a: Scalar
    d: Scalar
    c: Scalar

    @staticmethod
    def of(D: Rows, b: Sequence[Scalar], mu: Scalar) -> Slip:
        (a, d, u), (_, c, w), (_, _, normal) = D
        pressed = mu * b[2]
        tilt, lifted, least = (mu * u, mu * w), (b[2] * u, b[2] * w), normal * LEAST_RESISTANCE
        return Slip(normal, least, *tilt, b[0], b[1], *lifted, pressed * a, pressed * d, pressed * c)

    def turned(self, e: Tangent, cosine: Scalar, sine: Scalar) -> Tangent:
        """The direction e, turned by the angle with this cosine and sine towards that of the slip."""
        x, y = e
        resisting = maximum(self.normal - (self.tilt_x * x + self.tilt_y * y), self.least)
        slip_x = self.free_x * resisting - self.lifted_x + (self.a * x + self.d * y)
        slip_y = self.free_y * resisting - self.lifted_y + (self.d * x + self.c * y)
        turn = select(0, x * slip_y - y * slip_x, sine, -sine)
        return cosine * x - turn * y, cosine * y + turn * x


TURNS: Final = tuple((cos(angle), sin(angle)) for angle in (pi / 4 / 2**k for k in range(HALVINGS)))
"""The cosines and sines of the angles of all halvings."""


def impulse_of_cone(D: Rows, b: Sequence[Scalar], mu: Scalar) -> list[Scalar]:
    """The impulse (t1, t2, n) of a contact with friction.

    Args:
        D: its block of G, 3 x 3.
        b: its velocity if its own impulse is 0.
        mu: the coefficient of friction.
    """
    stops, slip = stopping_impulse(D, b), Slip.of(D, b, mu)
    e = against(stops)
    for cosine, sine in TURNS:
        e = slip.turned(e, cosine, sine)
    return chosen_impulse(D, b, mu, stops, e)


def against(impulse: Sequence[Scalar]) -> Tangent:
    """The direction against the tangential part of an impulse, the first guess of that of the slip."""
    x, y, _ = impulse
    inverse = 1 / maximum(sqrt(x * x + y * y), TINY)
    return -x * inverse, -y * inverse


def chosen_impulse(
    D: Rows, b: Sequence[Scalar], mu: Scalar, stops: Sequence[Scalar], e: Tangent
) -> list[Scalar]:
    """The impulse of the case that holds, from the one that stops the contact and the direction of the
    slip.
    """
    (_, _, u), (_, _, w), (_, _, normal) = D
    (x, y, z), (p, s) = stops, e
    length, radius = x * x + y * y, mu * z
    pressing = maximum(-b[2], 0) / maximum(normal - mu * (u * p + w * s), normal * LEAST_RESISTANCE)
    push = -(mu * pressing)
    found = []
    for sticks, slides in zip((x, y, z), (push * p, push * s, pressing), strict=True):
        # all comparisons with NaN are false, so NaN leads to the last case, which keeps it
        closed = select(radius * radius, length, slides, select(z, 0, slides, sticks))
        found.append(select_le(0, b[2], 0, closed))
    return found


def stopping_impulse(D: Rows, b: Sequence[Scalar]) -> list[Scalar]:
    """The impulse that stops a contact in all its rows."""
    return [-value for value in ldl(D, least=LEAST_PIVOT).solve(b)]
