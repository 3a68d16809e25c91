"""Distances of the arm in CasADi, with its exact Jacobian and Hessian, and where axes are parallel."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.distances import arm

import rbdgen


@pytest.fixture(scope="module")
def library() -> Any:
    return rbdgen.build(
        arm(), functions=["distances", "distance_jacobian", "distances_vjp", "distances_jvp", "distances_hvp"]
    )


def test_casadi_has_the_exact_jacobian(library: Any) -> None:
    casadi = pytest.importorskip("casadi")
    q = casadi.MX.sym("q", 7)
    d = library.casadi("distances")(q)
    jacobian = casadi.Function("J", [q], [casadi.jacobian(d, q)])
    at = np.linspace(0.3, 1.1, 7)
    np.testing.assert_allclose(np.array(jacobian(at)), library.distance_jacobian(at), atol=1e-14)
    assert int(library.distance_jacobian.sparsity.sum()) == 50
    pattern = np.array(casadi.DM(jacobian.sparsity_out(0), 1))
    np.testing.assert_array_equal(pattern != 0, library.distance_jacobian.sparsity)


def test_casadi_has_the_exact_hessian(library: Any) -> None:
    casadi = pytest.importorskip("casadi")
    q = casadi.MX.sym("q", 7)
    w = np.linspace(-1, 1, 15)
    hessian = casadi.Function("H", [q], [casadi.hessian(casadi.dot(w, library.casadi("distances")(q)), q)[0]])
    at = np.linspace(0.3, 1.1, 7)
    assert hessian.sparsity_out(0).nnz() == 36  # the first joint moves no pair
    ours = np.stack([library.distances_hvp(at, distance_bar=w, q_dot=e) for e in np.eye(7)], axis=1)
    np.testing.assert_allclose(np.array(hessian(at)), ours, atol=1e-11 * np.abs(ours).max())
    np.testing.assert_allclose(ours, ours.T, atol=1e-11 * np.abs(ours).max())


def test_parallel_axes_give_finite_derivatives(library: Any) -> None:
    """The links of the arm are in one line at 0, and on parallel lines at right angles."""
    rng = np.random.default_rng(0)
    q = rng.choice([0.0, np.pi / 2, -np.pi / 2, np.pi], (2000, 7))
    q[1000:] += 10 ** rng.uniform(-16, -4, (1000, 1)) * rng.normal(size=(1000, 7))
    w, v = rng.normal(size=(2000, 15)), rng.normal(size=(2000, 7))
    assert np.isfinite(library.distances(q)).all()
    assert np.isfinite(library.distance_jacobian(q)).all()
    assert np.isfinite(library.distances_hvp(q, distance_bar=w, q_dot=v)).all()
