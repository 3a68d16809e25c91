"""Tracing: one function of one robot, run on an engine's symbols."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rbdgen.access import whole
from rbdgen.functions.form import Form
from rbdgen.functions.function import Function
from rbdgen.functions.inner import Inner
from rbdgen.functions.resistance import model_of
from rbdgen.graph.derivatives.reverse import pullback
from rbdgen.graph.engine import Engine, GraphEngine, new_engine
from rbdgen.graph.node import Graph, Input
from rbdgen.graph.programs.program import Loop, Program, Result
from rbdgen.model.model import Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.selection.parameter_table import TABLE, Tabled
from rbdgen.signature import SizedArgument, SizedSignature
from rbdgen.spatial.scalar import Naming, Scalar, unnamed
from rbdgen.sweeps.coupled import coupled
from rbdgen.sweeps.inputs import ByParameters, State, state_of
from rbdgen.sweeps.loops import FormLoop, LoopedForm

Subject = Model | ReducedModel | Tabled
"""The robot on which a form is traced: a model, or for cheap forms a reduced model (they reduce a plain model
first). If some of its numbers are entries of a table, the table is the last input.
"""

Traced = list[tuple[str, tuple[int, ...], Sequence[Scalar]]]


def trace_graph(
    subject: Subject, function: Function, form: Form, engine: str = "casadi", *, sums: bool = True
) -> Graph:
    """The function as a graph, before any pass. For `sums`, see `sweeps.inputs.coordinates`."""
    tracer = new_engine(engine)
    return tracer.graph(trace_on(tracer, subject, function, form, sums=sums))


def trace_expression(
    subject: Subject, function: Function, form: Form, engine: str = "casadi", name: str = "f"
) -> Any:
    """The function in the engine's own terms, see `Engine.expression`."""
    tracer = new_engine(engine)
    return tracer.expression(trace_on(tracer, subject, function, form), name)


def trace_on(
    tracer: Engine, subject: Subject, function: Function, form: Form, *, sums: bool = True, named: bool = True
) -> Traced:
    """Run the form on new symbols. The result has the name, the shape and the elements of every output.

    `named` says whether intermediate quantities get names; counting does not need them.
    """
    model = subject.robot if isinstance(subject, Tabled) else model_of(subject)
    signature = function.sized(model, subject.parameters if isinstance(subject, Tabled) else 0)
    names = [argument.name for argument in signature.inputs]
    naming = tracer.named if named else unnamed
    state = _state(tracer, model, signature, names, naming, sums=sums)
    if isinstance(subject, Tabled):
        table = tracer.symbols(TABLE, subject.size)
        if isinstance(tracer, GraphEngine) and state.p:
            state = replace(state, by_parameters=_by_parameters(subject, state.p, table))
        if function.composition is not None:  # it may call derivatives, whose graphs read the table
            state = replace(state, arrays={**state.arrays, TABLE: table})
        subject = subject.filled(table)
    results = function.trace(form, subject, state)
    return [
        (argument.name, argument.shape, elements)
        for argument, elements in zip(signature.outputs, results, strict=True)
    ]


def _by_parameters(subject: Tabled, p: Sequence[Scalar], table: Sequence[Scalar]) -> ByParameters:
    """Derivatives with respect to p, through the table; only for expressions of the graph engine."""
    entries = subject.entries(p)
    return lambda value: pullback(entries, pullback([value], [1], table), p)


def trace_program(
    reduced: ReducedModel, function: Function, form: Form, engine: str = "casadi", *, sums: bool = True
) -> Program:
    """A form in loops as a program: every loop is traced once, and equal loops share their graph."""
    assert form.loops is not None
    reduced = function.held_by(reduced)
    signature = function.sized(reduced.model)
    looped = form.loops(reduced)
    if form.degrees == "all" and not reduced.model.coupling.is_trivial:
        looped = coupled(looped, reduced.model, signature)
    return _program(looped, reduced.model, signature, engine, sums=sums)


def trace_inner(model: Model, inner: Inner, engine: str = "casadi") -> Program:
    """The loops in the middle of a function as a program."""
    looped = inner.loops(model)
    inputs = (SizedArgument(name, (size,), "", "") for name, size in inner.reads(model).items() if size)
    outputs = (SizedArgument(name, (size,), "", "") for name, size in looped.outputs.items())
    return _program(looped, model, SizedSignature("inner", tuple(inputs), tuple(outputs)), engine)


def _program(
    looped: LoopedForm, model: Model, signature: SizedSignature, engine: str, *, sums: bool = True
) -> Program:
    kernels: list[Graph] = []
    loops = []
    for loop in looped.loops:
        kernel = _trace_kernel(new_engine(engine), model, signature, loop, sums=sums)
        kernel = next((known for known in kernels if known == kernel), kernel)
        kernels.append(kernel)
        own = {x.name: whole(x.name, x.size) for x in signature.inputs if x.name in loop.inputs}
        reads = {**own, **loop.reads}
        loops.append(Loop(loop.name, kernel, reads, loop.writes, loop.count, loop.zeros, loop.distinct_runs))
    return Program(
        tuple(Input(argument.name, argument.size) for argument in signature.inputs),
        tuple(Result(argument.name, argument.shape) for argument in signature.outputs),
        tuple(loops),
        looped.scratch,
        looped.tables,
        looped.lanes_of_one_state,
    )


def _trace_kernel(
    tracer: Engine, model: Model, signature: SizedSignature, loop: FormLoop, *, sums: bool
) -> Graph:
    """The straight line of a loop. Its inputs are those of the function, followed by the arrays that it
    reads.
    """
    state = _state(tracer, model, signature, loop.inputs, tracer.named, sums=sums)
    arrays = {name: tracer.symbols(name, len(access.elements)) for name, access in loop.reads.items()}
    results = loop.trace(replace(state, arrays=arrays))
    return tracer.graph([(name, (len(values),), values) for name, values in results.items()])


def _state(
    tracer: Engine,
    model: Model,
    signature: SizedSignature,
    names: Sequence[str],
    naming: Naming,
    *,
    sums: bool,
) -> State:
    """The state for new symbols of these inputs of the function."""
    symbols = [(x, tracer.symbols(x.name, x.size)) for x in signature.inputs if x.name in names]
    return state_of(
        model,
        symbols,
        tracer.cos,
        tracer.sin,
        sums=sums,
        naming=naming,
        sqrt=tracer.sqrt,
        sign=tracer.sign,
    )
