"""Simulates a four-bar linkage under gravity, with the velocity of its crank as the independent velocity."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

import rbdgen
from rbdgen.runtime import Library

Array = npt.NDArray[np.float64]

STEP = 1e-3
"""The time step, in s."""


def four_bar() -> rbdgen.RobotBuilder:
    """A crank, a coupler and a rocker in a vertical plane; the coupler and the rocker end at the same
    point."""
    built = rbdgen.RobotBuilder("four_bar").add_body("ground")
    for name, parent, x, length in (
        ("crank", "ground", 0.0, 0.3),
        ("coupler", "crank", 0.3, 0.9),
        ("rocker", "ground", 1.0, 0.7),
    ):
        inertial = {
            "mass": length,
            "com": (length / 2, 0, 0),
            "inertia": (0.0, length**3 / 12, length**3 / 12),
        }
        built.add_body(name, parent=parent, type="revolute", axis=(0, -1, 0), xyz=(x, 0, 0), **inertial)
        built.add_body(f"{name}_end", parent=name, type="fixed", xyz=(length, 0, 0))
    return built.add_loop("coupler_end", "rocker_end", "point")


def closed(library: Library, q: Array) -> Array:
    """The nearest q in which the loop is closed, by Newton's method on the coupler and the rocker."""
    for _ in range(20):
        gap = library.loop_position(q)
        if np.abs(gap).max() < 1e-13:
            return q
        columns = library.loop_jacobian(q)[:, 1:]
        q = q - np.r_[0.0, np.linalg.lstsq(columns, gap, rcond=None)[0]]
    raise ValueError("the four-bar does not close from there")


def main() -> None:
    """Releases the linkage from rest, and prints the change of its energy after one second."""
    robot = rbdgen.load_robot(four_bar(), independent=["crank_joint"])
    dynamics = ["loop_position", "loop_jacobian", "loop_motion", "loop_aba"]
    library = rbdgen.build(robot, [*dynamics, "kinetic_energy", "potential_energy"])
    q, v_i = closed(library, np.array([0.8, -0.5, 1.9])), np.array([0.0])

    def rates(q: Array, v_i: Array) -> tuple[Array, Array]:
        """The velocities of all joints, and the acceleration of the crank."""
        v, _ = library.loop_motion(q, v_i, [0.0])
        return v, library.loop_aba(q, v_i, [0.0])

    def energy() -> float:
        v, _ = rates(q, v_i)
        return float(library.kinetic_energy(q, v) + library.potential_energy(q))

    before = energy()
    for _ in range(round(1 / STEP)):
        v, a_i = rates(q, v_i)
        middle, v_middle = closed(library, q + STEP / 2 * v), v_i + STEP / 2 * a_i
        v, a_i = rates(middle, v_middle)
        q, v_i = closed(library, q + STEP * v), v_i + STEP * a_i
    print(f"after 1 s: q = {np.round(q, 3)}, crank at {v_i[0]:.3f} rad/s")
    print(f"energy {before:.4f} J, then {energy():.4f} J; gap {np.abs(library.loop_position(q)).max():.0e} m")


if __name__ == "__main__":
    main()
