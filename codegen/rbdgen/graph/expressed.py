"""A graph in the terms of an engine: the same operations on the engine's symbols, for a user's own work."""

from __future__ import annotations

from collections import Counter
from typing import Any

from rbdgen.graph.engine import Engine
from rbdgen.graph.kernels import KERNELS
from rbdgen.graph.node import Graph
from rbdgen.graph.ops import OPS


def expressed(graph: Graph, tracer: Engine, name: str = "f") -> Any:
    """Express the graph's outputs in the terms of an engine; see `Engine.expression`.

    A value that is used several times is named, so that it stays shared. The name is that of its quantity, if
    it has one.
    """
    inputs = [x for array in graph.inputs for x in tracer.symbols(array.name, array.size)]
    uses = Counter(argument for node in graph.nodes for argument in node.args)
    values: list[Any] = []
    for k, (op, arguments, value) in enumerate(graph.nodes):
        if op == "const":
            values.append(value)
        elif op == "input":
            values.append(inputs[int(value)])
        else:
            operands = [values[argument] for argument in arguments]
            if op in KERNELS:
                result = tracer.elementary(op, *operands)
            else:
                result = getattr(tracer, op, OPS[op].evaluate)(*operands)
            values.append(tracer.named(graph.labels.get(k, f"x{k}"), result) if uses[k] > 1 else result)
    return tracer.expression(
        [(output.name, output.shape, [values[k] for k in output.elements]) for output in graph.outputs], name
    )
