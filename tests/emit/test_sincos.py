"""The emitted sine and cosine: errors against mpmath, equal bits of all forms, and arguments out of range."""

from __future__ import annotations

import ctypes
import math
import platform
import re
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from mpmath import mp, mpf, pi
from numpy.typing import NDArray

from benchmarks.sincos_coefficients import RealName, constants
from rbdgen.emit.sincos import sincos
from rbdgen.errors import EmitError
from rbdgen.resources import template_root

Array = NDArray[np.floating[Any]]
Form = Callable[[Array], tuple[Array, Array]]
Build = Callable[..., dict[str, Form]]

COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
CXX = [name for name in ("g++", "clang++") if shutil.which(name)]
DTYPE: dict[str, Any] = {"double": np.float64, "float": np.float32}
BITS: dict[str, Any] = {"double": np.uint64, "float": np.uint32}
RANGE = {"double": 1e5, "float": 1e4}
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wdouble-promotion", "-Wshadow", "-Wundef", "-Werror"]
COUNT = 7  # values in a call of the _n form
VECTORS = 3  # vectors in a call of the _v form
STEP = COUNT * VECTORS * 16  # a multiple of the values in a call of either form

CALLER = """
#include "sincos.h"
#include <string.h>
void one(int n, const {real} *x, {real} *s, {real} *c)
{{
    for (int i = 0; i < n; ++i)
        r_sincos(x[i], s + i, c + i);
}}
void few(int n, const {real} *x, {real} *s, {real} *c)
{{
    for (int i = 0; i < n; i += {count})
        r_sincos_n(x + i, s + i, c + i);
}}
"""
VECTOR_CALLER = """
void vectors(int n, const {real} *x, {real} *s, {real} *c)
{{
    r_vreal vx[{vectors}], vs[{vectors}], vc[{vectors}];
    for (int i = 0; i < n; i += {vectors} * {width}) {{
        memcpy(vx, x + i, sizeof vx);
        r_sincos_v({vectors}, vx, vs, vc);
        memcpy(s + i, vs, sizeof vs);
        memcpy(c + i, vc, sizeof vc);
    }}
}}
"""

derived = cache(constants)
reals = pytest.mark.parametrize("real", ["double", "float"])
compilers = pytest.mark.parametrize("compiler", COMPILERS)


