"""Distances in JAX have the library's bits and exact derivatives of first and second order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from support.distances import among_balls

from rbdgen.errors import ArrayTypeError
from rbdgen.runtime import Library

FRAMEWORK = "jax"


@pytest.fixture(scope="module")
def jax() -> Iterator[Any]:
    import jax  # noqa: PLC0415

    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield jax
    jax.config.update("jax_enable_x64", before)


def test_derivatives(jax: Any, reaching: Library) -> None:
    f, (q, balls, w) = reaching.jax.distances, among_balls()
    np.testing.assert_array_equal(jax.jit(f)(q, balls), reaching.distances(q, balls))
    J = jax.jit(jax.vmap(jax.jacrev(f)))(q, balls)
    np.testing.assert_allclose(J, reaching.distance_jacobian(q, balls), rtol=0, atol=1e-14)
    H = jax.jit(jax.vmap(jax.hessian(lambda q, balls: w @ f(q, balls))))(q, balls)
    ways = [reaching.distances_hvp(q, balls, distance_bar=w, q_dot=e) for e in np.eye(3)]
    np.testing.assert_allclose(H, np.stack(ways, axis=-1), rtol=0, atol=1e-13)


def test_obstacles_are_constant(jax: Any, reaching: Library) -> None:
    q, balls, _ = among_balls()
    with pytest.raises(ArrayTypeError, match=r"there are no derivatives by spheres; keep it constant"):
        jax.grad(lambda balls: reaching.jax.distances(q, balls).sum())(balls)
