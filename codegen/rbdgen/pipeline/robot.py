"""Loads a robot: reads its description, applies options, and builds the model."""

from __future__ import annotations

import numbers
import sys
import traceback
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Any, TypeAlias, get_args

from rbdgen.description.builder import RobotBuilder
from rbdgen.description.contacts import (
    Contact,
    checked_contacts,
    checked_extras,
    checked_plan,
    checked_sets,
    default_plan,
)
from rbdgen.description.distances import with_options
from rbdgen.description.outside import IGNORABLE
from rbdgen.description.pinocchio import is_pinocchio
from rbdgen.description.pruned import pruned
from rbdgen.description.quoting import quoted, told
from rbdgen.description.schema import Description, Loop, LoopKind, Order
from rbdgen.description.shapes.contacts import contacts_of_collision
from rbdgen.description.shapes.shape import Role
from rbdgen.description.size import check_followers, check_links
from rbdgen.description.source import read_description
from rbdgen.errors import OptionError, RobotWarning
from rbdgen.functions.closed_loops.independent import independent_rows
from rbdgen.functions.table import check_sets
from rbdgen.model.build import DEFAULT_SNAP, Base, Robot, build_robot
from rbdgen.model.mimic import Mimics
from rbdgen.model.model import STANDARD_GRAVITY
from rbdgen.pipeline.distances import Given, distances_of
from rbdgen.pipeline.extras import check_extras
from rbdgen.pipeline.independent import with_independent_velocities
from rbdgen.pipeline.resistance import dissipation_of, with_rotors
from rbdgen.resources import package_root
from rbdgen.spatial.ops import Vector
from rbdgen.wording import option

Source: TypeAlias = str | Path | RobotBuilder | Any
"""The sources from which a robot is read. `Any` is for a `pinocchio.Model`, which has no type if Pinocchio is
missing.
"""

MOST_BOUNDS = 1e6
"""The largest factor on the bounds of memory and work."""

LARGEST_GRAVITY = 1e9
"""The largest gravity, in m/s^2. It is far above any real one, and its forces stay finite."""


def load_robot(
    path: Source,
    base: Base | None = None,
    snap: float = DEFAULT_SNAP,
    gravity: Sequence[float] | None = None,
    *,
    xacro_args: Mapping[str, object] | None = None,
    lock: Mapping[str, float] | None = None,
    root: str | None = None,
    tip: str | None = None,
    damping: bool = False,
    friction: str | tuple[str, float] | None = None,
    armature: str | Path | Mapping[str, Any] | None = None,
    mimic: Mimics = "eliminate",
    loops: Sequence[str] = (),
    ignore: str | Sequence[str] = (),
    independent: Sequence[str] = (),
    frames: Sequence[str] = (),
    contacts: Sequence[Contact] = (),
    contacts_from_collision: Sequence[str] = (),
    contact_sets: Mapping[str, Sequence[str]] | None = None,
    contact_solver: Sequence[int] | None = None,
    contact_with: Sequence[str] = (),
    cover: Mapping[str, str] | None = None,
    capsules: str | Path | None = None,
    shapes: Role | None = None,
    pairs: str | Path | None = None,
    srdf: str | Path | None = None,
    obstacles: str | Mapping[str, int] | None = None,
    distance: str | None = None,
    distance_floor: float = 0.0,
    softmin: float = 100.0,
    groups: str | Path | Mapping[str, Sequence[str]] | None = None,
    order: Order | None = None,
    bounds: float = 1.0,
) -> Robot:
    """Reads a robot's description and builds its model. The arguments are those of `rbdgen.load_robot`.

    Raises DescriptionError, ModelError or OptionError, one line each.
    """
    if not (base is None or (isinstance(base, str) and base in ("fixed", "floating"))):
        raise OptionError(f"base {told(base)} is not known; choose fixed or floating")
    if not (isinstance(path, (str, Path, RobotBuilder)) or is_pinocchio(path)):
        raise OptionError(f"path {told(path)} is no path; give that of a robot's file, or a robot's name")
    _check_mimic(mimic)
    if not (order is None or (isinstance(order, str) and order in get_args(Order))):
        raise OptionError(f"order {told(order)} is not known; choose from: {', '.join(get_args(Order))}")
    if not (isinstance(bounds, numbers.Real) and 0 < bounds <= MOST_BOUNDS):
        raise OptionError(
            f"bounds {told(bounds)} is not a number in range; give a number, up to {MOST_BOUNDS:g}"
        )
    arguments = {str(name): str(value) for name, value in _by_name("xacro_args", xacro_args).items()}
    for what, link in (("root", root), ("tip", tip)):
        if not (link is None or isinstance(link, str)):
            raise OptionError(f"{what} {told(link)} is no name; give that of a link")
    dissipation = dissipation_of(damping, friction)
    read = read_description(path, arguments, _ignored(ignore), bounds)
    check_links(read, bounds)
    description = pruned(with_rotors(read, armature, bounds), _lock(lock), root, tip)
    if mimic == "eliminate":
        check_followers(description, bounds)
    loops_too = (*description.loops, *_loops(loops))
    held = _held(description, contacts, contacts_from_collision, contact_sets, contact_solver)
    description = replace(held, loops=loops_too, contact_with=checked_extras(contact_with))
    description = replace(description, order=order or description.order)
    base = base or _base_of(description)
    asked = Given(cover, capsules, shapes, pairs, srdf, obstacles)
    wanted, told_too = distances_of(description, asked, base, mimic)
    wanted = with_options(wanted, obstacles, distance, distance_floor, softmin, groups)
    warnings = (*description.warnings, *told_too)
    description = replace(description, distances=wanted, warnings=warnings)
    given = (
        _snap(snap),
        _gravity(description.gravity if gravity is None else gravity),
        dissipation,
        mimic,
        _frames(frames),
    )
    robot = build_robot(description, base, *given)
    check_extras(robot.model, dissipation)
    robot = _with_independent_rows(robot) if robot.model.loops else robot
    return with_independent_velocities(robot, independent)


