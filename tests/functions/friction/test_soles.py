"""Soles: the law at their corners, standing and falling, hard impacts, and corners that need not be there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.contacts import legs
from support.few import few
from support.friction import (
    Array,
    law,
    momentum_error,
    near_ground,
    on_points,
    outputs,
    simulate,
    step,
)
from support.soles import (
    box,
    checked_corners,
    corners,
    humanoid,
    planned,
    random_impacts,
    walker,
)

import rbdgen
from rbdgen import Frame, Loop, Point, Sole
from rbdgen.functions.table import lookup
from rbdgen.model.model import Model

FORMS = ("composite", "articulated")

each_form = pytest.mark.parametrize("form", FORMS)

G, MASS = 9.81, 2


# ---- random impacts


@pytest.mark.parametrize("make", [box, humanoid], ids=lambda make: make.__name__)
def test_the_law_at_corners(make: Any) -> None:
    """All errors of the law are as small as the residual says, by functions that know no soles."""
    model = make().model
    inputs = random_impacts(model, 1024, False, True)
    found = step(model, **inputs)
    errors, residual = checked_corners(model, found, **inputs), found.residual[:, 0]
    assert errors.motion < 1e-11
    assert errors.integration.max() < 1e-14
    assert errors.cone.max() < 1e-11
    solved = residual < 1e-12
    assert solved.mean() > 0.9
    for error in (errors.complementarity, errors.slip):
        assert error[solved].max() < 1e-10
        assert (error < 100 * residual + 1e-10).all()


@pytest.mark.parametrize(
    ("make", "wild", "rough", "solved"),
    [
        (box, False, True, 0.999),
        (box, False, False, 0.997),
        (humanoid, False, True, 0.975),
        (humanoid, True, True, 0.972),
        (humanoid, False, False, 0.973),
        (humanoid, True, False, 0.982),
    ],
    ids=lambda x: getattr(x, "__name__", str(x)),
)
def test_hard_impacts_of_soles(make: Any, wild: bool, rough: bool, solved: float) -> None:
    """The shares of impacts that are solved, of which the documentation tells."""
    model = make().model
    inputs = random_impacts(model, 1024, wild, rough, 7 + wild)
    found = step(model, **inputs)
    assert all(np.isfinite(output).all() for output in found)
    assert (found.residual < 1e-6).mean() > solved
    more = step(planned(make(), 8, 3, 0), **inputs)
    assert (more.residual < 1e-6).sum() >= (found.residual < 1e-6).sum()


@pytest.mark.parametrize("rough", [False, True])
def test_impulses_add_no_energy(rough: bool) -> None:
    """If no corner is below the ground, also where the solver has not converged."""
    model = humanoid().model
    inputs = random_impacts(model, 1024, True, rough)
    places = corners(model, inputs["q"])
    ground = inputs["ground"].reshape(-1, 8, 4)
    lowest = ((ground[:, :, :3] * places).sum(-1) - ground[:, :, 3]).min(1)
    ground[:, :, 3] += np.minimum(lowest, 0)[:, None]
    found = step(model, **{**inputs, "ground": ground.reshape(-1, 32)})
    (M,) = outputs(model, "crba", q=inputs["q"])
    (a,) = outputs(model, "aba", **{x: inputs[x] for x in ("q", "v", "tau")})
    before, after = (
        0.5 * np.einsum("si,sij,sj->s", v, M, v) for v in (inputs["v"] + inputs["dt"] * a, found.v)
    )
    assert ((after - before) <= 1e-10 * before).all()
    assert (after < 0.99 * before).mean() > 0.3


# ---- single modes


def at_height(height: float, count: int = 1) -> Array:
    q = np.zeros((count, 7))
    q[:, 2], q[:, 6] = height, 1
    return q


@each_form
def test_a_box_sticks_slides_and_leaves(form: str) -> None:
    """It moves as a point mass where it does not tip, and its corners share the impulse."""
    v = np.zeros((3, 6))
    v[:, :3] = (0.1, 0.05, -0.5), (0.8, -0.6, -0.5), (0.5, 0.5, 0.5)
    rigid = law(softness=1e-6)
    found = step(box().model, form, q=at_height(0.05, 3), v=v, friction=np.full((3, 4), 0.4), law=rigid)
    press = 0.5 + 1e-3 * G
    slide = v[1, :3] * (1 - 0.4 * press)  # its speed was 1 m/s
    expected = [[0, 0, 0], [slide[0], slide[1], 0], [0.5, 0.5, 0.5 - 1e-3 * G]]
    np.testing.assert_allclose(found.v[:, :3], expected, rtol=0, atol=2e-4)
    np.testing.assert_allclose(found.v[:, 3:], 0, rtol=0, atol=1e-3)
    total = found.impulse.reshape(3, 4, 3).sum(1)
    free = v[:, :3] - [0, 0, 1e-3 * G]
    np.testing.assert_allclose(total, MASS * (found.v[:, :3] - free), rtol=0, atol=1e-12)
    assert (found.impulse[2] == 0).all()
    assert found.residual.max() < 1e-9


@each_form
def test_in_flight_a_step_is_that_without_contacts(form: str) -> None:
    model, rng = humanoid().model, np.random.default_rng(3)
    q, v = model.manifold.neutral(), rng.normal(size=36)
    q[2] = 5
    found = step(model, form, q=q, v=v)
    (a,) = outputs(model, "aba", q=q, v=v, tau=np.zeros(36))
    assert (found.impulse == 0).all()
    np.testing.assert_allclose(found.v[0], v + 1e-3 * a[0], rtol=0, atol=1e-12)
    assert found.residual[0, 0] == 0


def test_a_box_tips_over_an_edge() -> None:
    """A push above the friction's reach lifts two corners: the others carry all impulses."""
    v = [0, 0, -1e-2, 0, 1.5, 0]  # it turns about y, towards x
    found = step(box().model, q=at_height(0.05), v=v, friction=np.full(4, 1e6))
    pressed = found.impulse.reshape(4, 3)[:, 2] > 0
    assert pressed.tolist() == [True, True, False, False]  # the corners with x > 0
    assert found.v[0, 4] > 0.1
    assert found.residual[0, 0] < 1e-9


