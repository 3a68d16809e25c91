"""Functions of CasADi that check the configurations in calls with numbers."""

from __future__ import annotations

from typing import Any

import casadi
import numpy as np

from rbdgen.runtime import Library
from rbdgen.signature import SizedSignature


class Looking(casadi.Function):
    """A function that warns of configurations that look like a mistake, see `Library.check_states`.

    It checks calls with numbers, but neither calls with symbols nor the calls of solvers.
    """

    def __init__(self, function: Any, library: Library, signature: SizedSignature) -> None:
        super().__init__(function)
        self._library = library
        self._looked_at = [
            (k, x.name, f"{signature.name}: {x.name}")
            for k, x in enumerate(signature.inputs)
            if x.kind == "configuration"
        ]

    def __call__(self, *given: Any, **named: Any) -> Any:
        for k, name, where in self._looked_at:
            value = given[k] if k < len(given) else named.get(name)
            if value is not None and not isinstance(value, (casadi.MX, casadi.SX)):
                self._look(where, value)
        return super().__call__(*given, **named)

    def _look(self, where: str, value: Any) -> None:
        """Checks the columns of a value, each of which is a state.

        Values that cannot be read are ignored, because CasADi refuses them.
        """
        nq = self._library.nq
        try:
            q = np.asarray(casadi.DM(value) if isinstance(value, (list, tuple)) else value, float)
        except (TypeError, ValueError, RuntimeError, NotImplementedError):
            return
        if q.size and q.ndim <= 2 and len(np.atleast_1d(q)) == nq:
            self._library.plausible.tell(where, q.reshape(nq, -1).T, stacklevel=3)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles and copies as a plain function of CasADi, without the check."""
        return casadi.Function.deserialize, (self.serialize(),)


def looking(function: Any, library: Library, signature: SizedSignature) -> Any:
    """The function, as a `Looking` function if it has configurations."""
    some = any(x.kind == "configuration" for x in signature.inputs)
    return Looking(function, library, signature) if some else function
