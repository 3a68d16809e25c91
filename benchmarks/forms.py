"""Compares straight lines with forms with SIMD lanes: the gain that selection predicts, and the measured
gain.

`python -m benchmarks.forms` (or `make bench-forms`) prints a table per robot. The straight line of a function
and its forms with lanes (*limbs*, *freedoms*, *columns*) are measured in turns in one run; the smallest time
of all links with the better compiler is reported for each. The selection is wrong if it takes a form that is
slower than the straight line, or leaves one that is faster by the gain that it requires. It also requires few
operations in batches: `batch` is the number of operations per state relative to the straight line's. The
predicted gain is counted on the code that is measured; for *freedoms* and *columns*, the selection itself
counts before simplification.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from rich.table import Table

from benchmarks import toolchain
from benchmarks.bench import inputs_of, processor
from benchmarks.c_driver import CFunction, Programs, linked
from benchmarks.contestants import FUNCTIONS, Contest
from benchmarks.states import random_states
from benchmarks.tables import print_tables
from rbdgen.emit.package import FunctionSource
from rbdgen.emit.write import write_folder
from rbdgen.errors import OptionError
from rbdgen.functions.form import LIMBS
from rbdgen.functions.table import lookup
from rbdgen.machine import lanes
from rbdgen.model.alike_limbs import alike_limbs
from rbdgen.model.build import Robot
from rbdgen.options import Options
from rbdgen.pipeline.compilation import toolchain_of
from rbdgen.pipeline.design import design_functions
from rbdgen.pipeline.page import emit
from rbdgen.pipeline.request import Request
from rbdgen.pipeline.robot import load_robot
from rbdgen.selection.axes import search
from rbdgen.selection.choose import choose
from rbdgen.selection.limits import LIMITS
from rbdgen.selection.vectors import gain
from rbdgen.toolchain.compiler import find_compiler
from rbdgen.toolchain.module import Toolchain

ROBOTS: Final = ("quadruped12", "humanoid30")
SECONDS: Final = 0.05
"""The duration of one run of one link, in s."""

EVEN: Final = 0.03
"""The largest relative difference of times that is not significant."""


@dataclass(frozen=True)
class Row:
    """A form compared with the straight line."""

    function: str
    form: str
    predicted: float  # the gain that selection predicts: time of the straight line over that of the form
    measured: float  # the measured gain
    batch: float  # operations per state in batches, relative to the straight line's
    taken: bool  # whether selection takes the form

    @property
    def verdict(self) -> str:
        """Says what is wrong with the selection, or gives an empty text."""
        if self.taken and self.measured < 1 - EVEN:
            return "wrong: slower"
        if not self.taken and self.measured > (1 + EVEN) / LIMITS.most_work:
            return "wrong: left"
        return "taken" if self.taken else "left"


def main() -> None:
    """Measures the robots named on the command line, by default those with alike limbs."""
    print_tables(__doc__, ROBOTS, measured)


def measured(contest: Contest, repetitions: int) -> Table:
    """A table of gains by function and form."""
    robot = load_robot(contest.urdf, contest.base, mimic="independent")
    table = Table(title=f"{contest.name}: times as fast as the straight line", caption=processor())
    for heading in ("function", "form", "told", "measured", "batch", "choice"):
        table.add_column(heading, justify="left" if heading in ("function", "form", "choice") else "right")
    for name in FUNCTIONS:
        for row in rows(contest, robot, name, repetitions):
            figures = f"{row.predicted:.2f}", f"{row.measured:.2f}", f"{row.batch:.2f}"
            table.add_row(row.function, row.form, *figures, row.verdict)
    return table


def rows(contest: Contest, robot: Robot, name: str, repetitions: int) -> list[Row]:
    """A row for every form with lanes that a function has for a robot."""
    function, model = lookup(name, robot.model), robot.model
    others = [form.name for form in function.forms_for(model) if form.loops and not form.for_size]
    others += [LIMBS] if function.in_limbs and function.in_limbs.does(model) and alike_limbs(model) else []
    if not others:
        return []
    straight = choose(function, model, search(model), engine="graph", lanes=1, limbs=False).form
    options = Options(functions=(name,))
    (chosen,) = design_functions(Request(robot, options))
    given = []
    for form in others:
        with suppress(OptionError):  # the limbs are too long
            given += design_functions(Request(robot, replace(options, variants={name: form})))
    if not given:
        return []
    forms = [*design_functions(Request(robot, replace(options, variants={name: straight}))), *given]
    first, *times = timed(contest, robot, forms, options, repetitions)
    line = forms[0].program
    return [
        Row(
            name,
            source.form,
            gain(line, source.printed, lanes(options.real)),
            first / time,
            (source.batch or source.program).cost.total / line.cost.total,
            source.form == chosen.form,
        )
        for source, time in zip(forms[1:], times, strict=True)
    ]


def timed(
    contest: Contest, robot: Robot, forms: Sequence[FunctionSource], options: Options, repetitions: int
) -> list[float]:
    """The time of a call of each form in ns, measured in turns: the smallest of all links and compilers."""
    states = random_states(robot.model.nv, floating=contest.floating)
    host = toolchain_of(options)
    programs: list[list[Programs]] = [[] for _ in forms]
    with tempfile.TemporaryDirectory(prefix="bench-") as folder, ExitStack() as stack:
        for k, source in enumerate(forms):
            sources = emit(Request(robot, options), [source])
            own = Path(folder) / str(k)
            write_folder(own, sources.files)
            shape = CFunction(
                f"{sources.name}_{source.name}",
                tuple(argument.size for argument in source.signature.inputs),
                tuple(argument.size for argument in source.signature.outputs),
                options.real,
            )
            for compiler in toolchain.available():
                flags = Toolchain(find_compiler(compiler.c), host.flags).function_flags
                link = linked(
                    shape,
                    [own / f"{shape.name}.c"],
                    inputs_of(source, states),
                    compiler=compiler,
                    flags=flags,
                    links=repetitions,
                )
                programs[k].append(stack.enter_context(link))
        times = [
            [program.time(draw, SECONDS) for own in programs for program in own]
            for draw in range(repetitions)
        ]
    least = iter(map(min, zip(*times, strict=True)))
    return [min(next(least) for _ in own) for own in programs]


if __name__ == "__main__":
    main()
