"""Contacts as a user gives them: constraints on points and frames of links.

Point("lf", "front_left_foot")              the origin of this link stays in place: 3 rows
Point("*_foot")                             the same for every link that matches, under the link's name
Frame("l", "left_foot", (0.05, 0, -0.07))   a point of this link and the link's axes stay in place: 6 rows
Sole("l", "left_foot", (0.24, 0.1))         a frame that steps with friction know by the corners of a foot
Loop("bar", "a", (0, 0, 0.1), "b")          points of two links stay together: 3 rows
"""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Final, Literal, NamedTuple, TypeAlias, cast, get_args

from rbdgen.description.quoting import escaped, quoted, told
from rbdgen.errors import OptionError, either
from rbdgen.wording import option

ORIGIN = (0.0, 0.0, 0.0)

MARKS: Final = ",=:"
"""Characters that the name of a contact must not have: they separate the parts of an option's value."""

MOST_ITERATIONS: Final = 100
"""The largest number of iterations of each kind in a plan of the solver."""

FARTHEST = 1e30
"""The largest coordinate of a point, in m. It is far above any real one, and its square is finite."""

THINNEST: Final = 1e-6
"""The least area of a triangle of three corners of a sole, relative to the square of its longest side."""

LONGEST_SET: Final = 60
"""The longest name of a set, in letters. Names of files contain it, and a name of a file has at most 255."""


@dataclass(frozen=True)
class Point:
    """A contact that keeps a point of a link in place: 3 rows of acceleration in m/s^2, and a force in N.

    Args:
        name: the name of the contact. If no link is given, it is also the name of the link, or a pattern such
            as "*_foot", which stands for one contact for every link that matches, named like the link.
        link: a link, which may be fixed to its parent, or any other named frame of the robot.
        point: the point in the axes of the link, m.
        radius: the radius in m of a sphere about the point, which touches the ground in its place. Only steps
            with friction, such as `contact_step`, use it.
    """

    name: str
    link: str | None = None
    point: Sequence[float] = ORIGIN
    radius: float = 0.0


@dataclass(frozen=True)
class Frame:
    """A contact that keeps a point of a link and the link's axes in place: 6 rows, linear, then angular.

    It exerts a force in N and a moment in N m about the point. The arguments are those of `Point`.
    """

    name: str
    link: str | None = None
    point: Sequence[float] = ORIGIN


@dataclass(frozen=True)
class Sole:
    """A contact of a flat foot, which is a frame for all functions but steps with friction.

    In steps such as `contact_step`, each of its corners can open, stick and slide by itself.

    Args:
        name: the name of the contact, as in `Point`.
        link: a link or another named frame, as in `Point`.
        size: the length and the width in m of a rectangle along the x and the y axis of the link.
        point: the point of the frame in the axes of the link, m. A rectangle has it in its middle; it is the
            origin by default. With `corners`, it is their mean by default.
        corners: the corners in the axes of the link, m, in place of `size`: three points or more, not all on
            one line.
    """

    name: str
    link: str | None = None
    size: Sequence[float] | None = None
    point: Sequence[float] | None = None
    corners: Sequence[Sequence[float]] | None = None


@dataclass(frozen=True)
class Loop:
    """A contact that keeps points of two links together: 3 rows, or 6 if it keeps their axes aligned as well.

    Args:
        name: the name of the contact.
        link1: a link or another named frame, as in `Point`; one of the two links may be "world".
        point1: the point in the axes of `link1`, m.
        link2: the other link.
        point2: the point in the axes of `link2`, m.
        frame: whether the axes of the two links stay aligned as well.
    """

    name: str
    link1: str
    point1: Sequence[float]
    link2: str
    point2: Sequence[float] = ORIGIN
    frame: bool = False


Contact: TypeAlias = Point | Frame | Sole | Loop


@dataclass(frozen=True)
class ContactSet:
    """Some of the contacts, in an order of their own.

    For every set, each function of contacts has a version for the contacts of the set alone. Its name ends
    with the name of the set, such as `contact_aba_trot`.
    """

    name: str
    contacts: tuple[str, ...]  # their names


class SolverPlan(NamedTuple):
    """The iterations of the solver for contacts with friction, which are the same at every state."""

    sweeps: int = 3
    """The sweeps over all contacts at the beginning."""
    steps: int = 2
    """The Newton steps."""
    between: int = 0
    """The sweeps after each Newton step except the last two."""


DEFAULT_PLAN: Final = SolverPlan()

SOLE_PLAN: Final = SolverPlan(4, 2, 0)
"""The default for robots with soles, whose corners are redundant."""


def default_plan(contacts: Iterable[Contact]) -> SolverPlan:
    """The plan for these contacts if no other is given."""
    return SOLE_PLAN if any(isinstance(one, Sole) for one in contacts) else DEFAULT_PLAN


