"""Samples of tables have every value of every argument, and the same rows for the same seed."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest
from support.few import sample

TABLE = [
    {"form": form, "robot": robot, "base": base}
    for form, robot, base in product("abcdefghij", ["arm", "hand", "leg"], ["fixed", "floating"])
]


@pytest.mark.parametrize("seed", range(20))
def test_every_value_occurs(seed: int) -> None:
    taken = [TABLE[k] for k in sample(TABLE, Random(seed))]
    for name in ("form", "robot", "base"):
        assert {case[name] for case in taken} == {case[name] for case in TABLE}
    assert 10 <= len(taken) <= 13


@pytest.mark.parametrize("seed", range(20))
def test_every_combination_of_those_together_occurs(seed: int) -> None:
    taken = [TABLE[k] for k in sample(TABLE, Random(seed), ("robot", "base"))]
    assert {(case["robot"], case["base"]) for case in taken} == set(
        product(["arm", "hand", "leg"], ["fixed", "floating"])
    )
    assert {case["form"] for case in taken} == set("abcdefghij")


def test_in_order_and_repeatable() -> None:
    taken = sample(TABLE, Random(7))
    assert taken == sorted(set(taken)) == sample(TABLE, Random(7))
    assert taken != sample(TABLE, Random(8))


def test_what_has_no_arguments_is_taken() -> None:
    assert sample([{}], Random(0)) == [0]
    assert sample([], Random(0)) == []
