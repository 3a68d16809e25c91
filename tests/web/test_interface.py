"""What calls of ES modules take, return and refuse, is the same for WebAssembly and JavaScript."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.toys import facts, function, torque
from support.web import NODE, WEB, WEBASSEMBLY, module_options, modules_of, need, node, written_module

import rbdgen
from rbdgen.emit.package import FunctionSource
from rbdgen.graph.builder import Builder
from rbdgen.machine import Real
from rbdgen.signature import SizedArgument
from rbdgen.toolchain.cache import Cache


def mix() -> FunctionSource:
    """B = s A + c + d[0] and the sum of s A, of a matrix, a scalar and two vectors, one with a default."""
    builder = Builder()
    sizes = {"A": 6, "s": 1, "c": 1, "d": 2}
    matrix, (s,), (c,), d = (builder.input(name, size) for name, size in sizes.items())
    scaled = [s * a for a in matrix]
    total = scaled[0]
    for x in scaled[1:]:
        total = total + x
    graph = builder.graph([("B", (2, 3), [x + c + d[0] for x in scaled]), ("total", (), [total])])
    inputs = (
        SizedArgument("A", (2, 3), "1", "a matrix"),
        SizedArgument("s", (), "1", "a scalar", "scalar"),
        SizedArgument("c", (1,), "1", "a vector of one"),
        SizedArgument("d", (2,), "1", "a vector with a default", default=(2.0, 2.0)),
    )
    outputs = (
        SizedArgument("B", (2, 3), "1", "a matrix"),
        SizedArgument("total", (), "1", "a scalar", "scalar"),
    )
    return function("mix", graph, inputs, outputs)


@pytest.mark.parametrize("real", ["double", "float"])
def test_calls(real: Real, tmp_path: Path, build_cache: Cache) -> None:
    need(*WEBASSEMBLY, NODE)
    folder = written_module(tmp_path, facts(), [mix(), torque()], module_options(real), build_cache)
    modules = modules_of(folder)
    assert len(modules) == (2 if real == "double" else 1)
    for module in modules.values():
        assert node(WEB / "interface.mjs", module) == "as expected\n"


def test_loading(tmp_path: Path, build_cache: Cache) -> None:
    """Modules come from addresses, bytes and responses, and another module is refused."""
    need(*WEBASSEMBLY, NODE)
    folder = written_module(tmp_path, facts(), [mix(), torque()], module_options(), build_cache)
    other = written_module(tmp_path, facts("other"), [torque()], module_options(), build_cache)
    assert node(WEB / "loading.mjs", folder, other / "other.wasm") == "as expected\n"


def test_parameters(tmp_path: Path) -> None:
    need(*WEBASSEMBLY, NODE)
    options: dict[str, Any] = {"params": ["mass:*"], "emit": ["javascript"]}
    folder = rbdgen.generate("double_pendulum", tmp_path, ["rnea"], target="wasm32", **options)
    for module in modules_of(folder).values():
        assert node(WEB / "parameters.mjs", module) == "as expected\n"
