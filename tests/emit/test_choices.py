"""Choices in C have the bits of the interpreter, in single values and in vectors, without a jump."""

from __future__ import annotations

import ctypes
import re
import subprocess
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from rbdgen.emit.c.choices import CHOICES
from rbdgen.emit.c.lanes import CHOSEN, lanes_context
from rbdgen.emit.c.printer import Style, print_statements, scalar_style
from rbdgen.emit.package import EmitOptions
from rbdgen.emit.real import REALS
from rbdgen.emit.text import filled
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.node import Graph, Input, Node, Output

SPECIAL = [0.0, -0.0, 1.0, -1.0, 1.5, -3e38, 1e-45, np.inf, -np.inf, np.nan]
FLAGS = ["-std=gnu99", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-Wno-psabi", "-ffp-contract=off"]


def graph_of_all() -> Graph:
    """The graph of every choice between quotients that nothing else reads, which a jump could skip."""
    nodes = [Node("input", (), float(k)) for k in range(4)]
    nodes += [Node("const", (), 0.75), Node("mul", (2, 4)), Node("div", (5, 3)), Node("div", (3, 5))]
    nodes += [Node("max", (6, 7)), Node("min", (6, 7)), Node("select", (0, 1, 6, 7))]
    nodes += [Node("select_le", (0, 1, 7, 6)), Node("abs", (6,))]
    nodes += [Node("max", (0, 4)), Node("min", (4, 1)), Node("select", (0, 4, 1, 2)), Node("abs", (0,))]
    elements = tuple(range(8, len(nodes)))
    return Graph((Input("x", 4),), tuple(nodes), (Output("y", (len(elements),), elements),))


def states(dtype: str) -> np.ndarray:
    """All pairs of special values, each together with two ordinary values."""
    a, b = (x.ravel() for x in np.meshgrid(*[np.array(SPECIAL, dtype)] * 2))
    rest = np.random.default_rng(0).normal(size=(2, a.size)).astype(dtype)
    return np.concatenate([np.stack([a, b, *rest]), np.stack([*rest, a, b])], axis=1)


def compile_text(folder: Path, text: str, *flags: str) -> ctypes.CDLL:
    (folder / "f.c").write_text(text)
    subprocess.run(["gcc", *FLAGS, *flags, "-shared", "-fPIC", "f.c", "-o", "f.so"], cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "f.so"))


def assert_same_bits(found: np.ndarray, expected: np.ndarray) -> None:
    assert np.array_equal(np.isnan(found), np.isnan(expected))
    known = ~np.isnan(expected)
    assert found[known].tobytes() == expected[known].tobytes()


@pytest.mark.parametrize("name", REALS)
@pytest.mark.parametrize("nesting", [0, 4])
def test_numbers(name: str, nesting: int, tmp_path: Path) -> None:
    graph, real = graph_of_all(), REALS[name]
    body = " ".join(print_statements(graph, scalar_style(real, nesting=nesting)))
    library = compile_text(
        tmp_path, f"#include <math.h>\nvoid f(const {name} *x, {name} *y) {{ {body} }}", "-O2"
    )
    x = states(real.numpy)
    expected = evaluate(graph, {"x": x.T})["y"]
    found = np.empty_like(expected)
    for row, to in zip(np.ascontiguousarray(x.T), found, strict=True):
        library.f(ctypes.c_void_p(row.ctypes.data), ctypes.c_void_p(to.ctypes.data))
    assert_same_bits(found, expected)


def test_numbers_are_cpp_too(tmp_path: Path) -> None:
    body = " ".join(print_statements(graph_of_all(), scalar_style(REALS["double"], nesting=4)))
    (tmp_path / "f.cpp").write_text(f"#include <math.h>\nvoid f(const double *x, double *y) {{ {body} }}")
    strict = ["-std=c++11", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Werror"]
    subprocess.run(["g++", "-fsyntax-only", *strict, "f.cpp"], cwd=tmp_path, check=True)


@pytest.mark.parametrize("level", ["-O1", "-O2", "-O3", "-Os"])
@pytest.mark.parametrize("name", REALS)
def test_numbers_take_no_jump(name: str, level: str, tmp_path: Path) -> None:
    body = " ".join(print_statements(graph_of_all(), scalar_style(REALS[name], nesting=4)))
    text = f"#include <math.h>\nvoid f(const {name} *x, {name} *y) {{ {body} }}"
    (tmp_path / "f.c").write_text(text)
    subprocess.run(["gcc", *FLAGS, level, "-S", "f.c"], cwd=tmp_path, check=True)
    jumps = re.findall(r"^\s+(j(?!mp)[a-z]+|call)\b", (tmp_path / "f.s").read_text(), re.MULTILINE)
    assert jumps == []


@pytest.mark.parametrize("name", REALS)
@pytest.mark.parametrize("machine", ["-msse2", "-mavx2"])
def test_vectors(name: str, machine: str, tmp_path: Path) -> None:
    """All lanes have the bits of the interpreter."""
    real = REALS[name]
    robot = SimpleNamespace(name="toy", macro="TOY", real=name, of="a toy", version="0")
    header = filled(
        "c/ROBOT_lanes.h.jinja", robot=robot, lanes=lanes_context(EmitOptions(real=name), chosen=CHOSEN)
    )
    (tmp_path / "toy_lanes.h").write_text(header)
    functions = {op: f"toy_lanes_{op}" for op in ("sqrt", *CHOSEN)}
    style = Style(real, "toy_lanes", functions, constant="TOY_ALL({})")
    graph = graph_of_all()
    body = " ".join(print_statements(graph, style))
    text = '#include "toy_lanes.h"\nint lanes(void) { return TOY_LANES; }\n'
    text += f"void f(const toy_lanes *x, toy_lanes *y) {{ {body} }}"
    library = compile_text(tmp_path, text, "-O2", machine)
    lanes = library.lanes()
    x = states(real.numpy)
    x = x[:, : x.shape[1] // lanes * lanes]
    expected = evaluate(graph, {"x": x.T})["y"]
    for first in range(0, x.shape[1], lanes):
        given, found = aligned((4, lanes), real.numpy), aligned((expected.shape[1], lanes), real.numpy)
        given[...] = x[:, first : first + lanes]
        library.f(ctypes.c_void_p(given.ctypes.data), ctypes.c_void_p(found.ctypes.data))
        assert_same_bits(found.T, expected[first : first + lanes])


def aligned(shape: tuple[int, int], dtype: str) -> np.ndarray:
    """An array that is aligned to vectors."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    whole = np.zeros(size + 64, np.uint8)
    start = -whole.ctypes.data % 64
    return whole[start : start + size].view(dtype).reshape(shape)


def test_every_choice_has_its_text() -> None:
    assert set(CHOSEN) == {"abs", *CHOICES}
