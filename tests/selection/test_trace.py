"""All engines trace the same function, and return it as their own type."""

from __future__ import annotations

import casadi
import numpy as np
import pytest
import sympy
from support.few import few
from support.forms import Form, every_form, graph_of, interpreted, relative_error, run_on_floats
from support.robots import robot
from support.states import random_inputs

import rbdgen
from rbdgen.errors import OptionError
from rbdgen.functions.table import lookup
from rbdgen.graph.cost import cost
from rbdgen.graph.engine import ENGINES
from rbdgen.graph.verify import verify
from rbdgen.model.build import Base
from rbdgen.selection.axes import search
from rbdgen.selection.choose import choose
from rbdgen.selection.trace import trace_expression, trace_graph

CASES: tuple[tuple[str, Base], ...] = (("puma560", "fixed"), ("double_pendulum", "floating"))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("name", "base"), few(CASES[1:], CASES))
@every_form
def test_engines_agree_with_floats(form: Form, name: str, base: Base, engine: str) -> None:
    """The traced graph computes what the algorithm computes when it is run on numbers."""
    model = robot(name, base).model
    graph = graph_of(form, name, base, engine=engine)
    verify(graph)
    assert [x.name for x in graph.inputs] == [x.name for x in form.function.signature.inputs]
    inputs = random_inputs(model, form.function.signature, 5)
    traced, direct = interpreted(form, graph, inputs), run_on_floats(form, model, inputs)
    assert max(relative_error(x, y) for x, y in zip(traced, direct, strict=True)) < 1e-11


@every_form
def test_casadi_function(form: Form) -> None:
    """The function has named inputs and outputs as in the signature, and matrices are matrices."""
    model = robot("puma560").model
    traced = trace_expression(model, form.function, form.form, "casadi")
    assert isinstance(traced, casadi.Function)
    signature = form.function.signature.sized(model.sizes)
    assert traced.name_in() == [x.name for x in signature.inputs]
    assert traced.name_out() == [x.name for x in signature.outputs]
    inputs = random_inputs(model, form.function.signature, 1)
    results = traced(*(x[0] for x in inputs.values()))
    for result, expected in zip(
        [results] if len(signature.outputs) == 1 else results,
        run_on_floats(form, model, inputs),
        strict=True,
    ):
        values = np.asarray(result.full()).reshape(expected[0].shape)
        assert relative_error(values[None], expected) < 1e-11


def test_sympy_expression() -> None:
    """The trace has assignments of intermediate quantities in order, then outputs, such as M here."""
    row = lookup("crba")
    assignments, (M,) = trace_expression(robot("double_pendulum").model, row, row.forms[0], "sympy")
    for symbol, value in reversed(assignments):
        M = M.subs(symbol, value)
    assert M.is_symmetric()
    (q1,) = M.free_symbols
    assert q1.name == "q_1"
    assert sympy.simplify(M[0, 0].diff(q1) - 2 * M[0, 1].diff(q1)) == 0
    assert M[1, 1].is_number


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_emitted_is_traced_where_no_form_is_named(engine: str) -> None:
    """The trace of the chosen form has the operations, values and zeros of the emitted one."""
    floating, row = robot("double_pendulum", "floating"), lookup("crba")
    textbook, traced = (
        rbdgen.trace(floating, "crba", engine, variant) for variant in (row.forms[0].name, None)
    )
    q = np.array([0.1, 0.2, 0.3, 0.5, 0.1, -0.5, 0.7, 0.4, -0.6])
    if engine == "graph":
        chosen = choose(row, floating.model, search(floating.model), engine="graph")
        assert cost(traced) == chosen.program.cost
        assert cost(traced).total < cost(textbook).total
    elif engine == "casadi":
        np.testing.assert_allclose(traced(q).full(), textbook(q).full(), atol=1e-15)
        assert traced.nnz_out() == np.count_nonzero(traced(q).full()) < 64
    else:
        known = {sympy.Symbol(f"q_{k}", real=True): x for k, x in enumerate(q)}
        values = []
        for steps, (M,) in (textbook, traced):
            numbers = dict(known)
            for symbol, value in steps:
                numbers[symbol] = value.subs(numbers)
            values.append(np.array(M.subs(numbers), float))
        np.testing.assert_allclose(*values, atol=1e-15)


def test_the_same_trace_twice_is_the_same_graph() -> None:
    row = lookup("aba")
    model = robot("double_pendulum", "floating").model
    for engine in ENGINES:
        first, second = (trace_graph(model, row, row.forms[0], engine) for _ in range(2))
        assert first == second


def test_unknown_engine() -> None:
    row = lookup("rnea")
    with pytest.raises(OptionError, match="unknown engine 'maple'; choose from: casadi, sympy, graph"):
        trace_graph(robot("double_pendulum").model, row, row.forms[0], "maple")
