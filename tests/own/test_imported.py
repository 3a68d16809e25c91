"""Functions made from expressions of CasADi and SymPy give the values that these libraries compute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import casadi
import numpy as np
import pytest
import sympy
from numpy.typing import NDArray

import rbdgen
from rbdgen.errors import OptionError
from rbdgen.own.imported import Imported
from rbdgen.runtime import Library

SX, MX = casadi.SX, casadi.MX

ROBOT = rbdgen.load_robot("double_pendulum")
"""A robot with two joints. Imported functions that take none of its arrays do not depend on it."""


def listed(found: Any) -> list[NDArray[np.float64]]:
    return [np.asarray(x) for x in (found if isinstance(found, tuple) else (found,))]


def of_casadi(f: Any, given: Sequence[Any]) -> list[NDArray[np.float64]]:
    """CasADi's own values, as dense matrices."""
    return [np.array(casadi.densify(value)) for value in f.call([casadi.DM(x) for x in given])]


def agrees(function: Imported, given: Sequence[Any], expected: Sequence[Any]) -> Library:
    """The library of a function whose interpreted and compiled values are those expected."""
    library = rbdgen.build(ROBOT, functions=[function])
    for found in (listed(function(ROBOT, *given)), listed(getattr(library, function.name)(*given))):
        for x, y in zip(found, expected, strict=True):
            np.testing.assert_allclose(x.ravel(), np.ravel(y), rtol=1e-12, atol=1e-13)
    return library


def mixed(kind: Any) -> Any:
    """A function of a scalar, a vector and a matrix that is not square."""
    s, x, A = kind.sym("s"), kind.sym("x", 2), kind.sym("A", 2, 3)
    outputs = [casadi.dot(x, x) + s, casadi.mtimes(A.T, x), s * A + casadi.repmat(casadi.sin(x), 1, 3)]
    return casadi.Function("mixed", [s, x, A], outputs, ["s", "x", "A"], ["number", "vector", "matrix"])


@pytest.mark.parametrize("kind", [SX, MX])
def test_scalars_vectors_and_matrices_with_rows_first(kind: Any) -> None:
    f = mixed(kind)
    function = rbdgen.from_casadi(f)
    assert [x.shape for x in function.signature.inputs] == [(), (2,), (2, 3)]
    assert [x.shape for x in function.signature.outputs] == [(), (3,), (2, 3)]
    given = 0.7, np.array([0.3, -1.2]), np.arange(6.0).reshape(2, 3)
    library = agrees(function, given, of_casadi(f, given))
    assert [np.shape(x) for x in library.mixed(*given)] == [(), (3,), (2, 3)]
    assert library.mixed(*given)[2][0, 2] == pytest.approx(0.7 * 2 + np.sin(0.3))


def test_batches_have_the_bits_of_single_calls() -> None:
    library = rbdgen.build(ROBOT, functions=[rbdgen.from_casadi(mixed(SX))])
    s, x, A = (np.random.default_rng(0).normal(size=(13, *shape)) for shape in ((), (2,), (2, 3)))
    together = library.mixed(s, x, A)
    for k in range(13):
        for all_states, one in zip(together, library.mixed(s[k], x[k], A[k]), strict=True):
            assert all_states[k].tobytes() == np.asarray(one).tobytes()


def test_sparse_inputs_and_outputs_are_dense() -> None:
    """Elements that are structural zeros are not read, and are written as 0."""
    L = SX.sym("L", casadi.Sparsity.lower(3))
    f = casadi.Function("tri", [L], [casadi.mtimes(L, L), casadi.diag(casadi.diag(L))], ["L"], ["S", "D"])
    function = rbdgen.from_casadi(f)
    given = np.arange(1.0, 10.0).reshape(3, 3)
    agrees(function, [given], of_casadi(f, [np.tril(given)]))


def test_a_row_stays_a_matrix() -> None:
    x = SX.sym("x", 1, 3)
    function = rbdgen.from_casadi(casadi.Function("row", [x], [2 * x], ["x"], ["y"]))
    assert function.signature.outputs[0].shape == (1, 3)
    agrees(function, [np.ones((1, 3))], [2 * np.ones((1, 3))])


