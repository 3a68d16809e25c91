"""Counts, depth, live values, and the estimate by which orders are chosen."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.graphs import longest_chain, max_live, pendulum

from rbdgen.graph.builder import Builder
from rbdgen.graph.cost import OPERATIONS, Cost, cheaper, cost, live_counts
from rbdgen.graph.machine import HOST, estimated_cycles, spills
from rbdgen.graph.node import Graph, Input, Node, Output
from rbdgen.graph.ops import ARITY


def chain_of_sums(length: int) -> Graph:
    """A graph of products followed by their sum, so that all products are alive before it."""
    nodes = [Node("input", (), float(k)) for k in range(length)]
    nodes += [Node("sq", (k,)) for k in range(length)]
    total = length
    for k in range(1, length):
        nodes.append(Node("add", (total, length + k)))
        total = len(nodes) - 1
    return Graph((Input("x", length),), tuple(nodes), (Output("y", (), (total,)),))


def test_every_operation_is_counted_under_its_name() -> None:
    assert set(OPERATIONS) == set(ARITY) - {"const", "input"}
    for op in OPERATIONS:
        graph = Graph(
            (Input("x", 1),),
            (Node("input", (), 0.0), Node("const", (), 1.0), Node(op, (0, 1)[: ARITY[op]])),
            (Output("y", (), (2,)),),
        )
        assert cost(graph) == Cost(**{op: 1})


def test_sums_of_counts() -> None:
    counts = Cost(**{op: 3**k for k, op in enumerate(OPERATIONS)})
    assert counts.total == sum(3**k for k in range(len(OPERATIONS)))
    assert counts.additions == counts.add + counts.sub
    assert counts.multiplications == counts.mul + counts.sq
    assert counts.trigonometric == counts.sin + counts.cos
    assert str(counts).startswith(f"{counts.total} = {counts.multiplications} mul + {counts.additions} add")


def test_operations_without_signs_are_all_but_the_negations() -> None:
    builder = Builder()
    x, y, z = builder.input("x", 3)
    shared = 1 / (y + z)  # used twice, so it stays a division
    elements = [-(x * y).sqrt(), -x, x - y, (y - x) * z, x * shared, z * shared, x / (z * z), 3.0, x.cos()]
    counts = builder.cost(elements)
    assert counts.neg > 0
    assert builder.operations(elements) == counts.total - counts.neg


def test_cheaper_goes_by_work_then_by_operations() -> None:
    builder = Builder()
    a, b, c = builder.input("x", 3)
    one = builder.graph([("y", (2,), [a / c, b / c])])
    nodes = tuple(Node("input", (), float(k)) for k in range(3))
    outputs = (Output("y", (2,), (3, 4)),)
    two = Graph(one.inputs, (*nodes, Node("div", (0, 2)), Node("div", (1, 2))), outputs)
    assert cost(one).total > cost(two).total
    assert cheaper(two, one) is one
    assert cheaper(one, two) is one
    assert cheaper(one, replace(one, labels={3: "reciprocal"})).labels


def test_live_values() -> None:
    graph = chain_of_sums(10)
    assert max_live(graph) == 10
    assert live_counts(graph)[-1] == 0
    assert max_live(Graph((), (), ())) == 0


def test_inputs_constants_and_unread_outputs_do_not_live() -> None:
    builder = Builder()
    x = builder.input("x", 20)
    graph = builder.graph([("y", (20,), [2.5 * element for element in x])])
    assert max_live(graph) == 0


def test_spills_begin_when_registers_run_out() -> None:
    graph = chain_of_sums(10)
    for registers in range(2, 11):
        reloads, stores = spills(graph, registers)
        missing = 10 - registers
        assert sum(stores) == missing
        assert sum(map(len, reloads)) == missing


def test_value_needed_furthest_ahead_is_spilled() -> None:
    nodes = tuple(Node("input", (), float(k)) for k in range(3)) + (
        Node("sq", (0,)),  # 3, which is read last
        Node("sq", (1,)),  # 4
        Node("sq", (2,)),  # 5
        Node("mul", (4, 5)),
        Node("mul", (6, 3)),
    )
    reloads, stores = spills(Graph((Input("x", 3),), nodes, (Output("y", (), (7,)),)), registers=2)
    assert stores == [0, 0, 0, 0, 0, 1, 0, 0]
    assert reloads[7] == (3,)
    assert not any(reloads[:7])


def test_estimate_grows_with_latency_spills_and_lack_of_units() -> None:
    graph = pendulum(12)
    base = estimated_cycles(graph)
    longest = longest_chain(graph)
    assert base >= longest * HOST.add_latency
    assert estimated_cycles(graph, replace(HOST, add_latency=6, multiply_latency=8)) > 1.5 * base
    assert estimated_cycles(graph, replace(HOST, units=1)) >= base
    wide = chain_of_sums(200)
    assert estimated_cycles(wide, replace(HOST, registers=4)) > estimated_cycles(
        wide, replace(HOST, registers=400)
    )
    assert estimated_cycles(wide, replace(HOST, window=4)) > estimated_cycles(wide)
    assert estimated_cycles(Graph((), (), ())) == 0


@pytest.mark.parametrize("code_bytes", [0, 20_000, 32_000, 40_000, 10**6])
def test_code_beyond_the_cache_streams_slower(code_bytes: int) -> None:
    rate = HOST.fetch_rate(code_bytes)
    assert HOST.streamed_rate <= rate <= HOST.cached_rate
    assert HOST.fetch_rate(code_bytes + 1000) <= rate
