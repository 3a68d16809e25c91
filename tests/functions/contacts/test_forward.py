"""Forward dynamics in contact: exact equations, Pinocchio, masks and dependent rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray
from support.contacts import SOLID, legs, robot_with_contacts, with_contacts
from support.forms import FunctionForm, relative_error, run_on_floats
from support.functions import OF_CONTACTS
from support.linkages import chain_on_the_world
from support.pinocchio_oracle import PinocchioOracle, model_of_numbers
from support.random_trees import resisting_tree
from support.rational_robots import planar
from support.rationals import Rationals
from support.states import random_inputs
from support.trees import TREES

import rbdgen
from rbdgen import Frame, Loop, Point
from rbdgen.checks.check import check_robot
from rbdgen.errors import OptionError
from rbdgen.functions.contacts.anchors import apart
from rbdgen.functions.contacts.relative import contact_jacobian, contact_motion, contact_pose
from rbdgen.functions.table import ALL
from rbdgen.functions.table import rows_of as functions_of
from rbdgen.model.angles import ZERO_ANGLE
from rbdgen.model.model import WORLD, Model
from rbdgen.model.reduce import ReducedModel, reduce
from rbdgen.options import Options
from rbdgen.pipeline.design import count
from rbdgen.sweeps.inputs import State, coordinates, state_of

Array = NDArray[np.float64]

# ---- exactly

TOUCHING = {
    "loops in an arm": ("chain", 10),
    "a base, between limbs, within one": ("floating tree", 3),
    "points between and within limbs": ("floating tree", 13),
    "with the world": ("floating tree", 17),
    "joints of all types": ("some types", 8),
    "between a floating robot and an arm": ("ball beside a base", 3),
}
"""The name of the tree, and the seed of the contacts that are drawn for it."""


class Exact:
    """Evaluates functions at a rational state, and asserts that all forms give equal results."""

    def __init__(self, model: Model, numbers: Rationals, reduced: Sequence[ReducedModel]) -> None:
        self.model, self.reduced = model, reduced
        self.state = State(
            numbers.coordinates(model),
            numbers.numbers(model.nv),
            tau=numbers.numbers(model.nv),
            arrays={
                "active": [numbers.positive() for _ in model.contacts],
                "mu": [Fraction(1, 7)],
                "restitution": [Fraction(1, 3)],
                "gains": [Fraction(5), Fraction(2)],
                "anchor": numbers.numbers(model.sizes["nanchor"]),
            },
        )

    def __call__(self, name: str) -> list[Any]:
        """Returns an array of exact numbers for each output, in the shape of the signature."""
        row = ALL[name]
        found = [row.trace(row.forms[0], self.model, self.state)]
        for form in row.forms[1:] if row.of_contacts else ():
            found += [row.trace(form, reduced, self.state) for reduced in self.reduced]
        assert all(list(map(list, other)) == list(map(list, found[0])) for other in found[1:]), name
        shapes = [x.shape for x in row.signature.sized(self.model.sizes).outputs]
        return [np.array(x, object).reshape(s) for x, s in zip(found[0], shapes, strict=True)]


def drawn(name: str) -> Exact:
    """Random robots with contacts, in their own axes and in rotated and shifted ones."""
    tree, seed = TOUCHING[name]
    numbers = Rationals(3)
    model = with_contacts(numbers.model(*TREES[tree]), seed)
    given = [body.joint.type.one_axis for body in model.bodies]
    turns = [numbers.angle() if free else ZERO_ANGLE for free in given]
    slides = [numbers.number() if free else 0 for free in given]
    return Exact(model, numbers, [reduce(model), reduce(model, turns, slides)])


def in_one_frame() -> Exact:
    """A robot with bodies whose equations are in their parents' axes; one of them has the rows of a loop."""
    numbers, model = planar((WORLD, 0, 1, 2), "RRRR", (1, 2))
    return Exact(model := with_contacts(model, 10), numbers, [reduce(model, parallel=(1, 2))])