def test_functions_called_by_mx_are_expanded() -> None:
    x, y = MX.sym("x", 2), MX.sym("y", 2)
    f = casadi.Function("outer", [x, y], [mixed(SX)(x[0], y, casadi.repmat(x, 1, 3))[1]], ["x", "y"], ["z"])
    agrees(rbdgen.from_casadi(f), [np.array([1, 2]), np.array([3, -1])], [np.ones(3)])


def test_choices() -> None:
    x, y = SX.sym("x"), SX.sym("y")
    values = {
        "chosen": casadi.if_else(x < y, casadi.sin(x), y * y),
        "least": casadi.fmin(x, y),
        "most": casadi.fmax(x * y, 0.25),
        "size": casadi.fabs(x) + casadi.sign(y),
        "both": casadi.if_else(casadi.logic_and(x <= 0.5, y > 0), x, casadi.if_else(x == y, 3, -y)),
    }
    f = casadi.Function("choice", [x, y], list(values.values()), ["x", "y"], list(values))
    function = rbdgen.from_casadi(f)
    library = rbdgen.build(ROBOT, functions=[function])
    for given in ((0.2, 0.7), (0.7, 0.2), (0.5, 0.5), (-1.0, -2.0), (0.5, -0.5), (-3.0, 4.0)):
        expected = np.array(of_casadi(f, given)).ravel()
        np.testing.assert_allclose(function(ROBOT, *given), expected, rtol=1e-12)
        np.testing.assert_allclose(library.choice(*given), expected, rtol=1e-12)


def test_elementary_functions() -> None:
    x = SX.sym("x", 2)
    a, b = x[0], x[1]
    values = casadi.vertcat(
        casadi.exp(a), casadi.log(b), casadi.atan2(a, b), casadi.tanh(a), casadi.asin(a), casadi.acos(a),
        casadi.tan(a), casadi.atan(b), casadi.sinh(a), casadi.cosh(a), casadi.hypot(a, b), a**3, b**a, b**0.5,
    )  # fmt: skip
    f = casadi.Function("curves", [x], [values], ["x"], ["y"])
    function = rbdgen.from_casadi(f, {"x": rbdgen.Quantity("1", range=(0.1, 0.9))})
    agrees(function, [np.array([0.4, 0.6])], of_casadi(f, [[0.4, 0.6]]))


def regulator() -> Any:
    q, v, target = SX.sym("q", 2), SX.sym("v", 2), SX.sym("target", 2)
    tau = 10 * casadi.sin(target - q) - casadi.vertcat(q[1], 2) * v
    return casadi.Function("regulator", [q, v, target], [tau], ["q", "v", "target"], ["tau"])


KNOWN = {"q": "q", "v": "v", "target": rbdgen.Quantity("rad", held=True)}


def test_known_arrays_units_and_held_inputs() -> None:
    function = rbdgen.from_casadi(regulator(), KNOWN, {"tau": "tau"}, name="hold")
    q, v, target = function.signature.inputs
    assert (q.kind, v.kind, target.kind) == ("configuration", "velocity", "held")
    assert (v.shape, target.shape, target.unit) == (("nv",), (2,), "rad")
    assert (function.name, function.signature.outputs[0].kind) == ("hold", "force")
    library = rbdgen.build(ROBOT, functions=[function, "hold_vjp"])
    assert [x.name for x in library.hold_vjp.signature.outputs] == ["q_bar", "v_bar"]


def test_a_unit_alone_keeps_the_shape_of_the_expressions() -> None:
    function = rbdgen.from_casadi(mixed(SX), {"A": "N/m", "x": ("m", 2)}, {"vector": "N"})
    assert [(x.unit, x.shape) for x in function.signature.inputs] == [("1", ()), ("m", (2,)), ("N/m", (2, 3))]
    assert [x.unit for x in function.signature.outputs] == ["1", "N", "1"]


