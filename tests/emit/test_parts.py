"""Functions in parts have the bits of those in one piece, overwrite no value too early, and are plain C."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.folders import selftest_sources, written
from support.graphs import ALL, graphs, max_live, pendulum
from support.toys import facts, function, straight, torque

from rbdgen.access import Access, column, whole
from rbdgen.emit.c.parts import Body, Part, print_parts, segments_between, workspace_slots
from rbdgen.emit.c.printer import LONGEST_PART, Sincos, print_statements, readable, scalar_style
from rbdgen.emit.c.trigonometry import trigonometry_of
from rbdgen.emit.package import EmitOptions, FunctionSource
from rbdgen.emit.real import REALS
from rbdgen.emit.render import render
from rbdgen.errors import EmitError
from rbdgen.graph.builder import Builder
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.node import Graph, Input, Node, Output
from rbdgen.graph.passes.split import split
from rbdgen.graph.programs.program import Loop, Program, Result
from rbdgen.graph.programs.run import run
from rbdgen.pipeline.design import batch_program
from rbdgen.runtime import open_library
from rbdgen.signature import SizedArgument, SizedSignature
from rbdgen.toolchain.cache import Cache
from rbdgen.toolchain.compiler import find_compiler
from rbdgen.toolchain.module import Toolchain, build

DOUBLE = REALS["double"]
STRICT = ("-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Werror")
SINCOS = "static void toy_sincos(double x, double *s, double *c) { *s = sin(x); *c = cos(x); }"


def test_a_short_graph_stays_one_piece() -> None:
    graph = straight(torque())
    body = print_parts(graph, scalar_style(DOUBLE), "toy_torque", "restrict")
    assert body == Body((), print_statements(graph, scalar_style(DOUBLE)))


def test_parts_take_what_they_read_and_write() -> None:
    style = scalar_style(DOUBLE, nesting=0)
    body = print_parts(straight(torque()), style, "toy_torque", "restrict", longest=9)
    assert (*body.scratch, *body.statements) == (
        "double workspace[6];",
        "const double t4 = q[0] + q[1];",
        "workspace[0] = sin(q[0]);",
        "workspace[1] = cos(q[0]);",
        "workspace[2] = sin(t4);",
        "workspace[3] = cos(t4);",
        "toy_torque_part1(v, workspace);",
        "toy_torque_part2(v, workspace, tau);",
    )
    first, second = body.parts
    assert first == Part(
        "toy_torque_part1",
        "Part 1 of 2: 4 operations: f[0]",
        ("const double *restrict v", "double *restrict workspace"),
        (
            "const double t10 = -9.81 * workspace[0];",
            "const double t11 = v[0] * v[0];",
            "workspace[4] = t11;",
            "const double t12 = t11 * workspace[2];",
            "workspace[5] = t10 - t12; /* f[0].n.z */",
        ),
    )
    assert second.comment == "Part 2 of 2: 9 operations"
    assert second.parameters == (
        "const double *restrict v",
        "const double *restrict workspace",
        "double *restrict tau",
    )
    assert second.statements[-1] == "tau[1] = workspace[1] * t22;"


def test_sines_are_computed_before_the_parts() -> None:
    style = scalar_style(DOUBLE, Sincos("toy", 3), nesting=0)
    body = print_parts(straight(torque()), style, "toy_torque", "restrict", longest=9)
    assert (*body.scratch, *body.statements) == (
        "double workspace[2];",
        "const double t4 = q[0] + q[1];",
        "const double angle[3] = {q[0], t4, 0};",
        "double sine[3], cosine[3];",
        "toy_sincos_n(angle, sine, cosine);",
        "toy_torque_part1(v, sine, workspace);",
        "toy_torque_part2(v, cosine, workspace, tau);",
    )


def test_arrays_may_be_declared_otherwise() -> None:
    declared = {"v": "const float *v"}
    graph = straight(torque())
    body = print_parts(graph, scalar_style(DOUBLE), "f", "restrict", declared, longest=4)
    parameters = {parameter for part in body.parts for parameter in part.parameters}
    assert "const float *v" in parameters
    assert "const double *restrict v" not in parameters
    assert "double *restrict tau" in parameters


def test_a_name_taken_by_the_workspace_is_refused() -> None:
    nodes = (Node("input"), Node("neg", (0,)), Node("sq", (1,)))
    graph = Graph((Input("workspace", 1),), nodes, (Output("y", (1,), (2,)),))
    for longest in (1, 9):
        with pytest.raises(EmitError, match="rename it"):
            print_parts(graph, scalar_style(DOUBLE), "f", "restrict", longest=longest)


@settings(derandomize=True, max_examples=200, deadline=None)
@given(graph=graphs(ops=ALL), longest=st.integers(1, 12), own=st.booleans())
def test_no_slot_is_taken_while_its_value_is_needed(graph: Graph, longest: int, own: bool) -> None:
    try:
        trigonometry = trigonometry_of(graph, builtin=own)
    except EmitError:
        return  # a sine of a sine
    places = readable(graph, trigonometry)
    segments = segments_between(graph, trigonometry, split(graph, longest))
    size, slots = workspace_slots(graph, segments, places)
    assert set(slots.values()) == set(range(size))
    workspace = [-1] * size
    computed: set[int] = set()
    for nodes in segments:
        here = set(nodes)
        for index in nodes:  # nested statements may write all values before reading any
            if index in slots:
                workspace[slots[index]] = index
        for index in nodes:
            for argument in graph.nodes[index].args if index not in places else ():
                known = argument in here or argument in places or not graph.nodes[argument].args
                assert known or (argument in computed and workspace[slots[argument]] == argument)
        computed |= here


def test_slots_are_taken_again() -> None:
    builder = Builder()
    x = builder.input("x", 8)
    state = x[0]
    for _ in range(40):  # forty groups of eight values, each summed to one
        state = sum((state * element for element in x[1:]), state)
    graph = builder.graph([("y", (1,), [state])])
    trigonometry = trigonometry_of(graph, builtin=False)
    boundaries = split(graph, 40)
    segments = segments_between(graph, trigonometry, boundaries)
    assert len(boundaries) > 10
    assert max_live(graph) == 3
    size, _ = workspace_slots(graph, segments, readable(graph, trigonometry))
    assert size == 2  # the value from the part before, and the value for the next


def wrapped(name: str, body: Body, graph: Graph) -> str:
    """Prints the C of `void name(inputs, outputs)`, after that of its parts."""
    texts = [
        f"static void {part.name}({', '.join(part.parameters)})\n{{\n"
        f"{chr(10).join(part.scratch + part.statements)}\n}}"
        for part in body.parts
    ]
    parameters = [f"const double *{x.name}" for x in graph.inputs] + [
        f"double *{x.name}" for x in graph.outputs
    ]
    unused = "".join(f"(void){x.name};\n" for x in graph.inputs)
    statements = "\n".join(body.scratch + body.statements)
    return "\n".join([*texts, f"void {name}({', '.join(parameters)})\n{{\n{unused}{statements}\n}}"])


def prototypes(names: Sequence[str], graph: Graph) -> str:
    parameters = ["const double *"] * len(graph.inputs) + ["double *"] * len(graph.outputs)
    return "\n".join(f"void {name}({', '.join(parameters)});" for name in names)


def compiled(folder: Path, texts: Mapping[str, str], graph: Graph) -> ctypes.CDLL:
    """Compiles the functions as C99, and as strict C++ as well."""
    source = (
        f"#include <math.h>\n#if defined(__cplusplus)\n#define RESTRICT\n#else\n#define RESTRICT restrict\n"
        f"#endif\n{prototypes(list(texts), graph)}\n{SINCOS}\nvoid use(double *p);\n"
        f"void use(double *p) {{ toy_sincos(1.0, p, p); }}\n" + "\n".join(texts.values())
    )
    (folder / "f.c").write_text(source)
    flags = ("-O1", "-ffp-contract=off", *STRICT)
    subprocess.run(
        ["gcc", "-std=c99", "-shared", "-fPIC", *flags, "f.c", "-o", "f.so", "-lm"], cwd=folder, check=True
    )
    subprocess.run(["g++", "-fsyntax-only", "-x", "c++", *flags, "f.c"], cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "f.so"))


def called(
    library: ctypes.CDLL, name: str, graph: Graph, values: Mapping[str, npt.NDArray[np.float64]]
) -> dict[str, npt.NDArray[np.float64]]:
    outputs = {array.name: np.full(array.shape, 1e30) for array in graph.outputs}
    arrays = [*(values[array.name] for array in graph.inputs), *outputs.values()]
    getattr(library, name)(*(ctypes.c_void_p(array.ctypes.data) for array in arrays))
    return outputs


def bits(values: npt.NDArray[np.float64]) -> bytes:
    """Returns the bits that must be equal; all NaNs have the same bits."""
    return np.where(np.isnan(values), np.nan, values).tobytes()


@settings(
    derandomize=True,
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(graph=graphs(ops=ALL), longest=st.integers(1, 9))
def test_parts_give_the_bits_of_one_piece(
    graph: Graph, longest: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    values = {"x": np.array([0.7310585786300049, -1.9, 0.25]), "y": np.array([1.3, -0.4])}
    texts = {}
    for nesting in (0, 1, 4):
        style = scalar_style(DOUBLE, nesting=nesting)
        for name, limit in ((f"whole{nesting}", 1000), (f"parts{nesting}", longest)):
            texts[name] = wrapped(name, print_parts(graph, style, name, "RESTRICT", longest=limit), graph)
    library = compiled(tmp_path_factory.mktemp("parts"), texts, graph)
    whole, *others = (called(library, name, graph, values) for name in texts)
    for array, value in evaluate(graph, values).items():
        np.testing.assert_allclose(whole[array], value, rtol=1e-15)  # NumPy's sine may differ in the last bit
        assert all(bits(other[array]) == bits(whole[array]) for other in others)


@pytest.mark.parametrize("longest", [5, 60])
@pytest.mark.parametrize("sincos", [None, Sincos("toy", None)])
def test_a_chain_in_parts(longest: int, sincos: Sincos | None, tmp_path: Path) -> None:
    graph = pendulum(12)
    style = scalar_style(DOUBLE, sincos)
    texts = {
        name: wrapped(name, print_parts(graph, style, name, "RESTRICT", longest=limit), graph)
        for name, limit in (("whole", 1000), ("parts", longest))
    }
    assert "parts_part2" in texts["parts"]
    library = compiled(tmp_path, texts, graph)
    values = {"q": np.linspace(-1.0, 1.0, 12)}
    whole, parts = (called(library, name, graph, values)["p"] for name in texts)
    np.testing.assert_allclose(whole, evaluate(graph, values)["p"], rtol=1e-14)
    assert bits(parts) == bits(whole)


X = SizedArgument("x", (8, 10), "", "ten columns")
F = SizedArgument("factor", (4,), "", "what all columns share")
Y = SizedArgument("y", (8, 10), "", "ten columns")
STYLES = {
    "portable": EmitOptions(target="portable", extensions=False),
    "portable_builtin": EmitOptions(target="portable", extensions=False, trig="builtin", real="float"),
    "host": EmitOptions(trig="builtin"),
}


def wound(columns: int, turns: int = 1300) -> Graph:
    """Mixes eight numbers of the first column with their neighbours repeatedly, in some 3900 operations."""
    builder = Builder()
    x, factor = builder.input("x", 8 * columns), list(builder.input("factor", 4))
    if columns > 1:
        factor[3] = (factor[0] + factor[1]).sin()
    state = [x[columns * k] for k in range(8)]
    for turn in range(turns):
        k = turn % 8
        state[k] = (state[k] * factor[turn % 4] + state[k - 1]) * 0.3125
    others = [[0.0 if k < 2 else x[columns * k + column] for column in range(1, columns)] for k in range(8)]
    rows = [value for k in range(8) for value in (state[k], *others[k])]
    return builder.graph([("y", (8, columns), rows)])


def padded() -> Graph:
    """A graph whose output is one number and nine zeros."""
    builder = Builder()
    (x,), factor = builder.input("x", 1), builder.input("factor", 4)
    return builder.graph([("y", (10,), [x * factor[0], *[0.0] * 9])])


def programs() -> list[FunctionSource]:
    """Programs of a straight line too long for one piece, of a loop over such a line, and of zeros."""
    rows = tuple(range(0, 80, 10))
    each = {"x": Access("x", (0,), rows), "factor": whole("factor", 4)}
    zeros = Loop("rows", padded(), each, {"y": Access("y", tuple(range(10)), rows)}, 8)
    loop = Loop(
        "columns",
        wound(1),
        {"x": column("x", 8, 10, range(10)), "factor": whole("factor", 4)},
        {"y": column("y", 8, 10, range(10))},
        10,
    )
    sources = [function("straight", wound(10), (X, F), (Y,))]
    for name, loops in (("looped", (loop,)), ("padded", (zeros,))):
        program = Program((Input("x", 80), Input("factor", 4)), (Result("y", (8, 10)),), loops)
        signature = SizedSignature(name, (X, F), (Y,))
        batch = batch_program(program)
        sources.append(
            FunctionSource(signature, program, "plain", "as given", program.cost, f"toy {name}", batch=batch)
        )
    return sources


@pytest.mark.parametrize("style", STYLES)
def test_programs_pass_their_own_test(style: str, tmp_path: Path) -> None:
    sources = render(facts(), programs(), STYLES[style])
    for name in ("straight", "looped_columns"):
        assert f"_APART void toy_{name}_part2(" in sources.files[f"toy_{name.partition('_')[0]}.c"]
    written(sources.files, tmp_path)
    for name in ("straight", "padded"):
        filled = "memset(&y[1], 0, 9 * sizeof y[0]);" in sources.files[f"toy_{name}.c"]
        assert filled == STYLES[style].extensions
    texts = selftest_sources(tmp_path)
    flags = ("-O1", "-ffp-contract=off", *STRICT)
    subprocess.run(["gcc", "-std=c99", *flags, *texts, "-o", "program", "-lm"], cwd=tmp_path, check=True)
    if not STYLES[style].extensions:
        subprocess.run(["g++", "-fsyntax-only", "-x", "c++", *flags, *texts], cwd=tmp_path, check=True)
    subprocess.run([tmp_path / "program"], check=True)
    symbols = subprocess.run(["nm", "program"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert {"toy_straight_part2", "toy_looped_columns_part2"} <= set(symbols.stdout.split())  # not inlined


@pytest.mark.parametrize("compiler", [name for name in ("gcc", "clang") if shutil.which(name)])
def test_twins_in_parts_have_the_bits_of_single_calls(build_cache: Cache, compiler: str) -> None:
    toolchain = Toolchain(find_compiler(compiler), ("-march=native", "-O2", "-ffp-contract=off"), 2)
    sources = render(facts(), programs(), STYLES["host"])
    library = open_library(build(sources, toolchain, build_cache))
    random = np.random.default_rng(3)
    x, factor = random.uniform(-1, 1, (19, 8, 10)), random.uniform(-1, 1, (19, 4))
    for source, call in zip(programs(), library.functions.values(), strict=True):
        expected = np.stack([call(*state) for state in zip(x, factor, strict=True)])
        flat = {"x": x.reshape(19, 80), "factor": factor}
        np.testing.assert_allclose(expected, run(source.program, flat)["y"], rtol=1e-12)
        long = source.program.length > LONGEST_PART
        assert long == ("_part2(" in sources.files[f"toy_{source.name}_batch.c"])
        assert bits(call(x, factor)) == bits(expected)


DIGEST = """
import hashlib
from support.graphs import pendulum
from rbdgen.emit.c.parts import print_parts
from rbdgen.emit.c.printer import scalar_style
from rbdgen.emit.real import REALS
body = print_parts(pendulum(40), scalar_style(REALS["double"]), "f", "restrict", longest=50)
print(hashlib.sha256(repr(body).encode()).hexdigest())
"""


def test_text_depends_on_no_hash_seed() -> None:
    body = print_parts(pendulum(40), scalar_style(DOUBLE), "f", "restrict", longest=50)
    expected = hashlib.sha256(repr(body).encode()).hexdigest()
    for seed in ("1", "2"):
        path = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
        environment = {"PYTHONHASHSEED": seed, "PYTHONPATH": path}
        done = subprocess.run(
            [sys.executable, "-c", DIGEST], env=environment, capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == expected