@pytest.mark.parametrize("name", [*TOUCHING, "in one frame"])
def test_equations_hold_exactly(name: str) -> None:
    """The equations with w = `active`: M a + h = tau + J^T w lambda, w (J a + drift - target) = (w - 1 - mu)
    lambda.
    """
    at = in_one_frame() if name == "in one frame" else drawn(name)
    model, (mu,) = at.model, at.state.arrays["mu"]
    J = np.array(contact_jacobian(model, at.state.q), object)
    bias = np.array(contact_motion(model, at.state.q, at.state.v)[1], object)
    v, tau = (np.array(values, object) for values in (at.state.v, at.state.tau))
    w = np.repeat(np.array(at.state.arrays["active"], object), [contact.rows for contact in model.contacts])
    soft = mu + 1 - w
    (M,), (h,), (Minv,), (G,) = map(at, ("crba", "nle", "minv", "delassus"))
    assert (J @ Minv @ J.T == G).all()
    (a, forces), (alone,) = at("contact_aba"), at("contact_forces")
    assert (forces == alone).all()
    assert (M @ a + h == tau + J.T @ (w * forces)).all()
    assert (w * (J @ a + bias) + soft * forces == 0).all()
    (restitution,), (v_plus, impulse) = at.state.arrays["restitution"], at("contact_impulse")
    assert (M @ (v_plus - v) == J.T @ (w * impulse)).all()
    assert (w * (J @ v_plus + restitution * (J @ v)) + soft * impulse == 0).all()
    if all(contact.anchored for contact in model.contacts):
        (a, forces), (alone,) = at("contact_aba_held"), at("contact_forces_held")
        assert (forces == alone).all()
        kp, kd = at.state.arrays["gains"]
        e = np.array(apart(model, at.state.q, at.state.arrays["anchor"]), object)
        assert (M @ a + h == tau + J.T @ (w * forces)).all()
        assert (w * (J @ a + bias + kp * e + kd * (J @ v)) + soft * forces == 0).all()


# ---- in numbers


def outputs(model: Model, name: str, inputs: dict[str, Array], form: str = "articulated") -> list[Array]:
    """Computes the outputs of a form for all states."""
    row = ALL[name]
    return run_on_floats(FunctionForm(row, row.form(form)), model, inputs)


def at_rest_in_contact(model: Model, seed: int = 0) -> dict[str, Array]:
    """Inputs of `contact_aba` with all contacts active and without compliance."""
    inputs = random_inputs(model, ALL["contact_aba"].signature, 1, seed)
    return {**inputs, "active": 1 + 0 * inputs["active"], "mu": 0 * inputs["mu"]}


def rows_of(model: Model, inputs: dict[str, Array]) -> tuple[Array, Array]:
    """Returns J and the drift at the first state."""
    q = coordinates(model, list(inputs["q"][0]), np.cos, np.sin)
    drift = contact_motion(model, q, list(inputs["v"][0]))[1]
    return np.array(contact_jacobian(model, q), float), np.array(drift, float)


@pytest.mark.parametrize("name", ["quadruped", "humanoid"])
def test_pinocchio_constrained_dynamics(name: str) -> None:
    """Pinocchio's constraints and impulses are the same for points, and for frames that do not rotate."""
    model = robot_with_contacts(name).model
    inputs = at_rest_in_contact(model)
    if name == "humanoid":
        inputs["v"] *= 0
    q, v, tau = (inputs[x][0] for x in ("q", "v", "tau"))
    reference = model_of_numbers(model)
    data = reference.createData()
    held = []
    for contact in model.contacts:
        kind = pin.ContactType.CONTACT_3D if contact.kind == "point" else pin.ContactType.CONTACT_6D
        place = pin.SE3(np.eye(3), np.array([*map(float, contact.first.placement.translation)]))
        world = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        held.append(pin.RigidConstraintModel(kind, reference, contact.first.body + 1, place, world))
    pin.initConstraintDynamics(reference, data, held, (made := [x.createData() for x in held]))
    settings = pin.ProximalSettings(1e-14, 0.0, 1)
    expected = pin.constraintDynamics(reference, data, q, v, tau, held, made, settings)
    a, forces = outputs(model, "contact_aba", inputs)
    np.testing.assert_allclose(a[0], expected, rtol=0, atol=1e-10 * np.abs(expected).max())
    np.testing.assert_allclose(forces[0], data.lambda_c, rtol=0, atol=1e-10 * np.abs(data.lambda_c).max())
    bounced = {**inputs, "v": inputs["v"] + 1, "restitution": np.array([[0.3]])}
    pin.computeAllTerms(reference, data, q, v)
    expected = pin.impulseDynamics(reference, data, bounced["v"][0], rows_of(model, inputs)[0], 0.3, 0.0)
    v_plus, _ = outputs(model, "contact_impulse", bounced)
    np.testing.assert_allclose(v_plus[0], expected, rtol=0, atol=1e-10 * np.abs(expected).max())


