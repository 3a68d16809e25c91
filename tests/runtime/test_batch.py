"""Batches have the bits of single calls, whatever the width, the number of states and of threads."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.few import few
from support.toys import facts, function, inertia, straight, torque

from rbdgen.emit.package import EmitOptions, FunctionSource
from rbdgen.emit.render import render
from rbdgen.errors import ArrayValueError
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.node import Graph, Input, Node, Output
from rbdgen.pipeline import design
from rbdgen.runtime import Library, open_library
from rbdgen.runtime.arrays import aligned
from rbdgen.runtime.function import Function
from rbdgen.signature import SizedArgument
from rbdgen.toolchain.cache import Cache
from rbdgen.toolchain.compiler import find_compiler
from rbdgen.toolchain.module import Toolchain, build
from rbdgen.toolchain.targets import target_named

COUNTS = (1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100)
SIZES = (1, 5, 8, 19)
WIDTHS = {"avx512f": "-mavx512f", "avx2": "-mavx2", "sse2": "-msse2"}


def mixed(size: int) -> FunctionSource:
    """y of (x, u), both of `size` numbers; every element has a product, a sine, a root and a constant."""
    x = SizedArgument("x", (size,), "", "anything")
    u = SizedArgument("u", (size,), "", "anything")
    y = SizedArgument("y", (size + 1,), "", "of each element, and a constant")
    nodes = [Node("input", value=float(k)) for k in range(2 * size)]
    nodes.append(Node("const", value=1.25))
    constant = len(nodes) - 1
    elements = []
    for k in range(size):
        nodes += [Node("sin", (k,)), Node("mul", (len(nodes), size + (k + 1) % size)), Node("sq", (k,))]
        nodes += [Node("add", (len(nodes) - 1, constant)), Node("sqrt", (len(nodes),))]
        nodes += [Node("sub", (len(nodes) - 4, len(nodes) - 1)), Node("neg", (len(nodes),))]
        elements.append(len(nodes) - 1)
    graph = Graph(
        (Input("x", size), Input("u", size)), tuple(nodes), (Output("y", (size + 1,), (*elements, constant)),)
    )
    return function(f"mixed{size}", graph, (x, u), (y,))


def processor() -> set[str]:
    path = Path("/proc/cpuinfo")
    return set(path.read_text().split()) if path.exists() else set()


def library(cache: Cache, options: EmitOptions, *flags: str, levels: tuple[str, ...] = ()) -> Library:
    toolchain = Toolchain(find_compiler(), (*flags, "-O1", "-ffp-contract=off"), 2, levels)
    functions = [*map(mixed, SIZES), torque(), inertia(), square()]
    return open_library(build(render(facts(), functions, options), toolchain, cache))


@pytest.fixture(scope="module")
def lib(build_cache: Cache) -> Library:
    return library(build_cache, EmitOptions(trig="builtin"), "-march=native")


def arguments(call: Function, count: int) -> list[np.ndarray[Any, Any]]:
    random = np.random.default_rng(count)
    shapes = [argument.shape for argument in call.signature.inputs]
    return [random.uniform(-9, 9, (count, *shape)).astype(call.dtype) for shape in shapes]


def bits(result: Any) -> list[bytes]:
    return [array.tobytes() for array in (result if isinstance(result, tuple) else (result,))]


def by_single_calls(call: Function, arrays: list[np.ndarray[Any, Any]]) -> list[bytes]:
    results = [call(*state) for state in zip(*arrays, strict=True)]
    if isinstance(results[0], tuple):
        return [np.stack(column).tobytes() for column in zip(*results, strict=True)]
    return [np.stack(results).tobytes()]


OF_WIDTHS = [(feature, real) for feature in WIDTHS for real in ("double", "float")]
"""`make test` runs each width with one of both types."""


@pytest.mark.parametrize(("feature", "real"), few([*OF_WIDTHS[::4], *OF_WIDTHS[3::4]], OF_WIDTHS))
def test_every_width_gives_the_bits_of_single_calls(build_cache: Cache, feature: str, real: Any) -> None:
    if feature not in processor():
        pytest.skip(f"this processor has no {feature}")
    lib = library(build_cache, EmitOptions(real=real, trig="builtin"), WIDTHS[feature])
    for call, count in itertools.product(lib.functions.values(), COUNTS):
        arrays = arguments(call, count)
        assert bits(call(*arrays)) == by_single_calls(call, arrays), (call, count)


def neighbours() -> FunctionSource:
    """y0 = a b + c d, y1 = a b - e f, and so on, which gcc's vectoriser would fuse if it were allowed to."""
    x = SizedArgument("x", (8,), "", "anything")
    y = SizedArgument("y", (4,), "", "sums and differences of products")
    nodes = [Node("input", value=float(k)) for k in range(8)]
    for k in range(4):
        nodes += [Node("mul", (k, k + 4)), Node("mul", ((k + 1) % 4, (k + 5) % 8))]
        nodes.append(Node("sub" if k % 2 else "add", (len(nodes) - 2, len(nodes) - 1)))
    graph = Graph((Input("x", 8),), tuple(nodes), (Output("y", (4,), (10, 13, 16, 19)),))
    return function("neighbours", graph, (x,), (y,))


