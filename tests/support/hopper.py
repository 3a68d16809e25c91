"""A robot that hops on one leg, and inputs of its rollouts with contacts."""

from __future__ import annotations

from typing import Any

import numpy as np

import rbdgen
from rbdgen import Point
from rbdgen.runtime import Library

Array = np.ndarray[Any, Any]
STEPS, DT, LEG = 5, 2e-3, 0.2
FURTHER = ("ground", "friction", "law")
"""The inputs of `contact_step` that may differ from step to step."""


def hopper() -> rbdgen.Robot:
    """A trunk on a leg, with two contacts, and a set of contacts that has the foot alone."""
    builder = rbdgen.RobotBuilder("hopper").add_body("trunk", mass=2, inertia=(0.02, 0.03, 0.02))
    for name, parent, z in (("thigh", "trunk", 0), ("shank", "thigh", -LEG)):
        place = {"xyz": (0, 0, z), "com": (0, 0, -LEG / 2), "inertia": (0.002, 0.002, 0.001)}
        builder.add_body(name, parent=parent, type="revolute", axis=(0, 1, 0), mass=0.3, **place)
    return rbdgen.load_robot(
        builder,
        base="floating",
        contacts=[
            Point("foot", "shank", (0, 0, -LEG), radius=0.02),
            Point("corner", "trunk", (0.1, 0, -0.4)),
        ],
        contact_sets={"one": ["foot"]},
    )


def drawn(lib: Library, leading: tuple[int, ...], name: str = "contact_step") -> dict[str, Array]:
    """Inputs of rollouts close to the ground, with a ground, friction and law for each step."""
    rng = np.random.default_rng(len(leading))
    contacts = lib.functions[name].signature.inputs[5].size
    q = np.broadcast_to(lib.neutral(), (*leading, lib.nq)).copy()
    q[..., 2] = 2 * LEG + rng.uniform(-0.01, 0.02, leading)
    q[..., -2:] = rng.uniform(-0.2, 0.2, (*leading, 2))
    each = (*leading, STEPS)
    ground = np.zeros((*each, contacts, 4))
    ground[..., 2], ground[..., 3] = 1, rng.uniform(-2e-3, 2e-3, (*each, contacts))
    return {
        "q": q,
        "v": rng.uniform(-1, 1, (*leading, lib.nv)),
        "tau": rng.uniform(-1, 1, (*each, lib.nv)),
        "dt": rng.uniform(0.5, 1, leading) * DT,
        "ground": ground,
        "friction": rng.uniform(0, 0.8, (*each, contacts)),
        "law": np.array([1e-4, 0.2, 1, 0.3, 0.05, 0]) * rng.uniform(0.5, 1, (*each, 6)),
    }


def at_start(x: dict[str, Array], *names: str) -> dict[str, Array]:
    """The inputs with those of the first step for all steps."""
    axis = x["dt"].ndim
    return {name: value.take(0, axis) if name in names else value for name, value in x.items()}


def same(results: Any, expected: Any) -> None:
    assert len(results) == len(expected)
    for result, right in zip(results, expected, strict=True):
        np.testing.assert_array_equal(result, right)
