"""The version of the cross compiler for which figures are pinned."""

from __future__ import annotations

PINNED = "gcc 12.2"
