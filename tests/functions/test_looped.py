"""Forms that loop over bodies are valid programs, give the bits of their unrolled operations, and stay small.

test_pinocchio and test_identities compare their results with those of all other forms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from support import random_urdf
from support.forms import FORMS, Form, forms_of
from support.momentum import MOMENTUM
from support.robots import BASES, BUNDLED, robot
from support.states import random_inputs

from rbdgen.description.urdf import parse_urdf
from rbdgen.graph.cost import cost
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.programs.program import Program
from rbdgen.graph.programs.run import run
from rbdgen.graph.programs.unrolled import unrolled
from rbdgen.graph.programs.verify import verify_program
from rbdgen.model.build import Base, build_robot
from rbdgen.model.model import Model
from rbdgen.model.reduce import reduce
from rbdgen.selection.trace import trace_program
from rbdgen.sweeps.looped_bodies import looped_bodies

LOOPED = [form for form in FORMS if form.form.for_size]

each_form = pytest.mark.parametrize("form", LOOPED, ids=str)


def program(form: Form, model: Model) -> Program:
    return trace_program(reduce(model), form.function, form.form, "graph")


def assert_sound(form: Form, model: Model) -> None:
    """Asserts that the program is legal, and that its loops give the bits of the unrolled operations."""
    made = program(form, model)
    verify_program(made)
    for loop in made.loops:
        assert not set(loop.reads) & set(loop.writes), "C has one name for one array"
    inputs = random_inputs(model, form.function.signature, 2)
    looped, flat = run(made, inputs), evaluate(unrolled(made), inputs)
    assert all(np.array_equal(looped[name], flat[name]) for name in flat)


@pytest.mark.parametrize(("name", "base"), [("arm7", "fixed"), ("quadruped12", "floating")])
@each_form
def test_sound(form: Form, name: str, base: Base) -> None:
    assert_sound(form, robot(name, base).model)


@pytest.mark.parametrize("base", BASES)
@settings(max_examples=8, deadline=None)
@given(text=random_urdf.robots())
def test_sound_on_random_robots(base: Base, text: str) -> None:
    """The programs are valid for random trees of revolute and prismatic joints."""
    model = build_robot(parse_urdf(text), base=base, snap=0.0).model
    for form in LOOPED:
        assert_sound(form, model)


WITHOUT = {
    *MOMENTUM,
    "regressor",
    "kinetic_regressor",
    "potential_regressor",
    "rnea_fext_derivatives",
    "aba_fext_derivatives",
}
"""Functions without such a form, as they need sums in world axes, or columns of each body at each joint."""


def test_every_other_function_has_one() -> None:
    assert [form.function.smallest for form in LOOPED] == [form.form for form in LOOPED]
    assert {form.function.name for form in LOOPED} == {form.function.name for form in FORMS} - WITHOUT


def rows() -> Iterator[tuple[str, ...]]:
    yield "robot", "base", "form", "executed", "written", "longest", "loops", "numbers"
    for name in BUNDLED:
        for base in BASES:
            for form in LOOPED:
                made = program(form, robot(name, base).model)
                longest = max(cost(loop.kernel).total for loop in made.loops)
                numbers = sum(len(values) for values in made.tables.values())
                counts = (made.cost.total, made.length, longest, len(made.loops), numbers)
                yield name, base, form.function.name, *map(str, counts)


def test_pinned(golden: Callable[[str, str], None]) -> None:
    """Pins the traced operations as executed, in the code and in the longest line; loops; sizes of tables."""
    table = list(rows())
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = ["  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)) for row in table]
    golden("operation_counts/looped.txt", "\n".join(lines) + "\n")


@pytest.mark.parametrize("function", ["rnea", "aba"])
def test_code_does_not_grow_with_the_robot(function: str) -> None:
    """The code for a chain of thirty joints has as many operations as that for ten."""
    (form,) = (form for form in forms_of(function) if form.form.for_size)
    short, long = (program(form, chain(count)) for count in (10, 30))
    assert long.cost.total > 2.8 * short.cost.total
    assert long.length == short.length


def chain(count: int) -> Model:
    """A chain of revolute joints with general axes and placements."""
    links = "".join(
        f"<link name='l{k}'><inertial><origin xyz='0.1 0.2 {0.1 * (k + 1)}'/><mass value='{1 + k}'/>"
        "<inertia ixx='0.3' iyy='0.3' izz='0.3' ixy='0.01' ixz='0.02' iyz='0.03'/></inertial></link>"
        for k in range(count + 1)
    )
    joints = "".join(
        f"<joint name='j{k}' type='continuous'><parent link='l{k}'/><child link='l{k + 1}'/>"
        f"<origin xyz='0.3 0.1 {0.2 + 0.01 * k}' rpy='{0.3 + 0.02 * k} 0.2 0.5'/><axis xyz='0 0 1'/></joint>"
        for k in range(count)
    )
    return build_robot(parse_urdf(f"<robot name='chain'>{links}{joints}</robot>")).model


def test_a_chain_needs_two_rotations_a_joint() -> None:
    bodies = looped_bodies(reduce(chain(5)))
    gammas = [row[:2] for row in bodies.placements.rows]
    assert all(gamma == (1, 0) for gamma in gammas[1:])
    assert all(abs(row[3]) > 0.1 for row in bodies.placements.rows)
