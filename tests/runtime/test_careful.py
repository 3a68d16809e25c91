"""Calls that the quick way leaves to Python: the same results."""

from __future__ import annotations

import numpy as np

import rbdgen


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
