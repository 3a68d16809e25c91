"""The table of functions, which has one row for each function. The command line, templates, loader,
documentation and tests iterate over it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, Final

from rbdgen.errors import OptionError, either
from rbdgen.functions.closed_loops import rows as loops
from rbdgen.functions.configurations import rows as configurations
from rbdgen.functions.contacts import derivative_rows as contact_derivatives
from rbdgen.functions.contacts import forward_rows as contact_forward
from rbdgen.functions.contacts import inverse_rows as contact_inverse
from rbdgen.functions.contacts import kinematic_rows as contact_kinematics
from rbdgen.functions.coriolis import rows as coriolis
from rbdgen.functions.derivatives import rows as derivatives
from rbdgen.functions.differentiated import MODES, differentiated, mode_of
from rbdgen.functions.distances import rows as distances
from rbdgen.functions.elsewhere import elsewhere
from rbdgen.functions.forward_dynamics import rows as forward_dynamics
from rbdgen.functions.free_base import rows as free_base
from rbdgen.functions.friction import derivative_rows as friction_derivatives
from rbdgen.functions.friction import rows as friction
from rbdgen.functions.function import Call, Function, Identity
from rbdgen.functions.inertia_matrix import rows as inertia_matrix
from rbdgen.functions.inverse_dynamics import rows as inverse_dynamics
from rbdgen.functions.kinematics import rows as kinematics
from rbdgen.functions.momentum import rows as momentum
from rbdgen.functions.operational import ik_rows as inverse_kinematics
from rbdgen.functions.operational import rows as operational
from rbdgen.functions.regressors import rows as regressors
from rbdgen.functions.resisting import resisting
from rbdgen.functions.second_derivatives import rows as second_derivatives
from rbdgen.functions.sensitivities import rows as sensitivities
from rbdgen.functions.trajectories import rows as trajectories
from rbdgen.functions.whole import WHOLE, whole, whole_of
from rbdgen.functions.world_aligned import rows as world_aligned
from rbdgen.model.contacts import ContactSet
from rbdgen.model.model import Model
from rbdgen.signature import UPDATE
from rbdgen.wording import near

ALL: Final[Mapping[str, Function]] = MappingProxyType(
    {
        row.name: resisting(row)
        for family in (
            inverse_dynamics,
            forward_dynamics,
            inertia_matrix,
            derivatives,
            momentum,
            coriolis,
            regressors,
            second_derivatives,
            configurations,
            trajectories,
            world_aligned,
            free_base,
            kinematics,
            operational,
            inverse_kinematics,
            sensitivities,
            loops,
            contact_kinematics,
            contact_forward,
            contact_derivatives,
            contact_inverse,
            friction,
            friction_derivatives,
            distances,
        )
        for row in family.ROWS
    }
)
"""All functions by name. To add a function, add its row to `ROWS` of its family; to add a family, add it
here.
"""


NO_ROWS: Final[Mapping[str, Function]] = MappingProxyType({})


def _of_every_robot(row: Function) -> bool:
    return not (row.needs or row.on_request or row.basis)


TABLE: Final = MappingProxyType({name: row for name, row in ALL.items() if _of_every_robot(row)})
"""The functions that every robot has, and whose outputs have sizes that depend on the tree alone. Functions
on request are left out.
"""

_HELD: Final = [name for name, row in ALL.items() if row.of_contacts]
"""The names of all functions that depend on contacts. These functions also exist for every contact set."""


_BEHIND: Final = re.compile(
    r"_(batch(_v[0-9]+)?|call|fails|lanes|part|result|rollout|states|x[0-9]+(_\w+)?)$"
)
"""The suffixes with which emitted code names parts of the code of a function."""


def rows_of(model: Model) -> Mapping[str, Function]:
    """The functions that fit a robot, without those that must be requested by name. The latter are second
    derivatives, those of Jacobians, functions of configurations and trajectories, steps of inverse
    kinematics, and functions of parameters that are inputs.
    """
    own = {name: row for name, row in ALL.items() if not (row.on_request or row.missing(model))}
    for chosen in model.contact_sets:
        alone = rows_of(model.with_contacts(chosen.contacts))
        rows = [of_set(row, chosen) for name, row in alone.items() if name in _HELD]
        own |= {row.name: row for row in rows}
    return own


def of_set(function: Function, chosen: ContactSet) -> Function:
    """Restrict a function of contacts to the contacts of a set."""

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
    """Raises OptionError if the functions of a set would have the names of other functions."""
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


def check_own_name(name: str) -> None:
    """Raises OptionError if a user's own function cannot have this name."""
    lower = name.lower()
    if lower in ALL:
        raise OptionError(f"function '{name}': rbdgen has a function {lower}; take another name")
    if lower.rpartition("_")[2] in (*MODES, *WHOLE) or lower == UPDATE:
        raise OptionError(
            f"function '{name}' would have the name of a derivative or of the update; take another"
        )
    if found := _BEHIND.search(f"_{lower}"):
        raise OptionError(
            f"function '{name}': 'NAME{found[0]}' is emitted for a function NAME; take another name"
        )


