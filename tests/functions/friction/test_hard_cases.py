"""Steps that are hard or have no good answer: NaN, dependent rows, rows that nothing moves, no friction."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.contacts import SOLID
from support.friction import (
    CORNERS,
    Stepped,
    ball,
    block,
    law,
    momentum_error,
    near_ground,
    on_points,
    plane,
    quadruped,
    random_states,
    step,
)

import rbdgen
from rbdgen import Point
from rbdgen.model.model import Model
from rbdgen.pipeline.design import count

FORMS = ("composite", "articulated")

each_form = pytest.mark.parametrize("form", FORMS)


@each_form
@pytest.mark.parametrize("name", ["q", "v", "tau"])
def test_nan_stays_in_its_state(form: str, name: str) -> None:
    """It reaches every element of all outputs of this state, and none of another one."""
    inputs = random_states(6, False)
    clean = step(quadruped(), form, **inputs)
    spoilt = inputs[name].copy()
    spoilt[2, -1] = np.nan
    found = step(quadruped(), form, **{**inputs, name: spoilt})
    others = np.arange(6) != 2
    for one, other in zip(found, clean, strict=True):
        np.testing.assert_array_equal(one[others], other[others])
    assert np.isnan(found.v[2]).all()
    assert np.isnan(found.impulse[2]).all()
    assert np.isnan(found.residual[2]).all()
    assert np.isnan(found.q[2]).all()


@each_form
def test_no_friction(form: str) -> None:
    """With friction 0 the impulses are normal to the ground, exactly."""
    inputs = random_states(500, True)
    inputs["friction"] *= 0
    found = step(quadruped(), form, **inputs)
    assert (found.impulse.reshape(-1, 4, 3)[:, :, :2] == 0).all()
    assert (found.residual < 1e-6).mean() > 0.99


def test_a_million_sticks() -> None:
    """A friction of 1e6 stands for contacts that never slide; infinity is no number to compute with."""
    q, v = np.zeros(7), [3.0, -2, -1e-2, 0, 0, 0]
    q[6] = 1
    rigid = law(softness=0)
    found = step(ball(), q=q, v=v, friction=[1e6], law=rigid)
    assert np.abs(found.v).max() < 1e-12
    assert np.isnan(step(ball(), q=q, v=v, friction=[np.inf], law=rigid).v).any()


@pytest.mark.parametrize("softness", [1e-4, 1e-2])
def test_every_corner_twice(softness: float) -> None:
    """Two contacts at each corner share its impulse: the block moves as if it had one that is half as
    soft.
    """
    once = block((5, 8, 2))
    corners = {f"{name} {k}": at for name, at in CORNERS.items() for k in (0, 1)}
    double = on_points(corners, contact_solver=(5, 8, 2)).model
    inputs = near_ground(once, 100)
    flat = np.tile(plane((0, 0, 1)), (100, 1))
    flat[:, 3] = inputs["q"][:, 2] - 0.1

    def stepped(model: Model, times: int) -> Stepped:
        own = {"ground": np.tile(flat, 4 * times), "friction": np.full((100, 4 * times), 0.5)}
        return step(model, **{**inputs, **own, "law": law(softness=times * softness)})

    one, two = stepped(once, 1), stepped(double, 2)
    solved = (one.residual[:, 0] < 1e-9) & (two.residual[:, 0] < 1e-9)
    assert solved.mean() > 0.8
    np.testing.assert_allclose(two.v[solved], one.v[solved], rtol=0, atol=1e-7)
    pairs = two.impulse.reshape(100, 4, 2, 3).sum(2).reshape(100, 12)
    np.testing.assert_allclose(pairs[solved], one.impulse[solved], rtol=0, atol=1e-6)


@each_form
def test_dependent_rows_without_softness(form: str) -> None:
    """Without softness, 12 rows of rank 6 have a singular matrix: steps are finite, obey the equations of
    motion, and the residual says how good they are.
    """
    model = block()
    inputs = {**near_ground(model, 300), "law": law(softness=0)}
    found = step(model, form, **inputs)
    assert all(np.isfinite(output).all() for output in found)
    assert momentum_error(model, found, **inputs) < 1e-9
    soft = step(model, form, **{**inputs, "law": law(softness=1e-4)})
    assert (soft.residual < 1e-6).mean() > 0.9


def planar() -> Model:
    """A robot that moves in the plane x, z, on two points."""
    built = rbdgen.RobotBuilder("planar").add_body("ground")
    built.add_body("cart", parent="ground", type="prismatic", axis=(1, 0, 0))
    built.add_body("lift", parent="cart", type="prismatic", axis=(0, 0, 1))
    turning: dict[str, Any] = {"type": "revolute", "axis": (0, 1, 0), **SOLID}
    built.add_body("trunk", parent="lift", **turning)
    built.add_body("leg", parent="trunk", xyz=(0.2, 0, -0.3), **turning)
    points = [Point("toe", "leg", (0.1, 0, -0.3)), Point("tail", "trunk", (-0.3, 0.1, -0.2), radius=0.05)]
    return rbdgen.load_robot(built, contacts=points).model


@each_form
@pytest.mark.parametrize("softness", [0.0, 1e-4])
def test_a_planar_robot(form: str, softness: float) -> None:
    """Nothing moves its contacts along y, and planes may be tilted about all axes."""
    model = planar()
    inputs = {**near_ground(model, 400), "law": law(softness=softness)}
    found = step(model, form, **inputs)
    assert all(np.isfinite(output).all() for output in found)
    assert (found.residual < 1e-6).mean() > 0.9
    level = {**inputs, "ground": np.tile([0, 0, 1.0, 0], 2)}
    level["q"] = np.tile([0, 0.6, 0, 0], (400, 1)) + 1e-3 * inputs["q"]
    found = step(model, form, **level)
    assert (found.residual < 1e-6).mean() > 0.95
    assert np.abs(found.impulse.reshape(-1, 2, 3)[:, :, 1]).max() < 1e-9


@each_form
def test_a_wall_along_which_nothing_moves(form: str) -> None:
    """The normal of a plane is an axis along which no joint moves the contact: steps are finite and the
    other contact works.
    """
    model = planar()
    ground = np.array([0, 1.0, 0, 0.3, 0, 0, 1, 0])
    q, v = [0.0, 0.6, 0, 0], [0.1, -1, 0, 0]
    for softness in (0.0, 1e-4):
        found = step(model, form, q=q, v=v, ground=ground, law=law(softness=softness))
        assert all(np.isfinite(output).all() for output in found)
    free = step(model, form, q=q, v=v, ground=np.array([0, 1.0, 0, -1, 0, 0, 1, 0]), friction=[0.0, 0.5])
    assert free.residual[0, 0] < 1e-9
    assert (free.impulse[0, :3] == 0).all()


def on_an_axis() -> rbdgen.Robot:
    """An arm with a contact on the axis of its first joint, which nothing moves, and one at its end."""
    built = rbdgen.RobotBuilder("arm").add_body("ground")
    built.add_body("upper", parent="ground", type="revolute", axis=(0, 0, 1), xyz=(0, 0, 0.1), **SOLID)
    built.add_body("lower", parent="upper", type="revolute", axis=(0, 1, 0), xyz=(0.3, 0, 0), **SOLID)
    points = [Point("fixed", "upper", (0, 0, 0.2)), Point("end", "lower", (0.4, 0, 0))]
    return rbdgen.load_robot(built, contacts=points)


@each_form
@pytest.mark.parametrize("softness", [0.0, 1e-4])
def test_a_contact_that_nothing_moves(form: str, softness: float) -> None:
    """G has zeros in the block of this contact; the other contact, which two joints move, works."""
    model = on_an_axis().model
    inputs = {**near_ground(model, 200, lowest=1e-6), "dt": [5e-3]}
    found = step(model, form, **{**inputs, "law": law(softness=softness)})
    assert all(np.isfinite(output).all() for output in found)
    assert (found.impulse[:, :3] == 0).all()
    assert (found.impulse[:, 3:] != 0).any(1).sum() > 20
    assert (found.residual < 1e-6).mean() > 0.9
    inside = np.array([0, 0, 1.0, 0.31, 0, 0, 1, -5])
    assert np.isfinite(step(model, form, q=[0.2, 0], v=[0.3, 1], ground=inside).v).all()


def test_a_contact_that_nothing_moves_is_generated() -> None:
    ((form, cost),) = count(on_an_axis(), ["contact_step"]).values()
    assert form.startswith(("composite", "articulated"))
    assert cost.total > 0


def test_jams_are_told() -> None:
    """Wild impacts with much friction are not always solved; then the residual is large and the motion is
    still finite.
    """
    inputs = random_states(4096, True)
    inputs["friction"][:] = 1.2
    found = step(quadruped(), **inputs)
    assert 0 < (found.residual > 1e-6).mean() < 0.02
    assert all(np.isfinite(output).all() for output in found)


@pytest.mark.parametrize(
    ("plan", "softness", "solved"), [((3, 2, 0), 1e-4, 0.5), ((5, 8, 2), 1e-4, 0.8), ((5, 8, 2), 1e-2, 0.93)]
)
def test_hard_impacts_of_soles(plan: tuple[int, int, int], softness: float, solved: float) -> None:
    """The shares of solved impacts of a block on its four corners, as the documentation gives them."""
    count, rng = 1024, np.random.default_rng(5)
    q = np.tile([0.0, 0, 0, 0, 0, 0, 1], (count, 1))
    q[:, 3:5] = 0.005 * rng.standard_normal((count, 2))
    q[:, 3:] /= np.linalg.norm(q[:, 3:], axis=1)[:, None]
    q[:, 2] = 0.05 + 1e-3 * rng.random(count)
    v = rng.standard_normal((count, 6)) - [0, 0, 1, 0, 0, 0]
    friction = rng.uniform(0, 1.2, (count, 1)) * np.ones(4)
    found = step(block(plan), q=q, v=v, friction=friction, dt=2e-3, law=law(softness=softness))
    assert abs((found.residual < 1e-6).mean() - solved) < 0.05
    assert all(np.isfinite(output).all() for output in found)
