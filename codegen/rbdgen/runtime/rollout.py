"""Steps of integration that C repeats: trajectories of given controls, and of controls with feedback."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isnan
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ..errors import ArrayTypeError, ArrayValueError
from ..signature import SizedArgument, SizedSignature
from .compiled import Code, Compiled
from .function import Function
from .lazy import LazyCall
from .pickled import Content
from .plausible import Look

FEEDBACK: Final = ("gains", "states")
"""What a rollout with feedback takes beside the inputs of its step."""

MOST_MADE: Final = 64
"""Different numbers of steps whose calls are kept ready."""


class Step(Function):
    """A step of integration in time: `q_next, v_next = f(q, v, tau, dt)`, and `f.rollout` of many steps."""

    def __init__(
        self, signature: SizedSignature, facts: Mapping[str, Any], content: Content, code: Code, real: str
    ) -> None:
        super().__init__(signature, facts, content, code, real)
        self.rollout = Rollout(signature, facts, code, real, content)

    def looked_at_by(self, look: Look) -> None:
        super().looked_at_by(look)
        self.rollout.looked_at_by(look)


class Rollout:
    """Many steps in one call of C: `states = lib.rollout(q, v, tau, dt)`.

    tau (..., N, nv) has a row for each of N steps. The results are q (..., N, nq) and v (..., N, nv), the
    states after every step, or with `last=True` those after the last step alone, (..., nq) and (..., nv).
    Leading axes broadcast; a number of dt holds for all rollouts. The bits are those of single steps. Many
    rollouts go through vectors, one a lane, with `threads=` by several threads; `out=` is written to and
    given back.

    With feedback, `lib.rollout(q, v, tau, dt, gains=K, states=xs)` applies in step k

        u_k = tau_k + K_k (x_k - xs_k),    x_k - xs_k = [difference(qs_k, q_k), v_k - vs_k],

    where x_k is the state before the step. `gains` (..., N, nv, 2 nv) has the matrices K_k, by rows of tau
    and columns of the tangent space, first of q, then of v. `states` (..., N, nq + nv) has the states xs_k =
    [qs_k, vs_k]; one row more, the state at the end, is not read. The results then have a third part: tau
    (..., N, nv), the controls u_k, with `last=True` the last one. The function `difference` must have been
    generated.

    Raises, on a call:
        ArrayValueError: a shape does not fit, or there is no step.
        ArrayTypeError: an array is not of real numbers, too few or too many arguments, no `difference`.
    """

    def __init__(
        self, step: SizedSignature, facts: Mapping[str, Any], code: Code, real: str, content: Content
    ) -> None:
        self._content = content
        self.__name__ = f"{step.name}.rollout"
        self._step, self._code, self._real = step, code, real
        self._symbol: str = facts["symbol"]
        self._operations: int = facts["operations"]["total"]
        self._names = [x.name for x in step.inputs]
        self._control = next(k for k, x in enumerate(step.inputs) if x.kind == "force")
        self._made: dict[tuple[int, int, bool], Compiled] = {}
        self._look: Look | None = None

    def __repr__(self) -> str:
        return f"<{self.__name__}({', '.join(self._names)}, gains=None, states=None)>"

    def __call__(
        self, *arrays: npt.ArrayLike, last: bool = False, out: Any = None, threads: int = 1, **named: Any
    ) -> Any:
        """The states after every step; see the class."""
        return self._of(arrays, named, last)(*arrays, out=out, threads=threads, **named)

    def bind(self, *arrays: Any, last: bool = False, out: Any = None, threads: int = 1, **named: Any) -> Any:
        """A call without arguments, as `bind` of any function: it reads the same arrays at every call."""
        return self._of(arrays, named, last).bind(*arrays, out=out, threads=threads, **named)

    def looked_at_by(self, look: Look) -> None:
        """From now on `look` sees the inputs of every call."""
        self._look = look
        self._made.clear()

    def _of(self, arrays: Sequence[Any], named: dict[str, Any], last: bool) -> Compiled:
        """The call for as many steps as there are controls; leaves None out of `named`."""
        if not isinstance(last, (bool, np.bool_)):
            raise ArrayTypeError(f"{self.__name__}: last is {type(last).__name__}; pass True or False")
        for name in FEEDBACK:
            if name in named and named[name] is None:
                del named[name]
        steps, rows = self._count(arrays, named), 0
        if any(name in named for name in FEEDBACK):
            rows = self._rows(named.get("states"), steps)
        key = steps, rows, bool(last)
        if key not in self._made:
            if len(self._made) >= MOST_MADE:
                self._made.clear()
            self._made[key] = self._compiled(*key)
        return self._made[key]

    def _count(self, arrays: Sequence[Any], named: Mapping[str, Any]) -> int:
        """How many steps, by the shape of what is given for each of them."""
        argument = self._step.inputs[self._control]
        given = arrays[self._control] if len(arrays) > self._control else named.get(argument.name)
        shape = _shape(given)
        if given is None or shape is None:  # missing, or ragged: refused with all others
            return 1
        if len(shape) < 2:
            raise ArrayValueError(
                f"{self.__name__}: {argument.name} has shape {shape}, expected (..., N, {argument.size}), a "
                "row for each of N steps"
            )
        if shape[-2] == 0:
            raise ArrayValueError(
                f"{self.__name__}: {argument.name} has shape {shape}; give one step at least"
            )
        return shape[-2]

    def _rows(self, states: Any, steps: int) -> int:
        """Rows of `states`: one for each step, or with the state at the end one more."""
        if not hasattr(self._code.lib, f"{self._symbol}_rollout_feedback_states"):
            raise ArrayTypeError(
                f"{self.__name__}: feedback takes the function difference, which was not generated; ask for "
                "it too, or leave gains and states out"
            )
        shape = _shape(states)
        return steps + 1 if shape is not None and shape[-2:-1] == (steps + 1,) else steps

    def _compiled(self, steps: int, rows: int, last: bool) -> Compiled:
        """C for so many steps; `rows`: of the states of a feedback, 0 where there is none."""
        taken, states = self._step.inputs, self._step.inputs[: len(self._step.outputs)]
        control = taken[self._control]
        inputs = tuple(_each(x, steps) if x is control else x for x in taken)
        results, operations, way = states, self._operations, "rollout"
        if rows:
            tangent = 2 * control.size
            gains = SizedArgument("gains", (steps, control.size, tangent), "", "feedback matrices")
            whole = (rows, sum(x.size for x in states))
            inputs = (*inputs, gains, SizedArgument("states", whole, "", "where the feedback is 0"))
            results, way = (*states, control), "rollout_feedback"
            operations += 2 * control.size * tangent
        outputs = results if last else tuple(_each(x, steps) for x in results)
        dtype = np.dtype(np.float32 if self._real == "float" else np.float64)
        path = self._step.name, "rollout"
        compiled = Compiled(
            SizedSignature(self.__name__, inputs, outputs),
            self._code,
            self._real,
            (None, f"{self._symbol}_{way}_states"),
            operations * steps,
            LazyCall(self._content, self._code.digest, path, dtype, {"last": last}, FEEDBACK),
            (steps, int(last)),
        )
        if self._look is not None:
            compiled.looked_at_by(self._look)
        return compiled


class Rollouts:
    """`lib.rollout(q, v, tau, dt)`: many steps in one call, of the first step that was generated.

    `scheme`: the name of another one, such as "step_rk4". `lib.rollout.bind(...)` takes the same arguments,
    which are those of `lib.step.rollout`: see `Rollout`.
    """

    def __init__(self, steps: Mapping[str, Rollout]) -> None:
        self._steps = steps

    def __repr__(self) -> str:
        return f"<rollouts of {', '.join(self._steps) or 'no step of integration'}>"

    def __call__(self, *arrays: npt.ArrayLike, scheme: str | None = None, **options: Any) -> Any:
        """The states after every step: see `Rollout`."""
        return self._of(scheme)(*arrays, **options)

    def bind(self, *arrays: npt.ArrayLike, scheme: str | None = None, **options: Any) -> Any:
        """A call without arguments that reads the same arrays every time: see `Rollout`."""
        return self._of(scheme).bind(*arrays, **options)

    def _of(self, scheme: str | None) -> Rollout:
        if not self._steps:
            raise ArrayTypeError("rollout: no step of integration was generated; ask for step or step_rk4")
        if scheme is not None and scheme not in self._steps:
            raise ArrayValueError(
                f"rollout: no scheme {scheme!r} was generated; there are: {', '.join(self._steps)}"
            )
        return self._steps[scheme or next(iter(self._steps))]


def _each(argument: SizedArgument, steps: int) -> SizedArgument:
    """One for each step."""
    return replace(argument, shape=(steps, *argument.shape))


def _shape(given: Any) -> tuple[int, ...] | None:
    """Its shape, None where it has none: of a ragged list, of a Dask array with chunks of unknown size."""
    if isinstance(given, np.ndarray):
        return tuple(given.shape)
    try:
        shape = tuple(np.shape(given))
    except ValueError:
        return None
    return None if any(map(isnan, shape)) else shape
