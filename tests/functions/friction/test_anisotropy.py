"""Friction that depends on the direction of the slip: an elliptic cone, and the greatest dissipation."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from support.friction import (
    LEVEL,
    Array,
    checked,
    law,
    near_ground,
    on_points,
    outputs,
    placed,
    plane,
    simulate,
    step,
)

import rbdgen
from rbdgen import Point, Sole
from rbdgen.functions.friction.ground import Plane
from rbdgen.model.model import Model

MASS, G, DT = 2.0, 9.81, 1e-3
RIGID = law(softness=0)


@cache
def mass() -> Model:
    """A body with a contact at its centre of mass."""
    return on_points({"at": (0, 0, 0)}, contact_with=["anisotropic"]).model


@cache
def mixed(*extras: str) -> Model:
    """A body on a sole, a sphere and a point."""
    built = rbdgen.RobotBuilder("body").add_body("body", mass=2, inertia=(0.01, 0.015, 0.02))
    contacts = [
        Sole("sole", "body", (0.2, 0.2), (0, 0, -0.05)),
        Point("ball", "body", (0.3, 0, 0), radius=0.04),
        Point("tip", "body", (-0.3, 0.1, 0)),
    ]
    return rbdgen.load_robot(built, "floating", contacts=contacts, contact_with=extras).model


def axes_of(ground: Array, direction: Array) -> tuple[Array, Array, Array]:
    """The directions along and across in each plane, and its normal."""
    n = ground[:, :3]
    along = direction - n * np.sum(n * direction, 1, keepdims=True)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    return along, np.cross(n, along), n


@pytest.mark.parametrize("form", ["composite", "articulated"])
def test_a_mass_sticks_in_an_ellipse_and_slides_against_its_gradient(form: str) -> None:
    """For a mass, the slip after the step is v_free + lambda / m, so every mode has a closed form."""
    rng, count = np.random.default_rng(3), 400
    normals, direction = rng.standard_normal((2, count, 3))
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    position, v = rng.standard_normal((2, count, 3))
    v -= normals * (np.sum(v * normals, 1) + rng.uniform(0.2, 2, count))[:, None]  # towards the plane
    mu, ratio = rng.uniform(0, 1.5, count), rng.uniform(0, 3, count)
    ground = np.hstack([normals, np.sum(normals * position, 1)[:, None]])
    found = step(
        mass(),
        form,
        q=placed(mass(), position),
        v=np.hstack([v, 0 * v]),
        ground=ground,
        friction=mu[:, None],
        anisotropy=np.hstack([direction, ratio[:, None]]),
        law=RIGID,
    )
    assert found.residual.max() < 1e-12
    axes = axes_of(ground, direction)
    free, slip, impulse = (
        np.stack([np.sum(e * x, 1) for e in axes])
        for x in (v - [0, 0, DT * G], found.v[:, :3], found.impulse)
    )
    np.testing.assert_allclose(impulse, MASS * (slip - free), rtol=0, atol=1e-12)
    np.testing.assert_allclose(slip[2], 0, atol=1e-12)
    limits = np.stack([mu, mu * ratio]) * impulse[2]
    size = np.linalg.norm(impulse[:2] / limits, axis=0)
    sticks = np.linalg.norm(MASS * free[:2] / limits, axis=0) < 1
    assert 40 < sticks.sum() < 360
    np.testing.assert_allclose(slip[:2, sticks], 0, atol=1e-12)
    np.testing.assert_allclose(size[~sticks], 1, rtol=1e-9)
    gradient = (impulse[:2] / limits**2)[:, ~sticks]
    against = slip[:2, ~sticks]
    turned = gradient[0] * against[1] - gradient[1] * against[0]
    np.testing.assert_allclose(turned / np.linalg.norm(gradient, axis=0), 0, atol=1e-9)
    assert (np.sum(gradient * against, 0) < 0).all()


@pytest.mark.parametrize("form", ["composite", "articulated"])
def test_equal_coefficients_are_isotropic(form: str) -> None:
    """For any direction steps are those without anisotropy, also of soles and spheres; a direction along the
    normal, or 0, stands for any.
    """
    state = near_ground(mixed(), 40)
    one = step(mixed(), form, **state)
    points, rng = mixed().sizes["npoints"], np.random.default_rng(1)
    slants = np.dstack([rng.standard_normal((40, points, 3)), np.ones((40, points))])
    slants[::4, :, :3] = state["ground"].reshape(40, points, 4)[::4, :, :3]
    slants[1::4, :, :3] = 0
    other = step(mixed("anisotropic"), form, **(state | {"anisotropy": slants.reshape(40, -1)}))
    solved = (one.residual < 1e-12)[:, 0] & (other.residual < 1e-12)[:, 0]
    assert solved.sum() > 30
    np.testing.assert_allclose(one.v[solved], other.v[solved], rtol=0, atol=1e-9)


@pytest.mark.parametrize("ratio", [0.0, 0.4])
def test_forms_agree(ratio: float) -> None:
    model = mixed("anisotropic")
    state = near_ground(model, 40, seed=2)
    slants = np.random.default_rng(2).standard_normal((40, model.sizes["npoints"], 4))
    slants[:, :, 3] = ratio
    state["anisotropy"] = slants.reshape(40, -1)
    found = [step(model, form, **state) for form in ("composite", "articulated")]
    solved = (found[0].residual < 1e-12)[:, 0]
    assert solved.sum() > 30
    np.testing.assert_allclose(found[0].v[solved], found[1].v[solved], rtol=0, atol=1e-9)


def test_a_skate_slides_along_its_blade() -> None:
    """With no friction along a direction and much across, the other way round by the ratio, a block keeps its
    speed along and loses that across.
    """
    v = np.tile([1.0, 0.7, 0, 0, 0, 0], (1, 1))
    blade = (0, 1, 0, 0.0)  # friction is along y, and there is none along x
    found = simulate(mass(), 50, dt=3e-3, q=placed(mass(), (0, 0, 0)), v=v, anisotropy=blade, friction=[2.0])[
        -1
    ]
    np.testing.assert_allclose(found.v[0, :3], [1, 0, 0], rtol=0, atol=1e-5)


def test_the_path_of_a_mass_on_a_grained_plane() -> None:
    """It decelerates along both axes as the ellipse says, integrated with small steps."""
    mu, ratio, slip = 0.5, 0.4, np.array([1.0, 0.8])
    v = np.array([[*slip, 0, 0, 0, 0]])
    found = simulate(
        mass(),
        40,
        q=placed(mass(), (0, 0, 0)),
        v=v,
        friction=[mu],
        anisotropy=(1, 0, 0, ratio),
        law=RIGID,
        dt=2.5e-3,
    )
    coefficients = np.array([mu, mu * ratio])
    for _ in range(100 * 20):  # the friction that opposes a slip u most is -C^2 u / |C u|
        scaled = coefficients * slip
        slip = slip - DT / 20 * G * coefficients * scaled / np.linalg.norm(scaled)
    np.testing.assert_allclose(found[-1].v[0, :2], slip, rtol=0, atol=1e-3)
    assert abs(found[-1].v[0, 1]) > 0.2


def test_energy() -> None:
    """Impulses add none above the ground, whatever the ratios are."""
    model = mixed("anisotropic")
    state = near_ground(model, 60, seed=5, lowest=0)
    slants = np.abs(np.random.default_rng(5).standard_normal((60, model.sizes["npoints"], 4)))
    found = step(model, **(state | {"anisotropy": slants.reshape(60, -1)}))
    (M,), (a,) = (
        outputs(model, "crba", q=state["q"]),
        outputs(model, "aba", **{x: state[x] for x in ("q", "v", "tau")}),
    )
    free = state["v"] + state["dt"] * a
    before, after = (0.5 * np.einsum("si,sij,sj->s", x, M, x) for x in (free, found.v))
    assert (after <= before * (1 + 1e-9) + 1e-9).all()
    assert (after < 0.99 * before).sum() > 8


def test_axes_of_a_plane() -> None:
    """t1 is the projection of the direction, and a direction along the normal leaves the usual axes."""
    rng = np.random.default_rng(0)
    for n, e in rng.standard_normal((20, 2, 3)):
        found = Plane.of(plane(n), (*e, 0.5))
        t1, t2, normal = (np.array([*axis], float) for axis in found.orthonormal)
        axes = np.array([t1, t2, normal])
        np.testing.assert_allclose(axes @ axes.T, np.eye(3), atol=1e-12)
        assert t1 @ e > 0
        assert abs(t2 @ e) < 1e-12
        assert np.linalg.det(axes) > 0
        np.testing.assert_allclose([*found.axes[1]], 0.5 * t2)
    for e in ((0, 0, 0), LEVEL[:3], (0, 0, -2.0)):
        axes = np.array([[*axis] for axis in Plane.of(LEVEL, (*e, 1)).orthonormal])
        np.testing.assert_allclose(axes, np.eye(3), atol=1e-15)


def test_the_law_holds_for_a_circle() -> None:
    """The check of the tests of isotropic friction, which does not know the solver, with a direction."""
    model = on_points({"a": (0.1, 0, 0), "b": (-0.1, 0.05, 0)}, contact_with=["anisotropic"]).model
    state = near_ground(model, 30, seed=4)
    del state["law"]
    state["ground"].reshape(30, 2, 4)[:, :, :3] = LEVEL[:3]
    found = step(model, **(state | {"anisotropy": (0.3, -0.5, 0.2, 1.0) * 2}))
    solved = found.residual[:, 0] < 1e-12
    errors = checked(model, found, **state)
    assert solved.sum() > 20
    for error in (errors.complementarity, errors.cone, errors.slip):
        assert error[solved].max() < 1e-9
