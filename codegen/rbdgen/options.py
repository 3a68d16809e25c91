"""The options of a generation, and the environment variables of users, which only this module reads."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import InitVar, asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from rbdgen.errors import OptionError
from rbdgen.machine import REALS, Real
from rbdgen.wording import choose, option

Trig: TypeAlias = Literal["libm", "builtin", "input"]

CACHE_SIZE: Final = "2 GB"
"""The default limit of the cache."""

AUTO: Final = "auto"
"""The compiler that stands for the faster one of gcc and clang for each file."""

COMPILERS: tuple[str, ...] = (AUTO, "gcc", "clang")

BOUNDS: Final = "bounds"
"""The name in `emit` that asks for bounds of values and rounding errors."""

MOST_PARTS: Final = 1_000_000
"""The largest number of parts into which ranges are cut for bounds."""

TRIGS: tuple[Trig, ...] = ("libm", "builtin", "input")

_MEANT: Final = {"dtype": "real", "precision": "real", "parameters": "params", "compile": "compiled"}
"""Names of options in other libraries, and rbdgen's names for them."""


@dataclass(frozen=True)
class Options:
    """The options of a generation, such as its functions, their forms and the target."""

    functions: tuple[str, ...] = ("rnea", "aba", "crba", "minv", "rnea_derivatives", "aba_derivatives")
    """The names of functions."""
    name: str | None = None
    """The name of the package; None for the robot's own."""
    real: Real = "double"
    trig: Trig = "builtin"
    """The source of sines and cosines."""
    target: str = "host"
    """A name in the table of targets."""
    engine: str = "casadi"
    """The library that traces the algorithms."""
    variants: Mapping[str, str] = field(default_factory=dict)
    """The form to use by function, for functions whose form is not selected."""
    savings: bool = True
    """Whether body axes are searched and cheap forms are tried."""
    contract: bool = False
    """Whether the compiler may fuse products and sums, which changes the last bits."""
    arch: str = "native"
    """The oldest processor on which the code runs; batches are also compiled for newer ones. For the target
    cuda, the GPUs."""
    compiler: str | None = None
    """"gcc", "clang", or "auto" for the one that is expected to compile a file to faster code; None for the
    compiler that the environment determines."""
    budget: int = 2_000_000
    """The largest estimated number of operations of an unrolled function; larger ones are refused."""
    ram: int | None = None
    """The RAM, in bytes, of a small machine for a function's stack and arguments; None for the RAM of the
    typical chip of the target."""
    budget_flash: int | None = None
    """The flash, in bytes, that all functions together may take; None for no limit.

    Forms become smaller until they fit.
    """
    packed: bool = False
    """Whether matrices only hold elements that are not always 0, and symmetric elements once."""
    same_bits: bool = False
    """Whether batches and kernels give the bits of single calls. They may then be slower."""
    params: tuple[str, ...] = ()
    """The parameters that stay inputs, by names and patterns of `model/parameters.py`, such as "mass:*"."""
    emit: tuple[str, ...] = ()
    """The files that are written in addition to C: "casadi" stands for functions for `casadi.external` that
    take one state per call, and "casadi:32" adds functions that take 32 states. The table in `emit.backends`
    has all names.
    """
    coordinates: bool = False
    """Whether NAME_vjp, NAME_jvp and NAME_hvp differentiate with respect to the nq elements of q, rather than
    the nv elements of its tangent space."""
    ranges: Mapping[str, object] = field(default_factory=dict)
    """The ranges of inputs and parameters for which `emit` writes "bounds", by name; see
    `bounds/ranges.py`."""
    tighten: int = 0
    """The number of parts into which these ranges are cut at most."""
    knots: InitVar[int] = 1
    """N, as another way to ask for "casadi:N" in `emit`."""

    def __post_init__(self, knots: int) -> None:
        _choice("real", self.real, REALS)
        _choice("trig", self.trig, TRIGS)
        if self.compiler is not None:
            _choice("compiler", self.compiler, COMPILERS)
        for name in ("name", "target", "arch", "engine"):
            given = getattr(self, name)
            if not isinstance(given, str) and (given is not None or name != "name"):
                example = getattr(Options, name) or "my_robot"
                raise OptionError(f"{option(name, given)}: give a text, such as {example!r}")
        for name in ("savings", "contract", "packed", "same_bits", "coordinates"):
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
                f"{option('budget_flash')} needs forms in loops, which do not exist with "
                f"{option('params')}; leave one of them out"
            )
        if not self.functions:
            raise OptionError(
                f"no function is asked for; give {option('functions', ['NAME'])}, or leave it out for the "
                "default ones"
            )
        for function in self.functions:
            if self.functions.count(function) > 1:
                raise OptionError(f"function '{function}' is asked for twice; name it once")
        self._take_knots(knots)
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
        check_parts(self.tighten)
        if not isinstance(self.ranges, Mapping):
            raise OptionError(
                f"ranges={self.ranges!r}: give a dict {{input: (lowest, highest)}}, such as {{'q': (-1, 1)}}"
            )
        for name, given in (("ranges", self.ranges), ("tighten", self.tighten)):
            if given and BOUNDS not in self.emit:
                raise OptionError(
                    f"{option(name)} is an option of bounds; give {option('emit', [*self.emit, BOUNDS])}"
                )

    def _take_knots(self, knots: int) -> None:
        """Replaces "casadi" in `emit` by "casadi:N" with N = `knots`."""
        if not _positive(knots):
            raise OptionError(
                f"{option('knots', knots)} is not a number of states; give a positive number of states a call"
            )
        if knots == 1:
            return
        if "casadi" not in self.emit:
            raise OptionError(
                f"{option('knots')} is an option of CasADi functions; give "
                f"{option('emit', [f'casadi:{knots}'])}"
            )
        emit = tuple(f"casadi:{knots}" if name == "casadi" else name for name in self.emit)
        object.__setattr__(self, "emit", emit)

    @staticmethod
    def of(**given: Any) -> Options:
        """Options by name. Raises OptionError for an unknown name or a value of the wrong type."""
        known = {*(entry.name for entry in fields(Options)), "knots"}
        for name in given:
            if name not in known:
                remedy = f"did you mean '{_MEANT[name]}'?" if name in _MEANT else choose(name, sorted(known))
                raise OptionError(f"unknown option '{name}'; {remedy}")
        for name, example in (("functions", "rnea"), ("params", "mass:*"), ("emit", "casadi")):
            if name in given:
                given[name] = _names(name, given[name], example)
        return Options(**given)

    @property
    def without_bounds(self) -> Options:
        """The options without "bounds", whose ranges may only fit all functions together."""
        emit = tuple(name for name in self.emit if name != BOUNDS)
        return replace(self, emit=emit, ranges={}, tighten=0)

    def as_json(self) -> dict[str, Any]:
        """The options as JSON values, for the manifest, except `compiler`, which changes nothing in the C."""
        told = {**asdict(replace(self, ranges={})), "ranges": _plain(self.ranges)}
        del told["compiler"]
        for name in ("same_bits", "params", "emit", "coordinates", "ranges", "tighten"):
            if told[name] == getattr(Options(), name):
                del told[name]
        return told


