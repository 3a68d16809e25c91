"""How messages name options: in Python an argument, on the command line a flag.

A message is written once, with `option("target", "host")` where it speaks of an option. It reads
`target='host'` where it is raised in Python, and `--target host` where the command line prints it: see
`errors.either`.
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
    "contacts": "--contact",
    "contact_sets": "--contact-set",
    "xacro_args": "--xacro-arg",
    "loops": "--loop",
    "variants": "--variant",
    "budget": "--budget-operations",
    "compiled": "--no-compile",
    "savings": "--no-savings",
}
"""Flags that are not called as the argument is."""

_OF_COMMAS: Final = {"functions", "frames", "ignore", "independent", "emit"}
"""Options whose values stand in one list, with commas between them; others are given once for each."""

_TELLING: Final = 3
"""Letters that a part of a name has at least, to be taken for it."""


def option(name: str, value: Any = None) -> str:
    """An option in a message, with a value where one is given; a list or a dict where the argument is one.

    Only worded by errors: warnings are texts, see `both`.
    """
    return either(in_python(name, value), on_command_line(name, value))


def both(name: str, value: Any = None) -> str:
    """An option in a text that does not know its reader, such as a warning that is stored."""
    return f"{in_python(name, value)} ({on_command_line(name, value)})"


def in_python(name: str, value: Any = None) -> str:
    """As an argument in Python."""
    return name if value is None else f"{name}={value!r}"


def on_command_line(name: str, value: Any = None) -> str:
    """As a flag of the command line."""
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
    """The known names that are meant, as it seems, at most three: similar ones, else those that hold it or
    that it holds. Capitals make no difference."""
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
    """What to do about an unknown name: the nearest known ones, or all."""
    listed = list(known)
    meant = " or ".join(repr(one) for one in near(name, listed))
    return f"did you mean {meant}?" if meant else f"choose from: {', '.join(listed)}"
