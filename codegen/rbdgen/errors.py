"""The errors that rbdgen raises. Each message is one line that says where, what is wrong, and what to do."""

from __future__ import annotations

import re
from typing import Final

_LONGEST_WORD: Final = 100
"""The longest word of a message, in letters. Quoted names have at most 80."""

_LONGEST_PATH: Final = 300

_LONGEST: Final = 2000

_OPEN, _BETWEEN, _CLOSE = "\ue000\ue001\ue002"
"""Marks around the two wordings of `either`. Quoted texts of a user cannot contain them unescaped."""

_EITHER: Final = re.compile(f"{_OPEN}(?P<python>[^{_BETWEEN}]*){_BETWEEN}(?P<shell>[^{_CLOSE}]*){_CLOSE}")


class RbdgenError(Exception):
    """The base class of all errors for users; `str(error)` is the whole message, one line.

    `in_shell` is the message as the command line prints it, in which options are flags.
    """

    def __init__(self, message: str) -> None:
        super().__init__(shortened(_worded(message, "python")))
        self.in_shell = shortened(_worded(message, "shell"))


def either(python: str, shell: str) -> str:
    """A part of an error's message with one wording for Python and another one for the command line."""
    return f"{_OPEN}{python}{_BETWEEN}{shell}{_CLOSE}"


def _worded(message: str, reader: str) -> str:
    return _EITHER.sub(lambda found: found[reader], message)


class StateWarning(UserWarning):
    """The state of a robot is valid, but looks like a mistake, such as an angle in degrees."""


class RobotWarning(UserWarning):
    """The description of a robot has a part that looks wrong or that functions leave out, such as damping."""


def shortened(message: str) -> str:
    """The message without the middle of very long words, which can only come from a user's input."""
    words = re.sub(rf"\S{{{_LONGEST_WORD},}}", lambda found: _shortened_word(found[0]), message)
    return _without_middle(words, _LONGEST) if len(words) > _LONGEST else words


def _shortened_word(word: str) -> str:
    """A word without its middle if it is too long; paths may be longer."""
    kept = len(word) <= _LONGEST_PATH and "/" in word
    return word if kept else _without_middle(word, _LONGEST_PATH if "/" in word else 80)


def _without_middle(text: str, most: int) -> str:
    """The text without its middle if it is longer than `most`; the end, which says what to do, is kept."""
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
    """The description is valid, but its mechanics are impossible, such as a joint that nothing resists."""


class OptionError(RbdgenError):
    """An option, a function name or a robot name that rbdgen does not know or cannot combine."""


class GraphError(RbdgenError):
    """A graph violates the rules of `graph/node.py`, due to a fault of rbdgen or of a user's pass."""


class EmitError(RbdgenError):
    """The sources cannot be generated or written."""


class BuildError(RbdgenError):
    """The compiler is missing or refused the sources."""


class LoadError(RbdgenError):
    """A generated folder cannot be opened."""


class DeviceError(LoadError):
    """A GPU or its driver is missing, too old or too small for a kernel, or reports an error."""


class ArrayValueError(LoadError, ValueError):
    """The shape of an array does not fit the called function, or results cannot be written to `out`."""


class ArrayTypeError(LoadError, TypeError):
    """An argument is not an array of real numbers, or there are too many or too few arguments."""