def test_derivatives_are_those_of_casadi() -> None:
    f = regulator()
    library = rbdgen.build(ROBOT, functions=[rbdgen.from_casadi(f, KNOWN), "regulator_vjp", "regulator_jvp"])
    given = np.random.default_rng(1).normal(size=(3, 2))
    bar, rate = np.array([0.3, -2.0]), np.array([[1.0, 0.5], [-0.2, 4.0]])
    jacobian = casadi.Function("J", f.sx_in(), [casadi.jacobian(f(*f.sx_in()), x) for x in f.sx_in()[:2]])
    by_q, by_v = (np.array(J) for J in jacobian(*given))
    for found, J in zip(library.regulator_vjp(*given, bar), (by_q, by_v), strict=True):
        np.testing.assert_allclose(found, bar @ J, rtol=1e-12)
    along = library.regulator_jvp(*given, *rate)
    np.testing.assert_allclose(along, by_q @ rate[0] + by_v @ rate[1], rtol=1e-12)


def test_only_the_lower_triangle_of_a_symmetric_input_is_read() -> None:
    P, x = SX.sym("P", 3, 3), SX.sym("x", 3)
    f = casadi.Function("form", [P, x], [casadi.mtimes(P, x), P], ["P", "x"], ["y", "S"])
    symmetric = rbdgen.Quantity("1", (3, 3), symmetric=True)
    function = rbdgen.from_casadi(f, {"P": symmetric}, {"S": symmetric})
    lower = np.tril(np.arange(1.0, 10.0).reshape(3, 3))
    whole = lower + np.tril(lower, -1).T
    x = np.array([1.0, -2.0, 0.5])
    library = agrees(function, [lower + np.triu(np.full((3, 3), np.pi), 1), x], [whole @ x, whole])
    for given in (lower, whole):
        np.testing.assert_array_equal(library.form(given, x)[1], whole)


def test_a_text_calls_imported_functions() -> None:
    hold = rbdgen.from_casadi(regulator(), KNOWN, {"tau": "tau"}, name="hold")

    @rbdgen.function(inputs={"target": ("rad", 2)}, outputs={"tau": "tau"})
    def control(robot: Any, q: Any, v: Any, target: Any) -> Any:
        return robot.gravity(q) + np.clip(hold(robot, 2 * q, v, target=target), -1, 1)

    given = np.random.default_rng(2).normal(size=(3, 2))
    expected = of_casadi(regulator(), [2 * given[0], *given[1:]])[0].ravel()
    library = rbdgen.build(ROBOT, functions=[control, "gravity"])
    values = library.gravity(given[0]) + np.clip(expected, -1, 1)
    np.testing.assert_allclose(control(ROBOT, *given), values, rtol=1e-12)
    np.testing.assert_allclose(library.control(*given), values, rtol=1e-12)
    wrong = rbdgen.function(outputs={"tau": "tau"}, name="wrong")(lambda robot, q: hold(robot, 2 * q))
    with pytest.raises(OptionError, match="hold takes q, v, target; v, target are missing"):
        wrong.composition(ROBOT)


def two_links() -> tuple[dict[str, Any], dict[str, Any]]:
    q, (length,) = sympy.Matrix(sympy.symbols("q:2")), sympy.symbols("length,")
    p = sympy.Matrix([sympy.cos(q[0]) + sympy.cos(q[0] + q[1]), sympy.sin(q[0])]) * length
    return {"q": q, "length": length}, {"p": p, "J": p.jacobian(q), "r": sympy.sqrt(p.dot(p))}


def test_sympy() -> None:
    inputs, outputs = two_links()
    units = {"q": "q", "length": rbdgen.Quantity("m", range=(0.5, 2)), "p": "m", "J": "m/rad"}
    function = rbdgen.from_sympy("links", inputs, outputs, units)
    assert function.signature.inputs[0].kind == "configuration"
    assert [(x.unit, x.shape) for x in function.signature.outputs] == [
        ("m", (2,)),
        ("m/rad", (2, 2)),
        ("1", ()),
    ]
    given = np.array([0.3, 0.8]), 1.5
    symbols = [*inputs["q"], inputs["length"]]
    expected = [sympy.lambdify(symbols, x)(*given[0], given[1]) for x in outputs.values()]
    agrees(function, given, expected)
    library = rbdgen.build(ROBOT, functions=[function, "links_jvp"])
    along, *_ = library.links_jvp(*given, np.array([1.0, -1.0]), 0.0)
    np.testing.assert_allclose(along, expected[1] @ [1, -1], rtol=1e-12)


