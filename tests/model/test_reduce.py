"""The frames and base parameters of the reduced model are exact in rational arithmetic."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import atan2, cos, sin
from random import Random

import pytest
from support.rationals import Rationals, matrix_of
from support.trees import TREES

from rbdgen.errors import ModelError
from rbdgen.model.angles import ZERO_ANGLE, radians_of
from rbdgen.model.axes import axes_on, factor
from rbdgen.model.inertia import Inertia
from rbdgen.model.joints import Angle, Floating, Revolute, rotation_about
from rbdgen.model.model import WORLD, Model
from rbdgen.model.moments import MassMoments
from rbdgen.model.reduce import ReducedBody, ReducedModel, reduce
from rbdgen.spatial.ops import IDENTITY, NO_TRANSFORM, ZERO, Force, Matrix, Transform, Vector
from rbdgen.spatial.planar import FactoredRotation, PlanarRotation

X, Y, Z = IDENTITY
TREE = TREES["small tree"]


def rational_tree(seed: int, kinds: str = TREE.kinds) -> tuple[Rationals, Model]:
    r = Rationals(seed)
    return r, r.model(TREE.parents, kinds)


def choices(r: Rationals, model: Model) -> tuple[list[Angle], list[Fraction]]:
    """A random turn and slide of every body's axes; they are zero for bodies whose axes cannot be chosen."""
    floating = [isinstance(body.joint.type, Floating) for body in model.bodies]
    turns = [ZERO_ANGLE if fixed else r.angle() for fixed in floating]
    return turns, [Fraction(0) if fixed else r.number() for fixed in floating]


def world_frames(model: Model, q: list) -> list[Transform]:
    """The frame of every body in the world, as in the textbook."""
    frames: list[Transform] = []
    for body, q_i in zip(model.bodies, q, strict=True):
        above = NO_TRANSFORM if body.parent == WORLD else frames[body.parent]
        frames.append(above @ body.transform(q_i))
    return frames


def reduced_frames(placed: list[ReducedBody]) -> list[Transform]:
    frames: list[Transform] = []
    for body in placed:
        above = NO_TRANSFORM if body.parent == WORLD else frames[body.parent]
        frames.append(above @ Transform(matrix_of(body.rotation), body.translation))
    return frames


# ---- frames


def test_a_rotation_is_the_product_of_its_three_angles() -> None:
    random = Random(0)
    for scale in (1.0, 1e-3, 1e-7, 1e-12, 0.0):
        angles = random.uniform(-3, 3), scale * random.uniform(1, 3), random.uniform(-3, 3)
        turn, tilt, other = (
            rotation_about(e, Angle(cos(x), sin(x))) for e, x in zip((Z, X, Z), angles, strict=True)
        )
        R = turn @ tilt @ other
        gamma, alpha, theta0 = factor(R)
        again = rotation_about(Z, gamma) @ rotation_about(X, alpha) @ rotation_about(Z, theta0)
        assert (
            max(abs(a - b) for u, v in zip(R, again, strict=True) for a, b in zip(u, v, strict=True)) < 5e-15
        )


def test_signed_permutations_have_integer_angles() -> None:
    for i in range(3):
        for j in range(3):
            for signs in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
                if i == j:
                    continue
                a, b = IDENTITY[i] * signs[0], IDENTITY[j] * signs[1]
                R = Matrix(a, b, a.cross(b))
                gamma, alpha, theta0 = factor(R)
                assert all(isinstance(x, int) for angle in (gamma, alpha, theta0) for x in angle)
                again = rotation_about(Z, gamma) @ rotation_about(X, alpha) @ rotation_about(Z, theta0)
                assert again == R


def test_frames_lie_on_axes() -> None:
    r = Rationals(7)
    for axis in [r.axis() for _ in range(20)] + [X, -X, Y, -Y, Z, -Z]:
        R = axes_on(axis)
        assert R.T[2] == axis
        assert R @ R.T == IDENTITY
        assert R[0].cross(R[1]) == R[2]
    assert axes_on(Z) == IDENTITY


@pytest.mark.parametrize("kinds", ["RPRRRP", "FRRPRR", "PRPPRR"])
@pytest.mark.parametrize("seed", range(3))
def test_bodies_stand_where_the_model_has_them(kinds: str, seed: int) -> None:
    r, model = rational_tree(seed, kinds)
    q = r.coordinates(model)
    if kinds[0] == "F":  # the equations of a floating robot do not depend on the position of the base
        q[0] = q[0]._replace(position=Vector(), quaternion=(0, 0, 0, 1))
    reduced = reduce(model, *choices(r, model))
    placed = reduced.at(q)
    ours, theirs = reduced_frames(placed), world_frames(model, q)
    for body, frame, reference in zip(reduced.bodies, ours, theirs, strict=True):
        assert frame == reference @ body.frame


