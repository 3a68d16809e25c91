"""The examples of steps with friction."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[3] / "examples"


def test_a_quadruped_trots_over_rough_ground(monkeypatch: pytest.MonkeyPatch) -> None:
    """It goes on after small pushes, and feet never enter the ground."""
    monkeypatch.syspath_prepend(EXAMPLES)
    import rough_ground  # noqa: PLC0415

    lib = rough_ground.built()
    heights, grid = rough_ground.rough(np.random.default_rng(0), 0.02)
    states = rough_ground.simulated(lib, heights, grid, np.array([0.0, 30.0, 60.0]))
    upright = states.q[:, :, 2].min(1) > rough_ground.UPRIGHT
    assert upright.tolist() == [True, True, False]
    assert (states.q[:2, -1, 0] > 1.5).all()
    assert states.residual[:2].max() < 1e-6
    feet = lib.contact_pose(states.q[:2].reshape(-1, 19))[0]
    assert feet[:, :, 2].min() > 0.013  # the radius is 15 mm, and the ground is at least 0
    again = rough_ground.simulated(lib, heights, grid, np.array([30.0]))
    np.testing.assert_array_equal(again.q[0], states.q[1])
