"""Sines and cosines as inputs give the same values as computed ones."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from support.toys import Q, V, straight, torque

from rbdgen.errors import GraphError
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.node import Graph, Input, Node, Output
from rbdgen.graph.programs.angles_given import graph_given, signature_given
from rbdgen.graph.verify import verify

STATE = {"q": [0.3, -1.2], "v": [0.7, 0.1]}


def with_sines(state: Mapping[str, list[float]]) -> dict[str, list[float]]:
    return {**state, "sin_q": np.sin(state["q"]).tolist(), "cos_q": np.cos(state["q"]).tolist()}


@pytest.mark.parametrize("op", ["add", "sub"])
def test_sums_of_angles_are_taken_apart(op: str) -> None:
    """The sine and cosine of -(q0 op q1) + 0.5 are computed from those of q0 and q1."""
    nodes = (
        Node("input", value=0.0),
        Node("input", value=1.0),
        Node(op, (0, 1)),
        Node("neg", (2,)),
        Node("const", value=0.5),
        Node("add", (3, 4)),
        Node("sin", (5,)),
        Node("cos", (5,)),
    )
    graph = Graph((Input("q", 2),), nodes, (Output("y", (2,), (6, 7)),))
    replaced = graph_given(graph, {"q": {0, 1}})
    verify(replaced)
    assert not any(node.op in ("sin", "cos") for node in replaced.nodes)
    assert [array.name for array in replaced.inputs] == ["sin_q", "cos_q"]
    expected = evaluate(graph, STATE)["y"]
    np.testing.assert_allclose(evaluate(replaced, with_sines(STATE))["y"], expected, rtol=1e-14)


def test_a_whole_function() -> None:
    function = torque()
    replaced = graph_given(straight(function), {"q": {0, 1}})
    verify(replaced)
    values = with_sines(STATE)
    np.testing.assert_allclose(
        evaluate(replaced, values)["tau"], evaluate(straight(function), STATE)["tau"], rtol=1e-14
    )
    assert [x.name for x in signature_given(function.signature, {"q": {0, 1}}).inputs] == [
        "sin_q",
        "cos_q",
        "v",
    ]
    assert "f[0].n.z" in replaced.labels.values()


def test_coordinates_that_are_no_angles_stay() -> None:
    nodes = (Node("input", value=0.0), Node("input", value=1.0), Node("sin", (1,)), Node("mul", (0, 2)))
    graph = Graph((Input("q", 2),), nodes, (Output("y", (1,), (3,)),))
    replaced = graph_given(graph, {"q": {1}})
    assert [array.name for array in replaced.inputs] == ["q", "sin_q", "cos_q"]
    np.testing.assert_allclose(evaluate(replaced, with_sines(STATE))["y"], 0.3 * np.sin(-1.2))


def test_functions_without_q_stay() -> None:
    graph = Graph((Input("v", 2),), (Node("input"),), (Output("y", (1,), (0,)),))
    assert graph_given(graph, {"q": {0, 1}}) is graph


@pytest.mark.parametrize("op", ["mul", "sq"])
def test_other_angles_are_refused(op: str) -> None:
    nodes = (Node("input"), Node(op, (0,) if op == "sq" else (0, 0)), Node("sin", (1,)))
    graph = Graph((Input("q", 2),), nodes, (Output("y", (1,), (2,)),))
    with pytest.raises(GraphError, match="not a sum of joint angles"):
        graph_given(graph, {"q": {0, 1}})


def test_an_angle_beside_its_sine_is_refused() -> None:
    nodes = (Node("input"), Node("sin", (0,)), Node("mul", (0, 1)))
    graph = Graph((Input("q", 2),), nodes, (Output("y", (1,), (2,)),))
    with pytest.raises(GraphError, match=r"q\[0\] is read beside its sine"):
        graph_given(graph, {"q": {0, 1}})


def test_signature_units() -> None:
    sized = signature_given(torque().signature, {"q": {0}})
    assert sized.inputs[0] == Q
    assert sized.inputs[3] == V
    assert (sized.inputs[1].unit, sized.inputs[1].shape) == ("1", (2,))
