"""Compares the results of emitted functions, compiled by gcc, with those of the interpreter."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from campaigns.called import UNWRITTEN
from campaigns.guard import PYTHON, run_program
from campaigns.paths import BUILT_IN, STATES
from campaigns.verdicts import Verdict
from rbdgen.emit.package import EmitOptions, FunctionSource, Sources
from rbdgen.emit.render import render
from rbdgen.emit.selftest.golden import Golden
from rbdgen.graph.programs.run import run as interpreted
from rbdgen.machine import Real
from rbdgen.model.build import Robot
from rbdgen.options import Options
from rbdgen.pipeline.facts import facts_of
from rbdgen.pipeline.request import Request

CALLED = Path(__file__).with_name("called.py")

BATCHES = ((STATES, 0), (STATES, 1), (1, 0), (0, 0))
"""The batches that are called: the number of states, and 1 if results bypass the caches, else 0."""

FLAGS = ("-std=c99", "-O1", "-ffp-contract=off", "-fno-math-errno", "-fPIC", "-shared", "-Wno-psabi")

Array = NDArray[Any]
Inputs = Mapping[str, Array]


@dataclass(frozen=True)
class Emitted:
    """Functions of a robot, each with inputs (STATES, size) by name."""

    robot: Robot
    real: Real
    native: bool
    """Whether the compiler may use all instructions of this machine."""
    functions: Sequence[tuple[FunctionSource, Inputs]]

    def verdicts(self) -> Iterator[Verdict]:
        """Yields one verdict for each function, in order; all functions are compiled as one library."""
        if not self.functions:
            return
        with tempfile.TemporaryDirectory(prefix="attack-") as scratch:
            try:
                functions, sources = self.sources()
                library = self._library(sources, Path(scratch))
            except Exception as error:
                yield from [Verdict(f"{error!s:.300}", crashed=True)] * len(self.functions)
                return
            for function, (_, inputs) in zip(functions, self.functions, strict=True):
                symbol = sources.manifest["functions"][function.name]["symbol"]
                calls = partial(_tried, library, symbol, function, self.inputs(function, inputs))
                yield verdict_on(calls, "compiled")

    def sources(self) -> tuple[list[FunctionSource], Sources]:
        """The functions with unique names, and their sources; the self-test of these is not compiled."""
        functions = [
            replace(x, signature=replace(x.signature, name=f"form{k}"), derivative_of=None)
            for k, (x, _) in enumerate(self.functions)
        ]
        options = EmitOptions(real=self.real, trig="builtin")
        facts = facts_of(Request(self.robot, Options(functions=("rnea",), name="attacked")))
        return functions, render(facts, functions, options, {x.name: Golden((), 0.0, 0) for x in functions})

    def _library(self, sources: Sources, folder: Path) -> Path:
        files = written(sources, folder)
        native = ["-march=native"] if self.native else []
        command = ["gcc", *FLAGS, *native, *files, "-o", "attacked.so", "-lm"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            errors = [line for line in done.stderr.splitlines() if "error" in line]
            raise RuntimeError(f"does not compile: {(errors or [done.stderr])[0]:.300}")
        return folder / "attacked.so"

    def inputs(self, function: FunctionSource, given: Inputs) -> dict[str, Array]:
        dtype = np.float32 if self.real == "float" else np.float64
        return {x.name: np.ascontiguousarray(given[x.name], dtype) for x in function.signature.inputs}


def written(sources: Sources, folder: Path) -> list[str]:
    """Writes the C files, and returns the names of those to compile."""
    for name, text in sources.files.items():
        if name.endswith((".c", ".h")) and "/" not in name:
            (folder / name).write_text(text, encoding="utf-8")
    return sorted(x.name for x in folder.glob("*.c"))


def _tried(library: Path, symbol: str, function: FunctionSource, inputs: Inputs) -> str | None:
    """Says what is wrong with single calls and batches, if anything."""
    batches = BATCHES if function.batch is not None else ()
    single, *several = results(library, symbol, function, inputs, batches)
    right = expected(function, function.printed, inputs)
    for y, (ours, around), wanted in zip(function.signature.outputs, single, right, strict=True):
        if not same_bits(ours, wanted):
            return f"{y.name}: a single call has not the interpreter's bits, {difference_of(ours, wanted)}"
        if _is_written(around):
            return f"{y.name}: a single call wrote beyond its result"
    right = expected(function, function.batch, inputs) if batches else []
    for (count, _), found in zip(batches, several, strict=True):
        for y, (ours, around), wanted in zip(function.signature.outputs, found, right, strict=True):
            if not np.array_equal(ours[:count], wanted[:count], equal_nan=True):
                return f"{y.name}: a batch of {count} is not the interpreter's, {difference_of(ours, wanted)}"
            if _is_written(ours[count:]) or _is_written(around):
                return f"{y.name}: a batch of {count} wrote beyond its last state"
    return None


def results(
    library: Path, symbol: str, function: FunctionSource, inputs: Inputs, batches: Sequence[tuple[int, int]]
) -> list[list[tuple[Array, Array]]]:
    """The results of single calls and of each batch, each with the memory around it; `called.py` calls them.

    The outer list has the single calls first, then the batches; the inner lists have one pair per output.
    """
    arguments, found = library.with_suffix(".arguments.npz"), library.with_suffix(".results.npz")
    outputs = function.signature.outputs
    arrays: dict[str, Any] = {f"input{k}": x for k, x in enumerate(inputs.values())}
    sizes = np.array([y.size for y in outputs])
    np.savez(arguments, **arrays, inputs=len(arrays), sizes=sizes, batches=np.array(batches).reshape(-1, 2))
    run_program([PYTHON, str(CALLED), str(library), symbol, str(arguments), str(found)])
    with np.load(found) as file:
        return [
            [(file[f"{call}_{2 * k}"], file[f"{call}_{2 * k + 1}"]) for k in range(len(outputs))]
            for call in ("single", *(f"batch{k}" for k in range(len(batches))))
        ]


def verdict_on(try_it: Callable[[], str | None], name: str) -> Verdict:
    """The verdict on a case that runs compiled code in other processes and says what is wrong, or None."""
    try:
        problem = try_it()
    except Exception as error:
        return Verdict(f"{name}: {error!s:.300}", crashed=True)
    return Verdict(f"{name}: {problem or 'right'}", wrong=problem is not None)


def expected(function: FunctionSource, program: Any, inputs: Inputs) -> list[Array]:
    """The results (states, size) of the interpreter, with the sines and cosines of emitted code."""
    found = interpreted(program, inputs, BUILT_IN)
    return [found[y.name].reshape(STATES, -1) for y in function.signature.outputs]


def _is_written(memory: Array) -> bool:
    return bool((memory != memory.dtype.type(UNWRITTEN)).any())


def same_bits(ours: Array, right: Array) -> bool:
    """Whether the bits are equal, including the signs of zeros; all NaNs count as equal."""
    same = np.array_equal(ours, right, equal_nan=True)
    return same and bool(((np.signbit(ours) == np.signbit(right)) | np.isnan(right)).all())


def difference_of(ours: Array, right: Array) -> str:
    at = tuple(int(k[0]) for k in np.nonzero(~((ours == right) & (np.signbit(ours) == np.signbit(right)))))
    return f"element {at}: {ours[at]!r}, not {right[at]!r}"
