"""Robots on soles for tests, and random impacts of these soles."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
from support.contacts import legs
from support.friction import Array, Checked, Stepped, checked, law, outputs
from support.robots import BUNDLED

import rbdgen
from rbdgen import Point, Sole
from rbdgen.functions.friction.mobility import PADS
from rbdgen.model.build import Robot
from rbdgen.model.contacts import SolverPlan
from rbdgen.model.model import Model

HEEL, TOE, WIDTH, BELOW = -0.06, 0.18, 0.1, -0.0679
"""The soles of the humanoid: from x = HEEL to x = TOE, below the origin of the foot."""


@cache
def humanoid() -> Robot:
    """The humanoid on the rectangles of its two soles."""
    at = ((HEEL + TOE) / 2, 0, BELOW)
    soles = [Sole(side, f"{side}_foot", (TOE - HEEL, WIDTH), at) for side in ("left", "right")]
    return rbdgen.load_robot(BUNDLED["humanoid30"], base="floating", contacts=soles)


@cache
def box() -> Robot:
    """A free body of 2 kg on the sole below it."""
    built = rbdgen.RobotBuilder("body").add_body("body", mass=2, inertia=(0.01, 0.015, 0.02))
    return rbdgen.load_robot(
        built, base="floating", contacts=[Sole("sole", "body", (0.2, 0.2), (0, 0, -0.05))]
    )


@cache
def walker() -> Robot:
    """Two legs, on a triangular sole that is tilted against its link, and on a sphere."""
    contacts = [
        Sole("sole", "left_sole", corners=[(0.1, 0, 0.01), (-0.05, 0.04, 0), (-0.05, -0.04, 0)]),
        Point("toe", "right_sole", (0.05, 0, 0), radius=0.02),
    ]
    return rbdgen.load_robot(legs(), base="floating", contacts=contacts)


def planned(robot: Robot, *plan: int) -> Model:
    """The robot with another plan of the solver."""
    return replace(robot.model, contact_solver=SolverPlan(*plan))


def corners(model: Model, q: Array) -> Array:
    """The points of a robot that can touch the ground, in world axes."""
    return outputs(model.on_points, "contact_pose", q=q)[0].reshape(len(q), -1, 3)


def random_impacts(model: Model, count: int, wild: bool, rough: bool, seed: int = 7) -> dict[str, Array]:
    """States in which soles hit the ground.

    On rough ground, each corner has a level plane and a friction of its own, and is between -1 and 2 mm above
    the plane. Otherwise a plane is nearly parallel to each sole.
    """
    rng, sizes, size = np.random.default_rng(seed), model.sizes, len(model.contacts[0].corners)
    shape = (count, len(model.contacts), size)
    q = np.tile(model.manifold.neutral(), (count, 1))
    q[:, 3:7] += (1.0 if wild else 0.2) * rng.standard_normal((count, 4))
    q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1)[:, None]
    q[:, 7:] += (1.0 if wild else 0.4) * rng.standard_normal((count, sizes["nq"] - 7))
    v = (3.0 if wild else 0.5) * rng.standard_normal((count, sizes["nv"]))
    tau = 5 * rng.standard_normal((count, sizes["nv"]))
    tau[:, :6] = 0
    place, R = (x.reshape(count, shape[1], -1) for x in outputs(model, "contact_pose", q=q))
    at, ground, gap = (
        corners(model, q).reshape(*shape, 3),
        np.zeros((*shape, 4)),
        rng.uniform(-1e-3, 2e-3, shape),
    )
    friction = rng.uniform(0, 1.2, shape)
    ground[..., 2] = 1
    if not rough:
        tilt = np.append(-0.01 * rng.standard_normal((*shape[:2], 2)), np.ones((*shape[:2], 1)), axis=-1)
        tilt /= np.linalg.norm(tilt, axis=-1)[..., None]
        n = np.einsum("sfij,sfj->sfi", R.reshape(*shape[:2], 3, 3), tilt)[:, :, None]
        ground[..., :3] = n
        gap = gap[:, :, :1] + ((at - place[:, :, None]) * n).sum(-1)
        friction = friction[:, :, :1] + 0 * friction
    ground[..., 3] = (ground[..., :3] * at).sum(-1) - gap
    return {
        "q": q,
        "v": v,
        "tau": tau,
        "dt": np.full((count, 1), 2e-3),
        "ground": ground.reshape(count, -1),
        "friction": friction.reshape(count, -1),
    }


def checked_corners(model: Model, found: Stepped, softness: float = 1e-4, **inputs: Array) -> Checked:
    """Checks a step of soles on level planes as a step of points at their corners, which are as soft."""
    return checked(model.on_points, found, **inputs, law=law(softness=PADS * softness))
