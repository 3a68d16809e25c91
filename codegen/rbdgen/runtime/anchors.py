"""Makes the anchors of contacts: the poses to which contacts are pulled, as one vector of numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from .arrays import Array

_ROWS_OF_A_FRAME: Final = 6
"""The number of rows of a contact that keeps a frame in place; one that keeps a point in place has 3."""


def anchor_of(
    pose: tuple[Array, Array], contacts: Sequence[Mapping[str, Any]], chosen: Sequence[str]
) -> Array:
    """The anchor (..., nanchor): for each chosen contact its position and, if it keeps a frame, its rotation
    matrix row by row.

    Args:
        pose: the results of `contact_pose`: positions (..., contacts, 3) and rotations (..., contacts, 3, 3).
        contacts: the contacts of the manifest, in the order of the pose.
        chosen: the names of the contacts.
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
