"""Compares single calls of rbdgen's functions with those of Pinocchio and of other generators.

`python -m benchmarks.bench` (or `make bench`) prints a table per robot, writes
benchmarks/results/<robot>.json and draws benchmarks/results/speed.svg. Competitors that are not installed are
named and left out. With --before COMMIT only this tree and another commit are compared, see `before`. With
--more and --contacts it measures other functions, writes
benchmarks/results/more_<robot>.json and contact_<robot>.json, and draws nothing. With --distances it runs
`distances`.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import before, toolchain
from benchmarks.c_driver import CFunction, Timed, measure
from benchmarks.casadi_c import graph_function, measure_casadi
from benchmarks.contestants import CONTESTS, IN_CONTACT, MORE, SIX, Contest, Suite, present, suite_of
from benchmarks.measurement import Measurement
from benchmarks.peers import pinocchio_cpp, pinocchio_cppadcg
from benchmarks.presentation import draw, print_table
from benchmarks.states import SAME, States, random_states
from benchmarks.toolchain import ToolError
from rbdgen.emit.package import FunctionSource
from rbdgen.emit.write import write_folder
from rbdgen.graph.programs.unrolled import unrolled
from rbdgen.model.build import Robot
from rbdgen.options import Options
from rbdgen.pipeline.compilation import toolchain_of
from rbdgen.pipeline.design import design_functions
from rbdgen.pipeline.page import emit
from rbdgen.pipeline.request import Request
from rbdgen.toolchain.cache import Cache
from rbdgen.toolchain.compiler import find_compiler
from rbdgen.toolchain.module import Toolchain, build

RESULTS = Path(__file__).parent / "results"
CHART = RESULTS / "speed.svg"

CASADI_LIMIT = 20_000
"""The number of operations above which CasADi's C is only compiled on request, as gcc takes minutes for
it."""

CHECKED_STATES = 4
TOLERANCE = 1e-7
"""The largest difference from Pinocchio that is accepted, relative to the largest entry of an output."""

Json = dict[str, Any]


@dataclass(frozen=True)
class Effort:
    """The effort of a measurement."""

    relinks: int  # the number of links of each function
    seconds: float  # for each link
    slow: bool  # whether to include competitors that take minutes


@dataclass(frozen=True)
class Designed:
    """A robot's functions as graphs and as C files in `folder`, with the time and memory of the design."""

    robot: Robot
    functions: Sequence[FunctionSource]
    folder: Path
    name: str
    design_seconds: float
    build_seconds: float
    peak_bytes: int


def main() -> None:
    """Measures the robots named on the command line, by default all whose files exist."""
    parser = argparse.ArgumentParser(description=__doc__)
    names = [contest.name for contest in CONTESTS]
    parser.add_argument("robots", nargs="*", help=f"robots to measure, from: {', '.join(names)}")
    parser.add_argument("--more", action="store_true", help=MORE.told)
    parser.add_argument("--contacts", action="store_true", help=IN_CONTACT.told)
    parser.add_argument(
        "--distances", action="store_true", help="measure distances of capsules, against coal; draws no chart"
    )
    parser.add_argument("--relinks", type=int, default=5, help="the number of links of each function")
    parser.add_argument("--seconds", type=float, default=0.2, help="time spent on each link")
    parser.add_argument(
        "--contract", action="store_true", help="let compilers fuse products and sums; nothing is saved"
    )
    parser.add_argument(
        "--slow",
        action="store_true",
        help="measure CppADCodeGen too, and CasADi's C of the longest functions",
    )
    parser.add_argument("--draw", action="store_true", help="only draw the chart again from the results")
    before.add_options(parser)
    arguments = parser.parse_args()
    if arguments.distances:
        from benchmarks import distances  # noqa: PLC0415  (it reads robots of the tests, and this module)

        distances.measure_all(arguments.robots, arguments.relinks)
        return
    if unknown := set(arguments.robots) - set(names):
        parser.error(f"unknown robot: {', '.join(sorted(unknown))}; choose from: {', '.join(names)}")
    effort = Effort(arguments.relinks, arguments.seconds, arguments.slow)
    suite = suite_of(arguments.more, arguments.contacts)
    wanted = [] if arguments.draw else arguments.robots or suite.robots
    contests = [contest for contest in present() if contest.name in wanted]
    if contests and not toolchain.available():
        parser.exit(2, "bench: neither gcc with g++ nor clang with clang++ is here; apt install g++\n")
    if commit := arguments.before:
        asked = arguments.functions.split(",") if arguments.functions else None
        before.printed(
            lambda one: before.compare_calls(
                one, suite, commit, asked or suite.functions_of(one), arguments.relinks
            ),
            contests,
        )
        return
    for contest in contests:
        print(f"{contest.name}: generating and measuring", file=sys.stderr, flush=True)
        options = Options(contract=arguments.contract, functions=suite.functions_of(contest))
        report = measure_robot(contest, suite, options, effort)
        print_table(report)
        if not arguments.contract:
            RESULTS.mkdir(exist_ok=True)
            (RESULTS / f"{suite.prefix}{contest.name}.json").write_text(json.dumps(report, indent=1) + "\n")
    if suite is SIX and not arguments.contract:
        draw(RESULTS, CHART)