@pytest.mark.parametrize("compiler", [name for name in ("gcc", "clang") if shutil.which(name)])
def test_the_host_target_fuses_nothing(build_cache: Cache, compiler: str) -> None:
    source = neighbours()
    toolchain = Toolchain(find_compiler(compiler), target_named("host").flags, 2)
    call = open_library(build(render(facts(), [source]), toolchain, build_cache)).neighbours
    (x,) = arguments(call, 200)
    expected = np.array([evaluate(straight(source), {"x": state})["y"] for state in x])
    assert by_single_calls(call, [x]) == bits(call(x)) == [expected.tobytes()]


def test_sines_of_the_c_library_are_the_same_in_lanes(build_cache: Cache) -> None:
    lib = library(build_cache, EmitOptions(trig="libm"), "-march=native")
    arrays = arguments(lib.mixed5, 21)
    assert bits(lib.mixed5(*arrays)) == by_single_calls(lib.mixed5, arrays)


def test_levels_in_one_module(build_cache: Cache, lib: Library) -> None:
    if "avx2" not in processor():
        pytest.skip("no x86-64 of level 2 or above")
    levels = ("x86-64-v2", "x86-64-v3", "x86-64-v4")
    several = library(build_cache, EmitOptions(trig="builtin"), "-march=x86-64-v2", levels=levels)
    facts = several.manifest["functions"]["mixed8"]["batch"]
    assert tuple(batch_function["level"] for batch_function in facts) == levels
    arrays = arguments(lib.mixed8, 100)
    assert bits(several.mixed8(*arrays)) == bits(lib.mixed8(*arrays))


