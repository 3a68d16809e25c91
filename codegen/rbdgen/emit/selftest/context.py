"""The contexts of the templates of self-tests: golden states as literals, and the draws of other states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rbdgen.emit.numbers import literal, literal17
from rbdgen.emit.package import FunctionSource, RobotFacts
from rbdgen.emit.selftest.bits import STATES, Draw, draws
from rbdgen.emit.selftest.golden import SMALLEST_SCALE, Golden

_UNWRITTEN = 1e30

_COLUMNS = 4


@dataclass(frozen=True)
class CArray:
    """A golden array as rows of literals. `tolerance` is absolute and given for outputs only."""

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
    """The self-test's check of one function."""

    cases: tuple[CCase, ...]
    """The golden states."""
    states: int
    """The number of other states whose results are hashed."""
    draws: tuple[str, ...]
    """The statements that draw the next of these states."""
    hows: tuple[str, ...]
    """The kinds of draws among them (see `bits.How`)."""
    near: tuple[CArray, ...]
    """The numbers near which inputs are drawn."""
    bits: str
    """The expected hash in hexadecimal."""


def unwritten(real: str) -> str:
    """The number with which self-tests fill outputs before a call."""
    return literal(_UNWRITTEN, real)


def golden_context(facts: RobotFacts, function: FunctionSource, golden: Golden, real: str) -> CGolden:
    """The golden states of a function as arrays of literals, and the draws of the states of its hash."""
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
    drawn = draws(function.signature.inputs, facts.manifold)
    return CGolden(
        cases,
        states=STATES,
        draws=tuple(_statement(draw, real) for draw in drawn),
        hows=tuple(dict.fromkeys(draw.how for draw in drawn)),
        near=tuple(_near(draw, real) for draw in drawn if draw.how == "near"),
        bits=f"{golden.bits:08x}",
    )


def _statement(draw: Draw, real: str) -> str:
    """The call of a function of `c/draws.jinja` that makes this draw."""
    if draw.how == "angles":
        return f"draw_angles({draw.name}, {draw.cosines}, {draw.size}, &word);"
    if draw.how == "attitude":
        return f"draw_attitude(&{draw.name}[{draw.at}], &word);"
    if draw.how == "inertia":
        return f"draw_inertia({draw.name}, &word);"
    if draw.how == "nonnegative":
        return f"draw_nonnegative({draw.name}, {draw.size}, {literal(draw.scale, real)}, &word);"
    if draw.how == "range":
        values = f"{draw.first}, {draw.count}u, {literal(draw.scale, real)}"
        return f"draw_range({draw.name}, {draw.size}, {values}, &word);"
    if draw.how == "near":
        return f"draw_near({draw.name}, near_{draw.name}, {draw.size}, &word);"
    return f"draw({draw.name}, {draw.size}, &word);"


def _array(
    function: str,
    number: int,
    argument: str,
    values: Sequence[float],
    real: str,
    tolerance: float | None = None,
) -> CArray:
    allowed = ""
    if tolerance is not None:
        scale = max(max(map(abs, values), default=0.0), SMALLEST_SCALE)
        allowed = literal(float(f"{tolerance * scale:.2e}"), real)
    return CArray(f"{function}_{argument}_{number}", argument, len(values), _rows(values, real), allowed)


def _near(draw: Draw, real: str) -> CArray:
    """The known numbers, which are the same for all functions.

    They are rounded to float here, because a compiler may round a decimal to float in two steps.
    """
    values = [float(np.float32(x)) for x in draw.near] if real == "float" else draw.near
    return CArray(f"near_{draw.name}", draw.name, draw.size, _rows(values, real))


def _rows(values: Sequence[float], real: str) -> tuple[str, ...]:
    literals = [literal17(value, real) for value in values]
    return tuple(", ".join(literals[k : k + _COLUMNS]) for k in range(0, len(literals), _COLUMNS))
