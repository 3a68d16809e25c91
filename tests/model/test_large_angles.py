"""The error at large angles is at most the effect of a change of q by half an ulp."""

from __future__ import annotations

import math

import mpmath
import pytest

from rbdgen.model.angles import TracedAngle, constant_angle, radians_of

DIGITS = mpmath.MPContext()
DIGITS.dps = 60


@pytest.mark.parametrize("q", [3.0, 1e2, 6e4, 1e9, 1e15])
@pytest.mark.parametrize("offset", [0.1, 1.0, -2.5])
def test_half_an_ulp_of_the_angle(q: float, offset: float) -> None:
    known = constant_angle(offset)
    angle = TracedAngle(q, (math.cos, math.sin)) + known
    exact = DIGITS.mpf(q) + DIGITS.mpf(radians_of(known))
    error = max(abs(angle.cos - DIGITS.cos(exact)), abs(angle.sin - DIGITS.sin(exact)))
    assert error <= math.ulp(q) / 2 + 4e-16


def test_that_much_is_lost() -> None:
    """A right angle is exact at any size; another offset is not."""
    q = 1e15
    for offset, lost in ((math.pi / 2, False), (0.1, True)):
        angle = TracedAngle(q, (math.cos, math.sin)) + constant_angle(offset)
        exact = DIGITS.mpf(q) + (DIGITS.pi / 2 if not lost else DIGITS.mpf(offset))
        assert (abs(angle.cos - DIGITS.cos(exact)) > 1e-4) == lost
