"""What the templates of self-tests see: golden states as arrays of literals, and how others are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rbdgen.emit.numbers import literal, literal17
from rbdgen.emit.package import FunctionSource
from rbdgen.emit.selftest.bits import SHORT, STATES
from rbdgen.emit.selftest.golden import SMALLEST_SCALE, Golden

_UNWRITTEN = 1e30

_COLUMNS = 4


@dataclass(frozen=True)
class CArray:
    """A golden array: rows of literals; `tolerance` is absolute, for outputs."""

    name: str
    argument: str
    size: int
    rows: tuple[str, ...]
    tolerance: str = ""


@dataclass(frozen=True)
class CCase:
    """One golden state of one function."""

    inputs: tuple[CArray, ...]
    outputs: tuple[CArray, ...]


@dataclass(frozen=True)
class CGolden:
    """How the self-test tries one function.

    `draws`: statements that make the next of `states` other states; whether one of them draws `plain`
    numbers, or sines and cosines of `angles`; `bits`: the expected hash in hexadecimal, empty for none.
    """

    cases: tuple[CCase, ...]
    states: int
    draws: tuple[str, ...]
    plain: bool
    angles: bool
    bits: str


def unwritten(real: str) -> str:
    """What self-tests fill outputs with before a call."""
    return literal(_UNWRITTEN, real)


def golden_context(function: FunctionSource, golden: Golden, real: str) -> CGolden:
    """The golden states of a function as arrays of literals, and how to make the states of its hash."""
    cases = tuple(
        CCase(
            tuple(_array(function.name, number, name, values, real) for name, values in case.inputs.items()),
            tuple(
                _array(function.name, number, name, values, real, golden.tolerance)
                for name, values in case.outputs.items()
            ),
        )
        for number, case in enumerate(golden.cases)
    )
    inputs = function.signature.inputs
    drawn = [x for x in inputs if x.kind != "cosines"]
    cosines = next((x.name for x in inputs if x.kind == "cosines"), "")
    draws = []
    for x in drawn:
        if x.kind == "sines":
            draws.append(f"draw_angles({x.name}, {cosines}, {x.size}, &word);")
        else:
            draws.append(f"draw({x.name}, {x.size}, &word);")
        if x.kind == "time_step":
            draws.append(f"{x.name}[0] *= {literal(SHORT, real)};")
    return CGolden(
        cases,
        states=STATES,
        draws=tuple(draws),
        plain=any(x.kind != "sines" for x in drawn),
        angles=any(x.kind == "sines" for x in drawn),
        bits="" if golden.bits is None else f"{golden.bits:08x}",
    )


def _array(
    function: str,
    number: int,
    argument: str,
    values: Sequence[float],
    real: str,
    tolerance: float | None = None,
) -> CArray:
    literals = [literal17(value, real) for value in values]
    rows = tuple(", ".join(literals[k : k + _COLUMNS]) for k in range(0, len(literals), _COLUMNS))
    allowed = ""
    if tolerance is not None:
        scale = max(max(map(abs, values), default=0.0), SMALLEST_SCALE)
        allowed = literal(float(f"{tolerance * scale:.2e}"), real)
    return CArray(f"{function}_{argument}_{number}", argument, len(values), rows, allowed)
