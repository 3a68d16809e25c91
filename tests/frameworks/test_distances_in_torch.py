"""Distances in PyTorch have the library's bits and exact gradients."""

from __future__ import annotations

import numpy as np
import pytest
from support.distances import among_balls

from rbdgen.runtime import Library

FRAMEWORK = "torch"

pytestmark = pytest.mark.filterwarnings("ignore")  # warnings of PyTorch itself


def test_gradients(reaching: Library) -> None:
    import torch  # noqa: PLC0415

    f, (q, balls, w) = reaching.torch.distances, among_balls()
    moved, still, weights = (torch.tensor(x) for x in (q, balls, w))
    np.testing.assert_array_equal(f(moved, still), reaching.distances(q, balls))
    expected = reaching.distance_jacobian(q, balls)
    J = torch.vmap(torch.func.jacrev(f))(moved, still)
    np.testing.assert_allclose(J, expected, rtol=0, atol=1e-14)
    moved.requires_grad_(True)
    (f(moved, still) @ weights).sum().backward()
    np.testing.assert_allclose(moved.grad, w @ expected, rtol=0, atol=1e-13)
