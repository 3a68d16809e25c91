"""Checks that a file gives a sound robot, or is refused by an error of one line."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator
from typing import Literal

from support.robots import BASES

from rbdgen.description.schema import Description
from rbdgen.description.urdf import parse_urdf
from rbdgen.errors import RbdgenError
from rbdgen.model.build import Robot, build_robot
from rbdgen.spatial.ops import Vector

Verdict = Literal["robot", "refused"]

PATH = "some.urdf"
LONGEST = 500
"""The largest number of characters of a message, without its path."""


def judge(data: bytes) -> Verdict:
    """Reads the file and builds its robot with both bases; every other exception is a fault of rbdgen."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            description = parse_urdf(data, PATH)
        except RbdgenError as error:
            check_message(str(error), data)
            return "refused"
        check_description(description, data)
        verdicts = [_built(description, base, data) for base in BASES]
    return "robot" if "robot" in verdicts else "refused"


def _built(description: Description, base: Literal["fixed", "floating"], data: bytes) -> Verdict:
    try:
        robot = build_robot(description, base)
    except RbdgenError as error:
        check_message(str(error), data)
        return "refused"
    check_robot(robot, data)
    return "robot"


def check_message(message: str, data: bytes) -> None:
    """Asserts that a message is one short printable line that begins with the file and one of its lines."""
    assert message.isprintable(), f"not printable: {message!r}"
    assert len(message) <= LONGEST + len(PATH), f"{len(message)} characters: {message}"
    where, _, what = message.partition(": ")
    path, _, line = where.partition(":")
    assert path == PATH, message
    # libxml2 also ends a line at a carriage return
    assert not line or 1 <= int(line) <= data.count(b"\n") + data.count(b"\r") + 1, message
    assert what, message


def check_description(description: Description, data: bytes) -> None:
    """Asserts that a description is a tree of uniquely named links with finite numbers."""
    names = {link.name for link in description.links}
    assert len(names) == len(description.links) == len(description.joints) + 1
    assert {joint.child for joint in description.joints} == names - {description.root}
    assert {joint.parent for joint in description.joints} <= names
    for link in description.links:
        body = link.inertial
        if body is not None:
            moments = (body.ixx, body.ixy, body.ixz, body.iyy, body.iyz, body.izz)
            _check_finite([body.mass, *body.origin.xyz, *body.origin.rpy, *moments])
            assert body.mass >= 0
    for joint in description.joints:
        limit = joint.limit
        limits = () if limit is None else (limit.lower, limit.upper, limit.effort, limit.velocity)
        _check_finite(value for value in limits if value is not None)
        _check_finite([*joint.origin.xyz, *joint.origin.rpy, joint.damping, joint.friction])
        assert math.isclose(math.hypot(*joint.axis), 1.0, rel_tol=1e-14)
        if joint.mimic is not None:
            _check_finite([joint.mimic.multiplier, joint.mimic.offset])
    for warning in description.warnings:
        check_message(warning, data)


def check_robot(robot: Robot, data: bytes) -> None:
    """Asserts that bodies are in order, indices contiguous, rotations orthogonal, and numbers finite."""
    model = robot.model
    nq = nv = 0
    for i, body in enumerate(model.bodies):
        assert -1 <= body.parent < i
        assert (body.joint.idx_q, body.joint.idx_v) == (nq, nv)
        nq, nv = nq + body.joint.nq, nv + body.joint.nv
        rows = list(body.placement.rotation)
        _check_finite(float(x) for row in rows for x in row)
        for j, row in enumerate(rows):
            for k, other in enumerate(rows):
                dot = sum(float(x) * float(y) for x, y in zip(row, other, strict=True))
                assert math.isclose(dot, float(j == k), abs_tol=1e-7), body.placement.rotation
        _check_finite(
            _numbers(body.placement.translation, body.inertia.first_moment, *body.inertia.rotational)
        )
        _check_finite([float(body.inertia.mass)])
        assert body.inertia.mass >= 0
    assert (model.nq, model.nv) == (nq, nv)
    assert nv > 0
    moving = [joint.name for joint in robot.description.joints if joint.type != "fixed"]
    assert sorted(robot.joint_names) == sorted(moving)
    for warning in robot.warnings:
        check_message(warning, data)


def _numbers(*vectors: Vector) -> Iterator[float]:
    return (float(x) for vector in vectors for x in vector)


def _check_finite(numbers: Iterable[float]) -> None:
    for number in numbers:
        assert math.isfinite(number), "a number is not finite"
