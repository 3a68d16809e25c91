"""Functions for CasADi have the library's bits and the derivatives of traced expressions; refusals."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import casadi
import numpy as np
import pytest
from numpy.typing import NDArray
from support.carts import BODY, cart_with_a_ball, motions
from support.command import rbdgen as command
from support.few import few
from support.in_casadi import beside, hessian, jacobians, of_unit_length, states

import rbdgen
from rbdgen.emit.casadi.patterns import in_disjoint_groups
from rbdgen.errors import ArrayValueError, EmitError, LoadError, OptionError
from rbdgen.functions.table import rows_of
from rbdgen.runtime import Library

Array = NDArray[np.float64]


@pytest.mark.parametrize(
    ("robot", "function"),
    [
        (rbdgen.load_robot("double_pendulum"), "aba"),
        (rbdgen.load_robot("double_pendulum", base="floating"), "rnea"),
        (rbdgen.load_robot(cart_with_a_ball()), "rnea"),
    ],
    ids=["fixed", "floating", "planar and spherical"],
)
def test_values_and_jacobians(robot: Any, function: str) -> None:
    """Calls of one and of 11 states, more than a vector, have the library's bits and CasADi's Jacobians.

    The Jacobians are those of the traced expressions, along all possible motions of q."""
    library = rbdgen.build(robot, [function, f"{function}_derivatives"])
    traced = rbdgen.trace(robot, function).jacobian()
    knots = 11
    inputs = states(library, function, knots)
    one, many = library.casadi(function), library.casadi(function, knots=knots)
    columns = [beside(array[:, :, None]) for array in inputs.values()]
    assert one.name_in() == many.name_in() == list(inputs)
    np.testing.assert_array_equal(many(*columns).full(), library.functions[function](**inputs).T)
    jacobians = [block.full() for block in many.jacobian()(*columns, 0)]
    for k in range(knots):
        state = [array[k] for array in inputs.values()]
        np.testing.assert_array_equal(one(*state).full().ravel(), library.functions[function](*state))
        expected = [block.full() for block in traced(*state, 0)]
        alone = [block.full() for block in one.jacobian()(*state, 0)]
        directions = [motions(library.manifold, inputs["q"][k]), *[np.eye(library.manifold.nv)] * 2]
        for block, all_blocks, truth, along in zip(alone, jacobians, expected, directions, strict=True):
            rows, width = block.shape
            np.testing.assert_array_equal(all_blocks[k * rows :, k * width :][:rows, :width], block)
            np.testing.assert_allclose(block @ along, truth @ along, atol=1e-10 * np.abs(truth).max())
        if library.manifold.nq > library.manifold.nv:  # quaternions keep their length
            quaternion = slice(3, 7)
            along_itself = alone[0][:, quaternion] @ inputs["q"][k][quaternion]
            np.testing.assert_allclose(along_itself, 0, atol=1e-12 * np.abs(alone[0]).max())
    patterns = library.functions[f"{function}_derivatives"].sparsity.values()
    for k, pattern in list(enumerate(patterns))[1:]:
        assert many.jacobian().nnz_out(k) == knots * np.count_nonzero(pattern)


def test_matrices_forces_and_what_is_not_differentiated() -> None:
    """Arrays of two axes are matrices with structural zeros, and states are side by side.

    `active` is constant, so that a solver does not change which contacts are closed."""
    robot = rbdgen.load_robot("double_pendulum", contacts=[rbdgen.Point("tip", "lower", (0, 0, 0.5))])
    library = rbdgen.build(robot, ["contact_jacobian", "rnea_fext", "contact_aba"])
    for name in library.functions:
        function, inputs = library.casadi(name, knots=2), states(library, name, 2)
        arrays = [beside(array[:, :, None] if array.ndim == 2 else array) for array in inputs.values()]
        found, expected = function(*arrays), library.functions[name](**inputs)
        for result, values in zip(
            found if name == "contact_aba" else [found],
            expected if name == "contact_aba" else [expected],
            strict=True,
        ):
            stacked = beside(values[:, :, None] if values.ndim == 2 else values)
            np.testing.assert_array_equal(result.full(), stacked)
    J = library.casadi("contact_jacobian")
    assert J.nnz_out() == np.count_nonzero(library.contact_jacobian.sparsity) < 6
    by_forces = library.casadi("rnea_fext").jacobian()(0, 0, 0, 0, 0)[3].full()
    steps = np.eye(12).reshape(12, 6, 2).transpose(0, 2, 1)  # in CasADi's order, body by body within a column
    np.testing.assert_allclose(
        by_forces,
        library.rnea_fext([0, 0], [0, 0], [0, 0], steps).T
        - library.rnea_fext([0, 0], [0, 0], [0, 0], 0 * steps).T,
        atol=1e-12,
    )
    x = [casadi.MX.sym(name, 2) for name in ("q", "v", "tau")]
    active = casadi.MX.sym("active")
    a, _ = library.casadi("contact_aba")(*x, active, 1e-8)
    assert casadi.jacobian(a, active).nnz() == 0
    assert casadi.jacobian(a, x[2]).nnz() == 4


FLOATING = rbdgen.load_robot(
    "double_pendulum",
    base="floating",
    frames=["lower"],
    contacts=[rbdgen.Point("tip", "lower", (0, 0, 0.5))],
)
CART = rbdgen.load_robot(cart_with_a_ball(), frames=["hand"])

CASES = [
    (FLOATING, "rnea", 3),  # one function has all derivatives
    (FLOATING, "integrate", 1),  # its result is a configuration
    (CART, "difference", 3),  # its inputs are configurations
    (FLOATING, "frame_placement", 1),  # derivatives by columns
    (FLOATING, "frame_jacobian_local", 1),  # one function has all derivatives of a matrix
]

MORE = [
    # contact_aba_held: one function has all derivatives except those by anchors
    *((FLOATING, name, 1) for name in (*rows_of(FLOATING.model), "difference", "step", "step_rk4")),
    *((FLOATING, name, 3) for name in ("crba", "step", "com")),
    *((CART, name, knots) for name in ("integrate", "minv") for knots in (1, 3)),
]


@pytest.mark.parametrize(
    ("robot", "name", "knots"), few(CASES, [*CASES, *(case for case in MORE if case not in CASES)])
)
def test_all_derivatives_are_those_of_the_traced_expressions(robot: Any, name: str, knots: int) -> None:
    """First and second derivatives are those of CasADi to the last digits, and as sparse."""
    library = rbdgen.build(robot, [name])
    function = library.casadi(name, knots, hessian=True)
    traced = of_unit_length(robot, name, library.manifold).map(knots)
    arrays = [
        beside(x.reshape(knots, -1, 1) if x.ndim < 3 else x) for x in states(library, name, knots).values()
    ]
    for ours, theirs in zip(jacobians(function, arrays), jacobians(traced, arrays), strict=True):
        np.testing.assert_allclose(
            ours.full(), theirs.full(), atol=1e-11 * np.abs(theirs.full()).max(initial=1)
        )
        assert ours.nnz() <= theirs.nnz()
    for ours, theirs in zip(*(hessian(f, arrays) for f in (function, traced)), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-10 * np.abs(theirs).max(initial=1))


def test_derivatives_are_those_of_differences() -> None:
    """The derivatives of a step by all inputs agree with differences, for planar and spherical joints."""
    library = rbdgen.build(CART, ["step"])
    inputs = list(states(library, "step", 1).values())
    q, v, tau, dt = (x[0] for x in inputs)
    found = [block.full() for block in library.casadi("step").jacobian()(q, v, tau, dt, 0, 0)]
    ways = [motions(library.manifold, q), np.eye(7), np.eye(7), np.eye(1)]
    for number, block in enumerate(found):
        result, k = divmod(number, 4)
        way, ends = ways[k], []
        for sign in (1, -1):
            given = [np.broadcast_to(x, (way.shape[1], *x.shape)).copy() for x in (q, v, tau, dt)]
            step = sign * 1e-6 * np.eye(way.shape[1])
            given[k] = (
                library.manifold.integrate(q, step) if k == 0 else given[k] + step.reshape(given[k].shape)
            )
            ends.append(library.step(*given)[result])
        np.testing.assert_allclose(block @ way, (ends[0] - ends[1]).T / 2e-6, atol=1e-7)


def test_what_is_constant_has_derivatives_of_zero() -> None:
    rail = rbdgen.RobotBuilder("rail").add_body("base")
    rail.add_body("slide", parent="base", type="prismatic", axis=(1, 0, 0), **BODY)
    crba = rbdgen.build(rbdgen.load_robot(rail), ["crba"]).casadi("crba", hessian=True)
    assert (crba.jacobian().nnz_out(0), crba.jacobian()(0, 0).shape) == (0, (1, 1))
    q = casadi.MX.sym("q")
    assert (
        casadi.Function("f", [q], [casadi.hessian(casadi.sin(q) * crba(q), q)[0]])(0.5) == -np.sin(0.5) * 1.3
    )


def test_the_jacobian_has_derivatives_itself() -> None:
    """CasADi computes the derivatives of the Jacobian along every direction."""
    library = rbdgen.build(FLOATING, ["com"])
    traced = of_unit_length(FLOATING, "com", library.manifold)
    q = states(library, "com", 1)["q"][0]
    ours, theirs = (
        f.jacobian().jacobian()(q, 0, 0)[0] for f in (library.casadi("com", hessian=True), traced)
    )
    np.testing.assert_allclose(ours.full(), theirs.full(), atol=1e-11)


def test_derivatives_of_derivatives() -> None:
    """Products with derivatives are functions with derivatives; with quaternions they are by coordinates."""
    robot = rbdgen.load_robot("double_pendulum")
    library, traced = rbdgen.build(robot, ["rnea_vjp"]), rbdgen.trace(robot, "rnea_vjp")
    arrays = [x.T for x in states(library, "rnea_vjp", 1).values()]
    function = library.casadi("rnea_vjp", hessian=True)
    for ours, theirs in zip(jacobians(function, arrays), jacobians(traced, arrays), strict=True):
        np.testing.assert_allclose(ours.full(), theirs.full(), atol=1e-12)
    for ours, theirs in zip(*(hessian(f, arrays) for f in (function, traced)), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-10 * np.abs(theirs).max())
    tangents = rbdgen.build(FLOATING, ["com_vjp"])
    assert tangents.casadi("com_vjp").size_out(0) == (8, 1)  # as in the library
    with pytest.raises(
        LoadError, match=r"com_vjp has .* in the tangent space of q; build it with coordinates"
    ):
        tangents.casadi("com_vjp", hessian=True)


def test_directions_go_together_where_they_reach_other_numbers() -> None:
    assert in_disjoint_groups({0: "ab", 1: "cd", 2: "ae", 3: "", 4: "f"}) == [[0, 1, 4], [2]]


def test_parameters_are_shared_by_all_states() -> None:
    robot, names = rbdgen.load_robot("double_pendulum"), ["rnea", "rnea_derivatives", "rnea_vjp", "rnea_hvp"]
    library = rbdgen.build(robot, names, params=["mass:*"])
    heavy = library.update(2 * np.asarray(library.parameters.defaults))
    inputs = list(states(library, "rnea", 3).values())[:3]
    function = library.casadi("rnea", knots=3, hessian=True)
    arrays = [*(array.T for array in inputs), heavy]
    np.testing.assert_array_equal(function(*arrays).full(), library.rnea(*inputs, heavy).T)
    second, _ = hessian(function, arrays)
    weights = np.random.default_rng(1).normal(size=(2, 3))[:, 0]
    state, rates = [x[0] for x in inputs], np.zeros((3, 1, 2))
    rates[0] = [1, 0]
    products = library.rnea_hvp(*state, weights, *rates, heavy)
    np.testing.assert_array_equal(second[[0, 1, 6, 7, 12, 13], 0], np.concatenate(products, axis=None))


def test_gradients_by_parameters() -> None:
    """Gradients by the table, with one column per state, and by the parameters from which it is computed."""
    robot = rbdgen.load_robot("double_pendulum")
    library = rbdgen.build(robot, ["aba", "aba_dparams"], params=["mass:lower", "com:lower"])
    q, v, tau = np.random.default_rng(0).normal(size=(3, 2, 2))
    x, symbol = 1.2 * library.parameters.defaults, casadi.MX.sym("p", 2)
    aba, update = library.casadi("aba", 2, hessian=True), library.casadi("update")
    a = aba(q.T, v.T, tau.T, update(symbol))
    found = casadi.Function("f", [symbol], [casadi.jacobian(casadi.vec(a), symbol)])(x).full()
    expected = library.aba_dparams(q, v, tau, x, library.update(x))
    np.testing.assert_allclose(found, expected.reshape(4, 2), rtol=1e-10)


def test_ipopt_reaches_the_optimum_of_the_traced_expressions() -> None:
    """IPOPT finds the same swing of the double pendulum in eight knots, with exact Hessians."""
    robot = rbdgen.load_robot("double_pendulum")
    compiled, traced = (
        rbdgen.build(robot, ["rnea"]).casadi("rnea", knots=8, hessian=True),
        rbdgen.trace(robot, "rnea").map(8),
    )
    q, v, a = (casadi.MX.sym(name, 2, 8) for name in "qva")
    motion = [q[:, 1:] - q[:, :-1] - v[:, 1:] / 8, v[:, 1:] - v[:, :-1] - a[:, :-1] / 8]
    ends = [q[:, 0], v[:, 0], q[:, -1] - casadi.DM([0.5, -0.5])]
    constraints = casadi.vertcat(*map(casadi.vec, [*motion, *ends]))
    options = {"print_time": False, "ipopt.print_level": 0, "ipopt.sb": "yes"}
    costs, iterations = [], []
    for torques in (compiled, traced):
        problem = {
            "x": casadi.veccat(q, v, a),
            "f": 1e-3 * (casadi.sumsqr(torques(q, v, a)) + casadi.sumsqr(a)),
            "g": constraints,
        }
        solver = casadi.nlpsol("solver", "ipopt", problem, options)
        costs.append(float(solver(x0=0, lbg=0, ubg=0)["f"]))
        assert solver.stats()["success"]
        iterations.append(solver.stats()["iter_count"])
    assert iterations[0] == iterations[1]
    assert costs[0] == pytest.approx(costs[1], rel=1e-6)


def test_a_folder_brings_a_library_of_its_own(tmp_path: Path) -> None:
    """The library of a folder is compiled here, or later by make, by any compiler without a warning."""
    done = command(
        *("double_pendulum", "-f", "rnea,rnea_vjp,rnea_hvp,crba", "--emit", "casadi:3"),
        *("-o", tmp_path),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "double_pendulum"
    library = rbdgen.load(folder)
    assert "rnea_derivatives" in library.functions
    inputs = states(library, "rnea", 3)
    made = [folder / "libdouble_pendulum_casadi.so"]
    for compiler in ("gcc", "clang"):
        arguments = [f"CC={compiler}", "CFLAGS=-Werror -O1", f"BUILD={tmp_path / compiler}", "casadi"]
        subprocess.run(["make", "-s", *arguments], cwd=folder, check=True)
        made.append(tmp_path / compiler / "libdouble_pendulum_casadi.so")
    for path in made:
        function = casadi.external("double_pendulum_rnea_x3", str(path))
        assert function.jacobian().nnz_out(2) == 12
        assert function.reverse(1).jacobian().nnz_out(2) == 6  # dtau/da by q, in three knots
        found = function(*(array.T for array in inputs.values()))
        np.testing.assert_allclose(found.full(), library.rnea(**inputs).T, rtol=1e-14)
        crba = casadi.external("double_pendulum_crba_x1", str(path))
        assert (crba.size_out(0), crba.jacobian().nnz_out(0)) == ((2, 2), 3)
    command("double_pendulum", "-f", "rnea", "-o", tmp_path, cwd=tmp_path)  # replaces the older folder
    assert not (folder / "casadi").exists()


def test_what_cannot_be_is_one_line(tmp_path: Path, arm: Library) -> None:
    robot = rbdgen.load_robot("double_pendulum")
    for given, error, told in (
        (("rnea", 0), ArrayValueError, "casadi: knots is 0; pass 1 or more states a call"),
        (("rnea", 2.0), ArrayValueError, "casadi: knots is 2.0; pass 1 or more states a call"),
    ):
        with pytest.raises(error) as raised:
            arm.casadi(*given)
        assert str(raised.value) == told
    with pytest.raises(EmitError, match="1000000000 states a call of rnea are too many; give knots of"):
        arm.casadi("rnea", 10**9)
    with pytest.raises(
        LoadError, match="rnea computes in float, CasADi in double; build it with real='double'"
    ):
        rbdgen.build(robot, ["rnea", "step"], real="float").casadi("rnea")
    floating = rbdgen.load_robot("double_pendulum", base="floating")
    with pytest.raises(EmitError, match="packed derivatives of a robot with quaternions are not for CasADi"):
        rbdgen.generate(floating, tmp_path, ["rnea"], emit=["casadi"], packed=True, compiled=False)
    names = ["difference", "difference_vjp"]
    with pytest.raises(EmitError, match="difference_vjp: CasADi wants q0_bar by the coordinates of q0, and"):
        rbdgen.generate(floating, tmp_path, names, emit=["casadi"], compiled=False)
    rbdgen.generate(robot, tmp_path / "alone", ["rnea"])
    with pytest.raises(LoadError, match="rnea_second has no second derivatives; leave hessian out"):
        rbdgen.build(robot, ["rnea_second"]).casadi("rnea_second", hessian=True)
    with pytest.raises(
        LoadError, match="the Hessian of rnea needs its derivatives, rnea_vjp and rnea_hvp, by"
    ):
        rbdgen.load(tmp_path / "alone" / "double_pendulum").casadi("rnea", hessian=True)
    shutil.rmtree(tmp_path / "alone")
    for told, options in (
        (r"emit=\['jax'\] is not known; choose from: .*casadi", {"emit": ["jax"]}),
        ("emit='casadi': give a list of names", {"emit": "casadi"}),
        (r"knots is an option of CasADi functions; give emit=\['casadi:2'\]", {"knots": 2}),
        (r"emit=\['casadi:0'\]: give a positive number of states a call", {"emit": ["casadi:0"]}),
        (r"emit=\['casadi:x'\]: give a positive number of states a call", {"emit": ["casadi:x"]}),
        (r"emit=\['casadj'\] is not known; did you mean 'casadi'", {"emit": ["casadj"]}),
        ("knots=0 is not a number of states", {"emit": ["casadi"], "knots": 0}),
        ("CasADi computes in double; leave real='float' out", {"emit": ["casadi"], "real": "float"}),
        ("its functions take q, not sines; leave trig='input' out", {"emit": ["casadi"], "trig": "input"}),
        (
            "CasADi runs on this machine; leave target='cortex-m7' out",
            {"emit": ["casadi"], "target": "cortex-m7"},
        ),
    ):
        with pytest.raises(OptionError, match=told):
            rbdgen.generate(robot, tmp_path, ["rnea"], **options)
    assert not list(tmp_path.iterdir())
