"""Operation counts of distances, pinned to the last operation, in the axes of the description."""

from __future__ import annotations

import re

import pytest
from support.distances import arm, panda

from rbdgen import resources
from rbdgen.description.capsules import Obstacles, Segments
from rbdgen.functions.table import lookup
from rbdgen.graph.programs.passes import released
from rbdgen.model.model import Model
from rbdgen.options import Options
from rbdgen.selection.axes import search
from rbdgen.selection.differentiate import Chooser

PINNED = {
    ("plain", "distances"): 1024,
    ("plain", "distance_jacobian"): 1851,
    ("plain", "distances_vjp"): 1607,
    ("exact", "distances"): 1294,
    ("exact", "distance_jacobian"): 2121,
}


def total(model: Model, name: str) -> int:
    return released(Chooser(model, None, "graph").choose(lookup(name, model)).program).cost.total


@pytest.mark.parametrize(("form", "name"), list(PINNED))
def test_pairs_of_the_arm(form: Segments, name: str) -> None:
    assert total(arm(form).model, name) == PINNED[form, name]


def test_the_page_tells_the_operations() -> None:
    """Those of straight lines, and those with pairs as lanes, in body axes chosen by count."""
    page = " ".join((resources.package_root().parents[1] / "docs/distances.md").read_text("utf-8").split())
    told = re.search(r"their distances take (\d+) operations, and their gradient (\d+),", page)
    in_lanes = re.search(r"in less time: (\d+) for the distances, and (\d+) for the gradient", page)
    assert told
    assert in_lanes
    model = arm().model
    axes = search(model)
    for page_has, lanes, form in ((told, 1, "reduced"), (in_lanes, 8, "pairs")):
        chooser = Chooser(model, axes, Options().engine, lanes=lanes)
        found = [chooser.choose(lookup(name, model)) for name in ("distances", "distance_jacobian")]
        assert [choice.form for choice in found] == [form, form]
        counts = [released(choice.program).cost.total for choice in found]
        assert [int(x) for x in page_has.groups()] == counts


def test_with_inputs_and_outputs_counted() -> None:
    """CasADi counts a read of every input and a write of every output as an operation."""
    model = arm().model
    assert total(model, "distances") + 7 + 15 <= 1119
    assert total(model, "distance_jacobian") + 15 + 7 + 15 + 50 <= 1989  # 15 differences for the distances


@pytest.mark.campaign
def test_pairs_of_panda() -> None:
    """42 pairs with itself and 96 with 8 spheres. A prototype in CasADi's C took 4921 operations, and 12 404
    with the gradient, of which the last 138 are the distances.
    """
    model = panda().model
    assert len(model.distances.own) == 42
    assert len(model.distances.pairs) == 42 + 12 * 8
    assert total(model, "distances") == 4219  # of 4921
    assert total(model, "distance_jacobian") == 11661  # with 138 for the distances, of 12 404


def test_a_sphere_takes_few_operations() -> None:
    """An obstacle costs less than a pair of capsules, as it has no axis."""
    one, two = (total(arm(obstacles=Obstacles(spheres=k)).model, "distances") for k in (1, 2))
    own = (total(arm().model, "distances") - 150) / 15
    assert (two - one) / 7 < own / 2
