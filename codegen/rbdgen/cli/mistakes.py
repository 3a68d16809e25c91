"""Says what is wrong with commands, options and files of a user's own functions."""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Sequence
from pathlib import Path

from rbdgen.wording import near

_MEANT = {
    "--floating": "--base floating",
    "--fixed": "--base fixed",
    "--float": "--real float",
    "--double": "--real double",
    "--dtype": "--real",
    "--function": "-f",
    "--output": "-o",
    "--parameter": "--param",
    "--joint": "--lock",
    "--feet": "--contact",
}
"""Options that users of other programs expect, and the options of rbdgen that do the same."""


def no_command(given: Sequence[str], commands: Iterable[str]) -> str | None:
    """An error message if the first word is an unknown command rather than a robot; None otherwise."""
    from rbdgen.description.source import bundled_robots  # noqa: PLC0415  (only needed here)

    word = given[0] if given else ""
    if not word.isidentifier() or word in bundled_robots() or Path(word).exists():
        return None
    meant = near(word, commands)
    if meant and not near(word, bundled_robots()):
        return f"there is no command or robot '{word}'; did you mean rbdgen {' or rbdgen '.join(meant)}?"
    if len(given) > 1 and not given[1].startswith("-"):
        return f"there is no command '{word}'; there are {', '.join(commands)}, and rbdgen ROBOT"
    return None


def unrecognized(words: Sequence[str], options: Iterable[str], functions: Sequence[str] | None) -> str:
    """An error message for words that belong to no option.

    `functions` is the value of the option -f.
    """
    first, known = words[0], list(options)
    flag = first.partition("=")[0]
    if flag in _MEANT:
        return f"there is no option {flag}; take {_MEANT[flag]}"
    if flag.startswith("-"):
        meant = near(flag, known)
        remedy = f"did you mean {' or '.join(meant)}?" if meant else "leave it out"
        return f"there is no option {flag}; {remedy}"
    if functions is not None:
        listed = ",".join([*functions, *(word for word in words if not word.startswith("-"))])
        return f"unrecognized arguments: {' '.join(words)}; names stand in one list: -f {listed}"
    return f"unrecognized arguments: {' '.join(words)}; leave them out"


def in_own_file(error: Exception, file: str | None) -> str | None:
    """The error with its line in the user's file of functions, as one line; None if it is not from there."""
    if file is None:
        return None
    places = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError):
        places.append((error.filename or "", error.lineno))
    lines = [line for name, line in places if Path(name).absolute() == Path(file).absolute()]
    return f"{file}, line {lines[-1]}: {type(error).__name__}: {error}" if lines else None
