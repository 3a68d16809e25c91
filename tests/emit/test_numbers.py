"""Literals read back as the same bits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rbdgen.emit.numbers import literal, literal17
from rbdgen.errors import EmitError

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(FINITE)
def test_doubles_read_back(value: float) -> None:
    for text in (literal(value, "double"), literal17(value, "double")):
        assert float(text) == value
        assert np.signbit(float(text)) == np.signbit(value)
        assert "." in text or "e" in text


@given(st.floats(-3e38, 3e38))
def test_floats_are_rounded_once(value: float) -> None:
    for text in (literal(value, "float"), literal17(value, "float")):
        assert text.endswith("f")
        assert np.float32(float(text[:-1])) == np.float32(value)
        assert "." in text or "e" in text


def test_shortest() -> None:
    assert literal(0.1, "double") == "0.1"
    assert literal(0.1, "float") == "0.1f"
    assert literal(9.81, "float") == "9.81f"
    assert literal(1e-5, "double") == "1e-05"
    assert literal(2.0, "float") == "2.0f"


@pytest.mark.parametrize("real", ["double", "float"])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_what_no_literal_can_say_is_refused(value: float, real: str) -> None:
    with pytest.raises(EmitError, match="has no C literal"):
        literal(value, real)
    with pytest.raises(EmitError, match="has no C literal"):
        literal17(value, real)


def test_too_large_for_float() -> None:
    with pytest.raises(EmitError, match=r"1e\+39 does not fit a float; generate with real='double'"):
        literal(1e39, "float")