def default_functions(frames: bool, contacts: bool) -> tuple[str, ...]:
    """The functions that are generated by default; there are more for a robot with frames or contacts."""
    of_frames = ("frame_placement", "frame_jacobian_aligned") if frames else ()
    of_contacts = ("contact_aba", "contact_jacobian", "contact_motion") if contacts else ()
    return Options().functions + of_frames + of_contacts


def _names(name: str, given: object, example: str) -> tuple[str, ...]:
    """Checks that a list of texts was given, and returns it as a tuple.

    Raises OptionError for anything else, also for a single text, which is likely a mistake.
    """
    names = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [None]
    if not all(isinstance(one, str) for one in names):
        raise OptionError(f"{name}={given!r}: give a list of names, such as [{example!r}]")
    return tuple(map(str, names))


def _positive(value: object) -> bool:
    return isinstance(value, int) and value >= 1


def _plain(value: object) -> Any:
    """Ranges as JSON values: arrays become lists, and what can be no range becomes a text."""
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    listed = getattr(value, "tolist", lambda: value)()
    return listed if isinstance(listed, (str, int, float, list)) else repr(listed)


def check_parts(tighten: object) -> int:
    """The number of parts into which ranges are cut at most. Raises OptionError for anything else."""
    if not isinstance(tighten, int) or isinstance(tighten, bool) or not 0 <= tighten <= MOST_PARTS:
        raise OptionError(f"{option('tighten', tighten)}: give a number of parts from 0 to {MOST_PARTS}")
    return tighten


def _choice(name: str, value: str, known: tuple[str, ...], *, listed: bool = False) -> None:
    if value not in known:
        raise OptionError(
            f"{option(name, [value] if listed else value)} is not known; choose from: {', '.join(known)}"
        )


def environment_compiler() -> str | None:
    """The C compiler that `CC` names; None if it is not set."""
    return os.environ.get("CC", "").strip() or None


def environment_cache() -> Path:
    """The folder of `RBDGEN_CACHE`, or the user's cache folder by the XDG convention. "~" is not expanded."""
    if own := os.environ.get("RBDGEN_CACHE", "").strip():
        return Path(own)
    base = os.environ.get("XDG_CACHE_HOME", "").strip()
    return Path(base or "~/.cache") / "rbdgen"


def environment_cache_size() -> int | None:
    """The limit of the cache in bytes, from `RBDGEN_CACHE_SIZE`, 2 GB by default; None for no limit.

    Raises:
        OptionError: the variable is not a size.
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


def environment_driver() -> str:
    """The library of NVIDIA's driver that `RBDGEN_LIBCUDA` names, or else the one that the system finds."""
    return os.environ.get("RBDGEN_LIBCUDA", "").strip() or "libcuda.so.1"


def environment_packages() -> tuple[list[Path], list[Path]]:
    """The folders of source packages (`ROS_PACKAGE_PATH`) and of installed ones (`AMENT_PREFIX_PATH`) of
    ROS."""
    listed = (
        os.environ.get(name, "").split(os.pathsep) for name in ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH")
    )
    sources, installed = ([Path(folder) for folder in folders if folder] for folders in listed)
    return sources, installed