def standing(bend: float = 0.25) -> Array:
    """The humanoid on bent legs, with its soles on the ground."""
    model = humanoid().model
    q, names = model.manifold.neutral(), [body.joint.name for body in model.bodies[1:]]
    for side in ("left", "right"):
        for joint, angle in (("hip_pitch", -bend), ("knee_pitch", 2 * bend), ("ankle_pitch", -bend)):
            q[7 + names.index(f"{side}_{joint}")] = angle
    q[2] -= corners(model, q[None])[0, :, 2].min()
    return q


def served(q: Array, v: Array, steps: int, dt: float, friction: float = 0.7) -> list[Any]:
    """The steps of the humanoid with servos that hold its joints where they are."""
    gains = {"kp": np.full(30, 400.0), "kd": np.full(30, 8.0), "target": q[7:], "stops": np.zeros(2)}
    model, found, mu = humanoid().model, list[Any](), np.full(8, friction)
    for _ in range(steps):
        found.append(step(model, "composite", "contact_step_servo", q=q, v=v, dt=dt, friction=mu, **gains))
        q, v = found[-1].q[0], found[-1].v[0]
    return found


def test_standing_forces_sum_to_the_weight() -> None:
    """The humanoid whose torques hold it at rest stays at rest, and its soles carry the weight."""
    q, model, dt = standing(), humanoid().model, 2e-3
    (J,), (h,) = outputs(model.on_points, "contact_jacobian", q=q), outputs(model, "nle", q=q, v=np.zeros(36))
    actuated = np.vstack([np.zeros((6, 30)), np.eye(30)])
    torques = np.linalg.lstsq(np.hstack([actuated, J[0].T]), h[0], rcond=None)[0][:30]
    found = step(model, q=q, tau=np.concatenate([np.zeros(6), torques]), dt=dt, law=law(softness=1e-8))
    mass = outputs(model, "crba", q=q)[0][0, 0, 0]
    force = found.impulse.reshape(8, 3).sum(0) / dt
    np.testing.assert_allclose(force, [0, 0, mass * G], rtol=0, atol=1e-4 * mass * G)
    assert np.abs(found.v).max() < 1e-5
    assert (found.impulse.reshape(8, 3)[:, 2] > 0).all()
    assert found.residual[0, 0] < 1e-12


