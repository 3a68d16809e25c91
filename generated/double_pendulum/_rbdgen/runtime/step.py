"""A compiled function that gives the state that it takes, a time step later: C can repeat it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import ArrayTypeError, ArrayValueError
from ..signature import SizedArgument, SizedSignature
from .arrays import as_real, leading_axes, states
from .function import Code, Function, pieces
from .pickled import Content, results_type


class Step(Function):
    """A step of integration in time: `q_next, v_next = f(q, v, tau, dt)`, and `f.rollout` of many steps."""

    def __init__(
        self, signature: SizedSignature, facts: Mapping[str, Any], content: Content, code: Code, real: str
    ) -> None:
        super().__init__(signature, facts, content, code, real)
        self._operations = max(1, facts["operations"]["total"])
        self._repeat = getattr(code.lib, f"{facts['symbol']}_rollout_states")
        names = (x.name for x in signature.inputs[: len(signature.outputs)])
        self._rolled = results_type(f"{self.__name__}_rollout", tuple(names))

    def rollout(
        self, *arrays: npt.ArrayLike, last: bool = False, threads: int = 1, **named: npt.ArrayLike
    ) -> Any:
        """`f.rollout(q, v, tau, dt)`: the states after every step, tau (..., N, nv) that of every step.

        Gives q (..., N, nq) and v (..., N, nv); with `last` those after the last step alone, (..., nq) and
        (..., nv). Leading axes broadcast; a number of dt holds for all. The bits are those of single steps.
        Many rollouts go through vectors, one a lane, with `threads=` by several threads.

        Raises:
            ArrayValueError: a shape does not fit, or there is no step.
            ArrayTypeError: an array is not of real numbers, too few or too many arguments.
        """
        caller = f"{self.__name__}.rollout"
        threads = self._threads(threads, caller)
        if not isinstance(last, (bool, np.bool_)):
            raise ArrayTypeError(f"{caller}: last is {type(last).__name__}; pass True or False")
        given = self.inputs(arrays, named, caller)
        steps = self._count(caller, given)

        def repeated(argument: SizedArgument) -> SizedArgument:
            return replace(argument, shape=(steps, *argument.shape))

        inputs = tuple(repeated(x) if x.kind == "force" else x for x in self.signature.inputs)
        outputs = self.signature.outputs if last else tuple(map(repeated, self.signature.outputs))
        real = [as_real(caller, x, array) for x, array in zip(inputs, given, strict=True)]
        leading = leading_axes(caller, SizedSignature(caller, inputs, outputs), real)
        results = [self._new(x, leading, caller)[0] for x in outputs]
        pairs = [states(array, x, leading, self.dtype) for x, array in zip(inputs, real, strict=True)]
        told = self._steps([*(step for _, step in pairs), steps, int(last)])
        pairs += [(array, x.size) for array, x in zip(results, outputs, strict=True)]
        pointers = [(self._pointer(array), step) for array, step in pairs]
        most, grain = pieces(self._operations * steps)
        count = prod(leading)
        for first in range(0, count, most * threads):
            places = self._places([pointer + first * step for pointer, step in pointers])
            self._repeat(threads, False, grain, min(most * threads, count - first), places, told)
        return self._rolled(*results)

    def _count(self, caller: str, given: Sequence[Any]) -> int:
        """How many steps, by the shape of what is given for each of them."""
        (argument, array), *_ = (
            pair for pair in zip(self.signature.inputs, given, strict=True) if pair[0].kind == "force"
        )
        try:
            shape = np.shape(array)
        except ValueError:  # ragged lists, which are refused with the others
            return 1
        if len(shape) < 2:
            raise ArrayValueError(
                f"{caller}: {argument.name} has shape {shape}, expected (..., N, {argument.size}), a row for "
                "each of N steps"
            )
        if shape[-2] == 0:
            raise ArrayValueError(f"{caller}: {argument.name} has shape {shape}; give one step at least")
        return int(shape[-2])
