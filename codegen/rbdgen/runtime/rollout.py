"""Rollouts: C repeats integration steps for given controls, with or without feedback."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isnan
from typing import Any, Final, NamedTuple, Protocol

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
"""The inputs of a rollout with feedback, in addition to those of its step."""

TERRAIN: Final = ("heights", "grid")
"""The inputs of a rollout on uneven ground, in addition to those of its step."""

MOST_MADE: Final = 64
"""The largest number of compiled calls that a `Rollout` keeps, each for another number of steps."""


class Step(Function):
    """An integration step, such as `q_next, v_next = f(q, v, tau, dt)`; `f.rollout` computes many steps."""

    def __init__(
        self, signature: SizedSignature, facts: Mapping[str, Any], content: Content, code: Code, real: str
    ) -> None:
        super().__init__(signature, facts, content, code, real)
        self.rollout = Rollout(signature, facts, code, real, content)

    def looked_at_by(self, look: Look) -> None:
        super().looked_at_by(look)
        self.rollout.looked_at_by(look)


class _Asked(NamedTuple):
    """The properties of a call that determine which compiled call serves it."""

    steps: int
    last: bool
    apart: tuple[str, ...]  # the inputs that have a value for each step
    rows: int  # those of `states`; 0 without feedback
    heights: tuple[int, int] | None  # the numbers of heights along x and y; None without them


GRID: Final = SizedArgument("grid", (4,), "m", "where heights are: x0, y0, dx, dy")


class RolloutArguments:
    """The arguments that rollouts take on the host and on a GPU alike."""

    def __init__(self, step: SizedSignature) -> None:
        self.__name__ = f"{step.name}.rollout"
        assert step.rolling is not None
        self._step, self._rolling = step, step.rolling
        self._names = [x.name for x in step.inputs]
        self._further = [self._names[k] for k in step.rolling.further]

    def _apart(self, per_step: Any) -> tuple[str, ...]:
        """The inputs that have a value for each step, in the order of the step's inputs."""
        asked = per_step if isinstance(per_step, (list, tuple, set, frozenset)) else (per_step,)
        for name in asked:
            if name not in self._further:
                known = ", ".join(self._further)
                remedy = f"it may name: {known}" if known else "its step has no such inputs; leave it out"
                raise ArrayValueError(f"{self.__name__}: per_step names {name!r}; {remedy}")
        return tuple(name for name in self._further if name in asked)

    def _count(self, arrays: Sequence[Any], named: Mapping[str, Any]) -> int:
        """The number of steps, which is the number of rows of tau."""
        control = self._rolling.control
        argument = self._step.inputs[control]
        given = arrays[control] if len(arrays) > control else named.get(argument.name)
        shape = _shape(given)
        if given is None or shape is None:  # missing or ragged; the call itself raises the error
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

    def _check_last(self, last: Any) -> None:
        if not isinstance(last, (bool, np.bool_)):
            raise ArrayTypeError(f"{self.__name__}: last is {type(last).__name__}; pass True or False")

    def _inputs(self, steps: int, apart: Sequence[str]) -> tuple[SizedArgument, ...]:
        """The inputs of a rollout, where the control and the inputs `apart` have a value for each step."""
        control = self._names[self._rolling.control]
        return tuple(_each(x, steps) if x.name in (control, *apart) else x for x in self._step.inputs)

    def _outputs(
        self, steps: int, last: bool, more: Sequence[SizedArgument] = ()
    ) -> tuple[SizedArgument, ...]:
        """The results of a rollout, of all steps or of the last one; `more` follow those of the step."""
        state = self._rolling.state
        results = (*self._step.inputs[:state], *self._step.outputs[state:], *more)
        return results if last else tuple(_each(x, steps) for x in results)


