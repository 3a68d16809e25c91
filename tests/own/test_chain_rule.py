"""Jacobians by the chain rule through calls: they equal those of the whole graph, and take fewer operations
than CasADi's.
"""

from __future__ import annotations

from typing import Any

import casadi
import numpy as np
import pytest
from support.few import few
from support.own import ARM, JACOBIANS, closed_loop, computed_torque, motor_step, rk4

import rbdgen
from rbdgen.functions.composed import composed
from rbdgen.functions.expanded import expanded
from rbdgen.functions.function import Function
from rbdgen.functions.table import lookup
from rbdgen.graph.evaluate import evaluate
from rbdgen.model.build import Robot
from rbdgen.own.text import OwnFunction
from rbdgen.selection.axes import search
from rbdgen.selection.chain_rule import known_calls
from rbdgen.selection.differentiate import Chooser


@rbdgen.function(outputs={"q_next": "q", "p": ("m", 3), "v_next": "v", "power": "W"})
def mixed(robot: Any, q: Any, v: Any, tau: Any, dt: Any) -> Any:
    """Calls whose arguments are results of others, with and without derivatives of their own."""
    middle = robot.integrate(q, dt * v)
    a = robot.aba(middle, v, tau - robot.nle(q, v))
    end = robot.step(middle, v + dt * a, np.tanh(tau), dt)
    torque = robot.rnea(end.q_next, end.v_next, a) + robot.gravity(middle)
    return end.q_next, robot.com(end.q_next), end.v_next, torque @ end.v_next


@rbdgen.function(inputs={"mu": "1/kg"}, outputs={"a": "a", "force": ("N", "nc")})
def soft(robot: Any, q: Any, v: Any, tau: Any, mu: Any) -> Any:
    """One of two calls moves an argument by which its row of derivatives has none."""
    a, _ = robot.contact_aba(q, v, tau, mu=1e-3 * np.ones(1))
    return robot.contact_aba(q, v, tau + a, mu=mu * np.ones(1))


def rubbing() -> Robot:
    """A pendulum with damping and friction, one joint of which follows another."""
    body: dict[str, Any] = {"mass": 2.0, "com": (0, 0.1, -0.5), "inertia": (0.1, 0.2, 0.1)}
    joint: dict[str, Any] = {"type": "revolute", "damping": 0.3, "friction": 0.2}
    builder = rbdgen.RobotBuilder("rubbing").add_body("base")
    builder.add_body("upper", parent="base", axis=(0, 1, 0), **joint, **body)
    builder.add_body("lower", parent="upper", xyz=(0, 0.1, -1), axis=(1, 0, 0), **joint, **body)
    mimic = ("upper_joint", 0.5, 0.2)
    builder.add_body(
        "tip", parent="lower", xyz=(0, 0, -1), type="revolute", axis=(0, 0, 1), mimic=mimic, **body
    )
    return rbdgen.load_robot(builder, damping=True, friction=("smooth", 0.1))


BALL = rbdgen.load_robot("planar3r", base="floating")

RUBBING = rubbing()

TOUCHING = rbdgen.load_robot(
    "double_pendulum", base="floating", contacts=[rbdgen.Point("tip", "lower", (0, 0, 0.5))]
)


def jacobian(function: OwnFunction | str, robot: Robot) -> Function:
    """The row of the Jacobian of an own function, or of a row of the table."""
    if isinstance(function, str):
        return lookup(f"{function}_jacobian", robot.model)
    own = {function.name: composed(function.composition(robot), robot.model)}
    return lookup(f"{function.name}_jacobian", robot.model, own=own)


QUICK = [case for case in JACOBIANS if case[0] in (computed_torque, motor_step)]


@pytest.mark.parametrize(("function", "most"), few(QUICK, JACOBIANS), ids=lambda x: getattr(x, "name", ""))
def test_operations(function: OwnFunction, most: int) -> None:
    choice = Chooser(ARM.model, search(ARM.model), "graph").choose(jacobian(function, ARM))
    assert choice.form == "calls"
    assert choice.program.cost.total == most
    if function is not rk4:  # of which CasADi takes long to make the Jacobian, with 71 355 operations
        assert most < of_casadi(function, jacobian(function, ARM))


