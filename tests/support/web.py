"""Generated folders in WebAssembly and JavaScript, run by node, and the same C compiled by gcc."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from numpy.typing import NDArray

from rbdgen.emit.package import EmitOptions, FunctionSource, RobotFacts
from rbdgen.emit.render import render
from rbdgen.emit.write import write_folder
from rbdgen.machine import Real
from rbdgen.options import Options
from rbdgen.pipeline.compilation import style
from rbdgen.runtime.configuration import Manifold
from rbdgen.signature import SizedArgument
from rbdgen.toolchain.cache import Cache
from rbdgen.toolchain.webassembly import find_tools, linked, with_module

WEBASSEMBLY: Final = ("clang", "wasm-ld")

NODE: Final = "node"

WEB: Final = Path(__file__).parents[1] / "web"
"""The folder of the programs that node runs."""

Array = NDArray[Any]


def need(*programs: str) -> None:
    """Skips the test, or lets it fail in CI, if a program is missing."""
    if absent := [program for program in programs if shutil.which(program) is None]:
        word = f"missing: {', '.join(absent)}; Debian: apt-get install clang lld nodejs"
        if os.environ.get("CI", "").lower() in ("true", "1"):
            pytest.fail(word)
        pytest.skip(word)


def node(program: str | Path, *arguments: str | Path) -> str:
    """What a program prints that node runs."""
    done = subprocess.run(
        [NODE, program, *arguments], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def module_options(real: Real = "double", *, javascript: bool = True) -> EmitOptions:
    """The style of a folder that becomes a WebAssembly module, and has the functions in JavaScript, too."""
    options = Options(
        target="wasm32", real=real, emit=("javascript",) if javascript and real == "double" else ()
    )
    return style(options, package=False)


def written_module(
    place: Path, facts: RobotFacts, functions: Sequence[FunctionSource], options: EmitOptions, cache: Cache
) -> Path:
    """The folder of the functions with its WebAssembly module, in `place`."""
    tools = find_tools()
    sources = render(facts, functions, options)
    write_folder(place / sources.name, with_module(sources, linked(sources, tools, cache), tools))
    return place / sources.name


def modules_of(folder: Path) -> dict[str, Path]:
    """The ES modules of a folder: of WebAssembly, and of JavaScript if it has one."""
    found = {
        "webassembly": folder / f"{folder.name}.mjs",
        "javascript": folder / "javascript" / f"{folder.name}.mjs",
    }
    return {name: path for name, path in found.items() if path.exists()}


def manifest_of(folder: Path) -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
    return manifest


def dtype_of(manifest: Mapping[str, Any]) -> Any:
    return {"double": np.float64, "float": np.float32}[manifest["real"]]


def states_of(manifest: Mapping[str, Any], count: int, seed: int = 0) -> dict[str, dict[str, Array]]:
    """Random inputs of every function, with a row for each state, by function and input."""
    manifold, dtype = Manifold.of(manifest), dtype_of(manifest)
    random = np.random.default_rng(seed)
    found = {}
    for name, facts in manifest["functions"].items():
        inputs = [
            SizedArgument(
                row["name"],
                tuple(row["shape"]),
                "",
                "",
                row["kind"],
                default=row.get("default") and np.reshape(row["default"], row["shape"]),
                range=tuple(row["range"]) if "range" in row else None,
            )
            for row in facts["inputs"]
        ]
        drawn = manifold.random_inputs(inputs, random, (count,))
        found[name] = {
            key: np.ascontiguousarray(array, dtype).reshape(count, -1) for key, array in drawn.items()
        }
    return found


def by_gcc(folder: Path, states: Mapping[str, Mapping[str, Array]]) -> dict[str, Array]:
    """The outputs of every function, with a row for each state, from the folder's C that gcc compiled."""
    manifest = manifest_of(folder)
    flags = ("-std=c99", "-O2", "-ffp-contract=off", "-fPIC", "-shared")
    sources = [folder / facts["source"] for facts in manifest["functions"].values()]
    library = folder.parent / f"{folder.name}-{abs(hash(folder))}.so"
    subprocess.run(["gcc", *flags, "-o", library, *sources, "-lm"], check=True, capture_output=True)
    loaded, dtype = ctypes.CDLL(str(library)), dtype_of(manifest)
    found = {}
    for name, facts in manifest["functions"].items():
        inputs = [states[name][row["name"]] for row in facts["inputs"]]
        sizes = [int(np.prod(row["shape"])) for row in facts["outputs"]]
        outputs = [np.full((len(inputs[0]), size), np.nan, dtype) for size in sizes]
        function = loaded[facts["symbol"]]
        for rows in zip(*inputs, *outputs, strict=True):
            function(*(ctypes.c_void_p(row.ctypes.data) for row in rows))
        found[name] = np.concatenate(outputs, axis=1)
    return found


def by_node(
    module: Path, folder: Path, states: Mapping[str, Mapping[str, Array]], place: Path
) -> dict[str, Array]:
    """The same outputs as `by_gcc`, from an ES module."""
    manifest = manifest_of(folder)
    plan = {}
    for name, facts in manifest["functions"].items():
        given = [states[name][row["name"]] for row in facts["inputs"]]
        np.concatenate(given, axis=1).tofile(place / f"{name}.in")
        plan[name] = len(given[0])
    (place / "plan.json").write_text(json.dumps(plan))
    node(WEB / "compute.mjs", module, place)
    return {
        name: np.fromfile(place / f"{name}.out", dtype_of(manifest)).reshape(count, -1)
        for name, count in plan.items()
    }


def different(one: Mapping[str, Array], other: Mapping[str, Array]) -> dict[str, int]:
    """The number of outputs with different bits, of functions that have some. All NaN are alike."""
    counts = {}
    for name, array in one.items():
        words = {8: np.uint64, 4: np.uint32}[array.itemsize]
        nan = np.isnan(array) & np.isnan(other[name])
        if count := int(np.count_nonzero((array.view(words) != other[name].view(words)) & ~nan)):
            counts[name] = count
    return counts