def test_forces_as_published() -> None:
    """Forces are those of Nakanishi, Mistry and Schaal, ICRA 2007, equation 6, with the missing dot in 31."""
    model = robot_with_contacts("quadruped").model
    inputs = at_rest_in_contact(model)
    (M,), (h,) = (outputs(model, name, inputs, ALL[name].forms[0].name) for name in ("crba", "nle"))
    J, bias = rows_of(model, inputs)
    JMinv = J @ np.linalg.inv(M[0])
    (ours,) = outputs(model, "contact_forces", inputs)

    def published(last: Array) -> Array:
        return np.linalg.solve(JMinv @ J.T, JMinv @ (h[0] - inputs["tau"][0]) - last)

    scale = np.abs(ours).max()
    assert np.abs(published(bias) - ours[0]).max() < 1e-10 * scale
    assert np.abs(published(J @ inputs["v"][0]) - ours[0]).max() > 1e-2 * scale


@pytest.mark.parametrize("name", ["mixed", "closed"])
def test_masks_are_fewer_contacts(name: str) -> None:
    """The active contacts act as if the robot had no others; the forces of inactive contacts are 0."""
    model = robot_with_contacts(name).model
    inputs = random_inputs(model, ALL["contact_aba"].signature, 1)
    for mask in product((0.0, 1.0), repeat=len(model.contacts)):
        a, forces = outputs(model, "contact_aba", {**inputs, "active": np.array([mask])})
        holds = np.repeat(mask, [contact.rows for contact in model.contacts]) == 1
        assert (forces[0][~holds] == 0).all()
        chosen = tuple(contact for contact, on in zip(model.contacts, mask, strict=True) if on)
        if not chosen:
            (wanted,) = outputs(model, "aba", inputs)
        else:
            alone = {**inputs, "active": np.ones((1, len(chosen)))}
            wanted, pushes = outputs(replace(model, contacts=chosen), "contact_aba", alone)
            np.testing.assert_allclose(forces[:, holds], pushes, rtol=0, atol=1e-11 * np.abs(pushes).max())
        np.testing.assert_allclose(a, wanted, rtol=0, atol=1e-11 * np.abs(wanted).max())


def test_anchors_are_where_contacts_come_from() -> None:
    """The error e is 0 at the anchors, and its rate is the velocity J v of the contacts."""
    model = robot_with_contacts("mixed").model
    inputs = at_rest_in_contact(model, 2)
    q, v, step = inputs["q"][0], inputs["v"][0], 1e-5
    moved = [
        coordinates(model, list(model.manifold.integrate(q, k * step * v)), np.cos, np.sin)
        for k in (0, -1, 1)
    ]
    position, rotation = contact_pose(model, moved[0])
    anchor: list[float] = []
    for k, contact in enumerate(model.contacts):
        anchor += [*position[3 * k : 3 * k + 3], *rotation[9 * k : 9 * k + contact.anchor - 3]]
    found = [np.array(apart(model, at, anchor), float) for at in moved]
    assert np.abs(found[0]).max() < 1e-15
    J, _ = rows_of(model, inputs)
    np.testing.assert_allclose(
        (found[2] - found[1]) / (2 * step), J @ v, rtol=0, atol=1e-9 * np.abs(J @ v).max()
    )


