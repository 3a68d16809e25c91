"""Stages: a number is computed as late as its readers allow, and stored if another stage reads it."""

from __future__ import annotations

from rbdgen.graph.engine import GraphEngine
from rbdgen.graph.node import Graph
from rbdgen.sweeps.stages import Wait, inputs_of, multiple, schedule


def traced() -> tuple[Graph, dict[str, int]]:
    """The graph of a term, of a sum that waits for it, and of results computed from both."""
    engine = GraphEngine()
    (x, y), (total,) = engine.symbols("x", 2), engine.symbols("total", 1)
    term = x * y
    late = x + y
    values = {
        "x": x,
        "y": y,
        "total": total,
        "term": term,
        "late": late,
        "double": 2 * term,
        "result": (2 * term) * total + late + term,
    }
    graph = engine.graph([(name, (1,), [value]) for name, value in values.items()])
    return graph, {output.name: output.elements[0] for output in graph.outputs}


def test_a_number_waits_for_its_readers_and_is_stored_once() -> None:
    graph, at = traced()
    wait = Wait((at["term"],), (at["total"],))
    found = schedule(graph, {at["x"], at["y"]}, [wait], [at["result"]])
    assert found.count == 2
    assert found.after(wait) == 0
    assert found.stage[at["term"]] == 0
    assert found.stage[at["late"]] == found.stage[at["result"]] == 1
    assert found.stored_by(0) == [at["term"]]  # its double, which the result reads, is not stored
    assert found.stored_by(1) == [at["result"]]


def test_a_wait_that_nobody_reads_is_left_out() -> None:
    graph, at = traced()
    wait = Wait((at["term"],), (at["total"],))
    found = schedule(graph, {at["x"], at["y"]}, [wait], [at["late"]])
    assert found.count == 1
    assert found.after(wait) is None
    assert at["term"] not in found.stage


def test_waits_follow_each_other() -> None:
    """A sum of terms that need a sum is known two stages later."""
    engine = GraphEngine()
    (x,), (first,), (second,) = (engine.symbols(name, 1) for name in ("x", "first", "second"))
    values = [x * x, first * x, second + first]
    graph = engine.graph([(str(k), (1,), [value]) for k, value in enumerate(values)])
    square, product, result = (output.elements[0] for output in graph.outputs)
    inputs = {graph.input_element(int(n.value))[0]: k for k, n in enumerate(graph.nodes) if n.op == "input"}
    waits = [Wait((square,), (inputs["first"],)), Wait((product,), (inputs["second"],))]
    found = schedule(graph, {inputs["x"]}, waits, [result])
    assert found.count == 3
    assert [found.after(wait) for wait in waits] == [0, 1]
    assert inputs_of(graph, {product}) == {"x", "first"}


def test_multiples() -> None:
    engine = GraphEngine()
    (x,) = engine.symbols("x", 1)
    values = [x, -x, x + x, 3 * x, x * 0.5, x * x]
    graph = engine.graph([(str(k), (1,), [value]) for k, value in enumerate(values)])
    at = [output.elements[0] for output in graph.outputs]
    assert [multiple(graph, node) for node in at] == [
        None,
        (at[0], -1),
        (at[0], 2),
        (at[0], 3),
        None,
        None,
    ]
