"""Calls with Dask arrays, which are put off: Dask makes them block by block, when and where it computes.

Whoever has a Dask array has imported Dask; nothing here imports it for anybody else.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from math import isnan
from typing import Any

import numpy as np

from ..errors import ArrayTypeError, ArrayValueError
from ..signature import SizedArgument, SizedSignature
from .arrays import as_real, check_real, leading_axes
from .pickled import Content


@dataclass(frozen=True)
class LazyCall:
    """What is called on each block: `path`, such as ("step", "rollout"), leads from the library to it.

    `content`: of its library, which goes to each worker of a cluster once and is compiled there, for the
    worker's processor; `digest`: names it; `dtype`: of the results; `options`: of every call; `named`: the
    last inputs, where they are passed by name.
    """

    content: Content
    digest: str
    path: tuple[str, ...]
    dtype: np.dtype[Any]
    options: Mapping[str, Any] = field(default_factory=dict)
    named: tuple[str, ...] = ()

    def __call__(
        self, signature: SizedSignature, arrays: Sequence[Any], out: Any = None, **options: Any
    ) -> list[Any]:
        """A Dask array for each output, in blocks of states as the inputs are.

        Blocks are whole states: elements of a state that lie in several chunks come into one.

        Raises:
            ArrayTypeError: an array is not of real numbers, or its blocks are not NumPy's.
            ArrayValueError: a shape does not fit, or is not known before it is computed.
        """
        import dask.array as da  # noqa: PLC0415
        from dask import delayed  # noqa: PLC0415

        if out is not None:
            raise ArrayTypeError(
                f"{signature.name}: out cannot be given with Dask arrays; leave it out, and write results "
                "with dask.array.store"
            )
        pairs = zip(signature.inputs, arrays, strict=True)
        blocks = [in_whole_states(signature.name, argument, array) for argument, array in pairs]
        leading_axes(signature.name, signature, blocks)
        results = da.apply_gufunc(
            _block,
            _axes(signature),
            *_alike(signature, blocks),
            output_dtypes=[self.dtype] * len(signature.outputs),
            output_sizes={
                f"o{k}_{axis}": length
                for k, x in enumerate(signature.outputs)
                for axis, length in enumerate(x.shape)
            },
            content=delayed(self.content, name=f"rbdgen-{self.digest}", pure=True),
            path=self.path,
            named=tuple(x.name for x in signature.inputs if x.name in self.named),
            options={**self.options, **options},
        )
        return [results] if len(signature.outputs) == 1 else list(results)


def _block(
    *arrays: Any, content: Any, path: tuple[str, ...], named: tuple[str, ...], options: Mapping[str, Any]
) -> Any:
    """The results of one block, where Dask computes it."""
    call = reduce(getattr, path, content.library)
    first = len(arrays) - len(named)
    others = {sys.intern(name): array for name, array in zip(named, arrays[first:], strict=True)}
    results = call(*arrays[:first], **others, **options)
    return tuple(results) if isinstance(results, tuple) else results


def in_whole_states(caller: str, argument: SizedArgument, array: Any) -> Any:
    """The argument as a Dask array whose last axes, those of one state, are in one chunk.

    Raises:
        ArrayTypeError: its numbers are not real, or its blocks are not NumPy's.
        ArrayValueError: its shape does not fit, or is not known before it is computed.
    """
    import dask.array as da  # noqa: PLC0415

    if not isinstance(array, da.Array):
        return da.from_array(as_real(caller, argument, array), chunks=-1)
    kind = type(array._meta)
    if kind is not np.ndarray:
        raise ArrayTypeError(
            f"{caller}: the blocks of {argument.name} are of type {kind.__name__}; pass a Dask array of "
            "NumPy arrays"
        )
    if any(map(isnan, array.shape)):
        raise ArrayValueError(
            f"{caller}: {argument.name} has chunks of unknown size; call its compute_chunk_sizes() first"
        )
    check_real(caller, argument, array.dtype, array.shape)
    own = range(array.ndim - len(argument.shape), array.ndim)
    return array.rechunk(dict.fromkeys(own, -1))


def _alike(signature: SizedSignature, blocks: Sequence[Any]) -> list[Any]:
    """The arrays with the same chunks along the leading axes that they share."""
    from dask.array.core import unify_chunks  # noqa: PLC0415

    indexed: list[Any] = []
    for k, (argument, array) in enumerate(zip(signature.inputs, blocks, strict=True)):
        leading = array.ndim - len(argument.shape)
        own = [(k, axis) for axis in range(len(argument.shape))]
        indexed += [array, (*range(-leading, 0), *own)]
    _, arrays = unify_chunks(*indexed)
    return list(arrays)


def _axes(signature: SizedSignature) -> str:
    """The last axes of inputs and outputs, each one by a name of its own: (i0_0),(i1_0)->(o0_0,o0_1)."""
    inputs, outputs = (
        ",".join(
            f"({','.join(f'{side}{k}_{axis}' for axis in range(len(x.shape)))})"
            for k, x in enumerate(arguments)
        )
        for side, arguments in (("i", signature.inputs), ("o", signature.outputs))
    )
    return f"{inputs}->{outputs}"
