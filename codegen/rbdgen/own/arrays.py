"""Arrays of expressions, on which NumPy's functions work while a user's text is traced.

An `Array` is a NumPy array of objects: expressions, numbers and conditions. Plain arrays of objects do not
suffice, because NumPy's comparisons convert their results to bool, and because its functions return plain
arrays. Single elements are arrays without axes, so that NumPy's functions accept them, too.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from rbdgen.graph.expression import Expr
from rbdgen.graph.ops import OPS
from rbdgen.graph.values import absolute, largest, least, sign
from rbdgen.own.conditions import TAKE, Condition, choice, compared_by, different, equal, inverted
from rbdgen.own.errors import TextError
from rbdgen.own.products import product

ZEROS: Final = "make arrays to fill with rbdgen.zeros, as those of np.zeros hold floats"
"""The remedy that errors name for arrays of floats."""

_WHERE: Final = np.frompyfunc(choice, 3, 1)

_ELEMENTARY: Final = {
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "sqrt": np.sqrt,
    "exp": np.exp,
    "log": np.log,
    "tanh": np.tanh,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan2": np.arctan2,
    "hypot": np.hypot,
}
"""The function of NumPy for each of these operations of graphs."""


def _evaluated(op: str) -> Callable[..., Any]:
    """The operation on objects, element by element."""

    def evaluated(*operands: Any) -> Any:
        return OPS[op].evaluate(*(float(x) if isinstance(x, int) else x for x in operands))

    each: Callable[..., Any] = np.frompyfunc(evaluated, OPS[op].arity, 1)
    return each


def _by_method(function: Any) -> Callable[..., Any]:
    """An elementwise function that is not an operation of graphs, but a method of expressions."""

    def computed(x: Any) -> Any:
        return getattr(x, function.__name__)() if isinstance(x, Expr) else float(function(float(x)))

    each: Callable[..., Any] = np.frompyfunc(computed, 1, 1)
    return each


def _without(limit: float, choose: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """The larger or the lesser of two values, where `limit` is an infinity that is no bound."""

    def chosen(x: Any, y: Any) -> Any:
        if isinstance(x, Expr) and _is_number(y, limit):
            return x
        return y if isinstance(y, Expr) and _is_number(x, limit) else choose(x, y)

    each: Callable[..., Any] = np.frompyfunc(chosen, 2, 1)
    return each


def _is_number(x: Any, number: float) -> bool:
    return not isinstance(x, Expr) and bool(x == number)


_MAX: Final = _without(-np.inf, largest)
_MIN: Final = _without(np.inf, least)

_clipped: Final = np.frompyfunc(lambda x, low, high: _MIN(_MAX(x, low), high), 3, 1)

_UFUNCS: Final[Mapping[Any, Any]] = MappingProxyType(
    {ufunc: _evaluated(op) for op, ufunc in _ELEMENTARY.items()}
    | {ufunc: _by_method(ufunc) for ufunc in (np.arctan, np.sinh, np.cosh)}
    | {
        np.maximum: _MAX,
        np.minimum: _MIN,
        np.fmax: _MAX,
        np.fmin: _MIN,
        np.absolute: np.frompyfunc(absolute, 1, 1),
        np.fabs: np.frompyfunc(absolute, 1, 1),
        np.sign: np.frompyfunc(sign, 1, 1),
        np.less: compared_by(operator.lt),
        np.greater: compared_by(operator.gt),
        np.less_equal: compared_by(operator.le),
        np.greater_equal: compared_by(operator.ge),
        np.equal: compared_by(equal),
        np.not_equal: compared_by(different),
        np.conjugate: np.positive,
        np.logical_and: np.bitwise_and,
        np.logical_or: np.bitwise_or,
        np.logical_not: np.frompyfunc(inverted, 1, 1),
        np.invert: np.frompyfunc(inverted, 1, 1),
        np.square: np.frompyfunc(lambda x: x * x, 1, 1),
        np.reciprocal: np.frompyfunc(lambda x: 1 / x, 1, 1),
        np.deg2rad: np.frompyfunc(lambda x: x * (np.pi / 180), 1, 1),
        np.rad2deg: np.frompyfunc(lambda x: x * (180 / np.pi), 1, 1),
    }
)
"""The elementwise functions of NumPy that are replaced by functions on expressions."""

_PLAIN: Final = frozenset(
    {
        np.add,
        np.subtract,
        np.multiply,
        np.true_divide,
        np.negative,
        np.positive,
        np.power,
        np.float_power,
        np.matmul,
        np.bitwise_and,
        np.bitwise_or,
    }
)
"""The elementwise functions of NumPy that work on expressions as they are, because they use operators."""


class Array(np.ndarray[Any, Any]):
    """An array of expressions, conditions and numbers. Raises TextError where an expression or a condition
    would have to become a bool, a float or an integer.
    """

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Compute a function of NumPy element by element. Raises TextError if expressions do not have it."""
        instead = _clipped if ufunc.__name__ == "clip" else _UFUNCS.get(ufunc)
        if instead is None and ufunc not in _PLAIN:
            raise TextError(f"np.{ufunc.__name__} does not exist for expressions; {_known()}")
        (into,) = options.pop("out", None) or (None,)
        options.pop("dtype", None)
        if method == "__call__" and options.pop("where", True) is not True:
            raise TextError(f"np.{ufunc.__name__} of expressions takes no where; take np.where")
        given = [unpacked(x).view(np.ndarray) for x in inputs]
        run = instead or ufunc
        try:
            if ufunc is np.matmul and not options:
                found = product(*given)
            elif method == "reduce" and instead is not None:
                found = _reduced(run, *given, **options)
            else:
                found = getattr(run, method)(*given, **options)
        except TypeError as error:
            raise TextError(f"np.{ufunc.__name__} does not take these operands; {error}") from None
        if into is None:
            return array(found)
        if into.dtype != object:
            raise TextError(f"an array of floats cannot hold the result of np.{ufunc.__name__}; {ZEROS}")
        if into.ndim == 0:  # a single number, which does not change: t += 1 gives t another value
            return array(found)
        into[...] = found
        return into

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Compute a function of NumPy that takes whole arrays."""
        instead = FUNCTIONS.get(func)
        if instead is not None:
            return instead(*args, **kwargs)
        if func.__module__ == "numpy.linalg" or func in _REFUSED:
            module = func.__module__.replace("numpy", "np")
            raise TextError(f"{module}.{func.__name__} does not exist for expressions; {_known()}")
        found = super().__array_function__(func, types, args, kwargs)
        if isinstance(found, (list, tuple)):
            return type(found)(_result(x) for x in found)
        return _result(found)

    def dot(self, *args: Any, **options: Any) -> Any:
        """`np.dot` of this array and another one."""
        return _dot(self, *args, **options)

    def trace(self, *args: Any, **options: Any) -> Any:
        """`np.trace` of this array."""
        return array(super().trace(*args, **options))

    def __getitem__(self, key: Any) -> Any:
        _check_index(key)
        return array(super().__getitem__(key))

    def __setitem__(self, key: Any, value: Any) -> None:
        _check_index(key)
        values = unpacked(value).view(np.ndarray)
        super().__setitem__(key, values if values.ndim else values[()])

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self)))

    def item(self, *args: Any) -> Any:
        """The only element, as an array without axes."""
        return array(super().item(*args))

    def __bool__(self) -> bool:
        values = self.ravel().view(np.ndarray)
        if values.size == 1 and not isinstance(values[0], (Expr, Condition)):
            return bool(values[0])
        raise TextError(f"a value that is known only at run time is neither true nor false; {TAKE}")

    def __float__(self) -> float:
        return float(_number(self, "a float"))

    def __int__(self) -> int:
        return int(_number(self, "an integer"))

    def __index__(self) -> int:
        return operator.index(_number(self, "an index"))


def _check_index(key: Any) -> None:
    """Raises TextError if an index holds conditions or expressions."""
    for part in key if isinstance(key, tuple) else (key,):
        if isinstance(part, (Expr, Condition)) or (isinstance(part, Array) and part.ndim):
            raise TextError("an index must be known when the text runs; take np.where(condition, x, y)")


def _reduced(function: Any, values: Any, axis: Any = 0, **options: Any) -> Any:
    """`function.reduce` along one axis, several axes, or all of them, which is `axis=None`. NumPy takes one
    axis of functions made by `np.frompyfunc`.
    """
    axes = range(values.ndim) if axis is None else np.atleast_1d(axis) % max(values.ndim, 1)
    for k in sorted(map(int, axes), reverse=True):
        values = np.asarray(function.reduce(values, axis=k, **options), object)
    return values[()]


def _number(values: Array, wanted: str) -> Any:
    if values.size == 1 and not isinstance(value := values.ravel().view(np.ndarray)[0], (Expr, Condition)):
        return value
    raise TextError(f"a value that is known only at run time cannot become {wanted}; {ZEROS}")


def array(values: Any) -> Any:
    """An `Array` of these values, which may be expressions, conditions, numbers and lists or arrays of them.
    Arrays of NumPy that do not hold objects are returned as they are.
    """
    if isinstance(values, Array):
        return values
    held = np.asarray(values, None if isinstance(values, np.ndarray) else object)
    if held.dtype == object:
        return held.view(Array)
    return held


def numbers(values: Any) -> Any:
    """A new array of these values, which may be expressions, numbers, and lists or arrays of them.

    This is the public `rbdgen.array`, for example `rbdgen.array([x[0], 0, x[1]])`, where `np.array` would not
    keep the type of single expressions. Without any expression the result is a plain array of floats.
    """
    made = np.array(_bare(values), object).view(Array)
    if any(isinstance(x, (Expr, Condition)) for x in made.ravel().view(np.ndarray)):
        return made
    return np.array(made, float)


def zeros(shape: int | tuple[int, ...]) -> Array:
    """An array of zeros to be filled with expressions; `np.zeros` makes one of floats, which cannot hold
    them.
    """
    made = np.empty(shape, object)
    made[...] = 0
    return made.view(Array)


def unpacked(values: Any) -> Any:
    """These values as an `Array`. Single expressions are arrays without axes, which `np.array([x[0], x[1]])`
    leaves as elements; they are replaced by the expressions that they hold.
    """
    if isinstance(values, Array):
        return values
    held = np.array(values, object).view(np.ndarray)
    for place, value in np.ndenumerate(held):
        if isinstance(value, Array):
            held[place] = value.view(np.ndarray)[()]
    return held.view(Array)


def _bare(values: Any) -> Any:
    """The values as a plain array of objects. An array without axes is replaced by its only element."""
    if isinstance(values, (list, tuple)):
        return np.array([_bare(x) for x in values], object)
    held = np.asarray(values, object).view(np.ndarray)
    return held if held.ndim else held[()]


def _result(found: Any) -> Any:
    """A result of a function of NumPy, as an `Array` if it holds objects."""
    if isinstance(found, np.ndarray) and found.dtype == object:
        return unpacked(found.view(np.ndarray))
    return unpacked(found) if isinstance(found, (Expr, Condition)) else found


def _known() -> str:
    names = sorted({ufunc.__name__ for ufunc in (*_UFUNCS, *_PLAIN)})
    return f"there are {', '.join(names)}, and NumPy's functions that arrange, add and multiply arrays"


def where(condition: Any, *values: Any) -> Any:
    """`np.where(condition, x, y)` for expressions."""
    if len(values) != 2:
        raise TextError(
            "np.where asks which elements differ from 0, which is not known; give np.where(c, x, y)"
        )
    return array(_WHERE(np.asarray(condition), *(unpacked(x).view(np.ndarray) for x in values)))


def _select(conditions: Any, choices: Any, default: Any = 0) -> Any:
    """`np.select`: for each element, the choice of the first condition that holds, or else the default."""
    if len(conditions) != len(choices):
        raise TextError("np.select takes as many conditions as choices; give one of each for every case")
    found = default
    for condition, chosen in reversed(list(zip(conditions, choices, strict=True))):
        found = where(condition, chosen, found)
    return found


def clip(values: Any, low: Any = None, high: Any = None, **options: Any) -> Any:
    """`np.clip(values, low, high)` for expressions. Bounds may be infinite."""
    for name, bound in options.items():
        if name in ("a_min", "min") and low is None:
            low = bound
        elif name in ("a_max", "max") and high is None:
            high = bound
        elif bound is not None:
            raise TextError(f"np.clip of expressions takes no {name}; give np.clip(x, low, high)")
    found = unpacked(values)
    found = found if low is None else np.maximum(found, low)
    return found if high is None else np.minimum(found, high)


def _dot(left: Any, right: Any) -> Any:
    left, right = (unpacked(x).view(np.ndarray) for x in (left, right))
    matrices = {left.ndim, right.ndim} <= {1, 2}
    return array(product(left, right) if matrices else np.dot(left, right))


def _norm(values: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    if ord not in (None, 2, "fro") or (ord == 2 and axis is None and np.ndim(values) == 2):
        raise TextError("np.linalg.norm of expressions is the Euclidean one; leave ord out")
    squares = unpacked(values) ** 2
    return np.sqrt(array(np.sum(squares, axis=axis, keepdims=keepdims)))


_REFUSED: Final = frozenset(
    {
        np.sort,
        np.argsort,
        np.argmax,
        np.argmin,
        np.median,
        np.partition,
        np.unique,
        np.searchsorted,
        np.interp,
        np.choose,
        np.piecewise,
    }
)

FUNCTIONS: Final[dict[Any, Callable[..., Any]]] = {
    np.where: where,
    np.select: _select,
    np.clip: clip,
    np.dot: _dot,
    np.linalg.norm: _norm,
}
"""The functions of NumPy on whole arrays that are replaced on expressions; `algebra.py` adds to them."""
