"""Base parameters: the smallest set of combinations of inertial parameters on which torques depend.

A column of the regressor that is a linear combination of others is left out, and its parameter is added, with
the coefficients of this combination, to their parameters: tau = Y pi = Yb (R pi), where Yb has some columns
of Y. Gautier, Numerical calculation of the base inertial parameters of robots, 1991. Dependent columns are
found in Y at random states. Bodies are processed from the root on, so that parameters that a joint does not
feel are added to those of the parent, as in Khalil and Dombre 2002, ch. 9.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from rbdgen.functions.regressors.bodies import regressor
from rbdgen.model.inertial_parameters import NAMES, BaseParameters
from rbdgen.model.model import Model
from rbdgen.sweeps.inputs import coordinates

Array = npt.NDArray[Any]

STATES: Final = 40

DEPENDENT: Final = 1e-9
"""A column counts as a combination of others if the rest after projection is smaller than this fraction of
its length.
"""

ROUNDING: Final = 1e-13
"""A coefficient, times the length of its column, below this fraction of the expressed column's length counts
as rounding.
"""

FIRST: Final = ("mx", "my", "mz", "Ixx", "Ixy", "Ixz", "Iyz", "Izz", "Iyy", "m")
"""The order in which a body's parameters are tried. Earlier ones are kept; later ones are added to them or to
the parent's.
"""


@lru_cache(maxsize=8)
def base_parameters(model: Model) -> BaseParameters:
    """The base parameters of a robot."""
    W = _stacked(model)
    columns = _independent(W)
    matrix = _expressed(W, columns)
    bodies = model.visible
    names = [f"{NAMES[k % 10]}:{model.bodies[bodies[k // 10]].name}" for k in columns]
    return BaseParameters(tuple(columns), tuple(names), tuple(tuple(row) for row in matrix.tolist()))


def _stacked(model: Model) -> Array:
    """The regressors at STATES random states, stacked."""
    rng, coupling = np.random.default_rng(0), model.coupling
    q = list(model.manifold.random(rng, (STATES,)).T)
    v, a = (list(rng.standard_normal((coupling.independent, STATES))) for _ in range(2))
    rows = regressor(model, coordinates(model, q, np.cos, np.sin), coupling.extended(v), coupling.extended(a))
    entries = [[np.broadcast_to(x, STATES) for x in column] for column in coupling.folded_rows(rows)]
    return np.moveaxis(np.array(entries, float), 2, 0).reshape(-1, 10 * len(model.visible))


def _independent(W: Array) -> list[int]:
    """The columns that are not combinations of earlier ones and are well above rounding."""
    lengths = np.linalg.norm(W, axis=0)
    order = [10 * body + NAMES.index(name) for body in range(W.shape[1] // 10) for name in FIRST]
    basis = np.empty((W.shape[0], 0))
    found = []
    for k in order:
        if lengths[k] <= DEPENDENT * lengths.max():
            continue
        rest = W[:, k] / lengths[k]
        for _ in range(2):  # the second projection removes the rounding errors of the first
            rest = rest - basis @ (basis.T @ rest)
        size = np.linalg.norm(rest)
        if size > DEPENDENT:
            basis = np.column_stack([basis, rest / size])
            found.append(k)
    return sorted(found)


def _expressed(W: Array, columns: list[int]) -> Array:
    """R: every column of W as a combination of these columns. Rounding is cleared to 0."""
    lengths = np.linalg.norm(W, axis=0)
    chosen = lengths[columns]
    scaled = W[:, columns] / chosen
    R = np.linalg.lstsq(scaled, W, rcond=None)[0]
    R += np.linalg.lstsq(scaled, W - scaled @ R, rcond=None)[0]
    R[np.abs(R) <= ROUNDING * lengths] = 0
    R = R / chosen[:, None]
    R[:, columns] = np.eye(len(columns))
    return np.asarray(R)
