"""Elementary functions in C give the same bits as the interpreter, for numbers and for vectors. Their machine
code has no jumps.
"""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias, get_args

import numpy as np
import pytest
from support.elementary import ARITY, arguments
from support.folders import written
from support.kernels import EXACT, numbers, vectors
from support.toys import TAU, Q, elementary, facts, function, toys

from rbdgen.emit.package import EmitOptions
from rbdgen.emit.real import REALS
from rbdgen.emit.render import render
from rbdgen.graph.kernels import KERNELS, computed
from rbdgen.graph.node import Graph, Input, Node, Output
from rbdgen.machine import Real

Array: TypeAlias = np.ndarray[Any, Any]

COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
CXX = [name for name in ("g++", "clang++") if shutil.which(name)]
FLAGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wundef", "-Werror"]
WIDEST = 16  # numbers in the widest vector

reals = pytest.mark.parametrize("real", REALS)
compilers = pytest.mark.parametrize("compiler", COMPILERS)


def loops(real: str, type_: str, prefix: str) -> str:
    """C functions that map arrays."""
    text = ""
    for op, arity in ARITY.items():
        names = ["x", "y"][:arity]
        parameters = "".join(f"const {real} *{name}, " for name in names)
        values = ", ".join(f"*(const {type_} *)({name} + i)" for name in names)
        text += f"void all_{op}(long n, {parameters}{real} *z)\n{{\n"
        text += f"    for (long i = 0; i < n; i += (long)(sizeof({type_}) / sizeof({real})))\n"
        text += f"        *({type_} *)(z + i) = {prefix}{op}({values});\n}}\n"
    return text


def compiled(folder: Path, compiler: str, header: str, text: str, *flags: str) -> Callable[..., Array]:
    """The functions of `loops` by their names, on arrays of any length."""
    (folder / "f.h").write_text(header)
    (folder / "f.c").write_text(f'#include "f.h"\n{text}')
    command = [compiler, "-std=gnu99", *FLAGS, *EXACT, *flags, "-Wno-psabi", "-Wno-cast-align"]
    subprocess.run([*command, "-shared", "-fPIC", "f.c", "-o", "f.so", "-lm"], cwd=folder, check=True)
    library = ctypes.CDLL(str(folder / "f.so"))

    def call(op: str, *operands: Array) -> Array:
        size = operands[0].size
        whole = [aligned(size, x.dtype) for x in (*operands, operands[0])]
        for to, x in zip(whole, operands, strict=False):
            to[:size] = x
        pointers = [ctypes.c_void_p(x.ctypes.data) for x in whole]
        getattr(library, f"all_{op}")(ctypes.c_long(whole[0].size), *pointers)
        return whole[-1][:size]

    return call


