"""Contacts on alike limbs as lanes: values are the textbook's for all kinds and sets of contacts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from support.contacts import FEET, legs, robot_with_contacts
from support.few import few
from support.limbs import with_limbs
from support.states import random_inputs

import rbdgen
from rbdgen import Frame, Loop, Point
from rbdgen.description.contacts import Contact
from rbdgen.errors import OptionError
from rbdgen.functions.contacts import forward_rows, inverse_rows, kinematic_rows
from rbdgen.functions.function import Function
from rbdgen.functions.table import lookup
from rbdgen.graph.programs.lanes import known, limb_by_limb
from rbdgen.graph.programs.program import Program, straight_line
from rbdgen.graph.programs.run import run
from rbdgen.graph.programs.verify import verify_program
from rbdgen.model.alike_limbs import alike_limbs, contact_between, limbs_in_lanes
from rbdgen.model.build import Robot, build_robot
from rbdgen.model.model import Model
from rbdgen.model.reduce import reduce
from rbdgen.model.resistance import Dissipation
from rbdgen.options import Options
from rbdgen.pipeline.design import design_functions
from rbdgen.pipeline.request import Request
from rbdgen.selection.limbs import trace_in_limbs, trace_loop_in_limbs
from rbdgen.selection.trace import trace_graph, trace_program

Array = NDArray[np.float64]

ROWS = (*forward_rows.ROWS, *kinematic_rows.ROWS, *inverse_rows.ROWS)

HAND, LEG = ("prismatic",), ("revolute", "revolute", "prismatic")


def scattered() -> Robot:
    """Two pairs of limbs and a single one, with two contacts on some limbs, none on others, and one on the
    trunk. Those of a limb are not in the order of the limbs."""
    held: list[Contact] = [
        Point("heel3", "limb3_2", (0.1, 0, -0.2)),
        Frame("toe0", "limb0_2", (0.2, 0.1, 0)),
        Point("belly", "trunk", (0.1, -0.1, 0)),
        Point("heel0", "limb0_2", (0.1, 0.3, -0.2)),
        Point("knee1", "limb1_1", (0, 0.1, 0.1)),
        Frame("toe3", "limb3_2", (0.1, 0.1, 0.1)),
        Point("hand2", "limb2_0", (0, 0.1, 0)),
        Point("shin3", "limb3_1", (0.1, 0.1, 0)),
    ]
    return with_limbs([LEG, ("revolute",) * 2, HAND, LEG, ("revolute",) * 2], contacts=held)


def resisting() -> Robot:
    """The biped with damping, which differs between its legs, and with springs and rotors."""
    robot = rbdgen.load_robot(
        legs(), base="floating", contacts=[Frame("heel", "left_sole"), Point("toe", "right_sole")]
    )
    joints = [
        replace(x, damping=0.1 + k, armature=0.1 * k, stiffness=2.0)
        for k, x in enumerate(robot.description.joints)
    ]
    return build_robot(
        replace(robot.description, joints=tuple(joints)), "floating", dissipation=Dissipation(damping=True)
    )


FEW = (
    forward_rows.CONTACT_ABA,
    forward_rows.DELASSUS,
    kinematic_rows.CONTACT_JACOBIAN,
    inverse_rows.CONTACT_RNEA_LEAST,
)

ROBOTS: dict[str, tuple[Callable[[], Robot], tuple[Function, ...]]] = {
    "quadruped": (lambda: robot_with_contacts("quadruped"), FEW),
    "biped": (lambda: robot_with_contacts("biped"), ROWS),
    "mixed": (lambda: robot_with_contacts("mixed"), FEW),
    "closed": (
        lambda: robot_with_contacts("closed"),
        (*FEW, forward_rows.CONTACT_IMPULSE, kinematic_rows.CONTACT_MOTION, inverse_rows.CONTACT_CONTROL),
    ),
    "standing": (lambda: robot_with_contacts("standing"), FEW[:3]),
    "resisting": (resisting, (lookup("contact_forces"), lookup("contact_rnea"))),
    "scattered": (scattered, (forward_rows.CONTACT_ABA_HELD, *FEW[1:])),
}


@pytest.mark.parametrize(
    ("name", "function"),
    [(name, row) for name, (_, rows) in ROBOTS.items() for row in rows],
    ids=lambda x: x if isinstance(x, str) else x.name,
)
def test_values_and_bits(name: str, function: Function) -> None:
    """Values are those of the textbook's form, and one limb after the other has the bits of all together."""
    model = ROBOTS[name][0]().model
    compared(model, function, drawn(model, function))


