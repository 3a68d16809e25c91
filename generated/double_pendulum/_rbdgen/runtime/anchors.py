"""Where held contacts are pulled to, as functions of them take it: poses in one row of numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from .arrays import Array

_ROWS_OF_A_FRAME: Final = 6
"""Of a contact that holds axes too; one of a point has 3."""


def anchor_of(
    pose: tuple[Array, Array], contacts: Sequence[Mapping[str, Any]], chosen: Sequence[str]
) -> Array:
    """The positions (..., contacts, 3) of those chosen, of frames also the rotations (..., contacts, 3, 3).

    `contacts`: the rows of the manifest, in the order of the pose.
    """
    position, rotation = pose
    names = [row["name"] for row in contacts]
    parts = []
    for name in chosen:
        k = names.index(name)
        parts.append(position[..., k, :])
        if contacts[k]["rows"] == _ROWS_OF_A_FRAME:
            parts.append(rotation[..., k, :, :].reshape(*position.shape[:-2], 9))
    return np.concatenate(parts, axis=-1)
