"""Converts the arguments of a command to the options of a robot and of a generation."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rbdgen.cli.parsers import PARSERS
from rbdgen.description.contacts import contact_from, plan_from
from rbdgen.description.quoting import escaped
from rbdgen.errors import OptionError
from rbdgen.options import Options, default_functions
from rbdgen.toolchain.targets import target_named

if TYPE_CHECKING:
    from rbdgen.model.build import Robot
    from rbdgen.own.text import Own


def own_of(parsed: argparse.Namespace, robot: Robot) -> list[Own]:
    """The user's own functions in the file that the arguments name, and those that call others together."""
    own, together = _in_file(parsed), _together(parsed)
    if not together:
        return own
    from rbdgen.own.together import together_functions  # noqa: PLC0415  (heavy)

    return [*own, *together_functions(together, robot, own)]


def _in_file(parsed: argparse.Namespace) -> list[Own]:
    """The user's own functions in the file that the arguments name. The file runs once."""
    if parsed.own is None:
        return []
    from rbdgen.own.asked import functions_of_file  # noqa: PLC0415  (heavy: most commands have no such file)

    if not hasattr(parsed, "own_functions"):
        parsed.own_functions = functions_of_file(parsed.own)
    return list(parsed.own_functions)


def _together(parsed: argparse.Namespace) -> dict[str, tuple[str, ...]]:
    """The functions that are called together, by the name of the function that calls them."""
    given = _pairs("--together", parsed.together, "NAME=FUNCTION,FUNCTION")
    return {name: names_of([functions]) for name, functions in given.items()}


def options_of(parsed: argparse.Namespace) -> Options:
    """The options of a generation that the arguments ask for."""
    own, together = [function.name for function in _in_file(parsed)], _together(parsed)
    contacts = bool(parsed.contacts or parsed.contact_from_collision)
    names = own or (() if together else default_functions(bool(names_of(parsed.frames)), contacts))
    if parsed.functions is not None:
        names = names_of(parsed.functions)
    return replace(
        _code_options(parsed, (*names, *(name for name in together if name not in names))),
        trig=parsed.trig,
        variants=_pairs("--variant", parsed.variant, "FUNCTION=FORM"),
        savings=not parsed.no_savings,
        budget=parsed.budget_operations,
        budget_flash=parsed.budget_flash,
        packed=parsed.packed,
        same_bits=parsed.same_bits,
        params=tuple(parsed.param),
        emit=tuple(name for given in parsed.emit for name in given.split(",")),
        knots=parsed.knots,
        coordinates=parsed.coordinates,
        ranges=_pairs("--range", parsed.ranges, "NAME=LOWEST:HIGHEST"),
        tighten=parsed.tighten,
    )


def _code_options(parsed: argparse.Namespace, functions: Iterable[str]) -> Options:
    """The options that all generated code has, for these functions."""
    return Options(
        functions=tuple(functions),
        name=getattr(parsed, "name", None),
        real=target_named(parsed.target).reals[0] if parsed.real is None else parsed.real,
        target=parsed.target,
        engine=parsed.engine,
        contract=parsed.contract,
        arch=parsed.arch,
        compiler=parsed.compiler,
        ram=getattr(parsed, "ram", None),
    )


def kernel_options_of(parsed: argparse.Namespace) -> Options:
    """The options of kernels whose figures are listed."""
    target = target_named(parsed.target)
    contacts = bool(parsed.contacts or parsed.contact_from_collision)
    names = default_functions(bool(names_of(parsed.frames)), contacts)
    return Options(
        functions=tuple(names if parsed.functions is None else names_of(parsed.functions)),
        real=parsed.real or target.reals[0],
        target=target.name,
        arch=parsed.arch,
    )


def inertia_options_of(parsed: argparse.Namespace) -> Options:
    """The options of the operations on inertias that the arguments ask for."""
    from rbdgen.inertia.operations import OPERATIONS  # noqa: PLC0415  (not needed where a robot is)

    return _code_options(parsed, OPERATIONS if parsed.functions is None else names_of(parsed.functions))


def names_of(given: Sequence[str]) -> tuple[str, ...]:
    """The names that an option lists with commas between them; the option may be given several times."""
    return tuple(name.strip() for name in ",".join(given).split(",") if name.strip())


def robot_of(parsed: argparse.Namespace, source: str) -> Robot:
    """The robot, or the part of it, that the arguments ask for."""
    from rbdgen.pipeline.robot import load_robot  # noqa: PLC0415  (heavy)

    return load_robot(
        source,
        parsed.base,
        parsed.snap,
        xacro_args=_pairs("--xacro-arg", parsed.xacro_arg, "NAME=VALUE"),
        lock=positions_of("--lock", parsed.lock),
        root=parsed.root,
        tip=parsed.tip,
        damping=parsed.damping,
        friction=parsed.friction,
        armature=parsed.armature,
        mimic=parsed.mimic,
        order=parsed.order,
        bounds=parsed.bounds,
        loops=parsed.loop,
        ignore=",".join(parsed.ignore),
        independent=names_of(parsed.independent),
        frames=names_of(parsed.frames),
        contacts=[contact_from(*said) for said in parsed.contacts],
        contacts_from_collision=names_of(parsed.contact_from_collision),
        contact_solver=parsed.contact_solver and plan_from(parsed.contact_solver),
        contact_with=names_of(parsed.contact_with),
        cover=_pairs("--cover", parsed.cover, "SHAPE=FORM") or None,
        capsules=parsed.capsules,
        shapes=parsed.shapes,
        pairs=parsed.pairs,
        srdf=parsed.srdf,
        obstacles=parsed.obstacles,
        distance=parsed.distance,
        distance_floor=parsed.distance_floor,
        softmin=parsed.softmin,
        groups=parsed.groups,
        contact_sets={
            name: names_of([contacts])
            for name, contacts in _pairs("--contact-set", parsed.contact_set, "NAME=CONTACT,CONTACT").items()
        },
    )


def refuse_others(command: str, parsed: argparse.Namespace, known: Sequence[str], why: str) -> None:
    """Raises OptionError, with the reason `why`, if an option is given that is not in `known`."""
    parser = PARSERS[command]()
    for name, value in vars(parsed).items():
        if name not in known and value != parser.get_default(name):
            raise OptionError(f"{command}: {_option_of(parser, name)} {why}")


def _option_of(parser: argparse.ArgumentParser, name: str) -> str:
    """The option, such as --contact, that sets this name of the parsed arguments; the first if several do."""
    texts = [action.option_strings[-1] for action in parser._actions if action.dest == name]
    return texts[0] if texts else name


def _pairs(option: str, texts: Sequence[str], form: str) -> dict[str, str]:
    """The values by name of an option NAME=VALUE that is given once for each name."""
    values: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        said = f"{option} {escaped(text)}"
        if not (name and equals):
            raise OptionError(f"{said}: not of the form {form}; see rbdgen --help")
        if values.setdefault(name, value) != value:
            raise OptionError(f"{said}: '{name}' is already given {escaped(values[name])}; keep one")
    return values


def positions_of(option: str, texts: Sequence[str]) -> dict[str, float]:
    """The positions of an option JOINT=VALUE by joint."""
    given: dict[str, Any] = _pairs(option, texts, "JOINT=VALUE")
    try:
        return {joint: float(text) for joint, text in given.items()}
    except ValueError as error:
        raise OptionError(f"{option}: {error}; give JOINT=VALUE, in rad or m") from None
