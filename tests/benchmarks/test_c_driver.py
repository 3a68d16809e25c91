"""The driver passes the right rows to a C function and returns its results, or says what is wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks import toolchain
from benchmarks.c_driver import CFunction, measure
from benchmarks.casadi_c import measure_casadi
from benchmarks.toolchain import Compiler, ToolError

ONE_STATE = """
void scale(const double *x, const double *y, double *product, double *last)
{
    for (int i = 0; i < 3; ++i)
        product[i] = x[i] * y[0];
    last[0] = y[1];
}
"""
BATCH = """
#include <stddef.h>
void twice(size_t count, const float *x, float *doubled, float *first)
{
    for (size_t k = 0; k < count; ++k) {
        for (int i = 0; i < 3; ++i)
            doubled[3 * k + i] = 2.0f * x[3 * k + i];
        first[k] = x[3 * k];
    }
}
"""

compilers = pytest.mark.parametrize("compiler", toolchain.available(), ids=lambda c: c.name)


@pytest.fixture
def scale(tmp_path: Path) -> Path:
    source = tmp_path / "scale.c"
    source.write_text(ONE_STATE)
    return source


@compilers
def test_every_state_in_every_link(compiler: Compiler, scale: Path) -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(16, 3)), rng.normal(size=(16, 2))
    timed = measure(
        CFunction("scale", (3, 2), (3, 1)), [scale], [x, y], compiler=compiler, relinks=3, seconds=0.0
    )
    np.testing.assert_array_equal(timed.outputs[0], x * y[:, :1])
    np.testing.assert_array_equal(timed.outputs[1], y[:, 1:])
    assert len(timed.measurement.link_ns) == 3
    assert 0.0 < timed.measurement.ns == min(timed.measurement.link_ns)
    assert timed.measurement.spread >= 1.0
    assert timed.text_bytes > 0


def test_batches_of_float(tmp_path: Path) -> None:
    source = tmp_path / "twice.c"
    source.write_text(BATCH)
    x = np.random.default_rng(2).normal(size=(32, 3)).astype(np.float32)
    shape = CFunction("twice", (3,), (3, 1), "float", batch=8)
    timed = measure(shape, [source], [x], seconds=0.0)
    np.testing.assert_array_equal(timed.outputs[0], 2 * x)
    np.testing.assert_array_equal(timed.outputs[1], x[:, :1])


def test_what_a_tool_says_is_passed_on(scale: Path) -> None:
    with pytest.raises(ToolError, match="undefined reference to `missing'"):
        measure(CFunction("missing", (3,), (3,)), [scale], [np.zeros((4, 3))], seconds=0.0)
    scale.write_text("int scale(")
    with pytest.raises(ToolError, match="exit status 1"):
        measure(CFunction("scale", (3,), (3,)), [scale], [np.zeros((4, 3))], seconds=0.0)
    with pytest.raises(ToolError, match="no-such-compiler: not found"):
        toolchain.run(["no-such-compiler", "--version"])


def test_wrong_shapes_are_refused(scale: Path) -> None:
    shape = CFunction("scale", (3, 2), (3, 1))
    with pytest.raises(ValueError, match=r"an input is \(4, 1\), should be \(4, 2\)"):
        measure(shape, [scale], [np.zeros((4, 3)), np.zeros((4, 1))])
    with pytest.raises(ValueError, match="1 inputs given, 2 declared"):
        measure(shape, [scale], [np.zeros((4, 3))])
    with pytest.raises(ValueError, match="4 states are no multiple of the batch of 3"):
        measure(CFunction("scale", (3,), (3,), batch=3), [scale], [np.zeros((4, 3))])


def test_objects_are_kept_by_content(tmp_path: Path, scale: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "BUILD", tmp_path / "build")
    first = toolchain.cached_object(toolchain.GCC, scale, ["-O1"])
    written = first.stat().st_mtime_ns
    scale.write_text(f"/* a comment alone changes nothing */ {ONE_STATE}")
    assert toolchain.cached_object(toolchain.GCC, scale, ["-O1"]) == first
    assert first.stat().st_mtime_ns == written
    assert toolchain.cached_object(toolchain.GCC, scale, ["-O2"]) != first
    scale.write_text(ONE_STATE.replace("x[i] * y[0]", "x[i] + y[0]"))
    assert toolchain.cached_object(toolchain.GCC, scale, ["-O1"]) != first


@compilers
def test_casadi_c(compiler: Compiler) -> None:
    casadi = pytest.importorskip("casadi")
    a, b = casadi.SX.sym("a", 3), casadi.SX.sym("b", 2)
    function = casadi.Function("waves", [a, b], [casadi.sin(a) * b[0], b[1]])
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(8, 3)), rng.normal(size=(8, 2))
    timed = measure_casadi(function, [x, y], compiler=compiler, seconds=0.0)
    np.testing.assert_allclose(timed.outputs[0], np.sin(x) * y[:, :1], rtol=1e-14)
    np.testing.assert_array_equal(timed.outputs[1], y[:, 1:])