class Rollout(RolloutArguments):
    """Many steps in one call of C: `states = lib.rollout(q, v, tau, dt)`.

    tau (..., N, nv) has a row for each of N steps. The results are the states after every step, q (..., N,
    nq) and v (..., N, nv), or, with `last=True`, the state after the last step, (..., nq) and (..., nv).
    Leading axes broadcast; a single number dt is used for all rollouts. The results are equal to those of
    single steps, bit for bit. Further results of a step, such as the impulses of contacts, follow in the same
    form. Many rollouts run in SIMD vectors, with one rollout per lane, and with `threads=` on several
    threads. If `out=` is given, it is filled and returned.

    Further inputs of the step, such as the ground below contacts, are the same for all steps of a rollout.
    Those that `per_step` names, such as `per_step=["ground"]`, have one value for each step instead, (..., N,
    *shape).

    With feedback, `lib.rollout(q, v, tau, dt, gains=K, states=xs)` applies in step k

        u_k = tau_k + K_k (x_k - xs_k),    x_k - xs_k = [difference(qs_k, q_k), v_k - vs_k],

    where x_k is the state before the step. `gains` (..., N, nv, 2 nv) has the matrices K_k; their columns
    belong to the tangent space of q, then to v. `states` (..., N, nq + nv) has the states xs_k =
    [qs_k, vs_k]; it may have one more row, the state at the end, which is not read. The results then have
    one more part, the controls u_k (..., N, nv), or, with `last=True`, the last control. The function
    `difference` must have been generated.

    On uneven ground, `lib.rollout(..., heights=H, grid=(x0, y0, dx, dy))` gives `contact_step` the plane that
    touches the ground below each point and each corner of a sole, from its position before the step.
    H[..., i, j] is the height at x0 + i dx, y0 + j dy, with bilinear interpolation between; outside, the
    ground goes on level from the border. The function `contact_pose` must have been generated.

    Raises, on a call:
        ArrayValueError: a shape does not fit, tau has no row, or `per_step` names no further input.
        ArrayTypeError: an array is not of real numbers, there are too few or too many arguments, or
            `difference` or `contact_pose` was not generated.
    """

    def __init__(
        self, step: SizedSignature, facts: Mapping[str, Any], code: Code, real: str, content: Content
    ) -> None:
        super().__init__(step)
        self._content, self._code, self._real = content, code, real
        self._symbol: str = facts["symbol"]
        self._operations: int = facts["operations"]["total"]
        self._ground = next((k for k, x in enumerate(step.inputs) if x.kind == "planes"), None)
        self._made: dict[_Asked, Compiled] = {}
        self._look: Look | None = None

    def __repr__(self) -> str:
        feedback = ", gains=None, states=None" if self._rolling.feedback else ""
        terrain = ", heights=None, grid=None" if self._ground is not None else ""
        return f"<{self.__name__}({', '.join(self._names)}{feedback}{terrain})>"

    def __call__(
        self,
        *arrays: npt.ArrayLike,
        last: bool = False,
        per_step: Sequence[str] = (),
        out: Any = None,
        threads: int = 1,
        **named: Any,
    ) -> Any:
        """Returns the states after every step, or after the last one; the class describes the arguments."""
        call = self._of(arrays, named, last, per_step)
        return call(*arrays, out=out, threads=threads, **named)

    def bind(
        self,
        *arrays: Any,
        last: bool = False,
        per_step: Sequence[str] = (),
        out: Any = None,
        threads: int = 1,
        **named: Any,
    ) -> Any:
        """Returns a call without arguments, which reads the same arrays every time: see `Compiled.bind`."""
        return self._of(arrays, named, last, per_step).bind(*arrays, out=out, threads=threads, **named)

    def looked_at_by(self, look: Look) -> None:
        """Passes the inputs of every later call to `look`."""
        self._look = look
        self._made.clear()

    def _of(
        self, arrays: Sequence[Any], named: dict[str, Any], last: bool, per_step: Sequence[str]
    ) -> Compiled:
        """The compiled call for as many steps as tau has rows. Removes inputs that are None from `named`."""
        self._check_last(last)
        optional = (*FEEDBACK, *(TERRAIN if self._ground is not None else ()))
        for name in optional:
            if name in named and named[name] is None:
                del named[name]
        steps, rows, heights = self._count(arrays, named), 0, None
        if any(name in named for name in FEEDBACK):
            rows = self._rows(named.get("states"), steps)
        apart = self._apart(per_step)
        if any(name in named for name in TERRAIN if name in optional):
            heights = self._heights(arrays, named, apart)
        key = _Asked(steps, bool(last), apart, rows, heights)
        made = self._made.get(key)
        if made is None:
            made = self._compiled(key)
            if len(self._made) >= MOST_MADE:
                self._made.clear()
            self._made[key] = made
        return made

    def _heights(
        self, arrays: Sequence[Any], named: Mapping[str, Any], apart: tuple[str, ...]
    ) -> tuple[int, int]:
        """The numbers of heights along x and y."""
        assert self._ground is not None
        ground = self._names[self._ground]
        if len(arrays) > self._ground or ground in named or ground in apart:
            raise ArrayTypeError(f"{self.__name__}: heights take the place of {ground}; pass one of them")
        if not hasattr(self._code.lib, f"{self._symbol}_rollout_terrain_states"):
            raise ArrayTypeError(
                f"{self.__name__}: heights take the function contact_pose of the same contacts, which was "
                f"not generated; ask for it too, or pass {ground}"
            )
        shape = _shape(named.get("heights"))
        if shape is None or len(shape) < 2 or min(shape[-2:]) < 2:
            told = "is missing" if "heights" not in named else f"has shape {shape}"
            raise ArrayValueError(
                f"{self.__name__}: heights {told}; pass heights along x and y, (..., 2 or more, 2 or more)"
            )
        return shape[-2], shape[-1]

    def _rows(self, states: Any, steps: int) -> int:
        """The number of rows of `states`: one for each step, or one more for the state at the end."""
        if not self._rolling.feedback:
            raise ArrayTypeError(
                f"{self.__name__}: feedback takes a step whose state is q and v; leave gains and states out"
            )
        if not hasattr(self._code.lib, f"{self._symbol}_rollout_feedback_states"):
            raise ArrayTypeError(
                f"{self.__name__}: feedback takes the function difference, which was not generated; ask for "
                "it too, or leave gains and states out"
            )
        shape = _shape(states)
        return steps + 1 if shape is not None and shape[-2:-1] == (steps + 1,) else steps

    def _compiled(self, asked: _Asked) -> Compiled:
        """The compiled call that is asked for."""
        steps, last, apart, rows, heights = asked
        taken, rolling = self._step.inputs, self._rolling
        states, control = taken[: rolling.state], taken[rolling.control]
        inputs = self._inputs(steps, apart)
        operations, way = self._operations, "rollout"
        if rows:
            tangent = 2 * control.size
            gains = SizedArgument("gains", (steps, control.size, tangent), "", "feedback matrices")
            whole = (rows, sum(x.size for x in states))
            inputs = (*inputs, gains, SizedArgument("states", whole, "", "where the feedback is 0"))
            operations += 2 * control.size * tangent
        if heights:
            inputs = (*inputs, SizedArgument("heights", heights, "m", "heights of the ground"), GRID)
        way += ("_terrain" if heights else "") + ("_feedback" if rows else "")
        outputs = self._outputs(steps, last, [control] if rows else [])
        dtype = np.dtype(np.float32 if self._real == "float" else np.float64)
        path, options = (self._step.name, "rollout"), {"last": last, "per_step": apart}
        further = [taken[k] for k in rolling.further]
        strides = [x.size if x.name in apart else 0 for x in further]
        compiled = Compiled(
            SizedSignature(self.__name__, inputs, outputs),
            self._code,
            self._real,
            (None, f"{self._symbol}_{way}_states"),
            operations * steps,
            LazyCall(self._content, self._code.digest, path, dtype, options, (*FEEDBACK, *TERRAIN)),
            (steps, int(last), *strides, *(heights or ())),
        )
        if self._look is not None:
            compiled.looked_at_by(self._look)
        return compiled


