"""The interpreter: broadcasting, types of scalars, refusals, and the release of dead values."""

from __future__ import annotations

import operator
from fractions import Fraction
from typing import ClassVar

import mpmath
import numpy as np
import pytest

from rbdgen.errors import GraphError
from rbdgen.graph.builder import Builder
from rbdgen.graph.evaluate import COMPUTED, _columns, evaluate
from rbdgen.graph.expression import Expr
from rbdgen.graph.node import Graph
from rbdgen.graph.ops import ARITY, OPS
from rbdgen.graph.verify import verify


def sample() -> Graph:
    builder = Builder()
    a, b, c = builder.input("x", 3)
    (d,) = builder.input("y", 1)
    outputs = [a * b - c, d.sin() / c, a, 2.5, -(b.sqrt()), a.cos() + 0.5]
    return builder.graph([("u", (2, 3), outputs), ("s", (), [a + d]), ("none", (0, 2), [])])


def reference(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    a, b, c, d = x[..., 0], x[..., 1], x[..., 2], y[..., 0]
    parts = np.broadcast_arrays(a * b - c, np.sin(d) / c, a, 2.5, -np.sqrt(b), np.cos(a) + 0.5)
    return np.stack(parts, -1).reshape(*parts[0].shape, 2, 3)


@pytest.mark.parametrize(
    ("x_axes", "y_axes", "leading"),
    [((), (), ()), ((4,), (), (4,)), ((3, 1), (5,), (3, 5)), ((0,), (), (0,))],
)
def test_leading_axes_broadcast(
    x_axes: tuple[int, ...], y_axes: tuple[int, ...], leading: tuple[int, ...]
) -> None:
    random = np.random.default_rng(0)
    x, y = random.uniform(0.5, 2, (*x_axes, 3)), random.uniform(0.5, 2, (*y_axes, 1))
    result = evaluate(sample(), {"x": x, "y": y})
    assert result["u"].shape == (*leading, 2, 3)
    assert result["s"].shape == leading
    assert result["none"].shape == (*leading, 0, 2)
    assert np.allclose(result["u"], reference(x, y), rtol=1e-15)
    assert np.allclose(result["s"], x[..., 0] + y[..., 0])


def test_types() -> None:
    x, y = [1, 2, 4], [3]
    assert evaluate(sample(), {"x": x, "y": y})["u"].dtype == np.float64
    single = evaluate(sample(), {"x": np.array(x, np.float32), "y": np.array(y, np.float32)})["u"]
    assert single.dtype == np.float32
    assert np.allclose(single, reference(np.array(x), np.array(y)), rtol=1e-6)


def test_mpmath() -> None:
    with mpmath.workdps(40):
        x = [mpmath.mpf(k) for k in (1, 2, 4)]
        result = evaluate(sample(), {"x": x, "y": [mpmath.mpf(3)]})["u"]
        assert abs(result[0, 1] - mpmath.sin(3) / 4) < mpmath.mpf(10) ** -39


def test_fractions_are_exact_and_have_no_sine() -> None:
    builder = Builder()
    a, b = builder.input("x", 2)
    graph = builder.graph([("y", (2,), [a / b + 0.5, 3.0])])
    result = evaluate(graph, {"x": [Fraction(1), 3]})["y"]
    assert list(result) == [Fraction(5, 6), Fraction(3)]
    assert all(isinstance(element, Fraction) for element in result)
    with pytest.raises(GraphError, match="of a Fraction"):
        evaluate(sample(), {"x": [Fraction(1)] * 3, "y": [Fraction(1)]})


FLOATS = (np.float16, np.float32, np.float64, np.longdouble, np.complex128)
SHAPES = ((), (1,), (4,), (2, 3), (0, 2), (2, 4))


@pytest.mark.parametrize("op", sorted(set(ARITY) - {"const", "input", "lane", "beside"}))
@pytest.mark.parametrize("shape", SHAPES)
def test_every_operation_keeps_its_type(op: str, shape: tuple[int, ...]) -> None:
    """Operations on scalars, arrays and lanes keep the type, also with constant operands."""
    if op in ("join", "turn") and not shape:
        pytest.skip("a value with lanes has an axis")
    for dtype in map(np.dtype, FLOATS):
        function = COMPUTED[op]
        value = np.full(shape, 0.5, dtype)[()]  # a scalar if there are no axes
        constant = dtype.type(0.25)
        if op in ("abs", "atan2", "hypot") and dtype.kind == "c":
            continue  # that of a complex number is real, or not defined
        for operands in [(value, value), (value, constant), (constant, value)][: 3 if ARITY[op] > 1 else 1]:
            assert function(*(2 * operands)[: ARITY[op]]).dtype == dtype, (op, dtype)


EXACT = [op for op, row in OPS.items() if row.rational or row.of_lanes]


@pytest.mark.parametrize("op", sorted(set(ARITY) - {"const", "input", "lane", "beside"}))
def test_every_operation_keeps_the_type_of_objects(op: str) -> None:
    function = COMPUTED[op]
    samples: list[object] = [mpmath.mpf(0.5), Builder().input("x", 1)[0], *([Fraction(1, 2)] * (op in EXACT))]
    for sample in samples:
        for shape in SHAPES[1:]:
            values = np.full(shape, sample, object)
            if isinstance(sample, Expr) and op in ("join", "turn"):
                continue  # an expression has lanes of its own
            found = np.ravel(function(*[values] * ARITY[op]))
            assert all(type(x) is type(sample) for x in found), (op, sample)


@pytest.mark.parametrize("dtype", FLOATS)
def test_numbers_are_taken_out_of_lanes_and_put_back(dtype: type[np.floating]) -> None:
    """`beside` is the inverse of `lane`, also for constants and other leading axes, and keeps the type."""
    value = np.arange(24, dtype=dtype).reshape(2, 3, 4)
    numbers = [COMPUTED["lane"](value, dtype(k)) for k in range(4)]
    assert [x.shape for x in numbers] == [(2, 3, 1)] * 4
    found = COMPUTED["beside"](*numbers)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, value)
    np.testing.assert_array_equal(COMPUTED["beside"](dtype(7), numbers[1])[..., 0], 7)


