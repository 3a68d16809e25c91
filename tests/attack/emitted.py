"""What functions give as they are emitted and compiled by gcc, held against the interpreter."""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from attack.guard import outcome
from attack.paths import BUILT_IN, STATES
from attack.verdicts import Verdict
from numpy.typing import NDArray

from rbdgen.emit.package import EmitOptions, FunctionSource, Sources
from rbdgen.emit.render import render
from rbdgen.emit.selftest.golden import Golden
from rbdgen.graph.programs.run import run as interpreted
from rbdgen.machine import Real
from rbdgen.model.build import Robot
from rbdgen.options import Options
from rbdgen.pipeline.facts import facts_of
from rbdgen.pipeline.request import Request

UNWRITTEN = 1e30

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
        """One a function, in order; all are compiled as one library."""
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
                calls = partial(_called, library, symbol, function, self.inputs(function, inputs))
                verdict, words = outcome(calls)
                yield Verdict(f"compiled: {words}", verdict == "wrong", verdict == "crashed")

    def sources(self) -> tuple[list[FunctionSource], Sources]:
        """The functions under names of their own, and their folder; its self-test is not compiled."""
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
    """Writes the C, and gives the names of the files to compile, without self-tests."""
    for name, text in sources.files.items():
        if name.endswith((".c", ".h")) and "/" not in name:
            (folder / name).write_text(text, encoding="utf-8")
    return sorted(x.name for x in folder.glob("*.c") if "selftest" not in x.name)


def _called(path: Path, symbol: str, function: FunctionSource, inputs: Inputs) -> str | None:
    """What is wrong with single calls and batches."""
    library = ctypes.CDLL(str(path))
    if (problem := _singles(getattr(library, symbol), function, inputs)) is not None:
        return problem
    return None if function.batch is None else _batches(getattr(library, f"{symbol}_batch"), function, inputs)


def _singles(call: Any, function: FunctionSource, inputs: Inputs) -> str | None:
    """The last state comes first, so that what is written beyond a result spoils one that is done."""
    results, right_ones = room(function, inputs), expected(function, function.printed, inputs)
    for k in reversed(range(STATES)):
        call(*(_at(x[k]) for x in inputs.values()), *(_at(y[k]) for y in results))
    for y, ours, right in zip(function.signature.outputs, results, right_ones, strict=True):
        if not same_bits(ours, right):
            return f"{y.name}: a single call has not the interpreter's bits, {difference_of(ours, right)}"
        if _spilled(ours):
            return f"{y.name}: a single call wrote beyond its result"
    return None


def _batches(call: Any, function: FunctionSource, inputs: Inputs) -> str | None:
    right_ones = expected(function, function.batch, inputs)
    for count, stream in ((STATES, 0), (STATES, 1), (1, 0), (0, 0)):
        results = room(function, inputs)
        steps = [(_at(x), ctypes.c_size_t(x.shape[1])) for x in inputs.values()]
        call(ctypes.c_size_t(count), *(x for pair in steps for x in pair), *map(_at, results), stream)
        for y, ours, right in zip(function.signature.outputs, results, right_ones, strict=True):
            if not np.array_equal(ours[:count], right[:count], equal_nan=True):
                return f"{y.name}: a batch of {count} is not the interpreter's, {difference_of(ours, right)}"
            if (ours[count:] != ours.dtype.type(UNWRITTEN)).any() or _spilled(ours):
                return f"{y.name}: a batch of {count} wrote beyond its last state"
    return None


def expected(function: FunctionSource, program: Any, inputs: Inputs) -> list[Array]:
    """By the interpreter, with the sines of emitted code."""
    found = interpreted(program, inputs, BUILT_IN)
    return [found[y.name].reshape(STATES, -1) for y in function.signature.outputs]


def room(function: FunctionSource, inputs: Inputs) -> list[Array]:
    """Results that nothing has written yet, each from a whole cache line on."""
    dtype = next(iter(inputs.values())).dtype
    found = []
    for y in function.signature.outputs:
        room = np.full(STATES * y.size + 64, UNWRITTEN, dtype)
        first = -(room.ctypes.data // room.itemsize) % (64 // room.itemsize)
        found.append(room[first : first + STATES * y.size].reshape(STATES, y.size))
    return found


def _spilled(result: Array) -> bool:
    """Whether anything was written before or behind a result of `room`."""
    assert result.base is not None
    unwritten = result.dtype.type(UNWRITTEN)
    return bool((result.base != unwritten).sum() > (result != unwritten).sum())


def _at(array: Array) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def same_bits(ours: Array, right: Array) -> bool:
    """Equal with the signs of zeros; a NaN has the bits of any other."""
    same = np.array_equal(ours, right, equal_nan=True)
    return same and bool(((np.signbit(ours) == np.signbit(right)) | np.isnan(right)).all())


def difference_of(ours: Array, right: Array) -> str:
    at = tuple(int(k[0]) for k in np.nonzero(~((ours == right) & (np.signbit(ours) == np.signbit(right)))))
    return f"element {at}: {ours[at]!r}, not {right[at]!r}"
