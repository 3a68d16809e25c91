"""CasADi: values and Jacobians inside its own loop, by SX of `rbdgen.trace` and by `lib.casadi`."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import casadi
import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from benchmarks.batch import inputs_of, least
from benchmarks.bench import processor
from benchmarks.contestants import present
from rbdgen.functions.table import lookup
from rbdgen.options import Options
from rbdgen.pipeline.page import build_library
from rbdgen.pipeline.robot import load_robot
from rbdgen.selection.expression import chosen_expression
from rbdgen.selection.trace import trace_expression

CASES: Final = (("arm7", "rnea"), ("arm7", "aba"), ("quadruped12", "rnea"))
STATES: Final = 1024
KNOTS: Final = 32

Call = Callable[[], object]


def tables(repetitions: int) -> Iterator[Table]:
    """Microseconds a state, by who computes."""
    contests = {contest.name: contest for contest in present()}
    for name, function in CASES:
        robot = load_robot(contests[name].urdf, contests[name].base, mimic="independent")
        library = build_library(robot, Options.of(functions=[function, f"{function}_derivatives"]))
        arrays = inputs_of(library, function, STATES)
        row = lookup(function)
        textbook = trace_expression(robot.model, row, row.forms[0])
        chosen = chosen_expression(row, robot.model, "casadi")
        contestants = (
            ("SX, textbook's form", textbook, textbook.jacobian()),
            ("SX of rbdgen.trace", chosen, chosen.jacobian()),
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
        table = Table(title=f"{name} {function}: microseconds a state inside CasADi", caption=processor())
        for heading in ("", "value", "Jacobian"):
            table.add_column(heading, justify="right" if heading else "left")
        for (who, _, _), times in zip(contestants, best / STATES / 1000, strict=True):
            table.add_row(who, *(f"{time:.3f}" for time in times))
        yield table


def _loop(function: Any, arrays: Sequence[NDArray[np.float64]]) -> Call:
    """Calls for all states in one loop of CasADi's, without Python between them."""
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
