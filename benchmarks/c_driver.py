"""Measures the time of C functions of plain arrays: writes a driver, builds it, links it several times, and
runs it.

It is for rbdgen's emitted functions, and for those of any other generator with this signature:
`void name(const real *in0, ..., real *out0, ...)`; a batch function takes the number of states first,
`void name(size_t count, const real *in0, ...)`, and its arrays have one row per state.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from numpy.typing import ArrayLike, NDArray

from benchmarks import toolchain
from benchmarks.measurement import Measurement
from benchmarks.toolchain import Compiler, ToolError

HERE = Path(__file__).parent
TEMPLATES = Environment(
    loader=FileSystemLoader(HERE), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
)
DRIVER_FLAGS = ("-std=c99", "-O2", f"-I{HERE}")


@dataclass(frozen=True)
class CFunction:
    """A C function: its name and the lengths of its arrays, in order."""

    name: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    real: Literal["double", "float"] = "double"
    batch: int = 0  # states per call; 0 for a function of one state, without the count argument


@dataclass(frozen=True)
class Timed:
    """A measurement with the function's outputs, for comparison with a reference."""

    measurement: Measurement
    outputs: tuple[NDArray[np.floating], ...]  # each (states, length)
    compile_seconds: float  # of the sources, one after the other
    text_bytes: int  # machine code and constants of the sources, as `size` counts them


def measure(
    function: CFunction,
    sources: Sequence[Path],
    inputs: Sequence[ArrayLike],
    *,
    compiler: Compiler = toolchain.GCC,
    flags: Sequence[str] = ("-O2", "-march=native"),
    relinks: int = 1,
    seconds: float = 0.2,
) -> Timed:
    """The time per state of `function` in ns, and its outputs for every state.

    Args:
        function: the function.
        sources: the C files that define it and all that it calls, other than libm.
        inputs: one array per argument, (states, length); calls cycle through the states.
        compiler: the compiler of sources and driver.
        flags: flags for the sources; the driver has its own.
        relinks: the number of links to measure, each with the code at other addresses.
        seconds: the time spent measuring each link.

    Raises:
        ToolError: a compiler or the driver fails.
        ValueError: an input's shape is wrong, or the states are no multiple of the batch.
    """
    with linked(function, sources, inputs, compiler=compiler, flags=flags, links=relinks) as programs:
        link_ns = tuple(programs.time(draw, seconds) for draw in range(relinks))
        return Timed(
            Measurement(link_ns, compiler.version, tuple(flags)),
            programs.outputs(),
            programs.compile_seconds,
            programs.text_bytes,
        )


@dataclass(frozen=True)
class Programs:
    """A function that was compiled once and linked several times, in a temporary folder."""

    function: CFunction
    folder: Path
    states: int
    compile_seconds: float
    text_bytes: int

    def time(self, draw: int, seconds: float) -> float:
        """The time per state of one of the links, in ns."""
        command = [self.folder / f"bench{draw}", self.folder / "inputs", self.folder / "outputs"]
        return float(json.loads(toolchain.run([*command, str(seconds)]))["ns"])

    def outputs(self) -> tuple[NDArray[np.floating], ...]:
        """The outputs of the last run."""
        return _read(self.function, self.folder / "outputs", self.states, self.function.batch or 1)


@contextmanager
def linked(
    function: CFunction,
    sources: Sequence[Path],
    inputs: Sequence[ArrayLike],
    *,
    compiler: Compiler,
    flags: Sequence[str],
    links: int,
) -> Iterator[Programs]:
    """The programs that `measure` times; arguments and errors as there."""
    arrays = _check(function, inputs)
    states = len(arrays[0])
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        work = Path(folder)
        driver = work / "driver.c"
        template = TEMPLATES.get_template("driver.c.jinja")
        driver.write_text(template.render(function=function, states=states, rows=function.batch or 1))
        driver_object = work / "driver.o"
        toolchain.compile_object(compiler, driver, DRIVER_FLAGS, driver_object)
        objects = [work / f"function{k}.o" for k in range(len(sources))]
        compile_seconds = sum(
            toolchain.compile_object(compiler, source, flags, output)
            for source, output in zip(sources, objects, strict=True)
        )
        with (work / "inputs").open("wb") as file:
            file.writelines(array.tobytes() for array in arrays)
        for draw in range(links):
            toolchain.link(compiler, [driver_object, *objects], work / f"bench{draw}", draw=draw)
        yield Programs(function, work, states, compile_seconds, toolchain.text_bytes(objects))


def _check(function: CFunction, inputs: Sequence[ArrayLike]) -> list[NDArray[np.floating]]:
    arrays: list[NDArray[np.floating]] = [
        np.ascontiguousarray(a, dtype=np.float64 if function.real == "double" else np.float32) for a in inputs
    ]
    if not arrays or len(arrays) != len(function.inputs):
        raise ValueError(f"{function.name}: {len(arrays)} inputs given, {len(function.inputs)} declared")
    states = len(arrays[0])
    for array, length in zip(arrays, function.inputs, strict=True):
        if array.shape != (states, length):
            raise ValueError(f"{function.name}: an input is {array.shape}, should be {(states, length)}")
    if states == 0 or states % (function.batch or 1):
        raise ValueError(f"{function.name}: {states} states are no multiple of the batch of {function.batch}")
    return arrays


def _read(function: CFunction, path: Path, states: int, rows: int) -> tuple[NDArray[np.floating], ...]:
    """Reads the outputs file, which holds, for each call, the block of `rows` rows of each output."""
    per_call = rows * sum(function.outputs)
    values = np.fromfile(path, dtype=np.float64 if function.real == "double" else np.float32)
    expected = per_call * (states // rows)
    if values.size != expected:
        raise ToolError(f"{function.name}: the driver wrote {values.size} numbers, not {expected}")
    calls = values.reshape(states // rows, per_call)
    ends = np.cumsum([rows * length for length in function.outputs])[:-1]
    blocks = np.split(calls, ends, axis=1)
    return tuple(b.reshape(states, length) for b, length in zip(blocks, function.outputs, strict=True))
