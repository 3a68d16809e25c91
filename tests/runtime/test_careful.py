"""Calls that the quick way leaves to Python: the same results."""

from __future__ import annotations

import numpy as np
import pytest

import rbdgen
from rbdgen.runtime import Library


def test_rollouts_whose_names_are_other_strings() -> None:
    """Names that were put together at run time are equal to those of the arguments, but other objects."""
    lib = rbdgen.build(rbdgen.load_robot("double_pendulum"), ["step"])
    q, v = np.random.default_rng(0).standard_normal((2, 20, 2))
    tau = np.random.default_rng(1).standard_normal((20, 5, 2))
    named = {"".join(["t", "au"]): tau, "".join(["d", "t"]): 0.01}
    for last in (False, True):
        for ours, other in zip(
            lib.rollout(q, v, **named, last=last), lib.rollout(q, v, tau, 0.01, last=last), strict=True
        ):
            np.testing.assert_array_equal(ours, other)


@pytest.fixture(scope="module")
def quadruped() -> Library:
    """A library whose batches run another program than its single calls."""
    robot = rbdgen.load_robot("quadruped12", base="floating")
    return rbdgen.build(robot, ["gravity_vjp"])


def test_single_states_have_the_same_bits_however_they_are_passed(quadruped: Library) -> None:
    f = quadruped.gravity_vjp
    rng = np.random.default_rng(0)
    q, weights = quadruped.random(rng), rng.standard_normal(quadruped.nv)
    expected = f(q, weights)
    weights_of_another_type = weights.astype(">f8")
    named = {"".join(["q"]): q, "".join(["tau", "_bar"]): weights}
    assert (f(np.stack([q]), weights)[0] != expected).any(), "batches have the bits of single calls here"
    for found in (f(**named), f(q, weights_of_another_type), f(q[::1].tolist(), tau_bar=weights)):
        np.testing.assert_array_equal(found, expected)
