"""Reverse differentiation of expressions, against slopes known by hand and in rationals."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from rbdgen.graph.builder import Builder, Expr
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.pullback import pullback

FUNCTIONS: dict[str, tuple[Callable[[Expr, Expr], Expr], Callable[[float, float], tuple[float, float]]]] = {
    "sum": (lambda x, y: x - y + x, lambda x, y: (2.0, -1.0)),
    "product": (lambda x, y: -x * y, lambda x, y: (-y, -x)),
    "square": (lambda x, y: (x - y) * (x - y), lambda x, y: (2 * (x - y), -2 * (x - y))),
    "quotient": (lambda x, y: x / y, lambda x, y: (1 / y, -x / y**2)),
    "root": (lambda x, y: (x + y).sqrt(), lambda x, y: (0.5 / np.sqrt(x + y),) * 2),
    "angle": (
        lambda x, y: x.sin() * (y + y).cos(),
        lambda x, y: (np.cos(x) * np.cos(2 * y), -2 * np.sin(x) * np.sin(2 * y)),
    ),
    "sign": (lambda x, y: x.sign() * y, lambda x, y: (0.0, 1.0)),
    "shared": (lambda x, y: (x * y) * (x * y) + x * y, lambda x, y: (2 * x * y**2 + y, 2 * x**2 * y + x)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_slopes(name: str) -> None:
    function, slopes = FUNCTIONS[name]
    builder = Builder()
    x, y = builder.input("z", 2)
    found = pullback([function(x, y)], [1], [x, y])
    graph = builder.graph([("g", (2,), found)])
    values = [0.7, 1.9]
    assert evaluate(graph, {"z": values})["g"] == pytest.approx(slopes(*values), rel=1e-14)


def test_weights_are_held() -> None:
    """A weighted sum of rows; the weights may be expressions of the same inputs."""
    builder = Builder()
    x, y = builder.input("z", 2)
    found = pullback([x * y, y * y, 3], [x, 2, y], [x, y])
    graph = builder.graph([("g", (2,), found)])
    point = [Fraction(2, 3), Fraction(5, 7)]
    result = evaluate(graph, {"z": np.array(point, dtype=object)})["g"]
    assert result.tolist() == [point[0] * point[1], point[0] ** 2 + 4 * point[1]]


def test_what_does_not_depend_has_no_slope() -> None:
    builder = Builder()
    x, y, z = builder.input("z", 3)
    assert pullback([x.sin(), 4.0], [1, 1], [y, z]) == [0, 0]
    assert pullback([x - x], [1], [x]) == [0]
