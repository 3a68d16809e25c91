"""Conversion of texts from a robot description into checked identifiers and escaped comments."""

from __future__ import annotations

import keyword
import re
import sys
import unicodedata
from collections.abc import Iterable
from typing import Final

from rbdgen.emit.reserved import (
    hides_the_function,
    hides_the_package,
    hides_the_system,
    is_a_variable,
)
from rbdgen.errors import EmitError
from rbdgen.wording import both, option

_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_COMMENT_SAFE: Final = frozenset(
    " !#$%&'()+,-./0123456789:;<=>@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|}~"
)

_C_AND_CPP: Final = frozenset(
    """
    alignas alignof and and_eq asm atomic_cancel atomic_commit atomic_noexcept auto bitand bitor bool
    break case catch char char8_t char16_t char32_t class co_await co_return co_yield compl concept
    const const_cast consteval constexpr constinit continue decltype default delete do double
    dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable
    namespace new noexcept not not_eq nullptr operator or or_eq private protected public reflexpr
    register reinterpret_cast requires restrict return short signed sizeof static static_assert
    static_cast struct switch synchronized template this thread_local throw true try typedef typeid
    typename typeof typeof_unqual union unsigned using virtual void volatile wchar_t while xor xor_eq
    linux unix main
    """.split()  # noqa: SIM905  (a list would take a screen)
)

RESERVED: Final = _C_AND_CPP | frozenset(keyword.kwlist) | frozenset(keyword.softkwlist)
"""Words that no emitted name may be: keywords of C, C++ and Python, and macros that compilers predefine."""

_TAKEN_MODULES: Final = sys.stdlib_module_names | {"cffi", "numpy", "rbdgen", "test"}

LONGEST_NAME: Final = 60
"""The longest identifier of a robot. File names add suffixes to it and may have 255 characters."""

_SUFFIX: Final = "_robot"
"""The suffix that is appended to a name that is taken."""

_SHOWN: Final = 80
"""The number of characters of a name that an error quotes."""


def check_identifier(name: str) -> str:
    """Returns `name` if it is an identifier of C, C++ and Python. Raises `EmitError` otherwise."""
    if not _IDENTIFIER.fullmatch(name) or name in RESERVED:
        raise EmitError(
            f"{_shown(name)} is not usable as a name in C and Python;"
            " take letters, digits and '_', no keyword"
        )
    return name


def check_robot_name(name: str) -> str:
    """Returns `name` if it can name a Python package and begin C functions. Raises `EmitError` otherwise."""
    if len(name) > LONGEST_NAME:
        raise EmitError(f"{_shown(name)} has {len(name)} letters; choose a name of at most {LONGEST_NAME}")
    check_identifier(name)
    if name.startswith("_") or _taken(name):
        raise EmitError(
            f"{_shown(name)} cannot name a generated package, it is reserved; choose another {option('name')}"
        )
    return name


def check_argument_name(name: str) -> str:
    """Returns `name` if an array argument of a C function can have it. Raises `EmitError` otherwise."""
    if hides_the_function(check_identifier(name)):
        raise EmitError(f"an argument named '{name}' would hide a name of the emitted C; rename it")
    return name


def check_own_names(name: str, arrays: Iterable[str]) -> None:
    """Raise `EmitError` if a function of a user's own, or one of its arrays, cannot have its name in C."""
    if hides_the_package(check_identifier(name)):
        raise EmitError(f"generated packages have something else named '{name}'; take another name")
    for array in arrays:
        if is_a_variable(check_argument_name(array)):
            raise EmitError(f"an argument named '{array}' would hide a local variable; rename it")


def _taken(name: str) -> bool:
    """Whether a package or header of this name would hide another, or a C++ namespace would clash."""
    return name in _TAKEN_MODULES or hides_the_system(name)


def _shown(name: str) -> str:
    """The name as an error quotes it."""
    return repr(name if len(name) <= _SHOWN else f"{name[:_SHOWN]}...")


def identifier(text: str, lead: str = "n") -> str:
    """The nearest identifier of C, C++ and Python: accents are removed, and other characters become '_'.

    It is never empty or reserved. It has no leading '_' and no '__', which C and C++ reserve, and `lead` is
    put in front of a leading digit. Two texts may give the same identifier: see `unique_identifiers`.
    """
    plain = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    name = re.sub(r"[^A-Za-z0-9]+", "_", plain, flags=re.ASCII).strip("_")
    if not name or name[0].isdigit():
        name = f"{lead}{name}".rstrip("_")
    return f"{name}_" if name in RESERVED else name


def robot_identifier(text: str) -> str:
    """An identifier from a robot's name that can be a Python package and the prefix of C functions.

    A long name is cut, so two robots may have the same identifier.
    """
    name = identifier(identifier(text, lead="robot_")[:LONGEST_NAME])
    return f"{name[: LONGEST_NAME - len(_SUFFIX)].rstrip('_')}{_SUFFIX}" if _taken(name) else name


def renaming(text: str) -> str | None:
    """One line that says why a robot's identifier differs from its name, or None if the name was kept."""
    name = identifier(text, lead="robot_")
    if len(name) > LONGEST_NAME:
        why = f"its name has {len(name)} letters"
    elif _taken(name) or name.endswith("_"):  # `identifier` appended the '_' to a reserved word
        why = "its name is reserved in C or Python"
    else:
        return None
    return (
        f"robot {_shown(text)}: {why}; files and functions are called '{robot_identifier(text)}',"
        f" {both('name')} chooses another name"
    )


def unique_identifiers(texts: Iterable[str]) -> tuple[str, ...]:
    """An identifier for each text, in order.

    They differ even in upper case, because they also name macros.
    """
    names = [identifier(text) for text in texts]
    seen: set[str] = set()
    clean = {name.upper() for name in names}
    result: list[str] = []
    for name in names:
        candidate, number = name, 1
        while candidate.upper() in seen or (number > 1 and candidate.upper() in clean):
            number += 1
            candidate = f"{name}_{number}"
        seen.add(candidate.upper())
        result.append(candidate)
    return tuple(result)


def comment_text(text: str) -> str:
    """`text`, changed so that it cannot end a comment of C, C++ or Python, nor a Python docstring.

    Asterisks, backslashes, question marks (trigraphs), double quotes, control characters and all characters
    that are not ASCII appear as {U+002A}.
    """
    return "".join(c if c in _COMMENT_SAFE else f"{{U+{ord(c):04X}}}" for c in text)


def markdown_text(text: str) -> str:
    """`text`, escaped so that Markdown shows it unchanged, even inside a table."""
    shown = (c if c.isprintable() else f"{{U+{ord(c):04X}}}" for c in text)
    return "".join(c if c.isalnum() or c in " _-.,:+{}" else f"&#{ord(c)};" for c in "".join(shown))
