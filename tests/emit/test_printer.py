"""Printed statements compute the same bits as the interpreter, whatever the nesting."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.toys import inertia, straight, torque

from rbdgen.emit.c.loops import print_loops
from rbdgen.emit.c.printer import Sincos, print_statements, scalar_style
from rbdgen.emit.real import REALS, real_type
from rbdgen.errors import EmitError, GraphError, OptionError
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.node import Graph, Input, Node, Output
from rbdgen.graph.programs.program import straight_line

DOUBLE = REALS["double"]


def test_one_operation_a_statement() -> None:
    lines = print_statements(straight(torque()), scalar_style(DOUBLE, nesting=0))
    assert lines == (
        "const double t4 = q[0] + q[1];",
        "const double t5 = sin(q[0]);",
        "const double t6 = cos(q[0]);",
        "const double t7 = sin(t4);",
        "const double t8 = cos(t4);",
        "const double t10 = -9.81 * t5;",
        "const double t11 = v[0] * v[0];",
        "const double t12 = t11 * t7;",
        "const double t13 = t10 - t12; /* f[0].n.z */",
        "const double t14 = v[1] * t8;",
        "const double t15 = t13 + t14;",
        "tau[0] = t15;",
        "const double t16 = t13 - t15;",
        "const double t17 = -t16;",
        "const double t19 = t11 + 2.5;",
        "const double t20 = t17 / t19;",
        "const double t21 = sqrt(t19);",
        "const double t22 = t20 - t21;",
        "tau[1] = t6 * t22;",
    )


def test_nesting_keeps_the_order_of_evaluation() -> None:
    lines = print_statements(straight(torque()), scalar_style(DOUBLE, nesting=4))
    assert lines == (
        "const double t4 = q[0] + q[1];",
        "const double t5 = sin(q[0]);",
        "const double t6 = cos(q[0]);",
        "const double t7 = sin(t4);",
        "const double t8 = cos(t4);",
        "const double t11 = v[0] * v[0];",
        "const double t13 = -9.81 * t5 - t11 * t7; /* f[0].n.z */",
        "const double t15 = t13 + v[1] * t8;",
        "tau[0] = t15;",
        "const double t19 = t11 + 2.5;",
        "tau[1] = t6 * (-(t13 - t15) / t19 - sqrt(t19));",
    )


def test_constants_and_shared_outputs_are_stored() -> None:
    lines = print_statements(straight(inertia()), scalar_style(REALS["float"]))
    assert lines == (
        "const float t1 = cosf(q[1]);",
        "const float t3 = t1 * 0.1f;",
        "M[3] = 3.0f;",
        "const float t5 = t3 + 3.0f;",
        "M[1] = t5;",
        "M[2] = t5;",
        "M[0] = t5 + t3;",
        "g[0] = 0.0f;",
        "g[1] = 0.0f;",
    )


def test_neighbouring_zeros_are_written_at_once() -> None:
    nodes = (Node("input"), Node("const", value=0.0), Node("const", value=-0.0), Node("sq", (0,)))
    outputs = (
        Output("y", (9,), (1, 1, 3, 1, 1, 1, 1, 2, 1)),
        Output("z", (4,), (1, 1, 1, 0)),
    )
    graph = Graph((Input("x", 1),), nodes, outputs)
    rest = (
        "z[3] = x[0];",
        "y[0] = 0.0;",
        "y[1] = 0.0;",
        "y[8] = 0.0;",
        "y[7] = -0.0;",
        "y[2] = x[0] * x[0];",
    )
    lines = print_statements(graph, scalar_style(DOUBLE, memset=True))
    assert lines == (
        "memset(&y[3], 0, 4 * sizeof y[0]);",
        "memset(&z[0], 0, 3 * sizeof z[0]);",
        *rest,
    )
    assert set(rest) < set(print_statements(graph, scalar_style(DOUBLE)))
    backwards = replace(
        scalar_style(DOUBLE, memset=True),
        element=lambda array, position: f"{array}[{20 - 2 * position if array == 'y' else 9 - position}]",
        address=lambda array, position: 20 - 2 * position if array == "y" else 9 - position,
    )
    first, *others = print_statements(graph, backwards)
    assert first == "memset(&z[7], 0, 3 * sizeof z[0]);"  # the elements of y are not neighbours
    assert {"z[6] = x[9];", "y[20] = 0.0;", "y[4] = 0.0;"} < set(others)


def test_own_sincos_is_called_once_for_all_angles() -> None:
    block = print_statements(straight(torque()), scalar_style(DOUBLE, Sincos("toy", 3), nesting=0))
    assert block[:4] == (
        "const double t4 = q[0] + q[1];",
        "const double angle[3] = {q[0], t4, 0};",
        "double sine[3], cosine[3];",
        "toy_sincos_n(angle, sine, cosine);",
    )
    assert "const double t10 = -9.81 * sine[0];" in block
    assert not any("sin(" in line or "cos(" in line for line in block)
    single = print_statements(straight(torque()), scalar_style(DOUBLE, Sincos("toy", None), nesting=0))
    assert single[1:5] == (
        "const double angle[2] = {q[0], t4};",
        "double sine[2], cosine[2];",
        "toy_sincos(angle[0], &sine[0], &cosine[0]);",
        "toy_sincos(angle[1], &sine[1], &cosine[1]);",
    )


def test_own_sincos_of_a_sine_is_refused() -> None:
    nodes = (Node("input"), Node("sin", (0,)), Node("sin", (1,)))
    graph = Graph((Input("q", 1),), nodes, (Output("tau", (1,), (2,)),))
    with pytest.raises(EmitError, match="depends on a sine; generate with trig='libm'"):
        print_statements(graph, scalar_style(DOUBLE, Sincos("toy", None)))


@pytest.mark.parametrize("name", ["t12", "angle", "double", "a b", "x;"])
def test_names_that_would_break_the_body_are_refused(name: str) -> None:
    graph = Graph((Input(name, 1),), (Node("input"),), (Output("y", (1,), (0,)),))
    with pytest.raises(EmitError, match=r"rename it|not usable as a name"):
        print_statements(graph, scalar_style(DOUBLE))


def test_labels_cannot_leave_their_comment() -> None:
    nodes = (Node("input"), Node("neg", (0,)))
    graph = Graph((Input("x", 1),), nodes, (Output("y", (1,), (1,)),), {1: "*/ system(); /*\\\n"})
    (line,) = print_statements(graph, scalar_style(DOUBLE))
    assert line == "y[0] = -x[0]; /* {U+002A}/ system(); /{U+002A}{U+005C}{U+000A} */"


def test_unknown_precision_is_refused() -> None:
    with pytest.raises(OptionError, match="real='half' is not known; choose from: double, float"):
        real_type("half")


UNARY, BINARY = ("neg", "sq"), ("add", "sub", "mul", "div")


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Any arithmetic on two inputs and constants of both signs, values used or not."""
    nodes = [Node("input", value=0.0), Node("input", value=1.0)]
    nodes += [Node("const", value=x) for x in (-1.5, 0.1, 3.0)]
    for _ in range(draw(st.integers(1, 25))):
        op = draw(st.sampled_from(UNARY + BINARY))
        earlier = st.integers(max(0, len(nodes) - 6), len(nodes) - 1)
        nodes.append(Node(op, tuple(draw(earlier) for _ in range(1 if op in UNARY else 2))))
    elements = tuple(draw(st.lists(st.integers(0, len(nodes) - 1), min_size=1, max_size=4)))
    return Graph((Input("x", 2),), tuple(nodes), (Output("y", (len(elements),), elements),))


