"""Compares MJCF models with MuJoCo: M, the bias force, and accelerations without constraints or motors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from support.forms import FORMS, run_on_floats

from agreement.row import STATES, Row, distance
from agreement.urdf import joints_of
from rbdgen.errors import RbdgenError
from rbdgen.model.build import Robot
from rbdgen.pipeline.robot import load_robot

COLUMNS = ("M", "bias", "acceleration")


def rows(folder: Path) -> Iterator[Row]:
    for path in sorted(folder.glob("*.xml")):
        yield row_of(path)


def row_of(path: Path) -> Row:
    model = mujoco.MjModel.from_xml_path(str(path))
    try:
        # The following are constraints in MuJoCo, and friction is one as well.
        robot = load_robot(str(path), snap=0.0, damping=True, mimic="independent", ignore="all")
    except RbdgenError as error:
        return Row(path.name, "", remark=str(error).removeprefix(f"{path}: "))
    if robot.model.nv != model.nv:
        return Row(path.name, joints_of(robot), remark=f"{model.nv} degrees of freedom in MuJoCo")
    return Row(path.name, joints_of(robot), errors_of(robot, model), "; ".join(ignored(robot, str(path))))


def ignored(robot: Robot, path: str) -> list[str]:
    return [text.removeprefix(f"{path}: ") for text in robot.warnings if "ignored" in text]


def leave_out(model: Any) -> None:
    """Removes the features that `--ignore all` leaves out, and all constraints and actuators."""
    flags = mujoco.mjtDisableBit
    model.opt.disableflags |= flags.mjDSBL_CONSTRAINT | flags.mjDSBL_ACTUATION
    model.opt.density = model.opt.viscosity = 0
    model.tendon_stiffness[:] = model.tendon_damping[:] = 0


def errors_of(robot: Robot, model: Any) -> dict[str, float]:
    leave_out(model)
    manifold, rng = robot.model.manifold, np.random.default_rng(0)
    q, v = manifold.random(rng, (STATES,)), rng.standard_normal((STATES, manifold.nv))
    found = [of_mujoco(robot, model, *state) for state in zip(q, v, strict=True)]
    T, slip = (np.stack([motion(robot, *state)[k] for state in zip(q, v, strict=True)]) for k in (0, 1))
    M, bias, acceleration = (np.stack(parts) for parts in zip(*found, strict=True))
    back = T.transpose(0, 2, 1)
    ours = {
        name: results(name, robot, {"q": q, "v": v, "a": -slip, "tau": 0 * v})
        for name in ("crba", "rnea", "aba")
    }
    return {
        "M": distance(ours["crba"], back @ M @ T),
        "bias": distance(ours["rnea"], (back @ bias[..., None])[..., 0]),
        "acceleration": distance((T @ (ours["aba"] + slip)[..., None])[..., 0], acceleration),
    }


def results(name: str, robot: Robot, inputs: dict[str, Any]) -> Any:
    form = next(form for form in FORMS if form.function.name == name and form.form.reduced)
    return run_on_floats(form, robot.model, inputs)[0]


def motion(robot: Robot, q: Any, v: Any) -> tuple[Any, Any]:
    """T in qvel = T v, as MuJoCo's linear velocities are in world axes, and w x v of a free body."""
    T, slip = np.eye(len(v)), np.zeros(len(v))
    for joint in robot.model.manifold.joints:
        if joint.kind == "floating":
            x, y, z, w = q[joint.idx_q + 3 : joint.idx_q + 7]
            R = np.empty(9)
            mujoco.mju_quat2Mat(R, np.array([w, x, y, z]))
            i = joint.idx_v
            T[i : i + 3, i : i + 3] = R.reshape(3, 3)
            slip[i : i + 3] = np.cross(v[i + 3 : i + 6], v[i : i + 3])
    return T, slip


def of_mujoco(robot: Robot, model: Any, q: Any, v: Any) -> tuple[Any, Any, Any]:
    """MuJoCo's M, bias force with springs and damping, and qacc, with elements in the order of rbdgen."""
    data, (T, _) = mujoco.MjData(model), motion(robot, q, v)
    data.qpos[:], data.qvel[:] = to_qpos(robot, q), T @ v
    mujoco.mj_forward(model, data)
    M = np.zeros((model.nv, model.nv))
    for unit, column in zip(np.eye(model.nv), M, strict=True):
        mujoco.mj_mulM(model, data, column, unit)
    return M, data.qfrc_bias - data.qfrc_passive, data.qacc


def to_qpos(robot: Robot, q: Any) -> Any:
    """The configuration in MuJoCo's convention, with w first in quaternions."""
    qpos = np.array(q)
    for joint in robot.model.manifold.joints:
        if joint.kind in ("spherical", "floating"):
            end = joint.idx_q + joint.nq
            qpos[end - 4 : end] = [q[end - 1], *q[end - 4 : end - 1]]
    return qpos