def test_lanes_that_are_known_vanish() -> None:
    """A number that is put into a lane is found there, and equal numbers need no lanes."""
    builder = Builder()
    (x,), (y, z) = builder.input("x", 1, lanes=2), builder.input("y", 2)
    pair = y.applied("beside", y, -z)
    assert pair.applied("lane", -pair, 1).edge == z.edge
    assert y.applied("beside", y, y).edge == y.edge
    assert y.applied("lane", y, 1).edge == y.edge
    assert [edge.edge >> 1 in builder.with_lanes for edge in (x, pair, x.applied("lane", x, 1))] == [1, 1, 0]
    graph = builder.graph([("z", (3,), [pair * x, x.applied("lane", -x, 1), 0 * x])])
    verify(graph)
    assert list(graph.with_lanes())[graph.outputs[0].elements[0]] == 1
    values = {"x": np.array([[2.0], [3.0]]), "y": np.array([[5.0, 7.0]])}
    np.testing.assert_array_equal(evaluate(graph, values)["z"], [[10, -3, 0], [-21, -3, 0]])


BY_HAND = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "neg": operator.neg,
    "sq": lambda x: x * x,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "sign": np.sign,
}


@pytest.mark.parametrize("dtype", FLOATS[:4])
def test_every_intermediate_value_is_rounded_to_the_type(dtype: type[np.floating]) -> None:
    """If a value had a wider type, the last bits of results would differ."""
    builder = Builder()
    x, y = builder.input("x", 2)
    outputs = [
        x.sign() * y / 3 + x,
        (x * y + x.sign() / 7) * y,
        (x.sign() * y).sin() + x * x - y.sqrt().cos(),
    ]
    graph = builder.graph([("z", (3,), outputs)])
    assert {node.op for node in graph.nodes} >= {"sign", "sin", "cos", "sqrt", "mul", "add"}
    states = np.random.default_rng(0).uniform(-1, 1, (64, 2)).astype(dtype)
    states[:, 1] = abs(states[:, 1])
    for state, found in zip(states, evaluate(graph, {"x": states})["z"], strict=True):
        values: list[np.floating] = []
        for op, args, value in graph.nodes:
            if op in ("input", "const"):
                values.append(dtype(state[int(value)] if op == "input" else value))
            else:
                values.append(dtype(BY_HAND[op](*(values[k] for k in args))))
        assert found.tolist() == [values[k].item() for k in graph.outputs[0].elements]


