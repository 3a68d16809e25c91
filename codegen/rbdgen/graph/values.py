"""Functions that compute the operations of a graph, on NumPy's arrays and scalars and on objects with
arithmetic.

Every function gives a result of the type of its arguments, so that a graph is computed in one type.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from numbers import Rational
from types import MappingProxyType
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from rbdgen.errors import GraphError
from rbdgen.graph.kernel_constants import CONSTANTS
from rbdgen.graph.kernels import computed

T = TypeVar("T")


def elementary(op: str) -> Callable[[Any], Any]:
    """The function of this name: that of NumPy on arrays of floats, otherwise a method of the objects, or of
    the context that mpmath's numbers have.
    """

    def of_object(x: Any) -> Any:
        if hasattr(x, op):
            return getattr(x, op)()
        if hasattr(x, "context"):
            return getattr(x.context, op)(x)
        if isinstance(x, (float, int)):
            return getattr(math, op)(x)
        raise GraphError(_no_function(op, x))

    of_floats: Callable[[Any], Any] = getattr(np, op)
    of_objects: Callable[[Any], Any] = np.frompyfunc(of_object, 1, 1)
    return lambda x: of_objects(x) if has_objects(x) else of_floats(x)


def _no_function(op: str, x: Any) -> str:
    return f"{op} of a {type(x).__name__}: it has no such method; evaluate in another type"


_IN_NUMPY: Final[Mapping[str, str]] = MappingProxyType(
    {"atan2": "arctan2", "asin": "arcsin", "acos": "arccos"}
)
"""NumPy's names of functions, where they are others."""

_RATIONAL: Final[Mapping[str, tuple[int, int]]] = MappingProxyType(
    {
        "exp": (0, 1),
        "log": (1, 0),
        "tanh": (0, 0),
        "atan2": (0, 0),
        "asin": (0, 0),
        "acos": (1, 0),
        "tan": (0, 0),
    }
)
"""The rational argument for which a function has a rational value, and that value. For atan2 this is the
first argument, and the second must be positive.
"""


def by_kernel(op: str, arity: int = 1) -> Callable[..., Any]:
    """The function of this name: that of `graph/kernels.py` on float32 and float64, and that of NumPy on
    other floats. Objects are expressions of a graph, numbers of mpmath, or fractions, for which the value
    must be a fraction too.
    """

    def of_object(*operands: Any) -> Any:
        x = operands[0]
        if hasattr(x, "context"):
            return getattr(x.context, op)(*operands)
        if isinstance(x, Rational):
            argument, value = _RATIONAL.get(op, (None, 0))
            if x == argument and all(other > 0 for other in operands[1:]):
                return Fraction(value)
        if isinstance(x, float):
            return float(computed(op, *map(np.float64, operands)))
        raise GraphError(_no_function(op, x))

    of_objects = _with_expressions(op, of_object, arity)
    of_floats: Callable[..., Any] = getattr(np, _IN_NUMPY.get(op, op))

    def function(*operands: Any) -> Any:
        if _any_objects(*operands):
            with np.errstate(all="ignore"):
                return of_objects(*operands)
        return computed(op, *operands) if np.result_type(*operands) in CONSTANTS else of_floats(*operands)

    return function


def has_objects(x: Any) -> bool:
    """Whether a value is an object or an array of objects, not an array or a scalar of NumPy's floats."""
    dtype = getattr(x, "dtype", None)
    return dtype is None or dtype.kind == "O"


def sign(x: Any) -> Any:
    """(x > 0) - (x < 0) + 0 x, in the type of x: the difference of two comparisons is an integer, and the sum
    of an integer and a float32 is a float64.
    """
    if has_objects(x):
        return _signs_of_objects(x)
    return np.subtract(x > 0, x < 0, dtype=x.dtype) + (x - x)


def _sign_of_object(x: Any) -> Any:
    return x.sign() if hasattr(x, "sign") else (x > 0) - (x < 0) + 0 * x


