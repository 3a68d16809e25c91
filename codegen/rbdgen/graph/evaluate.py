"""The interpreter: a graph evaluated with NumPy, over any leading axes and in any scalar type."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from numbers import Rational
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from rbdgen.errors import GraphError
from rbdgen.graph.cost import last_uses
from rbdgen.graph.node import Graph


def _sign_of_object(x: Any) -> Any:
    return x.sign() if hasattr(x, "sign") else (x > 0) - (x < 0) + 0 * x


_signs_of_objects: Callable[[Any], Any] = np.frompyfunc(_sign_of_object, 1, 1)


def _sign(a: Any) -> Any:
    """In the type of its argument: the difference of two comparisons is an integer, and the sum of an integer
    and a float32 is a float64."""
    dtype = getattr(a, "dtype", None)
    if dtype is None or dtype.kind == "O":
        return _signs_of_objects(a)
    return np.subtract(a > 0, a < 0, dtype=dtype) + (a - a)


ARITHMETIC: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "neg": lambda a: -a,
    "sq": lambda a: a * a,
    "sign": _sign,
    "turn": lambda a: np.roll(a, -1, axis=-1),
}


T = TypeVar("T")


def halved(lanes: Sequence[T], add: Callable[[T, T], T]) -> T:
    """The sum over lanes, in the order of `join`: of the halves, as long as there are two; of an odd number
    the last lane waits."""
    while len(lanes) > 1:
        half = len(lanes) // 2
        pairs = zip(lanes[:half], lanes[half : 2 * half], strict=True)
        lanes = [*(add(a, b) for a, b in pairs), *lanes[2 * half :]]
    return lanes[0]


def _over_lanes(a: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """`join` of a value whose last axis is that of lanes."""
    return halved([a[..., k : k + 1] for k in range(a.shape[-1])], operator.add)


ARITHMETIC["join"] = _over_lanes
"""Every operation gives a result of the type of its operands, so that a graph is computed in one type."""


Elementary = Mapping[str, Callable[[Any], Any]]
"""Functions that stand in for sqrt, sin or cos, by the name of the operation."""


def evaluate(
    graph: Graph, inputs: Mapping[str, npt.ArrayLike | Sequence[object]], elementary: Elementary | None = None
) -> dict[str, npt.NDArray[Any]]:
    """Values of the outputs.

    Args:
        graph: a legal graph.
        inputs: for every input an array (..., size); the leading axes broadcast against each other. They
            are computed in their common dtype, float64 for integers. Arrays of objects hold any type
            with arithmetic: `Fraction` (constants are then exact too), mpmath's mpf, `Expr`; for a sine,
            cosine or root the object needs a method of that name or, as mpf, a context with one.
        elementary: computes these functions in place of NumPy.

        Lanes are the last of the leading axes, of 1 where an array has none.

    Returns:
        For every output an array (..., *shape). Division by zero and overflow give what IEEE 754 says.

    Raises:
        GraphError: for a missing or misshapen input, or objects without the elementary function asked for.
    """
    columns, dtype, leading = _columns(graph, inputs)
    convert = lift(columns, dtype)
    functions = operations(dtype) | dict(elementary or {})
    outputs = {output.name: np.empty((*leading, output.size), dtype) for output in graph.outputs}
    places: dict[int, list[npt.NDArray[Any]]] = {}
    for output in graph.outputs:
        for position, element in enumerate(output.elements):
            places.setdefault(element, []).append(outputs[output.name][..., position])
    last = last_uses(graph)
    values: list[Any] = [None] * len(graph.nodes)
    with np.errstate(all="ignore"):
        for index, (op, args, value) in enumerate(graph.nodes):
            if op == "input":
                result = columns[int(value)] if convert is not Fraction else _rational(columns[int(value)])
            elif op == "const":
                result = convert(value)
            else:
                result = functions[op](*(values[argument] for argument in args))
            for argument in args:
                if last[argument] == index:
                    values[argument] = None
            for place in places.get(index, ()):
                place[...] = result
            if last[index] > index:
                values[index] = result
    return {output.name: outputs[output.name].reshape((*leading, *output.shape)) for output in graph.outputs}


def operations(dtype: np.dtype[Any]) -> dict[str, Callable[..., Any]]:
    """What computes each operation of a graph in this type, on arrays and on scalars."""
    return ARITHMETIC | {op: _elementary(op, dtype) for op in ("sqrt", "sin", "cos")}


def _columns(
    graph: Graph, inputs: Mapping[str, npt.ArrayLike | Sequence[object]]
) -> tuple[list[Any], np.dtype[Any], tuple[int, ...]]:
    """Every input element over its array's leading axes, the common dtype, the common leading axes."""
    arrays = []
    for argument in graph.inputs:
        if argument.name not in inputs:
            raise GraphError(f"input {argument.name!r} is missing; give an array (..., {argument.size})")
        array = np.asarray(inputs[argument.name])
        if array.ndim == 0 or array.shape[-1] != argument.size:
            raise GraphError(
                f"input {argument.name!r}: shape {array.shape}; give an array (..., {argument.size})"
            )
        arrays.append(array)
    dtype = np.result_type(*arrays) if arrays else np.dtype(float)
    if dtype.kind in "iub":
        dtype = np.dtype(float)
    try:
        leading = np.broadcast_shapes(*(array.shape[:-1] for array in arrays))
    except ValueError as error:
        shapes = ", ".join(str(array.shape) for array in arrays)
        raise GraphError(f"the inputs' leading axes do not broadcast: shapes {shapes}") from error
    arrays = [array.astype(dtype) for array in arrays]  # once each: an array may have thousands of elements
    columns = [array[..., k] for array in arrays for k in range(array.shape[-1])]
    return columns, dtype, leading


def lift(columns: Sequence[Any], dtype: np.dtype[Any]) -> Callable[[float], Any]:
    """From the float of a constant to the type that is computed in.

    Of objects this is the type of the first element that is not an int or a float, if there is one.
    """
    if dtype.kind != "O":
        return dtype.type
    numbers = itertools.chain.from_iterable(map(np.ravel, columns))
    first: Any = next(numbers, None)
    sample = next((x for x in itertools.chain([first], numbers) if not isinstance(x, (int, float))), first)
    if hasattr(sample, "context"):  # mpmath: a number knows the context that makes such numbers
        convert: Callable[[float], Any] = sample.context.convert
        return convert
    return Fraction if isinstance(sample, Rational) else float


_rational = np.frompyfunc(Fraction, 1, 1)
"""Integers among fractions as fractions, so that their quotients stay exact."""


def _elementary(op: str, dtype: np.dtype[Any]) -> Callable[[Any], Any]:
    """sqrt, sin or cos of an array or a scalar of the dtype."""
    if dtype.kind != "O":
        function: Callable[[Any], Any] = getattr(np, op)
        return function

    def of_object(x: Any) -> Any:
        if hasattr(x, op):
            return getattr(x, op)()
        if hasattr(x, "context"):
            return getattr(x.context, op)(x)
        if isinstance(x, float):
            return getattr(math, op)(x)
        raise GraphError(f"{op} of a {type(x).__name__}: it has no such method; evaluate in another type")

    each: Callable[[Any], Any] = np.frompyfunc(of_object, 1, 1)
    return each