def lookup(
    name: str,
    model: Model | None = None,
    sets: Sequence[ContactSet] = (),
    own: Mapping[str, Function] = NO_ROWS,
) -> Function:
    """The row of this name. Raises OptionError if there is none, or if it does not fit this robot.

    If no model is given, `sets` are the contact sets. `own` are the rows of a user's own functions, by name.
    """
    if not isinstance(name, str):
        raise OptionError(f"function {name!r} is not a name; give one from the catalogue, such as 'rnea'")
    if name in own:
        return own[name]
    for chosen in model.contact_sets if model else sets:
        base = name.removesuffix(f"_{chosen.name}")
        if base != name and base in _HELD:
            return of_set(lookup(base, model and model.with_contacts(chosen.contacts)), chosen)
    if (derived := mode_of(name)) is not None:
        return _differentiated(*derived, model, sets, own)
    if name not in ALL and (derived := whole_of(name)) is not None and not _begins(name, derived[0], own):
        return _whole(*derived, model, sets, own)
    if name not in ALL:
        raise OptionError(f"unknown function '{name}'; {_instead(name, own)}")
    if model is not None and (missing := ALL[name].missing(model)):
        lacking = " and ".join(need.of for need in missing)
        remedies = " and ".join(need.otherwise for need in missing)
        others = [f", or take {need.without}, which does without" for need in missing if need.without]
        raise OptionError(
            f"function '{name}' needs {lacking}, which '{model.name}' does not have; "
            f"give {remedies}{either(' to load_robot', '')}{''.join(others)}"
        )
    return ALL[name]


def _begins(name: str, base: str, own: Mapping[str, Function]) -> bool:
    """Whether the name is the beginning of those of known functions, as `frame_jacobian` is, while the name
    without its last part is that of none.
    """
    return base not in ALL and base not in own and any(known.startswith(f"{name}_") for known in ALL)


def _whole(
    base: str, kind: str, model: Model | None, sets: Sequence[ContactSet], own: Mapping[str, Function]
) -> Function:
    """The row of a whole derivative; `kind` is a key of `WHOLE`."""
    function = lookup(base, model, sets, own)
    _check_differentiable(f"{base}_{kind}", kind, function)
    sets = model.contact_sets if model else sets
    derivatives = None if base in own else derivatives_of(base, sets)
    row = None if derivatives is None else lookup(derivatives, model, sets)
    called = function.composition.callees if function.composition else [base] if function.through else []
    through = [lookup(name, model, sets).through for name in called]
    rows = [name if way is None else way.row for name, way in zip(called, through, strict=True)]
    by_calls = any(derivatives_of(name, sets) for name in rows)
    return whole(function, kind, row, by_calls=by_calls)


def derivatives_of(name: str, sets: Iterable[ContactSet] = ()) -> str | None:
    """The name of the function whose outputs are the derivatives of this one, or None."""
    rows = [*ALL.values(), *(of_set(ALL[held], chosen) for chosen in sets for held in _HELD)]
    return next((row.name for row in rows if row.derivative_of == name), None)


def by_derivatives(row: Function, model: Model) -> tuple[Function, Function] | None:
    """The row of the Jacobian of a row, and the row of the table that has the same derivatives. None if there
    is none.
    """
    if derivatives_of(row.name, model.contact_sets) is None:
        return None
    try:
        jacobian = lookup(f"{row.name}_jacobian", model)
    except OptionError:  # it would have more axes than an array has
        return None
    made = jacobian.whole
    return None if made is None or made.derivatives is None else (jacobian, made.derivatives)


def is_differentiable(
    name: str,
    model: Model | None = None,
    sets: Sequence[ContactSet] = (),
    own: Mapping[str, Function] = NO_ROWS,
) -> bool:
    """Whether there are products with the derivatives of a function, NAME_vjp and NAME_jvp. For the other
    arguments, see `lookup`.
    """
    try:
        return all(lookup(f"{name}_{mode}", model, sets, own) for mode in ("vjp", "jvp"))
    except OptionError:
        return False


def _instead(name: str, own: Iterable[str]) -> str:
    """A hint with the names that the user may have meant or, if there are none, with some known names."""
    names = [*own, *ALL]
    last = {row.name for row in ALL.values() if row.around and not row.around.implicit}
    directions = [f"{function}_{mode}" for function in names if function not in last for mode in MODES]
    if known := elsewhere(name):
        return known
    meant = get_close_matches(name, [*names, *directions], n=3) or near(name, names)
    if meant:
        return f"did you mean {' or '.join(map(repr, meant))}? rbdgen list shows all"
    some = ", ".join(list(ALL)[:6])
    return f"there are {some} and {len(ALL) - 6} more: rbdgen list shows all"


_WITH_LOOPS: Final = tuple(name for name, row in ALL.items() if row.around is not None)
"""The functions that are straight lines around loops; those for sets of contacts begin with their names."""


def _check_differentiable(name: str, kind: str, function: Function) -> None:
    """Raises OptionError if the function has loops that solve an equation, of which there are only first
    derivatives along directions.
    """
    of = function.differentiated.of if function.differentiated else function
    for called in of.composition.callees if of.composition else ():
        if called.startswith(_WITH_LOOPS):
            raise OptionError(
                f"function '{name}': '{of.name}' calls {called}, whose iterations are not differentiated; "
                f"take {called}_vjp outside of it, or finite differences"
            )
    if of.around is None:
        return
    if of.around.implicit is None:
        raise OptionError(
            f"function '{name}': {of.name} solves an equation, of which no further derivatives are made; "
            "take finite differences of it"
        )
    if of is not function or kind not in ("vjp", "jvp"):
        raise OptionError(
            f"function '{name}': {of.name} solves an equation, of which only first derivatives are made; "
            f"take {of.name}_vjp, {of.name}_jvp or {of.name}_derivatives"
        )


def _differentiated(
    base: str, mode: str, model: Model | None, sets: Sequence[ContactSet], own: Mapping[str, Function]
) -> Function:
    """The row of a derivative along directions; `mode` is a key of `MODES`."""
    function = lookup(base, model, sets, own)
    _check_differentiable(f"{base}_{mode}", mode, function)
    inverse = None if function.inverse is None else lookup(function.inverse, model, sets)
    return differentiated(function, mode, inverse)
