"""Tests inside frameworks are skipped with a message if the framework is missing, and fail in CI."""

from __future__ import annotations

import os
from importlib.util import find_spec

import pytest
from support.carts import cart_with_a_ball
from support.distances import reach

import rbdgen
from rbdgen.runtime import Library


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skips a test, or lets it fail in CI, if the `FRAMEWORK` of its module is missing."""
    framework = getattr(item.module, "FRAMEWORK", None)  # type: ignore[attr-defined]
    if framework is not None and find_spec(framework) is None:
        word = f"missing: {framework}; pip install 'rbdgen[{framework}]'"
        if os.environ.get("CI", "").lower() in ("true", "1"):
            pytest.fail(word)
        pytest.skip(word)


@pytest.fixture(scope="session")
def arm() -> Library:
    """A library of an arm with two joints."""
    return rbdgen.build(rbdgen.load_robot("double_pendulum"), functions=["rnea", "rnea_derivatives"])


@pytest.fixture(scope="session")
def cart() -> Library:
    """A library of a robot whose q and v have different elements."""
    return rbdgen.build(rbdgen.load_robot(cart_with_a_ball()), functions=["rnea", "rnea_derivatives"])


@pytest.fixture(scope="session")
def reaching() -> Library:
    """A library of distances of a short arm from itself and from a sphere."""
    return rbdgen.build(reach(), functions=["distances", "distance_jacobian", "distances_hvp"])
