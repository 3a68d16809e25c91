"""Chooses the independent velocities of a robot with closed loops, by the names of joints."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from rbdgen.description.quoting import quoted, told
from rbdgen.errors import OptionError
from rbdgen.functions.closed_loops.independent import are_determined, moved_by_loops
from rbdgen.model.build import Robot
from rbdgen.model.model import Model
from rbdgen.wording import choose, option


def with_independent_velocities(robot: Robot, given: object) -> Robot:
    """The robot with the velocities of these joints, and of joints on no loop, as its independent velocities.

    If no joint is named, the robot is returned unchanged. Raises OptionError if a joint is unknown, and if
    these velocities do not determine all others, or are not independent.
    """
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise OptionError(
            f"independent {told(given)} is not a list; give a list of joints, such as ['crank']"
        )
    names = [str(name) for name in given]
    if not names:
        return robot
    model, asked = robot.model, option("independent", names)
    dependent = _dependent(model, names, asked)
    on_loops, rows = moved_by_loops(model), robot.independent_rows
    if rows is None:
        raise OptionError(f"{asked}: no position was found in which all loops are closed; check their frames")
    if len(dependent) != len(rows):
        free, left = len(on_loops) - len(rows), len(on_loops) - len(dependent)
        raise OptionError(
            f"{asked}: closed loops leave {free} of the velocities of {_joints(model, on_loops)} "
            f"independent, not {left}; name joints with {free} in all"
        )
    if not are_determined(model, dependent):
        what = f"the velocities of these joints do not determine those of {_joints(model, dependent)}"
        raise OptionError(f"{asked}: {what}; name others")
    independent = tuple(k for k in range(model.sizes["nv"]) if k not in dependent)
    return replace(robot, model=replace(model, independent=independent))


def _dependent(model: Model, names: Sequence[str], asked: str) -> list[int]:
    """The elements of v on loops that belong to other joints."""
    joints = {joint.name: joint for joint in model.manifold.joints}
    unknown = next((name for name in names if name not in joints), None)
    if unknown is not None:
        raise OptionError(f"{asked}: there is no joint {quoted(unknown, 40)}; {choose(unknown, joints)}")
    if not model.loops:
        raise OptionError(
            f"{asked}: {quoted(model.name)} has no closed loop; give {option('loops', ['FRAME1=FRAME2'])}"
        )
    named = {joints[name].idx_v + k for name in names for k in range(joints[name].nv)}
    return [k for k in moved_by_loops(model) if k not in named]


def _joints(model: Model, elements: Sequence[int]) -> str:
    """The names of the joints to which these elements of v belong."""
    joints = model.manifold.joints
    have = [joint.name for joint in joints if any(0 <= k - joint.idx_v < joint.nv for k in elements)]
    return ", ".join(map(quoted, have))
