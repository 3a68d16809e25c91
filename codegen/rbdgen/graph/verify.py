"""Checks of a graph, node by node."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import NoReturn

from rbdgen.errors import GraphError
from rbdgen.graph.node import Graph
from rbdgen.graph.ops import ARITY, EACH_LANE


def verify(graph: Graph, further: Mapping[str, int] = MappingProxyType({})) -> None:
    """Check every rule of the grammar in `graph/node.py`.

    Args:
        graph: the graph.
        further: the numbers of arguments of operations that the graph may have beside those of the grammar.

    Raises:
        GraphError: naming the first node or output at fault and the rule that it breaks.
    """
    _verify_inputs(graph)
    _verify_nodes(graph, {**ARITY, **further})
    _verify_outputs(graph)


def _verify_inputs(graph: Graph) -> None:
    seen: set[str] = set()
    for argument in graph.inputs:
        if argument.name in seen:
            raise GraphError(f"input {argument.name!r}: the name occurs twice; give every input its own")
        if argument.size < 0:
            raise GraphError(f"input {argument.name!r}: its size is {argument.size}; it must be 0 or more")
        seen.add(argument.name)


def _verify_nodes(graph: Graph, arities: Mapping[str, int]) -> None:
    positions = sum(argument.size for argument in graph.inputs)
    for index, (op, args, value) in enumerate(graph.nodes):
        if op not in arities:
            _refuse(index, op, "no such operation; see the grammar in graph/node.py")
        arity = graph.lanes if arities[op] == EACH_LANE else arities[op]
        if len(args) != arity:
            _refuse(index, op, f"takes {arity} arguments and has {len(args)}")
        for argument in args:
            if not 0 <= argument < index:
                _refuse(index, op, f"argument {argument} is not an earlier node")
        if op == "const":
            if not math.isfinite(value):
                _refuse(index, op, f"value {value} is not finite")
        elif op == "input":
            if not (0 <= value < positions and value == int(value)):
                _refuse(index, op, f"position {value:g} is outside the {positions} input elements")
        elif value != 0:
            _refuse(index, op, f"value {value:g} belongs to const and input only; it must be 0")


def _verify_outputs(graph: Graph) -> None:
    seen: set[str] = set()
    for output in graph.outputs:
        if output.name in seen:
            raise GraphError(f"output {output.name!r}: the name occurs twice; give every output its own")
        seen.add(output.name)
        if any(length < 0 for length in output.shape):
            raise GraphError(f"output {output.name!r}: shape {output.shape} has a negative length")
        if len(output.elements) != output.size:
            raise GraphError(
                f"output {output.name!r}: shape {output.shape} needs {output.size} elements,"
                f" {len(output.elements)} are given"
            )
        for element in output.elements:
            if not 0 <= element < len(graph.nodes):
                raise GraphError(f"output {output.name!r}: element {element} is not a node of the graph")
    for index in graph.labels:
        if not 0 <= index < len(graph.nodes):
            raise GraphError(f"label {graph.labels[index]!r}: {index} is not a node of the graph")


def _refuse(index: int, op: str, rule: str) -> NoReturn:
    raise GraphError(f"node {index} ({op}): {rule}")
