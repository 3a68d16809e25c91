"""Compares functions of a user's own with CasADi's C of the same expressions, for one call and for batches.

`python -m benchmarks.own` (or `make bench-own`) prints a table per function and writes results/own.json. The
functions are a controller (`reach`), the gradient of a running cost (`running_vjp`) and the prediction of a
Kalman filter (`ekf`). Times are per state; a ratio is the time of CasADi's C, with the better of GCC and
Clang and `-O3 -march=native`, divided by this time. All ways are in one process and measured in turns; the
smallest time of all repetitions is reported.

CasADi's C is measured twice: "parts" composes the traces of rbdgen's functions in CasADi, as users do without
functions of their own; "text" is the trace of the own function, with the operations that rbdgen finds. Ratios
are those of "parts". CasADi's gradient is by the elements of q, and that of rbdgen by the tangent space.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from support.own import ARM, QUADRUPED, ekf, reach, running

import rbdgen
from benchmarks import own_casadi, toolchain
from benchmarks.batch import RESULTS, Json
from benchmarks.bench import processor
from benchmarks.c_driver import HERE, TEMPLATES
from benchmarks.casadi_c import FLAGS, source_text
from benchmarks.toolchain import Compiler, ToolError
from rbdgen.model.robot import Robot
from rbdgen.options import Options
from rbdgen.own.text import Own, OwnFunction
from rbdgen.pipeline.compilation import toolchain_of
from rbdgen.signature import SizedArgument
from rbdgen.toolchain.compiler import find_compiler
from rbdgen.toolchain.module import Toolchain

STATES: Final = 1024
FEW: Final = 16
"""The number of states through which single calls cycle, few enough for the first cache."""
CALLS: Final = 256
"""The number of single calls between two readings of the clock."""

PARTS, TEXT, OURS, OURS_O3 = "CasADi, parts", "CasADi, text", "rbdgen", "rbdgen, -O3"

Arrays = list[NDArray[np.float64]]


@dataclass(frozen=True)
class Case:
    """A function of a user's own, and CasADi's functions with the same inputs in the same order."""

    own: OwnFunction
    robot: Robot
    called: str
    """The function that is measured: the own function, or a derivative of it."""
    rivals: Mapping[str, Callable[[], Any]]
    compared: slice
    """The outputs that both sides have alike."""


CASES: Final = (
    Case(
        reach,
        ARM,
        "reach",
        {PARTS: own_casadi.reach_of_parts, TEXT: own_casadi.reach_of_text},
        slice(None),
    ),
    Case(
        running,
        QUADRUPED,
        "running_vjp",
        {PARTS: own_casadi.cost_of_parts, TEXT: own_casadi.cost_of_text},
        slice(1, None),
    ),
    Case(
        ekf,
        ARM,
        "ekf",
        {PARTS: own_casadi.filter_of_parts, TEXT: own_casadi.filter_of_text},
        slice(None),
    ),
)


@dataclass(frozen=True)
class Way:
    """A compiled function with its arrays."""

    library: ctypes.CDLL
    operations: int
    inputs: Arrays
    outputs: Arrays

    def single(self, calls: int) -> float:
        """The mean time of a call in ns."""
        states = min(FEW, len(self.inputs[0]))
        return float(self.library.single_ns(states, calls, *self._pointers()))

    def batch(self) -> float:
        """The time per state of all states in ns."""
        return float(self.library.batch_ns(len(self.inputs[0]), *self._pointers()))

    def _pointers(self) -> list[Any]:
        return [
            (ctypes.c_void_p * len(arrays))(*(x.ctypes.data for x in arrays))
            for arrays in (self.inputs, self.outputs)
        ]


def main() -> None:
    """Measures the functions named on the command line, by default all."""
    parser = argparse.ArgumentParser(description=__doc__)
    names = [case.called for case in CASES]
    parser.add_argument("functions", nargs="*", help=f"by default: {', '.join(names)}")
    parser.add_argument("--repetitions", type=int, default=60, help="the shortest time counts")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the folder of results")
    given = parser.parse_args()
    if unknown := set(given.functions) - set(names):
        parser.error(f"unknown function: {', '.join(sorted(unknown))}")
    for case in CASES:
        if case.called in (given.functions or names):
            found = report(case, given.repetitions)
            write(found, given.results)
            Console(width=110).print(table(found))


def write(found: Json, folder: Path) -> None:
    """Replaces a function's report in own.json."""
    path = folder / "own.json"
    reports: Json = {}
    with suppress(FileNotFoundError):
        reports = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(reports | {found["function"]: found}, indent=1) + "\n", encoding="utf-8")


