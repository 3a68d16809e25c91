"""Small hand-made functions of a robot with two joints, which cover all cases of emission."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from rbdgen.emit.package import FunctionSource, JointFacts, RobotFacts
from rbdgen.graph.builder import Builder
from rbdgen.graph.cost import cost
from rbdgen.graph.node import Graph, Input, Node, Output
from rbdgen.graph.programs.angles_given import angles_given, angles_of, signature_given
from rbdgen.graph.programs.program import straight_line
from rbdgen.model.joints import Revolute
from rbdgen.pipeline.design import batch_program
from rbdgen.runtime.configuration import Manifold
from rbdgen.runtime.space import JointCoordinates
from rbdgen.signature import SizedArgument, SizedSignature

Q = SizedArgument("q", (2,), "rad", "joint positions", "configuration")
V = SizedArgument("v", (2,), "rad/s", "joint velocities", "velocity")
TAU = SizedArgument("tau", (2,), "N m", "joint torques", "force")
M = SizedArgument("M", (2, 2), "kg m^2", "inertia matrix", "matrix")
G = SizedArgument("g", (2,), "N m", "nothing but zeros", "force")


def facts(
    name: str = "toy", robot_name: str = "toy", joints: tuple[str, str] = ("hip", "knee")
) -> RobotFacts:
    """A robot with two revolute joints of these names."""
    return RobotFacts(
        name,
        robot_name,
        "fixed",
        2,
        2,
        2,
        (
            JointFacts(joints[0], "revolute", 0, 0, -1.5, 1.5, 10.0, 2.0),
            JointFacts(joints[1], "continuous", 1, 1),
        ),
        "0" * 64,
        "0.0",
        Manifold(tuple(JointCoordinates(name, Revolute().space, k, k) for k, name in enumerate(joints))),
    )


def function(
    name: str, graph: Graph, inputs: tuple[SizedArgument, ...], outputs: tuple[SizedArgument, ...]
) -> FunctionSource:
    """The graph as a function of one form."""
    signature = SizedSignature(name, inputs, outputs)
    program = straight_line(graph)
    return FunctionSource(
        signature, program, "plain", "as given", cost(graph), f"toy {name}", batch=batch_program(program)
    )


def with_angles_given(functions: Iterable[FunctionSource]) -> list[FunctionSource]:
    """The functions with sines and cosines of both joints as inputs."""
    made = []
    for source in functions:
        angles = angles_of(source.signature, {0, 1})
        program = angles_given(source.program, angles)
        signature = signature_given(source.signature, angles)
        batch = batch_program(program)
        made.append(replace(source, signature=signature, program=program, cost=program.cost, batch=batch))
    return made


def straight(source: FunctionSource) -> Graph:
    """The one straight line of a function."""
    graph = source.program.straight
    assert graph is not None
    return graph


def torque() -> FunctionSource:
    """tau of (q, v), with every operation, a label, a shared value, a negation and an unused node."""
    nodes = (
        Node("input", value=0.0),  # 0  q[0]
        Node("input", value=1.0),  # 1  q[1]
        Node("input", value=2.0),  # 2  v[0]
        Node("input", value=3.0),  # 3  v[1]
        Node("add", (0, 1)),  # 4
        Node("sin", (0,)),  # 5
        Node("cos", (0,)),  # 6
        Node("sin", (4,)),  # 7
        Node("cos", (4,)),  # 8
        Node("const", value=-9.81),  # 9
        Node("mul", (9, 5)),  # 10
        Node("sq", (2,)),  # 11
        Node("mul", (11, 7)),  # 12
        Node("sub", (10, 12)),  # 13
        Node("mul", (3, 8)),  # 14
        Node("add", (13, 14)),  # 15
        Node("sub", (13, 15)),  # 16
        Node("neg", (16,)),  # 17
        Node("const", value=2.5),  # 18
        Node("add", (11, 18)),  # 19
        Node("div", (17, 19)),  # 20
        Node("sqrt", (19,)),  # 21
        Node("sub", (20, 21)),  # 22
        Node("mul", (6, 22)),  # 23
        Node("mul", (3, 3)),  # 24  dead
    )
    graph = Graph((Input("q", 2), Input("v", 2)), nodes, (Output("tau", (2,), (15, 23)),), {13: "f[0].n.z"})
    return function("torque", graph, (Q, V), (TAU,))


def inertia() -> FunctionSource:
    """Two outputs, a symmetric matrix and constant zeros: M and g of q."""
    nodes = (
        Node("input", value=1.0),
        Node("cos", (0,)),
        Node("const", value=0.1),
        Node("mul", (1, 2)),
        Node("const", value=3.0),
        Node("add", (3, 4)),
        Node("add", (5, 3)),
        Node("const", value=0.0),
    )
    outputs = (Output("M", (2, 2), (6, 5, 5, 4)), Output("g", (2,), (7, 7)))
    return function("inertia", Graph((Input("q", 2),), nodes, outputs), (Q,), (M, G))


def tiled() -> FunctionSource:
    """An output of 19 elements (zeros, products, an input), more than a vector has lanes, and one of two."""
    nodes = (
        *(Node("input", value=float(k)) for k in range(4)),
        Node("const", value=0.0),
        Node("mul", (0, 2)),
        Node("mul", (1, 3)),
        Node("add", (5, 6)),
        Node("sub", (5, 6)),
    )
    y, few = Output("y", (19,), ((4,) * 9 + (5, 6, 7, 4, 0, 8, 8, 5, 1, 7))), Output("few", (2,), (7, 8))
    arguments = [SizedArgument(name, (size,), "1", "anything") for name, size in (("y", 19), ("few", 2))]
    return function("tiled", Graph((Input("q", 2), Input("v", 2)), nodes, (y, few)), (Q, V), tuple(arguments))


def toys() -> tuple[FunctionSource, ...]:
    """The functions `torque` and `inertia`."""
    return torque(), inertia()


def elementary() -> FunctionSource:
    """tau of (q, v) by every choice and every elementary function; any state gives finite numbers."""
    builder = Builder()
    (a, b), (v, w) = builder.input("q", 2), builder.input("v", 2)
    angle, share = v.arctan2(w), (v * w).tanh()
    grown = v.tanh().exp()
    chosen = (v < w).select(share.arcsin() + angle, (w <= a.sin()).select(grown, abs(b)))
    least, most = v.applied("min", v, w), v.applied("max", grown, angle)
    outputs = [
        (grown + w * w).log() * chosen + share.arccos() * most,
        least * angle - grown * b.cos() + v.tan() / (1 + v.hypot(w)),
    ]
    return function("elementary", builder.graph([("tau", (2,), outputs)]), (Q, V), (TAU,))
