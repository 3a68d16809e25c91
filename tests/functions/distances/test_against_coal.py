"""Distances and gradients against coal, on the same capsules, through Pinocchio."""

from __future__ import annotations

from functools import cache
from typing import Any

import coal
import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray
from support.distances import RADIUS, arm
from support.pinocchio_oracle import model_of_numbers

from rbdgen.description.capsules import Segments
from rbdgen.functions.distances import gradient, nearest
from rbdgen.functions.distances.placed import Placed
from rbdgen.model.model import Model
from rbdgen.spatial.ops import Vector
from rbdgen.sweeps.inputs import State, coordinates

Array = NDArray[np.float64]


@cache
def model(form: Segments) -> Model:
    return arm(form, snap=0.0).model


def state(model: Model, q: Array) -> State:
    return State(q=coordinates(model, list(map(float, q)), np.cos, np.sin))


def by_coal(model: Model, reference: Any, q: Array) -> tuple[Array, Array]:
    """The distances of all pairs, and their gradients from the witness points."""
    data = reference.createData()
    pin.computeJointJacobians(reference, data, q)
    own = model.distances
    placed = []
    for one in own.capsules:
        at = data.oMi[one.body + 1]
        center, axis = (np.array([float(x) for x in v]) for v in (one.center, one.axis))
        R = pin.Quaternion.FromTwoVectors(np.array([0.0, 0, 1]), at.rotation @ axis).toRotationMatrix()
        placed.append(coal.Transform3s(R, at.act(center)))
    distances, gradients = [], []
    for i, j in own.own:
        one, other = (coal.Capsule(RADIUS, 2 * own.capsules[k].half_length) for k in (i, j))
        request, result = coal.DistanceRequest(), coal.DistanceResult()
        request.enable_signed_distance = True
        d = coal.distance(one, placed[i], other, placed[j], request, result)
        first, second = result.getNearestPoint1(), result.getNearestPoint2()
        n = (first - second) / d
        rows = []
        for capsule, point in ((own.capsules[i], first), (own.capsules[j], second)):
            frame = pin.SE3(np.eye(3), point)
            J = pin.getJointJacobian(reference, data, capsule.body + 1, pin.WORLD)
            rows.append(n @ frame.inverse().toActionMatrix()[:3] @ J)
        distances.append(d)
        gradients.append(rows[0] - rows[1])
    return np.array(distances), np.array(gradients)


def sines(model: Model, x: State) -> Array:
    """The sine of the angle between the axes of every pair."""
    placed = Placed.at(model, x)
    found = []
    for i, j in model.distances.own:
        across: Vector = placed.capsules[i].axis.cross(placed.capsules[j].axis)
        found.append(float(np.sqrt(across.dot(across))))
    return np.array(found)


@pytest.mark.parametrize("form", ["plain", "exact"])
def test_the_arm(form: Segments) -> None:
    own = model(form)
    reference = model_of_numbers(own)
    rng = np.random.default_rng(0)
    compared = 0
    for _ in range(40):
        q = rng.uniform(-2, 2, own.nq)
        d, J = by_coal(own, reference, q)
        x = state(own, q)
        ((*ours,),) = nearest.distances(own, x)
        rows = np.reshape(np.array(gradient.jacobian(own, x)[0], float), J.shape)
        skew = sines(own, x) > 1e-3
        np.testing.assert_allclose(np.array(ours, float)[skew], d[skew], rtol=0, atol=1e-12)
        apart = skew & (np.abs(d) > 1e-3)
        np.testing.assert_allclose(rows[apart], J[apart], rtol=0, atol=1e-8)
        compared += int(apart.sum())
    assert compared > 400