@pytest.mark.parametrize(
    ("function", "held"),
    [
        *((row, FEET[:1]) for row in FEW[:3]),
        *((row, FEET[2:0:-1]) for row in FEW[:3]),
        *((row, FEET[:3]) for row in FEW),
    ],
    ids=lambda x: x.name if isinstance(x, Function) else str(len(x)),
)
def test_sets_of_feet(function: Function, held: Sequence[str]) -> None:
    """The lanes of legs that are not in the set take no part."""
    model = robot_with_contacts("quadruped").model
    restricted = replace(function, contacts=tuple(held))
    compared(model, restricted, drawn(model, restricted))


LAST_PRODUCTS: list[tuple[str, Sequence[str] | None, str]] = [
    ("quadruped", None, "contact_aba_derivatives"),
    ("quadruped", FEET[:1], "contact_aba_derivatives"),
    ("quadruped", FEET[2:0:-1], "contact_aba_and_derivatives"),
    ("biped", None, "contact_aba_derivatives_held"),
    ("closed", None, "contact_aba_derivatives"),
    ("resisting", None, "contact_aba_and_derivatives"),
    ("scattered", None, "contact_aba_derivatives_held"),
]

LONG = [
    ("quadruped", None, "contact_aba_and_derivatives_held"),
    ("scattered", None, "contact_aba_and_derivatives"),
]
"""Cases of the campaign, of which the same robot has another row of derivatives among `LAST_PRODUCTS`."""


@pytest.mark.parametrize(("name", "held", "row"), few(LAST_PRODUCTS, [*LAST_PRODUCTS, *LONG]))
def test_derivatives_up_to_the_last_products(name: str, held: Sequence[str] | None, row: str) -> None:
    """Limbs are lanes in the straight line. Values and bits are as in `test_values_and_bits`."""
    model, function = ROBOTS[name][0]().model, lookup(row)
    function = replace(function, contacts=None if held is None else tuple(held))
    compared(model, function, drawn(model, function), programs_in_loops(model, function))


def test_straight_legs_without_compliance() -> None:
    """Forces are eliminated last, so that straight legs need no compliance and their forces are exact."""
    model, function = robot_with_contacts("quadruped").model, lookup("contact_aba")
    inputs = drawn(model, function)
    inputs |= {
        "q": model.manifold.neutral()[None],
        "active": 1 + 0 * inputs["active"],
        "mu": 0 * inputs["mu"],
    }
    inputs = {name: values[:1] for name, values in inputs.items()}
    compared(model, function, inputs)


def test_forces_of_open_contacts_are_exactly_zero() -> None:
    """The other results are those of the set of closed contacts, and opening all gives free motion."""
    model, function = robot_with_contacts("quadruped").model, lookup("contact_aba")
    inputs = drawn(model, function)
    inputs["mu"] *= 0
    inputs["active"] = np.array([[1, 0, 0, 1], [0, 1, 1, 0], [0, 0, 0, 0], [0, 0, 1, 0], [1, 1, 0, 1]]) * 1.0
    for program in programs(model, function):
        found = run(program, inputs)
        forces = found["forces"].reshape(5, 4, 3)
        assert (forces[inputs["active"] == 0] == 0).all()
        assert (forces[inputs["active"] == 1] != 0).all()
        for k, active in enumerate(inputs["active"]):
            held = tuple(foot for foot, closed in zip(FEET, active, strict=True) if closed)
            row = replace(function, contacts=held) if held else lookup("aba")
            own = {name: values[k] for name, values in inputs.items()} | {"active": active[active == 1]}
            wanted = run(textbook(model, row), own)["a"]
            np.testing.assert_allclose(found["a"][k], wanted, rtol=0, atol=1e-11 * abs(wanted).max())


