"""The headers with the elementary functions of a toy, and the flags for the interpreter's bits."""

from __future__ import annotations

from types import SimpleNamespace

from rbdgen.emit.c.kernels import number_kernels, vector_kernels
from rbdgen.emit.c.lanes import lanes_context
from rbdgen.emit.package import EmitOptions
from rbdgen.emit.real import REALS
from rbdgen.emit.text import filled
from rbdgen.graph.kernels import KERNELS

EXACT = ["-ffp-contract=off", "-fno-math-errno"]

LIMIT = {
    "exp": 0.98,
    "log": 0.86,
    "tanh": 1.95,
    "atan2": 1.65,
    "asin": 1.25,
    "acos": 1.25,
    "tan": 1.45,
    "hypot": 1.2,
}
"""The largest errors in ulp that are accepted, of double and of float; they are found at few arguments."""

ROBOT = {"name": "toy", "macro": "TOY", "of": "a toy", "version": "0"}


def numbers(real: str) -> str:
    """The header of the functions of one number."""
    robot = SimpleNamespace(**ROBOT, real=real)
    return filled("c/ROBOT_math.h.jinja", robot=robot, f=number_kernels("toy", REALS[real], tuple(KERNELS)))


def vectors(real: str) -> str:
    """The header of the vector type, with the functions of vectors."""
    kernels = vector_kernels("toy", "TOY", REALS[real], tuple(KERNELS))
    lanes = lanes_context(EmitOptions(real=real), kernels=kernels)
    return filled("c/ROBOT_lanes.h.jinja", robot=SimpleNamespace(**ROBOT, real=real), lanes=lanes)
