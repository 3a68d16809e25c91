"""CasADi SX expressions as a graph, replayed instruction by instruction.

When CasADi makes a `Function`, it orders an expression graph into instructions on a work vector, which are
read here. Its automatic rewriting turns x (1 / d) into x / d. The builder undoes this, so that one reciprocal
serves all quotients by d.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from rbdgen.errors import GraphError
from rbdgen.graph.builder import Builder
from rbdgen.graph.edge_builder import EdgeBuilder
from rbdgen.graph.edges import ONE, ZERO
from rbdgen.graph.node import Graph
from rbdgen.graph.ops import FUNCTIONS, OPS

_OPERATIONS: Final = {row.casadi: row.name for row in OPS.values() if row.casadi}
"""CasADi's operations that the graph has, too."""


def _equal(builder: Builder, a: int, b: int, x: int, y: int) -> int:
    """The edge of x if a = b, else y."""
    return builder.apply("select_le", a, b, builder.apply("select_le", b, a, x, y), y)


_RULES: Final[Mapping[str, Callable[..., int]]] = {
    "OP_ASSIGN": lambda _, a: a,
    "OP_TWICE": lambda builder, a: builder.sum(a, a),
    "OP_INV": lambda builder, a: builder.reciprocal(a),
    "OP_LT": lambda builder, a, b: builder.apply("select", a, b, ONE, ZERO),
    "OP_LE": lambda builder, a, b: builder.apply("select_le", a, b, ONE, ZERO),
    "OP_EQ": lambda builder, a, b: _equal(builder, a, b, ONE, ZERO),
    "OP_NE": lambda builder, a, b: _equal(builder, a, b, ZERO, ONE),
    "OP_NOT": lambda builder, a: builder.where(a, ZERO, ONE),
    "OP_AND": lambda builder, a, b: builder.where(a, builder.where(b, ONE, ZERO), ZERO),
    "OP_OR": lambda builder, a, b: builder.where(a, ONE, builder.where(b, ONE, ZERO)),
    "OP_ATAN": lambda builder, a: builder.apply("atan2", a, ONE),
    "OP_SINH": EdgeBuilder.sinh,
    "OP_COSH": EdgeBuilder.cosh,
    "OP_POW": EdgeBuilder.raised,
    "OP_CONSTPOW": EdgeBuilder.raised,
    "OP_COPYSIGN": lambda builder, a, b: builder.select(
        "select", b, ZERO, builder.absolute(a) ^ 1, builder.absolute(a)
    ),
    "OP_IF_ELSE_ZERO": lambda builder, a, x: builder.where(a, x, ZERO),
}
"""CasADi's other operations, on edges of a builder."""

_ON_VALUES: Final = _OPERATIONS.keys() | _RULES.keys()


def from_casadi(
    inputs: Sequence[tuple[str, Any]],
    outputs: Sequence[tuple[str, tuple[int, ...], Sequence[Any]]],
    labels: Sequence[tuple[Any, str]] = (),
) -> Graph:
    """The graph of SX expressions.

    Args:
        inputs: name and `SX.sym` column of every input array.
        outputs: name, shape and row-major elements (SX scalars or numbers) of every output.
        labels: SX scalars that hold a named quantity.

    Raises:
        GraphError: for an operation outside the grammar or a symbol that is no input, by name.
    """
    import casadi  # noqa: PLC0415  (heavy: loaded when used)

    elements = [
        float(element) if isinstance(element, Fraction) else element  # CasADi does not know fractions
        for _, _, row_major in outputs
        for element in row_major
    ]
    results = [casadi.vertcat(*elements), casadi.vertcat(*(value for value, _ in labels))]
    function = casadi.Function(
        "graph",
        [column for _, column in inputs],
        [casadi.densify(casadi.SX(result)) for result in results],
        {"allow_free": True},
    )
    if function.has_free():
        raise GraphError(f"the outputs depend on {', '.join(function.get_free())}, which no input declares")
    builder = Builder()
    arguments = [[element.edge for element in builder.input(name, column.numel())] for name, column in inputs]
    edges, labelled = _replay(function, builder, arguments, _operation_names(casadi))
    for edge, (_, text) in zip(labelled, labels, strict=True):
        builder.label_edge(edge, text)
    split = iter(edges)
    return builder.lower(
        [(name, shape, [next(split) for _ in row_major]) for name, shape, row_major in outputs]
    )


def _operation_names(casadi: Any) -> dict[int, str]:
    return {getattr(casadi, name): name for name in dir(casadi) if name.startswith("OP_")}


def _replay(
    function: Any, builder: Builder, arguments: Sequence[Sequence[int]], names: dict[int, str]
) -> tuple[list[int], list[int]]:
    """Edges of the function's two results, after its instructions have been run on a builder."""
    results = ([0] * function.numel_out(0), [0] * function.numel_out(1))
    work = [0] * function.sz_w()
    for k in range(function.n_instructions()):
        name = names[function.instruction_id(k)]
        operands = [work[place] for place in function.instruction_input(k)] if name in _ON_VALUES else []
        if name in _OPERATIONS:
            work[function.instruction_output(k)[0]] = builder.apply(_OPERATIONS[name], *operands)
        elif name in _RULES:
            work[function.instruction_output(k)[0]] = _RULES[name](builder, *operands)
        elif name == "OP_CONST":
            work[function.instruction_output(k)[0]] = builder.number(function.instruction_constant(k))
        elif name == "OP_INPUT":
            argument, element = function.instruction_input(k)
            work[function.instruction_output(k)[0]] = arguments[argument][element]
        elif name == "OP_OUTPUT":
            result, element = function.instruction_output(k)
            results[result][element] = work[function.instruction_input(k)[0]]
        else:
            raise GraphError(
                f"CasADi's {name} is outside the graph's grammar; trace with + - * / {' '.join(FUNCTIONS)}"
            )
    return results
