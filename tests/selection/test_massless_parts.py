"""Axes are searched for robots whose first bodies have no mass, such as the sliders of planar robots."""

from __future__ import annotations

import numpy as np

import rbdgen


def test_the_centre_of_mass_of_a_robot_on_massless_sliders() -> None:
    """The chain that is counted for the first slider has no mass, but the robot has."""
    planar = rbdgen.RobotBuilder("planar").add_body("ground")
    planar.add_body("along", parent="ground", type="prismatic", axis=(1, 0, 0))
    planar.add_body("up", parent="along", type="prismatic", axis=(0, 0, 1))
    solid = {"mass": 2.0, "com": (0.1, 0.0, 0.3), "inertia": (0.02, 0.03, 0.04)}
    planar.add_body("torso", parent="up", type="revolute", axis=(0, 1, 0), **solid)
    lib = rbdgen.build(planar, functions=["com", "com_velocity"])
    np.testing.assert_allclose(lib.com([0.5, 0.7, 0.0]), [0.6, 0.0, 1.0], rtol=1e-15)
    np.testing.assert_allclose(lib.com_velocity([0, 0, 0.0], [0.1, 0.2, 1]), [0.4, 0, 0.1], rtol=1e-14)