def from_pinocchio(
    model: Any,
    snap: float = DEFAULT_SNAP,
    *,
    damping: bool = False,
    friction: str | tuple[str, float] | None = None,
    mimic: Mimics = "eliminate",
    frames: Sequence[str] = (),
    contacts: Sequence[Contact] = (),
    contact_sets: Mapping[str, Sequence[str]] | None = None,
    contact_solver: Sequence[int] | None = None,
    contact_with: Sequence[str] = (),
    capsules: str | Path | None = None,
    pairs: str | Path | None = None,
    srdf: str | Path | None = None,
    obstacles: str | Mapping[str, int] | None = None,
    distance: str | None = None,
    distance_floor: float = 0.0,
    softmin: float = 100.0,
    groups: str | Path | Mapping[str, Sequence[str]] | None = None,
) -> Robot:
    """The robot of a Pinocchio model, with its gravity. Raises the same errors as `load_robot`."""
    if not is_pinocchio(model):
        raise OptionError(f"{told(model)} is no Pinocchio model; give a pinocchio.Model")
    return load_robot(
        model,
        snap=snap,
        damping=damping,
        friction=friction,
        mimic=mimic,
        frames=frames,
        contacts=contacts,
        contact_sets=contact_sets,
        contact_solver=contact_solver,
        contact_with=contact_with,
        capsules=capsules,
        pairs=pairs,
        srdf=srdf,
        obstacles=obstacles,
        distance=distance,
        distance_floor=distance_floor,
        softmin=softmin,
        groups=groups,
    )


def warned(robot: Robot) -> Robot:
    """The robot, after one `RobotWarning` with the first of its warnings and the number of others, at the
    line that called rbdgen."""
    first, *others = robot.warnings or ("",)
    if first:
        more = f" (the first of {1 + len(others)} warnings; print robot.warnings)" if others else ""
        warnings.warn(f"{first}{more}", RobotWarning, stacklevel=_callers_inside() + 1)
    return robot


def _callers_inside() -> int:
    """The number of frames of the stack, above this one, that run code of rbdgen."""
    files = (frame.f_code.co_filename for frame, _ in traceback.walk_stack(sys._getframe(1)))
    return sum(1 for _ in takewhile(lambda file: Path(file).is_relative_to(package_root()), files))


def robot_of(given: object) -> Robot:
    """The robot that a function of the API was given: a loaded robot, or a source that `load_robot` reads.

    Raises OptionError for anything else, and the same errors as `load_robot`.
    """
    if isinstance(given, Robot):
        return given
    if isinstance(given, (str, Path, RobotBuilder)) or is_pinocchio(given):
        return warned(load_robot(given))
    raise OptionError(f"robot {told(given)} is no robot; give what rbdgen.load_robot returns, or takes")


