"""Graphs of straight lines, between a choice and its derivative."""

from __future__ import annotations

from rbdgen.graph.builder import Builder
from rbdgen.graph.node import Graph
from rbdgen.graph.programs.passes import SIMPLIFY, apply
from rbdgen.graph.programs.program import Program, straight_line
from rbdgen.graph.replay import replay
from rbdgen.selection.parameter_table import TABLE


def graph_of(program: Program) -> Graph:
    """The graph of a program that is one straight line."""
    assert program.straight is not None
    return program.straight


def simpler(graph: Graph) -> Graph:
    """The graph after the passes that save operations."""
    return graph_of(apply(straight_line(graph), SIMPLIFY))


def table_last(graph: Graph) -> Graph:
    """The graph with the parameter table after all other inputs, if it has one."""
    builder = Builder()
    inputs = sorted(graph.inputs, key=lambda array: array.name == TABLE)
    values = replay(builder, graph, {array.name: builder.input(array.name, array.size) for array in inputs})
    return builder.graph([(output.name, output.shape, values[output.name]) for output in graph.outputs])
