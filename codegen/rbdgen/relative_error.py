"""How far results are from what they should be: one definition for self-tests, checks and tests."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def relative_errors(
    results: npt.NDArray[Any], references: npt.NDArray[Any], floor: npt.ArrayLike = 0.0
) -> npt.NDArray[np.float64]:
    """Of every state, the first axis: max |result - reference| / max |reference| over its elements.

    `floor`: the least value divided by, one for all states or one each, for outputs that may vanish. Where
    all is 0 the error is 0; where only the reference is, without a floor, it is infinite.
    """
    if results.shape != references.shape:
        raise ValueError(f"shapes {results.shape} and {references.shape} differ")
    axes = tuple(range(1, references.ndim))
    scale = np.maximum(np.abs(references).max(axis=axes, initial=0), floor)
    error = np.abs(results - references).max(axis=axes, initial=0)
    return np.asarray(np.divide(error, scale, out=np.where(error > 0, np.inf, 0.0), where=scale > 0))
