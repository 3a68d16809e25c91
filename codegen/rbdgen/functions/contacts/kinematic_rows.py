"""How contacts move: where they stand, their Jacobian, velocity and drift."""

from __future__ import annotations

from rbdgen.functions.function import Function

ROWS: tuple[Function, ...] = ()
