"""All forms of a step agree, for robots with contacts of all kinds, followers and sets of contacts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, assume, given, reject, settings
from hypothesis import strategies as st
from support.contacts import FEET, robot_with_contacts, with_contacts
from support.few import examples
from support.friction import Array, Stepped, law, momentum_error, near_ground, outputs, step
from support.mimic import with_mimics
from support.random_trees import random_tree
from support.random_urdf import robots
from support.robots import BUNDLED

import rbdgen
from rbdgen import Loop, Point
from rbdgen.description.urdf import parse_urdf
from rbdgen.functions.table import ALL
from rbdgen.model.build import build_robot
from rbdgen.model.contacts import SolverPlan
from rbdgen.model.model import Model
from rbdgen.spatial.ops import Transform, Vector

ROW = ALL["contact_step"]

FORMS = [form.name for form in ROW.forms]


def on_spheres() -> Model:
    """The quadruped on spheres, and with a loop between two shanks."""
    feet = [Point(foot, f"{foot}_shank", (0, 0, -0.2), radius=0.01 * k) for k, foot in enumerate(FEET)]
    loop = Loop("rope", "front_left_shank", (0, 0, -0.1), "front_right_shank", (0, 0, -0.1))
    return rbdgen.load_robot(BUNDLED["quadruped12"], base="floating", contacts=[loop, *feet]).model


def on_soles_and_points() -> Model:
    """The biped with a frame that stays in place, points that may slide, and a loop."""
    return robot_with_contacts("mixed").model


def held_to_the_world() -> Model:
    """A fixed tree with a loop between a hand and a foot."""
    return robot_with_contacts("standing").model


def arm() -> Model:
    return robot_with_contacts("arm").model


def assert_forms_agree(
    model: Model, inputs: dict[str, Array], tolerance: float, names: Sequence[str] = Stepped._fields
) -> Stepped:
    """All forms give the same step where the solver has converged; returns the steps.

    Rounding decides whether it converges if bilateral rows depend on one another.
    """
    first, *others = (step(model, form.name, **inputs) for form in ROW.forms_for(model))
    solved = np.max([found.residual[:, 0] for found in (first, *others)], axis=0) < 1e-9
    for found in others:
        for name in names:
            one, other = getattr(found, name), getattr(first, name)
            scale = max(1.0, np.abs(other).max())
            np.testing.assert_allclose(
                one[solved] / scale, other[solved] / scale, rtol=0, atol=tolerance, err_msg=name
            )
    return first


@pytest.mark.parametrize(
    "make", [on_spheres, on_soles_and_points, held_to_the_world, arm], ids=lambda make: make.__name__
)
def test_all_forms(make: Callable[[], Model]) -> None:
    """Also those of robots without followers, for which moments are not tried."""
    model = replace(make(), contact_solver=SolverPlan(5, 8, 2))
    inputs = near_ground(model, 60)
    first = assert_forms_agree(model, inputs, 1e-11)
    moments = step(model, "moments", **inputs)
    solved = first.residual[:, 0] < 1e-9
    assert solved.mean() > 0.75
    np.testing.assert_allclose(moments.v[solved], first.v[solved], rtol=0, atol=1e-10)
    if make is not on_spheres:
        assert momentum_error(model, first, **inputs) < 1e-12
    assert (np.abs(first.impulse).max(1) > 0).mean() > 0.1
    (J,) = outputs(model, "contact_jacobian", q=inputs["q"])
    velocity = np.einsum("sij,sj->si", J, first.v)
    kept = np.repeat([not one.has_friction for one in model.contacts], [one.rows for one in model.contacts])
    assert np.abs(velocity[:, kept][solved]).max(initial=0) < 1e-8


def test_a_sphere_is_its_lowest_point() -> None:
    """At a given state, a sphere acts as a point contact at the place where it touches the plane."""
    model = on_spheres()
    inputs = {**near_ground(model, 12), "law": np.tile(law(softness=0), (12, 1))}  # softness is relative
    spheres = step(model, **inputs)
    _, rotation = outputs(model, "contact_pose", q=inputs["q"])
    for k in range(12):
        contacts = []
        planes = iter(inputs["ground"][k].reshape(-1, 4))
        for contact, R in zip(model.contacts, rotation[k].reshape(-1, 3, 3), strict=True):
            moved = contact
            if contact.has_friction:
                turn, at = contact.first.placement
                shift = turn.apply(Vector(*(-float(contact.radius) * (R.T @ next(planes)[:3])).tolist()))
                moved = replace(
                    contact, radius=0.0, first=replace(contact.first, placement=Transform(turn, at + shift))
                )
            contacts.append(moved)
        points = step(replace(model, contacts=tuple(contacts)), **{x: y[k] for x, y in inputs.items()})
        np.testing.assert_allclose(points.v[0], spheres.v[k], rtol=0, atol=1e-11)
        np.testing.assert_allclose(points.impulse[0], spheres.impulse[k], rtol=0, atol=1e-11)


@cache
def with_a_set() -> Model:
    feet = [Point(foot, f"{foot}_shank", (0, 0, -0.2)) for foot in FEET]
    sets = {"trot": [FEET[3], FEET[0]]}
    return rbdgen.load_robot(BUNDLED["quadruped12"], base="floating", contacts=feet, contact_sets=sets).model


@pytest.mark.parametrize("form", FORMS)
def test_sets_are_fewer_contacts(form: str) -> None:
    """A set in an order of its own gives the step of a robot with only these contacts."""
    model = with_a_set()
    inputs = near_ground(model, 30)
    ground = inputs["ground"].reshape(30, 4, 4)[:, [3, 0]].reshape(30, 8)
    chosen = {**inputs, "ground": ground, "friction": inputs["friction"][:, [3, 0]]}
    found = step(model, form, "contact_step_trot", **chosen)
    alone = step(replace(model, contacts=(model.contacts[3], model.contacts[0])), form, **chosen)
    for one, other in zip(found, alone, strict=True):
        np.testing.assert_array_equal(one, other)
    assert found.impulse.shape == (30, 6)


EXAMPLES = {"deadline": None, "phases": [Phase.explicit, Phase.reuse, Phase.generate]}


def in_floats(x: Any) -> Any:
    """A model, or a part of one, in which all rational numbers are floats, which have roots."""
    if isinstance(x, Fraction):
        return float(x)
    if isinstance(x, Vector):
        return Vector(*map(float, x))
    if isinstance(x, tuple):
        parts = map(in_floats, x)
        return type(x)(*parts) if hasattr(x, "_fields") else tuple(parts)
    if is_dataclass(x) and not isinstance(x, type):
        return replace(x, **{one.name: in_floats(getattr(x, one.name)) for one in fields(x) if one.init})
    return x


@settings(max_examples=examples(15, 300), **EXAMPLES)
@given(seed=st.integers(0, 2**32 - 1))
def test_random_trees(seed: int) -> None:
    """Joints of all types, and contacts of all kinds; impulses are not unique if rows are redundant."""
    model = in_floats(with_contacts(random_tree(seed, 5), seed))
    assume(any(contact.has_friction for contact in model.contacts))
    inputs = near_ground(model, 4, seed)
    try:
        found = assert_forms_agree(model, inputs, 1e-6, ("q", "v"))
    except ZeroDivisionError:  # M is constant and the rows are dependent; numbers of C become infinite here
        reject()
    except TypeError as error:  # exact numbers of M have no roots
        if "no callable sqrt method" not in str(error):
            raise
        reject()
    assert all(np.isfinite(output).all() for output in found)
    assert momentum_error(model, found, **inputs) < 1e-9


@settings(max_examples=examples(10, 200), **EXAMPLES)
@given(robots(max_joints=5), st.integers(0, 2**32 - 1))
def test_joints_that_follow_others(text: str, seed: int) -> None:
    """M and J of the robot with followers are over its independent degrees of freedom."""
    description = with_mimics(parse_urdf(text), np.random.default_rng(seed))
    links = [joint.child for joint in description.joints]
    held = (Point("a", links[-1], (0.1, 0, 0)), Point("b", links[0], (0, 0.2, 0)))
    model = build_robot(replace(description, contacts=held), "floating").model
    inputs = near_ground(model, 4, seed)
    found = assert_forms_agree(model, inputs, 1e-6)
    assert momentum_error(model, found, **inputs) < 1e-9