@pytest.mark.parametrize("seed", [0, 11, 30])
def test_rotors_and_friction(seed: int) -> None:
    """For joints of all types, the reference has Pinocchio's M with rotors, and torques minus resistance."""
    model = with_contacts(resisting_tree(seed, 5), seed)
    assert model.has_rotors
    oracle = PinocchioOracle(model_of_numbers(model), model)
    for row in (row for name, row in OF_CONTACTS.items() if name in ("contact_aba", "contact_impulse")):
        inputs = random_inputs(model, row.signature, 2)
        for form in row.forms:
            for ours, theirs in zip(
                outputs(model, row.name, inputs, form.name), oracle(row.name, inputs), strict=True
            ):
                assert relative_error(ours, theirs, floor=1.0) < 1e-9, form.name


def test_loops_of_frames_have_no_anchors() -> None:
    robot = robot_with_contacts("closed")
    assert "contact_aba_held" not in functions_of(robot.model)
    with pytest.raises(
        OptionError, match="needs contacts that can all be anchored, which 'biped' does not have"
    ):
        rbdgen.build(robot, ["contact_aba_held"])


def test_compiled_with_followers_and_a_set(tmp_path: Path) -> None:
    """`rbdgen check` compares a folder with projected results of Pinocchio, with identities and with
    batches."""
    held = [Point("tip", "l4", (0.1, 0, 0)), Frame("wrist", "l3"), Loop("rope", "l2", (0, 0, 0), "l0")]
    sets = {"two": ["rope", "wrist"]}
    robot = rbdgen.load_robot(chain_on_the_world(tmp_path), contacts=held, contact_sets=sets)
    names = ("motion", "jacobian", "aba", "aba_held")
    functions = ["rnea", *(f"contact_{name}_two" for name in names)]
    findings = check_robot(robot, Options(functions=tuple(functions), savings=False))
    assert [finding for finding in findings if not finding.passed] == []
    assert len(findings) == len(("self-test", "batches")) + 4 + len(functions)


@pytest.mark.campaign
def test_chosen_counts(golden: Callable[[str, str], None]) -> None:
    """Pins the counts of the chosen forms for a quadruped on four points, after all passes."""
    counted = count(robot_with_contacts("quadruped"), ["contact_aba"])
    lines = [f"{function}: {form}: {cost}\n" for function, (form, cost) in counted.items()]
    golden("chosen_counts/contacts_forward.txt", "".join(lines))


# ---- rows that depend on one another


def stretched() -> Model:
    """The quadruped with straight legs: G is singular for the forces of one leg alone, but not for all."""
    return robot_with_contacts("quadruped").model


def on_corners() -> Model:
    """Four points of one foot: 12 rows of rank 6."""
    held = [Point(f"{x} {y}", "left_sole", (x, y, 0)) for x, y in product((0.1, -0.05), (0.04, -0.04))]
    return rbdgen.load_robot(legs(), base="floating", contacts=held).model


def twice() -> Model:
    """Two contacts at one and the same frame."""
    held = [Frame(name, "left_sole") for name in ("first", "second")]
    return rbdgen.load_robot(legs(), base="floating", contacts=held).model


def in_the_plane() -> rbdgen.RobotBuilder:
    """A planar biped: a trunk that moves in the plane x, z, on two straight legs, one ahead of the other."""
    built = rbdgen.RobotBuilder("planar biped").add_body("ground")
    built.add_body("cart", parent="ground", type="prismatic", axis=(1, 0, 0), **SOLID)
    built.add_body("lift", parent="cart", type="prismatic", axis=(0, 0, 1), **SOLID)
    pitch: dict[str, Any] = {"type": "revolute", "axis": (0, 1, 0), **SOLID}
    built.add_body("trunk", parent="lift", **pitch)
    for side, ahead in (("left", 0.3), ("right", -0.3)):
        built.add_body(f"{side}_thigh", parent="trunk", rpy=(0, ahead, 0), **pitch)
        for part, above in (("shank", "thigh"), ("foot", "shank")):
            built.add_body(f"{side}_{part}", parent=f"{side}_{above}", xyz=(0, 0, -0.4), **pitch)
    return built


