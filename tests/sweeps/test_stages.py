"""Stages: as few numbers as possible wait for other stages, and each is computed as late as that allows."""

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


def test_the_fewest_numbers_wait() -> None:
    """If only a product reads two sums, it is computed as soon as they are known: then one number waits."""
    engine = GraphEngine()
    names = ("x", "first", "second", "third")
    (x,), (first,), (second,), (third,) = (engine.symbols(name, 1) for name in names)
    term, early, product = first + second, x * first, first * second
    values = [x, first, second, third, x * x, x + x, early * term, product, third + product]
    graph = engine.graph([(str(k), (1,), [value]) for k, value in enumerate(values)])
    at = [output.elements[0] for output in graph.outputs]
    waits = [Wait((at[4], at[5]), (at[1], at[2])), Wait((at[6],), (at[3],))]
    found = schedule(graph, {at[0]}, waits, [at[8]])
    assert [found.after(wait) for wait in waits] == [0, 1]
    assert found.stage[at[7]] == 1  # one number waits, not two
    assert found.stored_by(1) == [at[7]]
    kept = schedule(graph, {at[0]}, waits, [at[8], at[1], at[2]])
    assert kept.stage[at[7]] == 2  # both sums are kept anyway
    assert kept.stored_by(1) == []


def test_entries_are_computed_from_what_is_stored() -> None:
    """Loops after the stages compute a product of a stored number, but not one for which two had to wait."""
    engine = GraphEngine()
    x, (first, second) = engine.symbols("x", 2), engine.symbols("sums", 2)
    result = first * x[0] + second
    values = [*x, first, second, x[0] * x[1], x[0] + x[1], result, result * x[1], first * second]
    graph = engine.graph([(str(k), (1,), [value]) for k, value in enumerate(values)])
    *inputs, one, other, term, another, kept, late, early = (o.elements[0] for o in graph.outputs)
    wait = Wait((term, another), (one, other))
    found = schedule(graph, set(inputs), [wait], [kept], [late, early])
    assert found.count == 2
    assert found.stage[kept] == found.stage[early] == 1
    assert found.stage[late] == 2
    assert found.stored_by(1) == sorted([kept, early])


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