def run(folder: Path, bodies: Sequence[Sequence[str]], size: int, x: np.ndarray) -> list[np.ndarray]:
    functions = [
        f"void f{k}(const double *x, double *y) {{ (void)x; {' '.join(body)} }}"
        for k, body in enumerate(bodies)
    ]
    (folder / "f.c").write_text("\n".join(functions))
    flags = ["-std=c99", "-O1", "-ffp-contract=off", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror"]
    subprocess.run(["gcc", *flags, "f.c", "-o", "f.so"], cwd=folder, check=True)
    library = ctypes.CDLL(str(folder / "f.so"))
    results = []
    for k in range(len(bodies)):
        y = np.full(size, np.nan)
        getattr(library, f"f{k}")(ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(y.ctypes.data))
        results.append(y)
    return results


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graph=graphs())
def test_compiled_statements_give_the_bits_of_the_interpreter(
    graph: Graph, tmp_path_factory: pytest.TempPathFactory
) -> None:
    x = np.array([0.7310585786300049, -1.9])
    expected = evaluate(graph, {"x": x})["y"]
    bodies = [print_statements(graph, scalar_style(DOUBLE, nesting=n)) for n in (0, 1, 4)]
    for y in run(tmp_path_factory.mktemp("printed"), bodies, expected.size, x):
        np.testing.assert_array_equal(y, expected)


def test_what_is_printed_is_verified_under_tests() -> None:
    """The fixture of `conftest.py` verifies graphs: it finds a node that reads a later one."""
    nodes = (Node("input"), Node("neg", (2,)), Node("sq", (0,)))
    crossed = Graph((Input("x", 1),), nodes, (Output("y", (1,), (1,)),))
    with pytest.raises(GraphError):
        print_statements(crossed, scalar_style(REALS["double"]))
    unwritten = replace(straight_line(crossed), loops=())
    with pytest.raises(GraphError, match="1 elements stay unwritten"):
        print_loops(unwritten, "toy", scalar_style(REALS["double"]), "restrict", None)
