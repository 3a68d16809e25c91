"""Transposition of squares of lanes: the stages of the headers, applied to a square of names."""

from __future__ import annotations

from typing import Any

import pytest

from rbdgen.emit.c.lanes import CExchange, lanes_context
from rbdgen.emit.package import EmitOptions

Square = list[list[Any]]


def exchanged(square: Square, stage: CExchange) -> Square:
    """The result of `<ROBOT>_LANES_EXCHANGE` for a square."""
    lower, upper = ([int(k) for k in numbers.split(",")] for numbers in (stage.lower, stage.upper))
    result = [row[:] for row in square]
    for i in range(len(square)):
        if i & stage.distance == 0:
            both = square[i] + square[i + stage.distance]
            result[i] = [both[k] for k in lower]
            result[i + stage.distance] = [both[k] for k in upper]
    return result


@pytest.mark.parametrize(("real", "widths"), [("double", [8, 4, 2]), ("float", [16, 8, 4])])
def test_stages_transpose(real: Any, widths: list[int]) -> None:
    context = lanes_context(EmitOptions(real=real))
    assert [width.lanes for width in context.widths] == widths
    for width in context.widths:
        lanes = range(width.lanes)
        square: Square = [[(row, lane) for lane in lanes] for row in lanes]
        for stage in width.stages:
            square = exchanged(square, stage)
        assert square == [[(lane, row) for lane in lanes] for row in lanes]
        distances = [stage.distance for stage in width.stages]
        assert sorted(distances) == [2**k for k in range(len(distances))]  # each width names its macros
        assert 2 ** len(distances) == width.lanes


@pytest.mark.parametrize("real", ["double", "float"])
def test_stages_are_instructions_that_x86_has(real: Any) -> None:
    """Stages within 16 bytes are instructions such as `unpcklps`, alike in all groups; others move groups."""
    group = 2 if real == "double" else 4
    for width in lanes_context(EmitOptions(real=real)).widths:
        for stage in width.stages:
            for numbers in (stage.lower, stage.upper):
                lanes = [int(k) for k in numbers.split(",")]
                groups = [lanes[k : k + group] for k in range(0, width.lanes, group)]
                if stage.distance < group:
                    first = groups[0]
                    alike = [[k + group * place for k in first] for place in range(len(groups))]
                    assert groups == alike
                    half = first[::2]  # every second lane; the lanes between are the other row's
                    assert half in (list(range(group // 2)), list(range(group // 2, group)))
                    assert first[1::2] == [k + width.lanes for k in half]
                else:
                    assert all(them == list(range(them[0], them[0] + group)) for them in groups)
                    assert all(them[0] % group == 0 for them in groups)
                    here = [them[0] < width.lanes for them in groups]
                    assert here == [True] * (len(here) // 2) + [False] * (len(here) // 2)  # vshuff64x2
