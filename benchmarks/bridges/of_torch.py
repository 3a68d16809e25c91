"""PyTorch in double on one core: compares `lib.torch` with bound calls; gradients include the values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch

from benchmarks.bridges.turns import Call, Case, Times
from benchmarks.bridges.turns import cases as all_cases


def cases(repetitions: int) -> Iterator[tuple[str, Times]]:
    """The cases. A function that only adds tensors shows PyTorch's own part of a call."""
    torch.set_num_threads(1)
    return all_cases(contestants, repetitions)


def contestants(case: Case, states: int) -> Mapping[str, tuple[Call, Call]]:
    """Values without autograd, and gradients of weighted results by all inputs with autograd."""
    functions = {"lib.torch": getattr(case.library.torch, case.function), "PyTorch, a sum": _sum}
    arrays, weights = case.of(states)
    given, w = [torch.from_numpy(x) for x in arrays], torch.from_numpy(weights)
    return {who: _calls(function, given, w) for who, function in functions.items()}


def _sum(*inputs: Any) -> Any:
    return inputs[-1] + inputs[-2]


def _calls(function: Callable[..., Any], given: list[Any], weights: Any) -> tuple[Call, Call]:
    leaves = [x.clone().requires_grad_() for x in given]

    def gradient() -> object:
        return torch.autograd.grad(function(*leaves), leaves, weights, allow_unused=True)

    return lambda: function(*given), gradient
