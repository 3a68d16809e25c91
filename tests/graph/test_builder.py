"""The builder shares equal nodes, drops operations without effect, and counts the operations of a trace."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.graphs import ALL, RING, graphs

from rbdgen.errors import GraphError
from rbdgen.graph.builder import Builder
from rbdgen.graph.cost import Cost, cost
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.expression import Expr
from rbdgen.graph.node import Graph
from rbdgen.graph.replay import replayed
from rbdgen.graph.verify import verify

Function = Callable[..., list[Any]]


def trace(function: Function, size: int = 4) -> Graph:
    builder = Builder()
    results = function(*builder.input("x", size))
    graph = builder.graph([("y", (len(results),), results)])
    verify(graph)
    assert builder.cost(results) == cost(graph)
    return graph


CASES: list[tuple[Function, Cost]] = [
    (lambda a, b, c, d: [a + 0, a * 1, a - 0, 0 + a, 1 * a, a / 1, a + 0 * b], Cost()),
    (lambda a, b, c, d: [a - a, a * 0, (a + b) - (b + a)], Cost()),
    (lambda a, b, c, d: [(a + b) - b, (a - b) + b, (a + a) - a, (3 - a) + a, -a - (b - a)], Cost(neg=1)),
    (lambda a, b, c, d: [(a + b) + (c - b), (a - b) - (c - b)], Cost(add=1, sub=1)),
    (lambda a, b, c, d: [(a + b * c) + (d - b * c), b * c], Cost(add=1, mul=1)),
    (lambda a, b, c, d: [((a + b) + c) - (a + b), (a + 2) - (b + 2)], Cost(sub=1)),
    (lambda a, b, c, d: [a + a, 2 * a, a * 2.0], Cost(add=1)),
    (lambda a, b, c, d: [a * a, (-a) * (-a)], Cost(sq=1)),
    (lambda a, b, c, d: [a - b, b - a], Cost(sub=1, neg=1)),
    (lambda a, b, c, d: [b - a, -(a - b)], Cost(sub=1)),
    (lambda a, b, c, d: [-(a + b)], Cost(add=1, neg=1)),
    (lambda a, b, c, d: [-((a - b) + c)], Cost(sub=2)),
    (lambda a, b, c, d: [-(a - b) * c], Cost(sub=1, mul=1)),
    (lambda a, b, c, d: [-3 * a, -(a * 0.5)], Cost(mul=2)),
    (lambda a, b, c, d: [2 * (3 * a), 6 * a], Cost(mul=1)),
    (lambda a, b, c, d: [2 * (a + a), 4 * a], Cost(mul=1)),
    (lambda a, b, c, d: [0.5 * (a + a)], Cost()),
    (lambda a, b, c, d: [(-a).sin() + a.sin(), (-a).cos() - a.cos()], Cost()),
    (lambda a, b, c, d: [a.sin(), a.cos()], Cost(sin=1, cos=1)),
    (lambda a, b, c, d: [a / b], Cost(div=1)),
    (lambda a, b, c, d: [a / b, c / b], Cost(div=1, mul=2)),
    (lambda a, b, c, d: [1 / b], Cost(div=1)),
    (lambda a, b, c, d: [-1 / b, -(3 / c)], Cost(div=2)),
    (lambda a, b, c, d: [1 / (1 / b)], Cost()),
    (lambda a, b, c, d: [a / b * b, a * (b / a), (a * b) / a, (1 / a) * a, b * (1 / b), (b * a) / a], Cost()),
    (lambda a, b, c, d: [a / 4], Cost(mul=1)),
    (lambda a, b, c, d: [(b - a).sqrt()], Cost(sub=1, sqrt=1)),
    (lambda a, b, c, d: [1 - a, a - 1, 1 + a, -(1 + a)], Cost(add=1, sub=1, neg=2)),
]


@pytest.mark.parametrize(("function", "expected"), CASES)
def test_operations(function: Function, expected: Cost) -> None:
    graph = trace(function)
    found = cost(graph)
    assert found.total == expected.total
    assert (found.additions, found.multiplications) == (expected.additions, expected.multiplications)
    assert (found.div, found.neg, found.sqrt) == (expected.div, expected.neg, expected.sqrt)
    x = np.array([0.3, 0.7, -1.1, 2.5])
    assert np.allclose(
        evaluate(graph, {"x": x})["y"], [value(y) for y in function(*map(Float, x))], atol=1e-15
    )


class Float(float):
    """A float with the methods of an `Expr`; its sums, differences and negation have them as well."""

    def __getattribute__(self, name: str) -> Any:
        if name in ("sin", "cos", "sqrt"):
            return lambda: Float(getattr(math, name)(self))
        return super().__getattribute__(name)

    def __add__(self, other: float) -> Float:
        return Float(float(self) + float(other))

    def __sub__(self, other: float) -> Float:
        return Float(float(self) - float(other))

    def __neg__(self) -> Float:
        return Float(-float(self))

    __radd__ = __add__


def value(x: float) -> float:
    return float(x)


def test_numbers_of_all_kinds() -> None:
    builder = Builder()
    (x,) = builder.input("x", 1)
    for number in (3, 3.0, Fraction(3), np.float64(3), np.float32(3), np.int64(3)):
        assert (x * number).edge == (number * x).edge == (3 * x).edge
        assert (x - number).edge == (-(number - x)).edge
        assert (x / number).edge == (x * (1 / 3)).edge


def test_arrays_of_expressions() -> None:
    builder = Builder()
    x = np.array(builder.input("x", 3), dtype=object)
    total = (np.sin(x) * x[0] + np.ones(3) * 2.0).sum()
    result = evaluate(builder.graph([("y", (), [total])]), {"x": [1.0, 2.0, 3.0]})["y"]
    assert result == pytest.approx(sum(math.sin(k) + 2 for k in (1, 2, 3)))


@pytest.mark.parametrize("operate", [operator.add, operator.sub, operator.mul, operator.truediv])
def test_refuses_what_is_no_scalar(operate: Callable[[Any, Any], Any]) -> None:
    (x,) = Builder().input("x", 1)
    with pytest.raises(TypeError):
        operate(x, "1")
    with pytest.raises(TypeError):
        operate("1", x)


def test_refuses_two_builders_infinite_constants_and_division_by_zero() -> None:
    builder = Builder()
    (x,) = builder.input("x", 1)
    (other,) = Builder().input("x", 1)
    with pytest.raises(GraphError, match="two builders"):
        x + other
    with pytest.raises(GraphError, match="must be finite"):
        x * math.inf
    with pytest.raises(GraphError, match="must be finite"):
        x + math.nan
    with pytest.raises(GraphError, match="division by zero"):
        x / (x - x)
    with pytest.raises(GraphError, match="must not be negative"):
        builder.constant(-1).sqrt()
    with pytest.raises(GraphError, match="must be new"):
        builder.input("x", 2)
    with pytest.raises(GraphError, match="output element"):
        builder.graph([("y", (1,), ["x"])])  # type: ignore[list-item]


def test_constant() -> None:
    builder = Builder()
    (x,) = builder.input("x", 1)
    assert builder.constant(-2).constant == -2
    assert (x - x).constant == 0
    assert (builder.constant(3) / 2 - 1).constant == 0.5
    assert x.constant is None


def test_labels_follow_the_sign_that_is_computed() -> None:
    builder = Builder()
    a, b = builder.input("x", 2)
    difference = a - b
    builder.label(difference, "gap")
    builder.label(difference * 3, "thrice")
    builder.label(7, "seven")
    builder.label(a, "input")
    graph = builder.graph([("y", (1,), [difference * 3])])
    named = {text: graph.nodes[index] for index, text in graph.labels.items()}
    assert set(named) == {"gap", "thrice"}
    graph = builder.graph([("y", (1,), [-difference])])
    assert list(graph.labels.values()) == ["-gap"]
    assert graph.nodes[next(iter(graph.labels))].args == (1, 0)


@settings(derandomize=True, max_examples=150, deadline=None)
@given(graphs(ops=ALL))
def test_replayed_graph_is_legal_counted_right_and_negates_only_outputs(graph: Graph) -> None:
    builder = Builder()
    try:
        edges = replayed(builder, graph)
    except GraphError:
        return  # the graph divides by zero, or takes the root of a negative number
    outputs = [(o.name, o.shape, [Expr(builder, edges[e]) for e in o.elements]) for o in graph.outputs]
    lowered = builder.graph(outputs)
    verify(lowered)
    assert cost(lowered) == builder.cost([element for _, _, elements in outputs for element in elements])
    negated = {index for index, node in enumerate(lowered.nodes) if node.op == "neg"}
    readers = {node.op for node in lowered.nodes if negated.intersection(node.args)}
    # only these operations cannot absorb the sign of an argument
    assert readers <= {"sqrt", "max", "min", "select", "select_le"}


@settings(derandomize=True, max_examples=150, deadline=None)
@given(graphs(ops=RING), st.lists(st.fractions(-3, 3, max_denominator=9), min_size=5, max_size=5))
def test_replayed_graph_has_the_same_exact_value(graph: Graph, point: list[Fraction]) -> None:
    builder = Builder()
    edges = replayed(builder, graph)
    lowered = builder.lower([(o.name, o.shape, [edges[e] for e in o.elements]) for o in graph.outputs])
    inputs = {"x": point[:3], "y": point[3:]}
    before, after = evaluate(graph, inputs), evaluate(lowered, inputs)
    assert all((before[name] == after[name]).all() for name in before)


def test_replay_of_a_lowered_graph_is_the_graph() -> None:
    """Lowering a graph again changes nothing."""

    def function(a: Expr, b: Expr, c: Expr, d: Expr) -> list[Expr]:
        s = a * b - c
        return [-(s + d), s * d / (a - d), (s - d).sqrt(), -s]

    graph = trace(function)
    builder = Builder()
    edges = replayed(builder, graph)
    again = builder.lower([(o.name, o.shape, [edges[e] for e in o.elements]) for o in graph.outputs])
    assert cost(again) == cost(graph)
