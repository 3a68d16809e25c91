"""Lazy calls with Dask arrays: Dask makes a call for every block, when and where it computes the block.

This module does not import Dask unless the caller has, since whoever passes a Dask array has imported it.
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
    """The call that is made for every block.

    The content of the library is sent to each worker of a cluster once, and compiled there for its processor.
    """

    content: Content  # the sources of the library
    digest: str  # identifies the library
    path: tuple[str, ...]  # the attributes that lead from the library to the function: ("step", "rollout")
    dtype: np.dtype[Any]  # of the results
    options: Mapping[str, Any] = field(default_factory=dict)  # keyword arguments of every call
    named: tuple[str, ...] = ()  # the last inputs, if they are passed by name

    def __call__(
        self, signature: SizedSignature, arrays: Sequence[Any], out: Any = None, **options: Any
    ) -> list[Any]:
        """A Dask array for each output, with the same blocks of states as the inputs.

        A block holds whole states; if the elements of a state are in several chunks, the chunks are merged.

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
    """The results of one block; Dask calls this where it computes the block."""
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
    """Dask's signature of the last axes of inputs and outputs, with a name for each:
    (i0_0),(i1_0)->(o0_0,o0_1)."""
    inputs, outputs = (
        ",".join(
            f"({','.join(f'{side}{k}_{axis}' for axis in range(len(x.shape)))})"
            for k, x in enumerate(arguments)
        )
        for side, arguments in (("i", signature.inputs), ("o", signature.outputs))
    )
    return f"{inputs}->{outputs}"
