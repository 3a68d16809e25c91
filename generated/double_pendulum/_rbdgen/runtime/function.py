"""One compiled function of a robot, callable with NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from ..signature import SizedArgument, SizedSignature
from .compiled import Code, Compiled
from .lazy import LazyCall
from .pickled import Content, function_of
from .sparsity import dense_of, entries_of, sparsity_of


class Function(Compiled):
    """A compiled function: `tau = f(q, v, a)`.

    Leading axes of the inputs broadcast. Arrays of any real dtype and any strides are accepted, and so are
    lists and numbers; C reads arrays of `dtype` in C order in place and converts all others. Several outputs
    come as a named tuple; of Dask arrays the outputs are Dask arrays, computed later. NaN passes through. The
    global interpreter lock is released while C runs. Many
    states go through vectors, a state a lane, with `threads=` by several threads; how many changes no bit of
    the results. A large result lies in memory that an earlier one gave back and does not own it:
    `result.resize` refuses, `numpy.resize` copies.
    `address` and `states_address` are where its C lies, for one state and for many; `identity` names it.
    `help` and editors show its arguments, see `documentation`.

    Raises, on a call:
        ArrayValueError: an array's shape does not fit, `out` cannot be written straight into.
        ArrayTypeError: an array is not of real numbers, too few or too many arguments.
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
        inputs = ", ".join(f"{x.name} {x.shape}" for x in self.signature.inputs)
        outputs = ", ".join(f"{x.name} {x.shape}" for x in self.signature.outputs)
        return f"<{self.__name__}: {inputs} -> {outputs}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled by content: see `pickled`."""
        return function_of, (self._content.revive, self._content.packed, self.__name__)

    @property
    def sparsity(self) -> Any:
        """Where the output may be other than 0: booleans in its shape, of a packed one in that of the dense
        array. Of several outputs a dict, by name. So are `entries`, and what `dense` takes is as results are.
        """
        return self._of_outputs(sparsity_of)

    @property
    def entries(self) -> Any:
        """The indices of these elements, an array an axis, in the order of a packed output's elements."""
        return self._of_outputs(entries_of)

    def dense(self, results: Any) -> Any:
        """Results of a call with packed outputs as dense arrays; outputs that are dense stay as they are."""
        if self._tuple is None:
            return dense_of(self.signature.outputs[0], np.asarray(results))
        pairs = zip(self.signature.outputs, results, strict=True)
        return self._tuple(*(dense_of(output, np.asarray(array)) for output, array in pairs))

    def _of_outputs(self, told: Callable[[SizedArgument], Any]) -> Any:
        outputs = self.signature.outputs
        return told(outputs[0]) if len(outputs) == 1 else {x.name: told(x) for x in outputs}

    @property
    def source(self) -> str:
        """The C of this function."""
        return self._content.text(self._source)
