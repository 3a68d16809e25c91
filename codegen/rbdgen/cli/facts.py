"""The facts of a robot as JSON values, for `rbdgen inspect --json`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rbdgen.model.model import WORLD, Body
from rbdgen.model.robot import Robot


def robot_as_json(robot: Robot, warnings: Iterable[str]) -> dict[str, Any]:
    """The sizes, bodies, frames and warnings of a robot."""
    bodies = robot.model.bodies
    names = {WORLD: "world"} | {i: body.name for i, body in enumerate(bodies)}
    merged: dict[int, list[str]] = {}
    for link in robot.merged:
        merged.setdefault(link.body, []).append(link.link)
    return {
        "name": robot.name,
        "base": robot.base,
        "nq": robot.nq,
        "nv": robot.nv,
        "mass": robot.mass,
        "bodies": [
            {**_body(body, names[body.parent]), "merged": merged.get(i, [])} for i, body in enumerate(bodies)
        ],
        "merged_into_world": merged.get(WORLD, []),
        "frames": {name: names[frame.body] for name, frame in robot.known_frames.items()},
        "distances": {
            "capsules": [capsule.name for capsule in robot.model.distances.capsules],
            "pairs": list(robot.model.distances.names),
            "left_out": [list(pair) for pair in robot.model.distances.left_out],
        },
        "warnings": list(warnings),
    }


def _body(body: Body, parent: str) -> dict[str, Any]:
    """A body and its joint; the indices of a joint that follows another are those of the other joint."""
    joint, follows = body.joint, body.joint.follows
    return {
        "name": body.name,
        "parent": parent,
        "joint": joint.name,
        "type": joint.type.name,
        "idx_q": joint.idx_q if follows is None else follows.idx_q,
        "nq": joint.nq,
        "idx_v": joint.idx_v if follows is None else follows.idx_v,
        "nv": joint.nv,
        "follows": follows is not None,
        "mass": float(body.inertia.mass),
    }
