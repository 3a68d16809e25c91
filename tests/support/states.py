"""Random inputs of functions, for many states at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rbdgen.model.model import Model
from rbdgen.signature import Signature, SizedSignature

Array = NDArray[np.float64]


def random_inputs(
    model: Model, signature: Signature | SizedSignature, count: int, seed: int = 0
) -> dict[str, Array]:
    """The inputs (count, size) of `count` random states, by `Manifold.random_inputs`."""
    rng = np.random.default_rng(seed)
    sized = signature if isinstance(signature, SizedSignature) else signature.sized(model.sizes)
    drawn = model.manifold.random_inputs(sized.inputs, rng, (count,))
    return {name: values.reshape(count, -1) for name, values in drawn.items()}
