"""The table of functions, one row each. The command line, templates, loader, docs and tests iterate over
it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from rbdgen.errors import OptionError, either
from rbdgen.functions.configurations import rows as configurations
from rbdgen.functions.contacts import derivative_rows as contact_derivatives
from rbdgen.functions.contacts import forward_rows as contact_forward
from rbdgen.functions.contacts import inverse_rows as contact_inverse
from rbdgen.functions.contacts import kinematic_rows as contact_kinematics
from rbdgen.functions.coriolis import rows as coriolis
from rbdgen.functions.derivatives import rows as derivatives
from rbdgen.functions.differentiated import MODES, differentiated, mode_of
from rbdgen.functions.elsewhere import elsewhere
from rbdgen.functions.forward_dynamics import rows as forward_dynamics
from rbdgen.functions.function import Call, Function, Identity
from rbdgen.functions.inertia_matrix import rows as inertia_matrix
from rbdgen.functions.inverse_dynamics import rows as inverse_dynamics
from rbdgen.functions.kinematics import rows as kinematics
from rbdgen.functions.loops import rows as loops
from rbdgen.functions.momentum import rows as momentum
from rbdgen.functions.regressors import rows as regressors
from rbdgen.functions.resisting import resisting
from rbdgen.functions.second_derivatives import rows as second_derivatives
from rbdgen.functions.sensitivities import rows as sensitivities
from rbdgen.functions.trajectories import rows as trajectories
from rbdgen.functions.world_aligned import rows as world_aligned
from rbdgen.model.contacts import ContactSet
from rbdgen.model.model import Model
from rbdgen.wording import near, option

_ROWS: Final = (
    *inverse_dynamics.ROWS,
    *forward_dynamics.ROWS,
    *inertia_matrix.ROWS,
    *derivatives.ROWS,
    inverse_dynamics.RNEA_FEXT,
    forward_dynamics.ABA_FEXT,
    *derivatives.WITH_FORCES,
    *momentum.ROWS,
    *coriolis.ROWS,
    *regressors.ROWS,
)


def _by_name(rows: tuple[Function, ...]) -> Mapping[str, Function]:
    return MappingProxyType({row.name: resisting(row) for row in rows})


TABLE: Final = _by_name(_ROWS)
"""Functions of every robot."""

SECOND: Final = _by_name(second_derivatives.ROWS)
"""Second derivatives. They apply to every robot, but their size is the cube of its degrees of freedom."""

OF_CONFIGURATIONS: Final = _by_name(configurations.ROWS)
"""Functions of configurations. They apply to every robot, but are not dynamics."""

OF_TRAJECTORIES: Final = _by_name(trajectories.ROWS)
"""Functions of trajectories, which combine the dynamics of a robot and its configurations."""

OF_FLOATING_BASES: Final = _by_name(world_aligned.ROWS)
"""Functions of robots with a floating base."""

OF_BASE: Final = _by_name((regressors.REGRESSOR_BASE,))
"""Functions of every robot with outputs whose size depends on the robot's numbers."""

OF_PARAMETERS: Final = _by_name(sensitivities.ROWS)
"""Functions of robots on which some parameters are inputs."""

OF_LOOPS: Final = _by_name(loops.ROWS)
"""Functions of robots with closed loops."""

OF_FRAMES: Final = _by_name(kinematics.ROWS)
"""Functions of robots with chosen frames."""

OF_CONTACTS: Final = _by_name((*contact_kinematics.ROWS, *contact_forward.ROWS, *contact_derivatives.ROWS))
"""Functions of robots with contacts."""

OF_ANCHORED_CONTACTS: Final = _by_name((*contact_forward.ANCHORED, *contact_derivatives.ANCHORED))
"""Functions of robots whose contacts can all be anchored, that is pulled to the points where they were
made.
"""

OF_FLOATING_CONTACTS: Final = _by_name(contact_inverse.ROWS)
"""Functions of robots with contacts, a floating base and joints."""

OF_STANCES: Final = _by_name(contact_inverse.OF_STANCE)
"""Functions of the same robots if contacts with the world can hold the base."""

