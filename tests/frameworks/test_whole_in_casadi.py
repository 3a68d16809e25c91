"""CasADi takes NAME_jacobian, NAME_gradient and NAME_hessian as the derivatives of NAME."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import casadi
import numpy as np
import pytest
from support.carts import cart_with_a_ball
from support.few import few
from support.in_casadi import beside, by_unit_length, hessian, jacobians, states

import rbdgen
from rbdgen.errors import LoadError
from rbdgen.runtime import Library

ARM = rbdgen.load_robot("planar3r", frames=["link3"])
FLOATING = rbdgen.load_robot("double_pendulum", base="floating")
CART = rbdgen.load_robot(cart_with_a_ball())


@rbdgen.function(inputs={"reference": rbdgen.Quantity("rad", (3,), held=True)}, outputs={"cost": "1"})
def cost(robot: Any, q: Any, v: Any, reference: Any) -> Any:
    """A running cost, in which the last joint is free."""
    error = (q - reference)[:2]
    return robot.kinetic_energy(q, v) + error @ error + np.exp(robot.frame_placement(q).p[0, 1])


@rbdgen.function(outputs={"tau": "tau", "height": "m"})
def pull(robot: Any, q: Any, v: Any) -> Any:
    """Torques that pull the frame up, and its height."""
    return robot.nle(q, v) + robot.frame_jacobian_aligned(q)[0, 1], robot.frame_placement(q).p[0, 1]


def alone(folder: Path, robot: Any, functions: Sequence[Any]) -> Library:
    """A library to which CasADi's functions cannot add derivatives."""
    rbdgen.generate(robot, folder, functions=functions)
    return rbdgen.load(next(folder.iterdir()))


def given_to(library: Library, name: str, knots: int) -> list[Any]:
    return [
        beside(x.reshape(knots, -1, 1) if x.ndim < 3 else x) for x in states(library, name, knots).values()
    ]


def expected(library: Library, robot: Any, function: Any, knots: int) -> Any:
    """The function as CasADi's own expressions."""
    name = function if isinstance(function, str) else function.name
    traced = rbdgen.trace(robot, function)
    return by_unit_length(traced, library.functions[name].signature, library.manifold).map(knots)


def check_jacobians(ours: Any, theirs: Any, given: list[Any]) -> None:
    """The Jacobians have the values of CasADi's own derivatives and of differences, and their zeros."""
    for x, y in zip(jacobians(ours, given), jacobians(theirs, given), strict=True):
        np.testing.assert_allclose(x.full(), y.full(), rtol=1e-10, atol=1e-10)
        assert x.nnz() <= y.nnz()


@pytest.mark.parametrize(
    ("first", "knots"),
    few([("jacobian", 3), ("gradient", 1)], product(["jacobian", "gradient"], [1, 3])),
)
def test_a_cost(tmp_path: Path, first: str, knots: int) -> None:
    """First and second derivatives of a number come from its whole derivatives alone."""
    library = alone(tmp_path, ARM, [cost, f"cost_{first}", "cost_hessian"])
    ours = library.casadi("cost", knots, hessian=True)
    theirs, given = expected(library, ARM, cost, knots), given_to(library, "cost", knots)
    check_jacobians(ours, theirs, given)
    for x, y in zip(*(hessian(f, given) for f in (ours, theirs)), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-10, atol=1e-10)
    symbols = [casadi.MX.sym(name, 3, knots) for name in ("q", "v", "reference")]
    zeros = [
        casadi.hessian(casadi.sum2(f(*symbols)), casadi.veccat(*symbols[:2]))[0].sparsity().nnz()
        for f in (ours, theirs)
    ]
    assert zeros[0] == zeros[1] < knots * 36  # nothing depends on both the angle of the base and a rate
    q, v, reference = (x[:, 0] for x in given)
    ends = [np.concatenate(library.functions[f"cost_{first}"](q + s, v, reference)[-2:]) for s in steps(3)]
    second, _ = hessian(library.casadi("cost", hessian=True), [q, v, reference])
    weight = np.random.default_rng(1).normal()
    np.testing.assert_allclose(second[:, :3], weight * differences(ends), atol=1e-6)