def aligned(size: int, dtype: Any) -> Array:
    """An array that is aligned to vectors, with at least that many numbers."""
    rounded = -(-size // WIDEST) * WIDEST
    store = np.ones(rounded + 64, dtype)
    return store[(-store.ctypes.data % 64) // store.itemsize :][:rounded]


def assert_same_bits(op: str, found: Array, operands: tuple[Array, ...]) -> None:
    expected = computed(op, *operands)
    assert found.dtype == expected.dtype
    word = f"u{found.itemsize}"
    wrong = (found.view(word) != expected.view(word)) & ~(np.isnan(found) & np.isnan(expected))
    assert not wrong.any(), (op, [x[wrong][:3] for x in operands], found[wrong][:3], expected[wrong][:3])


def test_every_function_has_its_kernel() -> None:
    assert set(ARITY) == set(KERNELS)


@reals
@compilers
@pytest.mark.parametrize("level", ["-O0", "-O2", "-O3"])
def test_numbers(real: str, compiler: str, level: str, tmp_path: Path) -> None:
    call = compiled(tmp_path, compiler, numbers(real), loops(real, real, "toy_math_"), level)
    for op in KERNELS:
        operands = arguments(op, REALS[real].numpy, 20_000)
        assert_same_bits(op, call(op, *operands), operands)


@reals
@compilers
@pytest.mark.parametrize("machine", ["-msse2", "-mavx2", "-march=native"])
def test_vectors(real: str, compiler: str, machine: str, tmp_path: Path) -> None:
    """All widths have the bits of the interpreter."""
    text = loops(real, "toy_lanes", "toy_lanes_")
    call = compiled(tmp_path, compiler, vectors(real), text, "-O2", "-mno-fma", machine)
    for op in KERNELS:
        operands = arguments(op, REALS[real].numpy, 20_000)
        assert_same_bits(op, call(op, *operands), operands)


@reals
@compilers
@pytest.mark.parametrize("level", ["-O1", "-O2", "-O3", "-Os"])
def test_numbers_take_no_jump(real: str, compiler: str, level: str, tmp_path: Path) -> None:
    text = numbers(real)
    for op, arity in ARITY.items():
        operands = [f"x[{k}] / x[{k + 1}]" for k in range(arity)]  # divisions that a jump could skip
        text += (
            f"void one_{op}(const {real} *x, {real} *z) {{ *z = toy_math_{op}({', '.join(operands)}); }}\n"
        )
    (tmp_path / "f.c").write_text(text)
    command = [compiler, "-std=c99", *EXACT, level, "-fcf-protection=none", "-S", "f.c"]
    subprocess.run(command, cwd=tmp_path, check=True)
    lines = (tmp_path / "f.s").read_text()
    inside = re.findall(r"^\s+(?:j[a-z]+|call\w*)\s+(\S+)", lines, re.MULTILINE)
    assert not [target for target in inside if not target.startswith("toy_math_")]
    assert not re.search(r"^\s+(?:j(?!mp)|loop)", lines, re.MULTILINE)


@reals
@pytest.mark.parametrize(
    "command", [[c, "-std=c99"] for c in COMPILERS] + [[c, "-std=c++11", "-xc++"] for c in CXX], ids=" ".join
)
def test_clean_under_strict_warnings(real: str, command: list[str], tmp_path: Path) -> None:
    (tmp_path / "toy_math.h").write_text(numbers(real))
    use = f"{real} f({real} x)"
    (tmp_path / "f.c").write_text(f'#include "toy_math.h"\n{use};\n{use} {{ return toy_math_acos(x); }}\n')
    strict = ["-pedantic", "-Wdouble-promotion", *FLAGS]
    subprocess.run([*command, *strict, "-O2", "-c", "f.c"], cwd=tmp_path, check=True)


@pytest.mark.parametrize("real", get_args(Real))
@compilers
def test_functions_of_a_folder(real: Real, compiler: str, tmp_path: Path) -> None:
    """Single calls have the bits of the interpreter, and batches those of single calls."""
    sources = render(facts(), [elementary()], EmitOptions(real=real, trig="builtin"))
    written(sources.files, tmp_path)
    functions = [path.name for path in tmp_path.glob("*.c")]
    command = [compiler, "-std=gnu99", *FLAGS, *EXACT, "-O2", "-march=native", "-Wno-psabi", *functions]
    for program, said in (("toy_selftest", "as expected"), ("toy_batch_selftest", "0 elements of batches")):
        subprocess.run([*command, f"selftest/{program}.c", "-o", program, "-lm"], cwd=tmp_path, check=True)
        done = subprocess.run([tmp_path / program], check=True, capture_output=True, text=True)
        assert f"elementary: ok, {said if said[0] == '0' else '0 wrong'}" in done.stdout
        assert said in done.stdout


def test_only_what_functions_call_is_in_their_headers() -> None:
    assert not any("_math" in file for file in render(facts(), toys(), EmitOptions()).files)
    assert "toy_lanes_word" not in render(facts(), toys(), EmitOptions()).files["toy_lanes.h"]
    nodes = (Node("input"), Node("input", value=1.0), Node("exp", (0,)), Node("tanh", (1,)))
    graph = Graph((Input("q", 2),), nodes, (Output("tau", (2,), (2, 3)),))
    files = render(facts(), [function("grown", graph, (Q,), (TAU,))], EmitOptions()).files
    for header, prefix in (("toy_math.h", "toy_math_"), ("toy_lanes.h", "toy_lanes_")):
        defined = {op for op in KERNELS if f" {prefix}{op}(" in files[header]}
        assert defined == {"exp", "tanh"}


def test_arithmetic_that_breaks_them_is_refused(tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(numbers("double"))
    command = [COMPILERS[0], "-ffast-math", "-fsyntax-only", "f.c"]
    done = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert done.returncode != 0
    assert "compile without -ffast-math" in done.stderr
