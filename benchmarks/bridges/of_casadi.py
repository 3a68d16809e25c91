"""CasADi: values and Jacobians inside CasADi's own loop, with SX of `rbdgen.trace` and with `lib.casadi`.

It also measures the reach of `examples/mpc_casadi.py` with exact Hessians, in total and for its functions
alone.
"""

from __future__ import annotations

import runpy
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import casadi
import numpy as np
from numpy.typing import NDArray

from benchmarks.batch import inputs_of, least
from benchmarks.bridges.turns import CASES, STATES, Call, Times
from benchmarks.contestants import present
from rbdgen.functions.table import lookup
from rbdgen.options import Options
from rbdgen.pipeline.page import build_library
from rbdgen.pipeline.robot import load_robot
from rbdgen.runtime import Library
from rbdgen.selection.expression import chosen_expression
from rbdgen.selection.trace import trace_expression

KNOTS: Final = 32
TEXTBOOK: Final = "SX, textbook's form"
TRACED: Final = "SX of rbdgen.trace"
REACH: Final = Path(__file__).parents[2] / "examples" / "mpc_casadi.py"


def cases(repetitions: int) -> Iterator[tuple[str, Times]]:
    """Nanoseconds per state by implementation, and seconds of the reach."""
    contests = {contest.name: contest for contest in present()}
    for name, function in CASES:
        robot = load_robot(contests[name].urdf, contests[name].base, mimic="independent")
        library = build_library(robot, Options.of(functions=[function, f"{function}_derivatives"]))
        arrays = inputs_of(library, function, STATES)
        row = lookup(function)
        textbook = trace_expression(robot.model, row, row.forms[0])
        chosen = chosen_expression(row, robot.model, "casadi")
        contestants = (
            (TEXTBOOK, textbook, textbook.jacobian()),
            (TRACED, chosen, chosen.jacobian()),
            ("CasADi's C of that, -O2", *_compiled(chosen)),
            *(
                (f"lib.casadi, knots={knots}", made, made.jacobian())
                for knots in (1, KNOTS)
                for made in [library.casadi(function, knots)]
            ),
        )
        calls = [(_loop(value, arrays), _loop(jacobian, arrays)) for _, value, jacobian in contestants]
        best = np.full((len(calls), 2), np.inf)
        for _ in range(repetitions):
            for k, pair in enumerate(calls):
                for column, call in enumerate(pair):
                    best[k, column] = min(best[k, column], least(call, 1, 1))
        told = ("value, ns a state", "Jacobian, ns a state")
        yield (
            f"{name} {function}",
            {
                who: dict(zip(told, times.tolist(), strict=True))
                for (who, _, _), times in zip(contestants, best / STATES, strict=True)
            },
        )
    yield "reach", _reach(max(1, repetitions // 4))


def _reach(repetitions: int) -> Times:
    """The times of the reach's functions alone, and in total."""
    robot = load_robot("arm7")
    names = ["rnea", "rnea_derivatives", "rnea_vjp", "rnea_hvp"]
    library: Library = build_library(robot, Options.of(functions=names))
    row = lookup("rnea")
    ways = {
        TEXTBOOK: trace_expression(robot.model, row, row.forms[0]).map(KNOTS),
        TRACED: chosen_expression(row, robot.model, "casadi").map(KNOTS),
        "lib.casadi, knots=1": library.casadi("rnea", hessian=True).map(KNOTS),
        f"lib.casadi, knots={KNOTS}": library.casadi("rnea", KNOTS, hessian=True),
    }
    reach = runpy.run_path(str(REACH))["reach"]
    best = {who: {"functions, s": np.inf, "in all, s": np.inf} for who in ways}
    for _ in range(repetitions):
        for who, torques in ways.items():
            found = reach(torques, "exact")
            best[who]["functions, s"] = min(best[who]["functions, s"], found.functions)
            best[who]["in all, s"] = min(best[who]["in all, s"], found.solved)
    return best


def _loop(function: Any, arrays: Sequence[NDArray[np.float64]]) -> Call:
    """A call for all states in one loop of CasADi, without Python between states."""
    width = function.size2_in(0)
    looped = function.map(STATES // width)
    buffer, trigger = looped.buffer()
    held = [array.reshape(-1) for array in arrays]
    held += [np.zeros(max(looped.nnz_in(k), 1)) for k in range(len(arrays), looped.n_in())]
    results = [np.zeros(max(looped.nnz_out(k), 1)) for k in range(looped.n_out())]
    for k, array in enumerate(held):
        buffer.set_arg(k, array.data)
    for k, array in enumerate(results):
        buffer.set_res(k, array.data)

    def call(kept: object = (buffer, held, results)) -> None:
        trigger()

    return call


def _compiled(function: Any) -> tuple[Any, Any]:
    """CasADi's own C of a function and of its Jacobian."""
    made = []
    for part in (function, function.jacobian()):
        folder = Path(tempfile.mkdtemp(prefix="rbdgen-bench-"))
        generator = casadi.CodeGenerator("made.c")
        generator.add(part)
        generator.generate(f"{folder}/")
        command = [
            "gcc",
            "-shared",
            "-fPIC",
            "-O2",
            "-march=native",
            "-fno-math-errno",
            "made.c",
            "-o",
            "made.so",
            "-lm",
        ]
        subprocess.run(command, cwd=folder, check=True)
        made.append(casadi.external(part.name(), str(folder / "made.so")))
    return made[0], made[1]