def test_a_humanoid_stands_on_servos() -> None:
    """No corner slips or lifts, and each sinks as far as the softness says."""
    found = served(standing(), np.zeros(36), 15, 1e-2)
    assert max(x.residual[0, 0] for x in found) < 1e-12
    at, after = (corners(humanoid().model, x)[0] for x in (standing()[None], found[-1].q))
    assert np.abs(after - at).max() < 3e-3
    assert all((x.impulse.reshape(8, 3)[:, 2] > 0).all() for x in found)


@pytest.mark.parametrize(
    ("speed", "turn"), few([(1.2, 1.6)], [(1.2, 1.6), (-0.6, -0.8)]), ids=["toes", "heels"]
)
def test_a_humanoid_falls_over_its_edges(speed: float, turn: float) -> None:
    """It turns about its toes or its heels, on which it then stands alone, and every step is exact."""
    v = np.zeros(36)
    v[0], v[4] = speed, turn
    found = served(standing(), v, 40, 5e-3)
    assert max(x.residual[0, 0] for x in found) < 1e-12
    model = humanoid().model
    pressed = np.array([x.impulse.reshape(8, 3)[:, 2] > 0 for x in found])
    ahead = np.array([float(x) * speed > 0 for contact in model.contacts for x, _, _ in contact.corners])
    assert (pressed[:, ahead].any(1) & ~pressed[:, ~ahead].any(1)).sum() > 3
    assert min(corners(model, x.q)[0, :, 2].min() for x in found) > -2e-3


# ---- corners that are not needed, and softness


def test_corners_are_like_points() -> None:
    """A sole is a welded frame to other functions, and to steps the points at its corners."""
    points = {str(k): tuple(map(float, x)) for k, x in enumerate(box().model.contacts[0].corners)}
    at = {name: (x, y, z - 0.05) for name, (x, y, z) in points.items()}
    model = on_points(at, contact_solver=(30, 10, 5)).model
    inputs = random_impacts(box().model, 200, False, False)
    one = step(box().model, **inputs)
    other = step(model, **inputs, law=law(softness=1e-2))
    solved = (one.residual[:, 0] < 1e-11) & (other.residual[:, 0] < 1e-11)
    assert solved.mean() > 0.9
    np.testing.assert_allclose(one.v[solved], other.v[solved], rtol=0, atol=1e-8)
    np.testing.assert_allclose(one.impulse[solved], other.impulse[solved], rtol=0, atol=1e-8)


@pytest.mark.parametrize("softness", [1e-6, 1e-4])
def test_every_corner_twice(softness: float) -> None:
    """Two corners at one place share its impulse: the box moves as if it had one that is half as soft."""
    points = [tuple(map(float, x)) for x in box().model.contacts[0].corners]
    at = [(x, y, z - 0.05) for x, y, z in points for _ in (0, 1)]
    built = rbdgen.RobotBuilder("body").add_body("body", mass=MASS, inertia=(0.01, 0.015, 0.02))
    double = rbdgen.load_robot(built, base="floating", contacts=[Sole("sole", "body", corners=at)])
    inputs = random_impacts(box().model, 200, False, False)
    one = step(planned(box(), 10, 3, 0), **inputs, law=law(softness=softness))
    twice = {
        **inputs,
        "ground": inputs["ground"].reshape(200, 4, 1, 4).repeat(2, 2).reshape(200, -1),
        "friction": inputs["friction"].repeat(2, 1),
    }
    two = step(planned(double, 10, 3, 0), **twice, law=law(softness=2 * softness))
    solved = (one.residual[:, 0] < 1e-9) & (two.residual[:, 0] < 1e-9)
    assert solved.mean() > 0.8
    np.testing.assert_allclose(two.v[solved], one.v[solved], rtol=0, atol=1e-7)


@each_form
def test_soles_without_softness(form: str) -> None:
    """The impulses of the corners are then not unique: steps are finite, and obey the equations of motion."""
    model = humanoid().model
    inputs = random_impacts(model, 300, False, True)
    found = step(model, form, **inputs, law=law(softness=0))
    assert all(np.isfinite(output).all() for output in found)
    rows = {**inputs, "law": law(softness=0)}
    assert momentum_error(model.on_points, found, **rows) < 1e-9


