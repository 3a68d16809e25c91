"""Every form of every function agrees with Pinocchio for random trees of joints of all types."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from support.few import examples
from support.random_trees import between_revolutes, random_tree
from support.rationals import LETTERS
from trees.check import check, check_tree

from rbdgen.functions.table import lookup
from rbdgen.model.reduce import reduce
from rbdgen.selection.axes import operations


@settings(max_examples=examples(20, 200), deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(seed=st.integers(0, 2**32 - 1))
def test_random_trees(seed: int) -> None:
    check(random_tree(seed, 5), seed)


PARTS, TREES = 8, 40


@pytest.mark.campaign
@pytest.mark.parametrize("part", range(PARTS))
def test_larger_random_trees(part: int, sample_seed: int) -> None:
    """Trees with up to 25 bodies by the seed of the sample; `make trees` runs any range of seeds."""
    first = (sample_seed * PARTS + part) * TREES
    for seed in range(first, first + TREES):
        check_tree(seed)


FORMS_COUNTED = {"rnea": "classical", "aba": "bias", "crba": "moments", "rnea_derivatives": "local"}


def test_pinned_counts(golden: Any) -> None:
    """Pins the operations of the cheap forms as traced, in unchanged axes."""
    lines = [f"{'joint':>10}" + "".join(f"{name:>18}" for name in FORMS_COUNTED)]
    for letter, kind in LETTERS.items():
        reduced = reduce(between_revolutes(letter))
        counts = [
            operations(reduced, lookup(name), lookup(name).form(form)) for name, form in FORMS_COUNTED.items()
        ]
        lines.append(f"{kind.name:>10}" + "".join(f"{count:18}" for count in counts))
    golden("operation_counts/joint_types.txt", "\n".join(lines) + "\n")
