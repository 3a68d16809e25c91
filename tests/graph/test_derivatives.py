"""Derivatives of graphs agree with slopes by hand and, in rationals, with differences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.graphs import RING, graphs, pendulum

from rbdgen.graph.builder import Builder
from rbdgen.graph.cost import cost
from rbdgen.graph.derivatives.forward import jvp, pushforward
from rbdgen.graph.derivatives.inverse import jvp_by_inverse, vjp_by_inverse
from rbdgen.graph.derivatives.reverse import pullback, transposed, vjp
from rbdgen.graph.derivatives.slopes import Moving
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.expression import Expr
from rbdgen.graph.node import Graph
from rbdgen.graph.passes import cheapest, released
from rbdgen.graph.verify import verify

FUNCTIONS: dict[str, tuple[Callable[[Expr, Expr], Expr], Callable[[float, float], tuple[float, float]]]] = {
    "sum": (lambda x, y: x - y + x, lambda x, y: (2.0, -1.0)),
    "product": (lambda x, y: -x * y, lambda x, y: (-y, -x)),
    "square": (lambda x, y: (x - y) * (x - y), lambda x, y: (2 * (x - y), -2 * (x - y))),
    "quotient": (lambda x, y: x / y, lambda x, y: (1 / y, -x / y**2)),
    "quotients": (
        lambda x, y: 1 / y + y / x - x / -y,
        lambda x, y: (1 / y - y / x**2, 1 / x - (1 + x) / y**2),
    ),
    "root": (lambda x, y: (x + y).sqrt(), lambda x, y: (0.5 / np.sqrt(x + y),) * 2),
    "angle": (
        lambda x, y: x.sin() * (y + y).cos(),
        lambda x, y: (np.cos(x) * np.cos(2 * y), -2 * np.sin(x) * np.sin(2 * y)),
    ),
    "turn": (
        lambda x, y: (x.cos() * y - x.sin() * 3) * (x.sin() * y + x.cos() * 3) + x.sin() * x.cos(),
        lambda x, y: (
            (y**2 - 9) * np.cos(2 * x) - 6 * y * np.sin(2 * x) + np.cos(2 * x),
            y * np.sin(2 * x) + 3 * np.cos(2 * x),
        ),
    ),
    "sign": (lambda x, y: x.sign() * y, lambda x, y: (0.0, 1.0)),
    "held": (
        lambda x, y: x * (-x * y).applied("held", -x * y),
        lambda x, y: (-x * y, 0.0),
    ),
    "shared": (lambda x, y: (x * y) * (x * y) + x * y, lambda x, y: (2 * x * y**2 + y, 2 * x**2 * y + x)),
}

STATE = [Moving("x", (3,)), Moving("y", (2,))]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_slopes(name: str) -> None:
    """Compares all slopes at once in reverse mode with each in turn in forward mode."""
    function, slopes = FUNCTIONS[name]
    builder = Builder()
    x, y = builder.input("z", 2)
    value = function(x, y)
    rates = [pushforward([value], [x, y], ways)[0] for ways in ([1, 0], [0, 1])]
    graph = builder.graph([("g", (2,), pullback([value], [1], [x, y])), ("d", (2,), rates)])
    values = [0.7, 1.9]
    for found in evaluate(graph, {"z": values}).values():
        assert found == pytest.approx(slopes(*values), rel=1e-14)


def test_held_values_are_released_after_differentiation() -> None:
    """A choice between a value and the same value held has the slope 0 on one side, and costs nothing."""
    builder = Builder()
    (x,) = builder.input("x", 1)
    y = x * x
    chosen = y.applied("select", x, 1.0, y.applied("held", y), y)
    graph = builder.graph([("z", (), [chosen])])
    slope = jvp(graph, [Moving("x", (1,))])
    given = {"x": np.array([[0.5], [2.0]]), "x_dot": np.ones((2, 1))}
    assert evaluate(slope, given)["z_dot"].tolist() == [0.0, 4.0]
    assert evaluate(released(slope), given)["z_dot"].tolist() == [0.0, 4.0]
    plain = released(graph)
    verify(plain)
    assert cost(plain).total == 1
    assert evaluate(plain, {"x": given["x"]})["z"].tolist() == [0.25, 4.0]
    assert released(plain) is plain


def test_weights_are_held() -> None:
    """Weights are constant in the gradient, also if they are expressions of the same inputs."""
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
    assert pushforward([x.sin(), 4.0], [y, z], [1, 1]) == [0, 0]


def exact(graph: Graph, inputs: Mapping[str, Sequence[Fraction]]) -> dict[str, list[Any]]:
    given = {name: np.array(values, dtype=object) for name, values in inputs.items()}
    return {name: values.ravel().tolist() for name, values in evaluate(graph, given).items()}


def product(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


fractions = st.fractions(min_value=-2, max_value=2, max_denominator=5)


@settings(max_examples=60, deadline=None)
@given(graph=graphs(ops=RING, max_operations=12), drawn=st.lists(fractions, min_size=17, max_size=17))
def test_both_ways_are_exact(graph: Graph, drawn: list[Fraction]) -> None:
    """Forward mode agrees with a difference over a tiny rational step; reverse mode is its transpose."""
    x, y, x_dot, y_dot, u_bar, W_bar = (
        drawn[:3],
        drawn[3:5],
        drawn[5:8],
        drawn[8:10],
        drawn[10:13],
        drawn[13:],
    )
    step = Fraction(1, 10**60)
    forward, reverse = jvp(graph, STATE), vjp(graph, STATE)
    at = exact(graph, {"x": x, "y": y})
    moved = {"x": [a + step * b for a, b in zip(x, x_dot, strict=True)]}
    moved |= {"y": [a + step * b for a, b in zip(y, y_dot, strict=True)]}
    beyond = exact(graph, moved)
    rates = exact(forward, {"x": x, "y": y, "x_dot": x_dot, "y_dot": y_dot})
    weights = {"x": x, "y": y, "u_bar": u_bar, "W_bar": W_bar}
    bars = exact(reverse, weights)
    assert exact(transposed(forward, STATE), weights) == bars
    verify(forward)
    verify(reverse)
    for name, values in at.items():
        for a, b, rate in zip(values, beyond[name], rates[f"{name}_dot"], strict=True):
            assert abs((b - a) / step - rate) < 1e-20
    weighted = product(u_bar, rates["u_dot"]) + product(W_bar, rates["W_dot"])
    assert weighted == product(bars["x_bar"], x_dot) + product(bars["y_bar"], y_dot)


def test_a_turn_takes_no_slopes_by_its_sines() -> None:
    """In both modes, the derivative of a rotated vector by the angle is the vector, rotated further."""
    q = [Moving("q", (4,))]
    graphs = [made(cheapest(pendulum(4)), q) for made in (jvp, vjp)]
    assert [cost(cheapest(graph)).total for graph in graphs] == [58, 62]  # 77 and 80 otherwise


def test_by_the_inverse() -> None:
    """y = (z - sin x) / x solves x y + sin x = z."""
    direct, inverse = Builder(), Builder()
    x, z = direct.input("x", 1) + direct.input("z", 1)
    solved = direct.graph([("y", (1,), [(z - x.sin()) / x])])
    x, y = inverse.input("x", 1) + inverse.input("y", 1)
    equation = inverse.graph([("z", (1,), [x * y + x.sin()])])
    by = [Moving("x", (1,)), Moving("z", (1,))]
    given = {"x": [0.7], "z": [1.3], "x_dot": [0.4], "z_dot": [-0.9], "y_bar": [1.7]}
    for plain, other in ((vjp, vjp_by_inverse), (jvp, jvp_by_inverse)):
        expected = evaluate(plain(solved, by), given)
        found = evaluate(other(solved, plain(equation, by[:1]), by, "z"), given)
        assert list(found) == list(expected)
        for name, values in expected.items():
            assert found[name] == pytest.approx(values, rel=1e-14)
