"""Tables of cases of which a few rows are enough; all of them are tried by `make test-long`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import pytest


def few(always: Iterable[Any], cases: Iterable[Any]) -> list[Any]:
    """The cases, as values of `parametrize`; those not among `always` are left to `make test-long`.

    A case is the value of an argument, or a tuple of the values of several.
    """
    chosen, found = list(always), list(cases)
    assert all(case in found for case in chosen), "no such case"
    return [
        pytest.param(
            *(case if isinstance(case, tuple) else (case,)),
            marks=() if case in chosen else pytest.mark.campaign,
        )
        for case in found
    ]


def examples(count: int, many: int) -> int:
    """How many random examples: so many, and in the second part of `make test-long` many."""
    return many if os.environ.get("RBDGEN_EXAMPLES") == "many" else count
