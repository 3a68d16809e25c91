"""Steps with friction on robots with parameters, in own functions, as expressions, and in JAX and CasADi."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rbdgen
from rbdgen.model.build import Robot

STATE = {"q": [0, 0, 0.1, 0, 0, 0, 1, 0.4], "v": [1, 0, -2, 0.1, 0.2, 0, 0.3], "tau": np.full(7, 0.1)}

FRICTION = {"friction": [0.3]}


def robot(mass: float = 2.0) -> Robot:
    """A ball with an arm in it."""
    built = rbdgen.RobotBuilder("ball").add_body("ball", mass=mass, inertia=(0.008, 0.008, 0.008))
    solid: dict[str, Any] = {"mass": 0.5, "com": (0, 0, 0.1), "inertia": (1e-3, 1e-3, 1e-3)}
    built.add_body("arm", parent="ball", type="revolute", axis=(0, 1, 0), xyz=(0, 0, 0.02), **solid)
    contacts = [rbdgen.Point("skin", "ball", radius=0.1)]
    return rbdgen.load_robot(built, base="floating", contacts=contacts)


@rbdgen.function(outputs={"y": "v"}, name="landed")
def landed(robot: Any, q: Any, v: Any, tau: Any) -> Any:
    return robot.contact_step(q, v, tau, 1e-3, **FRICTION)[1]


def test_parameters_at_run_time() -> None:
    """Steps and derivatives with a mass as input are those of the robot with this mass."""
    names = ["contact_step", "contact_step_servo", "contact_step_derivatives"]
    tabled = rbdgen.build(robot(), functions=names, params=["mass:ball"])
    fixed = rbdgen.build(robot(3.5), functions=names)
    servo = {"kp": [3.0], "kd": [0.1], "target": [0.5]}
    for name in names:
        given = {**STATE, **FRICTION, **(servo if name.endswith("servo") else {}), "dt": 1e-3}
        found = getattr(tabled, name)(**given, table=tabled.update([3.5]))
        for one, other in zip(found, getattr(fixed, name)(**given), strict=True):
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)


def test_own_functions_call_steps() -> None:
    library = rbdgen.build(robot(), functions=[landed, "contact_step"])
    expected = library.contact_step(**STATE, dt=1e-3, **FRICTION)[1]
    np.testing.assert_allclose(library.landed(**STATE), expected, rtol=0, atol=1e-13)
    for kind in ("vjp", "jacobian"):
        with pytest.raises(
            rbdgen.RbdgenError, match=f"function 'landed_{kind}': 'landed' calls contact_step"
        ):
            rbdgen.build(robot(), functions=[f"landed_{kind}"], own=[landed])


def test_traces() -> None:
    """A form without loops is an expression of CasADi; what has loops is refused in one line."""
    expression = rbdgen.trace(robot(), "contact_step", variant="composite")
    given = [*STATE.values(), 1e-3, [0, 0, 1, 0], [0.3], [1e-4, 0.2, 1, 0, 0.05, 0]]
    expected = rbdgen.build(robot(), functions=["contact_step"]).contact_step(**STATE, dt=1e-3, **FRICTION)
    np.testing.assert_allclose(expression(*given)[1].full().ravel(), expected[1], rtol=0, atol=1e-12)
    for name in ("contact_step", "contact_step_vjp"):
        with pytest.raises(rbdgen.RbdgenError, match=f"function '{name}' has loops, which no expression has"):
            rbdgen.trace(robot(), name)


def test_frameworks() -> None:
    """JAX and CasADi have the derivatives of compiled products."""
    casadi, jax = pytest.importorskip("casadi"), pytest.importorskip("jax")
    names = ["contact_step", "contact_step_vjp", "contact_step_jvp"]
    library = rbdgen.build(robot(), functions=names, coordinates=True)
    weights = np.arange(1.0, 8.0)
    bars = {"q_next_bar": np.zeros(8), "impulse_bar": np.zeros(3), "residual_bar": [0.0]}
    found = library.contact_step_vjp(**STATE, dt=1e-3, **FRICTION, **bars, v_next_bar=weights)
    q, v, tau = (np.asarray(x, float) for x in STATE.values())
    ground, law = np.array([[0.0, 0, 1, 0]]), np.array([1e-4, 0.2, 1, 0, 0.05, 0])

    def loss(v: Any, friction: Any) -> Any:
        return library.jax.contact_step(q, v, tau, 1e-3, ground, friction, law)[1] @ weights

    with jax.enable_x64(True):
        by_v, by_friction = jax.grad(loss, (0, 1))(v, np.array([0.3]))
    np.testing.assert_allclose(by_v, found[1], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(by_friction, found[-1], rtol=1e-9, atol=1e-9)
    symbol = casadi.MX.sym("v", 7)
    next_v = library.casadi("contact_step")(q, symbol, tau, 1e-3, ground, 0.3, law)[1]
    gradient = casadi.Function("g", [symbol], [casadi.gradient(casadi.dot(weights, next_v), symbol)])
    np.testing.assert_allclose(gradient(v).full().ravel(), found[1], rtol=1e-9, atol=1e-9)
