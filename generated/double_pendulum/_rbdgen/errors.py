"""Every error rbdgen raises on purpose: one line that says where, what is wrong, and what to do."""

from __future__ import annotations

import re
from typing import Final

_LONGEST_WORD: Final = 100
"""In letters: names are quoted with at most 80 of theirs."""

_LONGEST_PATH: Final = 300

_LONGEST: Final = 2000

_OPEN, _BETWEEN, _CLOSE = "\ue000\ue001\ue002"
"""Around the two wordings of `either`; in texts of a user, which are quoted, they are escaped."""

_EITHER: Final = re.compile(f"{_OPEN}(?P<python>[^{_BETWEEN}]*){_BETWEEN}(?P<shell>[^{_CLOSE}]*){_CLOSE}")


class RbdgenError(Exception):
    """Base of all errors meant for the user; `str(error)` is the whole message, one line.

    `in_shell`: the message as the command line prints it, where options are flags.
    """

    def __init__(self, message: str) -> None:
        super().__init__(shortened(_worded(message, "python")))
        self.in_shell = shortened(_worded(message, "shell"))


def either(python: str, shell: str) -> str:
    """A part of an error's message that reads otherwise on the command line than in Python."""
    return f"{_OPEN}{python}{_BETWEEN}{shell}{_CLOSE}"


def _worded(message: str, reader: str) -> str:
    return _EITHER.sub(lambda found: found[reader], message)


class StateWarning(UserWarning):
    """The state of a robot is legal and yet looks like a mistake, such as an angle in degrees."""


def shortened(message: str) -> str:
    """The message without the middle of words that only a user could have given, as they are too long."""
    words = re.sub(rf"\S{{{_LONGEST_WORD},}}", lambda found: _shortened_word(found[0]), message)
    return _without_middle(words, _LONGEST) if len(words) > _LONGEST else words


def _shortened_word(word: str) -> str:
    """A path stays as it is while a user can still read it."""
    kept = len(word) <= _LONGEST_PATH and "/" in word
    return word if kept else _without_middle(word, _LONGEST_PATH if "/" in word else 80)


def _without_middle(text: str, most: int) -> str:
    """The end is kept as well: it says what to do."""
    end = most // 4
    return f"{text[: most - end - 3]}...{text[-end:]}"


class DescriptionError(RbdgenError):
    """The robot description cannot be used: `FILE:LINE: what is wrong; what to do`."""

    def __init__(self, path: str, line: int | None, what: str, what_to_do: str) -> None:
        where = path if line is None else f"{path}:{line}"
        super().__init__(f"{where}: {what}; {what_to_do}")
        self.path = path
        self.line = line


class ModelError(RbdgenError):
    """The description is legal but its mechanics are not (a joint that nothing resists, say)."""


class OptionError(RbdgenError):
    """An option, a function name or a robot name that rbdgen does not know or cannot combine."""


class GraphError(RbdgenError):
    """A graph that breaks the grammar of `graph/node.py`: a fault of rbdgen or of a user's pass."""


class EmitError(RbdgenError):
    """The sources cannot be laid out or written."""


class BuildError(RbdgenError):
    """The compiler is missing or refused the sources."""


class LoadError(RbdgenError):
    """A generated folder cannot be opened."""


class ArrayValueError(LoadError, ValueError):
    """An array does not fit the function that is called: its shape, or where `out` lies."""


class ArrayTypeError(LoadError, TypeError):
    """What is passed to a function is no array of real numbers, or too many or too few are."""
