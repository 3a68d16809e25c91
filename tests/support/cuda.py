"""Kernels of CUDA on the CPU: g++ compiles their text with `cuda.h`; the graph's interpreter checks it."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Collection, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdgen.emit.cuda.fused import FMA, fused
from rbdgen.emit.package import FunctionSource, Sources
from rbdgen.emit.render import render
from rbdgen.emit.sincos import sincos
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.programs.unrolled import unrolled
from rbdgen.pipeline.compilation import style
from rbdgen.pipeline.design import design_functions
from rbdgen.pipeline.facts import facts_of
from rbdgen.pipeline.request import Request

Array = NDArray[Any]

HEADER = Path(__file__).with_suffix(".h")

STATES = 133
"""A number of states that fills no last block and no last warp, of whatever size the blocks are."""

SPARE = 3
"""The rows of results beyond the last state, which kernels must leave alone."""

FLAGS = ("-std=c++17", "-O1", "-ffp-contract=off", "-fPIC", "-shared", "-w")

_WORDS = {1: "writes beyond its shared memory", 2: "has threads that wait forever"}


def designed(request: Request) -> tuple[list[FunctionSource], Sources]:
    """The functions of a request for the target cuda, and the files of their folder."""
    functions = design_functions(request)
    return functions, render(facts_of(request), functions, style(request.options, package=False))


class OnCpu:
    """The kernels of a folder, compiled for the CPU."""

    def __init__(self, sources: Sources, folder: Path) -> None:
        """`folder` takes the files that are compiled."""
        self.manifest = sources.manifest
        self.dtype = np.dtype({"float": np.float32, "double": np.float64}[self.manifest["real"]])
        (folder / "cuda").mkdir(parents=True)
        for file, text in sources.files.items():
            if file.startswith("cuda/"):
                (folder / file).write_text(text, encoding="utf-8")
        text = [f"#define REAL {self.manifest['real']}", f'#include "{HEADER}"']
        text += map(_launcher, self.manifest["functions"].values())
        (folder / "all.cpp").write_text("\n".join(text), encoding="utf-8")
        fused = ["-mfma"] if "fma" in Path("/proc/cpuinfo").read_text(encoding="utf-8") else []
        subprocess.run(
            ["g++", *FLAGS, *fused, "-I", folder, "all.cpp", "-o", "all.so"], cwd=folder, check=True
        )
        self._library = ctypes.CDLL(str(folder / "all.so"))

    def run(
        self,
        function: str,
        inputs: Mapping[str, Array],
        *,
        backwards: bool = False,
        inline: bool = False,
        steps: int = 1,
        last: bool = True,
        each: Collection[str] = (),
    ) -> dict[str, Array]:
        """The outputs (states, size) of a function at inputs of that form, by its kernel or `inline` by the
        function for other people's kernels.

        An input (size,) is that of all states. If the kernel computes several steps, the control and the
        inputs that `each` names have the values of all of them in a row, (states, steps size), and so have
        the outputs unless only the `last` ones are asked for.
        """
        facts = self.manifest["functions"][function]
        given = {x["name"]: np.ascontiguousarray(inputs[x["name"]], self.dtype) for x in facts["inputs"]}
        states = max(len(array) for array in given.values() if array.ndim > 1)
        rows = 1 if last else steps
        sizes = {y["name"]: rows * prod(y["shape"]) for y in facts["outputs"]}
        made = {name: np.full((states + SPARE, size), -77, self.dtype) for name, size in sizes.items()}
        values = {"states": states, "steps": steps, "last": int(last)}
        for x in facts["inputs"]:
            name, array = x["name"], given[x["name"]]
            values[f"{name}_step"] = array.shape[1] if array.ndim > 1 else 0
            values[f"{name}_each"] = prod(x["shape"]) if name in each else 0
        values |= {name: array.ctypes.data for name, array in (given | made).items()}
        if inline:
            names: Any = [x["name"] for x in (*facts["inputs"], *facts["outputs"])]
        else:
            names = facts["cuda"]["arguments"]
        arguments = (ctypes.c_longlong * len(names))(*(values[name] for name in names))
        launch = self._library[f"{'inline' if inline else 'launch'}_{facts['cuda']['kernel']}"]
        status = launch(ctypes.c_longlong(states), arguments, ctypes.c_int(backwards))
        assert status == 0, f"{function} {_WORDS[status]}"
        assert all((array[states:] == -77).all() for array in made.values()), f"{function}: further rows"
        return {name: array[:states] for name, array in made.items()}


def passed(facts: Mapping[str, Any]) -> str:
    """The arguments of the kernel of a function in C, from the integers of 64 bits `given`."""
    arrays = {x["name"] for x in (*facts["inputs"], *facts["outputs"])}
    names = facts["cuda"]["arguments"]
    return ", ".join(
        f"(REAL *)given[{k}]" if name in arrays else f"given[{k}]" for k, name in enumerate(names)
    )


def _launcher(facts: Mapping[str, Any]) -> str:
    """The kernel of a function, and C that launches it as its folder says."""
    kernel = facts["cuda"]
    symbol, threads, own = kernel["kernel"], kernel["threads"], kernel["states_per_block"]
    sizes = [prod(x["shape"]) for x in (*facts["inputs"], *facts["outputs"])]
    rows = ", ".join(f"(REAL *)given[{k}] + state * {size}" for k, size in enumerate(sizes))
    return f"""
