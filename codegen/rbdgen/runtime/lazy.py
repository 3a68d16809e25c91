"""Lazy calls with Dask arrays: Dask makes a call for every block, when and where it computes the block.

Dask is imported only inside functions, which run if the caller, who has imported Dask, passes a Dask array.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from math import isnan
from typing import Any

import numpy as np

from ..errors import ArrayTypeError, ArrayValueError
from ..signature import SizedArgument, SizedSignature
from .arrays import as_real, check_real, leading_axes
from .pickled import Content

Chunks = Mapping[int, tuple[int, ...]]
"""The sizes of the chunks of each leading axis. The axes have the indices -1, -2, ... from the last one."""

Indexed = Sequence[tuple[Any, tuple[int, ...]]]
"""Arrays with the indices of their axes. Leading axes have those of `Chunks`. The axes of one state have the
indices 0, 1, ...; each is a single chunk, whose length may differ between arrays."""


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
        if out is not None:
            raise ArrayTypeError(
                f"{signature.name}: out cannot be given with Dask arrays; leave it out, and write results "
                "with dask.array.store"
            )
        pairs = zip(signature.inputs, arrays, strict=True)
        whole = [in_whole_states(signature.name, argument, array) for argument, array in pairs]
        leading_axes(signature.name, signature, whole)
        leading, indexed = _alike(signature, whole)
        one, *others = (output.shape for output in signature.outputs)
        results = self._blocks(signature, leading, () if others else one, indexed, options)
        if not others:
            return [results]
        places = [(results, tuple(leading))]
        return [
            _made(signature.name, _part, leading, shape, places, self.dtype, part=k)
            for k, shape in enumerate((one, *others))
        ]

    def _blocks(
        self,
        signature: SizedSignature,
        leading: Chunks,
        shape: tuple[int, ...],
        indexed: Indexed,
        options: Mapping[str, Any],
    ) -> Any:
        """The results of every block, with this shape for each state. Several outputs stay together."""
        from dask import delayed  # noqa: PLC0415

        return _made(
            signature.name,
            _block,
            leading,
            shape,
            indexed,
            self.dtype,
            content=delayed(self.content, name=f"rbdgen-{self.digest}", pure=True),
            path=self.path,
            named=tuple(x.name for x in signature.inputs if x.name in self.named),
            options={**self.options, **options},
        )


def _made(
    name: str,
    function: Callable[..., Any],
    leading: Chunks,
    shape: tuple[int, ...],
    indexed: Indexed,
    dtype: np.dtype[Any],
    **named: Any,
) -> Any:
    """A Dask array, (*leading, *shape), whose blocks a function computes from the blocks of other arrays.

    Dask fuses such layers, so that successive calls are a single task for each block.
    """
    import dask.array as da  # noqa: PLC0415

    own, known = dict(enumerate(shape)), {k for _, indices in indexed for k in indices}
    return da.blockwise(
        function,
        (*leading, *own),
        *(part for pair in indexed for part in pair),
        new_axes={k: length for k, length in own.items() if k not in known},
        adjust_chunks={**leading, **{k: length for k, length in own.items() if k in known}},
        token=name,
        concatenate=False,
        align_arrays=False,
        dtype=dtype,
        meta=np.empty((0,) * (len(leading) + len(shape)), dtype),
        **named,
    )


def _block(
    *blocks: Any, content: Any, path: tuple[str, ...], named: tuple[str, ...], options: Mapping[str, Any]
) -> Any:
    """The results of one block; Dask calls this where it computes the block."""
    arrays = [_only(block) for block in blocks]
    first = len(arrays) - len(named)
    others = {sys.intern(name): array for name, array in zip(named, arrays[first:], strict=True)}
    return reduce(getattr, path, content.library)(*arrays[:first], **others, **options)


def _part(results: Any, part: int) -> Any:
    """Takes one of several outputs."""
    return results[part]


def _only(block: Any) -> Any:
    """The array of a block. Dask nests it in one list for each axis that the outputs do not have; every such
    axis has a single chunk."""
    while isinstance(block, list):
        (block,) = block
    return block


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


def _alike(signature: SizedSignature, arrays: Sequence[Any]) -> tuple[Chunks, Indexed]:
    """The chunks of the leading axes, and the arrays with chunks that agree with them."""
    from dask.array.core import unify_chunks  # noqa: PLC0415

    ranks = [len(argument.shape) for argument in signature.inputs]
    indexed: list[Any] = []
    for k, (rank, array) in enumerate(zip(ranks, arrays, strict=True)):
        indexed += [array, (*range(rank - array.ndim, 0), *((k, axis) for axis in range(rank)))]
    chunks, alike = unify_chunks(*indexed)
    most = max(array.ndim - rank for rank, array in zip(ranks, arrays, strict=True))
    return {k: chunks[k] for k in range(-most, 0)}, [
        (array, (*range(rank - array.ndim, 0), *range(rank)))
        for rank, array in zip(ranks, alike, strict=True)
    ]