def steps(n: int) -> list[Any]:
    return [s * 1e-6 * e for e in np.eye(n) for s in (1, -1)]


def differences(ends: Sequence[Any]) -> Any:
    """The columns of a derivative, from the values at both ends of every step."""
    return np.transpose([(a - b) / 2e-6 for a, b in zip(ends[::2], ends[1::2], strict=True)])


@pytest.mark.parametrize(("knots", "packed"), few([(1, False), (3, True)], product([1, 3], [False, True])))
def test_a_vector(tmp_path: Path, knots: int, packed: bool) -> None:
    """The Jacobian of several results is taken from one function, dense or packed."""
    rbdgen.generate(ARM, tmp_path, functions=[pull, "pull_jacobian"], packed=packed)
    library = rbdgen.load(next(tmp_path.iterdir()))
    given = given_to(library, "pull", knots)
    ours = library.casadi("pull", knots)
    check_jacobians(ours, expected(library, ARM, pull, knots), given)
    q, v = (x[:, 0] for x in given)
    ends = [library.pull(q + s, v)[0] for s in steps(3)]
    np.testing.assert_allclose(jacobians(ours, given)[0].full()[:3, :3], differences(ends), atol=1e-6)
    with pytest.raises(LoadError, match="the Hessian of pull needs its derivatives, pull_vjp and pull_hvp"):
        library.casadi("pull", hessian=True)


ROWS = [
    (FLOATING, "kinetic_energy", 11),
    (CART, "difference", 3),  # two configurations
    (FLOATING, "crba", 3),
]

MORE_ROWS = [
    (ARM, "kinetic_energy", 1),
    (FLOATING, "kinetic_energy", 1),
    (FLOATING, "centroidal_momentum", 1),
]


@pytest.mark.parametrize(("robot", "name", "knots"), few(ROWS, [*ROWS, *MORE_ROWS]))
def test_rows(tmp_path: Path, robot: Any, name: str, knots: int) -> None:
    """Derivatives in the tangent space are converted to those by the elements of each configuration."""
    library = alone(tmp_path, robot, [name, f"{name}_jacobian"])
    check_jacobians(
        library.casadi(name, knots), expected(library, robot, name, knots), given_to(library, name, knots)
    )


@pytest.mark.parametrize("robot", [ARM, FLOATING], ids=["fixed", "floating"])
def test_second_derivatives_of_rows(robot: Any) -> None:
    """With quaternions, products give the Hessian in place of NAME_hessian."""
    library = rbdgen.build(robot, ["kinetic_energy", "kinetic_energy_gradient", "kinetic_energy_hessian"])
    given = given_to(library, "kinetic_energy", 1)
    functions = (
        library.casadi("kinetic_energy", hessian=True),
        expected(library, robot, "kinetic_energy", 1),
    )
    for x, y in zip(*(hessian(f, given) for f in functions), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-9)


def test_results_that_are_configurations_take_products() -> None:
    library = rbdgen.build(FLOATING, ["integrate", "integrate_jacobian"])
    check_jacobians(
        library.casadi("integrate"),
        expected(library, FLOATING, "integrate", 1),
        given_to(library, "integrate", 1),
    )


def test_a_folder(tmp_path: Path) -> None:
    """A folder adds no products where it has whole derivatives, which are no functions by themselves."""
    names = [cost, "cost_gradient", "cost_hessian"]
    rbdgen.generate(ARM, tmp_path, functions=names, emit=["casadi:3"])
    (folder,) = tmp_path.iterdir()
    assert sorted(x.name for x in (folder / "casadi").glob("*.c")) == [
        "planar3r_cost_x1.c",
        "planar3r_cost_x3.c",
    ]
    library = rbdgen.load(folder)
    assert list(library.functions) == ["cost", "cost_gradient", "cost_hessian"]
    given = given_to(library, "cost", 3)
    made = casadi.external("planar3r_cost_x3", str(folder / "libplanar3r_casadi.so"))
    for x, y in zip(*(hessian(f, given) for f in (made, library.casadi("cost", 3))), strict=True):
        np.testing.assert_array_equal(x, y)