#include "{kernel["source"]}"
#include "{kernel["header"]}"
extern "C" int inline_{symbol}(long long states, long long *given, int backwards)
{{
    for (long long state = 0; state < states; ++state)
        {kernel["device"]}({rows});
    return 0;
}}
extern "C" int launch_{symbol}(long long states, long long *arguments, int backwards)
{{
    static long long *given;
    given = arguments;
    const unsigned blocks = (states + {own} - 1) / {own};
    const auto job = [] {{ {symbol}({passed(facts)}); }};
    return launched(blocks, {threads}, {kernel["shared_bytes"]}, backwards, job);
}}"""


def interpreted(function: FunctionSource, inputs: Mapping[str, Array], *, fuse: bool) -> dict[str, Array]:
    """The outputs (states, size) of a function by the interpreter, with products fused or not."""
    line = unrolled(function.program)
    elementary = {"sin": lambda x: sincos(x)[0], "cos": lambda x: sincos(x)[1], FMA: fma}
    found = evaluate(fused(line) if fuse else line, inputs, elementary)
    states = len(next(iter(inputs.values())))
    return {name: np.reshape(array, (states, -1)) for name, array in found.items()}


_LIBM = ctypes.CDLL("libm.so.6")
_FMA = {"f": _LIBM.fmaf, "d": _LIBM.fma}
for _kind, _function in _FMA.items():
    _number = {"f": ctypes.c_float, "d": ctypes.c_double}[_kind]
    _function.argtypes, _function.restype = (_number,) * 3, _number


def fma(x: Array, y: Array, z: Array) -> Array:
    """x y + z, rounded once, by the C library."""
    dtype = np.result_type(x, y, z)
    numbers = [np.asarray(value, float).astype(object) for value in (x, y, z)]
    return np.asarray(np.frompyfunc(_FMA[dtype.char], 3, 1)(*numbers)).astype(dtype)


def same_bits(one: Array, other: Array) -> bool:
    """Whether all bits agree; NaN of any bits are alike, as compilers may choose them."""
    word = f"u{one.dtype.itemsize}"
    alike = (one.view(word) == other.astype(one.dtype).view(word)) | (np.isnan(one) & np.isnan(other))
    return one.shape == other.shape and bool(alike.all())


def differing(
    kernels: OnCpu,
    functions: Sequence[FunctionSource],
    states: Mapping[str, Mapping[str, Array]],
    *,
    fuse: bool,
) -> list[str]:
    """The functions with results that differ from the interpreter's: those of kernels, in either order of the
    threads, and those of the functions for other people's kernels."""
    found = []
    for function in functions:
        inputs = {name: array.astype(kernels.dtype) for name, array in states[function.name].items()}
        wanted = interpreted(function, inputs, fuse=fuse)
        for way in ({"backwards": False}, {"backwards": True}, {"inline": True}):
            got = kernels.run(function.name, inputs, **way)
            found += [f"{function.name}: {name}" for name in wanted if not same_bits(got[name], wanted[name])]
    return found