Extra = Literal["elastic", "anisotropic", "limits", "friction"]
"""Options of steps with friction: springs and dampers at contacts, friction that depends on the
direction, and the limits and the dry friction of joints.
"""

OF_POINTS: Final[tuple[Extra, ...]] = ("elastic", "anisotropic")
"""The extras that need contacts that can open and slide."""

Form = Literal["--contact", "--contact-frame", "--contact-sole", "--contact-loop"]

FORMS: Final[dict[Form, str]] = {
    "--contact": "[NAME=]LINK[:X,Y,Z[,RADIUS]]",
    "--contact-frame": "[NAME=]LINK[:X,Y,Z]",
    "--contact-sole": "[NAME=]LINK:LENGTH,WIDTH[,X,Y,Z]",
    "--contact-loop": "NAME=LINK[:X,Y,Z]=LINK[:X,Y,Z][:frame]",
}
"""The form of the value of each option of the command line that adds a contact."""

COUNTS: Final[dict[Form, tuple[int, ...]]] = {
    "--contact": (3, 4),
    "--contact-frame": (3,),
    "--contact-sole": (2, 5),
    "--contact-loop": (3,),
}
"""The numbers of coordinates and sizes that may follow a link in each form."""


def contact_from(option: Form, text: str) -> Contact:
    """The contact that the value of an option describes.

    Raises OptionError if it is not of the option's form.
    """
    name, *places = text.split("=")
    loop = option == "--contact-loop"
    kept = loop and text.endswith(":frame")
    if kept and places:
        places[-1] = places[-1].removesuffix(":frame")
    if not (loop or places):
        link, numbers = _place(option, text, name)
        return _one_place(option, text, link, None, numbers)
    if not name or not all(places) or len(places) != 1 + loop:
        raise OptionError(f"{_asked(option, text)}: not of the form {FORMS[option]}")
    ends = [_place(option, text, place) for place in places]
    if loop:
        (link1, point1), (link2, point2) = ends
        return Loop(name, link1, point1 or ORIGIN, link2, point2 or ORIGIN, kept)
    return _one_place(option, text, name, *ends[0])


def _one_place(option: Form, text: str, name: str, link: str | None, numbers: tuple[float, ...]) -> Contact:
    """A contact at one place, from the numbers of its form."""
    if option == "--contact-sole":
        if not numbers:
            raise OptionError(f"{_asked(option, text)}: not of the form {FORMS[option]}")
        return Sole(name, link, numbers[:2], numbers[2:] or ORIGIN)
    point = numbers or ORIGIN
    if option == "--contact":
        return Point(name, link, point[:3], *point[3:])
    return Frame(name, link, point)


def _asked(option: Form, text: str) -> str:
    return either(f"contact {quoted(text)}", f"{option} {escaped(text)}")


def _place(option: Form, text: str, place: str) -> tuple[str, tuple[float, ...]]:
    """The link and the numbers after it, if there are some.

    Names of links may contain colons, so a colon starts numbers only if numbers follow it.
    """
    link, colon, numbers_after = place.rpartition(":")
    try:
        found = tuple(map(float, numbers_after.split(",")))
    except ValueError:
        return place, ()
    if not colon:
        return place, ()
    if len(found) not in COUNTS[option]:
        what = "a point is three numbers X,Y,Z"
        if option == "--contact-sole":
            what = "a sole is LENGTH,WIDTH or LENGTH,WIDTH,X,Y,Z"
        raise OptionError(f"{_asked(option, text)}: {what}; there are {len(found)}")
    return link, found


def checked_contacts(given: object) -> tuple[Contact, ...]:
    """The contacts that the API was given, with points as three floats.

    Raises OptionError if one is wrong.
    """
    listed = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    return tuple(map(_checked, listed))


def _checked(one: object) -> Contact:
    if isinstance(one, str):
        one = contact_from("--contact", one)
    if not isinstance(one, (Point, Frame, Sole, Loop)):
        raise OptionError(
            f"contact {told(one)} is not a contact; give rbdgen.Point, rbdgen.Frame, rbdgen.Sole or "
            "rbdgen.Loop, or the name of a link, or 'NAME=LINK'"
        )
    values = {field.name: getattr(one, field.name) for field in fields(one)}
    for what, value in values.items():
        named = what == "name" or what.startswith("link")
        if named and not (isinstance(value, str) and value) and (what, value) != ("link", None):
            raise OptionError(f"contact {told(one.name)}: {what} {told(value)} is no name; give one")
    if any(mark in one.name for mark in MARKS):
        raise OptionError(f"contact {told(one.name)}: a name with , = or : in it; leave them out")
    if isinstance(one, Sole):
        return _checked_sole(one)
    for what, value in values.items():
        if what.startswith("point"):
            values[what] = _point(one, value)
        elif what == "radius":
            values[what] = _radius(one, value)
    return type(one)(**values)


