"""The motion of arrays in the tangent space: the rates of q at a velocity, and the reverse."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from rbdgen.graph.builder import Builder
from rbdgen.graph.derivatives.slopes import Moving, Rates
from rbdgen.graph.expression import Expr
from rbdgen.graph.node import Graph
from rbdgen.graph.replay import replay
from rbdgen.model.joints import Angle, Joint
from rbdgen.model.model import Model
from rbdgen.signature import DOT, SizedArgument
from rbdgen.spatial.scalar import Scalar


def moving(model: Model, x: SizedArgument, *, coordinates: bool) -> Moving:
    """The motion of an input: q moves joint by joint, and other inputs move element by element."""
    if x.kind != "configuration":
        return Moving(x.name, x.shape)
    if coordinates:
        return Moving(x.name, x.shape, _within(model))
    return Moving(x.name, (model.sizes["nv"],), rates_of(model))


def tangents(model: Model, arrays: Iterable[SizedArgument]) -> dict[str, Moving]:
    """The arrays that are configurations, whose rates are given in the tangent space."""
    shape = (model.sizes["nv"],)
    return {x.name: Moving(x.name, shape, velocities_of(model)) for x in arrays if x.kind == "configuration"}


def _joints(model: Model) -> list[Joint]:
    return [body.joint for body in model.bodies if body.joint.follows is None]


def rates_of(model: Model) -> Rates:
    """The map from the velocity v to the rates of q."""

    def rates(q: Sequence[Expr], v: Sequence[Expr]) -> Sequence[Scalar]:
        found = {x.idx_q: x.type.rates(_own(x, q), x.slice(v), _angle) for x in _joints(model)}
        return _placed(len(q), found)

    return rates


def velocities_of(model: Model) -> Rates:
    """The map from rates of q to the velocity v."""

    def velocities(q: Sequence[Expr], rates: Sequence[Expr]) -> Sequence[Scalar]:
        found = {x.idx_v: x.type.velocities(_own(x, q), _own(x, rates), _angle) for x in _joints(model)}
        return _placed(model.sizes["nv"], found)

    return velocities


def _within(model: Model) -> Rates:
    """The map that removes from rates of q the parts that change the length of quaternions."""

    def within(q: Sequence[Expr], rates: Sequence[Expr]) -> Sequence[Scalar]:
        found = {x.idx_q: x.type.within(_own(x, q), _own(x, rates)) for x in _joints(model)}
        return _placed(len(q), found)

    return within


def _own(joint: Joint, q: Sequence[Expr]) -> Sequence[Expr]:
    """The joint's elements of q."""
    return q[joint.idx_q : joint.idx_q + joint.nq]


def _placed(size: int, parts: Mapping[int, Sequence[Scalar]]) -> list[Scalar]:
    """A vector from its parts, each given with its first index."""
    found: list[Scalar] = [0] * size
    for start, values in parts.items():
        found[start : start + len(values)] = values
    return found


def _angle(x: Expr) -> Angle:
    return Angle(x.cos(), x.sin())


def with_rates(
    graph: Graph, moving: Collection[str], by: Sequence[Moving], coordinates: bool, model: Model
) -> Graph:
    """The graph, which is linear in the inputs `moving`, as a graph of the rates of `by` alone; other rates
    are 0.

    `coordinates` says whether those of q are rates of its elements.
    """
    builder, rates = Builder(), {x.name + DOT: x for x in by}
    given: dict[str, Sequence[Any]] = {}
    for array in graph.inputs:
        moved = rates.get(array.name)
        if moved is None:
            held = array.name in moving
            given[array.name] = [0] * array.size if held else builder.input(array.name, array.size)
            continue
        numbers = builder.input(array.name, moved.size)
        in_elements = coordinates and moved.rates is not None
        given[array.name] = velocities_of(model)(given[moved.name], numbers) if in_elements else numbers
    values = replay(builder, graph, given)
    return builder.graph([(output.name, output.shape, values[output.name]) for output in graph.outputs])