def test_delassus_is_symmetric_to_the_bit() -> None:
    model, function = scattered().model, lookup("delassus")
    for program in programs(model, function):
        G = run(program, drawn(model, function))["G"]
        np.testing.assert_array_equal(G, G.swapaxes(-1, -2))


def test_a_contact_that_holds_two_limbs_together() -> None:
    """The form is refused with the name of the contact, and chosen by no function that reads the contact."""
    name = "contact_jacobian"
    robot = rbdgen.load_robot(
        legs(),
        base="floating",
        contacts=[Point("heel", "left_sole"), Loop("tie", "left_sole", (0, 0, 0), "right_sole", (0, 0, 0))],
    )
    assert alike_limbs(robot.model)
    asked = Options(functions=(name,), variants={name: "limbs"})
    with pytest.raises(OptionError, match="has no alike limbs, contact 'tie' holds two of them together"):
        design_functions(Request(robot, asked))
    (found,) = design_functions(Request(robot, Options(functions=(name,))))
    assert found.form != "limbs"
    assert lookup("rnea").form_for(robot.model, "limbs")
    restricted = replace(lookup(name), contacts=("heel",))
    assert restricted.form_for(robot.model, "limbs")
    compared(robot.model, restricted, drawn(robot.model, restricted))


def test_functions_of_contacts_have_no_loops_over_limbs() -> None:
    with pytest.raises(OptionError, match="'contact_aba' has no form 'limb-loops'"):
        lookup("contact_aba").form("limb-loops")


def compared(
    model: Model, function: Function, inputs: dict[str, Array], made: Sequence[Program] | None = None
) -> None:
    wanted = run(textbook(model, function), inputs)
    made = programs(model, function) if made is None else made
    assert made
    for together, apart in zip(made[::2], made[1::2], strict=True):
        first, second = run(together, inputs), run(apart, inputs)
        for output, values in wanted.items():
            np.testing.assert_allclose(first[output], values, rtol=0, atol=1e-10 * abs(values).max())
            np.testing.assert_array_equal(first[output], second[output])


def textbook(model: Model, function: Function) -> Program:
    return straight_line(trace_graph(model, function, function.forms[0], "graph"))


def programs(model: Model, function: Function) -> list[Program]:
    """For every number of lanes, the verified program with lanes, and the same limb by limb."""
    found = []
    for limbs in limbs_in_lanes(model):
        if contact_between(function.held_by(model), limbs) is None:
            traced = trace_in_limbs(reduce(model), limbs, function, function.form("limbs"))
            found += [known(traced), limb_by_limb(known(traced))]
    for program in found:
        verify_program(program)
    return found


def programs_in_loops(model: Model, function: Function) -> list[Program]:
    """The verified programs of a form in loops, in the order of `programs`. Only the straight line among its
    loops has lanes.
    """
    found, form, reduced = list[Program](), function.form("halves"), reduce(model)
    plain = trace_program(reduced, function, form, "graph")
    for limbs in limbs_in_lanes(model):
        if contact_between(function.held_by(model), limbs) is None:
            traced = known(trace_loop_in_limbs(plain, reduced, limbs, function, form))
            found += [traced, limb_by_limb(traced)]
    for program in found:
        verify_program(program)
    return found


def drawn(model: Model, function: Function) -> dict[str, Array]:
    """Five states, in which some contacts are open and the contacts yield."""
    inputs = random_inputs(model, function.sized(model), 5, 3)
    for name in {"active", "mu"}.intersection(inputs):
        inputs[name] = (
            np.random.default_rng(1).integers(0, 2, inputs[name].shape) + 0.0
            if name == "active"
            else 0 * inputs[name] + 0.1
        )
    return inputs