def measure_robot(contest: Contest, suite: Suite, options: Options, effort: Effort) -> Json:
    """The results for all functions of one robot and all competitors, as JSON."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        designed = design_and_build(contest, suite, options, Path(folder))
        states = random_states(designed.robot.model.nv, floating=contest.floating)
        model = load_peer(contest, designed.robot)
        peers: dict[str, Mapping[str, Measurement]] = {
            "rbdgen": {},
            "pinocchio": peer_pinocchio(model, suite.driver, states, effort),
            "casadi": {},
            "cppadcg": peer_cppadcg(model, states, effort) if suite is SIX else {},
        }
        rows: Json = {}
        for function in designed.functions:
            timed = fastest(designed, function, states, options, effort)
            casadi = casadi_peer(function, states, effort)
            times = {"rbdgen": timed.measurement, "casadi": casadi}
            times |= {who: table.get(function.name) for who, table in peers.items() if who not in times}
            rows[function.name] = {
                "form": function.form,
                "operations": function.cost.total,
                "text_bytes": timed.text_bytes,
                "compile_seconds": round(timed.compile_seconds, 2),
                "error": disagreement(model, states, function, timed),
                "times": {who: entry.to_json() for who, entry in times.items() if entry},
            }
    return {
        "robot": contest.name,
        "base": contest.base,
        "dof": designed.robot.model.nv,
        "frames": [frame.name for frame in designed.robot.model.frames],
        "machine": processor(),
        "generation": {
            "design_seconds": round(designed.design_seconds, 2),
            "build_seconds": round(designed.build_seconds, 2),
            "peak_megabytes": round(designed.peak_bytes / 1e6),
        },
        "functions": rows,
    }


def design_and_build(contest: Contest, suite: Suite, options: Options, folder: Path) -> Designed:
    """Generates and builds a robot's functions without a cache, and measures time and memory."""
    start = time.perf_counter()
    robot = suite.load(contest)
    functions = design_functions(Request(robot, options))
    sources = emit(Request(robot, options), functions)
    middle = time.perf_counter()
    build(sources, toolchain_of(options), Cache(folder / "cache"))
    end = time.perf_counter()
    write_folder(folder / "c", sources.files)
    # Of the largest process, in KiB on Linux.
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return Designed(robot, functions, folder / "c", sources.name, middle - start, end - middle, peak * 1024)


def fastest(
    designed: Designed, function: FunctionSource, states: States, options: Options, effort: Effort
) -> Timed:
    """The result of rbdgen's C with the faster compiler; both get the flags that `rbdgen` itself uses."""
    host = toolchain_of(options)
    shape = CFunction(
        f"{designed.name}_{function.name}",
        tuple(argument.size for argument in function.signature.inputs),
        tuple(argument.size for argument in function.signature.outputs),
        options.real,
    )
    rivals = []
    for compiler in toolchain.available():
        tools = Toolchain(find_compiler(compiler.c), host.flags)
        rivals.append(
            measure(
                shape,
                [designed.folder / f"{shape.name}.c"],
                inputs_of(function, states),
                compiler=compiler,
                flags=tools.function_flags,
                relinks=effort.relinks,
                seconds=effort.seconds,
            )
        )
    return min(rivals, key=lambda timed: timed.measurement.ns)


