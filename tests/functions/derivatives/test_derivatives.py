"""Analytical derivatives agree with CasADi's automatic ones of the traced functions, also in their zeros.

On a floating base CasADi differentiates by the seven coordinates. The product with dq/dxi (nq, nv) is the
derivative in the tangent space, at quaternions of unit length.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import casadi
import numpy as np
import pytest
from numpy.typing import NDArray
from support.few import few
from support.forms import Form, forms_of, graph_of, interpreted, parametrize, relative_error
from support.robots import BASES, BUNDLED, robot
from support.states import random_inputs
from support.tangent import tangent_map

from rbdgen.graph.node import Graph
from rbdgen.model.build import Base
from rbdgen.model.model import Model
from rbdgen.selection.trace import trace_expression

Array = NDArray[np.float64]

STATES = 10

TOLERANCE = 1e-9


@cache
def differentiated(function: str, name: str, base: Base) -> Any:
    """CasADi's Jacobians by every input, of the textbook's form."""
    form = forms_of(function)[0]
    traced = trace_expression(robot(name, base).model, form.function, form.form, "casadi")
    inputs = [casadi.SX.sym(traced.name_in(k), traced.size1_in(k)) for k in range(traced.n_in())]
    output = traced(*inputs)
    return casadi.Function("jacobians", inputs, [casadi.jacobian(output, x) for x in inputs])


def compare(form: Form, name: str, base: Base) -> None:
    """Compares all outputs of a form, which are derivatives by one input each."""
    model = robot(name, base).model
    inputs = random_inputs(model, form.function.signature, STATES)
    ours = interpreted(form, graph_of(form, name, base, engine="graph"), inputs)
    jacobians = differentiated(form.function.name.removesuffix("_derivatives"), name, base)
    for k in range(STATES):
        state = [x[k] for x in inputs.values()]
        by_q, *others = (np.asarray(J.full()) for J in jacobians(*state))
        expected = [by_q @ tangent_map(model, state[0]), *others]
        pairs = ((x[k : k + 1], y.reshape(1, *x.shape[1:])) for x, y in zip(ours, expected, strict=True))
        assert max(relative_error(x, y) for x, y in pairs) < TOLERANCE


@pytest.mark.parametrize(
    ("name", "base"),
    few(
        [("arm7", "fixed"), ("double_pendulum", "floating"), ("quadruped12", "floating")],
        product(BUNDLED, BASES),
    ),
)
@parametrize("rnea_derivatives", "aba_derivatives")
def test_automatic_differentiation(form: Form, name: str, base: Base) -> None:
    compare(form, name, base)


@pytest.mark.parametrize("base", BASES)
@parametrize("rnea_fext_derivatives", "aba_fext_derivatives")
def test_automatic_differentiation_with_external_forces(form: Form, base: Base) -> None:
    compare(form, "puma560", base)


# ---- structural zeros


def zeros(graph: Graph, output: int, n: int) -> NDArray[np.bool_]:
    """Entries of a matrix that are the constant 0 in the graph, so that no operation is spent on them."""
    nodes = [graph.nodes[element] for element in graph.outputs[output].elements]
    return np.array([node.op == "const" and node.value == 0 for node in nodes]).reshape(n, n)


def unrelated(model: Model) -> NDArray[np.bool_]:
    """The pairs of degrees of freedom of which neither moves the other, as they are on different branches."""
    related = np.eye(model.nv, dtype=bool)
    for k in range(model.nv):
        for j in model.ancestor_dofs(k):
            related[k, j] = related[j, k] = True
    return ~related


def uncoupled(model: Model) -> NDArray[np.bool_]:
    """The pairs of degrees of freedom in different trees that are attached to the world."""
    roots: list[int] = []
    for k in range(model.nv):
        chain = model.ancestor_dofs(k)
        roots.append(chain[-1] if chain else k)
    different: NDArray[np.bool_] = np.not_equal.outer(np.array(roots), np.array(roots))
    return different


BRANCHED = ["quadruped12", "humanoid30"]


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("name", few(BRANCHED[:1], BRANCHED))
@parametrize("crba", "rnea_derivatives")
def test_branches_do_not_feel_each_other(form: Form, name: str, base: Base) -> None:
    model = robot(name, base).model
    graph = graph_of(form, name, base, engine="graph")
    for output in range(len(graph.outputs)):
        assert zeros(graph, output, model.nv)[unrelated(model)].all()


@pytest.mark.parametrize("name", few(BRANCHED[:1], BRANCHED))
@parametrize("minv", "aba_derivatives")
def test_trees_do_not_feel_each_other(form: Form, name: str) -> None:
    """This holds for a fixed base; a floating base couples all trees."""
    model = robot(name).model
    graph = graph_of(form, name, engine="graph")
    for output in range(len(graph.outputs)):
        assert zeros(graph, output, model.nv)[uncoupled(model)].all()


@pytest.mark.parametrize("name", few(["double_pendulum", "quadruped12"], BUNDLED))
@parametrize("rnea_derivatives", "aba_derivatives")
def test_nothing_depends_on_where_the_base_is(form: Form, name: str) -> None:
    model = robot(name, "floating").model
    assert zeros(graph_of(form, name, "floating", engine="graph"), 0, model.nv)[:, :3].all()


def test_there_are_zeros_to_find() -> None:
    """Each leg of a quadruped on a fixed base is a tree of its own."""
    fixed, floating = robot("quadruped12").model, robot("quadruped12", "floating").model
    assert unrelated(fixed).sum() == uncoupled(fixed).sum() == 4 * 3 * 9
    assert unrelated(floating).sum() == 4 * 3 * 9
    assert uncoupled(floating).sum() == 0
