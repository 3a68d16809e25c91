"""A step of inverse kinematics: equal to NumPy's, converging, and never beyond the limits of joints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from support.forms import FunctionForm, relative_error, run_on_floats
from support.frames import with_frames
from support.mimic import with_mimics
from support.random_trees import random_tree
from support.random_urdf import robots
from support.robots import BASES
from support.states import random_inputs

import rbdgen
from rbdgen.description.urdf import parse_urdf
from rbdgen.functions.operational.ik_rows import FRAME_IK_STEP as ROW
from rbdgen.functions.operational.inverse_kinematics import AT_LIMIT
from rbdgen.functions.table import lookup
from rbdgen.model.build import Base, build_robot
from rbdgen.model.model import Model

Array = NDArray[np.float64]


def turn(R: Array) -> Array:
    """2 sin(angle / 2) axis."""
    skew = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    return skew / np.sqrt(max(np.trace(R) + 1, 2e-12))


def dense(model: Model, x: Mapping[str, Array]) -> tuple[Array, Array]:
    """dq and the error at one state, from the placements and the Jacobians of frames."""
    row_q = {"q": x["q"][None]}
    R, p = (y[0] for y in run(model, "frame_placement", row_q))
    J = run(model, "frame_jacobian_local", row_q)[0][0].reshape(-1, model.sizes["nv"])
    R_target, p_target = x["R_target"].reshape(-1, 3, 3), x["p_target"].reshape(-1, 3)
    e = np.array(
        [[*(a.T @ (d - c)), *turn(a.T @ b)] for a, b, c, d in zip(R, R_target, p, p_target, strict=True)]
    )
    below, above = np.full(J.shape[1], -np.inf), np.full(J.shape[1], np.inf)
    for joint in model.manifold.joints:
        if joint.nq == 1:
            below[joint.idx_v] = (x["q_lower"] - x["q"])[joint.idx_q]
            above[joint.idx_v] = (x["q_upper"] - x["q"])[joint.idx_q]
    room = np.where(J.T @ e.ravel() > 0, above, -below)
    W = np.diag(np.where(room < AT_LIMIT, 0.0, 1.0))
    z = np.linalg.solve(J @ W @ J.T + x["ik_damping"] * np.eye(len(J)), e.ravel())
    return np.maximum(np.minimum(W @ J.T @ z, above), below), e


def run(model: Model, name: str, inputs: Mapping[str, Array]) -> list[Array]:
    row = lookup(name)
    return run_on_floats(FunctionForm(row, row.forms[0]), model, inputs)


def assert_all_forms(model: Model, seed: int) -> None:
    inputs = random_inputs(model, ROW.signature, 3, seed)
    wanted = [dense(model, {name: values[k] for name, values in inputs.items()}) for k in range(3)]
    for form in ROW.forms:
        found = run_on_floats(FunctionForm(ROW, form), model, inputs)
        for ours, theirs in zip(found, zip(*wanted, strict=True), strict=True):
            assert relative_error(ours, np.array(theirs), floor=1.0) < 1e-8, (form.name, seed)


@settings(max_examples=20, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(seed=st.integers(0, 2**32 - 1))
def test_random_trees(seed: int) -> None:
    """Joints of all types, and targets that are no rotations, as nothing checks them."""
    assert_all_forms(with_frames(random_tree(seed, 5), seed), seed)


@settings(max_examples=10, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(robots(max_joints=6), st.integers(0, 2**32 - 1), st.sampled_from(BASES))
def test_followers(text: str, seed: int, base: Base) -> None:
    description = with_mimics(parse_urdf(text), np.random.default_rng(seed))
    assert_all_forms(build_robot(description, base, snap=0.0, frames=["*"]).model, seed)


# ---- as a user meets it


@pytest.fixture(scope="module")
def arm() -> tuple[Any, Any]:
    robot = rbdgen.load_robot("arm7", frames=["link7"])
    return robot, rbdgen.build(robot, ["frame_ik_step", "frame_placement", "integrate"])


def iterated(lib: Any, q: Array, target: Any, lower: Array, upper: Array, times: int) -> tuple[Array, Array]:
    """The configuration after some steps, all of which are within the limits, and the error there."""
    for _ in range(times):
        dq, _ = lib.frame_ik_step(q, *target, lower, upper)
        q = lib.integrate(q, dq)
        assert (q >= lower - 1e-15).all()
        assert (q <= upper + 1e-15).all()
    return q, lib.frame_ik_step(q, *target, lower, upper)[1]


@pytest.mark.parametrize("seed", range(5))
def test_converges(arm: tuple[Any, Any], seed: int) -> None:
    _, lib = arm
    rng = np.random.default_rng(seed)
    goal = rng.uniform(-1, 1, 7) + [0, 0.5, 0, 1.2, 0, 0.5, 0]
    free = np.full(7, np.inf)
    target = lib.frame_placement(goal)
    _, error = iterated(lib, goal + rng.uniform(-0.3, 0.3, 7), target, -free, free, 20)
    assert np.abs(error).max() < 1e-10


def test_converges_within_limits(arm: tuple[Any, Any]) -> None:
    """The box of the start and of the goal is cut close, so that steps reach limits and never pass them. In
    one of 40 boxes, the steps go back and forth between limits.
    """
    _, lib = arm
    far = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        goal = rng.uniform(-1, 1, 7) + [0, 0.5, 0, 1.2, 0, 0.5, 0]
        start = goal + rng.uniform(-0.3, 0.3, 7)
        lower, upper = np.minimum(start, goal) - 0.02, np.maximum(start, goal) + 0.02
        _, error = iterated(lib, start, lib.frame_placement(goal), lower, upper, 100)
        far += [seed] * bool(np.abs(error).max() > 1e-10)
    assert len(far) <= 1


def test_a_joint_at_its_limit_stays_there_while_the_others_move(arm: tuple[Any, Any]) -> None:
    _, lib = arm
    q = np.array([0.1, 0.5, 0.2, 1.2, 0.3, 0.5, 0.4])
    free = np.full(7, np.inf)
    target = lib.frame_placement(q + 0.1)
    first, _ = lib.frame_ik_step(q, *target, -free, free)
    k = int(np.argmax(first))
    upper = free.copy()
    upper[k] = q[k]
    dq, error = lib.frame_ik_step(q, *target, -free, upper)
    assert dq[k] == 0
    assert np.abs(np.delete(dq, k)).min() > 1e-6
    assert np.abs(error).max() > 0.01


def test_out_of_reach_is_as_near_as_can_be(arm: tuple[Any, Any]) -> None:
    """Nothing overflows, and the error does not grow."""
    _, lib = arm
    q = np.array([0.1, 0.5, 0.2, 1.2, 0.3, 0.5, 0.4])
    R, p = lib.frame_placement(q)
    free = np.full(7, np.pi)
    for _ in range(300):
        dq, error = lib.frame_ik_step(q, R, p + np.array([0, 0, 5.0]), -free, free, [10.0])
        assert np.isfinite(dq).all()
        q = q + dq
    assert np.linalg.norm(dq) < 1e-3
    assert 3 < np.linalg.norm(error) < 5.5


def test_half_a_turn_divides_by_nothing(arm: tuple[Any, Any]) -> None:
    """The attitude has no way to turn, and the position is still improved."""
    _, lib = arm
    q = np.array([0.1, 0.5, 0.2, 1.2, 0.3, 0.5, 0.4])
    (R,), p = lib.frame_placement(q)
    free = np.full(7, np.inf)
    _, error = lib.frame_ik_step(q, [R @ np.diag([1.0, -1.0, -1.0])], p, -free, free)
    assert np.isfinite(error).all()
    assert np.abs(error).max() <= 2 + 1e-9
