"""Each pass keeps all values, never adds work, gives a valid graph, and has the effect of its name."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

import mpmath
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.few import examples
from support.graphs import ALL, FIELD, RING, graphs, max_live, pendulum

from rbdgen.errors import GraphError
from rbdgen.graph.builder import Builder
from rbdgen.graph.cost import Cost, cost, live_counts
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.expression import Expr
from rbdgen.graph.node import Graph, Input, Node, Output
from rbdgen.graph.passes import (
    cheapest,
    dead,
    factor,
    fold,
    once,
    pairs,
    schedule,
    scheduled_for_latency,
    sign,
    split,
    without_zeros,
)
from rbdgen.graph.programs.passes import FOR_BATCHES, TO_C, apply
from rbdgen.graph.programs.program import straight_line
from rbdgen.graph.programs.run import run as interpreted
from rbdgen.graph.programs.verify import verify_program
from rbdgen.graph.verify import verify

Pass: TypeAlias = Callable[[Graph], Graph]

PASSES = (fold, dead, sign, factor, pairs, schedule, scheduled_for_latency, cheapest)


def named(passes: tuple[Pass, ...]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    return pytest.mark.parametrize("step", passes, ids=lambda step: step.__name__)


def work(graph: Graph) -> tuple[int, int]:
    return cost(graph).work, cost(graph).total


@named(PASSES)
@settings(derandomize=True, max_examples=examples(30, 60), deadline=None)
@given(graph=graphs(ops=RING), point=st.lists(st.fractions(-3, 3, max_denominator=9), min_size=5, max_size=5))
def test_exact_value_and_work(step: Pass, graph: Graph, point: list[Fraction]) -> None:
    after = step(graph)
    verify(after)
    assert work(after) <= work(graph)
    inputs = {"x": point[:3], "y": point[3:]}
    before, now = evaluate(graph, inputs), evaluate(after, inputs)
    assert all((before[name] == now[name]).all() for name in before)
    assert set(after.labels.values()) <= {"last", "-last"}


@named(PASSES)
@settings(derandomize=True, max_examples=examples(30, 60), deadline=None)
@given(graph=graphs(ops=ALL, max_operations=20), point=st.lists(st.floats(0.5, 2), min_size=5, max_size=5))
def test_value_to_rounding(step: Pass, graph: Graph, point: list[float]) -> None:
    with mpmath.workdps(40):
        exact = [mpmath.mpf(x) for x in point]
        everything = Graph(
            graph.inputs, graph.nodes, (Output("all", (len(graph),), tuple(range(len(graph)))),)
        )
        try:
            values = evaluate(everything, {"x": exact[:3], "y": exact[3:]})["all"]
        except (
            ZeroDivisionError,
            TypeError,
        ):  # the latter for an order of complex numbers, roots of negatives
            assume(False)
        assume(all(abs(value) < 100 and abs(mpmath.im(value)) == 0 for value in values))
        sensitive = [node.args[-1] for node in graph.nodes if node.op in ("div", "sqrt")]
        assume(all(values[index] > 0.1 for index in sensitive))
        after = step(graph)
        verify(after)
        assert cost(after).work <= cost(graph).work
        now = evaluate(after, {"x": exact[:3], "y": exact[3:]})
        for output in graph.outputs:
            for found, element in zip(now[output.name].ravel(), output.elements, strict=True):
                assert abs(found - values[element]) < 1e-9


@settings(derandomize=True, max_examples=examples(30, 60), deadline=None)
@given(graph=graphs(ops=FIELD), point=st.lists(st.fractions(1, 3, max_denominator=9), min_size=5, max_size=5))
def test_what_runs_on_the_way_to_c_is_legal_after_every_pass(graph: Graph, point: list[Fraction]) -> None:
    inputs = {"x": point[:3], "y": point[3:]}
    everything = Graph(graph.inputs, graph.nodes, (Output("all", (len(graph),), tuple(range(len(graph)))),))
    try:
        evaluate(everything, inputs)
    except ZeroDivisionError:
        assume(False)
    program = straight_line(graph)
    for step in (*TO_C, *FOR_BATCHES):
        after = step(program)
        verify_program(after)
        assert after.cost.work <= program.cost.work
        program = after
    before, now = evaluate(graph, inputs), interpreted(program, inputs)
    for output in graph.outputs:
        for a, b in zip(before[output.name].ravel(), now[output.name].ravel(), strict=True):
            assert abs(a - b) <= Fraction(1, 10**9) * (1 + abs(a))


def raw(nodes: list[Node], outputs: tuple[int, ...], size: int = 4) -> Graph:
    """A graph of the inputs 0 .. size - 1 and these nodes."""
    inputs = [Node("input", (), float(k)) for k in range(size)]
    graph = Graph((Input("x", size),), (*inputs, *nodes), (Output("y", (len(outputs),), outputs),))
    verify(graph)
    return graph


def built(function: Callable[..., list[Expr]], size: int = 8) -> Graph:
    builder = Builder()
    results = function(*builder.input("x", size))
    return builder.graph([("y", (len(results),), results)])


def operations(graph: Graph) -> Cost:
    return cost(dead(graph))


def test_fold() -> None:
    zero, one, two, half = (Node("const", (), value) for value in (0.0, 1.0, 2.0, 0.5))
    constants = [zero, one, two, half]  # nodes 4 to 7
    vanish: list[tuple[Node, int]] = [
        (Node("add", (0, 4)), 0),
        (Node("add", (4, 0)), 0),
        (Node("sub", (0, 4)), 0),
        (Node("mul", (5, 0)), 0),
        (Node("mul", (0, 5)), 0),
        (Node("div", (0, 5)), 0),
    ]
    for node, left in vanish:
        assert fold(raw([*constants, node], (8,))).outputs[0].elements == (left,)
    for node, value in [
        (Node("sub", (0, 0)), 0.0),
        (Node("mul", (0, 4)), 0.0),
        (Node("div", (4, 0)), 0.0),
        (Node("add", (6, 7)), 2.5),
        (Node("div", (7, 6)), 0.25),
        (Node("sqrt", (5,)), 1.0),
        (Node("cos", (4,)), 1.0),
    ]:
        graph = fold(raw([*constants, node], (8,)))
        assert graph.nodes[graph.outputs[0].elements[0]] == Node("const", (), value)
    impossible = raw([*constants, Node("div", (5, 4))], (8,))
    assert fold(impossible) is impossible
    assert operations(fold(raw([*constants, Node("sub", (4, 0)), Node("neg", (8,))], (9,)))) == Cost()


@settings(derandomize=True, max_examples=examples(30, 60), deadline=None)
@given(graph=graphs(ops=RING), point=st.lists(st.floats(-3, 3), min_size=5, max_size=5))
def test_once_keeps_bits(graph: Graph, point: list[float]) -> None:
    inputs = {"x": point[:3], "y": point[3:]}
    before, now = evaluate(graph, inputs), evaluate(once(graph), inputs)
    assert all((before[name] == now[name]).all() for name in before)


def test_equal_operations_with_other_signs_are_one() -> None:
    """The products -x y, y -x and x -y are one operation; so are -x + y and y - x; (-x)^2 is x^2."""
    nodes = [
        Node("neg", (0,)),
        Node("neg", (1,)),
        *(Node("mul", pair) for pair in ((4, 1), (1, 4), (0, 5))),
        *(Node(op, pair) for op, pair in (("add", (4, 1)), ("sub", (1, 0)))),
        *(Node("sq", (k,)) for k in (0, 4)),
    ]
    assert operations(dead(once(raw(nodes, tuple(range(6, 13)))))) == Cost(mul=1, neg=1, sub=1, sq=1)


def test_sums_of_constants_may_be_left_to_c() -> None:
    """0.1f + 0.2f is not 0.3f, so `without_zeros` only removes zeros and ones, and keeps bits in float."""
    tenth, fifth, zero = (Node("const", (), value) for value in (0.1, 0.2, 0.0))
    total = raw([tenth, fifth, zero, Node("add", (4, 5)), Node("mul", (0, 6)), Node("add", (7, 8))], (9,))
    assert operations(without_zeros(total)) == Cost(add=1)
    assert operations(fold(total)) == Cost()


def test_dead() -> None:
    graph = raw([Node("sin", (0,)), Node("cos", (0,)), Node("sq", (5,))], (4,))
    assert [node.op for node in dead(graph).nodes] == ["input", "sin"]
    assert dead(dead(graph)) == dead(graph)


def test_sign_leaves_negations_at_outputs_only() -> None:
    nodes = [
        Node("neg", (0,)),
        Node("mul", (4, 1)),
        Node("add", (5, 2)),
        Node("neg", (6,)),
        Node("mul", (7, 3)),
    ]
    assert operations(sign(raw(nodes, (8,)))) == Cost(mul=2, sub=1)


def test_factor() -> None:
    assert cost(factor(built(lambda a, b, c, *_: [a * b + a * c]))) == Cost(add=1, mul=1)
    assert cost(factor(built(lambda a, b, c, d, *_: [a * b - a * c + d * a + d]))).total == 4
    assert cost(factor(built(lambda a, b, *_: [0.3 * a + 0.3 * b]))).total == 2
    assert cost(factor(built(lambda a, b, c, d, e, *_: [a * b * c + a * b * d + a * e]))).total == 5
    shared = built(lambda a, b, c, *_: [a * b + a * c, a * b, a * c])
    assert factor(shared) is shared


@named((factor, pairs))
def test_terms_that_cancel_vanish_with_what_they_read(step: Pass) -> None:
    graph = built(lambda a, b, c, d, *_: [(a * b + a * c) + (d - (a * b + a * c)), a - d])
    assert cost(step(graph)) == Cost(sub=1)


def test_pairs() -> None:
    sums = built(lambda a, b, c, d, e, *_: [a + c + b, a + d + b, e - a - b])
    assert cost(sums).total == 6
    assert cost(pairs(sums)).total == 4
    signed = built(lambda a, b, c, d, *_: [a + c - b, b + d - a])
    assert cost(pairs(signed)).total == 3
    products = built(lambda a, b, c, d, *_: [a * c * b, a * d * b, (b * b) * a])
    assert cost(pairs(products)).total == 4
    alone = built(lambda a, b, c, d, *_: [a + b, c + d])
    assert pairs(alone) is alone


def test_cheapest_tries_both_orders_and_repeats() -> None:
    graph = built(lambda a, b, c, d, e, f, *_: [a * b + a * c + d + e, b * f + e + c * f + d])
    assert cost(graph).total == 10
    assert cost(cheapest(graph)) == Cost(add=4, mul=2)


def test_schedule_shortens_live_ranges_and_keeps_the_nodes() -> None:
    builder = Builder()
    x = builder.input("x", 120)
    products = [a * b for a, b in zip(x[::2], x[1::2], strict=True)]
    total = products[0]
    for product in products[1:]:
        total = total + product
    graph = builder.graph([("y", (), [total])])
    after = schedule(graph)
    verify(after)
    assert max_live(graph) == 60
    assert max_live(after) <= 3
    assert Counter(node.op for node in after.nodes) == Counter(node.op for node in graph.nodes)
    assert schedule(after) is after


def test_schedule_weighs_live_values_before_it_prefers() -> None:
    """In a chain whose squares come before it or after a step, the schedule keeps two values alive."""
    half = 20
    nodes = [Node("sq", (k,)) for k in range(half)]
    chain = 0
    start = 2 * half
    for k in range(2 * half):
        step = start + len(nodes)
        nodes.append(Node("sin", (chain,)))
        if k >= half:
            nodes.append(Node("sq", (k,)))
        nodes.append(Node("add", (step, start + k if k < half else step + 1)))
        chain = start + len(nodes) - 1
    graph = raw(nodes, (chain,), size=start)
    assert max_live(graph) == half + 1
    assert max_live(schedule(graph)) == 2


def test_split_cuts_where_little_is_alive() -> None:
    builder = Builder()
    x = builder.input("x", 8)
    state = x[0]
    for _ in range(40):  # forty groups of eight values, each summed to one
        state = sum((state * element for element in x[1:]), state)
    graph = builder.graph([("y", (1,), [state])])
    for limit in (1, 7, 40, 100):
        boundaries = split(graph, limit)
        assert boundaries[0] == 0
        assert boundaries[-1] == len(graph.nodes)
        for start, end in pairwise(boundaries):
            count = sum(bool(node.args) for node in graph.nodes[start:end])
            assert count <= limit
            assert end == len(graph.nodes) or 2 * count >= limit
    live = live_counts(graph)
    assert all(live[cut - 1] == 1 for cut in split(graph, 40)[1:-1])
    assert split(graph, 10_000) == (0, len(graph.nodes))
    with pytest.raises(GraphError, match="give a limit"):
        split(graph, 0)


DIGEST = """
import hashlib
from support.graphs import pendulum
from rbdgen.graph.programs.passes import TO_C, apply
from rbdgen.graph.programs.program import straight_line
print(hashlib.sha256(repr(apply(straight_line(pendulum(20)), TO_C)).encode()).hexdigest())
"""


def test_result_depends_on_no_hash_seed() -> None:
    expected = hashlib.sha256(repr(apply(straight_line(pendulum(20)), TO_C)).encode()).hexdigest()
    for seed in ("1", "2"):
        path = str(Path(__file__).parents[1])
        result = subprocess.run(
            [sys.executable, "-c", DIGEST],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=True,
        )
        assert result.stdout.strip() == expected
