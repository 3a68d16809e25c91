"""Forward dynamics that contacts constrain, their forces and impulses."""

from __future__ import annotations

from rbdgen.functions.function import Function

ROWS: tuple[Function, ...] = ()