def header(
    real: str,
    *,
    prefix: str = "r",
    vector: bool = True,
    width: int = 8,
    narrow: int = 0,
    fallback: bool = False,
) -> str:
    environment = Environment(
        loader=FileSystemLoader(template_root()),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template("c/sincos.h.jinja").render(
        prefix=prefix,
        real=real,
        vector=vector,
        width=width,
        narrow=narrow,
        fallback=fallback,
        count=COUNT,
    )


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Compiles a header once for each set of arguments; every form then maps x to its sines and cosines."""
    made: dict[str, dict[str, Form]] = {}

    def build(compiler: str, real: str, *flags: str, vector: bool = True, **context: Any) -> dict[str, Form]:
        key = repr((compiler, real, flags, vector, context))
        if key not in made:
            folder = tmp_path_factory.mktemp("sincos")
            (folder / "sincos.h").write_text(header(real, vector=vector, **context))
            caller = CALLER + VECTOR_CALLER * vector
            width = context.get("width", 8)
            if context.get("narrow") and "clang" not in compiler:
                width = context["narrow"]
            values = {"real": real, "count": COUNT, "vectors": VECTORS, "width": width}
            (folder / "caller.c").write_text(caller.format(**values))
            contraction = [] if any("contract" in flag for flag in flags) else ["-ffp-contract=off"]
            command = [compiler, "-std=c99", "-O2", "-fPIC", "-shared", *contraction, *flags]
            subprocess.run([*command, "caller.c", "-o", "caller.so", "-lm"], cwd=folder, check=True)
            library = ctypes.CDLL(str(folder / "caller.so"))
            names = ["one", "few", *["vectors"] * vector]
            made[key] = {name: _form(getattr(library, name), real) for name in names}
        return made[key]

    return build


def _form(function: Any, real: str) -> Form:
    def call(x: Array) -> tuple[Array, Array]:
        padded = np.zeros(x.size + -x.size % STEP, DTYPE[real])
        padded[: x.size] = x
        s, c = np.empty_like(padded), np.empty_like(padded)
        function(ctypes.c_int(padded.size), *(ctypes.c_void_p(a.ctypes.data) for a in (padded, s, c)))
        return s[: x.size], c[: x.size]

    return call


def worst(bits: int, limit: float) -> list[float]:
    """Finds, in each binade up to `limit`, numbers of `bits` bits unusually close to multiples of pi/2.

    m 2^e = n pi/2 nearly where n / m is a convergent of 2^e / (pi/2) or lies between two of them.
    """
    found = []
    with mp.workprec(300):
        for e in range(-bits, math.frexp(limit)[1] - bits + 1):
            close: dict[mpf, float] = {}
            rest = mpf(2) ** e / (pi / 2)
            (n0, m0), (n1, m1) = (1, 0), (int(rest), 1)
            while m1 < 2**bits:
                rest = 1 / (rest - int(rest))
                for k in range(min(int(rest), 100) + 1):
                    n, m = n0 + k * n1, m0 + k * m1
                    factor = -(-(2 ** (bits - 1)) // max(m, 1))  # the smallest factor that fills all bits
                    if n and m and m * factor < 2**bits and math.ldexp(m * factor, e) <= limit:
                        close[abs(factor * (m * mpf(2) ** e - n * pi / 2))] = math.ldexp(m * factor, e)
                n0, m0, n1, m1 = n1, m1, n0 + int(rest) * n1, m0 + int(rest) * m1
            found += [close[distance] for distance in sorted(close)[:4]]
    return found


@pytest.fixture(scope="module")
def doubles() -> tuple[Array, list[tuple[mpf, mpf]]]:
    """Hard and random doubles with their sines and cosines."""
    chance = np.random.default_rng(1)
    near = chance.integers(1, 63662, 1500) * (np.pi / 2)
    x = np.concatenate(
        [
            10.0 ** chance.uniform(-300, -9, 100),
            10.0 ** chance.uniform(-9, 5, 3000),
            chance.uniform(-1e5, 1e5, 3000),
            chance.uniform(-1, 1, 2000),
            *[
                np.arange(1, 20) * np.pi / 4 + k * 2.0**-50 for k in range(-8, 9)
            ],  # where n jumps and where r = 0
            near,
            np.nextafter(near, 0),
            np.nextafter(near, np.inf),
            worst(53, 1e5),
            [np.finfo(np.float64).tiny, 5e-324, 1e5, -1e5],
        ]
    )
    with mp.workprec(250):
        return x, [(mp.sin(mpf(float(v))), mp.cos(mpf(float(v)))) for v in x]


def ulps(result: float, exact: mpf) -> float:
    return float(abs(mpf(result) - exact) / math.ulp(float(exact)))


def test_worst_doubles_are_the_worst() -> None:
    with mp.workprec(300):
        nearest = min(worst(53, 1e5), key=lambda x: abs(mp.cos(x) * mp.sin(x)))
        assert nearest == float.fromhex("0x1.6c6cbc45dc8dep+5")  # next to 29 pi/2
        assert abs(mp.cos(mpf(nearest))) < mpf(2) ** -60


@compilers
@pytest.mark.parametrize(
    "flags", [["-ffp-contract=off"], ["-ffp-contract=fast", "-march=native"]], ids=" ".join
)
def test_double_within_one_ulp(
    build: Build, doubles: tuple[Array, list[tuple[mpf, mpf]]], compiler: str, flags: list[str]
) -> None:
    x, exact = doubles
    for form in build(compiler, "double", *flags).values():
        s, c = form(x)
        with mp.workprec(250):
            errors = [
                max(ulps(float(a), e), ulps(float(b), f)) for a, b, (e, f) in zip(s, c, exact, strict=True)
            ]
        assert max(errors) <= 0.8, x[np.argmax(errors)].hex()


@compilers
@pytest.mark.parametrize(
    "flags", [["-ffp-contract=off"], ["-ffp-contract=fast", "-march=native"]], ids=" ".join
)
def test_float_within_two_to_minus_23(build: Build, compiler: str, flags: list[str]) -> None:
    first, last = (int(np.float32(v).view(np.uint32)) for v in (2.0**-14, 1e4))
    x = np.arange(first, last + 1, 101, dtype=np.uint32).view(np.float32)
    x = np.concatenate([x, np.array(worst(24, 1e4), np.float32), np.array([1e-45, 1e-38, 1e4], np.float32)])
    x = np.concatenate([x, -x])
    for form in build(compiler, "float", *flags).values():
        s, c = form(x)
        exact = x.astype(np.float64)
        assert np.abs(s - np.sin(exact)).max() <= 2.0**-23
        assert np.abs(c - np.cos(exact)).max() <= 2.0**-23


@reals
@compilers
@pytest.mark.parametrize(("width", "narrow"), [(2, 0), (4, 0), (8, 0), (8, 4), (16, 8)])
def test_one_result_in_every_form(build: Build, compiler: str, real: str, width: int, narrow: int) -> None:
    chance = np.random.default_rng(2)
    x = np.concatenate(
        [
            worst(53, 1e5) if real == "double" else worst(24, 1e4),
            chance.uniform(-RANGE[real], RANGE[real], 3000),
            10.0 ** chance.uniform(-30, math.log10(RANGE[real]), 3000),
            [RANGE[real]],
        ]
    ).astype(DTYPE[real])
    reference = build(COMPILERS[0], real, "-O0", vector=False)["one"](x)
    flags = ["-march=native"] if width == 8 else []
    context = {"width": width, "narrow": narrow, "fallback": width == 4 or narrow == 4}
    for name, form in build(compiler, real, *flags, **context).items():
        for result, expected in zip(form(x), reference, strict=True):
            assert (result.view(BITS[real]) == expected.view(BITS[real])).all(), name


@reals
@compilers
def test_the_model_in_numpy_has_the_same_bits(build: Build, compiler: str, real: str) -> None:
    chance = np.random.default_rng(4)
    x = np.concatenate(
        [
            worst(53, 1e5) if real == "double" else worst(24, 1e4),
            chance.uniform(-RANGE[real], RANGE[real], 200_000),
            chance.uniform(-4, 4, 200_000),
            10.0 ** chance.uniform(-30, 0, 1000),
            np.arange(-20, 21) * np.pi / 4,
            [0.0, -0.0, 5e-324, RANGE[real], -RANGE[real]],
        ]
    ).astype(DTYPE[real])
    for result, expected in zip(build(compiler, real, vector=False)["one"](x), sincos(x), strict=True):
        assert expected.dtype == result.dtype
        assert (result.view(BITS[real]) == expected.view(BITS[real])).all()
    half = np.float16(1.0)
    with pytest.raises(EmitError, match="built-in sine for float16"):
        sincos(half)


@reals
@compilers
def test_nan_beyond_the_range(build: Build, compiler: str, real: str) -> None:
    edge = DTYPE[real](RANGE[real])
    beyond = np.nextafter(edge, DTYPE[real](np.inf))
    out = np.array([beyond, 1.5 * edge, 1e9, 1e30, np.finfo(DTYPE[real]).max, np.inf, np.nan], DTYPE[real])
    x = np.concatenate([out, -out, [edge, -edge, 1.0]])
    for form in build(compiler, real).values():
        for result in form(x):
            assert np.isnan(result[:-3]).all()
            assert np.isfinite(result[-3:]).all()


@reals
@compilers
@pytest.mark.parametrize("vector", [True, False])
def test_c_library_beyond_the_range(build: Build, compiler: str, real: str, vector: bool) -> None:
    chance = np.random.default_rng(3)
    x = (10.0 ** chance.uniform(-3, 30, 500)).astype(DTYPE[real])
    x[::11] = np.array([np.nan, np.inf, -np.inf] * 16, DTYPE[real])[: x[::11].size]
    inside, finite = np.abs(x) <= RANGE[real], np.isfinite(x)
    expected = build(compiler, real, vector=False)["one"](x)
    for form in build(compiler, real, fallback=True, vector=vector).values():
        for result, within, function in zip(form(x), expected, (math.sin, math.cos), strict=True):
            assert np.isnan(result[~finite]).all()
            assert (result[inside] == within[inside]).all()
            beyond = np.array([function(v) for v in x[finite & ~inside]])
            tolerance = 0 if real == "double" else 2.0**-24
            assert np.abs(result[finite & ~inside] - beyond).max() <= tolerance


@compilers
def test_sine_of_negative_zero(build: Build, compiler: str) -> None:
    for form in build(compiler, "double").values():
        s, c = form(np.array([-0.0, 0.0]))
        assert np.signbit(s).tolist() == [True, False]
        assert c.tolist() == [1.0, 1.0]


@reals
def test_constants_are_the_derived_ones(real: RealName) -> None:
    text = header(real)
    for name, values in derived(real).items():
        for value in values:
            assert re.search(rf"(?<![\w.]){re.escape(value)}(?![\w.])", text), (name, value)


def test_first_parts_of_the_reduction_multiply_exactly() -> None:
    bounds: dict[RealName, int] = {"double": 63662, "float": 6367}
    for real, quadrants in bounds.items():
        groups = derived(real)
        parts = next(values for name, values in groups.items() if name.startswith("pi/2"))
        for part in parts[:2]:
            exact = mpf(float(DTYPE[real](part.rstrip("f"))))
            odd = int(exact.man_exp[0])
            assert (odd * quadrants).bit_length() <= np.finfo(DTYPE[real]).nmant + 1


@reals
@pytest.mark.parametrize("fallback", [True, False])
@pytest.mark.parametrize(
    "command", [[c, "-std=c99"] for c in COMPILERS] + [[c, "-std=c++11", "-xc++"] for c in CXX], ids=" ".join
)
def test_clean_under_strict_warnings(tmp_path: Path, command: list[str], real: str, fallback: bool) -> None:
    """Two robots in one file, scalar; the vector forms need the extensions that -pedantic forbids in C++."""
    for prefix in ("arm", "leg"):
        text = header(real, prefix=prefix, vector=False, fallback=fallback)
        (tmp_path / f"{prefix}.h").write_text(text)
    vector = "" if "-xc++" in command else header(real, prefix="v", fallback=fallback)
    (tmp_path / "vector.h").write_text(vector)
    use = f"void use(const {real} *x, {real} *s, {real} *c)"
    body = "{ arm_sincos_n(x, s, c); leg_sincos(*x, s, c); }"
    lines = ['#include "arm.h"', '#include "leg.h"', '#include "vector.h"', f"{use};", use, body, ""]
    (tmp_path / "use.c").write_text("\n".join(lines))
    subprocess.run([*command, "-O2", "-pedantic", *WARNINGS, "-c", "use.c"], cwd=tmp_path, check=True)


@reals
@pytest.mark.parametrize("command", [[c, "-std=c++11"] for c in CXX], ids=" ".join)
def test_vector_forms_in_cpp(tmp_path: Path, command: list[str], real: str) -> None:
    (tmp_path / "sincos.h").write_text(header(real, fallback=True))
    (tmp_path / "use.cpp").write_text((CALLER + VECTOR_CALLER).format(real=real, count=7, vectors=2, width=8))
    subprocess.run(
        [*command, "-O2", "-Wall", "-Wextra", "-Werror", "-c", "use.cpp"], cwd=tmp_path, check=True
    )


@reals
@compilers
def test_neither_branch_nor_library(tmp_path: Path, compiler: str, real: str) -> None:
    if platform.machine() != "x86_64":
        pytest.skip("reads x86-64 assembly")
    (tmp_path / "sincos.h").write_text(header(real, vector=False))
    source = f'#include "sincos.h"\nvoid f({real} x, {real} *s, {real} *c) {{ r_sincos(x, s, c); }}\n'
    (tmp_path / "f.c").write_text(source)
    command = [compiler, "-std=c99", "-O2", "-fcf-protection=none", "-S", "f.c", "-o", "-"]
    assembly = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    operations = re.findall(r"^\t([a-z]\w*)", assembly, re.MULTILINE)
    assert operations.count("ret") + operations.count("retq") == 1
    assert not [name for name in operations if name.startswith(("j", "call", "loop"))]


@compilers
@pytest.mark.parametrize(
    ("flag", "advice"), [("-ffast-math", "compile without"), ("-DFLT_EVAL_METHOD=2", "mfpmath=sse")]
)
def test_arithmetic_that_breaks_it_is_refused(tmp_path: Path, compiler: str, flag: str, advice: str) -> None:
    text = header("double")
    if flag.startswith("-D"):  # float.h would define it anew
        text = text.replace("#include <float.h>\n", "")
    (tmp_path / "sincos.h").write_text(text)
    (tmp_path / "f.c").write_text('#include "sincos.h"\n')
    command = [compiler, "-std=c99", flag, "-fsyntax-only", "f.c"]
    done = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert done.returncode != 0
    assert advice in done.stderr
