"""Errors of elementary functions in C: some arguments of each, and in a campaign all floats and 10^7 doubles.

Floats are compared with the C library in double, whose own error is 2^-29 ulp of a float, and doubles with
libquadmath.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from support.elementary import ARITY
from support.kernels import EXACT, LIMIT, numbers, vectors

from rbdgen.emit.real import REALS
from rbdgen.graph.kernel_constants import CONSTANTS
from rbdgen.graph.kernels import KERNELS

HERE = Path(__file__).parent

REACH = {"exp": 745.0, "tanh": 22.0, "tan": 1e5}

WIDER = {
    "double": [
        "-DQUAD",
        "-DREAL=double",
        "-DWORD=uint64_t",
        "-DMANTISSA=52",
        "-DLEAST=-1022",
        "-DWIDE=__float128",
    ],
    "float": ["-DREAL=float", "-DWORD=uint32_t", "-DMANTISSA=23", "-DLEAST=-126", "-DWIDE=double"],
}

ALL_FLOATS = 2**32

reals = pytest.mark.parametrize("real", REALS)


def measured(op: str, real: str, count: int, folder: Path, first: int = 1) -> list[float]:
    """The largest error in ulp, its two arguments, and the numbers of wrong limits, of different bits and of
    arguments that were compared.
    """
    (folder / "toy_math.h").write_text(numbers(real))
    (folder / "toy_lanes.h").write_text(vectors(real))
    bound = CONSTANTS[np.dtype(REALS[real].numpy)].tan_range if op == "tan" else "INFINITY"
    suffix = "q" if real == "double" else ""
    defined = [f"-DOP={op}", f"-DARITY={ARITY[op]}", f"-DEXACT={op}{suffix}", f"-DRANGE={bound}"]
    defined += [f"-DREACH={REACH.get(op, 8.0)}"]
    command = ["gcc", "-std=gnu99", "-O2", "-march=native", *EXACT, f"-I{folder}", *defined, *WIDER[real]]
    program = folder / "errors"
    libraries = ["-lquadmath", "-lm"]
    subprocess.run([*command, HERE / "kernel_errors.c", "-o", program, *libraries], check=True)
    done = subprocess.run([program, str(count), str(first)], check=True, capture_output=True, text=True)
    return list(map(float, done.stdout.split()))


def check(op: str, real: str, count: int, folder: Path, first: int = 1) -> None:
    worst, x, y, wrong, differ, compared = measured(op, real, count, folder, first)
    print(f"{op} {real}: {worst} ulp at {x!r} {y!r}, {compared:.0f} compared")
    assert worst < LIMIT[op], (x, y)
    assert wrong == 0
    assert differ == 0
    assert compared > count / 8


@pytest.mark.parametrize("op", KERNELS)
@reals
def test_some(op: str, real: str, tmp_path: Path) -> None:
    """The errors are small at all floats between 1/2 and 8, at random doubles, and at random pairs."""
    first, count = (0x3F000000, 2**24) if real == "float" and ARITY[op] == 1 else (1, 100_000)
    check(op, real, count, tmp_path, first)


@pytest.mark.campaign
@pytest.mark.parametrize("op", KERNELS)
@reals
def test_all(op: str, real: str, tmp_path: Path) -> None:
    count = ALL_FLOATS if real == "float" and ARITY[op] == 1 else 20_000_000
    check(op, real, count, tmp_path, 0 if count == ALL_FLOATS else 7)
