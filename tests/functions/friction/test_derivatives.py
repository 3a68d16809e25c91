"""Derivatives of steps with frictional contacts, against differences of the step in every mode."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np
import pytest
from support.few import few

import rbdgen
from rbdgen import Point, RobotBuilder
from rbdgen.runtime import Function, Library

DT = 2e-3

MODES = {
    "open": {"height": 1e-2},
    "sticks": {"friction": 3.0},
    "slides": {"friction": 0.1},
    "one sticks, one slides": {"friction": (3.0, 0.05)},
    "one is open": {"friction": 0.3, "height": (1e-4, 2e-2)},
    "below the ground": {"height": -2e-4, "friction": 0.3},
    "far below the ground": {"height": -5e-2, "friction": 0.3},
    "bounces": {"restitution": 0.7, "friction": 3.0, "height": 1e-5},
    "smoothed": {"smoothing": 1e-4, "friction": 0.3, "height": 5e-4},
    "smoothed from afar": {"smoothing": 1e-3, "friction": 0.2, "height": 8e-3},
    "on springs": {"springs": ((2e4, 30.0), (5e3, 0.0)), "friction": 0.3, "height": -1e-3},
    "above a spring": {"springs": ((2e4, 30.0), (0.0, 40.0)), "friction": (3.0, 0.1), "height": 2e-4},
    "on one spring": {"springs": ((2e4, 30.0), (0.0, 0.0)), "friction": 0.3, "height": (-1e-3, 1e-5)},
    "sticks in an ellipse": {"ratio": (0.6, 1.5), "friction": 3.0},
    "slides on grain": {"ratio": (0.3, 2.0), "friction": 0.1},
    "slides on one axis": {"ratio": (0.0, 0.0), "friction": 0.3},
    "at the upper limits": {"joints": (-1e-4, -1e-4), "speed": 3.0, "friction": 0.3},
    "at the lower limits": {"joints": (1e-4, 1e-4), "speed": -3.0, "friction": 3.0},
    "past its limit": {"joints": (-1.0, 2e-4), "speed": 0.0, "friction": 0.3, "height": 1e-2},
    "joints at rest": {"speed": 0.0, "rest": True, "height": 1e-2},
    "all of them": {
        "springs": ((2e4, 30.0), (0.0, 0.0)),
        "ratio": (0.4, 0.7),
        "joints": (-1e-4, -1.0),
        "speed": 3.0,
        "friction": 0.2,
    },
}
"""States of all kinds, by the heights of both contacts above the ground, the friction and the law, and the
extras: the coordinates of joints from their upper (if negative) or lower limits, and their speeds.
"""

LIMIT: Final = 2.0

EXTRAS: Final = ("elastic", "anisotropic", "limits", "friction")


def hopper() -> RobotBuilder:
    """A trunk with a leg of two joints."""
    solid: dict[str, Any] = {"type": "revolute", "com": (0.01, 0, -0.1), "inertia": (4e-3, 3e-3, 2e-3)}
    solid |= {"limit": (-LIMIT, LIMIT), "friction": 0.2}
    built = RobotBuilder("hopper").add_body("trunk", mass=3, com=(0, 0, 0.05), inertia=(0.04, 0.03, 0.02))
    built.add_body("thigh", parent="trunk", xyz=(0.1, 0, 0), axis=(0, 1, 0), mass=0.6, **solid)
    return built.add_body("shank", parent="thigh", xyz=(0, 0, -0.2), axis=(0.6, 0.8, 0), mass=0.4, **solid)


@cache
def robot() -> rbdgen.Robot:
    """The hopper on a foot and on a sphere at its trunk, with all extras, which do nothing by default but for
    the dry friction of its joints.
    """
    contacts = [Point("foot", "shank", (0, 0, -0.2)), Point("tail", "trunk", (-0.15, 0, 0.02), radius=0.03)]
    return rbdgen.load_robot(
        hopper(),
        base="floating",
        friction="exact",
        contacts=contacts,
        contact_solver=(6, 8, 1),
        contact_with=EXTRAS,
    )


@cache
def library() -> Library:
    along = ["contact_step_vjp", "contact_step_jvp", "contact_step_servo_jvp"]
    names = ["contact_step", "contact_step_servo", "contact_step_derivatives", "contact_pose", "nle", *along]
    return rbdgen.build(robot(), functions=[*names, "integrate", "difference", "step_derivatives"])


@cache
def adjoint(name: str) -> Function:
    """NAME_vjp; that of a servo is only built in campaigns."""
    found = library() if name == "contact_step" else rbdgen.build(robot(), functions=[f"{name}_vjp"])
    return found.functions[f"{name}_vjp"]


def state(mode: str, seed: int) -> dict[str, Any]:
    """The inputs of a step in this mode, on tilted ground."""
    lib, rng, said = library(), np.random.default_rng(seed), MODES[mode]
    q = lib.random(rng)
    q[3:7] = [*(0.1 * rng.normal(size=3)), 1]
    q[3:7] /= np.linalg.norm(q[3:7])
    q[7:] *= 0.5  # within the limits
    if "joints" in said:
        near = np.array(said["joints"])
        q[7:] = np.where(near < 0, LIMIT + near, near - LIMIT)
        q[7:] = np.where(near < -0.5, 0.3, q[7:])
        if said["speed"] == 0:
            q[8] = LIMIT + near[1]
    normals = 0.2 * rng.normal(size=(2, 3)) + (0, 0, 1)
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    heights = np.broadcast_to(said.get("height", 1e-5), 2)
    law = (1e-4, 0.2, 1.0, said.get("restitution", 0), 0.05, said.get("smoothing", 0))
    v = rng.normal(size=8)
    v[:3] -= 3 * normals.mean(axis=0)  # towards the ground, in about the axes of the world
    if "speed" in said:
        v[6:] = said["speed"] + 0.1 * v[6:] * (said["speed"] != 0)
    tau = rng.normal(size=8)
    if "rest" in said:  # gravity and all torques but the friction are balanced
        v = np.zeros(8)
        tau = lib.nle(q, v) + [*(0.3 * rng.normal(size=6)), 0.05, -0.04]
    slants = np.column_stack([rng.normal(size=(2, 3)), np.broadcast_to(said.get("ratio", 1.0), 2)])
    offsets = np.sum(normals * lib.contact_pose(q)[0], axis=1) - (0, 0.03) - heights
    return {
        "q": q,
        "v": v,
        "tau": tau,
        "dt": DT,
        "ground": np.column_stack([normals, offsets]),
        "friction": np.array(np.broadcast_to(said.get("friction", 0.5), 2), float),
        "law": np.array(law, float),
        "springs": np.array(said.get("springs", np.zeros((2, 2))), float),
        "anisotropy": slants,
    }


def moved(x: dict[str, Any], by: dict[str, Any], h: float) -> dict[str, Any]:
    """The inputs after they moved for the time h at these rates."""
    changed = {name: x[name] + h * np.asarray(rate) for name, rate in by.items() if name != "q"}
    return {**x, **changed, "q": library().integrate(x["q"], h * by["q"])}


def difference(name: str, x: dict[str, Any], by: dict[str, Any], h: float) -> list[Any]:
    """The rates of the results of a step, by central differences of fourth order."""

    def end(at: float) -> list[Any]:
        found = getattr(library(), name)(**moved(x, by, at))
        return [library().difference(start, found[0]), *found[1:3]]

    start = getattr(library(), name)(**x)[0]
    near, far = ([b - a for a, b in zip(end(-k * h), end(k * h), strict=True)] for k in (1, 2))
    return [(8 * one - two) / (12 * h) for one, two in zip(near, far, strict=True)]


def rates(rng: np.random.Generator, x: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    sizes = {"q": 8, "v": 8, "tau": 8}
    return {name: rng.normal(size=sizes.get(name, np.shape(x[name]))) for name in names}


def assert_close(found: Any, expected: Any, tolerance: float) -> None:
    scale = max(1.0, np.abs(expected).max())
    assert np.abs(np.asarray(found) - expected).max() <= tolerance * scale


def servo(rng: np.random.Generator) -> dict[str, Any]:
    return {"kp": rng.uniform(5, 50, 2), "kd": rng.uniform(0.1, 1, 2), "target": rng.normal(size=2)}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["contact_step", "contact_step_servo"])
def test_rates_are_differences(name: str, mode: str) -> None:
    """NAME_jvp is the derivative along a direction."""
    x, by, found = rates_along(name, mode)
    for value, other in zip(found, difference(name, x, by, 3e-7), strict=False):
        assert_close(value, other, 1e-6)
    assert found[3] == 0


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", few(["contact_step"], ["contact_step", "contact_step_servo"]))
def test_adjoints_are_transposed(name: str, mode: str) -> None:
    """NAME_vjp is the transpose of NAME_jvp."""
    rng = np.random.default_rng(6)
    x, by, found = rates_along(name, mode)
    weights = [rng.normal(size=np.shape(value)) for value in found]
    bars = dict(zip(("q_next_bar", "v_next_bar", "impulse_bar", "residual_bar"), weights, strict=True))
    gradient = adjoint(name)(**x, **bars)
    order = [key.name.removesuffix("_bar") for key in adjoint(name).signature.outputs]
    inner = sum(np.sum(value * by[key]) for key, value in zip(order, gradient, strict=True))
    assert inner == pytest.approx(sum(np.sum(a * b) for a, b in zip(found, weights, strict=True)), rel=1e-9)


def rates_along(name: str, mode: str) -> tuple[dict[str, Any], dict[str, Any], Any]:
    """A state, a direction in which its inputs move, and the rates of the results along it."""
    lib, rng = library(), np.random.default_rng(5)
    x = state(mode, 3) | (servo(rng) if name.endswith("servo") else {})
    assert getattr(lib, name)(**x)[3] < 1e-12
    moving = ("q", "v", "tau", "dt", "friction", "anisotropy", "springs")
    moving += ("target",) if "target" in x else ()
    by = rates(rng, x, moving) | {"dt": 1e-3 * rng.normal(), "friction": 1e-2 * rng.normal(size=2)}
    by["springs"] *= x["springs"]  # no spring appears
    by["ground"] = np.zeros((2, 4))
    return x, by, getattr(lib, f"{name}_jvp")(**x, **{f"{key}_dot": value for key, value in by.items()})


@pytest.mark.parametrize("mode", MODES)
def test_matrices_are_rates(mode: str) -> None:
    """A, B and by_friction are the derivatives along all directions."""
    lib, rng = library(), np.random.default_rng(7)
    for seed in range(6):
        x = state(mode, seed)
        if lib.contact_step(**x)[3] > 1e-12:
            continue
        A, B, by_friction = lib.contact_step_derivatives(**x)
        by = rates(rng, x, ("q", "v", "tau", "friction"))
        dots = by | {"dt": 0.0} | STILL
        found = lib.contact_step_jvp(**x, **{f"{key}_dot": value for key, value in dots.items()})
        change = A @ np.append(by["q"], by["v"]) + B @ by["tau"]
        assert_close(change[8:] + by_friction @ by["friction"], found[1], 1e-11)
        still = dots | {"friction": np.zeros(2)}
        found = lib.contact_step_jvp(**x, **{f"{key}_dot": value for key, value in still.items()})
        assert_close(change[:8], found[0], 1e-11)


STILL: Final = {"ground": np.zeros((2, 4)), "springs": np.zeros((2, 2)), "anisotropy": np.zeros((2, 4))}


def test_flight_has_the_derivatives_of_step() -> None:
    lib, x = library(), state("open", 4)
    x["v"][6:] = -1.8, 1.5  # dry friction stops no joint
    A, B, by_friction = lib.contact_step_derivatives(**x)
    free = lib.step_derivatives(x["q"], x["v"], x["tau"], DT)
    assert_close(A, free[0], 1e-14)
    assert_close(B, free[1], 1e-14)
    assert not by_friction.any()


def test_ground_moves_the_robot() -> None:
    """The derivative by the offset of the plane, with a smoothed law."""
    lib, x = library(), state("smoothed", 1)
    dots = {name: np.zeros(8) for name in ("q", "v", "tau")} | {"dt": 0.0, "friction": np.zeros(2)} | STILL
    up = np.zeros((2, 4))
    up[:, 3] = 1
    found = lib.contact_step_jvp(
        **x, **{f"{key}_dot": value for key, value in (dots | {"ground": up}).items()}
    )
    still = {"q": np.zeros(8), "ground": up}
    assert_close(found[1], difference("contact_step", x, still, 1e-7)[1], 1e-6)
    assert np.abs(found[1]).max() > 1


def test_negative_gains_are_refused() -> None:
    x = state("on springs", 1)
    x["springs"][1, 0] = -5
    with pytest.raises(rbdgen.RbdgenError) as caught:
        library().contact_step(**x)
    told = "contact_step: springs[1, 0] is -5; pass a number that is not negative"
    assert str(caught.value) == told


@pytest.mark.parametrize(
    ("name", "of"),
    [
        ("contact_step_hvp", "contact_step"),
        ("contact_step_jacobian", "contact_step"),
        ("contact_step_vjp_jvp", "contact_step"),
        ("contact_step_derivatives_vjp", "contact_step_derivatives"),
        ("contact_step_derivatives_jvp", "contact_step_derivatives"),
        ("contact_step_derivatives_jacobian", "contact_step_derivatives"),
    ],
)
def test_second_derivatives_are_refused(name: str, of: str) -> None:
    with pytest.raises(rbdgen.RbdgenError, match=f"function '{name}': {of} solves an equation"):
        rbdgen.build(hopper_on_a_foot(), functions=[name])


def hopper_on_a_foot() -> Any:
    return rbdgen.load_robot(hopper(), base="floating", contacts=[Point("foot", "shank")])
