"""Tracing: one function of one robot, run on an engine's symbols."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rbdgen.algorithms.catalogue import Function, Variant
from rbdgen.algorithms.state import State, coordinates, external_forces
from rbdgen.graph.engine import Engine, new_engine
from rbdgen.graph.node import Graph
from rbdgen.model.model import Model
from rbdgen.spatial.scalar import Scalar

Traced = list[tuple[str, tuple[int, ...], Sequence[Scalar]]]


def trace_graph(model: Model, function: Function, variant: Variant, engine: str = "casadi") -> Graph:
    """The function as a graph, as traced: no pass has run."""
    tracer = new_engine(engine)
    return tracer.graph(trace_on(tracer, model, function, variant))


def trace_expression(model: Model, function: Function, variant: Variant, engine: str = "casadi") -> Any:
    """The function in the engine's own terms: see `Engine.expression`."""
    tracer = new_engine(engine)
    return tracer.expression(trace_on(tracer, model, function, variant))


def trace_on(tracer: Engine, model: Model, function: Function, variant: Variant) -> Traced:
    """Run the variant on new symbols; name, shape and elements of every output."""
    signature = function.signature.sized(model.sizes)
    symbols = {argument.name: tracer.symbols(argument.name, argument.size) for argument in signature.inputs}
    state = State(
        q=coordinates(model, symbols["q"], tracer.cos, tracer.sin),
        v=symbols.get("v", ()),
        a=symbols.get("a", ()),
        tau=symbols.get("tau", ()),
        fext=external_forces(symbols["fext"]) if "fext" in symbols else None,
        naming=tracer.named,
    )
    results = variant.trace(model, state)
    return [
        (argument.name, argument.shape, elements)
        for argument, elements in zip(signature.outputs, results, strict=True)
    ]
