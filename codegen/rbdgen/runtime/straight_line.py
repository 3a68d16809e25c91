"""A recorded formula: a straight line of scalar operations as a text, which runs on any scalars.

The text of x y + 1/2, with the inputs x and y, is `mul 0 1, 0.5, add 2 3 -> 4`. Inputs have the numbers 0,
1, and so on, over all arrays; every step, an operation or a constant, has the next number. The numbers after
the arrow are the results.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import numpy as np

Columns = Sequence[Any]
"""Elements of q or v: each is a number, an array with one number a state, or a scalar under construction."""


def sign_of(x: Any) -> Any:
    """The sign of x: 1, 0 or -1."""
    return x.sign() if hasattr(x, "sign") else np.sign(x)


OPERATIONS: Final[Mapping[str, Callable[..., Any]]] = MappingProxyType(
    {
        "add": operator.add,
        "sub": operator.sub,
        "mul": operator.mul,
        "div": operator.truediv,
        "neg": operator.neg,
        "sq": lambda x: x * x,
        "sqrt": np.sqrt,
        "sin": np.sin,
        "cos": np.cos,
        "sign": sign_of,
    }
)


@dataclass(frozen=True)
class StraightLine:
    """The operations of a formula in order, each with the numbers of its operands, and the results."""

    steps: tuple[tuple[str, tuple[int, ...]], ...]
    """The name of an operation with the numbers of its operands, or the text of a constant without any."""
    results: tuple[int, ...]

    @classmethod
    def of(cls, text: str) -> StraightLine:
        """The formula that a text describes."""
        line, _, results = text.partition("->")
        steps = (step.split() for step in line.split(",") if step.strip())
        return cls(
            tuple((name, tuple(map(int, operands))) for name, *operands in steps),
            tuple(map(int, results.split())),
        )

    @property
    def text(self) -> str:
        """The text that describes the formula."""
        steps = ", ".join(" ".join((name, *map(str, operands))) for name, operands in self.steps)
        return f"{steps} -> {' '.join(map(str, self.results))}".strip()

    def __call__(self, *inputs: Columns) -> list[Any]:
        """The results for these input arrays, each given element by element."""
        values = [element for columns in inputs for element in columns]
        for name, operands in self.steps:
            if (operation := OPERATIONS.get(name)) is None:
                values.append(float(name))
            else:
                values.append(operation(*[values[k] for k in operands]))
        return [values[k] for k in self.results]
