"""Random inputs of the catalogue's functions: many states at once, base within 1 m of the origin."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rbdgen.model.joints import JointKind
from rbdgen.model.model import Model
from rbdgen.signature import Signature

Array = NDArray[np.float64]

SLIDE = 0.3
"""Displacement of a prismatic joint at most, m."""


def random_inputs(model: Model, signature: Signature, count: int, seed: int = 0) -> dict[str, Array]:
    """`count` states: angles over a full turn, all other inputs standard normal; shape (count, size)."""
    rng = np.random.default_rng(seed)
    sized = signature.sized(model.sizes)
    inputs = {x.name: rng.standard_normal((count, x.size)) for x in sized.inputs}
    inputs["q"] = random_configurations(model, count, rng)
    return inputs


def random_configurations(model: Model, count: int, rng: np.random.Generator) -> Array:
    """Shape (count, nq); quaternions of unit length, uniform."""
    q = np.empty((count, model.nq))
    for body in model.bodies:
        k = body.joint.idx_q
        if body.joint.kind is JointKind.FLOATING:
            direction = rng.standard_normal((count, 3))
            length = rng.uniform(0, 1, (count, 1)) / np.linalg.norm(direction, axis=1, keepdims=True)
            q[:, k : k + 3] = direction * length
            quaternion = rng.standard_normal((count, 4))
            q[:, k + 3 : k + 7] = quaternion / np.linalg.norm(quaternion, axis=1, keepdims=True)
        elif body.joint.kind is JointKind.REVOLUTE:
            q[:, k] = rng.uniform(-math.pi, math.pi, count)
        else:
            q[:, k] = rng.uniform(-SLIDE, SLIDE, count)
    return q
