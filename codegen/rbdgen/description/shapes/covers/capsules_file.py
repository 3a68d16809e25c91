"""Reads and writes files of capsules in TOML, in the frames of links and in m.

    [[capsule]]
    link = "link3"
    from = [0, 0, -0.12]
    to = [0, 0, -0.07]
    radius = 0.06
    excess_mm = 23.9

Without `to` it is a sphere. Without `excess_mm` it is unknown how far the capsule stands out of the shape.
"""

from __future__ import annotations

import math
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from rbdgen.description.armature import MOST_PARTS, longest_key
from rbdgen.description.capsules import Capsule
from rbdgen.description.document import read_most
from rbdgen.description.quoting import escaped, quoted, told
from rbdgen.description.shapes.covers.swept import Array, Swept, between, millimetres
from rbdgen.description.solids import FARTHEST
from rbdgen.errors import DescriptionError
from rbdgen.wording import choose

MOST_BYTES: Final = 1_000_000
"""The largest size of a file, in bytes."""

_KEYS: Final = ("link", "from", "to", "radius", "excess_mm")

_FORM: Final = "write [[capsule]] with link, from, to and radius"

_HEADER: Final = re.compile(r"\s*\[\[\s*capsule\s*\]\]")


def text_of(path: str | os.PathLike[str], what_to_do: str) -> tuple[str, str]:
    """The name of a file in messages, and its text. Raises DescriptionError if it is no text of this size."""
    name = os.fspath(path)
    try:
        with Path(name).open("rb") as file:
            data = read_most(file, MOST_BYTES)
        text = data.decode()
    except OSError as error:
        raise DescriptionError(name, None, f"cannot be read ({error.strerror})", what_to_do) from None
    except ValueError:  # also for a name with a null
        raise DescriptionError(escaped(name), None, "is no text file", what_to_do) from None
    if len(data) > MOST_BYTES:
        raise DescriptionError(name, None, f"is larger than {MOST_BYTES / 1e6:g} MB", what_to_do)
    return name, text


def read_capsules(path: str | os.PathLike[str], links: Iterable[str]) -> dict[str, list[Swept]]:
    """The capsules of a file by link, in the link's frame.

    `links` are the names of all links. Raises DescriptionError, with the line of the capsule, for a file of
    another form, for a link that is not among these, and for numbers that give no capsule.
    """
    name, text = text_of(path, "give a TOML file of capsules, see rbdgen cover")
    try:
        if (parts := longest_key(text)) > MOST_PARTS:
            raise ValueError(f"a key has {parts} parts")
        found = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise DescriptionError(name, None, f"is no TOML ({escaped(str(error), 100)})", _FORM) from None
    for key in found:
        if key != "capsule":
            raise DescriptionError(name, None, f"{quoted(key)} is not known", _FORM)
    entries = found.get("capsule", [])
    if not (isinstance(entries, list) and entries and all(isinstance(x, dict) for x in entries)):
        raise DescriptionError(name, None, "has no [[capsule]]", _FORM)
    lines = [k for k, line in enumerate(text.splitlines(), 1) if _HEADER.match(line)]
    numbers: list[int | None] = [*lines] if len(lines) == len(entries) else [None] * len(entries)
    known = list(links)
    capsules: dict[str, list[Swept]] = {}
    for entry, line in zip(entries, numbers, strict=True):
        one = _Entry(entry, name, line)
        capsules.setdefault(one.link(known), []).append(one.capsule())
    return capsules


class _Entry(NamedTuple):
    """One capsule of a file."""

    given: Mapping[str, Any]
    name: str
    line: int | None

    def link(self, known: list[str]) -> str:
        link = self._value("link")
        if not isinstance(link, str):
            raise self._error(f"link is {told(link)}", "write the name of a link")
        if link not in known:
            raise self._error(f"there is no link {quoted(link)}", choose(link, known))
        return link

    def capsule(self) -> Swept:
        for key in self.given:
            if key not in _KEYS:
                raise self._error(f"{quoted(key)} is not known", f"choose from {', '.join(_KEYS)}")
        start = self._point("from")
        end = self._point("to") if "to" in self.given else start
        radius = self._size("radius")
        excess = self._size("excess_mm") / 1000 if "excess_mm" in self.given else None
        return between(start, end, radius, excess)

    def _value(self, key: str) -> Any:
        if key not in self.given:
            raise self._error(f"{key} missing", f"write {key} = {_EXAMPLES[key]}")
        return self.given[key]

    def _point(self, key: str) -> Array:
        value = self._value(key)
        if not (isinstance(value, list) and len(value) == 3 and all(map(_is_number, value))):
            raise self._error(f"{key} is {told(value)}", "write three numbers, in m")
        return np.array(value, float)

    def _size(self, key: str) -> float:
        value = self._value(key)
        if not (_is_number(value) and value >= 0):
            raise self._error(f"{key} is {told(value)}", "write a number of 0 or more")
        return float(value)

    def _error(self, what: str, what_to_do: str) -> DescriptionError:
        return DescriptionError(self.name, self.line, what, what_to_do)


_EXAMPLES: Final = {"link": '"link3"', "from": "[0, 0, -0.1]", "radius": "0.06"}


def _is_number(value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and math.isfinite(value) and abs(value) <= FARTHEST


def written(capsules: Iterable[Capsule]) -> str:
    """The text of a file of these capsules, with 12 digits."""
    return "\n".join(map(_written, capsules))


def _written(capsule: Capsule) -> str:
    center, reach = np.array(capsule.center), capsule.half_length * np.array(capsule.axis)
    lines = ["[[capsule]]", f"link = {_string(capsule.link)}", f"from = {_list(center - reach)}"]
    lines += [f"to = {_list(center + reach)}"] if capsule.half_length > 0 else []
    lines += [f"radius = {capsule.radius:.12g}"]
    if capsule.excess is not None:
        lines += [f"excess_mm = {millimetres(capsule.excess):g}"]
    return "\n".join(lines) + "\n"


def _list(values: Array) -> str:
    small = 1e-15 * max(1.0, float(np.abs(values).max()))  # the rounding of a rotation by a right angle
    return f"[{', '.join(f'{0.0 if abs(x) <= small else x:.12g}' for x in values.tolist())}]"


def _string(text: str) -> str:
    """A basic string of TOML."""
    short = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub(r"[\x00-\x1f\x7f]", lambda found: f"\\u{ord(found[0]):04X}", short) + '"'
