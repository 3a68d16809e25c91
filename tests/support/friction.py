"""Steps with frictional contacts for tests: robots, states, the law of contact as an oracle, simulations."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from support.contacts import robot_with_contacts
from support.forms import FunctionForm, run_on_floats
from support.states import random_inputs

import rbdgen
from rbdgen import Point
from rbdgen.functions.friction import mobility
from rbdgen.functions.friction.composite import OnMatrices
from rbdgen.functions.friction.step import Step
from rbdgen.functions.table import lookup
from rbdgen.model.build import Robot
from rbdgen.model.contacts import SolverPlan
from rbdgen.model.model import Model
from rbdgen.sweeps.inputs import state_of
from rbdgen.sweeps.loops import Arrays

Array = NDArray[np.float64]

LAW: Final = (1e-4, 0.2, 1.0, 0.0, 0.05, 0.0)
"""The default of the input `law`."""

LEVEL: Final = (0.0, 0.0, 1.0, 0.0)


class Stepped(NamedTuple):
    """The outputs of `contact_step`, with a row for each state."""

    q: Array
    v: Array
    impulse: Array
    residual: Array


def law(**changed: float) -> tuple[float, ...]:
    """The default law of contact with some numbers changed."""
    names = ("softness", "pull", "push", "restitution", "slow", "smoothing")
    assert changed.keys() <= set(names)
    return tuple(changed.get(name, value) for name, value in zip(names, LAW, strict=True))


def outputs(model: Model, name: str, form: str | None = None, **inputs: Any) -> list[Array]:
    """The outputs of a function for many states. Inputs broadcast over the states."""
    row = lookup(name, model)
    count = max(len(np.atleast_2d(value)) for value in inputs.values())
    sized = row.sized(model).inputs
    given = {
        x.name: np.broadcast_to(np.reshape(inputs[x.name], (-1, x.size)), (count, x.size)) for x in sized
    }
    chosen = row.forms_for(model)[0] if form is None else row.form(form)
    with np.errstate(all="ignore"):  # a Newton step with a singular matrix is not finite, and not taken
        return run_on_floats(FunctionForm(row, chosen), model, given)


def step(model: Model, form: str = "composite", name: str = "contact_step", **inputs: Any) -> Stepped:
    """One step. The robot rests at `neutral`, without torques, on level ground, if nothing else is given."""
    sized = lookup(name, model).sized(model).inputs
    sizes = {x.name: x.size for x in sized}
    known: dict[str, Any] = {x.name: x.default for x in sized if x.default is not None}
    known |= {
        "q": model.manifold.neutral(),
        "v": np.zeros(sizes["v"]),
        "tau": np.zeros(sizes["tau"]),
        "dt": 1e-3,
        "ground": np.tile(LEVEL, sizes["friction"]),
        "friction": np.full(sizes["friction"], 0.7),
        "law": LAW,
    }
    for key, value in inputs.items():
        known[key] = np.broadcast_to(value, (*np.shape(value)[:-1], sizes[key])).reshape(-1, sizes[key])
    return Stepped(*outputs(model, name, form, **known))


def plane(normal: Any, offset: float = 0.0) -> Array:
    """The numbers of a plane with this normal, which is scaled to unit length."""
    n = np.asarray(normal, float)
    return np.array([*(n / np.linalg.norm(n)), offset])


# ---- robots


def on_points(points: dict[str, tuple[float, float, float]], **more: Any) -> Robot:
    """A free body of 2 kg with contacts at points."""
    built = rbdgen.RobotBuilder("body").add_body("body", mass=2, inertia=(0.01, 0.015, 0.02))
    contacts = [Point(name, "body", at) for name, at in points.items()]
    return rbdgen.load_robot(built, base="floating", contacts=contacts, **more)


@cache
def ball(radius: float = 0.0) -> Model:
    """A free body with one contact at its center of mass: a point mass, or with a radius a sphere.

    A sphere of 2 kg is solid, so that its inertia is 2/5 m r^2.
    """
    own = 0.4 * 2 * radius**2 if radius else 1.0
    built = rbdgen.RobotBuilder("ball").add_body("ball", mass=2, inertia=(own, own, own))
    return rbdgen.load_robot(
        built, base="floating", contacts=[Point("at", "ball", (0, 0, 0), radius=radius)]
    ).model


def placed(model: Model, position: Any) -> Array:
    """Configurations of a free body at these positions, without a rotation."""
    at = np.atleast_2d(position)
    return np.hstack([at, np.tile(model.manifold.neutral()[3:], (len(at), 1))])


CORNERS: Final = {f"{x:+d}{y:+d}": (0.1 * x, 0.1 * y, -0.05) for x in (1, -1) for y in (1, -1)}


@cache
def block(plan: tuple[int, int, int] = (3, 2, 0)) -> Model:
    """A block on its four lower corners, which are 12 rows of rank 6."""
    return on_points(CORNERS, contact_solver=plan).model


def quadruped(plan: tuple[int, int, int] = (3, 2, 0)) -> Model:
    """The quadruped on points of its four feet, with this plan of the solver."""
    return replace(robot_with_contacts("quadruped").model, contact_solver=SolverPlan(*plan))


def crouched(bend: float = 0.7) -> Array:
    """A configuration in which the quadruped stands on its four feet, with its legs bent."""
    q = quadruped().manifold.neutral()
    q[7:] = np.tile([0, bend, -2 * bend], 4)
    (position, *_) = outputs(quadruped(), "contact_pose", q=q)
    q[2] = -position.reshape(-1, 3)[:, 2].min()
    return q


def standing_torques(q: Array) -> Array:
    """Torques with which the quadruped rests on its four feet, with forces that are the smallest."""
    (J,), (h,) = outputs(quadruped(), "contact_jacobian", q=q), outputs(quadruped(), "nle", q=q, v=0 * q[:18])
    actuated = np.vstack([np.zeros((6, 12)), np.eye(12)])
    balance = np.hstack([actuated, J[0].T])
    found: Array = np.linalg.lstsq(balance, h[0], rcond=None)[0][:12]
    return np.concatenate([np.zeros(6), found])


# ---- the law of contact, from functions that do not know the solver


def mobilities(model: Model) -> Array:
    """The mean of the diagonal of J M^-1 J^T over the three rows of every point, in the neutral
    configuration.
    """
    q = model.manifold.neutral()
    (M,), (J,) = outputs(model, "crba", q=q), outputs(model, "contact_jacobian", q=q)
    diagonal = np.diag(J[0] @ np.linalg.solve(M[0], J[0].T))
    return np.asarray(diagonal.reshape(-1, 3).mean(1))


class Checked(NamedTuple):
    """The errors of steps, each the largest of its kind for each state."""

    motion: float
    """See `momentum_error`."""
    integration: Array
    complementarity: Array
    """min(c_n, lambda_n G_nn), in m/s."""
    cone: Array
    """The excess of the friction over mu lambda_n, times the largest diagonal of G, in m/s."""
    slip: Array
    """The tangential velocity of contacts inside of the cone, and its part that friction does not oppose."""


def checked(model: Model, found: Stepped, **inputs: Any) -> Checked:
    """Checks a step of points on level planes, with restitution 0, against the law of Coulomb."""
    q, dt, mu = (np.atleast_2d(inputs[x]) for x in ("q", "dt", "friction"))
    count, K = len(found.q), len(model.contacts)
    softness, pull, push = inputs.get("law", LAW)[:3]
    (M,), (J,) = outputs(model, "crba", q=q), outputs(model, "contact_jacobian", q=q)
    position = outputs(model, "contact_pose", q=q)[0]
    integration = np.abs(found.q - model.manifold.integrate(q, dt * found.v)).max(1)
    blocks = J.reshape(count, K, 3, -1)
    G = np.einsum("skij,sjl,skml->skim", blocks, np.linalg.inv(M), blocks)
    diagonal = np.einsum("skii->ski", G)
    soft = np.tile(softness * mobilities(model), (count, 1))
    impulse = found.impulse.reshape(count, K, 3)
    planes = np.reshape(inputs.get("ground", np.tile(LEVEL, K)), (-1, K, 4))
    assert (planes[:, :, :3] == LEVEL[:3]).all()
    gap = position.reshape(count, K, 3)[:, :, 2] - planes[:, :, 3]
    bias = np.where(gap > 0, gap / dt, np.maximum(pull * gap / dt, -push))
    c = np.einsum("skij,sj->ski", blocks, found.v) + soft[:, :, None] * impulse
    c[:, :, 2] += bias
    normal, friction = impulse[:, :, 2], np.linalg.norm(impulse[:, :, :2], axis=-1)
    assert (normal >= 0).all()
    complementarity = np.abs(np.minimum(c[:, :, 2], normal * diagonal[:, :, 2])).max(1)
    largest = diagonal.max(-1)
    cone = ((friction - mu * normal) * largest).max(1)
    sliding = np.linalg.norm(c[:, :, :2], axis=-1)
    inside = np.minimum(sliding, np.maximum(mu * normal - friction, 0) * largest)
    pressed = friction * largest > 1e-9
    along = np.einsum("skt,skt->sk", c[:, :, :2], impulse[:, :, :2])
    opposed = np.where(pressed, (along + sliding * friction) / np.maximum(friction, 1e-300), 0)
    held = np.where(normal > 0, np.maximum(inside, opposed), 0)
    motion = momentum_error(model, found, **inputs)
    return Checked(motion, integration, complementarity, cone, held.max(1))


# ---- many states


def random_states(count: int, wild: bool, seed: int = 7, lowest: float = -1e-3) -> dict[str, Array]:
    """States of the quadruped in which about two feet hit the ground, which each have a plane of their own.

    Feet are between `lowest` and 2 mm above their planes.
    """
    model, rng = quadruped(), np.random.default_rng(seed)
    q = np.tile(model.manifold.neutral(), (count, 1))
    q[:, 3:7] += (1.0 if wild else 0.2) * rng.standard_normal((count, 4))
    q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1)[:, None]
    q[:, 7:] += (1.0 if wild else 0.4) * rng.standard_normal((count, 12))
    v = (3.0 if wild else 0.5) * rng.standard_normal((count, 18))
    tau = 5 * rng.standard_normal((count, 18))
    tau[:, :6] = 0
    gap = rng.uniform(lowest, 2e-3, (count, 4))
    ground = np.tile(LEVEL, (count, 4)).reshape(count, 4, 4)
    ground[:, :, 3] = outputs(model, "contact_pose", q=q)[0].reshape(count, 4, 3)[:, :, 2] - gap
    return {
        "q": q,
        "v": v,
        "tau": tau,
        "dt": np.full((count, 1), 2e-3),
        "ground": ground.reshape(count, 16),
        "friction": rng.uniform(0, 1.2, (count, 4)),
    }


def problem(inputs: dict[str, Array]) -> Arrays:
    """The problems of the solver of the quadruped for these states."""
    model, count = quadruped(), len(inputs["q"])
    given = {**inputs, "ground": np.tile([0, 0, 1.0, 0], (count, 4)), "law": np.tile(law(), (count, 1))}
    sized = lookup("contact_step").sized(model).inputs
    state = state_of(model, [(x, list(given[x.name].T)) for x in sized], np.cos, np.sin)
    step: Step[OnMatrices] = Step(model, state, OnMatrices, mobility.mobilities(model))
    return step.problem()


def near_ground(model: Model, count: int, seed: int = 1, lowest: float = -1e-3) -> dict[str, Array]:
    """Random states of any robot, with a tilted plane near each contact that has friction."""
    row, rng = lookup("contact_step", model), np.random.default_rng(seed)
    inputs = random_inputs(model, row.signature, count, seed)
    points = model.on_points  # the corners of soles are points of their own
    places = outputs(points, "contact_pose", q=inputs["q"])[0].reshape(count, -1, 3)
    held = [k for k, contact in enumerate(points.contacts) if contact.has_friction]
    radius = np.array([float(points.contacts[k].radius) for k in held])
    ground = inputs["ground"].reshape(count, len(held), 4)
    gap = rng.uniform(lowest, 2e-3, (count, len(held)))
    ground[:, :, 3] = (ground[:, :, :3] * places[:, held]).sum(-1) - radius - gap
    law = np.tile(LAW, (count, 1))
    return {**inputs, "ground": ground.reshape(count, -1), "law": law}


def momentum_error(model: Model, found: Stepped, **inputs: Any) -> float:
    """The largest error of M (v_next - v_free) = J^T impulse, relative to the momentum of the free motion and
    to the impulses, which are huge if rows are redundant.
    """
    q, v, tau, dt = (np.atleast_2d(inputs[x]) for x in ("q", "v", "tau", "dt"))
    (M,), (J,) = outputs(model, "crba", q=q), outputs(model, "contact_jacobian", q=q)
    (a,) = outputs(model, "aba", q=q, v=v, tau=tau)
    free = v + dt * a
    caused = np.einsum("sij,sj->si", M, found.v - free)
    given = np.einsum("sij,si->sj", J, found.impulse)
    parts = np.einsum("sij,si->sj", np.abs(J), np.abs(found.impulse))
    scale = parts.max(1) + np.abs(M).max((1, 2)) * np.abs(free).max(1)
    return float((np.abs(caused - given).max(1) / scale).max())


class Recorded(NamedTuple):
    """The states of a simulation, case by case, before each step."""

    cases: tuple[str, ...]
    inputs: dict[str, Array]
    """The inputs of each step, in arrays (steps x cases, size)."""
    residual: Array
    """The residual of each step, (steps, cases)."""


def _trot(time: Array, standing: Array, trots: Array) -> Array:
    """Angles of the joints of each case: where it trots, two pairs of diagonal legs take turns to lift."""
    angles, phase = standing.copy(), 2 * np.pi * 2.5 * time
    for leg, sign in ((0, 1), (3, 1), (1, -1), (2, -1)):
        lift = 0.35 * np.maximum(0, sign * np.sin(phase)) * trots
        angles[:, 3 * leg + 1] += lift + 0.15 * sign * np.cos(phase) * trots
        angles[:, 3 * leg + 2] -= 2 * lift
    return angles


@cache
def recorded(steps: int = 120) -> Recorded:
    """The quadruped stands, drops, slides, trots, and stands on nearly straight legs, with PD control.

    All cases advance together, with time steps of 1 ms and 4 ms each.
    """
    model = quadruped()
    names = ("stand", "drop", "slide", "trot", "straight")
    cases = tuple(f"{name}, {dt} ms" for name in names for dt in (1, 4))
    dt = np.tile([1e-3, 4e-3], len(names))[:, None]
    q = np.stack([crouched(0.02 if name == "straight" else 0.7) for name in names]).repeat(2, 0)
    v, mu = np.zeros((10, 18)), np.repeat([0.7, 0.6, 0.2, 0.6, 0.7], 2)[:, None] * np.ones(4)
    q[2:4, 2] += 0.02
    v[2:4] = [0.5, 0, -0.5, 1, -0.7, 0.5, *np.zeros(12)]
    v[4:6, :6] = [1.2, -0.8, 0, 0, 0, 1]
    standing, kp = q[:, 7:].copy(), np.repeat([40.0, 40, 40, 60, 80], 2)[:, None]
    kd, trots = np.where(dt < 2e-3, 1.0, 0.4), np.repeat([0.0, 0, 0, 1, 0], 2)
    taken: list[dict[str, Array]] = []
    residuals: list[Array] = []
    for k in range(steps):
        wanted = _trot(k * dt[:, 0], standing, trots)
        tau = np.zeros((10, 18))
        tau[:, 6:] = np.clip(kp * (wanted - q[:, 7:]) - kd * v[:, 6:], -18, 18)
        inputs = {"q": q, "v": v, "tau": tau, "dt": dt, "friction": mu}
        found = step(model, **inputs)
        taken.append(inputs)
        residuals.append(found.residual[:, 0])
        q, v = found.q, found.v
    joined = {name: np.concatenate([x[name] for x in taken]) for name in taken[0]}
    return Recorded(cases, joined, np.array(residuals))


def simulate(model: Model, steps: int, **inputs: Any) -> list[Stepped]:
    """Steps one after another, from the given inputs."""
    found: list[Stepped] = []
    for _ in range(steps):
        found.append(step(model, **inputs))
        inputs = {**inputs, "q": found[-1].q, "v": found[-1].v}
    return found