def _held(
    description: Description, contacts: object, collision: object, contact_sets: object, plan: object
) -> Description:
    """The description with these contacts, those at shapes for collision of the links of `collision`, sets of
    contacts and plan of the solver."""
    sets = checked_sets({} if contact_sets is None else contact_sets)
    check_sets(sets)
    given = checked_contacts(contacts)
    at_shapes, friction = contacts_of_collision(description, collision)
    held = (*given, *checked_contacts(at_shapes))
    return replace(
        description,
        contacts=held,
        contact_sets=sets,
        contact_solver=default_plan(held) if plan is None else checked_plan(plan),
        warnings=(*description.warnings, *friction),
    )


def _check_mimic(given: object) -> None:
    if not (isinstance(given, str) and given in ("eliminate", "independent")):
        raise OptionError(f"mimic {told(given)} is not known; choose eliminate or independent")


def _with_independent_rows(robot: Robot) -> Robot:
    """The robot with the independent rows of its loops, or a warning if no closed position was found."""
    rows = independent_rows(robot.model)
    if rows is not None:
        return replace(robot, independent_rows=rows)
    what = f"{quoted(robot.model.name)}: no position was found in which all loops are closed"
    return replace(robot, warnings=(*robot.warnings, f"{what}; check their frames and lengths"))


def _base_of(description: Description) -> Base:
    return "floating" if description.floating else "fixed"


def _snap(given: float) -> float:
    if not (isinstance(given, numbers.Real) and 0 <= given < 0.1):
        raise OptionError(f"snap {told(given)} is not a number in range; give a number from 0 (off) to 0.1")
    return float(given)


def _by_name(what: str, given: object) -> Mapping[object, object]:
    if given is None or isinstance(given, Mapping):
        return given or {}
    raise OptionError(f"{what} {told(given)} is not a dict; give a value by name, such as {{'name': 1}}")


def _lock(given: object) -> dict[str, float]:
    lock = {}
    for joint, value in _by_name("lock", given).items():
        if not isinstance(value, numbers.Real):
            raise OptionError(f"lock of joint {told(joint)} at {told(value)}: give a number, rad or m")
        lock[str(joint)] = float(value)
    return lock


def _ignored(given: object) -> tuple[str, ...]:
    """The names of features to ignore, given as a list or with commas; "all" stands for all of them."""
    names = given.split(",") if isinstance(given, str) else given
    if not isinstance(names, Iterable):
        raise OptionError(f"ignore {told(given)} is not a list; give a list, such as ['tendon']")
    asked = tuple(str(name).strip() for name in names)
    for name in asked:
        if name not in (*IGNORABLE, "all", ""):
            raise OptionError(
                f"{option('ignore', [name])} is not known; choose from: all, {', '.join(IGNORABLE)}"
            )
    return IGNORABLE if "all" in asked else tuple(name for name in asked if name)


def _frames(given: object) -> list[str]:
    names = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [""]
    if not all(names):
        raise OptionError(f"frames {told(given)} is not a list of names; give ['tool0', 'foot_*']")
    return list(map(str, names))


def _loops(given: object) -> Iterator[Loop]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise OptionError(f"loops {told(given)} is not a list; give a list, such as ['hand=handle:point']")
    for text in given:
        where = option("loops", [str(text)])
        frame1, _, rest = str(text).partition("=")
        frame2, colon, kind = rest.rpartition(":")
        if not (colon and kind in get_args(LoopKind)):
            frame2, kind = rest, "frame"
        if not (frame1 and frame2):
            raise OptionError(f"{where}: not of the form FRAME1=FRAME2, or FRAME1=FRAME2:point")
        yield Loop(frame1, frame2, "point" if kind == "point" else "frame", where)


def _gravity(given: Sequence[float] | None) -> Vector:
    """Three numbers as a vector; None means standard gravity."""
    if given is None:
        return STANDARD_GRAVITY
    values = list(given) if isinstance(given, Iterable) else []
    if len(values) == 3 and all(isinstance(x, numbers.Real) and abs(x) <= LARGEST_GRAVITY for x in values):
        return Vector(*map(float, values))
    raise OptionError(
        f"gravity {told(given)} is not a vector; give three numbers in m/s^2, such as (0, 0, -9.81)"
    )
