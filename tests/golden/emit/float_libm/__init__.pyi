from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._rbdgen.runtime import Function, Library, Parameters

_Array = NDArray[np.float32]

library: Library
manifest: Mapping[str, Any]
joint_names: tuple[str, ...]
idx_q: tuple[int, ...]
idx_v: tuple[int, ...]
frames: tuple[str, ...]
contacts: tuple[str, ...]
parameters: Parameters

def normalize(q: ArrayLike) -> _Array: ...
def integrate(q: ArrayLike, v: ArrayLike) -> _Array: ...
def difference(q0: ArrayLike, q1: ArrayLike) -> _Array: ...
def full_configuration(q: ArrayLike) -> dict[str, _Array]: ...
def neutral() -> _Array: ...
def random(generator: np.random.Generator | int | None = None, leading: Sequence[int] = ()) -> _Array: ...
def release_memory() -> None: ...
def limit_memory(limit: int) -> None: ...

class _torque(Function):
    def __call__(self, q: ArrayLike, v: ArrayLike, *, out: _Array | None = None, threads: int = 1) -> _Array: ...  # type: ignore[override]

torque: _torque

class _inertia_outputs(NamedTuple):
    M: _Array
    g: _Array

class _inertia(Function):
    def __call__(self, q: ArrayLike, *, out: tuple[_Array, ...] | None = None, threads: int = 1) -> _inertia_outputs: ...  # type: ignore[override]

inertia: _inertia

