"""Kernels of CUDA, whose text runs on the CPU here, give the bits of the interpreter and of the C."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.carts import BODY, cart_with_a_ball
from support.cuda import STATES, Array, OnCpu, differing, interpreted, same_bits
from support.elementary import ARITY, arguments, special
from support.few import few
from support.hopper import hopper
from support.own import ARM, closed_loop, ekf, motor_step, reach, rk4
from support.tools import need_modules, ran
from support.toys import facts, function
from support.web import by_gcc, manifest_of, states_of

import rbdgen
from rbdgen.emit.cuda import kernel, stages
from rbdgen.emit.package import EmitOptions, FunctionSource, Sources
from rbdgen.emit.render import render
from rbdgen.emit.tools import Kernels
from rbdgen.errors import EmitError
from rbdgen.functions import table
from rbdgen.functions.composition import Composition
from rbdgen.functions.table import rows_of
from rbdgen.graph.builder import Builder
from rbdgen.graph.ops import OPS
from rbdgen.options import Options
from rbdgen.own.text import OwnFunction
from rbdgen.pipeline.compilation import style
from rbdgen.pipeline.design import design_functions
from rbdgen.pipeline.facts import facts_of
from rbdgen.pipeline.request import Request
from rbdgen.resources import robot_root
from rbdgen.signature import SizedArgument
from rbdgen.toolchain.nvrtc import SHARED


def cart() -> rbdgen.Robot:
    """A robot with quaternions and a follower; its functions have signs and arc tangents."""
    builder = cart_with_a_ball()
    builder.add_body(
        "finger", parent="hand", type="revolute", axis=(1, 0, 0), mimic=("hand_joint", -0.5, 0.1), **BODY
    )
    return rbdgen.load_robot(builder)


CASES: Mapping[str, tuple[Callable[[], rbdgen.Robot], tuple[str, ...], Mapping[str, Any]]] = {
    "pendulum": (
        lambda: rbdgen.load_robot("double_pendulum"),
        ("rnea", "aba", "crba", "kinetic_energy", "centroidal_matrix"),
        {},
    ),
    "arm": (lambda: rbdgen.load_robot("arm7"), ("rnea", "minv"), {}),
    "given sines": (lambda: rbdgen.load_robot("double_pendulum"), ("rnea",), {"trig": "input"}),
    "masses as inputs": (lambda: rbdgen.load_robot("planar3r"), ("aba",), {"params": ["mass:*"]}),
    "cart": (cart, ("difference", "step"), {}),
}


@cache
def case(name: str) -> tuple[Request, list[FunctionSource]]:
    """A request and its functions, whose graphs are the same for all types of numbers."""
    make, functions, options = CASES[name]
    request = Request(make(), Options.of(target="cuda", functions=functions, **options), package=False)
    return request, design_functions(request)


def written(
    request: Request, functions: list[FunctionSource], real: Any, *, fuse: bool, form: str | None = None
) -> Sources:
    forms = {} if form is None else {source.name: form for source in functions}
    emitted = replace(style(request.options, package=False), real=real, kernels=Kernels(fuse, forms=forms))
    return render(facts_of(request), functions, emitted)


FORMS = [("float", True), ("double", False), ("float", False), ("double", True)]
"""The types of numbers, each with products that are fused or not."""

RUNS = [(name, *form) for name in CASES for form in (FORMS if name == "pendulum" else FORMS[:2])]

OFTEN = [(name, *FORMS[k % 2]) for k, name in enumerate(CASES)] + [("pendulum", *form) for form in FORMS[1:]]
"""The pendulum with all types of numbers, and the others with one."""


@pytest.mark.parametrize(("name", "real", "fuse"), few(OFTEN, RUNS))
def test_bits_of_functions(name: str, real: str, fuse: bool, tmp_path: Path) -> None:
    request, functions = case(name)
    kernels = OnCpu(written(request, functions, real, fuse=fuse), tmp_path)
    states = states_of(kernels.manifest, STATES)
    assert differing(kernels, functions, states, fuse=fuse) == []


@pytest.mark.parametrize(("name", "form"), [(name, form) for name in CASES for form in ("warps", "stages")])
def test_bits_of_other_forms(name: str, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions that are short here are cut into several stages as well."""
    monkeypatch.setattr(stages, "LONGEST", 10)
    request, functions = case(name)
    real, fuse = ("float", True) if name != "arm" else ("double", False)
    sources = written(request, functions, real, fuse=fuse, form=form)
    kernels = OnCpu(sources, tmp_path)
    assert differing(kernels, functions, states_of(kernels.manifest, STATES), fuse=fuse) == []
    facts = [row["cuda"] for row in sources.manifest["functions"].values()]
    assert {row["form"] for row in facts} == {form}
    if form == "warps":
        assert {(row["threads"], row["states_per_block"]) for row in facts} == {(128, 32)}
        text = sources.files[facts[0]["source"]]
        per_warp = [part.count("__syncthreads();") for part in re.split(r"case \d+:|default:", text)[1:]]
        assert len(per_warp) == 4
        assert len(set(per_warp)) == 1
        assert per_warp[0] > 1
    else:
        assert "_stage2(" in sources.files[facts[0]["source"]]


