"""The matrices of derivatives are the derivatives along directions, on robots with soles, frames, loops,
followers and joint resistance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.contacts import legs, robot_with_contacts
from support.few import few
from support.friction import near_ground
from support.soles import walker

import rbdgen
from rbdgen import Frame, Loop, Point, RobotBuilder
from rbdgen.functions.table import lookup
from rbdgen.graph.programs.run import run
from rbdgen.model.contacts import SolverPlan
from rbdgen.model.model import Model
from rbdgen.selection.differentiate import Chooser

PLAN = SolverPlan(10, 10, 2)


def with_followers() -> Model:
    """Two legs, of which one follows the other, with damping and rotors, on a sphere and a point."""
    built = RobotBuilder("walker").add_body("trunk", mass=4, com=(0, 0, 0.1), inertia=(0.05, 0.04, 0.03))
    solid: dict[str, Any] = {"mass": 0.7, "com": (0, 0.01, -0.1), "inertia": (4e-3, 3e-3, 2e-3)}
    for side, y in (("left", 0.1), ("right", -0.1)):
        more = {"mimic": ("left_hip", -0.5, 0.1)} if side == "right" else {"damping": 0.3, "armature": 0.01}
        built.add_body(
            f"{side}_leg",
            parent="trunk",
            joint=f"{side}_hip",
            type="revolute",
            axis=(0, 1, 0),
            xyz=(0, y, 0),
            **solid,
            **more,
        )
    contacts = [
        Point("left", "left_leg", (0, 0, -0.2), radius=0.03),
        Point("right", "right_leg", (0, 0, -0.2)),
    ]
    return rbdgen.load_robot(built, base="floating", contacts=contacts, damping=True).model


def held_by_a_loop() -> Model:
    """Two legs whose shanks are tied together, on a sole that stays closed and on a point."""
    contacts = [
        Frame("sole", "left_sole"),
        Loop("tie", "right_shank", (0, 0.02, 0), "hand", (0.1, 0, 0)),
        Point("toe", "right_sole", (0.05, 0, 0), radius=0.02),
    ]
    return rbdgen.load_robot(legs(), base="floating", contacts=contacts).model


def arm() -> Model:
    return robot_with_contacts("arm").model


def on_a_sole() -> Model:
    return walker().model


def result(model: Model, name: str, inputs: dict[str, Any]) -> dict[str, Any]:
    row = lookup(name, model)
    program = Chooser(model, None, "graph").choose(row).program
    return run(program, {x.name: inputs[x.name] for x in row.sized(model).inputs})


@pytest.mark.parametrize(
    "make",
    few([with_followers, arm], [with_followers, held_by_a_loop, arm, on_a_sole]),
    ids=lambda make: make.__name__,
)
def test_matrices_are_rates(make: Callable[[], Model]) -> None:
    model = replace(make(), contact_solver=PLAN)
    count, rng = 12, np.random.default_rng(2)
    inputs = near_ground(model, count)
    sizes = {x.name: x.size for x in lookup("contact_step_jvp", model).sized(model).inputs}
    inputs = {
        x.name: np.broadcast_to(inputs.get(x.name, x.default), (count, x.size))
        for x in lookup("contact_step", model).sized(model).inputs
    }
    inputs |= {name: rng.normal(size=(count, size)) for name, size in sizes.items() if name.endswith("_dot")}
    inputs |= {name: 0 * inputs[name] for name in ("dt_dot", "ground_dot")}
    found = result(model, "contact_step_derivatives", inputs)
    rates = result(model, "contact_step_jvp", inputs)
    exact = result(model, "contact_step", inputs)["residual"][:, 0] < 1e-11
    assert exact.sum() >= 6
    nv = sizes["v"]
    moved = np.concatenate([inputs["q_dot"], inputs["v_dot"]], axis=1)
    change = np.einsum("sij,sj->si", found["A"], moved) + np.einsum(
        "sij,sj->si", found["B"], inputs["tau_dot"]
    )
    lower = change[:, nv:] + np.einsum("sij,sj->si", found["by_friction"], inputs["friction_dot"])
    scale = np.maximum(np.abs(rates["v_next_dot"]).max(1), 1)[:, None]
    assert np.abs((lower - rates["v_next_dot"]) / scale)[exact].max() < 1e-9
    still = result(model, "contact_step_jvp", {**inputs, "friction_dot": 0 * inputs["friction_dot"]})
    assert np.abs((change[:, :nv] - still["q_next_dot"]) / scale)[exact].max() < 1e-9
