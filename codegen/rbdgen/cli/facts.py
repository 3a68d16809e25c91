"""The facts of a robot as JSON values, for `rbdgen inspect --json`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from rbdgen.model.distances import DistanceSet
from rbdgen.model.model import WORLD, Body
from rbdgen.model.robot import Robot


class _Pairs(NamedTuple):
    """The names of capsules and of pairs, and the pairs that are left out with the reason."""

    capsules: list[str]
    pairs: list[str]
    left_out: list[list[str]]

    @classmethod
    def of(cls, own: DistanceSet) -> _Pairs:
        """The capsules and pairs of a robot."""
        return cls([x.name for x in own.capsules], list(own.names), [list(pair) for pair in own.left_out])


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
        "distance_pairs": _Pairs.of(robot.model.distances)._asdict(),
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