def test_a_missing_barrier_between_warps_is_seen(tmp_path: Path) -> None:
    request, functions = case("pendulum")
    sources = written(request, functions, "float", fuse=True, form="warps")
    states = states_of(sources.manifest, STATES)
    files = dict(sources.files)
    file = sources.manifest["functions"]["aba"]["cuda"]["source"]
    begin = files[file].index("switch")
    files[file] = files[file][:begin] + files[file][begin:].replace("__syncthreads();", ";")
    kernels = OnCpu(Sources(sources.name, files), tmp_path)
    assert differing(kernels, functions, states, fuse=True)[:1] == ["aba: a"]


def test_a_form_is_taken_if_it_is_asked_for(tmp_path: Path) -> None:
    options: dict[str, Any] = {"target": "cuda", "compiled": False, "real": "float"}
    forms = {"rnea": "warps", "minv": "stages"}
    folder = rbdgen.generate("double_pendulum", tmp_path, ["rnea", "minv"], variants=forms, **options)
    functions = manifest_of(folder)["functions"]
    assert {name: row["cuda"]["form"] for name, row in functions.items()} == forms
    with pytest.raises(rbdgen.RbdgenError, match=r"'warps'"):
        rbdgen.generate("double_pendulum", tmp_path, ["rnea"], variants={"rnea": "warps"}, compiled=False)


def test_bits_are_those_of_the_c_if_that_is_asked_for(tmp_path: Path) -> None:
    robot = rbdgen.load_robot("double_pendulum")
    options = {"real": "float", "target": "cuda", "same_bits": True, "compiled": False}
    folder = rbdgen.generate(robot, tmp_path, ["rnea", "minv"], **options)
    files = {file: (folder / file).read_text() for file in manifest_of(folder)["files"]}
    kernels = OnCpu(Sources(folder.name, files), tmp_path / "kernels")
    states = states_of(manifest_of(folder), STATES)
    expected = by_gcc(folder, states)
    for name, inputs in states.items():
        found = np.concatenate([*kernels.run(name, inputs).values()], axis=1)
        assert same_bits(found, expected[name])


def of_one_operation(op: str) -> FunctionSource:
    """z of the operands of an operation."""
    builder = Builder()
    names = [f"x{k}" for k in range(OPS[op].arity)]
    operands = [builder.input(name, 1)[0] for name in names]
    graph = builder.graph([("z", (1,), [operands[0].applied(op, *operands)])])
    inputs = tuple(SizedArgument(name, (1,), "1", "an operand") for name in names)
    return function(f"of_{op}", graph, inputs, (SizedArgument("z", (1,), "1", "the result"),))


OPERATIONS = [op for op, row in OPS.items() if not row.of_lanes and op != "held"]


@pytest.mark.parametrize("real", ["float", "double"])
def test_bits_of_operations(real: Any, tmp_path: Path) -> None:
    """All operations of the grammar, also for numbers that are special to them."""
    functions = [of_one_operation(op) for op in OPERATIONS]
    options = EmitOptions(real, "builtin", "cuda", extensions=False, kernels=Kernels(), package=False)
    kernels = OnCpu(render(facts(), functions, options), tmp_path)
    states = {}
    for source in functions:
        op = source.name.removeprefix("of_")
        drawn = _operands(op, kernels.dtype)
        states[source.name] = {f"x{k}": array.reshape(-1, 1) for k, array in enumerate(drawn)}
    assert differing(kernels, functions, states, fuse=True) == []


