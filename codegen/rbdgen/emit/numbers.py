"""Numbers as C literals: the shortest decimal that is read back as exactly the same bits."""

from __future__ import annotations

import math

import numpy as np

from rbdgen.errors import EmitError
from rbdgen.wording import option


def literal(value: float, real: str) -> str:
    """`value` as a literal of the C type `real`. A float is rounded once from the double, to nearest."""
    if not math.isfinite(value):
        raise EmitError(f"the constant {value} has no C literal; check the robot's numbers")
    if real == "double":
        return repr(float(value))
    with np.errstate(over="ignore"):
        rounded = np.float32(value)
    if not np.isfinite(rounded):
        raise EmitError(
            f"the constant {value!r} does not fit a float; generate with {option('real', 'double')}"
        )
    if rounded == 0.0 and value != 0.0:
        return "0.0f"
    return f"{rounded!s}f"


def literal17(value: float, real: str) -> str:
    """`value` with 17 digits (double) or 9 (float), which is exact and aligns columns of golden numbers."""
    if not math.isfinite(value):
        raise EmitError(
            f"the golden value {value} has no C literal; the robot is singular at the tested state"
        )
    return f"{value:.16e}" if real == "double" else f"{np.float32(value):.8e}f"
