"""The robot as a page computes it, with a frame for every body and closed loops as contacts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rbdgen.errors import OptionError
from rbdgen.functions.table import lookup
from rbdgen.model.contacts import Contact
from rbdgen.model.frames import Frame
from rbdgen.model.robot import Robot

ALWAYS = (
    "rnea",
    "gravity",
    "aba",
    "crba",
    "minv",
    "rnea_derivatives",
    "kinetic_energy",
    "potential_energy",
    "com",
    "frame_placement",
    "integrate",
    "difference",
)
"""The functions of every page."""

SMALL = "aba_derivatives"
"""The function that only pages of robots with few degrees of freedom have, because its design takes long."""

FEW = 12

MOTION = "step_rk4"
"""The step of a robot without contacts."""

FRICTION_MOTION = "contact_step_servo"
"""The step of a robot with contacts that the floor can touch."""

DISTANCES = "distance_witness"
"""The function of robots with pairs of capsules: the nearest points of each pair."""

LOOP_MOTION = ("contact_aba", "contact_impulse")
"""The functions that a step of a robot with closed loops alone is made of."""


def viewed(robot: Robot) -> Robot:
    """The robot with a frame for every body besides its own frames, and with its closed loops as contacts."""
    model = robot.model
    frames = tuple({frame.name: frame for frame in (*model.frames, *_frames_of_bodies(robot))}.values())
    taken = {contact.name for contact in model.contacts}
    loops = [
        Contact(_free(f"loop_{k}", taken), loop.kind, loop.first, loop.second)
        for k, loop in enumerate(model.loops, 1)
    ]
    return replace(robot, model=replace(model, frames=frames, contacts=(*model.contacts, *loops)))


def _frames_of_bodies(robot: Robot) -> Iterator[Frame]:
    known = robot.known_frames
    for attachment in robot.attachments:
        if not attachment.merged and attachment.body >= 0 and attachment.link in known:
            yield known[attachment.link]


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name


def functions_of(robot: Robot, asked: Sequence[str]) -> tuple[str, ...]:
    """The functions of the page: those that it needs, and those that are asked for besides."""
    model = robot.model
    names = [*ALWAYS]
    if model.distances.own:
        names.append(DISTANCES)
    if model.sizes["nv"] <= FEW:
        names.insert(6, SMALL)
    if not model.contacts:
        names.append(MOTION)
    elif any(contact.has_friction for contact in model.contacts):
        names += ["contact_jacobian", FRICTION_MOTION]
    else:
        names += ["contact_jacobian", *LOOP_MOTION]
    return tuple(dict.fromkeys([*(name for name in names if _exists(name, robot)), *asked]))


def _exists(name: str, robot: Robot) -> bool:
    """Whether the robot has the function; a robot without moving bodies, for example, has no frames."""
    try:
        lookup(name, robot.model)
    except OptionError:
        return False
    return True
