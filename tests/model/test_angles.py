"""Constant and traced angles: right angles have integer sines, and sums of angles stay one angle."""

from __future__ import annotations

from math import cos, pi, sin

import pytest
from support.rationals import RIGHT_ANGLES

from rbdgen.graph.builder import Builder
from rbdgen.graph.expression import Expr
from rbdgen.model.angles import TracedAngle, constant_angle, exact, radians_of
from rbdgen.model.joints import Angle


@pytest.mark.parametrize("k", range(-4, 5))
def test_multiples_of_a_right_angle_are_integers(k: int) -> None:
    angle = constant_angle(k * pi / 2)
    assert angle == RIGHT_ANGLES[k % 4]
    assert all(isinstance(x, int) for x in angle)


def test_other_angles_stay_as_they_are() -> None:
    for angle in (1e-13, 0.3, pi / 2 + 1e-13):
        assert constant_angle(angle) == Angle(cos(angle), sin(angle))
    assert exact(Angle(-1.0, 1e-16)) == Angle(-1, 0)
    assert radians_of(constant_angle(2.5)) == pytest.approx(2.5, abs=1e-15)


def traced(builder: Builder, name: str) -> TracedAngle:
    return TracedAngle(builder.input(name, 1)[0], (Expr.cos, Expr.sin))


def test_sums_of_traced_angles_stay_one_angle() -> None:
    builder = Builder()
    p, q = traced(builder, "p"), traced(builder, "q")
    for total in ((p + constant_angle(0.5)) + (q + constant_angle(0.25)), p + (constant_angle(0.75) + q)):
        cost = builder.cost(list(total))
        assert (cost.cos, cost.sin, cost.additions, cost.total) == (1, 1, 2, 4)


@pytest.mark.parametrize("angle", RIGHT_ANGLES)
def test_right_angles_only_swap_a_traced_cosine_and_sine(angle: Angle) -> None:
    builder = Builder()
    q = traced(builder, "q")
    for shifted in (q + angle, angle + q):
        cost = builder.cost(list(shifted))
        assert cost.total == 2 + cost.neg


def test_traced_angles_have_the_values_of_their_sums() -> None:
    p, q = (TracedAngle(x, (cos, sin)) for x in (0.4, -1.1))
    for total, angle in (
        (p + q, -0.7),
        (p + constant_angle(pi / 2), 0.4 + pi / 2),
        (constant_angle(1.0) + q, -0.1),
    ):
        assert total == pytest.approx((cos(angle), sin(angle)), abs=1e-15)
