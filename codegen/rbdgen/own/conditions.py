"""Comparisons of values that are known only at run time, with which `np.where` chooses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from rbdgen.graph.expression import Expr
from rbdgen.own.errors import TextError

TAKE: Final = "take np.where, np.minimum, np.maximum or np.clip"
"""The remedy that errors name for values on which a text branches."""


@dataclass(frozen=True, eq=False)
class Condition:
    """A comparison, or several of them, with which `np.where` chooses."""

    choose: Callable[[Any, Any], Any]
    """Gives its first argument where the condition holds, else its second one. Both are computed."""

    def __and__(self, other: Condition | bool) -> Condition:
        return Condition(lambda x, y: self.choose(choice(other, x, y), y))

    __rand__ = __and__

    def __or__(self, other: Condition | bool) -> Condition:
        return Condition(lambda x, y: self.choose(x, choice(other, x, y)))

    __ror__ = __or__

    def __invert__(self) -> Condition:
        return Condition(lambda x, y: self.choose(y, x))

    def __bool__(self) -> bool:
        raise TextError(
            f"a comparison of values that are known only at run time is neither true nor false; {TAKE}"
        )


def choice(condition: Any, x: Any, y: Any) -> Any:
    if isinstance(condition, Condition):
        return condition.choose(x, y)
    return x if condition else y


def compared_by(holds: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def compared(x: Any, y: Any) -> Any:
        found = holds(x, y)
        return found if isinstance(found, (bool, np.bool_, Condition)) else Condition(found.select)

    each: Callable[..., Any] = np.frompyfunc(compared, 2, 1)
    return each


def equal(x: Any, y: Any) -> Any:
    if isinstance(x, Condition) or isinstance(y, Condition):
        return (x & y) | (inverted(x) & inverted(y))
    if not (isinstance(x, Expr) or isinstance(y, Expr)):
        return x == y
    return Condition((x <= y).select) & Condition((y <= x).select)


def different(x: Any, y: Any) -> Any:
    found = equal(x, y)
    return ~found if isinstance(found, Condition) else not found


def inverted(x: Any) -> Any:
    return ~x if isinstance(x, Condition) else not x