def in_pieces(patch: pytest.MonkeyPatch, call: Function, grain: int, chunk: int | None = None) -> None:
    """Makes threads take `grain` states at once, and each call of C at most `chunk` states of a thread."""
    patch.setattr(call, "_grain", grain)
    if chunk is not None:
        patch.setattr(call, "_chunk", chunk)
    patch.setattr(call, "_quick", call._quick_way())


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_any_number_of_threads_gives_the_same_bits(
    lib: Library, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = lib.mixed19
    arrays = arguments(call, 1003)
    expected = by_single_calls(call, arrays)
    in_pieces(monkeypatch, call, 16, 256)
    for _ in range(20):
        assert bits(call(*arrays, threads=threads)) == expected
    in_pieces(monkeypatch, call, 16, 1024)
    for _ in range(20):
        assert bits(call._quick(*arrays, None, threads)) == expected


@pytest.mark.parametrize("threads", [0, -1, 1.5, True, "2", None, np.array([1, 2])])
def test_a_number_of_threads_that_is_none(lib: Library, threads: Any) -> None:
    with pytest.raises(ArrayValueError, match=r"torque: threads is .*; pass 1 or more"):
        lib.torque(*arguments(lib.torque, 3), threads=threads)


@pytest.mark.parametrize("threads", [np.int64(2), np.uint8(1), np.array(3)])
def test_a_number_of_threads_of_another_type(lib: Library, threads: Any) -> None:
    arrays = arguments(lib.torque, 3)
    assert bits(lib.torque(*arrays, threads=threads)) == bits(lib.torque(*arrays))
    lib.torque.bind(*arrays, threads=threads)()


def test_nothing_beyond_the_output_is_written(lib: Library) -> None:
    for size, count in itertools.product(SIZES, COUNTS):
        call = lib.functions[f"mixed{size}"]
        block = np.full((count + 2, size + 1), 7.0)
        call(*arguments(call, count), out=block[1:-1])
        assert (block[[0, -1]] == 7.0).all()


def square() -> FunctionSource:
    """M of x, half of it zeros, and N = -M^T. Both are 8 by 8, so that each state fills whole cache lines."""
    x = SizedArgument("x", (8,), "", "anything")
    outputs = [SizedArgument(name, (8, 8), "", "whole cache lines") for name in ("M", "N")]
    nodes = [*(Node("input", value=float(k)) for k in range(8)), Node("const", value=0.0)]
    M, N = [8] * 64, [8] * 64
    for row, column in itertools.product(range(8), range(4, 8)):
        nodes += [Node("mul", (row, column)), Node("neg", (len(nodes),))]
        M[8 * row + column], N[8 * column + row] = len(nodes) - 2, len(nodes) - 1
    graph = Graph((Input("x", 8),), tuple(nodes), (Output("M", (8, 8), (*M,)), Output("N", (8, 8), (*N,))))
    return function("square", graph, (x,), tuple(outputs))


def in_small_batches(call: Function, arrays: list[np.ndarray[Any, Any]]) -> list[bytes]:
    """Computes 1000 states at a time, so that results stay in the caches."""
    batches = [call(*(x[k : k + 1000] for x in arrays)) for k in range(0, len(arrays[0]), 1000)]
    columns = zip(*batches, strict=True) if isinstance(batches[0], tuple) else [batches]
    return [np.concatenate(column).tobytes() for column in columns]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("real", ["double", "float"])
def test_large_results_pass_the_caches_unchanged(build_cache: Cache, real: Any, threads: int) -> None:
    """Results larger than the caches, aligned to cache lines or not, are right; nothing else is written."""
    lib = library(build_cache, EmitOptions(real=real, trig="builtin"), "-march=native")
    for call, ahead in itertools.product((lib.mixed19, lib.inertia, lib.square), (0, 5)):
        shapes = [argument.shape for argument in call.signature.outputs]
        bytes_of_state = sum(int(np.prod(shape)) for shape in shapes) * call.dtype.itemsize
        count = (20 << 20) // bytes_of_state | 1
        arrays = arguments(call, count)
        blocks = [aligned((count * int(np.prod(shape)) + 9,), call.dtype)[0] for shape in shapes]
        places = [slice(ahead, ahead + count * int(np.prod(shape))) for shape in shapes]
        results = [block[p].reshape(count, *s) for block, p, s in zip(blocks, places, shapes, strict=True)]
        out = tuple(results) if len(results) > 1 else results[0]
        expected = in_small_batches(call, arrays)
        bound = call.bind(*arrays, out=out, threads=threads)
        for run in (bound, partial(call, *arrays, out=out, threads=threads)):
            for block in blocks:
                block.fill(7.0)
            run()
            assert bits(out) == expected
            for block, place in zip(blocks, places, strict=True):
                assert (block[: place.start] == 7.0).all()
                assert (block[place.stop :] == 7.0).all()


@pytest.mark.parametrize("threads", [1, 2])
def test_bound_results_are_aligned_and_pass_the_caches(lib: Library, threads: int) -> None:
    x = arguments(lib.square, 40_001)
    bound = lib.square.bind(*x, threads=threads)
    assert all(array.ctypes.data % 64 == 0 for array in bound.out)
    expected = in_small_batches(lib.square, x)
    for _ in range(2):
        for array in bound.out:
            array.fill(7.0)
        bound()
        assert bits(bound.out) == expected


def test_one_state_shared_by_all(lib: Library) -> None:
    x, u = arguments(lib.mixed8, 40)
    shared = lib.mixed8(x, u[0])
    assert bits(shared) == bits(lib.mixed8(x, np.tile(u[0], (40, 1))))
    assert lib.mixed8(x[:0], u[0]).shape == (0, 9)


def test_nan_and_huge_angles_spoil_their_own_state_alone(lib: Library) -> None:
    x, u = arguments(lib.mixed8, 40)
    clean = lib.mixed8(x, u)
    x[13] = np.nan
    x[21] = 1e9
    result = lib.mixed8(x, u)
    others = np.delete(np.arange(40), [13, 21])
    assert np.isnan(result[13, :8]).all()
    assert result[21].tobytes() == lib.mixed8(x[21], u[21]).tobytes()
    assert result[others].tobytes() == clean[others].tobytes()


def test_bound_batches(lib: Library) -> None:
    x, u = arguments(lib.mixed8, 500)
    bound = lib.mixed8.bind(x, u, threads=2)
    bound()
    assert bits(bound.out) == bits(lib.mixed8(x, u))


def test_several_callers_at_once(lib: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    call = lib.mixed19
    in_pieces(monkeypatch, call, 16)
    arrays = arguments(call, 2000)
    expected = bits(call(*arrays))
    wrong = []

    def repeat() -> None:
        wrong.extend(k for k in range(30) if bits(call(*arrays, threads=2)) != expected)

    callers = [threading.Thread(target=repeat) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert not wrong


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # from Python 3.12 on
@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")  # where JAX was imported before
def test_a_fork_starts_threads_of_its_own(lib: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    call = lib.mixed19
    in_pieces(monkeypatch, call, 16)
    arrays = arguments(call, 2000)
    expected = bits(call(*arrays, threads=2))
    child = os.fork()
    if child == 0:
        os._exit(0 if bits(call(*arrays, threads=2)) == expected else 1)
    deadline = time.monotonic() + 600
    while (done := os.waitpid(child, os.WNOHANG))[0] == 0:
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.01)
    assert done[1] == 0


def test_ctrl_c_ends_a_long_batch(lib: Library) -> None:
    """The signal is handled inside a call or between two, whatever the speed of the machine."""
    program = f"""
import signal
import numpy as np
from rbdgen.runtime import open_library
signal.signal(signal.SIGINT, signal.default_int_handler)  # who started the tests may ignore it
call = open_library({str(lib.folder)!r}).mixed19
x = np.broadcast_to(np.zeros(19), (400_000, 19)).copy()
out = np.empty((400_000, 20))
try:
    print("begun", flush=True)
    while True:
        call(x, x, out=out, threads=2)
except KeyboardInterrupt:
    print("ended", flush=True)
"""
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    try:
        assert child.stdout.readline() == "begun\n"
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "ended\n"
    finally:
        child.kill()
        child.communicate()


def test_very_long_functions_and_plain_c_have_no_twin(
    build_cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    longest = mixed(8).cost.total
    monkeypatch.setattr(design, "LONGEST_BATCH", longest)
    lib = library(build_cache, EmitOptions(trig="builtin"))
    batch_functions = {name for name, facts in lib.manifest["functions"].items() if facts["batch"]}
    assert batch_functions == {name for name in lib.functions if lib.functions[name].cost["total"] <= longest}
    arrays = arguments(lib.mixed19, 20)
    assert bits(lib.mixed19(*arrays, threads=2)) == by_single_calls(lib.mixed19, arrays)
    plain = library(build_cache, EmitOptions(target="portable", extensions=False))
    assert not any("_batch" in name or "_lanes" in name for name in plain.manifest["files"])
    arrays = arguments(plain.mixed8, 20)
    assert bits(plain.mixed8(*arrays, threads=2)) == by_single_calls(plain.mixed8, arrays)
