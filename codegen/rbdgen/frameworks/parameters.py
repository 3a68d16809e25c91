"""The function `update` for a framework: it takes parameters by name, and converts log-Cholesky parameters in
the framework's own arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rbdgen.runtime import Function, Library
from rbdgen.runtime.log_cholesky import linear_of
from rbdgen.signature import UPDATE, SizedArgument


@dataclass(frozen=True, eq=False, repr=False)
class Update:
    """Computes `update(p)` for p (..., np), a dict by name or None, like `lib.update`, with derivatives.

    `evaluate` is the framework's function of p as C reads it. `checked` returns an array of the framework, or
    raises an error if it does not fit an argument. `stacked` broadcasts arrays and stacks them along a new
    last axis. `exp` is the framework's exponential function.
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
