"""Converts derivatives from the tangent space of q to the elements of q, by the formulas of joint types."""

from __future__ import annotations

from typing import Any

from rbdgen.emit.c.printer import Style, print_statements, scalar_style
from rbdgen.emit.real import real_type
from rbdgen.graph.builder import Builder
from rbdgen.graph.derivatives.reverse import pullback
from rbdgen.graph.node import Graph
from rbdgen.graph.programs.dependence import dependence
from rbdgen.graph.programs.passes import TO_C, apply
from rbdgen.graph.programs.program import straight_line
from rbdgen.runtime.configuration import Manifold

Q, TANGENT, ROW = "q", "tangent", "row"


def to_coordinates(manifold: Manifold) -> Graph:
    """The graph that converts a row of derivatives from the tangent space to the elements of q.

    It multiplies the row by dv/d(dq/dt).
    """
    builder = Builder()
    q, tangent = builder.input(Q, manifold.nq), builder.input(TANGENT, manifold.nv)
    rates = builder.unknowns(manifold.nq)
    velocities: list[Any] = [0] * manifold.nv
    for joint in manifold.joints:
        own = slice(joint.idx_q, joint.idx_q + joint.nq)
        found = joint.space.velocities(q[own], rates[own])
        velocities[joint.idx_v : joint.idx_v + joint.nv] = found
    graph = builder.graph([(ROW, (manifold.nq,), pullback(velocities, tangent, rates))])
    printed = apply(straight_line(graph), TO_C).straight
    assert printed is not None
    return printed


def elements_of(graph: Graph, manifold: Manifold) -> list[list[int]]:
    """The elements of q on whose rates each element of the tangent space depends."""
    pairs = [divmod(pair, manifold.nv) for pair in dependence(graph, [TANGENT])[ROW][TANGENT]]
    return [[element for element, k in pairs if k == freedom] for freedom in range(manifold.nv)]


def statements(graph: Graph) -> tuple[str, ...]:
    """The body of the C function for one row of numbers."""
    return print_statements(graph, scalar_style(real_type("double")))


def statements_of_lanes(graph: Graph, element: str, every: str) -> tuple[str, ...]:
    """The body of the C function for one row of vectors, with one state per lane.

    `element` is the type of the vectors, and `every` the macro that copies a number to all lanes. The sine
    and the cosine are called `sin_of` and `cos_of`.
    """
    functions = {"sin": "sin_of", "cos": "cos_of"}
    style = Style(real_type("double"), element, functions, constant=every + "({})")
    return print_statements(graph, style)