def table(found: Json) -> Table:
    """The report of a function."""
    made = Table(title=f"{found['function']} of {found['robot']}", caption=found["machine"])
    for heading in ("way", "operations", "one call, ns", "ratio", f"{found['states']} states, ns", "ratio"):
        made.add_column(heading, justify="left" if heading == "way" else "right")
    for name, way in found["ways"].items():
        figures = (
            figure
            for which in ("one", "batch")
            for figure in (f"{way[which]:.0f}", f"{way['ratio'][which]:.2f}")
        )
        made.add_row(name, str(way["operations"]), *figures)
    return made


def report(case: Case, repetitions: int) -> Json:
    """Nanoseconds per state of every way, and ratios.

    Raises:
        ToolError: a compiler fails, or the two sides have other values.
    """
    with tempfile.TemporaryDirectory(prefix="bench-own-") as folder:
        ways = ways_of(case, Path(folder))
        check(case, ways)
        best = {name: {"one": float("inf"), "batch": float("inf")} for name in ways}
        for _ in range(repetitions):
            for name, way in ways.items():
                best[name]["one"] = min(best[name]["one"], way.single(CALLS))
                way.batch()  # brings the arrays back into the caches, which hold those of the other ways
                best[name]["batch"] = min(best[name]["batch"], way.batch(), way.batch())
    rival = {
        which: min(times[which] for name, times in best.items() if name.startswith(PARTS))
        for which in ("one", "batch")
    }
    return {
        "function": case.called,
        "robot": case.robot.name,
        "machine": processor(),
        "compilers": [compiler.version for compiler in toolchain.available()],
        "flags": list(FLAGS),
        "states": STATES,
        "repetitions": repetitions,
        "ways": {
            name: {
                "operations": ways[name].operations,
                **times,
                "ratio": {which: rival[which] / ns for which, ns in times.items()},
            }
            for name, times in best.items()
        },
    }


def ways_of(case: Case, folder: Path) -> dict[str, Way]:
    """Every way of computing a function, by name and compiler, compiled in a folder."""
    asked: list[str | Own] = [case.own, *([case.called] if case.called != case.own.name else [])]
    generated = rbdgen.generate(case.robot, folder / "generated", functions=asked, compiled=False)
    manifest = json.loads((generated / "manifest.json").read_text(encoding="utf-8"))
    facts = manifest["functions"][case.called]
    taken, given = ([tuple(x["shape"]) for x in facts[which]] for which in ("inputs", "outputs"))
    inputs = drawn(case, facts["inputs"])
    vectors = all(len(shape) == 1 for shape in given)
    ours = Source(
        [generated / facts["source"], generated / f"{Path(facts['source']).stem}_batch.c"],
        facts["symbol"],
        f"{facts['symbol']}_batch",
        [int(np.prod(shape)) for shape in taken],
        [int(np.prod(shape)) for shape in given],
    )
    host = toolchain_of(Options())
    ways: dict[str, Way] = {}
    rivals = {name: made() for name, made in case.rivals.items()}
    for compiler in toolchain.available():
        for name, f in rivals.items():
            way = f"{name}, {compiler.name}"
            library = compiled(casadi_source(f, folder), compiler, FLAGS, folder / f"{len(ways)}.so")
            ways[way] = Way(
                library, own_casadi.operations(f), [columns_first(x) for x in inputs], outputs_of(f)
            )
        chosen = Toolchain(find_compiler(compiler.c), host.flags)
        own_flags = chosen.batch_flags if vectors else chosen.function_flags
        for name, flags in ((OURS, own_flags), (OURS_O3, ("-O3", "-march=native"))):
            library = compiled(ours, compiler, flags, folder / f"{len(ways)}.so")
            ways[f"{name}, {compiler.name}"] = Way(
                library,
                facts["operations"]["total"],
                [aligned(x) for x in inputs],
                [aligned(np.zeros((STATES, *shape))) for shape in given],
            )
    return ways


