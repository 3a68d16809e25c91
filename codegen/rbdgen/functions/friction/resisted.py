"""Robots with other rotors or friction in their joints, for steps that treat these in their own way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from rbdgen.functions.resistance import model_of
from rbdgen.model.joints import Joint, Resistance
from rbdgen.model.model import Model
from rbdgen.model.reduce import ReducedModel

Robot = TypeVar("Robot", Model, ReducedModel, Model | ReducedModel)


def with_resistances(robot: Robot, resistances: Mapping[int, Resistance]) -> Robot:
    """The robot with these resistances of joints, by degree of freedom."""

    def changed(joint: Joint) -> Joint:
        return replace(joint, resistance=resistances.get(joint.idx_v, joint.resistance))

    model = model_of(robot)
    bodies = tuple(replace(body, joint=changed(body.joint)) for body in model.bodies)
    if isinstance(robot, Model):
        return replace(robot, bodies=bodies)
    aligned, own = (
        tuple(replace(body, joint=changed(body.joint)) for body in some)
        for some in (robot.aligned, robot.bodies)
    )
    return replace(robot, model=replace(model, bodies=bodies), aligned=aligned, bodies=own)


def without_dry_friction(robot: Robot) -> Robot:
    """The robot without the dry friction of those joints for which the solver has a row."""
    model = model_of(robot)
    joints = [joint for joint in model.held_joints if model.has_dry_friction(joint)]
    if not joints:
        return robot
    return with_resistances(robot, {x.idx_v: replace(x.resistance, friction=0) for x in joints})