class AnyRollout(Protocol):
    """The rollouts of one integration step, on the host or on a GPU."""

    def __call__(self, *arrays: Any, **options: Any) -> Any: ...

    def bind(self, *arrays: Any, **options: Any) -> Any: ...


class Rollouts:
    """`lib.rollout(q, v, tau, dt)` computes many steps in one call, with the first step that was generated.

    `scheme` is the name of another step, such as "step_rk4". The other arguments of `lib.rollout` and of
    `lib.rollout.bind` are those of `lib.step.rollout`: see `Rollout`, or `KernelRollout` for a library on a
    GPU.
    """

    def __init__(self, steps: Mapping[str, AnyRollout]) -> None:
        self._steps = steps

    def __repr__(self) -> str:
        return f"<rollouts of {', '.join(self._steps) or 'no step of integration'}>"

    def __call__(self, *arrays: npt.ArrayLike, scheme: str | None = None, **options: Any) -> Any:
        """Returns the states after every step, or after the last one."""
        return self._of(scheme)(*arrays, **options)

    def bind(self, *arrays: npt.ArrayLike, scheme: str | None = None, **options: Any) -> Any:
        """Returns a call without arguments that reads the same arrays every time."""
        return self._of(scheme).bind(*arrays, **options)

    def _of(self, scheme: str | None) -> AnyRollout:
        if not self._steps:
            raise ArrayTypeError("rollout: no step of integration was generated; ask for step or step_rk4")
        if scheme is not None and scheme not in self._steps:
            raise ArrayValueError(
                f"rollout: no scheme {scheme!r} was generated; there are: {', '.join(self._steps)}"
            )
        return self._steps[scheme or next(iter(self._steps))]


def _each(argument: SizedArgument, steps: int) -> SizedArgument:
    """The argument with one value for each step, which has no default."""
    return replace(argument, shape=(steps, *argument.shape), default=None)


def _shape(given: Any) -> tuple[int, ...] | None:
    """The shape of an argument; None for ragged lists, and Dask arrays with chunks of unknown size."""
    try:
        own = getattr(given, "shape", None)  # NumPy cannot read an array on a GPU
        shape = tuple(own if isinstance(own, tuple) else np.shape(given))
    except ValueError:
        return None
    return None if any(map(isnan, shape)) else shape