@dataclass(frozen=True)
class Source:
    """C files with a function, its symbols, and the lengths of its arrays."""

    files: Sequence[Path]
    symbol: str
    batch: str
    inputs: Sequence[int]
    outputs: Sequence[int]


def casadi_source(f: Any, folder: Path) -> Source:
    """The C that CasADi prints."""
    file = folder / f"{f.name()}.c"
    file.write_text(source_text(f), encoding="utf-8")
    sizes = [[size(k) for k in range(n)] for size, n in ((f.numel_in, f.n_in()), (f.numel_out, f.n_out()))]
    return Source([file], f"{f.name()}_plain", "", *sizes)


def compiled(source: Source, compiler: Compiler, flags: Sequence[str], path: Path) -> ctypes.CDLL:
    """The function and the loops that time it, as a module of this process."""
    driver = path.with_suffix(".c")
    template = TEMPLATES.get_template("own.c.jinja")
    driver.write_text(
        template.render(name=source.symbol, batch=source.batch, inputs=source.inputs, outputs=source.outputs)
    )
    objects: list[Path] = []
    for file, own in (
        (driver, ("-std=gnu99", "-O2", f"-I{HERE}")),
        *((file, flags) for file in source.files),
    ):
        made = path.with_suffix(f".{len(objects)}.o")
        visible = [flag for flag in own if flag != "-fstack-usage"]
        toolchain.compile_object(compiler, file, [*visible, "-fPIC", f"-I{file.parent}"], made)
        objects.append(made)
    toolchain.run([compiler.c, "-shared", "-Wl,-Bsymbolic", *objects, "-o", path, "-lm"])
    library = ctypes.CDLL(str(path))
    library.single_ns.restype = library.batch_ns.restype = ctypes.c_double
    library.single_ns.argtypes = [ctypes.c_size_t, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p]
    library.batch_ns.argtypes = [ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p]
    return library


def drawn(case: Case, facts: Sequence[Mapping[str, Any]]) -> Arrays:
    """Random inputs, symmetric where that is declared."""
    symmetric = {x.name for x in case.own.signature.inputs if x.symmetric}
    ranges = {x.name: x.range for x in case.own.signature.inputs}
    arguments = [
        SizedArgument(
            x["name"], tuple(x["shape"]), x["unit"], x["meaning"], x["kind"], range=ranges.get(x["name"])
        )
        for x in facts
    ]
    generator = np.random.default_rng(0)
    values = case.robot.model.manifold.random_inputs(arguments, generator, (STATES,))
    return [
        x + np.swapaxes(x, 1, 2) if name in symmetric else np.asarray(x, float) for name, x in values.items()
    ]


def aligned(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """A copy that begins at a cache line."""
    memory = np.empty(values.size + 8)
    start = -(memory.ctypes.data // 8) % 8
    found = memory[start : start + values.size].reshape(values.shape)
    found[...] = values
    return found


def columns_first(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Matrices in CasADi's order."""
    return aligned(np.swapaxes(values, 1, 2) if values.ndim == 3 else values)


def outputs_of(f: Any) -> Arrays:
    """Arrays for CasADi's outputs, whose matrices are stored by columns."""
    return [aligned(np.zeros((STATES, f.size2_out(k), f.size1_out(k)))) for k in range(f.n_out())]


def check(case: Case, ways: Mapping[str, Way]) -> None:
    """Raises ToolError unless single calls and batches of all ways have the same values."""
    expected: Arrays = []
    for name, way in ways.items():
        way.batch()
        rows = way.outputs
        if name.startswith("CasADi"):
            rows = [np.swapaxes(x, 1, 2) for x in rows]
        found = [x.reshape(STATES, -1).copy() for x in rows[case.compared]]
        expected = expected or found
        way.single(1)
        first = [x.reshape(STATES, -1)[:1].copy() for x in rows[case.compared]]
        for x, y in zip(found + first, expected + [y[:1] for y in expected], strict=True):
            error = np.max(np.abs(x - y)) / (1 + np.max(np.abs(y)))
            if not error < 1e-9:
                raise ToolError(f"{case.called}: the values of {name} are off by {error:g}")


if __name__ == "__main__":
    main()