@pytest.mark.parametrize("kind", ["R", "P"])
def test_the_axis_is_z(kind: str) -> None:
    r = Rationals(3)
    model = r.model((WORLD, 0), "R" + kind)
    reduced = reduce(model, *choices(r, model))
    body = model.bodies[1]
    axis = reduced.bodies[0].frame.rotation.T.apply(body.placement.rotation.apply(body.joint.axis))
    assert reduced.bodies[1].axis == axis


# ---- base parameters


def test_what_joints_do_not_feel_is_exactly_zero() -> None:
    r, model = rational_tree(1)
    reduced = reduce(model, *choices(r, model))
    for body, moments in zip(reduced.bodies, reduced.moments, strict=True):
        if isinstance(body.joint.type, Revolute):
            assert (moments.mass, moments.first.z, moments.second[2].z) == (0, 0, 0)
        else:
            assert moments.second == Matrix(Vector(), Vector(), Vector())
            assert moments.mass > 0


def test_a_floating_base_keeps_the_mass_of_its_revolute_tree() -> None:
    r = Rationals(2)
    model = r.model((WORLD, 0, 1, 0), "FRRR")
    reduced = reduce(model, *choices(r, model))
    assert reduced.moments[0].mass == sum(body.inertia.mass for body in model.bodies)


@pytest.mark.parametrize("kinds", ["RRP", "PRR", "RPR"])
def test_what_is_moved_to_the_world_stays_where_it_was(kinds: str) -> None:
    """The first moments of bodies, with `still`, add up to the robot's first moment at every q."""
    r = Rationals(8)
    model = r.model((WORLD, 0, 1), kinds)
    q = r.coordinates(model)
    reduced = reduce(model)
    robot = total = ZERO
    for body, (R, p) in zip(model.bodies, world_frames(model, q), strict=True):
        robot = robot + R.apply(body.inertia.first_moment) + p * body.inertia.mass
    for own, (R, p) in zip(reduced.moments, reduced_frames(reduced.at(q)), strict=True):
        total = total + R.apply(own.first) + p * own.mass
    assert total + reduced.still == robot
    assert (total == robot) == (kinds == "PRR")
    assert reduce(model, base_parameters=False).still == ZERO


def test_a_body_on_a_fixed_axis_has_one_second_moment() -> None:
    r = Rationals(5)
    model = r.model((WORLD, 0), "RR")
    reduced = reduce(model)
    own = MassMoments.of(model.bodies[0].inertia.rotated(reduced.bodies[0].axes.T))
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = (tuple(row) for row in reduced.moments[0].second)
    assert (xy, xz, yy, yz, zz) == (0, 0, 0, 0, 0)
    assert xx > own.second[0].x + own.second[1].y


def test_regrouping_can_be_left_out() -> None:
    _, model = rational_tree(3)
    reduced = reduce(model, base_parameters=False)
    for body, framed, moments in zip(model.bodies, reduced.bodies, reduced.moments, strict=True):
        assert moments == MassMoments.of(body.inertia.rotated(framed.axes.T))


def test_second_moments_are_those_of_the_inertia() -> None:
    inertia = Rationals(9).inertia()
    assert (
        Inertia.from_second_moment(inertia.mass, inertia.first_moment, MassMoments.of(inertia).second)
        == inertia
    )
    assert MassMoments.of(inertia).rotational == inertia.rotational


def test_moments_move_as_inertias_do() -> None:
    r = Rationals(8)
    inertia, p, angle = r.inertia(), r.vector(), r.angle()
    rotation = FactoredRotation.of(PlanarRotation(0, *angle))
    moments = MassMoments.of(inertia).rotated(rotation).translated(p)
    assert moments == MassMoments.of(inertia.transformed(Transform(rotation_about(X, angle), p)))
    assert MassMoments.of(inertia) + moments == MassMoments.of(
        inertia + inertia.transformed(Transform(rotation_about(X, angle), p))
    )


def floats(model: Model) -> Model:
    """The model with its rationals as floats."""

    def rounded(v: Vector) -> Vector:
        return Vector(*map(float, v))

    def body(i: int):
        b = model.bodies[i]
        R, p = b.placement
        inertia = Inertia(
            float(b.inertia.mass),
            rounded(b.inertia.first_moment),
            Matrix(*map(rounded, b.inertia.rotational)),
        )
        placement = Transform(Matrix(*map(rounded, R)), rounded(p))
        return replace(
            b, placement=placement, inertia=inertia, joint=replace(b.joint, axis=rounded(b.joint.axis))
        )

    return replace(model, bodies=tuple(map(body, range(model.nbodies))), gravity=rounded(model.gravity))