_signs_of_objects: Callable[[Any], Any] = np.frompyfunc(_sign_of_object, 1, 1)


def _with_expressions(op: str, compute: Callable[..., Any], arity: int) -> Callable[..., Any]:
    """The function on objects. It builds the operation `op` for expressions of a graph, and calls `compute`
    for others.
    """

    def of_objects(*operands: Any) -> Any:
        expression = next((x for x in operands if hasattr(x, "applied")), None)
        return compute(*operands) if expression is None else expression.applied(op, *operands)

    each: Callable[..., Any] = np.frompyfunc(of_objects, arity, 1)
    return each


def _is_nan(x: Any) -> Any:
    return x != x  # noqa: PLR0124  (true of NaN alone, in every type)


def absolute(x: Any) -> Any:
    """|x|, which has no sign bit, even if x is -0."""
    return abs(x) if has_objects(x) else np.abs(x)


def largest(x: Any, y: Any) -> Any:
    """x if x > y or if x is NaN, else y. This is the second of equal values, also of zeros with different
    signs, and it is NaN if one of the values is.
    """
    if has_objects(x) or has_objects(y):
        return _largest_of_objects(x, y)
    return np.where((x > y) | _is_nan(x), x, y)[()]


def least(x: Any, y: Any) -> Any:
    """x if x < y or if x is NaN, else y; this is -max(-x, -y) to the bit."""
    if has_objects(x) or has_objects(y):
        return _least_of_objects(x, y)
    return np.where((x < y) | _is_nan(x), x, y)[()]


def select(a: Any, b: Any, x: Any, y: Any) -> Any:
    """x if a < b, else y; so y if a or b is NaN."""
    return _select_of_objects(a, b, x, y) if _any_objects(a, b, x, y) else np.where(a < b, x, y)[()]


def select_le(a: Any, b: Any, x: Any, y: Any) -> Any:
    """x if a <= b, else y; so y if a or b is NaN."""
    return _select_le_of_objects(a, b, x, y) if _any_objects(a, b, x, y) else np.where(a <= b, x, y)[()]


def held(x: Any) -> Any:
    """x, as a constant of differentiation."""
    return _held_objects(x) if has_objects(x) else x


def _any_objects(*operands: Any) -> bool:
    return any(map(has_objects, operands))


_held_objects = _with_expressions("held", lambda x: x, 1)
_largest_of_objects = _with_expressions("max", lambda x, y: x if x > y or _is_nan(x) else y, 2)
_least_of_objects = _with_expressions("min", lambda x, y: x if x < y or _is_nan(x) else y, 2)
_select_of_objects = _with_expressions("select", lambda a, b, x, y: x if a < b else y, 4)
_select_le_of_objects = _with_expressions("select_le", lambda a, b, x, y: x if a <= b else y, 4)


def halved(lanes: Sequence[T], add: Callable[[T, T], T]) -> T:
    """The sum over lanes, in the order of `join`: the second half of the lanes is added to the first half
    until one is left. If their number is odd, the last lane waits.
    """
    while len(lanes) > 1:
        half = len(lanes) // 2
        pairs = zip(lanes[:half], lanes[half : 2 * half], strict=True)
        lanes = [*(add(a, b) for a, b in pairs), *lanes[2 * half :]]
    return lanes[0]


def join(x: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The sum over lanes, which are the last axis."""
    return halved([x[..., k : k + 1] for k in range(x.shape[-1])], operator.add)


def lane(x: npt.NDArray[Any], index: Any) -> npt.NDArray[Any]:
    """The number in one lane."""
    k = int(index.real)  # it has the type of all constants
    return x[..., k : k + 1]


def beside(*numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The value that has one of these numbers in each lane."""
    rows = np.broadcast_arrays(*(np.atleast_1d(x) for x in numbers))
    return np.concatenate(rows, axis=-1)


def turn(x: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The value of the next lane in each lane."""
    return np.roll(x, -1, axis=-1)
