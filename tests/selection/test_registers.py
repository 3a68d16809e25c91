"""Choices count with the vector registers of the oldest processor, and in float with columns that do not fill
a vector.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from support.limbs import loops_in_limbs, with_limbs

from rbdgen.functions.table import lookup
from rbdgen.graph.programs.lanes import line_of_limbs, work
from rbdgen.machine import VECTOR_BYTES, Real, lanes
from rbdgen.options import Options
from rbdgen.pipeline import design
from rbdgen.pipeline.request import Request
from rbdgen.selection.choose import choose
from rbdgen.selection.differentiate import Chooser
from rbdgen.selection.limits import LIMITS
from rbdgen.selection.vectors import fills_vectors, work_in_loops
from rbdgen.toolchain.batch import ARCHITECTURES, register_bytes

LEG = ("revolute", "prismatic", "revolute")

SHORT = VECTOR_BYTES / 16
"""The registers of 16 bytes that the longest vectors fill."""


def test_registers_of_the_architectures() -> None:
    found = {name: register_bytes(name) for name in ARCHITECTURES}
    assert found == {"native": 32, "x86-64-v2": 16, "x86-64-v3": 32, "x86-64-v4": 32, "aarch64": 16}
    assert VECTOR_BYTES / found["native"] == LIMITS.registers


@pytest.mark.parametrize("real", ["double", "float"])
def test_work_in_short_registers(real: Real) -> None:
    """Four limbs take two registers of 16 bytes in double, and one in float. Vectors of columns, which are
    filled in double only, take twice as many as with registers of 32 bytes.
    """
    program, wide = (
        loops_in_limbs("aba_derivatives", with_limbs([LEG] * 4).model, "halves").lanes,
        lanes(real),
    )
    line = line_of_limbs(program)
    assert line.kernel.lanes == 4
    vectors = [loop for loop in program.loops if loop.kernel.lanes == 1 and loop.vectorised(wide)]
    assert len(vectors) == (2 if real == "double" else 0)
    assert not fills_vectors(program, lanes("float"))
    assert fills_vectors(program, lanes("float"), limbs=True)
    of_limbs = work(line, 4 * SHORT / wide) - work(line, 4 * LIMITS.registers / wide)
    of_columns = sum(work_in_loops(replace(program, loops=(loop,)), wide) for loop in vectors)
    assert (of_limbs > 0) == (of_columns > 0) == (real == "double")
    more = work_in_loops(program, wide, SHORT) - work_in_loops(program, wide)
    assert more == pytest.approx(of_limbs + of_columns)


def test_the_oldest_processor_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[float] = []

    def recorded(*given: Any, registers: float, **options: Any) -> Chooser:
        told.append(registers)
        return Chooser(*given, registers=registers, **options)

    monkeypatch.setattr(design, "Chooser", recorded)
    for arch in ("native", "x86-64-v2"):
        asked = Options(functions=("gravity",), arch=arch)
        design.design_functions(Request(with_limbs([("revolute",)] * 2), asked))
    assert told == [LIMITS.registers, SHORT]


def test_limbs_that_gain_little_are_left_to_long_registers() -> None:
    """In registers that four limbs fill three times, their form takes as long as a straight line."""
    model, function = with_limbs([("revolute",)] * 4).model, lookup("rnea")
    found = [
        choose(function, model, None, engine="graph", lanes=lanes("double"), registers=registers)
        for registers in (LIMITS.registers, 3 * LIMITS.registers)
    ]
    assert [choice.lanes is None for choice in found] == [False, True]


def test_limbs_are_lanes_in_float_whatever_the_number_of_columns() -> None:
    """Eleven columns in float come one by one, but what comes before them has limbs as lanes."""
    model = with_limbs([("revolute", "prismatic")] * 4).model
    found = choose(lookup("aba_derivatives"), model, None, engine="graph", lanes=lanes("float"))
    assert (found.form, found.lanes is None) == ("halves", False)
