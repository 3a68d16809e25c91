"""Tables of cases of which a few rows are enough; `make test-long` tries the others, or a sample of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Any

import pytest


def few(
    always: Iterable[Any], cases: Iterable[Any], *, sampled: bool = False, together: Sequence[str] = ()
) -> list[Any]:
    """The cases, as values of `parametrize`; those not among `always` are left to campaigns.

    A case is the value of an argument, or a tuple of the values of several. `sampled`: whether `make
    test-long` tries a sample of them, see `sample`, and only `make test-all` all of them.
    """
    chosen, found = list(always), list(cases)
    assert all(case in found for case in chosen), "no such case"
    return [
        pytest.param(
            *(case if isinstance(case, tuple) else (case,)),
            marks=() if case in chosen else pytest.mark.campaign(sampled=sampled, together=tuple(together)),
        )
        for case in found
    ]


def sample(cases: Sequence[Mapping[str, str]], random: Random, together: Sequence[str] = ()) -> list[int]:
    """The numbers of some cases, in order, that have every value of every argument which any case has.

    Cases are taken in a random order, each one that has a value, or a combination of those `together`, which
    none before it has.
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
    """How many random examples: so many, and in the second part of `make test-long` many."""
    return many if os.environ.get("RBDGEN_EXAMPLES") == "many" else count
