"""Orders from the front: long chains begin early, and registers limit how many values are live."""

from __future__ import annotations

from collections import Counter

import pytest
from support.graphs import max_live

from rbdgen.graph.machine import HOST, estimated_cycles
from rbdgen.graph.node import Graph, Input, Node, Output
from rbdgen.graph.passes import scheduled_for_latency
from rbdgen.graph.passes.forwards import forwards
from rbdgen.graph.passes.schedule import reordered
from rbdgen.graph.verify import verify


def raw(nodes: list[Node], outputs: tuple[int, ...], size: int) -> Graph:
    """A graph of the inputs 0 .. size - 1 and these nodes."""
    inputs = [Node("input", (), float(k)) for k in range(size)]
    graph = Graph((Input("x", size),), (*inputs, *nodes), (Output("y", (len(outputs),), outputs),))
    verify(graph)
    return graph


def chain_behind_sums(sums: int, steps: int) -> Graph:
    """Independent sums, then a chain of products on another input, in this order."""
    nodes = [Node("add", (k, k + 1)) for k in range(sums)]
    chain = sums + 1
    for _ in range(steps):
        nodes.append(Node("mul", (chain, chain)))
        chain = sums + 1 + len(nodes)
    first = sums + 2
    return raw(nodes, (*range(first, first + sums), chain), size=sums + 2)


def ordered(graph: Graph, registers: int) -> Graph:
    after = reordered(graph, forwards(graph, registers, HOST.latency))
    verify(after)
    assert Counter(node.op for node in after.nodes) == Counter(node.op for node in graph.nodes)
    return after


def test_the_longest_path_begins_first() -> None:
    graph = chain_behind_sums(40, 12)
    after = ordered(graph, 16)
    operations = [node.op for node in after.nodes if node.args]
    assert operations[0] == "mul"
    assert estimated_cycles(after) < estimated_cycles(graph)
    assert scheduled_for_latency(graph) is not graph


def test_an_order_that_is_as_fast_is_kept() -> None:
    graph = ordered(chain_behind_sums(40, 12), 16)
    assert scheduled_for_latency(graph) is graph


@pytest.mark.parametrize("registers", [2, 4, 8])
def test_registers_limit_what_is_live(registers: int) -> None:
    """Products of pairs, summed one by one: all products have the same path, so that only registers stop the
    schedule from computing all of them first."""
    pairs = 30
    nodes = [Node("mul", (2 * k, 2 * k + 1)) for k in range(pairs)]
    total = 2 * pairs
    for k in range(1, pairs):
        nodes.append(Node("add", (total, 2 * pairs + k)))
        total = 2 * pairs + len(nodes) - 1
    graph = raw(nodes, (total,), size=2 * pairs)
    assert max_live(graph) == pairs
    assert max_live(ordered(graph, registers)) <= registers + 1


def test_nothing_to_order() -> None:
    assert forwards(Graph((), (), ()), 16, HOST.latency) == []
    only_inputs = raw([], (0, 1), size=2)
    assert forwards(only_inputs, 16, HOST.latency) == list(range(len(only_inputs.nodes)))