def _operands(op: str, dtype: Any) -> list[Array]:
    if op in ARITY:
        return list(arguments(op, dtype, 300))
    random, edges = np.random.default_rng(0), special(dtype)
    if op in ("sin", "cos"):
        turns = np.arange(-40, 41) * np.pi / 2
        given = np.concatenate([turns, random.uniform(-9e3, 9e3, 300), edges[np.abs(edges) < 9e3]])
        return [given.astype(dtype)]
    columns = [column.ravel() for column in np.meshgrid(edges, edges)]
    return [random.permutation(columns[k % 2]) if k > 1 else columns[k] for k in range(OPS[op].arity)]


def test_another_bit_and_a_missing_barrier_are_seen(tmp_path: Path) -> None:
    request, functions = case("pendulum")
    sources = written(request, functions, "float", fuse=True)
    states = states_of(sources.manifest, STATES)
    header = "cuda/double_pendulum_cuda.h"

    def changed(old: str, new: str) -> list[str]:
        assert old in sources.files[header]
        files = {**sources.files, header: sources.files[header].replace(old, new)}
        kernels = OnCpu(Sources(sources.name, files), tmp_path / str(len(old)))
        return differing(kernels, functions, states, fuse=True)

    assert "rnea: tau" in changed("0.041653", "0.041654")
    assert "rnea: tau" in changed("__syncwarp();", ";")
    assert "aba: a" in changed("? 0 - one", "? one")


def test_products_are_fused_with_the_sums_that_read_them() -> None:
    request, functions = case("arm")
    files = written(request, functions, "float", fuse=True).files
    text = files["cuda/arm7_rnea.cu"]
    assert text.count("__fmaf_rn(") > 100
    unfused = written(request, functions, "float", fuse=False).files["cuda/arm7_rnea.cu"]
    assert "__fmaf_rn(" not in unfused
    rnea = functions[0]
    inputs = {x.name: np.ones((2, x.size)) for x in rnea.signature.inputs}
    for name, array in interpreted(rnea, inputs, fuse=True).items():
        assert np.allclose(array, interpreted(rnea, inputs, fuse=False)[name], rtol=1e-12, atol=1e-12)


def test_facts_of_a_kernel() -> None:
    request, functions = case("arm")
    sources = written(request, functions, "float", fuse=True)
    assert sources.manifest["functions"]["rnea"]["cuda"] == {
        "kernel": "arm7_rnea_kernel",
        "arguments": ["states", "q", "q_step", "v", "v_step", "a", "a_step", "tau"],
        "source": "cuda/arm7_rnea.cu",
        "device": "arm7_rnea_device",
        "header": "cuda/arm7_rnea.cuh",
        "form": "line",
        "order": "close to depth first",
        "operations": 230,
        "threads": 128,
        "states_per_block": 128,
        "shared_bytes": 15104,
    }
    assert {"cuda/arm7_cuda.h", "cuda/arm7_rnea.cu", "cuda/arm7_minv.cu"} <= set(sources.manifest["files"])
    text = sources.files["cuda/arm7_rnea.cu"]
    assert (
        "Launch ceil(states / 128) blocks of 128 threads with 15104 bytes of dynamic shared memory." in text
    )
    assert not re.search(r"[^\x00-\x7f]", text)


def test_forms_follow_from_the_values_that_are_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    request, functions = case("arm")

    def form() -> str:
        facts = written(request, functions, "float", fuse=True).manifest["functions"]["rnea"]
        return str(facts["cuda"]["form"])

    assert form() == "line"
    monkeypatch.setattr(kernel, "_REGISTERS", 10)
    assert form() == "warps"
    monkeypatch.setattr(kernel, "LONGEST", 100)
    assert form() == "stages"


def test_much_shared_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    request, functions = case("arm")
    monkeypatch.setattr(kernel, "PLAIN_SHARED", 4096)
    sources = written(request, functions, "float", fuse=True)
    assert sources.manifest["functions"]["rnea"]["cuda"]["threads"] == 32
    emitted = replace(style(request.options, package=False), kernels=Kernels(shared=3000))
    with pytest.raises(
        EmitError,
        match=r"^function 'rnea' needs \d+ bytes of shared memory for 32 states, and .* 3000; leave it out$",
    ):
        render(facts_of(request), functions, emitted)


def test_an_argument_with_the_name_of_a_variable_is_refused() -> None:
    builder = Builder()
    graph = builder.graph([("z", (1,), builder.input("exchange", 1))])
    inputs, outputs = (SizedArgument(name, (1,), "1", "a number") for name in ("exchange", "z"))
    source = function("copied", graph, (inputs,), (outputs,))
    options = EmitOptions("float", "builtin", "cuda", extensions=False, kernels=Kernels(), package=False)
    with pytest.raises(EmitError, match=r"^function 'copied': an argument named 'exchange' .*; rename it$"):
        render(facts(), [source], options)


