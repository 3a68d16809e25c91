"""The recorded formulas of joint types give the same numbers as the joint types themselves."""

from __future__ import annotations

import json

import numpy as np
import pytest

from rbdgen.emit.spaces import manifold_rows
from rbdgen.model.joints import JOINT_TYPES, Helical, JointType
from rbdgen.runtime.configuration import Manifold
from rbdgen.runtime.space import JointCoordinates
from rbdgen.runtime.straight_line import StraightLine

TYPES = [*JOINT_TYPES.values(), Helical(0.1)]


def test_a_straight_line_and_its_text() -> None:
    text = "mul 0 1, 0.5, add 2 3 -> 4 0"
    line = StraightLine.of(text)
    assert line.text == text
    assert line([2.0], [3.0]) == [6.5, 2.0]
    x, y = np.arange(3.0), np.ones((2, 1))
    np.testing.assert_array_equal(line([x], [y])[0], x * y + 0.5)
    assert StraightLine.of("-> 1").text == "-> 1"


@pytest.mark.parametrize("type", TYPES, ids=lambda type: type.name)
def test_recorded_formulas_are_those_of_the_joint_type(type: JointType) -> None:
    own = Manifold((JointCoordinates("first", type.space, 0, 0),))
    read = Manifold.of(json.loads(json.dumps(manifold_rows(own))))
    assert read == own
    generator = np.random.default_rng(0)
    q, v = own.random(generator, (100,)), generator.standard_normal((100, own.nv))
    end = own.integrate(q, v)
    np.testing.assert_allclose(read.integrate(q, v), end, rtol=0, atol=1e-15)
    np.testing.assert_allclose(read.difference(q, end), own.difference(q, end), rtol=0, atol=1e-14)
    rates = list((end - q).T)
    pairs = zip(*(x.joints[0].space.velocities(list(q.T), rates) for x in (own, read)), strict=True)
    for ours, theirs in pairs:
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-14)


@pytest.mark.parametrize("type", TYPES, ids=lambda type: type.name)
def test_a_flat_space_is_one_whose_velocities_are_rates(type: JointType) -> None:
    space, generator = type.space, np.random.default_rng(0)
    q, rates = (
        Manifold((JointCoordinates("first", space, 0, 0),)).random(generator),
        generator.random(space.nq),
    )
    assert space.flat == (list(space.velocities(list(q), list(rates))) == list(rates))
