"""Functions of contacts: all forms agree with Pinocchio and with each other; rows and estimates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from support.contacts import MAKERS, robot_with_contacts, with_contacts
from support.few import few
from support.forms import FunctionForm, relative_error, run_on_floats
from support.functions import OF_ANCHORED_CONTACTS, OF_CONTACTS, OF_FLOATING_CONTACTS
from support.mimic import Projection, with_mimics
from support.pinocchio_oracle import PinocchioOracle, model_of_numbers
from support.random_trees import random_tree
from support.random_urdf import robots
from support.rationals import Rationals
from support.states import random_inputs
from support.synthetic import urdf
from support.trees import some

from rbdgen.description.contacts import Frame, Loop, Point
from rbdgen.description.urdf import parse_urdf
from rbdgen.functions.function import Function
from rbdgen.functions.table import ALL, rows_of
from rbdgen.graph.engine import GraphEngine
from rbdgen.model.build import build_robot
from rbdgen.model.contacts import Contact, ContactKind
from rbdgen.model.frames import Frame as PlacedFrame
from rbdgen.model.model import Model
from rbdgen.model.reduce import reduce
from rbdgen.model.tree_size import tree_size
from rbdgen.selection.axes import search
from rbdgen.selection.trace import trace_on
from rbdgen.sweeps.inputs import State, state_of

FUNCTIONS = {**OF_CONTACTS, **OF_ANCHORED_CONTACTS, **OF_FLOATING_CONTACTS}

TOLERANCE = 1e-9
"""The tolerance for forces of nearly straight limbs; kinematics keep 1e-12 (`test_kinematics`)."""

TREES = some("chain", "floating tree", "most types")

each_row = pytest.mark.parametrize("row", FUNCTIONS.values(), ids=FUNCTIONS)


def functions_of(model: Model) -> list[Function]:
    return [row for name, row in rows_of(model).items() if name in FUNCTIONS]


def assert_pinocchio_agrees(model: Model, seed: int, tolerance: float = TOLERANCE) -> None:
    oracle = PinocchioOracle(model_of_numbers(model), model)
    for row in functions_of(model):
        if row.pinocchio is None:
            continue
        inputs = random_inputs(model, row.signature, 2, seed)
        expected = oracle(row.name, inputs)
        for form in row.forms:
            outputs = run_on_floats(FunctionForm(row, form), model, inputs)
            for ours, theirs in zip(outputs, expected, strict=True):
                assert relative_error(ours, theirs, floor=1.0) < tolerance, (row.name, form.name, seed)


@pytest.mark.parametrize("name", MAKERS)
def test_pinocchio(name: str) -> None:
    assert_pinocchio_agrees(robot_with_contacts(name).model, 1)


@pytest.mark.parametrize("row", FUNCTIONS.values(), ids=FUNCTIONS)
@pytest.mark.parametrize("name", TREES)
def test_all_forms_are_one_function(row: Function, name: str) -> None:
    """All forms give exactly equal results for joints of all types."""
    if row.derivative_of is not None and name == "most types":
        pytest.skip("long; see `test_derivatives`")
    numbers = Rationals(7)
    model = with_contacts(numbers.model(*TREES[name]), 7)
    if row.name not in rows_of(model):
        pytest.skip("not a function of this robot")
    q = numbers.coordinates(model)
    arrays = [(x, numbers.numbers(x.size)) for x in row.sized(model).inputs if x.kind != "configuration"]
    state: State = replace(state_of(model, arrays, np.cos, np.sin), q=q)
    found = [[list(output) for output in row.trace(form, model, state)] for form in row.forms]
    assert all(other == found[0] for other in found[1:])


@each_row
def test_rows(row: Function) -> None:
    """Shapes match the kinds of arguments; an identity belongs to the last of the functions that it names."""
    for x in (*row.signature.inputs, *row.signature.outputs):
        assert (x.kind == "columns") == (x.shape[-1] == "nv" and len(x.shape) > 1 and x.shape[0] == "nc"), x
        assert x.unit
        assert x.meaning
    above = list(ALL)[: list(ALL).index(row.name) + 1]
    for identity in row.identities:
        assert row.name in identity.functions
        assert set(identity.functions) <= set(above)
    assert row.of_contacts


def floating(parents: list[int], on: list[int], kind: ContactKind) -> Model:
    """A floating robot with general axes and placements, and with contacts of one kind on these bodies."""
    solid = "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>"
    text = urdf(parents).replace('<link name="root"/>', f'<link name="root">{solid}</link>')
    model = build_robot(parse_urdf(text), base="floating").model
    places = (PlacedFrame(str(body), body, model.bodies[body].placement) for body in on)
    return replace(model, contacts=tuple(Contact(place.name, kind, place) for place in places))


ALONE = [name for name in FUNCTIONS if "_and_" not in name]
"""The functions without those that also give what another one gives, whose estimates are alike."""


@pytest.mark.parametrize("name", few(ALONE, FUNCTIONS))
def test_estimates_are_near_what_is_traced(name: str) -> None:
    row = FUNCTIONS[name]
    shapes = [([-1, 0, 1, 2, -1, 4, 5, 6], [4, 8]), ([*range(-1, 7)], [8, 5])]
    for kind in get_args(ContactKind):
        for parents, on in shapes:
            model = floating(parents, on, kind)
            tracer = GraphEngine()
            counted = tracer.cost(trace_on(tracer, model, row, row.forms[0])).total
            assert 0.8 < row.operations(tree_size(model)) / counted < 1.25, (kind, counted)


@settings(max_examples=10, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(robots(max_joints=5), st.integers(0, 2**32 - 1))
def test_joints_that_follow_others(text: str, seed: int) -> None:
    """The reference is the robot with all joints independent, projected by NumPy."""
    description = with_mimics(parse_urdf(text), np.random.default_rng(seed))
    links = [joint.child for joint in description.joints]
    held: list[Any] = [Frame("a", links[-1], (0.1, 0, 0)), Point("b", links[0], (0, 0.2, 0))]
    held += [Loop("c", links[-1], (0, 0, 0), "world", (0.1, 0.2, 0.3))]
    description = replace(description, contacts=tuple(held))
    projection = Projection.of(description, "floating")  # contacts also move if their joints are constant
    model = projection.coupled.model
    for row in functions_of(model):
        if row.derivative_of is not None:  # see `test_derivatives`
            continue
        inputs = random_inputs(model, row.signature, 2, seed)
        expected = projection.outputs(row, inputs)
        for form in row.forms_for(model):
            outputs = run_on_floats(FunctionForm(row, form), model, inputs)
            for ours, theirs in zip(outputs, expected, strict=True):
                assert relative_error(ours, theirs, floor=1.0) < 1e-9, (row.name, form.name)


@settings(max_examples=15, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(seed=st.integers(0, 2**32 - 1))
def test_random_trees(seed: int) -> None:
    """The trees have joints of all types in any order, and contacts of all kinds, which may be redundant."""
    model = with_contacts(random_tree(seed, 5), seed)
    assert_pinocchio_agrees(model, seed)


@pytest.mark.parametrize("name", few(["quadruped"], ["quadruped", "humanoid"]))
def test_pinned_counts(name: str, golden: Any) -> None:
    """Pins the counts of every form in the axes for all functions, before the passes."""
    model = robot_with_contacts(name).model
    axes = search(model)
    reduced = reduce(model, axes.turns, axes.slides)
    lines = []
    for row in functions_of(model):
        for form in row.forms:
            tracer = GraphEngine()
            cost = tracer.cost(trace_on(tracer, reduced if form.reduced else model, row, form))
            lines.append(f"{row.name}: {form.name}: {cost}\n")
    golden(f"operation_counts/contacts_{name}.txt", "".join(lines))
