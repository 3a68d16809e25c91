"""Small algebra and NumPy's functions: the values on expressions are those on floats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rbdgen
from rbdgen.errors import RbdgenError
from rbdgen.graph.builder import Builder
from rbdgen.graph.evaluate import evaluate
from rbdgen.own.arrays import Array

SQUARE = [(3, 3)]


def on_expressions(text: Callable[..., Any], *given: Any) -> Any:
    """The values of a text that runs on arrays of symbols, at the given numbers."""
    builder = Builder()
    arrays = []
    for k, x in enumerate(given):
        values = np.empty(np.size(x), object)
        values[:] = builder.input(f"x{k}", np.size(x))
        arrays.append(values.reshape(np.shape(x)).view(Array))
    found = np.asarray(text(*arrays), object)
    graph = builder.graph([("y", found.shape, list(found.view(np.ndarray).ravel()))])
    return evaluate(graph, {f"x{k}": np.ravel(x) for k, x in enumerate(given)})["y"].reshape(found.shape)


def positive(size: int) -> Any:
    A = np.random.default_rng(size).normal(size=(size, size))
    return A @ A.T + size * np.eye(size)


def vector(size: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=size)


def unit(seed: int = 0) -> Any:
    x = vector(4, seed)
    return x / np.linalg.norm(x)


def _filled(x: Any) -> Any:
    values = rbdgen.zeros((2, 3))
    values[0] = x
    values[1, 2] = x[0] * x[1]
    return values


def _counted(x: Any) -> Any:
    t = x[0]
    s = t
    t += x[1]
    return rbdgen.array([s, t])


def _written(x: Any) -> Any:
    y = rbdgen.array(x)
    y[0] = 5
    return x + y


def _added(x: Any) -> Any:
    y = x.copy()
    y += 1
    y[0] *= 2
    return y


TEXTS: list[tuple[str, Callable[..., Any], tuple[Any, ...]]] = [
    ("solve", rbdgen.solve, (positive(4), vector(4))),
    ("solve of columns", rbdgen.solve, (positive(3), np.eye(3))),
    ("cholesky", rbdgen.cholesky, (positive(4),)),
    ("inv of one", rbdgen.inv, (positive(1),)),
    *((f"inv of {n}", rbdgen.inv, (positive(n) + np.triu(np.ones((n, n)), 1),)) for n in (2, 3, 4)),
    ("congruence", rbdgen.congruence, (vector(6).reshape(2, 3), positive(3))),
    ("cross", rbdgen.cross, (vector(3), vector(3, 1))),
    ("skew", lambda a, b: rbdgen.skew(a) @ b, (vector(3), vector(3, 1))),
    ("norm", rbdgen.norm, (vector(5),)),
    ("rotation", rbdgen.rotation, (unit(),)),
    ("quaternion product", rbdgen.quaternion_product, (unit(), unit(1))),
    ("quaternion inverse", rbdgen.quaternion_inverse, (unit(),)),
    ("exp3", rbdgen.exp3, (vector(3),)),
    ("exp3 near 0", rbdgen.exp3, (1e-6 * vector(3),)),
    ("exp3 at 0", rbdgen.exp3, (np.zeros(3),)),
    ("log3", rbdgen.log3, (unit(),)),
    ("log3 of the other half", rbdgen.log3, (-unit(2),)),
    ("log3 near 0", rbdgen.log3, (np.array([1e-7, -2e-7, 3e-7, 1.0]),)),
    ("log3 at 0", rbdgen.log3, (np.array([0.0, 0, 0, 1]),)),
    ("where", lambda x: np.where(x > 0.1, x, -2 * x), (vector(5),)),
    ("both", lambda x: np.where((x > -0.5) & (x < 0.5), 1, x), (vector(9),)),
    ("either", lambda x: np.where((x < -0.5) | ~(x <= 0.5), 1, x), (vector(9),)),
    ("equal", lambda x: np.where(x == x[0], x, 0), (vector(4),)),
    ("unequal", lambda x: np.where(np.not_equal(x, x[0]), x, 0), (vector(4),)),
    ("not a number", lambda x: np.where(np.logical_not(x > 0), x, 0), (vector(4),)),
    ("minimum", lambda x: np.minimum(x, 0.3) + np.fmax(x, x[0]), (vector(5),)),
    ("clip", lambda x: np.clip(x, -0.2, 0.3) + x.clip(0, 1) + np.clip(x, None, 0), (vector(9),)),
    ("extremes", lambda x: np.max(x) + x.min() + np.min(np.stack([x, -x]), axis=0), (vector(5),)),
    ("abs and sign", lambda x: abs(x) + np.abs(x) * np.sign(x) - np.fabs(-x), (vector(5),)),
    ("powers", lambda x: x**2 + abs(x) ** 0.5 + 1 / x**3 + np.square(x) + np.reciprocal(x), (vector(5),)),
    ("elementary", lambda x: np.exp(x) + np.log(x * x) + np.tanh(x) + np.sqrt(x * x + 1), (vector(5),)),
    ("inverse ones", lambda x: np.arctan2(x, x[::-1]) + np.arcsin(x / 9) + np.arccos(x / 9), (vector(5),)),
    ("by others", lambda x: np.arctan(x) + np.sinh(x) * np.cosh(x) + np.tan(x), (vector(5),)),
    ("angles", lambda x: np.sin(np.deg2rad(x)) + np.cos(np.rad2deg(x)), (vector(5),)),
    ("einsum", lambda A, x: np.einsum("ij,j->i", A, x), (positive(3), vector(3))),
    ("stack", lambda x: np.stack([x[0], x[1] * 2, 3 * x[2]]), (vector(3),)),
    ("array", lambda x: rbdgen.array([x[0], [0, 1][0], -x[1]]), (vector(3),)),
    ("matrix", lambda x: rbdgen.array([[x[0], 0], [1, x[1]]]) @ rbdgen.array([x[1], 2]), (vector(3),)),
    ("zeros", _filled, (vector(3),)),
    ("diag", lambda x: np.diag(x) @ np.outer(x, x), (vector(3),)),
    ("concatenate", lambda x: np.concatenate([x, [1.0, 2.0], 2 * x]), (vector(3),)),
    ("block", lambda x: np.block([[np.diag(x), np.eye(3)], [np.eye(3), np.zeros((3, 3))]]), (vector(3),)),
    ("mean", lambda x: np.mean(x) + np.sum(x**2) + np.dot(x, x) + np.trace(np.diag(x)), (vector(3),)),
    ("linalg", lambda A, b: np.linalg.solve(A, b) + np.linalg.inv(A) @ b, (positive(3), vector(3))),
    ("solve of no symmetry", np.linalg.solve, (np.array([[2.0, 1, 3], [0.5, 3, 1], [1, -2, 4]]), vector(3))),
    ("solve of columns by NumPy", np.linalg.solve, (positive(3), np.eye(3) + 1)),
    ("largest of all", lambda x: np.max(x, initial=0.2) + np.max(np.outer(x, x), axis=1), (vector(3),)),
    ("bounds by name", lambda x: np.clip(x, a_min=-0.1, a_max=0.2) + np.clip(x, min=0, max=1), (vector(5),)),
    ("infinite bounds", lambda x: np.clip(x, [-np.inf, 0, -1], [1, np.inf, 0.5]), (vector(3),)),
    ("dot", lambda x: np.where(np.dot(x, x) > x.dot(x[::-1]), 1, 2) * np.trace(np.diag(x)), (vector(3),)),
    ("conditions", lambda x: np.where((x > 0) == (x > 0.1), x, 2), (vector(5),)),
    ("conditions and truth", lambda x: np.where(np.not_equal(x > 0, True), x, 2), (vector(5),)),
    ("numbers do not change", _counted, (vector(3),)),
    ("array is new", _written, (vector(3),)),
    ("norms", lambda A: np.linalg.norm(A, axis=1) + np.linalg.norm(A), (positive(3),)),
    ("in place", _added, (vector(3),)),
    ("unpacked", lambda x: rbdgen.array([a - b for a, b in zip(x, [*x][::-1], strict=True)]), (vector(3),)),
    ("with numbers", lambda x: np.arctan2(1, x) + np.arctan2(x, 2.0) + np.maximum(1, x), (vector(3),)),
]


@pytest.mark.parametrize(("text", "given"), [x[1:] for x in TEXTS], ids=[x[0] for x in TEXTS])
def test_expressions_and_floats_agree(text: Callable[..., Any], given: tuple[Any, ...]) -> None:
    expected = np.array(np.asarray(text(*given), object), float)
    np.testing.assert_allclose(on_expressions(text, *given), expected, rtol=1e-12, atol=1e-14)


def test_identities() -> None:
    A, b = positive(5), vector(5)
    np.testing.assert_allclose(A @ rbdgen.solve(A, b), b, rtol=1e-12)
    L = rbdgen.cholesky(A)
    np.testing.assert_allclose(L @ L.T, A, rtol=1e-12)
    assert (np.triu(L, 1) == 0).all()
    for n in (1, 2, 3, 4):
        B = positive(n) + np.triu(np.ones((n, n)), 1)
        np.testing.assert_allclose(rbdgen.inv(B) @ B, np.eye(n), atol=1e-12)
    a, c = unit(), unit(1)
    np.testing.assert_allclose(
        rbdgen.rotation(rbdgen.quaternion_product(a, c)), rbdgen.rotation(a) @ rbdgen.rotation(c), atol=1e-14
    )
    np.testing.assert_allclose(
        rbdgen.quaternion_product(a, rbdgen.quaternion_inverse(a)), [0, 0, 0, 1], atol=1e-15
    )
    for scale in (1e-9, 1e-5, 1e-4, 1.0, 3.0):
        w = scale * vector(3) / np.linalg.norm(vector(3))
        np.testing.assert_allclose(rbdgen.log3(rbdgen.exp3(w)), w, rtol=1e-12, atol=1e-16)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (lambda: rbdgen.solve(np.ones((2, 3)), [1, 2]), r"solve: the matrix has shape \(2, 3\)"),
        (lambda: rbdgen.solve(np.eye(2), [1, 2, 3]), r"shape \(3,\); give 2 rows"),
        (lambda: rbdgen.congruence(np.ones((2, 3)), np.eye(2)), "give 2 columns, as P has"),
        (lambda: rbdgen.rotation([1, 2, 3]), r"rotation: the vector has shape \(3,\); give \(4,\)"),
    ],
)
def test_wrong_shapes(text: Callable[[], Any], said: str) -> None:
    with pytest.raises(RbdgenError, match=said):
        text()