def inputs_of(function: FunctionSource, states: States) -> list[NDArray[np.float64]]:
    """The states' arrays in the order of the function's arguments."""
    return [
        np.full((len(states), argument.size), SAME[argument.name])
        if argument.name in SAME
        else getattr(states, argument.name)
        for argument in function.signature.inputs
    ]


def load_peer(contest: Contest, robot: Robot) -> Any:
    """The robot as Pinocchio reads it, with frames of the same names; None if Pinocchio is not installed."""
    frames = [frame.name for frame in robot.model.frames]

    def load() -> Any:
        model = pinocchio_cpp.load_model(contest.urdf, floating=contest.floating, frames=frames)
        pinocchio_cpp.add_contacts(model, robot.model.contacts)
        return model

    return attempt("Pinocchio", load)


def peer_pinocchio(model: Any, driver: Path, states: States, effort: Effort) -> Mapping[str, Measurement]:
    """The results of Pinocchio's C++ with the faster compiler for each function."""
    if model is None:
        return {}
    run = lambda: pinocchio_cpp.measure_best(  # noqa: E731
        model, states, driver=driver, relinks=effort.relinks, seconds=effort.seconds
    )
    return attempt("Pinocchio C++", run) or {}


def peer_cppadcg(model: Any, states: States, effort: Effort) -> Mapping[str, Measurement]:
    """The results of code that Pinocchio generates with CppADCodeGen, which takes minutes per robot."""
    if model is None or not effort.slow:
        return {}
    run = lambda: pinocchio_cppadcg.measure(  # noqa: E731
        model, states, functions=SIX.functions, launches=effort.relinks, seconds=effort.seconds
    )
    return {name: entry.measurement for name, entry in (attempt("CppADCodeGen", run) or {}).items()}


def casadi_peer(function: FunctionSource, states: States, effort: Effort) -> Measurement | None:
    """The result of CasADi's C for the same operations that rbdgen printed, with loops unrolled."""
    if function.cost.total > CASADI_LIMIT and not effort.slow:
        return None
    rivals = [
        measure_casadi(
            graph_function(function.name, unrolled(function.program)),
            inputs_of(function, states),
            compiler=compiler,
            relinks=effort.relinks,
            seconds=effort.seconds,
        ).measurement
        for compiler in toolchain.available()
    ]
    return min(rivals, key=lambda measurement: measurement.ns)


def attempt(who: str, measured: Callable[[], Any]) -> Any:
    """The result of `measured`; if the competitor is not installed, prints a line and returns None."""
    try:
        return measured()
    except (ToolError, ImportError) as error:
        print(f"{who} is left out: {error}")
        return None


def disagreement(model: Any, states: States, function: FunctionSource, timed: Timed) -> float | None:
    """The relative difference of the results from Pinocchio's. Raises ToolError if it is more than rounding.

    It is None for a function that Pinocchio's Python module lacks; tests compare such functions with finite
    differences.
    """
    if model is None or not pinocchio_cpp.has_reference(function.name):
        return None
    few = states.head(CHECKED_STATES)
    outputs = [
        values[:CHECKED_STATES].reshape(CHECKED_STATES, *argument.shape).astype(np.float64)
        for values, argument in zip(timed.outputs, function.signature.outputs, strict=True)
    ]
    error = pinocchio_cpp.worst_error({function.name: outputs}, model, few)
    if not error < TOLERANCE:
        raise ToolError(f"{function.name}: {error:g} off from Pinocchio; a wrong result is not worth timing")
    return error


def processor() -> str:
    """The name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


if __name__ == "__main__":
    try:
        main()
    except ToolError as error:
        sys.exit(f"bench: {error}")
