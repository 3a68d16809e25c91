"""Names options in messages: as arguments in Python, and as flags on the command line.

A message is written once, with `option("target", "host")` for an option. In Python this reads
`target='host'`, and on the command line `--target host`; see `errors.either`.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any, Final

from rbdgen.errors import either

_FLAGS: Final[Mapping[str, str]] = {
    "functions": "-f",
    "out": "-o",
    "params": "--param",
    "ranges": "--range",
    "contacts": "--contact",
    "contact_sets": "--contact-set",
    "contacts_from_collision": "--contact-from-collision",
    "xacro_args": "--xacro-arg",
    "loops": "--loop",
    "variants": "--variant",
    "budget": "--budget-operations",
    "compiled": "--no-compile",
    "savings": "--no-savings",
}
"""Flags whose names differ from those of the arguments."""

_OF_COMMAS: Final = {
    "functions",
    "frames",
    "ignore",
    "independent",
    "emit",
    "contacts_from_collision",
    "contact_with",
}
"""Options whose flag takes a list with commas; other flags are given once for each value."""

_TELLING: Final = 3
"""The smallest number of letters of a word that is taken for the longer name of which it is a part."""


def option(name: str, value: Any = None) -> str:
    """An option in an error message, with its value if one is given. The value may be a list or a dict.

    Warnings are plain texts, so they need `both`.
    """
    return either(in_python(name, value), on_command_line(name, value))


def both(name: str, value: Any = None) -> str:
    """An option in both wordings, for texts such as stored warnings that Python and the command line show."""
    return f"{in_python(name, value)} ({on_command_line(name, value)})"


def in_python(name: str, value: Any = None) -> str:
    """The option as an argument in Python."""
    return name if value is None else f"{name}={value!r}"


def on_command_line(name: str, value: Any = None) -> str:
    """The option as a flag of the command line."""
    flag = _FLAGS.get(name, f"--{name.replace('_', '-')}")
    if value is None or isinstance(value, bool):
        return flag
    if isinstance(value, Mapping):
        values = [f"{key}={one}" for key, one in value.items()]
    elif isinstance(value, (list, tuple)):
        values = [",".join(map(str, value))] if name in _OF_COMMAS else list(map(str, value))
    else:
        values = [str(value)]
    return " ".join(f"{flag} {shlex.quote(repr(one)[1:-1])}" for one in values)


def near(name: object, known: Iterable[str]) -> list[str]:
    """At most three known names that are probably meant.

    They are similar names, or, if there are none, names that contain this one or are contained in it. Case is
    ignored.
    """
    lower = {one.lower(): one for one in reversed(list(known))}
    asked = str(name).lower()
    if asked in lower:
        return [lower[asked]]
    found = get_close_matches(asked, lower, n=3)
    found = found or [one for one in reversed(lower) if _part_of(one, asked) or _part_of(asked, one)][:3]
    return [lower[one] for one in found]


def _part_of(one: str, other: str) -> bool:
    return len(one) >= _TELLING and one in other


def choose(name: object, known: Iterable[str]) -> str:
    """The part of a message that says what to give instead of an unknown name: the nearest names, or all."""
    listed = list(known)
    meant = " or ".join(repr(one) for one in near(name, listed))
    return f"did you mean {meant}?" if meant else f"choose from: {', '.join(listed)}"
