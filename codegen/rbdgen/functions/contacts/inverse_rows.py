"""Inverse dynamics of floating bases while contacts stand still."""

from __future__ import annotations

from rbdgen.functions.function import Function

ROWS: tuple[Function, ...] = ()
