"""All options of one generation, frozen; the only place that reads environment variables."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from rbdgen.errors import OptionError
from rbdgen.machine import REALS, Real
from rbdgen.wording import choose, option

Trig: TypeAlias = Literal["libm", "builtin", "input"]

Emitted: TypeAlias = Literal["casadi"]

EMITTED: tuple[Emitted, ...] = ("casadi",)

CACHE_SIZE: Final = "2 GB"
"""What the cache may have at most where nobody says anything else."""

TRIGS: tuple[Trig, ...] = ("libm", "builtin", "input")

_MEANT: Final = {"dtype": "real", "precision": "real", "parameters": "params", "compile": "compiled"}
"""What other libraries call options."""


@dataclass(frozen=True)
class Options:
    """What to generate and how.

    `functions`: names from the catalogue; `name`: of the package, None for the robot's own; `trig`: where
    sines and cosines come from; `target`: a row of the table of targets; `engine`: what traces; `variants`:
    function name -> form, where forced; `savings`: whether frames are searched and the cheap forms tried;
    `arch`: the least processor that the code runs on, batches are compiled for better ones too;
    `contract`: whether the compiler may fuse a product and a sum (results then differ in the last bits);
    `budget`: operations that a function may be estimated to take unrolled, more is refused;
    `ram`: bytes that a small machine has for a function's stack and arguments, None for its typical part's;
    `budget_flash`: bytes that all functions may take when compiled, None for no limit: those that save most
    then get a smaller form; `packed`: whether matrices hold only what is not always 0, symmetric entries
    once; `params`: parameters of the robot that stay inputs, by names and patterns as of
    `model/parameters.py`, such as "mass:*"; `emit`: what else is written beside the C, such as "casadi",
    functions for `casadi.external`; `knots`: states in a call of theirs, where that is not one;
    `coordinates`: whether the derivatives NAME_vjp, NAME_jvp and NAME_hvp have nq numbers for q, not nv as in
    its tangent space.
    """

    functions: tuple[str, ...] = ("rnea", "aba", "crba", "minv", "rnea_derivatives", "aba_derivatives")
    name: str | None = None
    real: Real = "double"
    trig: Trig = "builtin"
    target: str = "host"
    engine: str = "casadi"
    variants: Mapping[str, str] = field(default_factory=dict)
    savings: bool = True
    contract: bool = False
    arch: str = "native"
    budget: int = 2_000_000
    ram: int | None = None
    budget_flash: int | None = None
    packed: bool = False
    params: tuple[str, ...] = ()
    emit: tuple[str, ...] = ()
    knots: int = 1
    coordinates: bool = False

    def __post_init__(self) -> None:
        _choice("real", self.real, REALS)
        _choice("trig", self.trig, TRIGS)
        for name in ("name", "target", "arch", "engine"):
            given = getattr(self, name)
            if not isinstance(given, str) and (given is not None or name != "name"):
                example = getattr(Options, name) or "my_robot"
                raise OptionError(f"{option(name, given)}: give a text, such as {example!r}")
        for name in ("savings", "contract", "packed", "coordinates"):
            if not isinstance(given := getattr(self, name), bool):
                raise OptionError(f"{name}={given!r}: give True or False")
        if not _positive(self.budget):
            raise OptionError(f"{option('budget', self.budget)} allows nothing; give a positive number")
        if self.ram is not None and not _positive(self.ram):
            raise OptionError(f"{option('ram', self.ram)} holds nothing; give a positive number of bytes")
        if self.budget_flash is not None and not _positive(self.budget_flash):
            raise OptionError(
                f"{option('budget_flash', self.budget_flash)} holds nothing; give a positive number of bytes"
            )
        if self.params and self.budget_flash is not None:
            raise OptionError(
                f"{option('budget_flash')} needs forms in loops, which {option('params')} has not; leave one "
                "of them out"
            )
        if not self.functions:
            raise OptionError(
                f"no function is asked for; give {option('functions', ['NAME'])}, or leave it out for the "
                "default ones"
            )
        for function in self.functions:
            if self.functions.count(function) > 1:
                raise OptionError(f"function '{function}' is asked for twice; name it once")
        self._check_emitted()
        if not (
            isinstance(self.variants, Mapping) and all(isinstance(x, str) for x in self.variants.values())
        ):
            raise OptionError(
                f"variants={self.variants!r}: give a dict {{function: form}}, such as {{'rnea': 'looped'}}"
            )
        for function in self.variants:
            if function not in self.functions:
                raise OptionError(
                    f"{option('variants', {function: self.variants[function]})}: '{function}' is not among "
                    "the functions asked for"
                )

    def _check_emitted(self) -> None:
        for name in self.emit:
            _choice("emit", name, EMITTED, listed=True)
        if not _positive(self.knots):
            raise OptionError(
                f"{option('knots', self.knots)} makes no sense; give a positive number of states a call"
            )
        if self.knots > 1 and not self.emit:
            raise OptionError(
                f"{option('knots')} is of functions of CasADi; give {option('emit', ['casadi'])}"
            )
        if self.emit and self.real != "double":
            raise OptionError(
                f"{option('emit', ['casadi'])}: CasADi computes in double; leave "
                f"{option('real', self.real)} out"
            )
        if self.emit and self.trig == "input":
            raise OptionError(
                f"{option('emit', ['casadi'])}: its functions are of q; leave {option('trig', 'input')} out"
            )

    @staticmethod
    def of(**given: Any) -> Options:
        """Options by name; OptionError for a name that there is none of."""
        known = {entry.name for entry in fields(Options)}
        for name in given:
            if name not in known:
                remedy = f"did you mean '{_MEANT[name]}'?" if name in _MEANT else choose(name, sorted(known))
                raise OptionError(f"unknown option '{name}'; {remedy}")
        for name, example in (("functions", "rnea"), ("params", "mass:*"), ("emit", "casadi")):
            if name in given:
                given[name] = _names(name, given[name], example)
        return Options(**given)

    def as_json(self) -> dict[str, Any]:
        """The options as JSON values, for the manifest."""
        told = asdict(self)
        for name in ("params", "emit", "knots", "coordinates"):
            if told[name] == getattr(Options(), name):
                del told[name]
        return told


def default_functions(frames: bool, contacts: bool) -> tuple[str, ...]:
    """What is generated where no function is named; more of them for a robot with frames or contacts."""
    of_frames = ("frame_placement", "frame_jacobian_aligned") if frames else ()
    of_contacts = ("contact_aba", "contact_jacobian", "contact_motion") if contacts else ()
    return Options().functions + of_frames + of_contacts


def _names(name: str, given: object, example: str) -> tuple[str, ...]:
    """A list of texts; OptionError for anything else, and for one text, which is most likely a slip."""
    names = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [None]
    if not all(isinstance(one, str) for one in names):
        raise OptionError(f"{name}={given!r}: give a list of names, such as [{example!r}]")
    return tuple(map(str, names))


def _positive(value: object) -> bool:
    return isinstance(value, int) and value >= 1


def _choice(name: str, value: str, known: tuple[str, ...], *, listed: bool = False) -> None:
    if value not in known:
        raise OptionError(
            f"{option(name, [value] if listed else value)} is not known; choose from: {', '.join(known)}"
        )


def environment_compiler() -> str | None:
    """The C compiler asked for by `CC`, None where it is not set."""
    return os.environ.get("CC", "").strip() or None


def environment_cache() -> Path:
    """`RBDGEN_CACHE`, else the user's cache folder by the XDG convention; a "~" in front is as written."""
    if own := os.environ.get("RBDGEN_CACHE", "").strip():
        return Path(own)
    base = os.environ.get("XDG_CACHE_HOME", "").strip()
    return Path(base or "~/.cache") / "rbdgen"


def environment_cache_size() -> int | None:
    """Bytes that the cache may have, by `RBDGEN_CACHE_SIZE`, 2 GB by default; None for any number of them.

    Raises:
        OptionError: the variable is no size.
    """
    text = os.environ.get("RBDGEN_CACHE_SIZE", "").strip()
    if text.lower() == "unlimited":
        return None
    matched = re.fullmatch(r"(\d{1,15}(?:\.\d{1,9})?) *(|k|M|G|T)B?", text or CACHE_SIZE, re.IGNORECASE)
    if matched is None:
        raise OptionError(
            f"RBDGEN_CACHE_SIZE={text!r} is no size; give bytes, a size such as '500 MB', or 'unlimited'"
        )
    return int(float(matched[1]) * 1000 ** " kMGT".lower().index(matched[2].lower() or " "))


def environment_packages() -> tuple[list[Path], list[Path]]:
    """The folders of ROS packages in source (`ROS_PACKAGE_PATH`) and as installed (`AMENT_PREFIX_PATH`)."""
    listed = (
        os.environ.get(name, "").split(os.pathsep) for name in ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH")
    )
    sources, installed = ([Path(folder) for folder in folders if folder] for folders in listed)
    return sources, installed