def test_rounding_is_cleared() -> None:
    """A turn towards h and a slide by Sigma_xz / h_x give exact zeros also in floating point."""
    _, model = rational_tree(6, "RRRRRR")
    start = reduce(floats(model))
    for i, (body, own) in enumerate(zip(start.bodies, start.moments, strict=True)):
        turns = [0.0] * model.nbodies
        slides = [0.0] * model.nbodies
        turns[i] = atan2(own.first.y, own.first.x)
        assert start.with_axes(turns).moments[i].first.y == 0
        if body.parent == WORLD:
            continue
        slides[i] = own.second[0].z / own.first.x
        assert start.with_axes(None, slides).moments[i].second[0].z == 0
        turns[i] = -radians_of(body.theta0)
        assert start.with_axes(turns).bodies[i].theta0 == ZERO_ANGLE


# ---- parallel axes, unit of length


def parallel_chain(seed: int) -> tuple[Rationals, Model]:
    """A chain whose middle three of five revolute joints are parallel, and a prismatic branch."""
    r = Rationals(seed)
    model = r.model((WORLD, 0, 1, 2, 3, 2), "RRRRRP")
    bodies = list(model.bodies)
    for i in (2, 3):
        above, own = (axes_on(bodies[k].joint.axis) for k in (i - 1, i))
        R = above @ rotation_about(Z, r.angle()) @ own.T
        bodies[i] = replace(bodies[i], placement=Transform(R, r.vector()))
    return r, replace(model, bodies=tuple(bodies))


@pytest.mark.parametrize("parallel", [{2}, {3}, {2, 3}])
def test_axes_that_stay_behind(parallel: set[int]) -> None:
    """A parallel body has the axes of its parent; rotated by its lag, they are those of the model."""
    r, model = parallel_chain(1)
    q = r.coordinates(model)
    reduced = reduce(model, *choices(r, model), parallel=parallel)
    placed = reduced.at(q)
    for i, frame in enumerate(reduced_frames(placed)):
        body = placed[i]
        assert (body.lag is not None) == (i in parallel)
        if i in parallel:
            assert body.rotation == FactoredRotation()
        turned = Transform(IDENTITY if body.lag is None else rotation_about(Z, body.lag), Vector())
        assert frame @ turned == world_frames(model, q)[i] @ reduced.bodies[i].frame


def test_a_unit_of_length_scales_what_has_a_length() -> None:
    r = Rationals(2)
    model = r.model((WORLD, 0, 1), "RRR")
    unit = Fraction(2, 7)
    plain, scaled = reduce(model), reduce(model, unit_length=unit)
    assert scaled.gravity * unit == plain.gravity
    for a, b in zip(plain.bodies, scaled.bodies, strict=True):
        assert b.translation * unit == a.translation
    for a, b in zip(plain.moments, scaled.moments, strict=True):
        assert (b.mass, b.first, b.second) == (a.mass * unit * unit, a.first * unit, a.second)


def test_external_forces_come_in_the_joints_frames() -> None:
    """External forces are given in the joints' frames, and are transformed to the reduced frames."""
    r, model = rational_tree(4)
    reduced: ReducedModel = reduce(model, *choices(r, model))
    wrench = Force(r.vector(), r.vector())
    placed = reduced.at(r.coordinates(model))
    (seen, *_) = reduced.external_forces(placed, [wrench] * model.nbodies) or []
    assert reduced.bodies[0].frame.force_to_parent(seen) == wrench
    assert reduced.external_forces(placed, None) is None


# ---- refusals


def test_a_floating_base_is_not_turned() -> None:
    model = Rationals(0).model((WORLD, 0), "FR")
    for turns, slides in (([0.1, 0.0], None), (None, [0.1, 0.0])):
        with pytest.raises(ModelError, match=r"body 'body0'.*leave it unturned"):
            reduce(model, turns, slides)


def test_parallel_bodies_have_parallel_axes() -> None:
    _, model = parallel_chain(0)
    for i in (1, 4, 5):
        with pytest.raises(ModelError, match=f"body 'body{i}'.*leave it out"):
            reduce(model, parallel=[i])


@pytest.mark.parametrize("kinds", ["FR", "RP"])
def test_a_unit_of_length_needs_a_fixed_revolute_robot(kinds: str) -> None:
    with pytest.raises(ModelError, match="leave it at 1"):
        reduce(Rationals(0).model((WORLD, 0), kinds), unit_length=2)
