"""Second derivatives agree with dual numbers without savings, in rationals, and with differences."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import get_args

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from support.few import examples, few
from support.forms import FunctionForm, relative_error, run_on_floats
from support.functions import SECOND
from support.mimic import Projection, with_mimics
from support.pairs import TYPES, pair
from support.random_trees import between_revolutes, random_tree, resisting_tree
from support.random_urdf import robots
from support.rationals import Rationals
from support.robots import robot
from support.states import random_inputs
from support.trees import some

from rbdgen.description.schema import JointType
from rbdgen.description.urdf import parse_urdf
from rbdgen.functions.function import Function
from rbdgen.functions.table import TABLE
from rbdgen.graph.programs.program import straight_line
from rbdgen.graph.programs.run import run
from rbdgen.graph.programs.sparsity import sparse
from rbdgen.model.build import Base
from rbdgen.model.model import Model
from rbdgen.runtime.sparsity import dense_of
from rbdgen.selection.trace import trace_graph
from rbdgen.sweeps.inputs import State

Array = NDArray[np.float64]
Inputs = Mapping[str, Array]

STATES = 2

EXACT = 1e-11
"""The relative tolerance between forms, which is multiplied by the condition number of M if M is inverted."""

BY_DIFFERENCES = 1e-8
"""The relative tolerance for differences, which is multiplied by the same number."""

FIRST = {"rnea_second": "rnea_derivatives", "aba_second": "aba_derivatives"}

TREES = some(
    "pendulum",
    "fork of types",
    "plane inside",
    "ball inside",
    "free body inside",
    "balls on a plane",
    "floating plane",
    "two bases with balls",
)

each_function = pytest.mark.parametrize("function", SECOND.values(), ids=SECOND)


def textbook_and_cheap(function: Function) -> list[FunctionForm]:
    return [FunctionForm(function, form) for form in function.forms]


@pytest.mark.parametrize("tree", TREES)
@each_function
def test_exactly(function: Function, tree: str) -> None:
    """In rational numbers, all elements are equal with and without savings, and so are symmetric elements."""
    r = Rationals(len(tree))
    model = r.model(*TREES[tree])
    n = model.nv
    x = State(q=r.coordinates(model), v=r.numbers(n), a=r.numbers(n), tau=r.numbers(n))
    plain, cheap = ([list(y) for y in form.trace(model, x)] for form in textbook_and_cheap(function))
    assert plain == cheap
    assert all(isinstance(value, (int, Fraction)) for tensor in cheap for value in tensor)
    joint = [i for i, body in enumerate(model.bodies) for _ in range(body.joint.nv)]
    for argument, tensor in zip(function.signature.outputs, plain, strict=True):
        if argument.symmetric is None:
            continue
        array = np.array(tensor, object).reshape(n, n, n)
        exchanged = array.swapaxes(*argument.symmetric)
        if argument.name == "qq":  # rotations about two axes of one joint do not commute
            apart = np.not_equal.outer(joint, joint)
            array, exchanged = array * apart, exchanged * apart
        assert (array == exchanged).all(), argument.name


ROBOTS: list[tuple[str, Base]] = [
    ("double_pendulum", "fixed"),
    ("double_pendulum", "floating"),
    ("puma560", "fixed"),
    ("arm7", "fixed"),
    ("quadruped12", "floating"),
]


@pytest.mark.parametrize(("name", "base"), few(ROBOTS[:3], ROBOTS))
@each_function
def test_robots(function: Function, name: str, base: Base) -> None:
    model = robot(name, base).model
    check(function, model, random_inputs(model, function.signature, STATES))


@settings(max_examples=examples(8, 25), deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(seed=st.integers(0, 2**32 - 1), function=st.sampled_from(list(SECOND.values())))
def test_random_trees(seed: int, function: Function) -> None:
    """Random trees have all types of joints, and half of them damping, friction, springs and rotors."""
    model = resisting_tree(seed, 4) if seed % 2 else random_tree(seed, 4)
    check(function, model, random_inputs(model, function.signature, STATES))


@settings(max_examples=10, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(
    text=robots(max_joints=6),
    seed=st.integers(0, 2**32 - 1),
    function=st.sampled_from(list(SECOND.values())),
)
def test_joints_that_follow_others(text: str, seed: int, function: Function) -> None:
    """The tensors of robots with followers are folded along all three axes."""
    description = with_mimics(parse_urdf(text), np.random.default_rng(seed))
    model = Projection.of(description).coupled.model
    check(function, model, random_inputs(model, function.signature, STATES))


PAIRS: list[tuple[JointType, JointType, Base]] = [
    (first, second, base) for first in TYPES for second in TYPES for base in get_args(Base)
]


@pytest.mark.parametrize(
    ("first", "second", "base"),
    few(
        [
            ("spherical", "revolute", "fixed"),
            ("revolute", "planar", "fixed"),
            ("helical", "floating", "fixed"),
            ("prismatic", "revolute", "floating"),
        ],
        PAIRS,
        sampled=True,
        together=("first", "second"),
    ),
)
@each_function
def test_followers_beside_joints_of_several_axes(
    function: Function, first: JointType, second: JointType, base: Base
) -> None:
    """Motions of one joint do not commute: a derivative may be 0 in one order, and not in the other."""
    model = pair(first, second, base=base, follower=True, resisting=True).model
    assert not model.coupling.is_trivial
    check(function, model, random_inputs(model, function.signature, STATES))


def check(function: Function, model: Model, inputs: Inputs) -> None:
    """Compares both forms with each other and, away from v = 0, where friction jumps, with differences."""
    inputs = {**inputs, "v": inputs["v"] + 0.05 * np.sign(inputs["v"])}
    (crba,) = run_on_floats(FunctionForm(TABLE["crba"], TABLE["crba"].forms[0]), model, inputs)
    condition = np.linalg.cond(crba).max() if function.name == "aba_second" else 1.0
    plain, cheap = (run_on_floats(form, model, inputs) for form in textbook_and_cheap(function))
    for ours, other in zip(cheap, plain, strict=True):
        assert relative_error(ours, other, floor=1.0) < EXACT * condition
    for ours, wanted in zip(cheap, differences(function, model, inputs), strict=True):
        assert relative_error(ours, wanted, floor=1.0) < BY_DIFFERENCES * condition


def differences(function: Function, model: Model, inputs: Inputs) -> list[Array]:
    """The differences of fourth order of the first derivatives, in the order of the outputs."""
    first = TABLE[FIRST[function.name]]

    def moved(name: str) -> list[Array]:
        """The derivatives of all first derivatives by an input, whose index is the last axis."""
        n, h = model.sizes["nv"], 2e-4
        columns = []
        for k in range(n):
            step = h * np.eye(n)[k]
            total: list[Array] = []
            for times, weight in ((1, 8), (-1, -8), (2, -1), (-2, 1)):
                change = np.broadcast_to(times * step, (STATES, n))
                at = inputs[name]
                there = model.manifold.integrate(at, change) if name == "q" else at + change
                values = run_on_floats(FunctionForm(first, first.forms[0]), model, {**inputs, name: there})
                parts = [weight * value / (12 * h) for value in values]
                total = parts if not total else [a + b for a, b in zip(total, parts, strict=True)]
            columns.append(total)
        return [np.stack(column, axis=-1) for column in zip(*columns, strict=True)]

    by_q, by_v = moved("q"), moved("v")
    last = by_q[2] if function.name == "rnea_second" else by_q[2].swapaxes(2, 3)
    return [by_q[0], by_v[0], by_v[1], last]


@pytest.mark.parametrize(
    "model",
    [robot("double_pendulum", "floating").model, between_revolutes("S"), between_revolutes("L")],
    ids=["floating base", "spherical inside", "planar inside"],
)
@each_function
def test_packed_tensors_are_whole(function: Function, model: Model) -> None:
    """Elements for rotations of one joint are kept for both orders, and other symmetric elements once."""
    cheap = FunctionForm(function, function.form("local"))
    inputs = random_inputs(model, function.signature, STATES)
    program = straight_line(trace_graph(model, function, cheap.form, "graph"))
    signature = function.signature.sized(model.sizes)
    told, packed = sparse(signature, program, [x.name for x in signature.outputs])
    found, n = run(packed, inputs), model.nv
    for output, wanted in zip(told.outputs, run_on_floats(cheap, model, inputs), strict=True):
        assert relative_error(dense_of(output, found[output.name]), wanted, floor=1.0) < 1e-12
        assert output.size < n**3 * (0.8 if output.symmetric else 1.0)


@pytest.mark.parametrize("name", ["arm7", "quadruped12"])
@each_function
def test_identities(function: Function, name: str) -> None:
    """The identities that `rbdgen check` evaluates hold."""
    model = robot(name, "floating").model
    inputs = random_inputs(model, function.signature, STATES)

    def call(name: str, **changed: Array) -> object:
        row = SECOND.get(name) or TABLE[name]
        found = run_on_floats(
            FunctionForm(row, row.forms[-1 if name in SECOND else 0]), model, inputs | changed
        )
        return tuple(found) if len(found) > 1 else found[0]

    for identity in function.identities:
        ours, theirs = identity.sides(call, inputs)
        assert relative_error(ours, theirs) < 1e-9