def test_choices_of_sympy() -> None:
    x, y = sympy.symbols("x y")
    outputs = {
        "piece": sympy.Piecewise((x * y, x < y), (sympy.exp(y), x >= 2), (3, True)),
        "least": sympy.Min(x, y, 1),
        "list": [sympy.Max(x, y), sympy.Abs(x), 2.5 * x],
    }
    function = rbdgen.from_sympy("piecewise", {"x": x, "y": y}, outputs)
    library = rbdgen.build(ROBOT, functions=[function])
    for given in ((0.5, 0.9), (2.5, -1.0), (1.0, 1.0), (-2.0, -3.0)):
        found = library.piecewise(*given)
        for value, told in zip(found, outputs.values(), strict=True):
            np.testing.assert_allclose(value, sympy.lambdify([x, y], told)(*given), rtol=1e-13)


def test_a_symmetric_matrix_of_sympy() -> None:
    """Both elements may be one symbol, or two symbols, of which only the lower one is read."""
    symmetric = {"P": rbdgen.Quantity("1", (2, 2), symmetric=True)}
    a, b, c, other = sympy.symbols("a b c other")
    for upper in (b, other):
        P = sympy.Matrix([[a, upper], [b, c]])
        function = rbdgen.from_sympy("quadratic", {"P": P}, {"y": P[0, 0] + 10 * P[0, 1]}, symmetric)
        agrees(function, [np.array([[1.0, 77.0], [2.0, 3.0]])], [21.0])


def casadi_of(operation: Any, **options: Any) -> Any:
    x = SX.sym("x", 2)
    return casadi.Function("mine", [x], [operation(x)], ["x"], ["y"], options)


def table() -> Any:
    """An MX function that has no SX expression."""
    x = MX.sym("x")
    lookup = casadi.interpolant("LUT", "linear", [[0, 1, 2]], [0, 1, 4])
    return casadi.Function("mine", [x], [lookup(x)], ["x"], ["y"])


def solver() -> Any:
    A, b = MX.sym("A", 2, 2), MX.sym("b", 2)
    return casadi.Function("mine", [A, b], [casadi.solve(A, b, "qr")], ["A", "b"], ["x"])


SYMMETRIC = rbdgen.Quantity("1", (2, 2), symmetric=True)

REFUSED: list[tuple[Any, Mapping[str, Any], str]] = [
    (casadi_of(casadi.erf), {}, "CasADi's OP_ERF is outside the graph's grammar"),
    (casadi_of(casadi.floor), {}, "CasADi's OP_FLOOR is outside the graph's grammar"),
    (casadi_of(lambda x: x * SX.sym("loose"), allow_free=True), {}, "the outputs depend on loose"),
    (casadi_of(lambda x: SX(3)), {}, "output 'y' depends on no input; leave it out"),
    (casadi_of(lambda x: x * np.inf), {}, "constants must be finite"),
    (casadi_of(lambda x: SX(0, 0)), {}, "'y' has no elements; leave it out"),
    (table(), {}, "calls LUT, which CasADi does not expand to SX; write it with SX"),
    (solver(), {}, "does not expand to SX"),
    (casadi_of(lambda x: x), {"name": "rnea"}, "function 'rnea': rbdgen has a function rnea"),
    (casadi_of(lambda x: x), {"name": "my_vjp"}, "the name of a derivative"),
    (casadi_of(lambda x: x), {"inputs": {"z": "m"}}, "has no 'z'; its inputs are x"),
    (casadi_of(lambda x: x), {"outputs": {"x": "m"}}, "has no 'x'; its outputs are y"),
    (casadi_of(lambda x: x), {"inputs": ["x"]}, "inputs ['x'] is not a dict"),
    (casadi_of(lambda x: x), {"inputs": {"x": SYMMETRIC}}, "'x' has shape (2,), so it is not symmetric"),
    (casadi_of(lambda x: x), {"inputs": {"x": ("m", "nn")}}, "give positive integers, or sizes"),
    (SX.sym("x"), {}, "from_casadi takes a casadi.Function, not a SX"),
]  # fmt: skip


