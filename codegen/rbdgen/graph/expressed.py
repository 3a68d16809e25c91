"""A graph in the terms of an engine: the same operations on the engine's symbols, for a user's own work."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final

from rbdgen.graph.engine import Engine
from rbdgen.graph.node import Graph

_ARITHMETIC: Final[Mapping[str, Callable[..., Any]]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "neg": operator.neg,
    "sq": lambda x: x * x,
}


def expressed(graph: Graph, tracer: Engine, name: str = "f") -> Any:
    """What the engine makes of the graph's outputs, see `Engine.expression`.

    A value that is used several times gets a name, so that it stays shared: that of its quantity if it has
    one.
    """
    operations = {**_ARITHMETIC, **{op: getattr(tracer, op) for op in ("sin", "cos", "sqrt", "sign")}}
    inputs = [x for array in graph.inputs for x in tracer.symbols(array.name, array.size)]
    uses = Counter(argument for node in graph.nodes for argument in node.args)
    values: list[Any] = []
    for k, (op, arguments, value) in enumerate(graph.nodes):
        if op == "const":
            values.append(value)
        elif op == "input":
            values.append(inputs[int(value)])
        else:
            result = operations[op](*(values[argument] for argument in arguments))
            values.append(tracer.named(graph.labels.get(k, f"x{k}"), result) if uses[k] > 1 else result)
    return tracer.expression(
        [(output.name, output.shape, [values[k] for k in output.elements]) for output in graph.outputs], name
    )