def _checked_sole(one: Sole) -> Sole:
    """The sole with a point and corners, and without a size."""
    if (one.size is None) == (one.corners is None):
        given = "neither size nor corners" if one.size is None else "both size and corners"
        raise OptionError(f"contact {told(one.name)}: {given}; give one of them")
    if one.size is not None:
        x, y, z = point = _point(one, ORIGIN if one.point is None else one.point)
        length, width = _size(one, one.size)
        signs = ((1, 1), (1, -1), (-1, 1), (-1, -1))
        rectangle = tuple((x + a * length / 2, y + b * width / 2, z) for a, b in signs)
        return Sole(one.name, one.link, None, point, rectangle)
    listed = list(one.corners) if isinstance(one.corners, Iterable) else []
    corners = tuple(_point(one, corner, "corner") for corner in listed)
    if not _spans(corners):
        what = f"its {len(corners)} corners are not three points or more that span an area"
        raise OptionError(f"contact {told(one.name)}: {what}; give such corners, or a rbdgen.Point for each")
    if one.point is not None:
        return Sole(one.name, one.link, None, _point(one, one.point), corners)
    middle = [sum(values) / len(corners) for values in zip(*corners, strict=True)]
    return Sole(one.name, one.link, None, middle, corners)


def _spans(corners: Sequence[Sequence[float]]) -> bool:
    """Whether three of the points are not on one line."""
    if not corners:
        return False
    first = corners[0]
    sides = [[a - b for a, b in zip(corner, first, strict=True)] for corner in corners]
    x, y, z = longest = max(sides, key=lambda side: math.hypot(*side))
    area = max(math.hypot(y * c - z * b, z * a - x * c, x * b - y * a) for a, b, c in sides)
    return area > THINNEST * sum(value * value for value in longest)


def _point(one: Contact, given: object, what: str = "point") -> tuple[float, ...]:
    values: list[float] = list(given) if isinstance(given, Iterable) else []
    if len(values) == 3 and all(isinstance(x, numbers.Real) and abs(x) <= FARTHEST for x in values):
        return tuple(map(float, values))
    raise OptionError(
        f"contact {told(one.name)}: {what} {told(given)} is not a point; give three numbers, in m"
    )


def _size(one: Contact, given: object) -> tuple[float, float]:
    values: list[float] = list(given) if isinstance(given, Iterable) else []
    if len(values) == 2 and all(isinstance(x, numbers.Real) and 0 < x <= FARTHEST for x in values):
        length, width = map(float, values)
        return length, width
    raise OptionError(
        f"contact {told(one.name)}: size {told(given)} is not a size; give a length and a width, in m"
    )


def _radius(one: Contact, given: object) -> float:
    if isinstance(given, (int, float)) and 0 <= given <= FARTHEST:
        return float(given)
    raise OptionError(
        f"contact {told(one.name)}: radius {told(given)} is not a radius; give a number >= 0, in m"
    )


def checked_plan(given: object) -> SolverPlan:
    """The plan of the solver that the API was given as three integers.

    Raises OptionError if it is wrong.
    """
    listed = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    counts = [x for x in listed if isinstance(x, int) and 0 <= x <= MOST_ITERATIONS]
    if len(counts) != len(listed) or len(counts) != 3 or not sum(counts[:2]):
        raise OptionError(_wrong_plan(f"contact_solver {told(given)}"))
    return SolverPlan(*counts)


def plan_from(text: str) -> SolverPlan:
    """The plan in the value of an option. Raises OptionError if it is wrong."""
    try:
        return checked_plan([int(part) for part in text.split(",")])
    except (ValueError, OptionError):
        raise OptionError(_wrong_plan(f"--contact-solver {escaped(text)}")) from None


def _wrong_plan(said: str) -> str:
    return (
        f"{said}: not three whole numbers from 0 to {MOST_ITERATIONS}, one of the first two positive; give "
        "sweeps, Newton steps and sweeps between these, such as 3,2,0"
    )


def checked_extras(given: object) -> tuple[Extra, ...]:
    """The extras of steps with friction that the API was given as a list of names, each once, in the order of
    `Extra`.

    Raises OptionError if one is not known.
    """
    known = get_args(Extra)
    if isinstance(given, str) or not isinstance(given, Iterable):
        what = f"contact_with {told(given)} is not a list"
        raise OptionError(f"{what}; give a list of some of: {', '.join(known)}")
    names = list(given)
    for name in names:
        if name not in known:
            raise OptionError(
                f"{option('contact_with', [name])} is not known; choose from: {', '.join(known)}"
            )
    return tuple(cast(Extra, name) for name in known if name in names)


def checked_sets(given: object) -> tuple[ContactSet, ...]:
    """The sets that the API was given as a dict, from the name of a set to the names of its contacts.

    Raises OptionError if one is wrong.
    """
    if not isinstance(given, Mapping):
        what = f"contact_sets {told(given)} is not a dict"
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
            f"contact set {told(name)}: {told(given)} is not a list of one contact or more; give their names"
        )
    return ContactSet(name, tuple(contacts))
