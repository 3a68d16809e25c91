"""Gradients by both forms on trees with joints of all types, and where joints follow others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from support.random_trees import on_a_base, random_tree

from rbdgen.functions.distances import gradient, nearest
from rbdgen.functions.function import folded
from rbdgen.functions.table import lookup
from rbdgen.model.distances import Capsule, DistanceSet, Obstacles
from rbdgen.model.model import WORLD, Model
from rbdgen.model.reduce import ReducedModel, reduce
from rbdgen.spatial.ops import Vector
from rbdgen.sweeps.inputs import State, coordinates

Array = NDArray[np.float64]

SPHERE = [0.7, -0.4, 0.9, 0.1]


def with_capsules(model: Model, seed: int) -> Model:
    """The model with a capsule on every body, all pairs of bodies, and a sphere in the world."""
    rng = np.random.default_rng(seed)
    capsules = []
    for k in range(model.nbodies):
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        center, half = rng.uniform(-1, 1, 3), rng.uniform(0, 0.5)
        capsules.append(
            Capsule(f"c{k}", "", k, Vector(*map(float, center)), Vector(*map(float, axis)), half, 0.05)
        )
    own = tuple((i, j) for i in range(model.nbodies) for j in range(i + 1, model.nbodies))
    return replace(model, distances=DistanceSet(tuple(capsules), own, (), Obstacles(spheres=1)))


def state(model: Model, q: Array) -> State:
    sphere = {"spheres": SPHERE}
    return State(q=coordinates(model, list(map(float, q)), np.cos, np.sin), arrays=sphere)


def values(robot: Model | ReducedModel, q: Array) -> Array:
    model = robot if isinstance(robot, Model) else robot.model
    return np.array(nearest.distances(robot, state(model, q))[0], float)


def jacobian(robot: Model | ReducedModel, q: Array) -> Array:
    model = robot if isinstance(robot, Model) else robot.model
    (argument,) = lookup("distance_jacobian").signature.outputs
    (full,) = gradient.jacobian(robot, state(model, q))
    return np.reshape(np.array(folded(model, argument, full), float), (-1, model.sizes["nv"]))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("floats", [False, True])
def test_gradients_are_those_of_differences(seed: int, floats: bool) -> None:
    model = random_tree(seed, 5)
    model = with_capsules(on_a_base(model) if floats else model, seed)
    manifold, rng = model.manifold, np.random.default_rng(seed)
    q = manifold.random(rng, ())
    step, nv = 1e-6, model.sizes["nv"]
    for robot in (model, reduce(model)):
        J = jacobian(robot, q)
        ahead, behind = (
            np.stack([values(robot, manifold.integrate(q, sign * step * e)) for e in np.eye(nv)], axis=1)
            for sign in (1, -1)
        )
        scale = 1 + np.abs(J).max()
        np.testing.assert_allclose(J, (ahead - behind) / (2 * step), rtol=0, atol=1e-6 * scale)
    np.testing.assert_allclose(values(model, q), values(reduce(model), q), rtol=0, atol=1e-10 * scale)


def test_bodies_of_the_world_are_left_out_with_obstacles() -> None:
    model = with_capsules(random_tree(1, 3), 1)
    still = replace(model.distances.capsules[0], body=WORLD)
    own = replace(model.distances, capsules=(still, *model.distances.capsules[1:]))
    assert len(own.pairs) == len(model.distances.pairs) - 1
