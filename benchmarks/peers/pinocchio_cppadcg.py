"""Measures C that Pinocchio generates with CppADCodeGen and compiles with its default flags.

In addition to what peers/pinocchio_cpp.py needs, it needs the packages `cmeel-cppad` and `cmeel-cppadcodegen`
and gcc, which Pinocchio's generator calls. The driver, cppadcg_driver.cpp, takes minutes to compile, once.
Generating and compiling a robot's functions takes minutes every time.
`python -m benchmarks.peers.pinocchio_cppadcg ROBOT.urdf [--floating]` prints the times.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import toolchain
from benchmarks.measurement import Measurement
from benchmarks.peers import pinocchio_cpp
from benchmarks.states import States, random_states
from benchmarks.toolchain import Compiler, ToolError

DRIVER = Path(__file__).with_name("cppadcg_driver.cpp")
FUNCTIONS = ("rnea", "aba", "crba", "minv", "rnea_derivatives", "aba_derivatives")
JACOBIANS = ("rnea_jacobian", "aba_jacobian")
"""Automatic differentiation of RNEA and ABA: one matrix (nv, nq + 2 nv) of derivatives by the elements of
q in Pinocchio's convention, v, and a or tau."""
# The flags of the driver, which only passes arrays; Pinocchio compiles the generated C with GENERATED_FLAGS.
DRIVER_FLAGS = ("-std=c++17", "-O2", "-DNDEBUG", "-march=native", "-w", *pinocchio_cpp.BOOST_LIMITS)
GENERATED_FLAGS = ("-Ofast",)


@dataclass(frozen=True)
class Generated:
    """The measurement of one generated function, and its outputs."""

    measurement: Measurement
    generation_seconds: float  # from the model to the loaded library, including the C compiler's time
    outputs: tuple[NDArray[np.float64], ...]  # for the first states, stacked


@lru_cache
def build(compiler: Compiler) -> Path:
    """The driver's object; it takes minutes if the object is not in benchmarks/build yet."""
    includes = pinocchio_cpp.include_flags()
    prefix = Path(includes[0].removeprefix("-isystem"))
    if not (prefix / "cppad/cg.hpp").is_file():
        raise ToolError("CppADCodeGen is not installed: pip install cmeel-cppad cmeel-cppadcodegen")
    return toolchain.cached_object(compiler, DRIVER, DRIVER_FLAGS, includes)


def measure(
    model: Any,
    states: States,
    *,
    functions: Sequence[str] = FUNCTIONS,
    compiler: Compiler | None = None,
    launches: int = 3,
    seconds: float = 0.2,
) -> dict[str, Generated]:
    """Generates, compiles and times each of the functions.

    Args:
        model: a `pinocchio.Model`.
        states: the states through which the calls cycle.
        functions: names from FUNCTIONS and JACOBIANS.
        compiler: the compiler of the driver alone; by default clang if it is installed, which takes half of
            gcc's memory.
        launches: the number of times that the driver is started. Code and stack have other addresses each
            time, which changed the time of single functions by a factor of two.
        seconds: the time spent measuring each function in each launch.

    Raises:
        ToolError: a header is missing, or the driver or the generator's compiler fails.
    """
    chosen = compiler or toolchain.available((toolchain.CLANG, toolchain.GCC))[0]
    with tempfile.TemporaryDirectory(prefix="bench-cppadcg-") as folder:
        work = Path(folder)
        pinocchio_cpp.write_model(model, work / "model")
        pinocchio_cpp.write_states(model, states, work / "states")
        toolchain.link(chosen, [build(chosen)], work / "driver", libraries=("-ldl", "-lm"))
        words: list[str | Path] = [work / "driver", work / "model", work / "states", str(seconds), *functions]
        reports = [json.loads(toolchain.run(words, folder=work)) for _ in range(launches)]
    return {
        name: Generated(
            Measurement(
                tuple(float(report[name]["ns"]) for report in reports), toolchain.GCC.version, GENERATED_FLAGS
            ),
            float(entry["generation_seconds"]),
            _unpacked(np.array(entry["values"]), model.nv, name),
        )
        for name, entry in reports[0].items()
    }


def _unpacked(rows: NDArray[np.float64], nv: int, name: str) -> tuple[NDArray[np.float64], ...]:
    """The outputs in rows of raw numbers (states, length).

    They are one matrix if the function is a Jacobian. Otherwise their kind follows from the length: a vector,
    a packed upper triangle, or three matrices, of which the last one is symmetric and only valid in its upper
    triangle.
    """
    count, length = rows.shape
    if name in JACOBIANS:
        return (rows.reshape(count, nv, length // nv),)
    if length == nv:
        return (rows,)
    if length == 3 * nv * nv:
        d_dq, d_dv, upper = np.moveaxis(rows.reshape(count, 3, nv, nv), 1, 0)
        return d_dq, d_dv, np.triu(upper) + np.triu(upper, 1).transpose(0, 2, 1)
    full = np.zeros((count, nv, nv))
    above = np.triu_indices(nv)
    full[:, above[0], above[1]] = rows
    full[:, above[1], above[0]] = rows
    return (full,)


def main() -> None:
    """Prints microseconds per call and the seconds of generation, for each function."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("urdf", type=Path)
    parser.add_argument("--floating", action="store_true", help="with a floating base")
    parser.add_argument("--functions", nargs="+", choices=FUNCTIONS, default=FUNCTIONS)
    parser.add_argument("--seconds", type=float, default=0.2, help="time spent on each function and launch")
    arguments = parser.parse_args()
    model = pinocchio_cpp.load_model(arguments.urdf, floating=arguments.floating)
    states = random_states(model.nv, floating=arguments.floating)
    table = measure(model, states, functions=arguments.functions, seconds=arguments.seconds)
    outputs = {name: entry.outputs for name, entry in table.items()}
    error = pinocchio_cpp.worst_error(outputs, model, states)
    print(f"relative error against the Python module {error:.1e}")
    for name, entry in table.items():
        us, spread = entry.measurement.ns / 1000, entry.measurement.spread
        took = f"generated and compiled in {entry.generation_seconds:.1f} s"
        print(f"  {name:18} {us:8.3f} us  spread {spread:.2f}  {took}")


if __name__ == "__main__":
    main()
