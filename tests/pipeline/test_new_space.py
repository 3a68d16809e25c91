"""A joint type in a new space needs one class and its line in `JOINT_TYPES`, and no other change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi
import numpy as np
import pytest

import rbdgen
from rbdgen.model.joints import JOINT_TYPES, Planar
from rbdgen.runtime import Library

PLANAR = Planar()

NAMES = ("rnea", "aba", "rnea_derivatives", "rnea_second", "step", "integrate_derivatives")


def planar(own: Any) -> Any:
    """The elements of a planar joint, converted from those of the new joint."""
    return own[1], own[2], own[0]


def turned_first(found: Any) -> Any:
    x, y, turned = found
    return turned, x, y


@dataclass(frozen=True)
class Cart(Planar):
    """A planar joint with another layout: q is its angle, x and y; v is its rate, then along x and y."""

    name = "cart"
    kind = "cart"
    elements = ("angle", "length", "length")
    layout = "q: angle x y; v: angular, linear along x and y of the body"
    moves = (5, 0, 1)

    def motion_subspace(self, axis: Any) -> Any:
        return turned_first(PLANAR.motion_subspace(axis))

    def coordinate(self, q: Any, angle: Any) -> Any:
        return PLANAR.coordinate(planar(q), angle)

    def integrate(self, q: Any, v: Any, functions: Any) -> Any:
        return turned_first(PLANAR.integrate(planar(q), planar(v), functions))

    def displaced(self, start: Any, end: Any, functions: Any) -> Any:
        return PLANAR.displaced(planar(start), planar(end), functions)

    def rates(self, q: Any, v: Any, angle: Any) -> Any:
        return turned_first(PLANAR.rates(planar(q), planar(v), angle))

    def velocities(self, q: Any, rates: Any, angle: Any) -> Any:
        return turned_first(PLANAR.velocities(planar(q), planar(rates), angle))


def robot() -> rbdgen.RobotBuilder:
    inertia = {"mass": 1.3, "com": (0.1, -0.05, 0.2), "inertia": (0.03, 0.04, 0.02)}
    builder = rbdgen.RobotBuilder("cart").add_body("ground")
    builder.add_body("base", parent="ground", type="planar", rpy=(0.3, 0.0, 0.1), **inertia)
    builder.add_body("ball", parent="base", type="spherical", xyz=(0.1, 0.2, -0.1), **inertia)
    return builder


def built() -> Library:
    return rbdgen.build(rbdgen.load_robot(robot()), functions=NAMES)


@pytest.fixture(scope="module")
def libraries() -> tuple[Library, Library]:
    """The robot with a cart, and the same robot with a planar joint."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(JOINT_TYPES, "planar", Cart())  # type: ignore[arg-type]
        cart = built()
    return cart, built()


ORDER = np.array([1, 2, 0])


def permuted(order: Any, rest: int) -> Any:
    return [*order, *range(3, 3 + rest)]


Q, V = permuted(ORDER, 4), permuted(ORDER, 3)
"""The elements of q and v of the cart's robot, in the order of the planar joint's."""


def test_the_manifest_tells_of_the_space(libraries: tuple[Library, Library]) -> None:
    cart, _ = libraries
    assert [row["kind"] for row in cart.manifest["manifold"]] == ["cart", "spherical"]
    assert cart.manifest["spaces"]["cart"]["elements"] == ["angle", "length", "length"]
    assert "q[0:3] and v[0:3] are those of base_joint: q: angle x y" in str(cart.rnea.__doc__)
    assert cart.manifold.angles == {0}


def test_configurations_move(libraries: tuple[Library, Library]) -> None:
    cart, plane = libraries
    assert cart.neutral().tolist() == [0, 0, 0, 0, 0, 0, 1]
    q, other, v = cart.random(1, (50,)), cart.random(2, (50,)), np.random.default_rng(3).normal(size=(50, 6))
    assert np.abs(q[:, 0]).max() > 2
    assert np.abs(q[:, 1:3]).max() < 1
    np.testing.assert_allclose(np.linalg.norm(cart.normalize(3 * q)[:, 3:], axis=1), 1, atol=1e-15)
    np.testing.assert_array_equal(cart.integrate(q, v)[:, Q], plane.integrate(q[:, Q], v[:, V]))
    np.testing.assert_array_equal(cart.difference(q, other)[:, V], plane.difference(q[:, Q], other[:, Q]))


def test_dynamics_are_those_of_the_same_robot(libraries: tuple[Library, Library]) -> None:
    cart, plane = libraries
    q, (v, a) = cart.random(1), np.random.default_rng(3).normal(size=(2, 6))

    def agree(ours: Any, theirs: Any) -> None:
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12 * np.abs(theirs).max())

    for name in ("rnea", "aba"):
        agree(getattr(cart, name)(q, v, a)[V], getattr(plane, name)(q[Q], v[V], a[V]))
    for name in ("rnea_derivatives", "rnea_second", "integrate_derivatives"):
        one, other = getattr(cart, name), getattr(plane, name)
        given = (q, v, a)[: len(one.signature.inputs)], (q[Q], v[V], a[V])[: len(one.signature.inputs)]
        for ours, theirs in zip(one.dense(one(*given[0])), other.dense(other(*given[1])), strict=True):
            agree(ours[np.ix_(*[V] * ours.ndim)], theirs)
    ours, theirs = cart.step(q, v, a, 0.01), plane.step(q[Q], v[V], a[V], 0.01)
    agree(ours[0][Q], theirs[0])
    agree(ours[1][V], theirs[1])


@pytest.mark.parametrize("knots", [1, 3])
def test_derivatives_by_elements_of_q(libraries: tuple[Library, Library], knots: int) -> None:
    cart, plane = libraries
    q, (v, a) = cart.random(1, (knots,)), np.random.default_rng(3).normal(size=(2, knots, 6))

    def jacobian(library: Library, *given: Any) -> Any:
        function = library.casadi("rnea", knots)
        symbols = [casadi.MX.sym("x", *function.size_in(k)) for k in range(3)]
        made = casadi.Function("J", symbols, [casadi.jacobian(function(*symbols), symbols[0])])
        return np.array(made(*(x.T for x in given)))

    ours, theirs = jacobian(cart, q, v, a), jacobian(plane, q[:, Q], v[:, V], a[:, V])
    rows = [6 * k + i for k in range(knots) for i in V]
    columns = [7 * k + i for k in range(knots) for i in Q]
    np.testing.assert_allclose(ours[np.ix_(rows, columns)], theirs, rtol=0, atol=1e-12)
