"""The driver with degrees of freedom as lanes is exact, stores little, and refuses what it cannot run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest
from support.rationals import Rationals

from rbdgen.errors import GraphError
from rbdgen.functions.coriolis.one_frame import coriolis_sweeps
from rbdgen.functions.derivatives.one_frame import OUTPUTS, derivatives
from rbdgen.functions.form import swept
from rbdgen.functions.inertia_matrix.moments import INERTIA_MATRIX
from rbdgen.functions.momentum.energy import KINETIC
from rbdgen.functions.table import lookup
from rbdgen.model.model import WORLD, Model
from rbdgen.model.reduce import reduce
from rbdgen.spatial.ops import Vector
from rbdgen.sweeps.distributed import Distributed, by_freedoms
from rbdgen.sweeps.freedoms import FreedomLanes
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.loops import LoopedForm
from rbdgen.sweeps.sweep import Sweep

TREES: dict[str, tuple[tuple[int, ...], str]] = {
    "only a base": ((WORLD,), "F"),
    "pendulum": ((WORLD,), "R"),
    "slider": ((WORLD,), "P"),
    "a base with a wheel": ((WORLD, 0), "FR"),
    "sliders": ((WORLD, 0, 1), "PPP"),
    "two chains": ((WORLD, 0, WORLD, 2), "RRPR"),
    "tree": ((WORLD, 0, 1, 1, 0, 4, 4), "RPRHRRP"),
    "floating tree": ((WORLD, 0, 1, 1, 0), "FRRPR"),
}

WITH_THE_FORM = ("rnea_derivatives", "aba_derivatives", "coriolis")

SWEEPS: dict[str, tuple[Sequence[str], Sequence[Sweep]]] = {
    "by the motion of parents": (OUTPUTS, derivatives()),
    "by the motion of bodies": (OUTPUTS, derivatives(by_own_motion=True)),
    "beside the base": (OUTPUTS, derivatives(beside=True)),
    "M alone": (OUTPUTS[2:], derivatives(OUTPUTS[2:])),
    "but M": (OUTPUTS[:2], derivatives(OUTPUTS[:2])),
    "coriolis": (("C",), coriolis_sweeps()),
}


def random_tree(seed: int) -> Model:
    """A tree of up to nine joints with one degree of freedom, on a floating base every other time."""
    random, r = Random(seed), Rationals(seed)
    size, floating = random.randint(1, 9), seed % 2
    parents = [random.randrange(max(floating, i) if i else 1) if i else WORLD for i in range(size + floating)]
    kinds = ["F"] * floating + random.choices("RRRPH", k=size)
    if not floating:
        parents = [WORLD if i and not random.randrange(5) else above for i, above in enumerate(parents)]
    return replace(r.model(tuple(parents), "".join(kinds)), gravity=Vector(1, Fraction(1, 2), -9))


def random_state(model: Model, seed: int) -> State:
    r = Rationals(seed)
    return State(r.coordinates(model), r.numbers(model.nv), r.numbers(model.nv), r.numbers(model.nv))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("name", WITH_THE_FORM)
def test_functions_are_exact_on_random_trees(name: str, seed: int) -> None:
    function, model = lookup(name), random_tree(seed)
    x = random_state(model, seed)
    textbook = function.trace(function.forms[0], model, x)
    found = function.trace(function.form("freedoms"), model, x)
    assert [list(output) for output in found] == [list(output) for output in textbook]


@pytest.mark.parametrize("name", SWEEPS)
@pytest.mark.parametrize("tree", TREES)
def test_lanes_give_what_the_straight_line_gives(tree: str, name: str) -> None:
    model = replace(Rationals(len(tree)).model(*TREES[tree]), gravity=Vector(1, Fraction(1, 2), -9))
    x = random_state(model, 5)
    outputs, sweeps = SWEEPS[name]
    line = swept("in one line", "", outputs, sweeps).trace(reduce(model), x)
    assert by_freedoms(reduce(model), outputs, *sweeps).run(x) == [list(output) for output in line]


def form_of(name: str, *sweeps: Sweep) -> LoopedForm:
    model = Rationals(7).model((WORLD, 0, 1, 1, 0), "RRRRR")
    return by_freedoms(reduce(model), SWEEPS[name][0], *(sweeps or SWEEPS[name][1]))


def rows(form: LoopedForm, array: str) -> int:
    """The numbers that an array stores for each degree of freedom."""
    return form.scratch.get(array, 0) // FreedomLanes(reduce(Rationals(7).model((WORLD,), "R"))).stride


def test_poses_are_placed_and_motions_are_summed() -> None:
    driver = Distributed(FreedomLanes(reduce(random_tree(1))), derivatives())
    assert {(record, element) for record, element, _ in driver.serial} == {("motion", e) for e in range(12)}
    assert {own.element for own in driver.sums if own.record == "motion"} == set(range(12, 24))


def test_only_what_is_read_is_stored() -> None:
    """A column stores only those of its vectors t1 to t4, which have 27 numbers, that other columns read.

    M needs t1. t3 is only needed for entries of a joint with itself, which are computed together with t3.
    Psi1 + Sdot is 2 Psi1, which is stored.
    """
    every, of_m = form_of("by the motion of bodies"), form_of("M alone")
    assert rows(every, "column") == 6 + 6 + 6 + 3
    assert rows(of_m, "column") == 6
    assert rows(every, "direction") + rows(every, "direction2") + rows(every, "direction3") == 3 + 6 + 6
    assert "outward" not in {loop.name for loop in of_m.loops}  # M depends on no velocity


def test_sums_at_parents_are_stored_where_they_are_read() -> None:
    by_parents, by_bodies = form_of("by the motion of parents"), form_of("by the motion of bodies")
    assert {name for name in by_parents.scratch if "above" in name} == {"motion_above", "motion_above2"}
    assert not {name for name in by_bodies.scratch if "above" in name}


def test_sums_of_constants_are_a_table() -> None:
    """The sums of constants are in a table: of the 28 numbers of a composite, the mass is constant."""
    form = form_of("by the motion of bodies")
    assert rows(form, "composite") == 27
    assert next(loop.count for loop in form.loops if loop.name == "inward") == 27


STEPS = derivatives()

REFUSED: dict[str, tuple[Sequence[Sweep], str]] = {
    "a climb": (INERTIA_MATRIX, "sweep 'ancestors': lanes over degrees of freedom cannot climb; use Pairs"),
    "totals": ((KINETIC,), "sweep 'outward': lanes over degrees of freedom have no totals; leave out 'T'"),
    "sums that change": (
        (STEPS[0], replace(STEPS[1], step=lambda _, x: {"composite": x.composite + x.composite})),
        "sweep 'inward': lanes over degrees of freedom need sums that are handed on unchanged, which "
        "'composite' is not",
    ),
    "a name that nobody gives": (
        STEPS[1:],
        "lanes over degrees of freedom: no sweep gives 'composite', which a later one reads",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_it_cannot_do_is_told_in_one_line(what: str) -> None:
    sweeps, message = REFUSED[what]
    with pytest.raises(GraphError) as caught:
        by_freedoms(reduce(Rationals(2).model((WORLD, 0), "RR")), ("M",), *sweeps)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
