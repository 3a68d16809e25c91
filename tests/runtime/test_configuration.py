"""Operations on q agree with Pinocchio for zero, tiny and large motions; errors have one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.pinocchio_oracle import model_of_numbers
from support.rationals import Rationals
from support.robots import robot
from support.toys import facts, toys

from rbdgen.checks.pinocchio import configuration_of
from rbdgen.emit.package import EmitOptions
from rbdgen.emit.render import render
from rbdgen.errors import ArrayTypeError, ArrayValueError
from rbdgen.model.joints import Floating, Planar, Prismatic, Revolute
from rbdgen.model.model import WORLD, Model
from rbdgen.runtime import Library, open_library
from rbdgen.runtime.configuration import Manifold
from rbdgen.runtime.space import JointCoordinates
from rbdgen.signature import SizedArgument
from rbdgen.toolchain.cache import Cache
from rbdgen.toolchain.compiler import find_compiler
from rbdgen.toolchain.module import Toolchain, build

MANIFOLD = Manifold(
    (
        JointCoordinates("base", Floating().space, 0, 0),
        JointCoordinates("turn", Revolute().space, 7, 6),
        JointCoordinates("free", Floating().space, 8, 7),
        JointCoordinates("slide", Prismatic().space, 15, 13),
    )
)
"""A robot with two floating joints, as the code may not assume that only the first joint is one."""

TOLERANCE = 1e-12

seeds = st.integers(0, 2**32 - 1)


def reference() -> Any:
    model = pin.Model()
    joints = (
        pin.JointModelFreeFlyer(),
        pin.JointModelRX(),
        pin.JointModelFreeFlyer(),
        pin.JointModelPX(),
    )
    parent = 0
    for row, joint in zip(MANIFOLD.joints, joints, strict=True):
        parent = model.addJoint(parent, joint, pin.SE3.Identity(), row.name)
    return model


MODEL = reference()


def motion(generator: np.random.Generator, turn: float) -> Any:
    """Draws a velocity that rotates both floating joints by this angle."""
    v = generator.standard_normal(MANIFOLD.nv)
    for first in (3, 10):
        v[first : first + 3] *= turn / np.linalg.norm(v[first : first + 3])
    return v


turns = st.one_of(
    st.floats(0, 1e-6),
    st.floats(0.49, 0.51),
    st.floats(0, 3.1),
    st.floats(np.pi - 1e-6, np.pi - 1e-9),
    st.sampled_from([0.0, 5e-324, 1e-300, 1e-160, 1e-9, 1e-4, 0.5]),
)


@settings(deadline=None)
@given(seed=seeds, turn=turns)
def test_integrate_and_difference_are_pinocchios(seed: int, turn: float) -> None:
    generator = np.random.default_rng(seed)
    q, v = MANIFOLD.random(generator), motion(generator, turn)
    end = MANIFOLD.integrate(q, v)
    np.testing.assert_allclose(end, pin.integrate(MODEL, q, v), rtol=0, atol=TOLERANCE)
    np.testing.assert_allclose(MANIFOLD.difference(q, end), v, rtol=0, atol=TOLERANCE)
    if turn < 3.1:  # Pinocchio's own logarithm loses digits near half a turn
        theirs = pin.difference(MODEL, q, end)
        np.testing.assert_allclose(MANIFOLD.difference(q, end), theirs, rtol=0, atol=TOLERANCE)


@settings(deadline=None)
@given(seed=seeds, turn=st.floats(np.pi, 40))
def test_more_than_half_a_turn_comes_to_the_same_place(seed: int, turn: float) -> None:
    generator = np.random.default_rng(seed)
    q, v = MANIFOLD.random(generator), motion(generator, turn)
    end = MANIFOLD.integrate(q, v)
    assert_same_configuration(end, pin.integrate(MODEL, q, v))
    back = MANIFOLD.difference(q, end)
    assert all(np.linalg.norm(back[first : first + 3]) <= np.pi + TOLERANCE for first in (3, 10))
    assert_same_configuration(MANIFOLD.integrate(q, back), end)


def assert_same_configuration(ours: Any, theirs: Any) -> None:
    """Compares configurations; a quaternion and its negative are the same attitude."""
    for first in (3, 11):
        part = slice(first, first + 4)
        sign = np.sign(np.sum(ours[part] * theirs[part]))
        np.testing.assert_allclose(sign * ours[part], theirs[part], rtol=0, atol=TOLERANCE)
    others = [0, 1, 2, 7, 8, 9, 10, 15]
    np.testing.assert_allclose(ours[others], theirs[others], rtol=0, atol=TOLERANCE)


@settings(deadline=None)
@given(first=seeds, second=seeds)
def test_difference_leads_there(first: int, second: int) -> None:
    q0, q1 = (MANIFOLD.random(np.random.default_rng(seed)) for seed in (first, second))
    assert_same_configuration(MANIFOLD.integrate(q0, MANIFOLD.difference(q0, q1)), q1)
    np.testing.assert_array_equal(MANIFOLD.difference(q0, q0)[[0, 1, 2, 6, 7, 8, 9, 13]], 0)


EVERY_KIND = Model(
    "every kind of joint",
    Rationals(1).model((WORLD, 0, 1, 2, 3, 4), "HLSFPR").bodies,
)
"""A chain of a helical, planar, spherical, floating, prismatic and revolute joint."""


@settings(deadline=None)
@given(first=seeds, second=seeds, scale=st.sampled_from([1e-9, 1e-3, 1.0]))
def test_every_kind_of_joint_moves_as_pinocchios(first: int, second: int, scale: float) -> None:
    manifold, theirs = EVERY_KIND.manifold, model_of_numbers(EVERY_KIND)
    q, v = manifold.random(np.random.default_rng(first)), np.random.default_rng(second).uniform(-1, 1, 15)
    end = manifold.integrate(q, v * scale)

    def converted(q: Any) -> Any:
        return configuration_of(theirs, manifold.joints, q)

    expected = pin.integrate(theirs, converted(q), v * scale)
    assert pin.isSameConfiguration(theirs, converted(end), expected, 1e-12)
    np.testing.assert_allclose(manifold.difference(q, end), v * scale, rtol=0, atol=TOLERANCE)
    other = manifold.random(np.random.default_rng(second))
    there = manifold.integrate(q, manifold.difference(q, other))
    assert pin.isSameConfiguration(theirs, converted(there), converted(other), 1e-12)


def test_a_planar_joint_turns_the_short_way() -> None:
    manifold = Manifold((JointCoordinates("plane", Planar().space, 0, 0),))
    v = manifold.difference([0, 0, 3], [1, 2, 3 + 2 * np.pi])
    np.testing.assert_allclose(manifold.integrate([0, 0, 3], v), [1, 2, 3], atol=TOLERANCE)
    assert manifold.angles == {2}


def test_tiny_motions_keep_their_digits() -> None:
    """A motion of 1e-200 from an unrotated base keeps all its digits."""
    v = motion(np.random.default_rng(0), 1.0) * 1e-200
    np.testing.assert_allclose(
        MANIFOLD.difference(MANIFOLD.neutral(), MANIFOLD.integrate(MANIFOLD.neutral(), v)), v, rtol=1e-14
    )


def test_a_whole_half_turn() -> None:
    q = MANIFOLD.neutral()
    v = np.zeros(MANIFOLD.nv)
    v[5] = np.pi
    back = MANIFOLD.difference(q, MANIFOLD.integrate(q, v))
    np.testing.assert_allclose(np.abs(back), v, atol=1e-15)


def test_angles_are_not_wrapped() -> None:
    q0, q1 = MANIFOLD.neutral(), MANIFOLD.neutral()
    q1[7] = 10.0
    assert MANIFOLD.difference(q0, q1)[6] == 10.0


def test_neutral_and_sizes_are_pinocchios() -> None:
    assert (MANIFOLD.nq, MANIFOLD.nv) == (MODEL.nq, MODEL.nv)
    np.testing.assert_array_equal(MANIFOLD.neutral(), pin.neutral(MODEL))


def test_leading_axes_broadcast() -> None:
    generator = np.random.default_rng(0)
    q, v = MANIFOLD.random(generator, (3, 1)), generator.standard_normal((4, MANIFOLD.nv))
    end = MANIFOLD.integrate(q, v)
    assert end.shape == (3, 4, MANIFOLD.nq)
    np.testing.assert_array_equal(end[2, 3], MANIFOLD.integrate(q[2, 0], v[3]))
    back = MANIFOLD.difference(q, end)
    assert back.shape == (3, 4, MANIFOLD.nv)
    np.testing.assert_array_equal(back[1, 2], MANIFOLD.difference(q[1, 0], end[1, 2]))
    assert MANIFOLD.integrate(q[:0], v[0]).shape == (0, 1, MANIFOLD.nq)


def test_random_configurations() -> None:
    q = MANIFOLD.random(np.random.default_rng(1), (2000,))
    assert -np.pi <= q[:, 7].min() < -3.1
    assert 3.1 < q[:, 7].max() < np.pi
    assert np.abs(q[:, [0, 1, 2, 8, 9, 10, 15]]).max() <= 1
    for first in (3, 11):
        np.testing.assert_allclose(np.linalg.norm(q[:, first : first + 4], axis=1), 1, rtol=1e-15)
        assert np.abs(q[:, first : first + 4].mean(axis=0)).max() < 0.05


def test_random_inputs_know_kinds_not_names() -> None:
    shape = (MANIFOLD.nq,)
    inputs = [
        SizedArgument("where", shape, "", "", "configuration"),
        SizedArgument("s", shape, "1", "", "sines"),
        SizedArgument("c", shape, "1", "", "cosines"),
        SizedArgument("q", (MANIFOLD.nv,), "", "", "velocity"),
        SizedArgument("load", (3, 6), "", "", "external_forces"),
        SizedArgument("time", (), "s", "", "scalar"),
    ]
    drawn = MANIFOLD.random_inputs(inputs, np.random.default_rng(0), (5,))
    assert [x.shape for x in drawn.values()] == [(5, *x.shape) for x in inputs]
    np.testing.assert_allclose(np.linalg.norm(drawn["where"][:, 11:15], axis=1), 1, rtol=1e-15)
    np.testing.assert_array_equal(drawn["s"][:, 7], np.sin(drawn["where"][:, 7]))
    np.testing.assert_array_equal(drawn["c"][:, [0, 7]], np.cos(drawn["where"][:, [0, 7]]) * [0, 1] + [1, 0])


@pytest.mark.parametrize("name", ["quadruped12", "planar3r"])
@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_models_list_their_joints(name: str, base: Any) -> None:
    model = robot(name, base).model
    theirs = model_of_numbers(model)
    generator = np.random.default_rng(0)
    q, v = model.manifold.random(generator), generator.standard_normal(model.nv)
    end = model.manifold.integrate(q, v)
    np.testing.assert_allclose(end, pin.integrate(theirs, q, v), rtol=0, atol=TOLERANCE)
    assert model.manifold.angles == {b.joint.idx_q for b in model.bodies if b.joint.nq == 1}


@pytest.fixture(scope="module", params=["double", "float"])
def library(request: pytest.FixtureRequest, build_cache: Cache) -> Library:
    """A double pendulum in double or float."""
    toolchain = Toolchain(find_compiler(), ("-O1", "-ffp-contract=off"), 2)
    sources = render(facts(), toys(), EmitOptions(real=request.param))
    folder: Path = build(sources, toolchain, build_cache)
    return open_library(folder)


def test_a_library_moves_in_its_own_precision(library: Library) -> None:
    dtype = library.torque.dtype
    q = library.random(3, (4,))
    assert (q.shape, q.dtype) == ((4, 2), dtype)
    np.testing.assert_array_equal(q, library.random(np.random.default_rng(3), [4]))
    end = library.integrate(q, [0.5, -1])
    assert end.dtype == dtype
    np.testing.assert_allclose(library.difference(q, end), np.tile([0.5, -1], (4, 1)), rtol=1e-6)
    assert library.neutral().tolist() == [0, 0]


def test_a_library_refuses_in_one_line(library: Library) -> None:
    q = library.neutral()
    with pytest.raises(ArrayValueError, match=r"integrate: v has shape \(3,\), expected \(\.\.\., 2\)"):
        library.integrate(q, np.zeros(3))
    with pytest.raises(ArrayValueError, match="difference: leading axes do not broadcast: q0"):
        library.difference(np.zeros((3, 2)), np.zeros((4, 2)))
    with pytest.raises(ArrayTypeError, match="difference: q1 has dtype complex128"):
        library.difference(q, [1j, 0])
    for wrong in (("a",), (1, (-1,)), (1.5,), (1, 3)):
        with pytest.raises(ArrayTypeError, match=r"random: .*; pass a numpy.random.Generator or a seed"):
            library.random(*wrong)  # type: ignore[arg-type]
    with pytest.raises(ArrayValueError, match="integrate: a quaternion has length zero"):
        MANIFOLD.integrate(0 * MANIFOLD.neutral(), np.zeros(MANIFOLD.nv))
