"""Reads the pairs of links whose distances are wanted, or not wanted, from files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from rbdgen.description.capsules import Capsule
from rbdgen.description.document import line_of, parse
from rbdgen.description.quoting import escaped, quoted
from rbdgen.description.shapes.covers.capsules_file import text_of
from rbdgen.errors import DescriptionError
from rbdgen.wording import choose

_FORM: Final = "write two names of links or capsules on every line"


class Asked(NamedTuple):
    """Two names of a line of a file, each with the indices of its capsules."""

    names: tuple[str, str]
    capsules: tuple[list[int], list[int]]
    where: str
    """The file and the line."""


def read_pairs(
    path: str | os.PathLike[str], capsules: Sequence[Capsule], links: Sequence[str]
) -> list[Asked]:
    """The pairs of a file with two names on every line, of links or of capsules such as "hand/1".

    A # begins a comment. Raises DescriptionError for a line of another form, for a name that is not known,
    for a link without capsules, and for a file without pairs.
    """
    name, text = text_of(path, f"give auto, all, srdf or a file; in a file, {_FORM}")
    known: dict[str, list[int]] = {link: [] for link in links}
    for k, capsule in enumerate(capsules):
        known[capsule.link].append(k)
    known = {x.name: [k] for k, x in enumerate(capsules)} | known
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        names = line.partition("#")[0].split()
        if not names:
            continue
        if len(names) != 2:
            raise DescriptionError(name, number, f"{quoted(line.strip())} is no pair", _FORM)
        first, second = (_capsules(x, known, links, name, number) for x in names)
        found.append(Asked((names[0], names[1]), (first, second), f"{name}:{number}"))
    if not found:
        raise DescriptionError(name, None, "has no pairs", _FORM)
    return found


def _capsules(
    name: str, known: Mapping[str, list[int]], links: Sequence[str], path: str, line: int
) -> list[int]:
    if name not in known:
        raise DescriptionError(path, line, f"there is no link {quoted(name)}", choose(name, links))
    if not known[name]:
        raise DescriptionError(path, line, f"link {quoted(name)} has no capsule", "leave it out")
    return known[name]


class Disabled(NamedTuple):
    """The pairs of links that an SRDF leaves out."""

    reasons: Mapping[frozenset[str], str]
    """The reason of the file by the pair of links, such as "Never"."""
    unknown: list[str]
    """A line about links that the robot does not have, if there are any."""


def read_disabled(path: str | os.PathLike[str], links: Sequence[str]) -> Disabled:
    """The <disable_collisions> of an SRDF.

    Pairs of links that the robot does not have are told, as several robots may share a file. Raises
    DescriptionError if the file cannot be read, or if it is no SRDF.
    """
    name, text = text_of(path, "give an SRDF file")
    document = parse(text.encode(), name)
    if document.root.tag != "robot":
        what = f"it begins with <{escaped(str(document.root.tag))}>"
        raise document.error(line_of(document.root), what, "give an SRDF file, which has <robot>")
    reasons: dict[frozenset[str], str] = {}
    missing: list[str] = []
    for element in document.children(document.root, "disable_collisions"):
        pair = [document.attribute(element, key) for key in ("link1", "link2")]
        absent = [link for link in pair if link not in links]
        missing += absent
        if not absent:
            reasons[frozenset(pair)] = escaped(element.get("reason", "disabled"), 40)
    unknown = []
    if missing:
        count = len(set(missing))
        others = f" and {count - 1} more" if count > 1 else ""
        what = f"the robot has no link {quoted(missing[0])}{others}"
        unknown = [f"{name}: {what}; their pairs are ignored"]
    return Disabled(reasons, unknown)