DRIVER = """
#include <stddef.h>
typedef struct Module *CUmodule; typedef struct Stream *CUstream; typedef struct Function *CUfunction;
typedef unsigned long long CUdeviceptr;
typedef enum { CUDA_SUCCESS } CUresult;
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name);
CUresult cuLaunchKernel(CUfunction function, unsigned x, unsigned y, unsigned z, unsigned block_x,
    unsigned block_y, unsigned block_z, unsigned bytes, CUstream stream, void **arguments, void **extra);
"""
"""The part of the driver's header that the page uses."""


def test_the_page_tells_how_to_launch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its example prints what it says, its C compiles, and both have the figures of the kernel."""
    need_modules("nvidia", packages="nvidia-cuda-nvrtc")
    page = (Path(__file__).parents[2] / "docs" / "cuda.md").read_text()
    python, c, signature = (
        re.findall(rf"```{re.escape(kind)}\n(.*?)```", page, re.DOTALL)[0] for kind in ("python", "c", "c++")
    )
    names: dict[str, Any] = {}
    with contextlib.chdir(tmp_path):
        exec(python, names)
    assert f"```\n{capsys.readouterr().out}```" in page
    rnea = names["manifest"]["functions"]["rnea"]["cuda"]
    sizes = f"THREADS = {rnea['threads']}, STATES = {rnea['states_per_block']}"
    assert f"{sizes}, SHARED_BYTES = {rnea['shared_bytes']} " in c
    text = (tmp_path / names["folder"] / rnea["source"]).read_text()
    begin, end = text.index('extern "C"'), text.index(")\n{")
    plain = re.sub(r"__launch_bounds__\(\d+\) | ?__restrict__ ?", " ", text[begin:end] + ");")
    assert re.sub(r"\W", "", plain) == re.sub(r"\W", "", signature)
    (tmp_path / "cuda.h").write_text(DRIVER)
    (tmp_path / "launch.c").write_text(c)
    ran("gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-I.", "-c", "launch.c", cwd=tmp_path)
    for arch in SHARED:
        assert f"{arch}," in page.replace(";", ",")


ROBOTS = sorted(path.stem for path in robot_root().glob("*.urdf"))

ALL = [
    pytest.param(robot, base, name, id=f"{robot}-{base}-{name}")
    for robot in ROBOTS
    for base in ("fixed", "floating")
    for name in rows_of(rbdgen.load_robot(robot, base=base).model)
]
"""The functions of the bundled robots, each with a fixed and a floating base."""


IN_CONTACT = [name for name, row in table.ALL.items() if row.of_contacts and not row.missing(hopper().model)]
"""The functions of contacts."""


def check_bits(robot: rbdgen.Robot, name: str, folder: Path, own: Sequence[Composition] = ()) -> None:
    options = Options.of(target="cuda", functions=[name], budget=sys.maxsize)
    request = Request(robot, options, package=False, own=tuple(own))
    functions = design_functions(request)
    for real, fuse in FORMS[:2]:
        kernels = OnCpu(written(request, functions, real, fuse=fuse), folder / real)
        states = states_of(kernels.manifest, STATES)
        assert differing(kernels, functions, states, fuse=fuse) == [], (real, fuse)


@pytest.mark.campaign
@pytest.mark.parametrize(("robot", "base", "name"), ALL)
def test_bits_of_all_functions_of_bundled_robots(robot: str, base: Any, name: str, tmp_path: Path) -> None:
    check_bits(rbdgen.load_robot(robot, base=base), name, tmp_path)


@pytest.mark.campaign
@pytest.mark.parametrize("function", [reach, rk4, ekf, closed_loop, motor_step], ids=lambda own: own.name)
def test_bits_of_own_functions(function: OwnFunction, tmp_path: Path) -> None:
    for name in (function.name, f"{function.name}_vjp"):
        check_bits(ARM, name, tmp_path / name, [function.composition(ARM)])


@pytest.mark.campaign
@pytest.mark.parametrize("name", IN_CONTACT)
def test_bits_of_functions_of_contacts(name: str, tmp_path: Path) -> None:
    check_bits(hopper(), name, tmp_path)
