"""The interpreter: a graph evaluated with NumPy, over any leading axes and in any scalar type."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from numbers import Rational
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from rbdgen.errors import GraphError
from rbdgen.graph.cost import last_uses
from rbdgen.graph.node import Graph
from rbdgen.graph.ops import OPS

COMPUTED: Final = MappingProxyType({row.name: row.evaluate for row in OPS.values()})
"""The functions that compute the operations of a graph."""

Elementary = Mapping[str, Callable[[Any], Any]]
"""Functions that stand in for sqrt, sin or cos, by the name of the operation."""


def evaluate(
    graph: Graph, inputs: Mapping[str, npt.ArrayLike | Sequence[object]], elementary: Elementary | None = None
) -> dict[str, npt.NDArray[Any]]:
    """Evaluate the outputs of a graph.

    Args:
        graph: a legal graph.
        inputs: for every input an array (..., size); the leading axes broadcast against each other. They are
            computed in their common dtype, float64 for integers. Arrays of objects hold any type with
            arithmetic: `Fraction` (constants are then exact too), mpmath's mpf, `Expr`; for a sine, cosine or
            root the object needs a method of that name or, as mpf, a context with one.
        elementary: computes these functions in place of NumPy.

    Lanes are the last of the leading axes, which has the length 1 for an array without lanes.

    Returns:
        For every output an array (..., *shape). Division by zero and overflow follow IEEE 754.

    Raises:
        GraphError: for a missing or misshapen input, or objects without the elementary function asked for.
    """
    columns, dtype, leading = _columns(graph, inputs)
    convert = lift(columns, dtype)
    functions = {**COMPUTED, **(elementary or {})}
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


def _columns(
    graph: Graph, inputs: Mapping[str, npt.ArrayLike | Sequence[object]]
) -> tuple[list[Any], np.dtype[Any], tuple[int, ...]]:
    """The values of every input element over its array's leading axes, the common dtype and the common
    leading axes.
    """
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
    """The conversion of a constant from float to the type in which a graph is evaluated.

    For objects, this is the type of the first element that is not an int or a float, if there is one.
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
"""Converts integers among fractions to fractions, so that their quotients stay exact."""
