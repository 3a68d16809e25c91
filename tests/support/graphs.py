"""Random graphs with nodes that a builder avoids: equal and unused nodes, zeros and negations."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from rbdgen.graph.cost import live_counts
from rbdgen.graph.node import Graph, Input, Node, Output
from rbdgen.graph.ops import ARITY

RING = ("add", "sub", "mul", "neg", "sq")
FIELD = (*RING, "div")
CHOICES = ("abs", "max", "min", "select", "select_le")
ELEMENTARY = ("exp", "log", "tanh", "atan2", "asin", "acos", "tan", "hypot")
ALL = (*FIELD, "sqrt", "sin", "cos", *CHOICES)

CONSTANTS = (0.0, 1.0, -1.0, 2.0, -2.0, 0.5, 3.0, -0.25)
"""Constants with so few digits that sums and products of several are exact in floating point."""


@st.composite
def graphs(draw: st.DrawFn, ops: Sequence[str] = RING, max_operations: int = 40) -> Graph:
    """A graph of two inputs, x of 3 elements and y of 2, and two outputs, u of 3 and W of 2 by 2."""
    nodes = [Node("input", (), float(position)) for position in range(5)]
    nodes += [Node("const", (), draw(st.sampled_from(CONSTANTS))) for _ in range(3)]
    for _ in range(draw(st.integers(1, max_operations))):
        op = draw(st.sampled_from(ops))
        recent = st.integers(max(0, len(nodes) - 12), len(nodes) - 1)
        operand = st.one_of(recent, st.integers(0, len(nodes) - 1))
        nodes.append(Node(op, tuple(draw(operand) for _ in range(ARITY[op]))))
    late = st.integers(max(0, len(nodes) - 15), len(nodes) - 1)
    u = tuple(draw(late) for _ in range(3))
    W = tuple(draw(late) for _ in range(4))
    labels = {nodes.index(nodes[-1]): "last"}
    return Graph(
        (Input("x", 3), Input("y", 2)), tuple(nodes), (Output("u", (3,), u), Output("W", (2, 2), W)), labels
    )


def pendulum(links: int) -> Graph:
    """The kinematics of a planar chain of links; like that of a mechanism, the graph has shared nodes."""
    nodes = [Node("input", (), float(position)) for position in range(links)]
    nodes.append(Node("const", (), 0.75))
    x, y = links, links
    outputs = []
    for joint in range(links):
        cosine, sine = len(nodes), len(nodes) + 1
        nodes += [Node("cos", (joint,)), Node("sin", (joint,))]
        nodes += [
            Node("mul", (cosine, x)),
            Node("mul", (sine, y)),
            Node("mul", (sine, x)),
            Node("mul", (cosine, y)),
        ]
        nodes += [Node("sub", (sine + 1, sine + 2)), Node("add", (sine + 3, sine + 4))]
        x, y = len(nodes) - 2, len(nodes) - 1
        nodes += [Node("neg", (y,))]
        outputs += [x, len(nodes) - 1]
    return Graph((Input("q", links),), tuple(nodes), (Output("p", (links, 2), tuple(outputs)),))


def max_live(graph: Graph) -> int:
    """The largest number of computed values that are alive at once."""
    return max(live_counts(graph), default=0)


def longest_chain(graph: Graph) -> int:
    """The length of the longest chain of operations in which each operation uses the previous result."""
    depth: list[int] = []
    for node in graph.nodes:
        depth.append(1 + max(depth[k] for k in node.args) if node.args else 0)
    return max(depth, default=0)
