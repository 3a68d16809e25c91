"""Choices between values, and absolute values: their meaning, simplification, derivatives and import."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import casadi
import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from support.graphs import CHOICES, RING, graphs

from rbdgen.errors import GraphError
from rbdgen.graph.builder import Builder
from rbdgen.graph.cost import Cost, cost
from rbdgen.graph.derivatives.forward import jvp
from rbdgen.graph.derivatives.reverse import vjp
from rbdgen.graph.derivatives.slopes import Moving
from rbdgen.graph.engine import new_engine
from rbdgen.graph.evaluate import COMPUTED, evaluate
from rbdgen.graph.expressed import expressed
from rbdgen.graph.expression import Expr
from rbdgen.graph.from_casadi import from_casadi
from rbdgen.graph.from_sympy import from_sympy
from rbdgen.graph.node import Graph
from rbdgen.graph.programs.passes import TO_C, apply
from rbdgen.graph.programs.program import straight_line
from rbdgen.graph.programs.unrolled import unrolled
from rbdgen.graph.replay import replay
from rbdgen.graph.verify import verify

SPECIAL = [0.0, -0.0, 1.0, -1.0, 1.5, 5e-324, -5e-324, np.inf, -np.inf, np.nan]


def built(function: Callable[..., list[Any]], size: int = 4) -> Graph:
    builder = Builder()
    elements = function(*builder.input("x", size))
    return builder.graph([("y", (len(elements),), elements)])


@settings(derandomize=True, max_examples=150, deadline=None)
@given(graph=graphs(ops=(*RING, *CHOICES)))
def test_passes_keep_every_choice(graph: Graph) -> None:
    """The builder and all passes keep exact values, and the counts are those of the graph."""
    x = {"x": [Fraction(3), Fraction(-2), Fraction(1, 2)], "y": [Fraction(-2), Fraction(0)]}
    inputs = {name: np.array(row, object) for name, row in x.items()}
    expected = evaluate(graph, inputs)
    builder = Builder()
    outputs = replay(builder, graph)
    elements = [element for row in outputs.values() for element in row]
    lowered = builder.graph([(o.name, o.shape, outputs[o.name]) for o in graph.outputs])
    assert cost(lowered) == builder.cost(elements)
    for after in (lowered, unrolled(apply(straight_line(graph), TO_C))):
        verify(after)
        found = evaluate(after, inputs)
        assert all((found[name] == expected[name]).all() for name in expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_special_values(dtype: type) -> None:
    """`max` and `min` give the second of equal values and NaN for NaN; `select` is false for NaN."""
    with np.errstate(all="ignore"):
        special_values(dtype)


def special_values(dtype: type) -> None:
    x, y = (a.ravel() for a in np.meshgrid(np.array(SPECIAL, dtype), np.array(SPECIAL, dtype)))
    unknown = np.isnan(x) | np.isnan(y)
    for op, better in (("max", x > y), ("min", x < y)):
        found = COMPUTED[op](x, y)
        assert found.dtype == dtype
        assert np.isnan(found[unknown]).all()
        expected = np.where(better, x, y)[~unknown]
        assert (found[~unknown].view("u1") == expected.view("u1")).all()
    opposite = -COMPUTED["max"](-x, -y)
    assert np.array_equal(np.signbit(COMPUTED["min"](x, y))[~unknown], np.signbit(opposite)[~unknown])
    assert np.array_equal(COMPUTED["select"](x, y, 1, 2) == 1, x < y)
    assert np.array_equal(COMPUTED["select_le"](x, y, 1, 2) == 1, x <= y)
    assert not np.signbit(COMPUTED["abs"](x)).any() or np.isnan(x).any()


def test_what_is_known_is_not_computed() -> None:
    def known(x: Expr, y: Expr, *_: Expr) -> list[Any]:
        return [
            abs(Builder.constant(x.builder, -2.5)),  # type: ignore[arg-type]
            abs(abs(x)),
            abs(-x),
            abs(x * x),
            x.applied("max", x, x),
            x.applied("max", 2, 3),
            x.applied("select", x, x, y, 7),
            (x <= y).select(y, y),
            x.applied("select", 1, 2, x, y),
            x.applied("select_le", 2, 2, x, y),
        ]

    graph = built(known)
    assert cost(graph) == Cost(abs=1, sq=1)
    assert np.array_equal(
        evaluate(graph, {"x": [-3.0, 5.0, 0.0, 0.0]})["y"], [2.5, 3, 3, 9, -3, 3, 7, 5, -3, -3]
    )


def test_signs_leave_no_negation() -> None:
    """Negations are moved out: max(-a, -b) = -min(a, b), select(c, -x, -y) = -select(c, x, y)."""
    graph = built(
        lambda a, b, x, y: [-a.applied("max", -a, -b), -(a < b).select(-x, -y), (-b < -a).select(x, y)]
    )
    assert cost(graph) == Cost(min=1, select=1)
    at = np.array([2.0, -1.0, 3.0, 4.0])
    assert np.array_equal(evaluate(graph, {"x": at})["y"], [-1.0, 4.0, 4.0])


def test_two_halves_are_one_choice() -> None:
    """Two choices by one comparison, each with a 0, are one choice; CasADi writes choices in this way."""
    graph = built(lambda a, b, x, y: [(a < b).select(x, 0) + (a < b).select(0, -y), 3 * (a < b).select(x, 0)])
    assert cost(graph).select == 2
    assert cost(graph).add + cost(graph).sub == 0
    assert np.array_equal(evaluate(graph, {"x": [1.0, 2.0, 5.0, 6.0]})["y"], [5, 15])
    assert np.array_equal(evaluate(graph, {"x": [2.0, 1.0, 5.0, 6.0]})["y"], [-6, 0])


def huber(x: Expr, y: Expr, z: Expr, w: Expr) -> list[Any]:
    larger = x.applied("max", x * y, z)
    return [
        (abs(x) < w).select(x * x, 2 * abs(x) * w - w * w) + larger,
        x.applied("min", larger, w * y) * z,
        (z <= y).select((y - z).applied("max", y - z, 0.1).sqrt(), x**3) ** 1.5,
    ]


@pytest.mark.parametrize("seed", range(8))
def test_derivatives_are_those_of_the_value_that_is_taken(seed: int) -> None:
    graph = built(huber)
    rng = np.random.default_rng(seed)
    x, dx, y_bar = rng.uniform(0.5, 2, 4), rng.normal(size=4), rng.normal(size=3)
    moving = [Moving("x", (4,))]
    rates = evaluate(jvp(graph, moving), {"x": x, "x_dot": dx})["y_dot"]
    bars = evaluate(vjp(graph, moving), {"x": x, "y_bar": y_bar})["x_bar"]
    assert bars @ dx == pytest.approx(y_bar @ rates, rel=1e-12)
    ends = [evaluate(graph, {"x": x + h * dx})["y"] for h in (1e-6, -1e-6)]
    assert rates == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-6, abs=1e-6)


def test_a_value_that_is_not_taken_has_no_slope() -> None:
    """A value that is not taken has no slope: that of the root at 0 is infinite, and 0 times it is NaN."""
    graph = built(lambda x, *_: [(x > 0).select(x.sqrt(), 0)])
    for change, name, inputs in (
        (jvp, "y_dot", {"x_dot": np.ones(4)}),
        (vjp, "x_bar", {"y_bar": np.ones(1)}),
    ):
        found = evaluate(change(graph, [Moving("x", (4,))]), {"x": np.zeros(4), **inputs})[name]
        assert np.array_equal(found, np.zeros_like(found))


def from_sx(function: Callable[[Any], list[Any]]) -> tuple[Graph, Callable[[Any], Any]]:
    x = casadi.SX.sym("x", 4)
    results = function(x)
    compiled = casadi.Function("f", [x], [casadi.vertcat(*results)])
    return from_casadi([("x", x)], [("y", (len(results),), results)]), compiled


def choices_of_casadi(x: Any) -> list[Any]:
    both = casadi.logic_and(x[0] < x[1], x[2] <= 1)
    either = casadi.logic_or(x[0] == x[1], casadi.logic_not(x[3] != 2))
    return [
        casadi.if_else(x[0] < x[1], x[2], x[3] - 1),
        casadi.fmin(x[0], x[1]) + casadi.fmax(x[2], x[3]),
        casadi.fabs(x[0] - x[1]),
        casadi.if_else(both, x[0], -x[1]),
        casadi.if_else(either, x[0], 5),
        casadi.if_else(x[0] - 1, x[1], x[2]),
        x[0] >= x[1],
    ]


def test_casadi_in_and_out() -> None:
    graph, compiled = from_sx(choices_of_casadi)
    again = expressed(graph, new_engine("casadi"))
    for at in np.array(np.meshgrid(*[[0.0, 1.0, 2.0]] * 4)).reshape(4, -1).T:
        expected = compiled(at).full().ravel()
        assert np.array_equal(evaluate(graph, {"x": at})["y"], expected)
        assert np.array_equal(again(at).full().ravel(), expected)
    one, _ = from_sx(lambda x: [casadi.if_else(x[0] < x[1], x[2], x[3])])
    assert cost(one) == Cost(select=1)


def test_sympy_in_and_out() -> None:
    a, b, c, d = symbols = sympy.symbols("a b c d", real=True)
    outputs = [
        sympy.Max(a, b, c),
        sympy.Min(a, b) + sympy.Abs(c - d),
        sympy.Piecewise((a, a < b), (c, c >= d), (d, True)),
        sympy.Piecewise((a, a > b), (b, a <= c), (d, True)),
    ]
    graph = from_sympy([("x", symbols)], [], [("y", (4,), outputs)])
    steps, (again,) = expressed(graph, new_engine("sympy"))
    for at in ([1.0, 2.0, 3.0, 4.0], [4.0, 2.0, 3.0, 1.0], [2.0, 2.0, -1.0, -1.0]):
        given = dict(zip(symbols, at, strict=True))
        expected = [float(x.subs(given)) for x in outputs]
        assert evaluate(graph, {"x": at})["y"].tolist() == expected
        known = {sympy.Symbol(f"x_{k}", real=True): value for k, value in enumerate(at)}
        for symbol, step in steps:
            known[symbol] = step.subs(known)
        assert [float(x.subs(known)) for x in again] == expected


def test_sympy_refuses_what_may_hold_nowhere() -> None:
    (a, b) = symbols = sympy.symbols("a b", real=True)
    for piece in (sympy.Piecewise((a, a < b)), sympy.Piecewise((a, sympy.Eq(a, b)), (b, True))):
        with pytest.raises(GraphError, match="SymPy's"):
            from_sympy([("x", symbols)], [], [("y", (1,), [piece])])


def test_expressions_have_no_truth() -> None:
    x, y = Builder().input("x", 2)
    for wrong in (lambda: bool(x), lambda: bool(x < y), lambda: max(x, y)):
        with pytest.raises(GraphError, match=r"neither true nor false while it is traced; take np.where"):
            wrong()
    with pytest.raises(GraphError, match="comparison with a str"):
        x < "1"  # type: ignore[operator]  # noqa: B015
    with pytest.raises(GraphError, match="constants must be finite"):
        x ** float("nan")
    with pytest.raises(TypeError):
        x ** "a"  # type: ignore[operator]
