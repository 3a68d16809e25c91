"""The functions of the centre of mass and of the centroidal momentum."""

from __future__ import annotations

from typing import Final

MOMENTUM: Final = (
    "com",
    "com_velocity",
    "com_acceleration",
    "com_jacobian",
    "centroidal_matrix",
    "centroidal_matrix_rate",
    "centroidal_momentum",
)