def test_constants_are_of_the_type_of_the_first_number_that_is_not_pythons() -> None:
    builder = Builder()
    a, b = builder.input("x", 2)
    graph = builder.graph([("y", (2,), [a * b + 0.1, builder.constant(0.5)])])
    exact = evaluate(graph, {"x": [2, Fraction(1, 3)]})["y"]
    assert exact.tolist() == [Fraction(2, 3) + Fraction(0.1), Fraction(1, 2)]
    assert all(type(x) is Fraction for x in exact)
    assert type(evaluate(graph, {"x": [2, mpmath.mpf(3)]})["y"][1]) is mpmath.mpf


def test_expressions_inline_a_graph_in_another() -> None:
    builder = Builder()
    p, q = builder.input("p", 2)
    inlined = evaluate(sample(), {"x": [p, p * q, q], "y": [q]})["u"]
    graph = builder.graph([("u", (2, 3), list(inlined.ravel()))])
    direct = evaluate(graph, {"p": [0.5, 0.75]})["u"]
    assert np.allclose(direct, reference(np.array([0.5, 0.375, 0.75]), np.array([0.75])))


def test_division_by_zero_is_as_in_c() -> None:
    builder = Builder()
    a, b = builder.input("x", 2)
    graph = builder.graph([("y", (1,), [a / b])])
    result = evaluate(graph, {"x": [[1, 0], [0, 0], [-1, 0]]})["y"]
    assert result[0] == np.inf
    assert np.isnan(result[1])
    assert result[2] == -np.inf


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"x": [1, 2, 3]}, "'y' is missing"),
        ({"x": [1, 2], "y": [1]}, r"'x': shape \(2,\); give an array \(..., 3\)"),
        ({"x": 1.0, "y": [1]}, r"'x': shape \(\)"),
        ({"x": np.ones((2, 3)), "y": np.ones((3, 1))}, "do not broadcast"),
    ],
)
def test_refuses(inputs: dict[str, object], message: str) -> None:
    with pytest.raises(GraphError, match=message):
        evaluate(sample(), inputs)  # type: ignore[arg-type]


class Counted:
    """A number that counts how many numbers of its class are alive."""

    alive: ClassVar[int] = 0
    most: ClassVar[int] = 0

    def __init__(self, value: float) -> None:
        self.value = value
        Counted.alive += 1
        Counted.most = max(Counted.most, Counted.alive)

    def __del__(self) -> None:
        Counted.alive -= 1

    def __mul__(self, other: Counted) -> Counted:
        return Counted(self.value * other.value)

    def __add__(self, other: Counted) -> Counted:
        return Counted(self.value + other.value)


def test_dead_values_are_freed() -> None:
    builder = Builder()
    a, b = builder.input("x", 2)
    for _ in range(300):
        a, b = a * b, a + b
    graph = builder.graph([("y", (1,), [a + b])])
    result = evaluate(graph, {"x": [Counted(0.5), Counted(0.5)]})["y"]
    assert isinstance(result[0], Counted)
    assert Counted.most < 10


def test_long_inputs_are_converted_once() -> None:
    """Inputs are not converted per element, so time and memory grow with the graph alone."""
    columns, dtype, _ = _columns(sample(), {"x": np.arange(3), "y": np.arange(1)})
    assert dtype == np.float64
    assert columns[0].base is columns[2].base is not None
