"""Imported CasADi and SymPy expressions give the graph that direct tracing builds."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import casadi
import numpy as np
import pytest
import sympy

from rbdgen.errors import GraphError
from rbdgen.graph.builder import Builder
from rbdgen.graph.cost import cost
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.from_casadi import from_casadi
from rbdgen.graph.from_sympy import from_sympy
from rbdgen.graph.node import Graph
from rbdgen.graph.verify import verify


def formulas(q: Any, v: Any, sin: Any, cos: Any, sqrt: Any, named: Any) -> list[Any]:
    """An expression of every kind, over any scalars; `named` is called with intermediate quantities."""
    s, c = sin(q[0]), cos(q[0])
    x = named("x", c * v[0] - s * v[1])
    y = named("y", s * v[0] + c * v[1])
    d = named("d", 2 + x * x + y * y)
    return [
        -x,
        x / d,
        y / d,
        1 / d,
        sqrt(d),
        2 * x * y,
        (x - y) * (y - x),
        x * 3 / 2 - 0.25,
        -(y / 4),
        q[1] + 0,
    ]


def direct() -> tuple[Graph, list[str]]:
    builder = Builder()
    q, v = builder.input("q", 2), builder.input("v", 2)

    def named(label: str, value: Any) -> Any:
        builder.label(value, label)
        return value

    results = formulas(q, v, lambda x: x.sin(), lambda x: x.cos(), lambda x: x.sqrt(), named)
    return builder.graph([("y", (2, 5), results), ("n", (2,), [7, 0])]), ["x", "y", "d"]


def through_casadi() -> Graph:
    q, v = casadi.SX.sym("q", 2), casadi.SX.sym("v", 2)
    labels: list[tuple[Any, str]] = []

    def named(label: str, value: Any) -> Any:
        labels.append((value, label))
        return value

    results = formulas(q, v, casadi.sin, casadi.cos, casadi.sqrt, named)
    return from_casadi([("q", q), ("v", v)], [("y", (2, 5), results), ("n", (2,), [7, 0])], labels)


def through_sympy() -> Graph:
    q, v = sympy.symbols("q:2"), sympy.symbols("v:2")
    assignments: list[tuple[Any, Any]] = []

    def named(label: str, value: Any) -> Any:
        symbol = sympy.Dummy(label)
        assignments.append((symbol, value))
        return symbol

    results = formulas(q, v, sympy.sin, sympy.cos, sympy.sqrt, named)
    labels = [(symbol, symbol.name) for symbol, _ in assignments]
    outputs = [("y", (2, 5), results), ("n", (2,), [7, 0])]
    return from_sympy([("q", q), ("v", v)], assignments, outputs, labels)


@pytest.mark.parametrize("engine", [through_casadi, through_sympy])
def test_same_value_and_nearly_the_same_count(engine: Any) -> None:
    expected, names = direct()
    graph = engine()
    verify(graph)
    assert graph.inputs == expected.inputs
    random = np.random.default_rng(1)
    inputs = {"q": random.uniform(-2, 2, (20, 2)), "v": random.uniform(-2, 2, (20, 2))}
    ours, theirs = evaluate(expected, inputs), evaluate(graph, inputs)
    assert np.allclose(ours["y"], theirs["y"], rtol=1e-14, atol=1e-15)
    assert (theirs["n"] == [7, 0]).all()
    assert abs(cost(graph).total - cost(expected).total) <= 1
    assert cost(graph).div == cost(expected).div == 1
    assert {text.lstrip("-") for text in graph.labels.values()} == set(names)


def test_casadi_takes_exact_numbers() -> None:
    """All elements of a constant matrix may be numbers."""
    graph = from_casadi([("q", casadi.SX.sym("q", 1))], [("M", (2,), [Fraction(1, 2), 0])])
    np.testing.assert_array_equal(evaluate(graph, {"q": np.zeros(1)})["M"], [0.5, 0.0])


def test_labels_mark_the_node_they_name() -> None:
    graph = through_casadi()
    index = next(index for index, text in graph.labels.items() if text == "d")
    everything = Graph(graph.inputs, graph.nodes, (type(graph.outputs[0])("d", (), (index,)),))
    inputs = {"q": [0.3, 0.0], "v": [1.0, 2.0]}
    assert evaluate(everything, inputs)["d"] == pytest.approx(2 + 1 + 4)


def test_casadi_twins_of_its_own_operations() -> None:
    """CasADi's own operations for 2 x, x^2, 1 / x and -x are imported."""
    x = casadi.SX.sym("x", 2)
    outputs = [2 * x[0], x[0] ** 2, 1 / x[1], -x[0], x[0] - x[1], casadi.SX(2.5)]
    graph = from_casadi([("x", x)], [("y", (6,), outputs)])
    assert np.allclose(evaluate(graph, {"x": [3.0, 4.0]})["y"], [6, 9, 0.25, -3, -1, 2.5])
    assert cost(graph).total == 5


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (lambda x: casadi.log1p(x[0]), "CasADi's OP_LOG1P"),
        (lambda x: casadi.fmod(x[0], x[1]), "CasADi's OP_FMOD"),
        (lambda x: casadi.erf(x[0]), "CasADi's OP_ERF"),
        (lambda x: x[0] + casadi.SX.sym("w"), "depend on w, which no input declares"),
    ],
)
def test_casadi_refuses(expression: Any, message: str) -> None:
    x = casadi.SX.sym("x", 2)
    with pytest.raises(GraphError, match=message):
        from_casadi([("x", x)], [("y", (1,), [expression(x)])])


def test_sympy_numbers_and_powers() -> None:
    x, y = sympy.symbols("x y")
    outputs = [
        x**3,
        x**-2,
        sympy.sqrt(x),
        x ** sympy.Rational(-3, 2),
        sympy.pi * y,
        sympy.Rational(1, 3) * x,
        x**0,
    ]
    graph = from_sympy([("x", [x, y])], [], [("y", (7,), outputs)])
    expected = [8, 0.25, 2**0.5, 2**-1.5, np.pi * 3, 2 / 3, 1]
    assert np.allclose(evaluate(graph, {"x": [2.0, 3.0]})["y"], expected, rtol=1e-15)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (sympy.cot, "SymPy's cot"),
        (lambda x: x ** sympy.Symbol("n"), "depend on n, which no input or assignment declares"),
        (lambda x: x + sympy.Symbol("w"), "depend on w, which no input or assignment declares"),
        (sympy.gamma, "SymPy's gamma"),
    ],
)
def test_sympy_refuses(expression: Any, message: str) -> None:
    x = sympy.Symbol("x")
    with pytest.raises(GraphError, match=message):
        from_sympy([("x", [x])], [], [("y", (1,), [expression(x)])])