BY_INDEPENDENT: Final = _by_name(loops.BY_INDEPENDENT)
"""Functions of robots with closed loops whose independent velocities were named."""

ALL: Final[Mapping[str, Function]] = MappingProxyType(
    {
        **TABLE,
        **SECOND,
        **OF_CONFIGURATIONS,
        **OF_TRAJECTORIES,
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


_HELD: Final = [name for name, row in ALL.items() if row.of_contacts]
"""All functions that depend on contacts, and therefore exist for every set of them."""


_BEHIND: Final = re.compile(
    r"_(batch(_v[0-9]+)?|call|fails|lanes|part|result|rollout|states|x[0-9]+(_\w+)?)$"
)
"""What emission puts behind the name of a function to name a part of its code."""


class _Family(NamedTuple):
    """Functions of some robots."""

    functions: Mapping[str, Function]
    has: Callable[[Model], bool]
    """Whether a robot has what the functions need."""
    of: str
    """What they need, in words."""
    otherwise: str
    """What a user can do about a robot that has not."""


def _moves_joints(model: Model) -> bool:
    """Whether the robot has a floating base that carries joints."""
    return model.is_floating and model.sizes["njoints"] > 0


FLOATING_BASE: Final = option("base", "floating")
CONTACT: Final = option("contacts", ["NAME=LINK"])

_OF_SOME: Final = (
    _Family(OF_FLOATING_BASES, lambda model: model.is_floating, "a floating base", FLOATING_BASE),
    _Family(OF_FRAMES, lambda model: bool(model.frames), "chosen frames", option("frames", ["NAME"])),
    _Family(OF_LOOPS, lambda model: bool(model.loops), "closed loops", option("loops", ["FRAME1=FRAME2"])),
    _Family(OF_CONTACTS, lambda model: bool(model.contacts), "contacts", CONTACT),
    _Family(
        OF_ANCHORED_CONTACTS,
        lambda model: bool(model.contacts) and all(contact.anchored for contact in model.contacts),
        "contacts that can all be anchored",
        f"{CONTACT}, and no {either('Loop with frame=True', '--contact-loop with :frame')}",
    ),
    _Family(
        OF_FLOATING_CONTACTS,
        lambda model: bool(model.contacts) and _moves_joints(model),
        "a floating base with joints and contacts",
        f"{FLOATING_BASE} and {CONTACT}",
    ),
    _Family(
        OF_STANCES,
        lambda model: model.stands and _moves_joints(model),
        "a floating base with joints on a frame or three points",
        f"{FLOATING_BASE} and {either('contacts=[Frame(NAME, LINK)]', '--contact-frame NAME=LINK')}, "
        f"or {CONTACT} for each of three points",
    ),
    _Family(
        BY_INDEPENDENT,
        lambda model: bool(model.independent),
        "independent velocities",
        option("independent", ["JOINT"]),
    ),
)


def rows_of(model: Model) -> Mapping[str, Function]:
    """All functions that fit a robot without parameters as inputs, but for those of second derivatives,
    configurations and trajectories.
    """
    own = {**TABLE, **OF_BASE}
    for family in _OF_SOME:
        own |= family.functions if family.has(model) else {}
    for chosen in model.contact_sets:
        alone = rows_of(model.with_contacts(chosen.contacts))
        rows = [of_set(row, chosen) for name, row in alone.items() if name in _HELD]
        own |= {row.name: row for row in rows}
    return own


def of_set(function: Function, chosen: ContactSet) -> Function:
    """A function of contacts, restricted to the contacts of a set."""

    def named(name: str) -> str:
        return f"{name}_{chosen.name}" if name in _HELD else name

    def among(sides: Callable[[Call, Any], Any]) -> Callable[[Call, Any], Any]:
        return lambda call, x: sides(lambda name, **changed: call(named(name), **changed), x)

    return replace(
        function,
        signature=replace(function.signature, name=named(function.name)),
        summary=f"{function.summary}; contacts {', '.join(chosen.contacts)} alone",
        identities=tuple(
            Identity(f"{x.what}, {chosen.name}", tuple(map(named, x.functions)), among(x.sides))
            for x in function.identities
        ),
        derivative_of=named(function.derivative_of) if function.derivative_of else None,
        projected=among(function.projected) if function.projected else None,
        contacts=chosen.contacts,
    )


def sets_of(manifest: Mapping[str, Any]) -> list[ContactSet]:
    """The contact sets that a manifest lists."""
    told = manifest.get("contact_sets", {})
    return [ContactSet(name, tuple(contacts)) for name, contacts in told.items()]


def check_sets(sets: Iterable[ContactSet]) -> None:
    """OptionError if the functions of a set would have the names of other functions."""
    taken = {name: name for name in ALL}
    for chosen in sets:
        lower, what = chosen.name.lower(), f"contact set '{chosen.name}'"
        if lower.rpartition("_")[2] in MODES:
            raise OptionError(f"{what}: its functions would have the names of derivatives; take another name")
        if found := _BEHIND.search(f"_{lower}"):
            code = f"'NAME{found[0]}', which is emitted for NAME"
            raise OptionError(f"{what}: its functions would have the names of {code}; take another name")
        own = {f"{name}_{lower}": f"{name}_{chosen.name}" for name in _HELD}
        for name in own:
            if name in taken:
                raise OptionError(f"{what}: there is a function {taken[name]}; take another name")
        taken |= own


def lookup(name: str, model: Model | None = None, sets: Sequence[ContactSet] = ()) -> Function:
    """The row of this name; OptionError if there is none, or if it does not fit this robot.

    `sets` are the contact sets if no model is given.
    """
    if not isinstance(name, str):
        raise OptionError(f"function {name!r} is not a name; give one from the catalogue, such as 'rnea'")
    for chosen in model.contact_sets if model else sets:
        base = name.removesuffix(f"_{chosen.name}")
        if base != name and base in _HELD:
            return of_set(lookup(base, model and model.with_contacts(chosen.contacts)), chosen)
    if (derived := mode_of(name)) is not None:
        return _differentiated(*derived, model, sets)
    if name not in ALL:
        raise OptionError(f"unknown function '{name}'; {_instead(name)}")
    for family in _OF_SOME:
        if model is not None and name in family.functions and not family.has(model):
            raise OptionError(
                f"function '{name}' needs {family.of}, which '{model.name}' does not have; "
                f"give {family.otherwise}{either(' to load_robot', '')}"
            )
    return ALL[name]


def derivatives_of(name: str, sets: Iterable[ContactSet] = ()) -> str | None:
    """The function whose outputs are the derivatives of this one, or None."""
    rows = [*ALL.values(), *(of_set(ALL[held], chosen) for chosen in sets for held in _HELD)]
    return next((row.name for row in rows if row.derivative_of == name), None)


def is_differentiable(name: str, model: Model | None = None, sets: Sequence[ContactSet] = ()) -> bool:
    """Whether there are products with the derivatives of a function, NAME_vjp and NAME_jvp."""
    try:
        return all(lookup(f"{name}_{mode}", model, sets) for mode in ("vjp", "jvp"))
    except OptionError:
        return False


def _instead(name: str) -> str:
    """A hint with the names that the user may have meant; otherwise with all names."""
    directions = [f"{function}_{mode}" for function in ALL for mode in MODES]
    if known := elsewhere(name):
        return known
    meant = get_close_matches(name, [*ALL, *directions], n=3) or near(name, ALL)
    if meant:
        return f"did you mean {' or '.join(map(repr, meant))}? rbdgen list shows all"
    some = ", ".join(list(ALL)[:6])
    return f"there are {some} and {len(ALL) - 6} more: rbdgen list shows all"


def _differentiated(base: str, mode: str, model: Model | None, sets: Sequence[ContactSet]) -> Function:
    """The row of a derivative."""
    function = lookup(base, model, sets)
    inverse = None if function.inverse is None else lookup(function.inverse, model, sets)
    return differentiated(function, mode, inverse)
