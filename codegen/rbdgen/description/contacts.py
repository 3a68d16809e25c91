"""Contacts as a user gives them: places on links that the world, or another link, holds.

Point("lf", "front_left_foot")              the origin of this link stands still: 3 rows
Point("*_foot")                             so for all links that match, called as the links are
Frame("l", "left_foot", (0.05, 0, -0.07))   a place of this link and its axes stand still: 6 rows
Loop("bar", "a", (0, 0, 0.1), "b")          places of two links stay together: 3 rows
"""

from __future__ import annotations

import numbers
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Final, Literal, TypeAlias

from rbdgen.description.quoting import escaped, quoted, told
from rbdgen.errors import OptionError, either

ORIGIN = (0.0, 0.0, 0.0)

MARKS: Final = ",=:"
"""In no name of a contact: they part what the command line is given."""

FARTHEST = 1e30
"""In m: squares of larger lengths leave the range of doubles, as between joints."""


LONGEST_SET: Final = 60
"""Letters of the name of a set: it becomes part of names of files, which have at most 255."""


@dataclass(frozen=True)
class Point:
    """A point of a link that the world holds: 3 rows, m/s^2; its force in N.

    `name`: of the contact; `link`: a link, a fixed one too, or any other named frame of the robot; `point`:
    in its axes, m. Without a link, `name` is that of the link too, or a pattern such as "*_foot": a contact
    for every link that matches, called as the link is.
    """

    name: str
    link: str | None = None
    point: Sequence[float] = ORIGIN


@dataclass(frozen=True)
class Frame:
    """A point of a link and the link's axes, which the world holds: 6 rows, linear, then angular; its force
    in N and moment in N m about the point. Arguments as of `Point`.
    """

    name: str
    link: str | None = None
    point: Sequence[float] = ORIGIN


@dataclass(frozen=True)
class Loop:
    """A point of one link that stays with a point of another: 3 rows, or 6 with their axes (`frame`).

    `link1`, `link2`: as of `Point`, one of them may be "world"; `point1`, `point2`: in their axes, m.
    """

    name: str
    link1: str
    point1: Sequence[float]
    link2: str
    point2: Sequence[float] = ORIGIN
    frame: bool = False


Contact: TypeAlias = Point | Frame | Loop


@dataclass(frozen=True)
class ContactSet:
    """Some contacts in an order of their own: every function of contacts is also there for these alone, with
    the set's name as its suffix."""

    name: str
    contacts: tuple[str, ...]


Form = Literal["--contact", "--contact-frame", "--contact-loop"]

FORMS: Final[dict[Form, str]] = {
    "--contact": "[NAME=]LINK[:X,Y,Z]",
    "--contact-frame": "[NAME=]LINK[:X,Y,Z]",
    "--contact-loop": "NAME=LINK[:X,Y,Z]=LINK[:X,Y,Z][:frame]",
}
"""How the options of the command line say a contact."""


def contact_from(option: Form, text: str) -> Contact:
    """The contact that an option says; OptionError where it is not of its form."""
    name, *places = text.split("=")
    loop = option == "--contact-loop"
    kept = loop and text.endswith(":frame")
    if kept and places:
        places[-1] = places[-1].removesuffix(":frame")
    if not (loop or places):
        link, point = _place(option, text, name)
        return (Point if option == "--contact" else Frame)(link, None, point)
    if not name or not all(places) or len(places) != 1 + loop:
        raise OptionError(f"{_asked(option, text)}: not of the form {FORMS[option]}")
    ends = [_place(option, text, place) for place in places]
    if loop:
        (link1, point1), (link2, point2) = ends
        return Loop(name, link1, point1, link2, point2, kept)
    return (Point if option == "--contact" else Frame)(name, *ends[0])


def _asked(option: Form, text: str) -> str:
    return either(f"contact {quoted(text)}", f"{option} {escaped(text)}")


def _place(option: Form, text: str, place: str) -> tuple[str, tuple[float, ...]]:
    """A link and a point of it, its origin where none is said; names of links may have colons."""
    link, colon, numbers_after = place.rpartition(":")
    try:
        point = tuple(map(float, numbers_after.split(",")))
    except ValueError:
        link, colon, point = place, "", ORIGIN
    if not colon:
        return place, ORIGIN
    if len(point) != 3:
        raise OptionError(f"{_asked(option, text)}: a point is three numbers X,Y,Z; there are {len(point)}")
    return link, point


def checked_contacts(given: object) -> tuple[Contact, ...]:
    """Contacts as the API takes them, with points of three floats; OptionError for anything else."""
    listed = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    return tuple(map(_checked, listed))


def _checked(one: object) -> Contact:
    if isinstance(one, str):
        one = contact_from("--contact", one)
    if not isinstance(one, (Point, Frame, Loop)):
        raise OptionError(
            f"contact {told(one)} makes no sense; give rbdgen.Point, rbdgen.Frame or rbdgen.Loop, or the "
            "name of a link, or 'NAME=LINK'"
        )
    values = {field.name: getattr(one, field.name) for field in fields(one)}
    for what, value in values.items():
        if what.startswith("point"):
            values[what] = _point(one, value)
        elif what != "frame" and not (isinstance(value, str) and value) and (what, value) != ("link", None):
            raise OptionError(f"contact {told(one.name)}: {what} {told(value)} is no name; give one")
    if any(mark in one.name for mark in MARKS):
        raise OptionError(f"contact {told(one.name)}: a name with , = or : in it; leave them out")
    return type(one)(**values)


def _point(one: Contact, given: object) -> tuple[float, ...]:
    values: list[float] = list(given) if isinstance(given, Iterable) else []
    if len(values) == 3 and all(isinstance(x, numbers.Real) and abs(x) <= FARTHEST for x in values):
        return tuple(map(float, values))
    raise OptionError(
        f"contact {told(one.name)}: point {told(given)} makes no sense; give three numbers, in m"
    )


def checked_sets(given: object) -> tuple[ContactSet, ...]:
    """Sets as the API takes them, names of contacts by the set's name; OptionError for anything else."""
    if not isinstance(given, Mapping):
        what = f"contact_sets {told(given)} makes no sense"
        raise OptionError(f"{what}; give contacts by name, such as {{'trot': ['lf', 'rh']}}")
    return tuple(_checked_set(name, contacts) for name, contacts in given.items())


def _checked_set(name: object, given: object) -> ContactSet:
    if not (isinstance(name, str) and re.fullmatch("[A-Za-z][A-Za-z0-9_]*", name)):
        raise OptionError(
            f"contact set {told(name)}: its name becomes part of names of functions; take letters, digits "
            "and _, a letter first"
        )
    if len(name) > LONGEST_SET:
        what = f"contact set {told(name)}: its name has {len(name)} letters"
        raise OptionError(f"{what}; choose one of at most {LONGEST_SET}")
    contacts = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else []
    if not (contacts and all(isinstance(contact, str) for contact in contacts)):
        raise OptionError(
            f"contact set {told(name)} of {told(given)} makes no sense; name its contacts, at least one"
        )
    return ContactSet(name, tuple(contacts))
