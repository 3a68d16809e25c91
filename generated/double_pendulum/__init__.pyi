from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._rbdgen.runtime import Function, Library, Parameters

_Array = NDArray[np.float64]

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

class _rnea(Function):
    def __call__(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: _Array | None = None, threads: int = 1) -> _Array: ...  # type: ignore[override]

rnea: _rnea

class _aba(Function):
    def __call__(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, *, out: _Array | None = None, threads: int = 1) -> _Array: ...  # type: ignore[override]

aba: _aba

class _crba(Function):
    def __call__(self, q: ArrayLike, *, out: _Array | None = None, threads: int = 1) -> _Array: ...  # type: ignore[override]

crba: _crba

class _minv(Function):
    def __call__(self, q: ArrayLike, *, out: _Array | None = None, threads: int = 1) -> _Array: ...  # type: ignore[override]

minv: _minv

class _rnea_derivatives_outputs(NamedTuple):
    dtau_dq: _Array
    dtau_dv: _Array
    dtau_da: _Array

class _rnea_derivatives(Function):
    def __call__(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: tuple[_Array, ...] | None = None, threads: int = 1) -> _rnea_derivatives_outputs: ...  # type: ignore[override]

rnea_derivatives: _rnea_derivatives

class _aba_derivatives_outputs(NamedTuple):
    da_dq: _Array
    da_dv: _Array
    da_dtau: _Array

class _aba_derivatives(Function):
    def __call__(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, *, out: tuple[_Array, ...] | None = None, threads: int = 1) -> _aba_derivatives_outputs: ...  # type: ignore[override]

aba_derivatives: _aba_derivatives

