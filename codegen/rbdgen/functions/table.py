"""The table of functions: one row each. Command line, templates, loader, docs and tests iterate it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from rbdgen.errors import OptionError
from rbdgen.functions.contacts import derivative_rows as contact_derivatives
from rbdgen.functions.contacts import forward_rows as contact_forward
from rbdgen.functions.contacts import inverse_rows as contact_inverse
from rbdgen.functions.contacts import kinematic_rows as contact_kinematics
from rbdgen.functions.coriolis import rows as coriolis
from rbdgen.functions.derivatives import rows as derivatives
from rbdgen.functions.forward_dynamics import rows as forward_dynamics
from rbdgen.functions.function import Function, resisting
from rbdgen.functions.inertia_matrix import rows as inertia_matrix
from rbdgen.functions.inverse_dynamics import rows as inverse_dynamics
from rbdgen.functions.kinematics import rows as kinematics
from rbdgen.functions.loops import rows as loops
from rbdgen.functions.momentum import rows as momentum
from rbdgen.functions.regressors import rows as regressors
from rbdgen.functions.second_derivatives import rows as second_derivatives
from rbdgen.functions.sensitivities import rows as sensitivities
from rbdgen.functions.world_aligned import rows as world_aligned
from rbdgen.model.model import Model

_ROWS: Final = (
    *inverse_dynamics.ROWS,
    *forward_dynamics.ROWS,
    *inertia_matrix.ROWS,
    *derivatives.ROWS,
    inverse_dynamics.WITH_FORCES,
    forward_dynamics.WITH_FORCES,
    *derivatives.WITH_FORCES,
    *momentum.ROWS,
    *coriolis.ROWS,
    *regressors.ROWS,
)


def _by_name(rows: tuple[Function, ...]) -> Mapping[str, Function]:
    return MappingProxyType({row.name: resisting(row) for row in rows})


TABLE: Final = _by_name(_ROWS)
"""The functions of every robot."""

SECOND: Final = _by_name(second_derivatives.ROWS)
"""Second derivatives, of every robot too, but with the cube of its degrees of freedom as their size."""

OF_FLOATING_BASES: Final = _by_name(world_aligned.ROWS)
"""Those of robots with a floating base."""

OF_BASE: Final = _by_name((regressors.BASE,))
"""Those of every robot whose shapes its numbers decide."""

OF_PARAMETERS: Final = _by_name(sensitivities.ROWS)
"""Those of robots some of whose numbers are inputs."""

OF_LOOPS: Final = _by_name(loops.ROWS)
"""Those of robots with closed loops."""

OF_FRAMES: Final = _by_name(kinematics.ROWS)
"""Those of robots with chosen frames."""

OF_CONTACTS: Final = _by_name((*contact_kinematics.ROWS, *contact_forward.ROWS, *contact_derivatives.ROWS))
"""Those of robots with contacts."""

OF_ANCHORED_CONTACTS: Final = _by_name(contact_forward.ANCHORED)
"""Those of robots all of whose contacts can be pulled to where they were put."""

OF_FLOATING_CONTACTS: Final = _by_name(contact_inverse.ROWS)
"""Those of robots with contacts, a floating base and joints."""

OF_STANCES: Final = _by_name(contact_inverse.OF_STANCE)
"""The same, where contacts with the world can hold the base."""

BY_INDEPENDENT: Final = _by_name(loops.BY_INDEPENDENT)
"""Those of robots with closed loops whose independent velocities were named."""

ALL: Final[Mapping[str, Function]] = MappingProxyType(
    {
        **TABLE,
        **SECOND,
        **OF_FLOATING_BASES,
        **OF_FRAMES,
        **OF_BASE,
        **OF_PARAMETERS,
        **OF_LOOPS,
        **OF_CONTACTS,
        **OF_ANCHORED_CONTACTS,
        **OF_FLOATING_CONTACTS,
        **OF_STANCES,
        **BY_INDEPENDENT,
    }
)


class _Family(NamedTuple):
    """Functions of some robots: `of`: what, `has`: whether a robot has that, `otherwise`: what to do."""

    functions: Mapping[str, Function]
    has: Callable[[Model], bool]
    of: str
    otherwise: str


def _has_joints_on_base(model: Model) -> bool:
    return model.is_floating and model.sizes["njoints"] > 0


_OF_SOME: Final = (
    _Family(OF_FLOATING_BASES, lambda model: model.is_floating, "a floating base", "--base floating"),
    _Family(OF_FRAMES, lambda model: bool(model.frames), "chosen frames", "--frames NAME,NAME"),
    _Family(OF_LOOPS, lambda model: bool(model.loops), "closed loops", "--loop FRAME1=FRAME2"),
    _Family(OF_CONTACTS, lambda model: bool(model.contacts), "contacts", "--contact NAME=LINK"),
    _Family(
        OF_ANCHORED_CONTACTS,
        lambda model: bool(model.contacts) and all(contact.anchored for contact in model.contacts),
        "contacts, none of them a loop of frames",
        "--contact NAME=LINK, and no --contact-loop with :frame",
    ),
    _Family(
        OF_FLOATING_CONTACTS,
        lambda model: _has_joints_on_base(model) and bool(model.contacts),
        "joints on a floating base with contacts",
        "--base floating --contact NAME=LINK",
    ),
    _Family(
        OF_STANCES,
        lambda model: _has_joints_on_base(model) and model.stands,
        "joints on a floating base that a frame or three points hold",
        "--base floating --contact-frame NAME=LINK, or --contact NAME=LINK for each point",
    ),
    _Family(
        BY_INDEPENDENT,
        lambda model: bool(model.independent),
        "independent velocities",
        "--independent JOINT,JOINT",
    ),
)


def rows_of(model: Model) -> Mapping[str, Function]:
    """The functions of a robot, none of whose numbers is an input; but for second derivatives."""
    own = {**TABLE, **OF_BASE}
    for family in _OF_SOME:
        own |= family.functions if family.has(model) else {}
    return own


def lookup(name: str, model: Model | None = None) -> Function:
    """The row of this name; OptionError if there is none, or if it is none of this robot's."""
    if name not in ALL:
        raise OptionError(f"unknown function '{name}'; choose from: {', '.join(ALL)}")
    for family in _OF_SOME:
        if model is not None and name in family.functions and not family.has(model):
            raise OptionError(
                f"function '{name}' is of {family.of}, and '{model.name}' has none; give {family.otherwise}"
            )
    return ALL[name]
