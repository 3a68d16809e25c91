"""The arguments that many functions share."""

from __future__ import annotations

from rbdgen.signature import FLOATING, Argument

Q = Argument("q", "configuration", ("nq",), "rad, m", f"joint positions{FLOATING}x y z, quaternion x y z w")
V = Argument(
    "v",
    "velocity",
    ("nv",),
    "rad/s, m/s",
    f"joint velocities{FLOATING}linear, then angular, in its own axes",
)
A = Argument("a", "acceleration", ("nv",), "rad/s^2, m/s^2", "joint accelerations")
TAU = Argument("tau", "force", ("nv",), "N m, N", "joint torques and forces")
FEXT = Argument(
    "fext",
    "external_forces",
    ("nbodies", 6),
    "N, N m",
    "external force on every moving body: force, moment, in its joint frame",
)


def square(name: str, unit: str, meaning: str, *, symmetric: bool = False) -> Argument:
    """A matrix over the degrees of freedom."""
    return Argument(name, "matrix", ("nv", "nv"), unit, meaning, (0, 1) if symmetric else None)
