"""Derivatives of steps with soles, against differences of the step in every mode of the corners."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from support.friction import Array
from support.soles import corners

import rbdgen
from rbdgen import Point, RobotBuilder, Sole
from rbdgen.functions.table import lookup
from rbdgen.graph.programs.program import Program
from rbdgen.graph.programs.run import run
from rbdgen.model.contacts import SolverPlan
from rbdgen.model.model import Model
from rbdgen.selection.differentiate import Chooser

PLAN, DT = SolverPlan(20, 12, 4), 2e-3


class Mode(NamedTuple):
    """A state of the foot, and how many of its four corners then press and slide."""

    pressed: int
    sliding: int
    height: float = 1e-5
    tilt: tuple[float, float] = (0, 0)
    """The slopes of the ground along the sole: 0 for a flat landing."""
    friction: float | tuple[float, ...] = 3.0
    restitution: float = 0
    smoothing: float = 0
    pull: float = 1
    v: tuple[float, ...] = (0.1, 0.05, -1, 0.1, 0.15, 0.05)
    """Of the trunk, in the axes of the sole."""


MODES = {
    "open": Mode(0, 0, height=1e-2),
    "sticks": Mode(4, 0),
    "slides": Mode(4, 4, friction=0.05, v=(1.0, 0.5, -1, 0.1, 0.15, 0.05)),
    "turns about its normal": Mode(4, 4, friction=0.05, v=(0.1, 0, -1, 0, 0, 5)),
    "two corners slide": Mode(4, 2, friction=(3, 3, 0.02, 0.02), v=(0.3, 0.2, -1, 0.1, 0.15, 0.05)),
    "on an edge": Mode(2, 0, tilt=(-0.1, 0)),
    "slides on an edge": Mode(2, 2, tilt=(0, 0.1), friction=0.1, v=(1.0, 0.5, -1, 0, 0, 0)),
    "on a corner": Mode(1, 0, tilt=(0.1, 0.08)),
    "slides on a corner": Mode(1, 1, tilt=(0.1, 0.08), friction=0.05, v=(1.0, 0.5, -1, 0, 0, 0)),
    "below the ground": Mode(4, 0, height=-2e-4, pull=0.2),
    "far below the ground": Mode(4, 0, height=-5e-2, pull=0.2),
    "bounces": Mode(4, 0, restitution=0.7),
    "smoothed": Mode(4, 2, smoothing=1e-4, height=5e-4, friction=0.3),
    "smoothed from afar": Mode(4, 4, smoothing=1e-3, height=8e-3, friction=0.2),
}

every_mode = pytest.mark.parametrize("mode", MODES)


@cache
def model() -> Model:
    """A trunk on an ankle of two joints and a foot, with a sphere that is high above the ground."""
    solid: dict[str, Any] = {"type": "revolute", "com": (0.01, 0, -0.05), "inertia": (4e-3, 3e-3, 2e-3)}
    built = RobotBuilder("standing").add_body("trunk", mass=3, com=(0, 0, 0.05), inertia=(0.04, 0.03, 0.02))
    built.add_body("shank", parent="trunk", xyz=(0, 0, -0.1), axis=(0, 1, 0), mass=0.6, **solid)
    built.add_body("foot", parent="shank", xyz=(0, 0, -0.2), axis=(1, 0, 0), mass=0.8, **solid)
    held = [Point("back", "trunk", radius=0.03), Sole("sole", "foot", (0.2, 0.12), (0.02, 0, -0.05))]
    return rbdgen.load_robot(built, base="floating", contacts=held, contact_solver=PLAN).model


def states(modes: list[Mode], seed: int = 3) -> dict[str, Array]:
    """The inputs of a step in each mode, with a foot and a ground that are tilted."""
    rng, count = np.random.default_rng(seed), len(modes)
    q = np.tile(model().manifold.neutral(), (count, 1))
    q[:, 3:7] += 0.1 * rng.normal(size=(count, 4))
    q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1)[:, None]
    q[:, 7:] = 0.1 * rng.normal(size=(count, 2))
    at = corners(model(), q)[:, 1:]
    x, y = at[:, 0] - at[:, 2], at[:, 0] - at[:, 1]
    x, y = (axis / np.linalg.norm(axis, axis=1)[:, None] for axis in (x, y))
    tilt = np.array([mode.tilt for mode in modes])
    n = np.cross(x, y) - tilt[:, :1] * x - tilt[:, 1:] * y
    n /= np.linalg.norm(n, axis=1)[:, None]
    height = np.array([mode.height for mode in modes])
    d = np.einsum("si,ski->sk", n, at).min(1) - height
    ground = np.tile(np.column_stack([n, d])[:, None], (1, 5, 1))
    ground[:, 0, 3] -= 10
    v = 0.1 * rng.normal(size=(count, 8))
    v[:, :6] = [mode.v for mode in modes]
    law = [(1e-4, mode.pull, 1, mode.restitution, 0.05, mode.smoothing) for mode in modes]
    friction = [[0.5, *np.broadcast_to(mode.friction, 4)] for mode in modes]
    return {
        "q": q,
        "v": v,
        "tau": np.zeros((count, 8)),
        "dt": np.full((count, 1), DT),
        "ground": ground.reshape(count, -1),
        "friction": np.array(friction, float),
        "law": np.array(law, float),
    }


@cache
def inputs() -> dict[str, Array]:
    """The states of all modes."""
    return states(list(MODES.values()))


@cache
def program(name: str) -> Program:
    return Chooser(model(), None, "graph").choose(lookup(name, model())).program


def result(name: str, given: dict[str, Array]) -> dict[str, Array]:
    taken = lookup(name, model()).sized(model()).inputs
    found: dict[str, Array] = run(program(name), {x.name: given[x.name] for x in taken})
    return found


@cache
def reached() -> dict[str, Array]:
    """The steps of all modes."""
    return result("contact_step", inputs())


@cache
def moving(name: str) -> dict[str, Array]:
    """The rates or adjoints of the function with this name."""
    rng, count = np.random.default_rng(5), len(MODES)
    more = [x for x in lookup(name, model()).sized(model()).inputs if x.name not in inputs()]
    found = {x.name: rng.normal(size=(count, x.size)) for x in more}
    for slow in {"dt_dot", "ground_dot", "friction_dot"} & found.keys():
        found[slow] *= 1e-3
    return found


@cache
def along() -> dict[str, Array]:
    """The derivatives along the rates."""
    return result("contact_step_jvp", inputs() | moving("contact_step_jvp"))


@cache
def difference() -> dict[str, Array]:
    """The rates by central differences of fourth order."""
    h, start = 1e-6, inputs()
    rates = {x.removesuffix("_dot"): rate for x, rate in moving("contact_step_jvp").items()}

    def end(time: float) -> dict[str, Array]:
        q = model().manifold.integrate(start["q"], time * rates["q"])
        others = {x: start[x] + time * rate for x, rate in rates.items() if x != "q"}
        found = result("contact_step", start | others | {"q": q})
        found["q_next"] = model().manifold.difference(reached()["q_next"], found["q_next"])
        return found

    (a, b), (c, d) = ((end(-times * h), end(times * h)) for times in (1, 2))
    return {x: (8 * (b[x] - a[x]) - (d[x] - c[x])) / (12 * h) for x in ("q_next", "v_next", "impulse")}


def position(mode: str) -> int:
    return list(MODES).index(mode)


@every_mode
def test_the_states_are_in_their_modes(mode: str) -> None:
    """The step is solved, and as many corners press and slide as the mode says."""
    k, said = position(mode), MODES[mode]
    assert reached()["residual"][k, 0] < 1e-12
    impulse, mu = reached()["impulse"][k, 3:].reshape(4, 3), inputs()["friction"][k, 1:]
    n = inputs()["ground"][k, 4:7]
    press = impulse @ n
    tangential = np.linalg.norm(impulse - press[:, None] * n, axis=1)
    assert (press > 1e-12).sum() == said.pressed
    assert ((press > 1e-12) & (tangential > (1 - 1e-9) * mu * press)).sum() == said.sliding
    assert (reached()["impulse"][k, :3] == 0).all() == (said.smoothing == 0)


@every_mode
def test_rates_are_differences(mode: str) -> None:
    """By q, v, tau, dt, the planes and the friction of every corner."""
    assert moving("contact_step_jvp").keys() == {
        f"{x}_dot" for x in ("q", "v", "tau", "dt", "ground", "friction")
    }
    k = position(mode)
    for name, expected in difference().items():
        scale = max(1, np.abs(expected[k]).max())
        np.testing.assert_allclose(along()[f"{name}_dot"][k], expected[k], rtol=0, atol=1e-6 * scale)
    assert along()["residual_dot"][k] == 0


@cache
def adjoints() -> dict[str, Array]:
    return result("contact_step_vjp", inputs() | moving("contact_step_vjp"))


@every_mode
def test_adjoints_are_those_of_the_rates(mode: str) -> None:
    k, bars, rates = position(mode), moving("contact_step_vjp"), moving("contact_step_jvp")
    one = sum(rates[f"{x.removesuffix('_bar')}_dot"][k] @ value[k].ravel() for x, value in adjoints().items())
    other = sum(along()[f"{x.removesuffix('_bar')}_dot"][k] @ bar[k] for x, bar in bars.items())
    assert one == pytest.approx(other, rel=1e-9)


@cache
def matrices() -> tuple[Array, Array, Array]:
    """A, B and by_friction of all modes."""
    found = result("contact_step_derivatives", inputs())
    shapes = {"A": (16, 16), "B": (16, 8), "by_friction": (8, 5)}
    A, B, by_friction = (found[name].reshape(-1, *shape) for name, shape in shapes.items())
    return A, B, by_friction


@cache
def held() -> dict[str, Array]:
    """The derivatives along the rates, if dt, the ground and the friction stay."""
    rates = moving("contact_step_jvp")
    stay = {name: 0 * rates[name] for name in ("dt_dot", "ground_dot", "friction_dot")}
    return result("contact_step_jvp", inputs() | rates | stay)


@pytest.mark.campaign
@every_mode
def test_matrices_are_rates(mode: str) -> None:
    k, rates = position(mode), moving("contact_step_jvp")
    A, B, by_friction = (matrix[k] for matrix in matrices())
    scale = max(1, np.abs(A).max())
    found = A @ np.append(rates["q_dot"][k], rates["v_dot"][k]) + B @ rates["tau_dot"][k]
    expected = np.append(held()["q_next_dot"][k], held()["v_next_dot"][k])
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * scale)
    slid = result_by_friction()["v_next_dot"][k]
    np.testing.assert_allclose(by_friction @ rates["friction_dot"][k], slid, rtol=0, atol=1e-10 * scale)


@cache
def result_by_friction() -> dict[str, Array]:
    """The derivatives along the rate of the friction alone."""
    rates = moving("contact_step_jvp")
    stay = {name: 0 * rate for name, rate in rates.items() if name != "friction_dot"}
    return result("contact_step_jvp", inputs() | rates | stay)
