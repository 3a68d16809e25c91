"""Every mode of a contact alone, where a step has a closed form: it opens, sticks, slides, bounces, rolls."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from support.friction import (
    LEVEL,
    Array,
    ball,
    block,
    law,
    on_points,
    outputs,
    placed,
    plane,
    simulate,
    step,
)

import rbdgen
from rbdgen import Point
from rbdgen.functions.friction.ground import Plane
from rbdgen.model.model import Model

G = 9.81
MASS = 2.0
RIGID = law(softness=0)

DIRECTIONS = [
    *np.vstack([np.eye(3), -np.eye(3)]),
    *np.random.default_rng(0).standard_normal((40, 3)),
    (1e-9, 0, -1),  # next to the direction at which the axes of the tangent plane turn over
    (1, 0, -1e-300),
]


def of_point_mass(free: Array, n: Array, mu: Array) -> Array:
    """The velocity of a point mass after the step, if it would have `free` without the plane, which it
    touches.
    """
    normal = np.minimum(np.sum(free * n, -1, keepdims=True), 0)
    kept = free - normal * n
    along = kept - np.sum(kept * n, -1, keepdims=True) * n
    slip = np.linalg.norm(along, axis=-1, keepdims=True)
    return kept - along * np.minimum(1, mu * -normal / np.maximum(slip, 1e-300))


@pytest.mark.parametrize("form", ["composite", "articulated"])
def test_a_point_mass_on_planes_of_all_directions(form: str) -> None:
    """It opens, sticks or slides by the law of Coulomb, on floors, walls, slopes and ceilings."""
    rng, count = np.random.default_rng(1), 20
    normals = np.repeat([plane(n)[:3] for n in DIRECTIONS], count, 0)
    v = rng.standard_normal((len(normals), 3))
    mu, position = rng.uniform(0, 2, (len(v), 1)), rng.standard_normal(v.shape)
    ground = np.hstack([normals, np.sum(normals * position, 1, keepdims=True)])
    inputs = {"v": np.hstack([v, 0 * v]), "ground": ground, "friction": mu, "law": RIGID}
    found = step(ball(), form, q=placed(ball(), position), **inputs)
    free = v - [0, 0, 1e-3 * G]
    expected = of_point_mass(free, normals, mu)
    np.testing.assert_allclose(found.v[:, :3], expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.impulse, MASS * (expected - free), rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.q[:, :3], position + 1e-3 * expected, rtol=0, atol=1e-15)
    assert found.residual.max() < 1e-13
    moving = np.linalg.norm(expected, axis=1) > 1e-9
    leaves = np.abs(expected - free).max(1) < 1e-13
    modes = leaves, ~leaves & ~moving, ~leaves & moving
    assert [bool(mode.sum() > 50) for mode in modes] == [True, True, True]


def test_axes_of_a_plane() -> None:
    """The axes are orthonormal, right-handed, and those of the world for a level plane."""
    for n in DIRECTIONS:
        axes = np.array([[*axis] for axis in Plane.of(plane(n)).axes], float)
        np.testing.assert_allclose(axes @ axes.T, np.eye(3), rtol=0, atol=1e-14)
        assert np.linalg.det(axes) > 0
    assert [[*axis] for axis in Plane.of(LEVEL).axes] == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]


def test_a_contact_above_the_ground_lands_on_it() -> None:
    """It goes down to the ground within the step and no further, or is free if it does not reach it."""
    height = np.array([1e-4, 9e-4, 2e-3, 1.0])[:, None] * [0, 0, 1]
    v = np.tile([0, 0, -1, 0, 0, 0], (4, 1))
    found = step(ball(), q=placed(ball(), height), v=v, law=RIGID)
    free = -1 - 1e-3 * G
    np.testing.assert_allclose(found.v[:, 2], [-0.1, -0.9, free, free], rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.q[:2, 2], 0, atol=1e-15)
    assert (found.impulse[2:] == 0).all()


def test_a_penetration_is_taken_back_in_parts_and_not_too_fast() -> None:
    for depth, pull, push, speed in (
        (1e-3, 0.2, 1, 0.2),
        (1e-3, 1, 2, 1),
        (0.1, 0.2, 1, 1),
        (0.1, 0.2, 3, 3),
    ):
        given = law(softness=0, pull=pull, push=push)
        found = step(ball(), q=placed(ball(), (0, 0, -depth)), law=given)
        np.testing.assert_allclose(found.v[0, 2], speed, rtol=1e-12)


def test_bounces() -> None:
    """A fast contact leaves with the restitution times its speed before the step; a slow one does not
    bounce, and so does one that does not touch the ground within the step.
    """
    e = 0.6
    speed = np.array([0.02, 0.04, 0.06, 1, 3, 3])
    height = np.array([1e-5, 1e-5, 1e-5, 5e-4, 2e-3, 4e-3])
    v = np.outer(-speed, [0, 0, 1, 0, 0, 0])
    found = step(
        ball(), q=placed(ball(), np.outer(height, [0, 0, 1])), v=v, law=law(softness=0, restitution=e)
    )
    lands = -height[:2] / 1e-3
    np.testing.assert_allclose(
        found.v[:, 2], [*lands, *(e * speed[2:5]), -3 - 1e-3 * G], rtol=1e-12, atol=1e-12
    )


def test_heights_of_bounces() -> None:
    """A ball that falls from a height h rises to e^2 h."""
    height, e = 0.02, np.array([0.0, 0.5, 0.8, 1.0])
    laws = np.array([law(restitution=x, slow=0.0) for x in e])
    q, v = np.tile(placed(ball(), (0, 0, height)), (4, 1)), np.zeros((4, 6))
    found = simulate(ball(), 125, q=q, v=v, law=laws, dt=1e-3)
    heights = np.array([x.q[:, 2] for x in found])
    after = heights[70:].max(0)  # it reaches the ground after 64 steps
    np.testing.assert_allclose(after, e**2 * height, rtol=0, atol=5e-4)
    assert heights.min() > -1e-6


def test_a_block_sticks_slides_and_leaves() -> None:
    """A block that does not tip moves as a point mass; its four corners share the impulse."""
    v = np.zeros((3, 6))
    v[:, :3] = (0.1, 0.05, -0.5), (0.8, -0.6, -0.5), (0.5, 0.5, 0.5)
    found = step(block((5, 8, 2)), q=placed(block(), (0, 0, 0.05)), v=v, friction=np.full((3, 4), 0.4))
    free = v[:, :3] - [0, 0, 1e-3 * G]
    expected = of_point_mass(free, np.array([0, 0, 1.0]), np.array([[0.4]]))
    assert np.linalg.norm(expected[1]) > 0.5  # it slides
    np.testing.assert_allclose(found.v[:, :3], expected, rtol=0, atol=1e-4)  # the contacts are soft by 1e-4
    np.testing.assert_allclose(found.v[:, 3:], 0, rtol=0, atol=1e-3)
    total = found.impulse.reshape(3, 4, 3).sum(1)
    np.testing.assert_allclose(total, MASS * (expected - free), rtol=0, atol=2e-4)
    assert (total[2] == 0).all()
    assert found.residual.max() < 1e-9


def test_slopes_on_each_side_of_the_angle_of_friction() -> None:
    """Below the angle of friction a block creeps at micrometres per second, above it it slides as Coulomb
    says.
    """
    mu, steps, dt = 0.6, 20, 2e-3
    angles = np.arctan(mu) + np.array([-1e-1, -1e-2, -1e-3, 1e-3, 1e-2, 1e-1])
    normals = np.stack([-np.sin(angles), 0 * angles, np.cos(angles)], 1)
    q = np.zeros((len(angles), 7))
    q[:, :3], q[:, 4], q[:, 6] = 0.05 * normals, -np.sin(angles / 2), np.cos(angles / 2)
    ground = np.tile(np.hstack([normals, 0 * angles[:, None]]), 4)
    friction = np.full((len(angles), 4), mu)
    model = block((5, 8, 2))
    last = simulate(model, steps, q=q, v=np.zeros((len(angles), 6)), ground=ground, friction=friction, dt=dt)[
        -1
    ]
    speed = np.linalg.norm(last.v[:, :3], axis=1)
    expected = G * (np.sin(angles) - mu * np.cos(angles)) * steps * dt
    assert (speed[:3] < 1e-5).all()
    np.testing.assert_allclose(speed[3:], expected[3:], rtol=0.01, atol=1e-5)


def test_a_block_at_rest_exerts_its_weight() -> None:
    model = block((5, 8, 2))
    found = simulate(model, 3, q=placed(model, (0, 0, 0.05)), v=np.zeros((1, 6)), dt=2e-3)[-1]
    np.testing.assert_allclose(found.impulse.reshape(4, 3).sum(0) / 2e-3, [0, 0, MASS * G], atol=1e-3)
    assert np.abs(found.v).max() < 1e-5


# ---- spheres


def test_a_sphere_lands_on_its_surface() -> None:
    """The center of the sphere comes to rest above the plane at a distance of the radius, on slopes too."""
    model, n = ball(0.1), plane((0.3, -0.2, 1))
    q = placed(model, n[:3] * 0.1004)
    found = step(model, q=q, v=[*(-n[:3]), 0, 0, 0], ground=n, friction=[0.0], law=RIGID)
    np.testing.assert_allclose(found.q[0, :3] @ n[:3], 0.1, rtol=0, atol=1e-15)


@cache
def wheel() -> Model:
    """A solid sphere that moves in the plane x, z by three joints, so that v is in world axes."""
    built = rbdgen.RobotBuilder("wheel").add_body("ground")
    built.add_body("cart", parent="ground", type="prismatic", axis=(1, 0, 0))
    built.add_body("lift", parent="cart", type="prismatic", axis=(0, 0, 1))
    own = 0.4 * MASS * 0.1**2
    built.add_body("ball", parent="lift", type="revolute", axis=(0, 1, 0), mass=MASS, inertia=(own, own, own))
    return rbdgen.load_robot(built, contacts=[Point("rim", "ball", radius=0.1)]).model


@pytest.mark.parametrize("form", ["composite", "articulated"])
def test_a_sphere_slides_and_then_rolls(form: str) -> None:
    """Friction slows it down by mu g until it rolls, with 5/7 of its speed at the beginning."""
    mu, speed, steps = 0.3, 1.0, 120
    q, v = np.array([[0, 0.1, 0]]), np.array([[speed, 0, 0]])
    speeds = []
    for _ in range(steps):
        found = step(wheel(), form, q=q, v=v, friction=[mu], law=RIGID)
        q, v = found.q, found.v
        speeds.append(v[0, 0])
    sliding = np.arange(1, 90) * 1e-3
    np.testing.assert_allclose(speeds[:89], speed - mu * G * sliding, rtol=1e-12)  # for 97 ms
    np.testing.assert_allclose(v[0], [5 / 7 * speed, 0, 5 / 7 * speed / 0.1], rtol=1e-12, atol=1e-12)


def test_without_friction_a_sphere_does_not_turn() -> None:
    found = step(wheel(), q=[0, 0.1, 0], v=[1, -1, 3], friction=[0.0], law=RIGID)
    np.testing.assert_allclose(found.v[0], [1, 0, 3], rtol=0, atol=1e-15)
    assert found.impulse[0, 0] == 0


def test_smoothing_is_a_central_path() -> None:
    """With a smoothing sigma, the normal impulse times the velocity of separation is sigma."""
    sigma = np.array([1e-6, 1e-4, 1e-2])
    q = np.tile(placed(ball(), (0, 0, 1e-3)), (3, 1))
    v = np.tile([0.3, 0, -0.5, 0, 0, 0], (3, 1))
    laws = np.array([law(softness=0, smoothing=x) for x in sigma])
    found = step(ball(), q=q, v=v, law=laws)
    separation = found.v[:, 2] + 1e-3 / 1e-3
    np.testing.assert_allclose(found.impulse[:, 2] * separation, sigma, rtol=1e-9)
    assert (found.impulse[:, 2] > 0).all()


def test_the_point_of_a_contact_matters() -> None:
    """A body that is hit below its center of mass turns: v and w after a step without friction."""
    model = on_points({"edge": (0.1, 0, -0.05)}).model
    found = step(model, q=placed(model, (0, 0, 0.05)), v=[0, 0, -1, 0, 0, 0], friction=[0.0], law=RIGID)
    J = outputs(model, "contact_jacobian", q=model.manifold.neutral())[0][0]
    M = outputs(model, "crba", q=model.manifold.neutral())[0][0]
    impulse = (1 + 1e-3 * G) / (J[2] @ np.linalg.solve(M, J[2]))
    free = np.array([0, 0, -1 - 1e-3 * G, 0, 0, 0])
    np.testing.assert_allclose(found.v[0], free + np.linalg.solve(M, J[2]) * impulse, rtol=0, atol=1e-12)
    assert found.v[0, 4] != 0
