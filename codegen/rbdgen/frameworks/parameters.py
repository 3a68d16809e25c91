"""`update` of a framework: parameters by name, and log-Cholesky ones, in the framework's own arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rbdgen.runtime import Function, Library
from rbdgen.runtime.log_cholesky import linear_of
from rbdgen.signature import UPDATE, SizedArgument


@dataclass(frozen=True, eq=False, repr=False)
class Update:
    """`update(p)` of p (..., np), a dict by name or None, as `lib.update` takes them; derivatives go through.

    `evaluate`: the function of the framework, of p as C has it; `checked`: an array of the framework, once it
    is found fit for an argument; `stacked`: arrays along a new last axis, broadcast before; `exp`: its own.
    """

    library: Library
    evaluate: Callable[[Any], Any]
    checked: Callable[[Function, SizedArgument, Any], Any]
    stacked: Callable[[Sequence[Any]], Any]
    exp: Callable[[Any], Any]

    def __call__(self, p: Any = None) -> Any:
        parameters, function = self.library.parameters, self.library.functions[UPDATE]
        given = parameters.defaults.astype(function.dtype) if p is None else p
        if isinstance(given, Mapping):
            parameters.check_names(given)
            pairs = zip(parameters.names, parameters.defaults.tolist(), strict=True)
            values = {name: given.get(name, default) for name, default in pairs}
            given = self.stacked(
                [self.checked(function, SizedArgument(name, (), "", ""), x) for name, x in values.items()]
            )
        if parameters.log_cholesky:
            array = self.checked(function, function.signature.inputs[0], given)
            columns = [array[..., k] for k in range(len(parameters.names))]
            for ten in parameters.tens():
                columns[ten] = linear_of(columns[ten], self.exp)
            given = self.stacked(columns)
        return self.evaluate(given)

    def __repr__(self) -> str:
        return repr(self.library.functions[UPDATE])
