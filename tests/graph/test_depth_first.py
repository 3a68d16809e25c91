"""The depth-first order is a valid order of the same nodes, in the order in which outputs need them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.graphs import ALL, RING, graphs, max_live

from rbdgen.graph.builder import Builder
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.node import Graph, Input, Node, Output
from rbdgen.graph.passes import depth_first
from rbdgen.graph.verify import verify

CHAIN = 100_000


def in_step(graph: Graph, *, backwards: bool) -> list[int]:
    """The nodes of outputs by their relative place in the output; equal places in the order of outputs."""
    places = [
        (k / len(output.elements), element)
        for output in graph.outputs
        for k, element in enumerate(output.elements)
    ]
    far = sorted({place for place, _ in places}, reverse=backwards)
    return [element for place in far for at, element in places if at == place]


def expressions(graph: Graph, numbers: dict[object, int]) -> Counter[int]:
    """The number of occurrences of each expression, which does not depend on the order of nodes.

    Expressions are identified by `numbers`, which graphs share."""
    found: list[int] = []
    for index, (op, args, value) in enumerate(graph.nodes):
        key = (op, tuple(found[k] for k in args), repr(value), graph.labels.get(index))
        found.append(numbers.setdefault(key, len(numbers)))
    return Counter(found)


@settings(derandomize=True, max_examples=100, deadline=None)
@given(graph=graphs(ops=RING, max_operations=25), backwards=st.booleans())
def test_the_same_nodes_and_values_in_a_legal_order(graph: Graph, backwards: bool) -> None:
    after = depth_first(graph, backwards=backwards)
    verify(after)
    numbers: dict[object, int] = {}
    assert expressions(after, numbers) == expressions(graph, numbers)
    values = {"x": np.array([0.3, -1.9, 0.25]), "y": np.array([1.3, -0.4])}
    with np.errstate(all="ignore"):
        before, now = evaluate(graph, values), evaluate(after, values)
    assert all(now[name].tobytes() == before[name].tobytes() for name in before)
    assert [(x.name, x.shape) for x in after.outputs] == [(x.name, x.shape) for x in graph.outputs]
    assert depth_first(graph, backwards=backwards) == after


@settings(derandomize=True, max_examples=200, deadline=None)
@given(graph=graphs(ops=ALL), backwards=st.booleans())
def test_outputs_come_in_step_each_right_after_what_only_it_still_needs(
    graph: Graph, backwards: bool
) -> None:
    after = depth_first(graph, backwards=backwards)
    leaves = [k for k, node in enumerate(after.nodes) if not node.args]
    assert leaves == list(range(len(leaves)))
    done = set(leaves)
    for output in in_step(after, backwards=backwards):
        if output in done:
            continue
        group = range(len(done), output + 1)  # the nodes between the last output and this one
        assert output == group[-1]
        needed = {output}
        for k in reversed(group):
            assert k in needed
            needed.update(after.nodes[k].args)
        done.update(group)
    assert not any(k in done for k in range(len(done), len(after)))


@pytest.mark.parametrize("backwards", [False, True])
def test_what_no_output_needs_is_kept_at_the_end(backwards: bool) -> None:
    nodes = (Node("input"), Node("neg", (0,)), Node("sq", (1,)), Node("sin", (0,)), Node("cos", (3,)))
    graph = Graph((Input("x", 1),), nodes, (Output("y", (1,), (4,)),), {2: "unread"})
    after = depth_first(graph, backwards=backwards)
    assert [node.op for node in after.nodes] == ["input", "sin", "cos", "neg", "sq"]
    assert after.labels == {4: "unread"}
    assert after.outputs[0].elements == (2,)


def test_twins_and_empty_outputs() -> None:
    """Equal nodes are not joined, which is the work of another pass."""
    nodes = (Node("input"), Node("neg", (0,)), Node("neg", (0,)), Node("mul", (1, 2)), Node("mul", (3, 3)))
    graph = Graph((Input("x", 1),), nodes, (Output("none", (0, 4), ()), Output("y", (2,), (4, 0))))
    assert depth_first(graph) == graph
    assert depth_first(graph, backwards=True) == graph


@pytest.mark.parametrize("backwards", [False, True])
def test_a_long_chain_meets_no_limit(backwards: bool) -> None:
    nodes = [Node("input"), *(Node("neg", (k,)) for k in range(CHAIN))]
    graph = Graph((Input("x", 1),), tuple(nodes), (Output("y", (1,), (CHAIN,)),))
    assert depth_first(graph, backwards=backwards) == graph


def test_rows_that_were_computed_in_turn_are_computed_one_after_the_other() -> None:
    builder = Builder()
    x = builder.input("x", 12)
    rows = list(x)
    for factor in (3.0, 5.0, 7.0):
        rows = [row.sin() * factor for row in rows]
    graph = builder.graph([("y", (12,), rows)])
    assert max_live(graph) == 12
    assert max_live(depth_first(graph)) == max_live(depth_first(graph, backwards=True)) == 1


def test_backwards_the_last_element_comes_first() -> None:
    builder = Builder()
    graph = builder.graph([("y", (8,), [x.sin() for x in builder.input("x", 8)])])
    assert depth_first(graph).outputs[0].elements == tuple(range(8, 16))
    assert depth_first(graph, backwards=True).outputs[0].elements == tuple(range(15, 7, -1))
