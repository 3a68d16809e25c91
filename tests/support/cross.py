"""The cross compiler that figures are pinned for."""

from __future__ import annotations

PINNED = "gcc 12.2"
