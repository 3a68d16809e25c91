"""Rollouts on a GPU: a kernel repeats an integration step for given controls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rbdgen.errors import ArrayTypeError
from rbdgen.gpu.kernel import Bound, KernelFunction, Steps
from rbdgen.gpu.machine_code import Loaded
from rbdgen.runtime.rollout import FEEDBACK, MOST_MADE, TERRAIN, RolloutArguments
from rbdgen.signature import SizedSignature


class KernelStep(KernelFunction):
    """An integration step on a GPU, `q_next, v_next = f(q, v, tau, dt)`; `f.rollout` computes many steps."""

    def __init__(
        self, signature: SizedSignature, facts: Mapping[str, Any], loaded: Loaded, real: str
    ) -> None:
        super().__init__(signature, facts, loaded, real)
        self.rollout = KernelRollout(signature, facts, loaded, real)


class KernelRollout(RolloutArguments):
    """Many steps in one launch of a kernel: `states = lib.rollout(q, v, tau, dt)`.

    tau (..., N, nv) has a row for each of N steps. The results are the states after every step, q (..., N,
    nq) and v (..., N, nv), or, with `last=True`, the state after the last step, (..., nq) and (..., nv); the
    latter takes much less memory. The results are equal to those of single steps, bit for bit. Further
    results of a step, such as the impulses of contacts, follow in the same form.

    Arrays are those of `KernelFunction`: leading axes are rollouts, and an input without them, such as
    controls (N, nv), is shared by all rollouts. Further inputs of the step, such as the ground below
    contacts, are the same for all steps. Those that `per_step` names, such as `per_step=["ground"]`, have one
    value for each step instead, (..., N, *shape).

    Raises, on a call, what `KernelFunction` does, and:
        ArrayValueError: tau has no row, or `per_step` names no further input.
        ArrayTypeError: feedback or heights are given, which only rollouts on the host take.
    """

    def __init__(self, step: SizedSignature, facts: Mapping[str, Any], loaded: Loaded, real: str) -> None:
        super().__init__(step)
        self._facts, self._loaded, self._real = facts, loaded, real
        self._made: dict[Steps, KernelFunction] = {}

    def __repr__(self) -> str:
        return f"<{self.__name__}({', '.join(self._names)}) on a GPU>"

    def __call__(
        self,
        *arrays: Any,
        last: bool = False,
        per_step: Sequence[str] = (),
        out: Any = None,
        stream: Any = None,
        **named: Any,
    ) -> Any:
        """Gives the computation to a GPU, as a `KernelFunction` does; the class describes the arguments."""
        return self._of(arrays, named, last, per_step)(*arrays, out=out, stream=stream, **named)

    def bind(
        self,
        *arrays: Any,
        last: bool = False,
        per_step: Sequence[str] = (),
        out: Any = None,
        stream: Any = None,
        **named: Any,
    ) -> Bound:
        """A call with fixed arrays and a fixed stream: see `KernelFunction.bind`."""
        return self._of(arrays, named, last, per_step).bind(*arrays, out=out, stream=stream, **named)

    def _of(
        self, arrays: Sequence[Any], named: dict[str, Any], last: bool, per_step: Sequence[str]
    ) -> KernelFunction:
        """The function that computes as many steps as tau has rows. Arguments that only rollouts on the host
        take are removed from `named` if they are None.
        """
        self._check_last(last)
        for name in (*FEEDBACK, *TERRAIN):
            if name in named and name not in self._names and named.pop(name) is not None:
                raise ArrayTypeError(
                    f"{self.__name__}: {name} is an argument of rollouts on the host only; leave it out, or "
                    "call the step itself"
                )
        steps = Steps(self._count(arrays, named), bool(last), self._apart(per_step))
        made = self._made.get(steps)
        if made is None:
            inputs, outputs = self._inputs(steps.number, steps.apart), self._outputs(steps.number, steps.last)
            signature = SizedSignature(self.__name__, inputs, outputs)
            made = KernelFunction(signature, self._facts, self._loaded, self._real, steps)
            if len(self._made) >= MOST_MADE:
                self._made.clear()
            self._made[steps] = made
        return made
