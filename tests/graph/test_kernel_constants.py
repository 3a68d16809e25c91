"""The constants of the elementary functions are the derived ones, and products that must be exact are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mpmath import mpf

from benchmarks.kernel_coefficients import polynomials, quarter_turn, splits
from benchmarks.sincos_coefficients import RealName
from rbdgen.graph.kernel_constants import CONSTANTS, Constants

REALS: dict[RealName, type[np.floating[Any]]] = {"double": np.float64, "float": np.float32}

reals = pytest.mark.parametrize("real", REALS)


def of(real: RealName) -> Constants:
    return CONSTANTS[np.dtype(REALS[real])]


@pytest.mark.parametrize("real", ["float", pytest.param("double", marks=pytest.mark.campaign)])
def test_polynomials(real: RealName) -> None:
    """The coefficients are those of the derivation. The derivation for double takes a minute."""
    for name, (coefficients, _) in polynomials(real).items():
        assert tuple(coefficients) == getattr(of(real), name)


@reals
def test_sums(real: RealName) -> None:
    constants = of(real)
    for name, (head, tail) in splits(real).items():
        assert getattr(constants, name) == (head, tail)
    turn = constants.quarter_turn
    assert quarter_turn(real) == [*turn.exact, *turn.middle, turn.last]


@reals
def test_exact_products(real: RealName) -> None:
    """The first part of ln 2 times any exponent, and of pi/2 times any quarter turn in range, is exact."""
    constants, held = of(real), np.finfo(REALS[real]).nmant + 1
    turns = int(constants.tan_range / (np.pi / 2)) + 1
    exact = [(part, turns) for part in (*constants.quarter_turn.exact, *constants.quarter_turn.middle)]
    exact.append((constants.ln2.head, constants.bias + constants.mantissa + 2))
    for part, factor in exact:
        odd = int(mpf(float(REALS[real](part))).man_exp[0])
        assert (odd * factor).bit_length() <= held
