"""Tables of cases of which `make test` only runs a few; `make test-long` runs the others, or a sample of
them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Any

import pytest


def few(
    always: Iterable[Any], cases: Iterable[Any], *, sampled: bool = False, together: Sequence[str] = ()
) -> list[Any]:
    """The cases as values of `parametrize`; cases that are not among `always` only run in campaigns.

    A case is the value of one argument, or a tuple of values of several. If `sampled`, `make test-long` runs
    a sample of them, see `sample`, and only `make test-all` runs all of them.
    """
    chosen, found = list(always), list(cases)
    assert all(found.count(case) == 1 for case in chosen), "no such case, or the same twice"
    return [
        pytest.param(
            *(case if isinstance(case, tuple) else (case,)),
            marks=() if case in chosen else pytest.mark.campaign(sampled=sampled, together=tuple(together)),
        )
        for case in found
    ]


def sample(cases: Sequence[Mapping[str, str]], random: Random, together: Sequence[str] = ()) -> list[int]:
    """The numbers, in order, of a sample of cases in which every value of every argument occurs.

    Cases are visited in random order. A case is taken if it has a value, or a combination of values of the
    arguments `together`, that no case before it has.
    """
    seen: set[tuple[str, ...]] = set()
    taken: list[int] = []
    for number in random.sample(range(len(cases)), len(cases)):
        values = {(name, value) for name, value in cases[number].items()}
        values.add(("", *(cases[number][name] for name in together)))
        if not values <= seen:
            seen |= values
            taken.append(number)
    return sorted(taken)


def examples(count: int, many: int) -> int:
    """The number of random examples: `count`, or `many` in the second part of `make test-long`."""
    return many if os.environ.get("RBDGEN_EXAMPLES") == "many" else count
