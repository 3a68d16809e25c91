"""Bounds of values and of rounding errors: never exceeded, tight, and honest where there are none."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import mpmath
import numpy as np
import numpy.typing as npt
import pytest

from rbdgen.emit.sincos import sincos
from rbdgen.errors import GraphError
from rbdgen.graph.bounds.enclosure import Enclosure, precision
from rbdgen.graph.bounds.interpreter import Bounder
from rbdgen.graph.bounds.tighten import tightened
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.node import Graph, Input, Node, Output
from rbdgen.graph.ops import OPS

Array = npt.NDArray[Any]

REALS = {"float": np.float32, "double": np.float64}

EXACT = mpmath.MPContext()
EXACT.dps = 50

SINCOS = {"sin": lambda x: sincos(x)[0], "cos": lambda x: sincos(x)[1]}


def graph_of(nodes: Sequence[Node], inputs: int, *outputs: int) -> Graph:
    return Graph((Input("x", inputs),), tuple(nodes), (Output("y", (len(outputs),), outputs),))


def inputs(count: int) -> list[Node]:
    return [Node("input", value=float(k)) for k in range(count)]


def one(op: str) -> Graph:
    """The graph of one operation on inputs."""
    arity = OPS[op].arity
    return graph_of([*inputs(arity), Node(op, tuple(range(arity)))], arity, arity)


def box_of(low: Array, high: Array) -> Enclosure:
    return Enclosure(low, high, np.zeros_like(low))


def exact(graph: Graph, x: Array) -> Array:
    """The outputs with 50 digits."""
    values = np.array([[EXACT.mpf(float(value)) for value in row] for row in x], dtype=object)
    return np.asarray(evaluate(graph, {"x": values})["y"])


def assert_bounded(graph: Graph, x: Array, found: Enclosure, real: str) -> None:
    """The exact values are within the bounds, and computed ones differ by at most the error. `x` is (states,
    size), and the bounds are (elements, states or 1).
    """
    computed = evaluate(graph, {"x": x.astype(REALS[real])}, SINCOS)["y"]
    for state, (value, rough) in enumerate(zip(exact(graph, x), computed, strict=True)):
        for element, (v, r) in enumerate(zip(value, rough, strict=True)):
            low, high, error = (float(b[element, min(state, b.shape[1] - 1)]) for b in found)
            assert low <= v <= high, (x[state], element)
            assert math.isinf(error) or abs(EXACT.mpf(float(r)) - v) <= error, (x[state], element)


DOMAINS = {
    "sqrt": (0.01, 50.0),
    "log": (0.01, 50.0),
    "asin": (-0.999, 0.999),
    "acos": (-0.999, 0.999),
    "tan": (-1.5, 1.5),
    "exp": (-20.0, 20.0),
}

NUMBERS = [op for op, row in OPS.items() if not row.of_lanes]


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("op", NUMBERS)
def test_an_operation_stays_within_its_bounds(op: str, real: str) -> None:
    """Boxes of many sizes, also of no size, and numbers within them, also their corners."""
    rng = np.random.default_rng(3)
    graph, to = one(op), precision(real)
    least, most = DOMAINS.get(op, (-7.0, 7.0))
    size = OPS[op].arity
    for width in (0.0, 1e-6, 0.1, 2.0, 10.0):
        center = rng.uniform(least, most, (size, 20))
        low, high = (np.clip(center + s * width, least, most).astype(np.float32) for s in (-1, 1))
        low, high = low.astype(float), high.astype(float)
        found = Bounder(graph).bound(box_of(low, high), to)
        for share in (rng.uniform(size=low.shape), rng.integers(0, 2, low.shape)):
            x = np.clip((low + share * (high - low)).astype(np.float32), low, high).T
            assert_bounded(graph, x.astype(float), found, real)
        if op not in ("div", "tan", "sign", "atan2"):
            assert np.isfinite(found.error).all()


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("op", NUMBERS)
def test_errors_of_arguments_are_carried_on(op: str, real: str) -> None:
    """The arguments are sums, which are rounded: of points, so that only the error matters."""
    rng = np.random.default_rng(4)
    size = OPS[op].arity
    sums = [Node("add", (2 * k, 2 * k + 1)) for k in range(size)]
    nodes = [*inputs(2 * size), *sums, Node(op, tuple(range(2 * size, 3 * size)))]
    graph = graph_of(nodes, 2 * size, 3 * size)
    least, most = DOMAINS.get(op, (-7.0, 7.0))
    a = rng.uniform(least, most, (200, size)).astype(np.float32)
    small = np.abs(a) * rng.uniform(0, 1e-4, a.shape) * np.where(a > 0, -1, 1)
    x = np.stack([a, small.astype(np.float32)], axis=-1).reshape(200, -1).astype(float)
    found = Bounder(graph).bound(box_of(x.T, x.T), precision(real))
    assert_bounded(graph, x, found, real)
    assert np.isfinite(found.error).mean() > 0.9


@pytest.mark.parametrize("op", ["select", "select_le"])
def test_a_choice_that_rounding_may_change(op: str) -> None:
    """1/3 + 1/3 against 2/3: the error includes the distance of the two values."""
    third = np.float32(1 / 3)
    nodes = [*inputs(4), Node("add", (0, 0)), Node(op, (4, 1, 2, 3))]
    graph = graph_of(nodes, 4, 5)
    x = np.array([[third, 2 * third, 5.0, -5.0]], float)
    found = Bounder(graph).bound(box_of(x.T, x.T), precision("float"))
    assert found.error.item() >= 10
    certain = np.array([[third, 0.5, 5.0, -5.0]], float)
    found = Bounder(graph).bound(box_of(certain.T, certain.T), precision("float"))
    assert found.error.item() == 0
    assert found.low.item() == found.high.item() == -5


@pytest.mark.parametrize("ops", ["add", "sub", "rbus"])
def test_a_rotated_vector_does_not_grow(ops: str) -> None:
    """x cos + y sin is at most hypot(x, y), also in the other order and with a minus sign."""
    op = "add" if ops == "add" else "sub"
    products = [Node("mul", (1, 3)), Node("mul", (4, 2))]
    nodes = [*inputs(3), Node("cos", (0,)), Node("sin", (0,)), *products]
    nodes.append(Node(op, (6, 5) if ops == "rbus" else (5, 6)))
    graph = graph_of(nodes, 3, 7)
    low, high = np.array([[-4.0, -3.0, -4.0]]).T, np.array([[4.0, 3.0, 4.0]]).T
    found = Bounder(graph).bound(box_of(low, high), precision("float"))
    assert found.high.item() == pytest.approx(5)
    assert found.low.item() == pytest.approx(-5)
    rng = np.random.default_rng(1)
    for width, reach in ((0.0, 3), (0.3, 3), (2.0, 3), (0.0, 9000)):
        center = rng.uniform(-reach, reach, (3, 30)).astype(np.float32).astype(float)
        box = box_of(center - width, center + width)
        found = Bounder(graph).bound(box, precision("float"))
        x = (center + rng.uniform(-width, width, center.shape)).astype(np.float32).astype(float)
        assert_bounded(graph, np.clip(x, box.low, box.high).T, found, "float")


@pytest.mark.parametrize("turns", [0.0, 0.25, 0.5, 0.75, 1.0, -0.25])
@pytest.mark.parametrize(("op", "wave"), [("sin", math.sin), ("cos", math.cos)])
def test_sines_of_short_intervals(op: str, wave: Callable[[float], float], turns: float) -> None:
    """Between extremes the ends are those of the interval; an extreme within it counts."""
    angle = 2 * math.pi * turns
    for first, last in ((angle - 0.1, angle + 0.2), (angle + 0.1, angle + 0.3)):
        box = box_of(np.array([[first]]), np.array([[last]]))
        found = Bounder(one(op)).bound(box, precision("double"))
        samples = [wave(first + k * (last - first) / 1000) for k in range(1001)]
        assert found.low.item() == pytest.approx(min(samples), abs=1e-5)
        assert found.high.item() == pytest.approx(max(samples), abs=1e-5)


@pytest.mark.parametrize(
    ("op", "low", "high"),
    [
        ("div", [1.0, -1.0], [2.0, 1.0]),
        ("div", [1.0, 0.0], [1.0, 1.0]),
        ("sqrt", [-1.0], [1.0]),
        ("log", [0.0], [1.0]),
        ("asin", [0.0], [1.5]),
        ("acos", [-1.5], [0.0]),
        ("exp", [0.0], [800.0]),
        ("tan", [1.0], [2.0]),
        ("tan", [0.0], [1e6]),
        ("sin", [0.0], [1e6]),
        ("mul", [1e200, 1e200], [1e200, 1e200]),
    ],
)
def test_no_bound(op: str, low: list[float], high: list[float]) -> None:
    """Where the function may be NaN or infinite, the error is infinite, and nothing of it is NaN."""
    box = box_of(np.array([low]).T, np.array([high]).T)
    found = Bounder(one(op)).bound(box, precision("double"))
    assert math.isinf(found.error.item())
    assert found.low.item() <= found.high.item()


def test_float_overflows_before_double() -> None:
    box = box_of(np.array([[1e30], [1e30]]), np.array([[1e30], [1e30]]))
    assert math.isinf(Bounder(one("mul")).bound(box, precision("float")).error.item())
    assert math.isfinite(Bounder(one("mul")).bound(box, precision("double")).error.item())


def test_an_underflow_is_within_the_error() -> None:
    box = box_of(np.array([[1e-30], [1e-30]]), np.array([[1e-30], [1e-30]]))
    assert Bounder(one("mul")).bound(box, precision("float")).error.item() >= 1e-60


def test_a_constant_is_rounded_in_float_alone() -> None:
    graph = graph_of([*inputs(1), Node("const", value=0.1)], 1, 1)
    box = box_of(np.zeros((1, 1)), np.ones((1, 1)))
    found = {real: Bounder(graph).bound(box, precision(real)) for real in REALS}
    assert found["float"].error.item() == abs(0.1 - float(np.float32(0.1)))
    assert found["double"].error.item() == 0
    assert found["float"].low.item() == found["float"].high.item() == 0.1


def test_lanes_are_refused() -> None:
    graph = Graph((Input("x", 1, 2),), (Node("input"),), (Output("y", (1,), (0,)),))
    with pytest.raises(GraphError, match="limb by limb"):
        Bounder(graph)


def test_parts_tighten() -> None:
    """x (1 - x) on [0, 1] is at most 1/4; the interval of one part says 1."""
    nodes = [*inputs(1), Node("const", value=1.0), Node("sub", (1, 0)), Node("mul", (0, 2))]
    bounder = Bounder(graph_of(nodes, 1, 3))
    box, to = box_of(np.zeros((1, 1)), np.ones((1, 1))), precision("float")
    highest = [tightened(bounder, box, to, parts).high.item() for parts in (0, 1, 2, 16, 256)]
    assert highest[0] == highest[1] == pytest.approx(1)
    assert highest == sorted(highest, reverse=True)
    assert 0.25 <= highest[-1] < 0.26


def test_a_point_and_a_constant_are_not_cut() -> None:
    graph = graph_of([*inputs(2), Node("sq", (0,))], 2, 2)
    box = box_of(np.array([[2.0], [0.0]]), np.array([[2.0], [9.0]]))
    found = tightened(Bounder(graph), box, precision("double"), 100)
    assert found.low.item() == pytest.approx(4)
    nothing = graph_of([*inputs(1), Node("const", value=3.0)], 1, 1)
    assert tightened(Bounder(nothing), box, precision("double"), 9).high.tolist() == [3.0]
