"""Compares the emitted sine and cosine with the C library's, in ns per joint: `python -m benchmarks.sincos`.

It computes the sines and cosines of seven joints in four ways: with the C library's `sincos` joint by joint,
with the emitted one joint by joint, with all joints of one state in vectors, and with all joints of as many
states as a vector has lanes. All are compiled as for a host, where the C library is called for angles beyond
the range.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from benchmarks import toolchain
from benchmarks.c_driver import CFunction, measure
from benchmarks.sincos_coefficients import RealName
from benchmarks.toolchain import Compiler
from rbdgen.resources import template_root

JOINTS = 7
STATES = 256
ANGLE = np.pi  # the largest angle, in rad
FORMS = {
    "libm": "C library",
    "scalar": "one by one",
    "joints": "joints in vectors",
    "vectors": "states in vectors",
}
FLAGS = ("-std=c99", "-O2", "-march=native", "-ffp-contract=off")
TEMPLATES = Environment(
    loader=FileSystemLoader([template_root(), Path(__file__).parent]),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)


def vector_bytes(compiler: Compiler) -> int:
    """The size of this processor's widest vectors in bytes, from the compiler's predefined macros."""
    macros = toolchain.run([compiler.c, "-march=native", "-dM", "-E", "-x", "c", "/dev/null"])
    if "__AVX512F__" in macros:
        return 64
    return 32 if "__AVX__" in macros else 16


def nanoseconds(compiler: Compiler, real: RealName, form: str, *, relinks: int, seconds: float) -> float:
    """The smallest time per joint and state of several links, in ns."""
    width = vector_bytes(compiler) // (8 if real == "double" else 4)
    values = JOINTS * width if form == "vectors" else JOINTS
    dtype: type[np.float32 | np.float64] = np.float64 if real == "double" else np.float32
    angles = np.random.default_rng(1).uniform(-ANGLE, ANGLE, (STATES, values)).astype(dtype)
    with tempfile.TemporaryDirectory(prefix="sincos-") as name:
        folder = Path(name)
        header = TEMPLATES.get_template("c/sincos.h.jinja").render(
            prefix="bench", real=real, fallback=True, vector=True, width=width, narrow=0, count=JOINTS
        )
        (folder / "sincos.h").write_text(header)
        source = folder / "timed.c"
        text = TEMPLATES.get_template("sincos.c.jinja").render(
            form=form, real=real, count=JOINTS, width=width
        )
        source.write_text(text)
        function = CFunction("timed", (values,), (values, values), real)
        timed = measure(
            function, [source], [angles], compiler=compiler, flags=FLAGS, relinks=relinks, seconds=seconds
        )
    exact = angles.astype(np.float64)
    error = max(np.abs(got - f(exact)).max() for got, f in zip(timed.outputs, (np.sin, np.cos), strict=True))
    if error > np.finfo(dtype).eps:  # a benchmark of wrong results would be meaningless
        raise toolchain.ToolError(f"{form} in {real} is off by {error:g}; run tests/emit/test_sincos.py")
    return timed.measurement.ns / values


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--relinks", type=int, default=3, help="the number of links of each form; the shortest time counts"
    )
    parser.add_argument("--seconds", type=float, default=0.1, help="time spent on each link")
    options = parser.parse_args()
    print(f"{'ns a joint and state':24}" + "".join(f"{title:>20}" for title in FORMS.values()))
    for compiler in toolchain.available():
        for real in ("double", "float"):
            row = [
                nanoseconds(compiler, real, form, relinks=options.relinks, seconds=options.seconds)
                for form in FORMS
            ]
            print(f"{compiler.name + ' ' + real:24}" + "".join(f"{ns:20.2f}" for ns in row), flush=True)


if __name__ == "__main__":
    main()