def of_casadi(function: OwnFunction, row: Function) -> int:
    """The operations of CasADi's Jacobian of the simplified function."""
    assert row.whole is not None
    f, names = rbdgen.trace(ARM, function), {x.name for x in row.whole.by}
    inputs = [casadi.SX.sym(f.name_in(k), f.size1_in(k), f.size2_in(k)) for k in range(f.n_in())]
    results = f(*inputs) if f.n_out() > 1 else (f(*inputs),)
    by = [x for k, x in enumerate(inputs) if f.name_in(k) in names]
    found = casadi.jacobian(casadi.vertcat(*results), casadi.vertcat(*by))
    whole = casadi.Function("jacobian", inputs, [found], {"cse": True})
    free = (casadi.OP_CONST, casadi.OP_INPUT, casadi.OP_OUTPUT)
    return sum(whole.instruction_id(k) not in free for k in range(whole.n_instructions()))


@pytest.mark.parametrize(
    ("function", "robot"),
    [
        (motor_step, RUBBING),
        pytest.param(motor_step, BALL, marks=pytest.mark.campaign),
        (mixed, RUBBING),
        pytest.param(mixed, BALL, marks=pytest.mark.campaign),
        (closed_loop, RUBBING),
        (soft, TOUCHING),
        ("step", RUBBING),
        pytest.param("step_rk4", RUBBING, marks=pytest.mark.campaign),
        ("nle", RUBBING),
        ("gravity", RUBBING),
    ],
    ids=lambda x: getattr(x, "name", None) or getattr(getattr(x, "model", None), "name", x),
)
def test_equal_to_the_jacobian_of_the_whole_graph(function: OwnFunction | str, robot: Robot) -> None:
    row = jacobian(function, robot)
    drawn = robot.model.manifold.random_inputs(row.sized(robot.model).inputs, np.random.default_rng(3), (20,))
    inputs = {name: np.reshape(value, (20, -1)) for name, value in drawn.items()}
    chooser = Chooser(robot.model, search(robot.model), "graph")
    found, expected = (chooser.choose(row, form).program.straight for form in ("calls", "columns"))
    assert found is not None
    assert expected is not None
    assert [(y.name, y.shape) for y in found.outputs] == [(y.name, y.shape) for y in expected.outputs]
    theirs = evaluate(expected, inputs)
    for name, value in evaluate(found, inputs).items():
        scale = np.abs(theirs[name]).max() + 1e-300
        np.testing.assert_allclose(value / scale, theirs[name] / scale, rtol=0, atol=1e-10)


def test_only_calls_with_all_derivatives_are_known() -> None:
    composition = expanded(jacobian_of(soft, TOUCHING), TOUCHING.model)
    assert composition is not None
    known = list(known_calls(composition, TOUCHING.model))
    assert [x.call.name for x in known] == ["call 0"]
    assert known[0].derivatives == "contact_aba_derivatives"


def jacobian_of(function: OwnFunction, robot: Robot) -> Function:
    return composed(function.composition(robot), robot.model)


def test_a_function_of_rows_without_derivatives_has_no_such_form() -> None:
    @rbdgen.function(outputs={"c": ("m", 3)})
    def center(robot: Any, q: Any) -> Any:
        """The centre of mass."""
        return robot.com(q)

    assert [form.name for form in jacobian(center, ARM).forms] == ["columns", "rows"]


def test_with_parameters() -> None:
    """Parameters of the robot stay inputs of the rows of derivatives, too."""
    library = rbdgen.build(RUBBING, functions=[motor_step, "motor_step_jacobian"], params=["mass:*"])
    rng = np.random.default_rng(5)
    q, v, tau = rng.normal(size=(3, 2))
    h, found = 1e-6, library.motor_step_jacobian(q, v, tau, 0.01)
    for k in range(2):
        ends = [library.motor_step(q, v + s * h * np.eye(2)[k], tau, 0.01).v_next for s in (1, -1)]
        np.testing.assert_allclose(found.dv_next_dv[:, k], (ends[0] - ends[1]) / (2 * h), rtol=0, atol=1e-7)