def on_heels_and_toes() -> Model:
    """Two points on each foot of the planar biped: no joint moves the 4 rows along y, and of the other 8 rows
    one of each foot is redundant."""
    held = [
        Point(f"{side} {x}", f"{side}_foot", (x, 0, -0.07))
        for side, x in product(("left", "right"), (0.1, -0.05))
    ]
    return rbdgen.load_robot(in_the_plane(), contacts=held).model


def on_plane_soles() -> Model:
    """A frame on each foot of the planar biped: 12 rows, half of which no joint can move."""
    held = [Frame(side, f"{side}_foot", (0, 0, -0.07)) for side in ("left", "right")]
    return rbdgen.load_robot(in_the_plane(), contacts=held).model


def least(model: Model, inputs: dict[str, Array]) -> tuple[Array, Array]:
    """Computes a and the forces of least norm, by pseudo-inverses."""
    (M,), (h,) = (outputs(model, name, inputs, ALL[name].forms[0].name) for name in ("crba", "nle"))
    J, drift = rows_of(model, inputs)
    free = np.linalg.solve(M[0], inputs["tau"][0] - h[0])
    forces = np.linalg.pinv(J @ np.linalg.solve(M[0], J.T), rcond=1e-10) @ -(drift + J @ free)
    return free + np.linalg.solve(M[0], J.T @ forces), forces


DEPENDENT: dict[Callable[[], Model], tuple[float, float, float]] = {
    stretched: (0, 1e-13, 1e-12),
    on_corners: (1e-8, 1e-6, 1e-5),
    twice: (1e-8, 1e-7, 1e-5),
    on_heels_and_toes: (1e-8, 1e-6, 1e-5),
    on_plane_soles: (1e-8, 1e-6, 1e-5),
}
"""Robots with mu, and with the errors of a and lambda in double."""

STRAIGHT = (stretched, on_heels_and_toes, on_plane_soles)
"""The robots whose legs are straight in the neutral configuration, in which they are tested."""


@pytest.mark.parametrize("make", DEPENDENT, ids=lambda make: make.__name__)
def test_dependent_rows(make: Callable[[], Model]) -> None:
    """Straight legs need no compliance. Redundant rows need it, and share the force; rows that no joint can
    move need it, and have no force."""
    model, (mu, of_a, of_forces) = make(), DEPENDENT[make]
    inputs = at_rest_in_contact(model)
    if make in STRAIGHT:
        inputs["q"] = model.manifold.neutral()[None]
    J, _ = rows_of(model, inputs)
    inputs["v"] = inputs["v"] - inputs["v"] @ J.T @ np.linalg.pinv(J, rcond=1e-10).T
    wanted, forces = least(model, inputs)
    a, found = (output[0] for output in outputs(model, "contact_aba", {**inputs, "mu": np.array([[mu]])}))
    assert np.abs(a - wanted).max() <= of_a * np.abs(wanted).max()
    assert np.abs(found - forces).max() <= of_forces * np.abs(forces).max()
    comply = {**inputs, "mu": np.array([[1e-4]])}
    single = {name: np.float32(values[0]) for name, values in comply.items()}
    row = ALL["contact_aba"]
    state = state_of(model, [(x, list(single[x.name])) for x in row.sized(model).inputs], np.cos, np.sin)
    traced = row.trace(row.form("articulated"), model, state)
    assert {type(value) for output in traced for value in output} <= {np.float32, int}
    a, found = map(np.array, traced)
    wanted, forces = (output[0] for output in outputs(model, "contact_aba", comply))
    assert np.abs(a - wanted).max() < 1e-3 * np.abs(wanted).max()
    assert np.abs(found - forces).max() < 1e-2 * np.abs(forces).max()
