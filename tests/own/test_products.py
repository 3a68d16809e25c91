"""Products of large matrices in texts are loops. They have the values and the derivatives of products that
are written out.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.few import examples, few
from support.folders import selftest_sources
from support.own import ARM

import rbdgen
from rbdgen.functions.composed import composed
from rbdgen.functions.differentiated import differentiated
from rbdgen.functions.function import Function
from rbdgen.graph.programs import products
from rbdgen.graph.programs.program import Program
from rbdgen.graph.programs.run import run
from rbdgen.graph.programs.verify import verify_program
from rbdgen.model.build import Robot
from rbdgen.own.text import OwnFunction
from rbdgen.selection.differentiate import Chooser

N = 18
"""Rows and columns of matrices whose products are loops."""

FEW = 8
"""Rows and columns of matrices for which written-out derivatives take little time."""

PENDULUM = rbdgen.load_robot("double_pendulum")


def square(text: Callable[..., Any], n: int = N) -> OwnFunction:
    """A function of this text on two square matrices of `n` rows and q."""
    made = rbdgen.function(
        text, inputs={"A": ("1", n, n), "B": ("1", n, n)}, outputs={"C": ("1", n, n)}, name="product"
    )
    assert isinstance(made, OwnFunction)
    return made


def once(robot: Any, q: Any, A: Any, B: Any) -> Any:
    return A @ B


def chain(robot: Any, q: Any, A: Any, B: Any) -> Any:
    C = np.sin(q[0]) * (A @ B) + np.eye(len(A))
    return np.dot(C, A.T).dot(C) - B


def same(robot: Any, q: Any, A: Any, B: Any) -> Any:
    return A @ A @ A


def symmetric(robot: Any, q: Any, A: Any, B: Any) -> Any:
    P = rbdgen.array(B)
    for i in range(len(P)):
        P[i, :i] = P[:i, i]
    return rbdgen.congruence(q[1] * A, P)


def called(robot: Any, q: Any, A: Any, B: Any) -> Any:
    A, n = rbdgen.array(A), robot.nv
    A[:n, :n] = robot.crba(q)
    return robot.crba(robot.aba(q, (A @ B)[0, :n], q))[0, 0] * (A @ B)


def scaled(robot: Any, q: Any, A: Any, B: Any) -> Any:
    return robot.crba(q)[0, 0] * (A @ B)


def with_zeros(robot: Any, q: Any, A: Any, B: Any) -> Any:
    n = len(A)
    left = rbdgen.zeros((n, 2 * n))
    left[:, :n] = np.eye(n)
    left[: n // 2, n:] = A[: n // 2]
    right = rbdgen.zeros((2 * n, n))
    right[:n], right[n:] = A @ B, B
    return left @ right


def with_numbers(robot: Any, q: Any, A: Any, B: Any) -> Any:
    n = len(A)
    return np.arange(n * n).reshape(n, n) / n**2 @ A + B @ np.tri(n)


def vectors(robot: Any, q: Any, A: Any, B: Any) -> Any:
    long = np.concatenate([A, B, A + B, A - B] * 5)
    weights = np.concatenate([A[0], B[0], A[1], B[1]] * 5)
    return A * (weights @ long)


TEXTS = (once, chain, same, symmetric, called, with_zeros, with_numbers, vectors)


def row(text: Callable[..., Any], n: int = N, robot: Robot = ARM) -> Function:
    return composed(square(text, n).composition(robot), robot.model)


def chosen(function: Function, robot: Robot = ARM) -> Program:
    program = Chooser(robot.model, None, "graph").choose(function).program
    verify_program(program)
    return program


def drawn(program: Program, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {x.name: rng.normal(size=x.size) for x in program.inputs}


def flat(results: dict[str, Any]) -> Any:
    return np.concatenate([np.ravel(x) for x in results.values()])


@pytest.mark.parametrize("text", TEXTS)
def test_values_are_those_of_the_text(text: Callable[..., Any]) -> None:
    program = chosen(row(text))
    assert any(loop.count == N for loop in program.loops)
    given = drawn(program, 1)
    shaped = (x.reshape(N, N) if x.size == N * N else x for x in (given[k] for k in ("q", "A", "B")))
    expected = np.ravel(square(text)(ARM, *shaped))
    np.testing.assert_allclose(flat(run(program, given)), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("mode", ["jvp", "vjp"])
@pytest.mark.parametrize("text", TEXTS)
def test_derivatives_are_those_of_products_written_out(
    text: Callable[..., Any], mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        for module in ("own", "graph.programs"):
            patch.setattr(f"rbdgen.{module}.products.MOST", FEW**3 // 4)
        program = chosen(differentiated(row(text, FEW, PENDULUM), mode), PENDULUM)
        patch.setattr("rbdgen.own.products.MOST", 10**9)
        line = chosen(differentiated(row(text, FEW, PENDULUM), mode), PENDULUM)
    assert len(program.loops) > 1
    assert line.straight is not None
    assert [x.name for x in line.inputs] == [x.name for x in program.inputs]
    given = drawn(program, 2)
    expected = flat(run(line, given))
    np.testing.assert_allclose(
        flat(run(program, given)), expected, rtol=1e-8, atol=1e-9 * abs(expected).max()
    )


def test_rates_are_those_of_differences() -> None:
    own, program = chosen(row(chain)), chosen(differentiated(row(chain), "jvp"))
    given, step = drawn(program, 3), 1e-6
    ends = (
        flat(run(own, {x.name: given[x.name] + sign * step * given[f"{x.name}_dot"] for x in own.inputs}))
        for sign in (1, -1)
    )
    after, before = ends
    found = flat(run(program, given))
    np.testing.assert_allclose((after - before) / (2 * step), found, atol=1e-6 * abs(found).max())


@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 40), st.integers(0, 3), st.integers(0, 3))
@settings(max_examples=examples(10, 25), deadline=None)
def test_products_of_any_shape(rows: int, inner: int, columns: int, left: int, right: int) -> None:
    """Factors have their first rows and columns without elements, and the interpreter agrees with NumPy."""

    def text(robot: Any, q: Any, A: Any, B: Any) -> Any:
        A, B = rbdgen.array(q[0] * A), rbdgen.array(B)
        A[:left], B[:, :right] = 0, 0
        B[: left - right] = 0
        return A @ B + q[1]

    own = rbdgen.function(
        text,
        inputs={"A": ("1", rows, inner), "B": ("1", inner, columns)},
        outputs={"C": ("1", rows, columns)},
        name="product",
    )
    program = chosen(composed(own.composition(ARM), ARM.model))
    values = drawn(program, rows)
    shaped = values["q"], values["A"].reshape(rows, inner), values["B"].reshape(inner, columns)
    np.testing.assert_allclose(run(program, values)["C"], own(ARM, *shaped), rtol=1e-10, atol=1e-10)


def test_compiled_products() -> None:
    library = rbdgen.build(PENDULUM, functions=[square(scaled), "product_jvp", "product_vjp"])
    for name in ("product", "product_jvp", "product_vjp"):
        inputs = library.functions[name].signature.inputs
        states = list(library.manifold.random_inputs(inputs, np.random.default_rng(3), (9,)).values())
        states[0] = states[0] / 2  # inside the limits
        together = getattr(library, name)(*states)
        one = getattr(library, name)(*(x[4] for x in states))
        for x, y in zip(*((z if isinstance(z, tuple) else (z,)) for z in (together, one)), strict=True):
            assert np.asarray(x[4]).tobytes() == np.asarray(y).tobytes()
        q, A, B = (x[0] for x in states[:3])
        expected = square(scaled)(PENDULUM, q, A, B)
        np.testing.assert_allclose(library.product(q, A, B), expected, rtol=1e-10, atol=1e-10)


OPTIONS: list[dict[str, Any]] = [
    {"real": "float"},
    {"trig": "libm"},
    {"packed": True},
    {"savings": False},
    {"params": ["mass:*"]},
]


@pytest.mark.parametrize("options", few(OPTIONS[:1], OPTIONS))
def test_options(options: dict[str, Any]) -> None:
    library = rbdgen.build(PENDULUM, functions=[square(scaled), "product_vjp"], **options)
    rng = np.random.default_rng(3)
    q, A, B, weights = rng.normal(size=2), *rng.normal(size=(3, N, N))
    table = [library.update(library.parameters.defaults)] if "params" in options else []
    expected = square(scaled)(PENDULUM, q, A, B)
    tolerance = 1e-3 if "real" in options else 1e-9
    found = library.product(q, A, B, *table)
    np.testing.assert_allclose(np.ravel(found), np.ravel(expected), atol=tolerance * abs(expected).max())
    *_, found = library.product_vjp(q, A, B, weights, *table)
    exact = chosen(differentiated(row(scaled, N, PENDULUM), "vjp"), PENDULUM)
    arrays = {"q": q, "A": A.ravel(), "B": B.ravel(), "C_bar": weights.ravel()}
    weighted = run(exact, arrays)["B_bar"]
    np.testing.assert_allclose(np.ravel(found), np.ravel(weighted), atol=tolerance * abs(weighted).max())


def test_folder_for_a_small_machine(tmp_path: Path) -> None:
    """The folder has little C, whose self-test passes on this machine."""
    folder = rbdgen.generate(
        ARM, tmp_path, functions=[square(once)], target="cortex-m7", compiled=False, real="double"
    )
    files = selftest_sources(folder)
    program = tmp_path / "selftest"
    subprocess.run(["gcc", "-std=c99", "-O1", "-ffp-contract=off", *files, "-lm", "-o", program], check=True)
    subprocess.run([program], check=True, capture_output=True)
    (code,) = folder.glob("*_product.c")
    assert "for (int k = 0; k < 18; ++k)" in code.read_text()
    assert code.stat().st_size < 20_000


def test_products_of_held_inputs_do_not_move() -> None:
    held = rbdgen.Quantity("1", (N, N), held=True)

    def text(robot: Any, q: Any, A: Any, B: Any) -> Any:
        return q[0] * (A @ B)

    own = rbdgen.function(text, inputs={"A": held, "B": held}, outputs={"C": ("1", N, N)}, name="product")
    base = composed(own.composition(ARM), ARM.model)
    program = chosen(differentiated(base, "jvp"))
    values = drawn(program, 4)
    A, B = values["A"].reshape(N, N), values["B"].reshape(N, N)
    np.testing.assert_allclose(run(program, values)["C_dot"], values["q_dot"][0] * (A @ B), atol=1e-12)
    assert sum(loop.name == "multiply" for loop in program.loops) == 5
    assert products.MOST < N**3
