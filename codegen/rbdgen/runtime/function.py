"""One compiled function of a robot, callable with NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from ..signature import SizedArgument, SizedSignature
from .compiled import Code, Compiled
from .documentation import told
from .lazy import LazyCall
from .pickled import Content, function_of
from .sparsity import dense_of, entries_of, sparsity_of


class Function(Compiled):
    """A compiled function: `tau = f(q, v, a)`.

    Leading axes of the inputs broadcast. Arrays of any real dtype and any strides are accepted, and so are
    lists and numbers. Arrays of `dtype` in C order are read in place; all others are converted. Several
    outputs are returned as a named tuple. If an input is a Dask array, the outputs are Dask arrays, which are
    computed later. NaN in inputs leads to NaN in outputs. The global interpreter lock is released while C
    runs.

    Many states run in SIMD vectors, with one state per lane, and with `threads=` on several threads; the
    results do not depend on the number of threads. A large result may reuse the memory of an earlier one. It
    does not own this memory, so `result.resize` raises an error, while `numpy.resize` copies.

    Attributes:
        address: the address of the C function for one state.
        states_address: the address of the C function for many states.
        identity: a text that identifies the compiled code.
        cost: the number of operations of each kind.

    Raises, on a call:
        ArrayValueError: the shape of an array does not fit, or results cannot be written to `out`.
        ArrayTypeError: an array is not of real numbers, or there are too few or too many arguments.
    """

    def __init__(
        self, signature: SizedSignature, facts: Mapping[str, Any], content: Content, code: Code, real: str
    ) -> None:
        symbol, real_type = facts["symbol"], np.float32 if real == "float" else np.float64
        symbols = f"{symbol}_call", f"{symbol}_states"
        lazy = LazyCall(content, code.digest, (signature.name,), np.dtype(real_type))
        super().__init__(signature, code, real, symbols, facts["operations"]["total"], lazy)
        self.cost: Mapping[str, int] = MappingProxyType(facts["operations"])
        self._content = content
        self._source: str = facts["source"]
        self.identity = f"{code.digest}:{symbol}"

    def __repr__(self) -> str:
        inputs, outputs = map(told, (self.signature.inputs, self.signature.outputs))
        return f"<{self.__name__}: {inputs} -> {outputs}; {self.cost['total']} operations>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the sources of the library, see `pickled`."""
        return function_of, (self._content.revive, self._content.packed, self.__name__)

    @property
    def sparsity(self) -> Any:
        """Whether each element of the output is not always 0, as booleans in the shape of the output.

        For a packed output, the shape is that of the dense array. For several outputs it is a dict by name.
        """
        return self._of_outputs(sparsity_of)

    @property
    def entries(self) -> Any:
        """The indices of the elements that are not always 0, one array per axis, in the order of a packed
        output.

        For several outputs it is a dict by name.
        """
        return self._of_outputs(entries_of)

    def dense(self, results: Any) -> Any:
        """The results of a call as dense arrays; outputs that are not packed are returned unchanged."""
        if self._tuple is None:
            return dense_of(self.signature.outputs[0], np.asarray(results))
        pairs = zip(self.signature.outputs, results, strict=True)
        return self._tuple(*(dense_of(output, np.asarray(array)) for output, array in pairs))

    def _of_outputs(self, told: Callable[[SizedArgument], Any]) -> Any:
        outputs = self.signature.outputs
        return told(outputs[0]) if len(outputs) == 1 else {x.name: told(x) for x in outputs}

    @property
    def source(self) -> str:
        """The C source of this function."""
        return self._content.text(self._source)
