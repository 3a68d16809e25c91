"""Robots are found whose inertia matrix is singular everywhere; the references are exact determinants."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from support.forms import forms_of
from support.plain_models import FREE, SOLID, X, Z, chain, robot
from support.rationals import Rationals
from support.robots import BUNDLED

from rbdgen.model.build import Base
from rbdgen.model.inertia import NO_INERTIA, Inertia
from rbdgen.model.joints import Helical
from rbdgen.model.model import WORLD, Model
from rbdgen.model.regularity import unresisted
from rbdgen.pipeline.robot import load_robot
from rbdgen.spatial.ops import ZERO, ZERO_MATRIX, Matrix, Transform, Vector
from rbdgen.sweeps.inputs import State

POINT = Inertia.from_center_of_mass(1, Vector(0.4, 0, 0), ZERO_MATRIX)
"""A point mass that is not on the axes Y and Z."""


@pytest.mark.parametrize(
    ("model", "joint"),
    [
        pytest.param(robot((WORLD, "F", ZERO, ZERO, SOLID)), None, id="floating body"),
        pytest.param(robot(FREE), 0, id="nothing floats"),
        pytest.param(robot((WORLD, "F", ZERO, ZERO, POINT)), 0, id="a point floats"),
        pytest.param(robot(FREE, (0, "R", Z, ZERO, SOLID)), 0, id="one limb"),
        pytest.param(robot(FREE, (0, "P", Z, ZERO, SOLID)), 0, id="one sliding limb"),
        pytest.param(robot(FREE, (0, "R", Z, ZERO, SOLID), (1, "R", X, X, SOLID)), 0, id="one long limb"),
        pytest.param(robot(FREE, *[(0, "R", Z, X * k, SOLID) for k in (0, 1)]), None, id="two limbs"),
        pytest.param(robot(FREE, *[(0, "R", Z, Z * k, SOLID) for k in (0, 1)]), 0, id="two limbs, one axis"),
        pytest.param(robot(FREE, *[(0, "P", Z, X * k, SOLID) for k in (0, 1)]), 0, id="two parallel slides"),
        pytest.param(robot(FREE, *[(0, "P", a, ZERO, SOLID) for a in (X, Z)]), None, id="two slides"),
        pytest.param(robot(FREE, *[(0, "R", Z, X * k, POINT) for k in (0, 1)]), 0, id="two points"),
        pytest.param(robot(FREE, *[(0, "R", Z, X * k, POINT) for k in (0, 1, 2)]), None, id="three points"),
        pytest.param(chain("zzz", SOLID), None, id="three coordinates of a body in the plane"),
        pytest.param(chain("zzzz", SOLID), 0, id="four for three"),
        pytest.param(chain("zz", POINT), None, id="a point in the plane"),
        pytest.param(chain("zzz", POINT), 0, id="three for two"),
        pytest.param(chain("zyzyzy", SOLID), None, id="six coordinates of a body"),
        pytest.param(chain("zyzyzyz", SOLID), 0, id="seven for six"),
        pytest.param(chain("zyzyzyz", SOLID, SOLID), None, id="seven and two bodies"),
        pytest.param(chain("zyzyzyzyzyzyz", SOLID, SOLID), 5, id="thirteen and two bodies"),
        pytest.param(chain("zzz", SOLID, NO_INERTIA), 2, id="a massless end"),
        pytest.param(chain("zzx", SOLID, POINT), 2, id="a point on the last axis"),
    ],
)
def test_what_resists(model: Model, joint: int | None) -> None:
    assert unresisted(model) == joint


def random_robot(seed: int) -> Model:
    """A tree of up to six bodies, many of which are massless or a point mass."""
    random, r = Random(seed), Rationals(seed)
    count = random.randint(2, 6)
    parents = (WORLD, *(random.randint(max(0, k - 2), k) for k in range(count - 1)))
    kinds = random.choice("FR") + "".join(random.choice("RRP") for _ in range(count - 1))
    model = r.model(parents, kinds)
    bodies = tuple(replace(b, inertia=r.inertia(random.choice((0, 1, 4, 4)))) for b in model.bodies)
    return replace(model, bodies=bodies)


def determinant(model: Model, r: Rationals) -> Fraction:
    (flat,) = forms_of("crba")[0].trace(model, State(q=r.coordinates(model)))
    rows: list[list[Any]] = [
        [Fraction(x) for x in flat[k : k + model.nv]] for k in range(0, len(flat), model.nv)
    ]
    product = Fraction(1)
    while rows:
        pivot = next((row for row in rows if row[0] != 0), None)
        if pivot is None:
            return Fraction(0)
        rows.remove(pivot)
        product *= pivot[0]
        rows = [[x - row[0] / pivot[0] * y for x, y in zip(row[1:], pivot[1:], strict=True)] for row in rows]
    return product


def test_against_exact_determinants() -> None:
    """Each robot is tested in three positions, as one of them may be singular by chance."""
    found = {True: 0, False: 0}
    for seed in range(120):
        model = random_robot(seed)
        singular = all(determinant(model, Rationals(seed + k)) == 0 for k in (1, 2, 3))
        assert (unresisted(model) is not None) == singular, seed
        found[singular] += 1
    assert min(found.values()) > 30


@pytest.mark.parametrize("length", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("mass", [1e-6, 1.0, 1e6])
def test_any_scale(length: float, mass: float) -> None:
    """The result does not depend on units: a light or a small robot is not singular."""

    def scaled(model: Model) -> Model:
        bodies = []
        for body in model.bodies:
            own = body.inertia
            h, J = own.first_moment * (mass * length), own.rotational * (mass * length * length)
            place = Transform(body.placement.rotation, body.placement.translation * length)
            bodies.append(replace(body, placement=place, inertia=Inertia(own.mass * mass, h, J)))
        return replace(model, bodies=tuple(bodies))

    for seed in range(12):
        model = random_robot(seed)
        assert unresisted(scaled(model)) == unresisted(model)


@pytest.mark.parametrize("length", [1e-9, 1.0, 1e9])
def test_a_thread_of_any_scale(length: float) -> None:
    """A rod on the axis of a screw has inertia only due to the pitch, which scales like other lengths."""
    rod = Inertia(2, ZERO, Matrix.diagonal(length**2, length**2, 0))
    screw = robot((WORLD, "R", Z, ZERO, rod))
    for pitch, expected in ((0.01, None), (1e-9, 0)):
        joint = replace(screw.bodies[0].joint, type=Helical(pitch * length))
        assert unresisted(replace(screw, bodies=(replace(screw.bodies[0], joint=joint),))) == expected


@pytest.mark.parametrize("share", [1e-3, 1e-6, 1e-9, 1e-12])
def test_a_light_link_is_not_massless(share: float) -> None:
    light = Inertia(SOLID.mass * share, SOLID.first_moment * share, SOLID.rotational * share)
    for one in (robot((WORLD, "F", ZERO, ZERO, light), (0, "R", Z, ZERO, SOLID)), chain("zzx", SOLID, light)):
        assert unresisted(one) is None


@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_numbers_near_the_ends_of_their_range(size: float) -> None:
    body = Inertia(size, ZERO, Matrix.diagonal(size, size, size))
    assert unresisted(robot((WORLD, "F", ZERO, ZERO, body), (0, "R", Z, X, body))) is None


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_robots(name: str, base: Base) -> None:
    assert unresisted(load_robot(BUNDLED[name], base).model) is None