@pytest.mark.parametrize(("f", "told", "said"), REFUSED, ids=lambda x: x[:30] if isinstance(x, str) else "")
def test_refused_of_casadi(f: Any, told: Any, said: str) -> None:
    with pytest.raises(OptionError) as caught:
        rbdgen.from_casadi(f, **told)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


X, Y = sympy.symbols("x y")

REFUSED_OF_SYMPY: list[tuple[Any, Any, Any, str]] = [
    ({"x": X}, {"z": sympy.gamma(X)}, {}, "SymPy's gamma is outside the graph's grammar"),
    ({"x": X}, {"z": sympy.Function("g")(X)}, {}, "SymPy's g is outside the graph's grammar"),
    ({"x": X}, {"z": X * Y}, {}, "the outputs depend on y, which no input"),
    ({"x": X}, {"z": X + sympy.I}, {}, "SymPy's ImaginaryUnit is outside the graph's grammar"),
    ({"x": X}, {"z": X + sympy.oo}, {}, "constants must be finite"),
    ({"x": X}, {"z": [X, 3], "one": 1}, {}, "output 'one' depends on no input"),
    ({"x": X}, {"z": [[X, 1], [X]]}, {}, "the rows of 'z' have different lengths"),
    ({"x": X}, {"z": "x"}, {}, "output 'z' holds a str; give SymPy expressions"),
    ({"x": X}, {"z": []}, {}, "'z' has no elements"),
    ({"x": [X, Y, X]}, {"z": X}, {}, "the symbol x stands for two elements of inputs"),
    ({"x": X, "y": [Y, X]}, {"z": X}, {}, "the symbol x stands for two elements of inputs"),
    ({"x": X + 1}, {"z": X}, {}, "input 'x' holds an expression; give symbols"),
    ({"x": [X, 2]}, {"z": X}, {}, "input 'x' holds an expression; give symbols"),
    ({"x": X}, {"z": X}, {"w": "m"}, "has no 'w'; units may name x, z"),
    ({"x": X}, {"z": X}, {"x": 3}, "input, 'x': 3 is no quantity"),
    ({"x": X}, {"x": 2 * X}, {}, "'x' is an input and an output"),
    ([X], {"z": X}, {}, "inputs is a list; give a dict by names"),
    ({"k": X}, {"z": X}, {}, "would hide a name of the emitted C"),
]


@pytest.mark.parametrize(
    ("inputs", "outputs", "units", "said"),
    REFUSED_OF_SYMPY,
    ids=lambda x: x[:30] if isinstance(x, str) else "",
)
def test_refused_of_sympy(inputs: Any, outputs: Any, units: Any, said: str) -> None:
    with pytest.raises(OptionError) as caught:
        rbdgen.from_sympy("mine", inputs, outputs, units)
    assert said in str(caught.value)
    assert str(caught.value).startswith("function 'mine'")
    assert "\n" not in str(caught.value)


def test_sizes_of_another_robot_are_refused() -> None:
    """The expressions are for two joints, and an arm has seven."""
    function = rbdgen.from_casadi(regulator(), KNOWN)
    with pytest.raises(OptionError, match=r"'q' has shape \(2,\) in the expressions, but \(7,\) on 'arm7'"):
        rbdgen.build("arm7", functions=[function])
    transposed = rbdgen.from_casadi(mixed(SX), {"A": ("1", 3, 2)})
    with pytest.raises(OptionError, match=r"'A' has shape \(2, 3\) in the expressions, but \(3, 2\)"):
        rbdgen.build(ROBOT, functions=[transposed])


def test_arguments_of_calls_on_floats() -> None:
    function = rbdgen.from_casadi(regulator(), KNOWN)
    for arguments, said in (
        (([0, 0],), "regulator takes q, v, target; v, target are missing"),
        (([0, 0], [0], [0, 0]), r"regulator: v has shape \(1,\); give \(2,\)"),
    ):
        with pytest.raises(OptionError, match=said):
            function(ROBOT, *arguments)
