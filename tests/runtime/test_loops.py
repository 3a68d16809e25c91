"""Programs of several loops in C have the same results for all widths, precisions and compilers."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from support.few import few
from support.loops import COLUMNS, ROWS, WIDE, in_rows, line, program, source
from support.toys import facts

from rbdgen.access import Access, whole
from rbdgen.emit.package import EmitOptions
from rbdgen.emit.render import render
from rbdgen.graph.node import Input
from rbdgen.graph.programs.program import Loop, Program, Result
from rbdgen.graph.programs.run import run
from rbdgen.graph.programs.specialised import specialised
from rbdgen.graph.programs.verify import verify_program
from rbdgen.machine import lanes
from rbdgen.runtime import Library, open_library
from rbdgen.toolchain.cache import Cache
from rbdgen.toolchain.compiler import find_compiler
from rbdgen.toolchain.module import Toolchain, build


def states(count: int, dtype: Any) -> dict[str, np.ndarray[Any, Any]]:
    """Draws inputs; M is 0 in the columns that the loops declare to be 0."""
    random = np.random.default_rng(count)
    M = random.uniform(-2, 2, (count, ROWS, COLUMNS))
    M[:, :2, [k for k in range(COLUMNS) if k % 5 < 2]] = 0
    return {"s": random.uniform(-2, 2, (count, 4)).astype(dtype), "M": M.reshape(count, -1).astype(dtype)}


def library(cache: Cache, compiler: str, options: EmitOptions, *flags: str) -> Library:
    toolchain = Toolchain(find_compiler(compiler), (*flags, "-O1", "-ffp-contract=off"), 2)
    return open_library(build(render(facts(), [source(program())], options), toolchain, cache))


COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]

OF_COMPILERS = list(product(COMPILERS, ("-march=native", "-msse2"), ("double", "float")))
"""`make test` runs each flag with one of both types."""


@pytest.mark.parametrize(
    ("compiler", "flag", "real"), few([*OF_COMPILERS[::4], *OF_COMPILERS[3::4]], OF_COMPILERS)
)
def test_bits(build_cache: Cache, compiler: str, flag: str, real: Any) -> None:
    call = library(build_cache, compiler, EmitOptions(real=real, trig="libm"), flag).looped
    inputs = states(21, call.dtype)
    single = [call(*state) for state in zip(*inputs.values(), strict=True)]
    batch = call(*inputs.values())
    reference = run(program(), inputs)
    lean = run(specialised(program()), inputs)
    for k, name in enumerate(reference):
        together = np.stack([result[k] for result in single])
        assert np.array_equal(batch[k], together), name
        assert np.array_equal(reference[name], lean[name]), name
        # the interpreter's sine is NumPy's, which may differ from the C library's in the last bit
        np.testing.assert_allclose(together, reference[name], rtol=1e-6 if real == "float" else 1e-14)


def extensions() -> set[str]:
    """The instruction sets of this processor that affect vectors."""
    known = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    return {name for name in ("avx512f", "avx2") if name in known.split()}


@pytest.mark.parametrize("compiler", [name for name in ("gcc", "clang") if shutil.which(name)])
@pytest.mark.parametrize("real", ["double", "float"])
def test_idle_lanes_and_what_lies_between_rows_are_left_alone(
    tmp_path: Path, compiler: str, real: Literal["double", "float"]
) -> None:
    """Some rows do not fill a vector, others are stored transposed; scratch arrays share memory."""
    made = in_rows()
    verify_program(made)
    widest, kind = lanes(real), np.float32 if real == "float" else np.float64
    assert [loop.name for loop in made.loops if not loop.vectorised(widest)] == []
    files = render(facts(), [source(made)], EmitOptions(real=real, trig="libm")).files
    text = files["toy_looped.c"]
    assert f"workspace[{2 * -(-WIDE // widest) * widest - widest + WIDE % widest}]" in text
    for name in ("toy.h", "toy_lanes.h", "toy_looped.c"):
        (tmp_path / name).write_text(files[name])
    M = np.random.default_rng(3).uniform(-2, 2, 3 * WIDE).astype(kind)
    expected = run(made, {"M": M})
    for flag in ("-msse2", *(f"-m{name}" for name in extensions())):
        built = tmp_path / f"looped{flag}.so"
        strictly = ("-Wall", "-Wextra", "-Werror", "-ffp-contract=off")
        subprocess.run(
            [compiler, "-std=c99", "-O2", *strictly, flag, "-fPIC", "-shared", "-o", built, "toy_looped.c"],
            cwd=tmp_path,
            check=True,
        )
        results = [np.full(x.shape, np.nan, kind) for x in expected.values()]
        ctypes.CDLL(str(built)).toy_looped(*(ctypes.c_void_p(x.ctypes.data) for x in (M, *results)))
        for result, right in zip(results, expected.values(), strict=True):
            assert np.array_equal(result, right), flag


def test_results_that_are_never_needed_at_once_share_the_room_of_the_longest() -> None:
    text = render(facts(), [source(program())]).files["toy_looped_batch.c"]
    assert "toy_lanes tiles1[60];" in text
    assert "tiles2" not in text


def test_arrays_that_overlap_are_not_restrict() -> None:
    text = render(facts(), [source(program())]).files["toy_looped.c"]
    heads = {
        head.split("(")[0].split()[-1]: head for head in text.splitlines() if head.startswith("static void")
    }
    assert "RESTRICT" not in heads["toy_looped_add"] + heads["toy_looped_step"]
    assert heads["toy_looped_solve"].count("RESTRICT") == 3


def test_specialised_leaves_zeros_out() -> None:
    whole_program, lean = program(), specialised(program())
    verify_program(lean)
    assert lean.cost.total < whole_program.cost.total
    segments = [loop.count for loop in lean.loops if loop.name == "solve"]
    assert segments == [2, 3] * 4 + [ROWS]
    assert len({id(loop.kernel) for loop in lean.loops}) == 1 + len(
        {id(loop.kernel) for loop in program().loops}
    )


@pytest.mark.parametrize("compiler", ["gcc -std=c99 -x c", "g++ -std=c++11 -x c++"])
def test_clean_for_small_machines(tmp_path: Path, compiler: str) -> None:
    files = render(facts(), [source(program())], EmitOptions("float", "libm", "portable", False)).files
    for name in ("toy.h", "toy_looped.c"):
        (tmp_path / name).write_text(files[name])
    strict = "-pedantic -Wall -Wextra -Wconversion -Wdouble-promotion -Werror -c -o looped.o toy_looped.c"
    subprocess.run([*compiler.split(), *strict.split()], cwd=tmp_path, check=True)


def test_what_is_read_after_it_is_written_is_read_early(build_cache: Cache) -> None:
    crossed = line({"a": 2}, lambda a: {"b": [a[1] + a[0], a[0] - a[1] * 3.0]})
    access = Access("y", (0, 1))
    swapped = Program(
        (Input("x", 2),),
        (Result("y", (2,)),),
        (
            Loop(
                "copy",
                line({"a": 2}, lambda a: {"b": [a[0] + 1.0, a[1] + 1.0]}),
                {"a": whole("x", 2)},
                {"b": access},
            ),
            Loop("cross", crossed, {"a": access}, {"b": access}),
        ),
    )
    toolchain = Toolchain(find_compiler("gcc"), ("-O2", "-ffp-contract=off"), 2)
    files = render(facts(), [source(swapped)], EmitOptions(trig="libm"))
    assert "const double a_0_before = a[0];" in files.files["toy_looped.c"]
    x = np.array([0.3, -1.75])
    assert np.array_equal(
        open_library(build(files, toolchain, build_cache)).looped(x), run(swapped, {"x": x})["y"]
    )
