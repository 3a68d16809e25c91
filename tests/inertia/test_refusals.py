"""Impossible arguments are refused in one line that names them."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import casadi
import numpy as np
import pytest
import sympy

import rbdgen
from rbdgen import Inertia

BALL = Inertia.from_center_of_mass(2.0, [0.1, 0.2, 0.3], np.diag([1, 2, 2.5]))
NO_BODY = Inertia.from_center_of_mass(2.0, [0.1, 0.2, 0.3], np.diag([1, 2, 3.5]))
NOTHING = Inertia(np.zeros(10))
SYMBOLS = Inertia(sympy.symbols("a:10"))
HUGE = Inertia([1.0, 0, 0, 0, 1e308, 0, 1e308, 0, 0, 1e308])
WIDE = Inertia([1e-300, 1e10, 0, 0, 1, 0, 1, 0, 0, 1])
ONE = np.eye(3)

CASES: dict[str, tuple[Callable[[], Any], str]] = {
    "three numbers": (
        lambda: Inertia([1, 2, 3]),
        r"Inertia: inertia has shape \(3,\), expected \(\.\.\., 10\)",
    ),
    "NaN": (lambda: Inertia([1.0] * 9 + [np.nan]), r"Inertia: inertia\[9\] is nan; give finite numbers"),
    "NaN among symbols": (lambda: Inertia([sympy.Symbol("m"), np.nan] + [0] * 8), r"inertia\[1\] is nan"),
    "text": (lambda: Inertia("abc"), "pass real numbers"),
    "nothing": (lambda: Inertia(None), "pass real numbers"),
    "ragged": (lambda: Inertia([[1] * 10, [2] * 9]), "no ragged lists"),
    "ragged symbols": (lambda: BALL.rotated([[sympy.Symbol("m"), 1, 2], [1, 2]]), "rows of one length"),
    "masked": (lambda: Inertia(np.ma.array(np.zeros(10))), "masked array"),
    "few symbols": (lambda: Inertia(sympy.symbols("a:3")), r"shape \(3,\)"),
    "objects": (lambda: Inertia([object()] * 10), "pass real numbers"),
    "no rotation": (
        lambda: BALL.rotated(np.ones((3, 3))),
        r"rotated: rotation R: R R\^T differs from 1 by 3.0e\+00",
    ),
    "a reflection": (lambda: BALL.transformed(-ONE, [0, 0, 0]), "transformed: rotation R is a reflection"),
    "a plane rotation": (lambda: BALL.rotated(np.eye(2)), r"expected \(\.\.\., 3, 3\)"),
    "infinite": (lambda: BALL.translated([1, np.inf, 0]), r"translated: translation\[1\] is inf"),
    "overflow": (
        lambda: BALL.translated([1e300, 0, 0]),
        r"the result\[6\] is inf; the numbers are too large",
    ),
    "exponential": (lambda: Inertia.from_log_cholesky([1e3] + [0] * 9), "the numbers are too large"),
    "short velocity": (lambda: BALL.times(np.zeros(5)), r"times: v has shape \(5,\)"),
    "complex": (lambda: BALL.times([1j] * 6), "pass real numbers"),
    "leading axes": (
        lambda: Inertia(np.ones((2, 10))).times(np.ones((3, 6))),
        "leading axes do not broadcast",
    ),
    "shape of out": (lambda: BALL.rotated(ONE, out=np.zeros(9)), r"rotated: out .* shape \(9,\)"),
    "type of out": (
        lambda: BALL.rotated(ONE, out=np.zeros(10, np.float32)),
        "dtype float32, expected float64",
    ),
    "no 6 x 6": (lambda: Inertia.from_matrix(np.eye(6) + 0.1), "from_matrix: matrix is not .* differ by 0.2"),
    "no pseudo-inertia": (lambda: Inertia.from_pseudo_inertia(np.triu(np.ones((4, 4)))), "is not symmetric"),
    "not symmetric": (
        lambda: Inertia.from_center_of_mass(1, [0, 0, 0], np.triu(np.ones((3, 3)))),
        "about_center is not symmetric",
    ),
    "integers that are not symmetric": (
        lambda: Inertia.from_center_of_mass(1, [0, 0, 0], [[1, 1, 0], [0, 1, 0], [0, 0, 1]]),
        "about_center is not symmetric",
    ),
    "negative mass": (
        lambda: Inertia.from_center_of_mass(-1, [0, 0, 0], ONE).factor(),
        "factor: a mass is -1 kg",
    ),
    "no mass": (lambda: Inertia([0] + [1.0] * 9).factor(), "factor: a mass is 0 and has moments"),
    "negative moment": (
        lambda: Inertia.from_center_of_mass(1, [0, 0, 0], np.diag([1, 1, -1.0])).factor(),
        r"factor: a principal moment is -1 kg m\^2",
    ),
    "indefinite": (
        lambda: Inertia.from_center_of_mass(1, [0, 0, 0], [[0, 1, 0], [1, 0, 0], [0, 0, 1]]).factor(),
        r"factor: a principal moment is -1 kg m\^2",
    ),
    "symbols": (SYMBOLS.principal, "principal: needs numbers"),
    "symbols checked": (SYMBOLS.check, "needs numbers"),
    "a logarithm of no body": (NO_BODY.to_log_cholesky, r"others by 0.5 kg m\^2"),
    "a logarithm of a plate": (
        lambda: Inertia.from_center_of_mass(1, [0, 0, 0], np.diag([1, 1, 2])).to_log_cholesky(),
        "lies in a plane",
    ),
    "KSL's without mass": (NOTHING.to_ksl, "to_ksl: a mass is 0"),
    "of KSL's without mass": (lambda: Inertia.from_ksl(np.zeros(10)), "from_ksl: a mass is 0"),
    "axes of nothing": (NOTHING.principal, "principal: a mass is 0"),
    "centre of nothing": (lambda: NOTHING.center, "center: a mass is 0"),
    "two engines": (lambda: SYMBOLS + Inertia(casadi.SX.sym("c", 10)), "symbols of both CasADi and SymPy"),
    "text among symbols": (lambda: SYMBOLS.times(["x"] * 6), "pass real numbers"),
    "objects in an array": (lambda: Inertia(np.array([None] * 10, object)), "holds a NoneType"),
    "the root of a negative fraction": (
        Inertia([Fraction(-1)] + [Fraction(0)] * 9).factor,
        "cannot be computed with these symbols",
    ),
    "bodies that do not broadcast": (lambda: Inertia(np.ones((2, 10))) + Inertia(np.ones((3, 10))), "add: "),
    "an overflowing sum": (lambda: HUGE + HUGE, "add: the result.* is inf"),
    "an overflowing quotient": (WIDE.factor, "factor: the inertia about the centre of mass"),
    "principal axes of that": (WIDE.principal, "principal: the inertia about the centre of mass"),
    "its distance": (WIDE.excess, "excess: the inertia about the centre of mass"),
    "an index": (lambda: BALL[3], "its leading axes are"),
    "a child": (lambda: BALL.merged(3, ONE, [0, 0, 0]), "merged: the child is a int"),  # type: ignore[arg-type]
    "a type": (lambda: BALL.astype(int), "take float32 or float64"),
    "a tolerance": (lambda: BALL.is_physical(-1), "tolerance=-1; give a number"),
    "the triangle inequality": (NO_BODY.check, r"others by 0.5 kg m\^2; no body can have it"),
    "the second of two": (
        lambda: Inertia([BALL.parameters, NO_BODY.parameters]).check(),
        r"Inertia\[1\]: violates the triangle inequality",
    ),
    "a negative mass": (Inertia([-1.0] + [0] * 9).check, "a mass of -1 kg is negative"),
    "moments of nothing": (Inertia([0] + [1.0] * 9).check, "a mass of 0 kg has moments"),
}


@pytest.mark.parametrize("case", CASES)
def test_refused(case: str) -> None:
    call, said = CASES[case]
    with pytest.raises(rbdgen.RbdgenError) as caught:
        call()
    message = str(caught.value)
    assert "\n" not in message
    assert re.search(said, message), message


def test_others_are_not_added() -> None:
    with pytest.raises(TypeError):
        BALL + 3  # type: ignore[operator]
    with pytest.raises(TypeError):
        BALL - None  # type: ignore[operator]


def test_what_can_be_is_not_refused() -> None:
    BALL.check()
    NOTHING.check()
    plate = Inertia.from_center_of_mass(1, [0, 0, 0], np.diag([1, 1, 2]))
    plate.check()
    assert plate.factor().rank == 6
    HUGE.check()
    assert HUGE.factor().rank == 6
    assert Inertia(np.empty((0, 10))).is_physical().shape == (0,)
    assert Inertia(np.empty((0, 10))).factor().L.shape == (0, 3, 3)
