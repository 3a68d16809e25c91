"""Tracing: one function of one robot, run on an engine's symbols."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rbdgen.algorithms.catalogue import Function, Variant
from rbdgen.algorithms.state import State, coordinates, external_forces
from rbdgen.graph.engine import Engine, new_engine
from rbdgen.graph.node import Graph
from rbdgen.model.model import Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.scalar import Scalar

Subject = Model | ReducedModel
"""What a form is traced on: a model; cheap forms also take a reduced one, and reduce a plain one first."""

Traced = list[tuple[str, tuple[int, ...], Sequence[Scalar]]]


def trace_graph(
    subject: Subject, function: Function, variant: Variant, engine: str = "casadi", *, sums: bool = True
) -> Graph:
    """The function as a graph, as traced: no pass has run. `sums` as in `coordinates`."""
    tracer = new_engine(engine)
    return tracer.graph(trace_on(tracer, subject, function, variant, sums=sums))


def trace_expression(subject: Subject, function: Function, variant: Variant, engine: str = "casadi") -> Any:
    """The function in the engine's own terms: see `Engine.expression`."""
    tracer = new_engine(engine)
    return tracer.expression(trace_on(tracer, subject, function, variant))


def trace_on(
    tracer: Engine, subject: Subject, function: Function, variant: Variant, *, sums: bool = True
) -> Traced:
    """Run the variant on new symbols; name, shape and elements of every output."""
    model = subject if isinstance(subject, Model) else subject.model
    signature = function.signature.sized(model.sizes)
    symbols = {argument.name: tracer.symbols(argument.name, argument.size) for argument in signature.inputs}
    state = State(
        q=coordinates(model, symbols["q"], tracer.cos, tracer.sin, sums=sums),
        v=symbols.get("v", ()),
        a=symbols.get("a", ()),
        tau=symbols.get("tau", ()),
        fext=external_forces(symbols["fext"]) if "fext" in symbols else None,
        naming=tracer.named,
    )
    results = variant.trace(subject, state)
    return [
        (argument.name, argument.shape, elements)
        for argument, elements in zip(signature.outputs, results, strict=True)
    ]
