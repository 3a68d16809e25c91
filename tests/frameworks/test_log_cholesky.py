"""Gradients by log-Cholesky parameters are right in all frameworks, which compute the exponentials."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import rbdgen
from rbdgen.errors import ArrayTypeError, ArrayValueError
from rbdgen.runtime import Library

Array = NDArray[np.float64]

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of JAX itself

Q, V, TAU = np.random.default_rng(0).normal(size=(3, 2))


@pytest.fixture(scope="module")
def library() -> Library:
    return rbdgen.build("double_pendulum", ["aba"], params=["mass:upper", "logchol:lower"])


@pytest.fixture(scope="module")
def p(library: Library) -> Array:
    random = np.random.default_rng(1)
    found: Array = library.parameters.defaults + 0.3 * random.normal(size=11)
    return found


@pytest.fixture(scope="module")
def slopes(library: Library, p: Array) -> Array:
    """The derivatives of `aba` by p: those by the linear parameters, times the derivatives of these by p.

    The latter are computed by complex steps."""
    linear = rbdgen.build("double_pendulum", ["aba_dparams"], params=["mass:upper", "ten:lower"])
    ten = library.parameters.linear(p)
    by_ten = linear.aba_dparams(Q, V, TAU, ten, linear.update(ten))
    by_p = np.eye(11)
    steps = p[1:] + 1e-30j * np.eye(10)
    by_p[1:, 1:] = np.array([log_cholesky(step) for step in steps]).imag.T / 1e-30
    found: Array = by_ten @ by_p
    return found


def log_cholesky(x: NDArray[Any]) -> NDArray[Any]:
    """The ten linear parameters of the pseudo-inertia U U^T, by the published formula."""
    alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3 = x
    e = np.exp
    U = e(alpha) * np.array([[e(d1), s12, s13, t1], [0, e(d2), s23, t2], [0, 0, e(d3), t3], [0, 0, 0, 1]])
    P = U @ U.T
    S = np.trace(P[:3, :3]) * np.eye(3) - P[:3, :3]
    return np.array([P[3, 3], *P[3, :3], S[0, 0], S[0, 1], S[1, 1], S[0, 2], S[1, 2], S[2, 2]])


def test_the_published_matrix_gives_the_same(library: Library, p: Array) -> None:
    np.testing.assert_allclose(library.parameters.linear(p)[1:], log_cholesky(p[1:]), rtol=1e-13)


class TestJax:
    @pytest.fixture(autouse=True)
    def jax(self) -> Any:
        jax = pytest.importorskip("jax")
        before = jax.config.jax_enable_x64
        jax.config.update("jax_enable_x64", True)
        yield jax
        jax.config.update("jax_enable_x64", before)

    def test_gradients(self, jax: Any, library: Library, p: Array, slopes: Array) -> None:
        def accelerations(p: Any) -> Any:
            return library.jax.aba(Q, V, TAU, library.jax.update(p))

        np.testing.assert_allclose(jax.jit(library.jax.update)(p), library.update(p), rtol=1e-13)
        for mode in (jax.jacrev, jax.jacfwd):
            np.testing.assert_allclose(jax.jit(mode(accelerations))(p), slopes, rtol=1e-9, atol=1e-12)
        rows = jax.vmap(jax.jacrev(accelerations))(np.stack([p, p]))
        np.testing.assert_allclose(rows[1], slopes, rtol=1e-9, atol=1e-12)

    def test_by_name(self, jax: Any, library: Library, p: Array, slopes: Array) -> None:
        names = list(library.parameters.names)
        given = dict(zip(names, p.tolist(), strict=True))

        def accelerations(mass: Any) -> Any:
            return library.jax.aba(Q, V, TAU, library.jax.update({**given, "mass:upper": mass}))

        np.testing.assert_allclose(jax.jacrev(accelerations)(p[0]), slopes[:, 0], rtol=1e-9)
        tables = library.jax.update({"mass:upper": np.array([1.0, 2.0]), "logchol:lower.t1": 0.1})
        expected = library.update({"mass:upper": np.array([1.0, 2.0]), "logchol:lower.t1": 0.1})
        np.testing.assert_allclose(tables, expected, rtol=1e-13)
        np.testing.assert_allclose(library.jax.update(), library.update(), rtol=1e-13)
        with pytest.raises(ArrayTypeError, match="there is no parameter 'mass:uper'; did you mean"):
            library.jax.update({"mass:uper": 1.0})
        with pytest.raises(ArrayTypeError, match="update: mass:upper is float32, the library is of float64"):
            library.jax.update({"mass:upper": np.float32(1)})
        with pytest.raises(ArrayValueError, match=r"update: p has shape \(10,\), expected"):
            library.jax.update(p[1:])


class TestTorch:
    def test_gradients(self, library: Library, p: Array, slopes: Array) -> None:
        torch = pytest.importorskip("torch")

        def accelerations(p: Any) -> Any:
            return library.torch.aba(*map(torch.tensor, (Q, V, TAU)), library.torch.update(p))

        given = torch.tensor(p)
        np.testing.assert_allclose(library.torch.update(p), library.update(p), rtol=1e-13)
        for mode in (torch.func.jacrev, torch.func.jacfwd):
            np.testing.assert_allclose(mode(accelerations)(given), slopes, rtol=1e-9, atol=1e-12)
        rows = torch.func.vmap(torch.func.jacrev(accelerations))(torch.stack([given, given]))
        np.testing.assert_allclose(rows[1], slopes, rtol=1e-9, atol=1e-12)
        mass = torch.tensor(p[0], requires_grad=True)
        names = dict(zip(library.parameters.names, p.tolist(), strict=True))
        accelerations({**names, "mass:upper": mass}).sum().backward()
        np.testing.assert_allclose(mass.grad, slopes[:, 0].sum(), rtol=1e-9)
        for wrong, message in (
            (given[1:], r"update: p has shape \(10,\), expected"),
            (given.float(), "update: p is float32, the library is of float64"),
            ({"mass": 1.0}, "there is no parameter 'mass'; did you mean 'mass:upper'"),
        ):
            with pytest.raises((ArrayTypeError, ArrayValueError), match=message):
                library.torch.update(wrong)


class TestCasadi:
    def test_gradients(self, library: Library, p: Array, slopes: Array) -> None:
        casadi = pytest.importorskip("casadi")
        symbol = casadi.MX.sym("p", 11)
        update = library.casadi("update", hessian=True)
        assert update.name() == "double_pendulum_update_x1"
        assert (update.name_in(), update.name_out()) == (["p"], ["table"])
        np.testing.assert_allclose(update(p).full().ravel(), library.update(p), rtol=1e-13)
        a = library.casadi("aba", hessian=True)(Q, V, TAU, update(symbol))
        made: Callable[..., Any] = casadi.Function("f", [symbol], [casadi.jacobian(a, symbol)])
        np.testing.assert_allclose(made(p).full(), slopes, rtol=1e-9, atol=1e-12)
        bent = casadi.Function("g", [symbol], [casadi.hessian(a[0], symbol)[0]])(p).full()
        ends = [made(p + step).full()[0] - made(p - step).full()[0] for step in 1e-5 * np.eye(11)]
        np.testing.assert_allclose(bent, np.array(ends) / 2e-5, rtol=1e-5, atol=1e-5 * abs(bent).max())