@each_form
def test_no_friction(form: str) -> None:
    inputs = random_impacts(humanoid().model, 300, False, True)
    inputs["friction"] *= 0
    found = step(humanoid().model, form, **inputs)
    assert np.abs(found.impulse.reshape(-1, 8, 3)[:, :, :2]).max() == 0
    assert (found.residual < 1e-6).mean() > 0.99


@each_form
@pytest.mark.parametrize("name", ["q", "v", "tau"])
def test_nan_stays_in_its_state(form: str, name: str) -> None:
    inputs = near_ground(walker().model, 6)
    clean = step(walker().model, form, **inputs)
    spoilt = inputs[name].copy()
    spoilt[2, -1] = np.nan
    found = step(walker().model, form, **{**inputs, name: spoilt})
    others = np.arange(6) != 2
    for one, other in zip(found, clean, strict=True):
        np.testing.assert_array_equal(one[others], other[others])
    assert np.isnan(found.v[2]).all()
    assert np.isnan(found.residual[2]).all()


def test_a_slope_on_each_side_of_the_angle_of_friction() -> None:
    mu, steps, dt = 0.6, 20, 2e-3
    angles = np.arctan(mu) + np.array([-1e-1, -1e-2, 1e-2, 1e-1])
    normals = np.stack([-np.sin(angles), 0 * angles, np.cos(angles)], 1)
    q = np.zeros((4, 7))
    q[:, :3], q[:, 4], q[:, 6] = 0.05 * normals, -np.sin(angles / 2), np.cos(angles / 2)
    ground = np.tile(np.hstack([normals, 0 * angles[:, None]]), 4)
    given = {"ground": ground, "friction": np.full((4, 4), mu), "dt": dt, "law": law(softness=1e-6)}
    last = simulate(box().model, steps, q=q, v=np.zeros((4, 6)), **given)[-1]
    speed = np.linalg.norm(last.v[:, :3], axis=1)
    expected = G * (np.sin(angles) - mu * np.cos(angles)) * steps * dt
    assert (speed[:2] < 1e-5).all()
    np.testing.assert_allclose(speed[2:], expected[2:], rtol=0.01)


# ---- beside other contacts


def mixed() -> Model:
    """A sole beside a point, a frame and a loop."""
    held = [
        Point("toe", "right_sole", (0.05, 0, 0)),
        Sole("sole", "left_sole", (0.2, 0.1)),
        Loop("tie", "right_shank", (0, 0.02, 0), "hand", (0.1, 0, 0)),
        Frame("tail", "trunk", (-0.3, 0.05, 0.1)),
    ]
    return rbdgen.load_robot(legs(), base="floating", contacts=held, contact_solver=(8, 6, 2)).model


def test_beside_points_frames_and_loops() -> None:
    """All forms give the same, and the impulses are those of the change of the momentum."""
    model = mixed()
    inputs = near_ground(model, 60)
    names = [form.name for form in lookup("contact_step", model).forms_for(model)]
    first, *others = (step(model, name, **inputs) for name in names)
    solved = first.residual[:, 0] < 1e-11
    assert solved.mean() > 0.7
    assert (first.impulse[solved, 3:15] != 0).any(1).mean() > 0.3
    for other in others:
        np.testing.assert_allclose(other.v[solved], first.v[solved], rtol=0, atol=1e-7)
        np.testing.assert_allclose(other.impulse[solved], first.impulse[solved], rtol=0, atol=1e-7)
    assert momentum_error(model.on_points, first, **inputs) < 1e-9


@pytest.mark.parametrize("name", ["contact_aba", "contact_jacobian", "contact_pose", "delassus"])
def test_other_functions_know_the_frame(name: str) -> None:
    """A sole has the six rows of its frame."""
    sole = box().model
    built = rbdgen.RobotBuilder("body").add_body("body", mass=MASS, inertia=(0.01, 0.015, 0.02))
    frame = rbdgen.load_robot(built, base="floating", contacts=[Frame("sole", "body", (0, 0, -0.05))]).model
    row, rng = lookup(name, sole), np.random.default_rng(0)
    given = {x.name: rng.normal(size=x.size) for x in row.sized(sole).inputs}
    given |= {"active": [1.0], "mu": [0.0]}
    taken = {x.name: given[x.name] for x in row.sized(sole).inputs}
    for one, other in zip(outputs(sole, name, **taken), outputs(frame, name, **taken), strict=True):
        np.testing.assert_array_equal(one, other)
