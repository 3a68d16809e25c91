"""Pins and bounds flash, stack, instructions and errors of bundled robots in float on every small target.

`tests/golden/embedded/figures.md` has the table; run this file with -m campaign --update-golden to measure it
again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pytest
from embedded.board import BOARDS, missing
from support.cross import PINNED

from rbdgen.model.build import Base
from rbdgen.options import Options, Trig
from rbdgen.pipeline.design import design_functions
from rbdgen.pipeline.page import emit
from rbdgen.pipeline.request import Request
from rbdgen.pipeline.robot import load_robot
from rbdgen.resources import robot_root
from rbdgen.toolchain.cross import cross_compiler, with_figures
from rbdgen.toolchain.targets import TARGETS, Target

GOLDEN = Path(__file__).parents[1] / "golden"

FIGURES = "embedded/figures.md"


@dataclass(frozen=True)
class Case:
    """A line of the table without its target."""

    robot: str
    base: Base
    function: str
    trig: Trig
    form: str = "unrolled"


@dataclass(frozen=True)
class Measured:
    """Bytes of flash and stack, instructions per call, and the error relative to the largest value."""

    flash: int
    stack: int
    instructions: int
    error: float


CASES = (
    Case("arm7", "fixed", "rnea", "input"),
    Case("arm7", "fixed", "rnea", "builtin"),
    Case("quadruped12", "floating", "aba", "builtin"),
    Case("arm7", "fixed", "rnea", "builtin", "looped"),
    Case("quadruped12", "floating", "aba", "builtin", "looped"),
    Case("quadruped12", "floating", "aba", "builtin", "limb-loops"),
)

MOST = {
    CASES[0]: Measured(3000, 350, 720, 1e-6),
    CASES[1]: Measured(3000, 350, 950, 1e-6),
    CASES[2]: Measured(20_000, 1300, 10_000, 1e-6),
}
"""The limits of the functions on the Cortex-M4F."""


def on_targets(case: Case) -> Iterator[tuple[Target, Measured]]:
    """Yields the figures of a function for every small machine whose compiler is installed."""
    model = load_robot(robot_root() / f"{case.robot}.urdf", case.base)
    variants = {} if case.form == "unrolled" else {case.function: case.form}
    options = Options(
        functions=(case.function,), real="float", trig=case.trig, target="portable", variants=variants
    )
    functions = design_functions(Request(model, options))
    for name in BOARDS:
        target = TARGETS[name]
        compiler = cross_compiler(target)
        if compiler is not None:
            sources = emit(Request(model, replace(options, target=name)), functions)
            facts = with_figures(sources, target, compiler, target.flags).manifest["functions"][case.function]
            keys = ("object_bytes", "stack_bytes", "instructions", "float_error")
            yield target, Measured(*(facts[key] for key in keys))


@cache
def measured(case: Case) -> dict[str, Measured]:
    """The figures by target."""
    return {target.name: figures for target, figures in on_targets(case)}


@pytest.mark.parametrize("case", MOST, ids=str)
def test_bounds_on_the_m4f(case: Case) -> None:
    have, most = measured(case)["cortex-m4f"], MOST[case]
    assert have.flash <= most.flash
    assert have.stack <= most.stack
    assert have.instructions <= most.instructions
    assert 0 < have.error <= most.error


def table(cases: Iterable[Case]) -> str:
    """The table in Markdown."""
    given = ("robot", "function", "form", "sine, cosine", "target")
    head = (*given, "flash, B", "stack, B", "instructions", "error")
    rows: list[tuple[str, ...]] = [head, tuple("---" for _ in head)]
    for case in cases:
        for target, x in measured(case).items():
            figures = (str(x.flash), str(x.stack), str(x.instructions), f"{x.error:.1e}")
            rows.append((case.robot, case.function, case.form, case.trig, target, *figures))
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def skip_other_compilers() -> None:
    """Skips the test unless the compilers are those with which the figures were measured."""
    compilers = {name: cross_compiler(TARGETS[name]) for name in BOARDS}
    others = [c.version for c in compilers.values() if c and not f"{c.family} {c.version}".startswith(PINNED)]
    absent = missing([f"{TARGETS[name].prefix}gcc" for name in BOARDS])
    if others or absent:
        pytest.skip(f"pinned with {PINNED} for Arm and RISC-V; here {', '.join((*others, *absent))}")


def test_unrolled_forms_are_pinned() -> None:
    """The figures are exact for the compilers with which they were measured."""
    skip_other_compilers()
    pinned = (GOLDEN / FIGURES).read_text(encoding="utf-8").splitlines()
    assert set(table(MOST).splitlines()) <= set(pinned)


@pytest.mark.campaign
def test_pinned(golden: Callable[[str, str], None]) -> None:
    """The whole table, with the forms in loops."""
    skip_other_compilers()
    golden(FIGURES, table(CASES))
