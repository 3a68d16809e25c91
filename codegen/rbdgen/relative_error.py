"""The relative error of results, as self-tests, checks and tests define it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def relative_errors(
    results: npt.NDArray[Any], references: npt.NDArray[Any], floor: npt.ArrayLike = 0.0
) -> npt.NDArray[np.float64]:
    """The relative error of every state, which is the first axis: max |result - reference| / max |reference|.

    `floor` is the smallest divisor, one for all states or one for each, for outputs that may vanish. If
    result and reference are 0, the error is 0; if only the reference is 0, and there is no floor, it is
    infinite.
    """
    if results.shape != references.shape:
        raise ValueError(f"shapes {results.shape} and {references.shape} differ")
    axes = tuple(range(1, references.ndim))
    scale = np.maximum(np.abs(references).max(axis=axes, initial=0), floor)
    error = np.abs(results - references).max(axis=axes, initial=0)
    return np.asarray(np.divide(error, scale, out=np.where(error > 0, np.inf, 0.0), where=scale > 0))
