"""Contacts at the shapes for collision of links: spheres, and the corners of boxes.

A sphere becomes a point with its radius, a capsule the two spheres at its ends, and a box its eight corners,
or the four corners of the side that faces a direction of the link: "foot:-z". A cylinder with a sphere of its
radius at each end is a capsule, too, as URDF has none of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from itertools import islice
from typing import Final, NamedTuple

from rbdgen.description.contacts import Point
from rbdgen.description.quoting import quoted, told
from rbdgen.description.schema import Description, Vector3
from rbdgen.description.shapes.read import shapes_of
from rbdgen.description.shapes.shape import Shape, Shapes
from rbdgen.errors import OptionError
from rbdgen.spatial.ops import Vector
from rbdgen.wording import choose, option

SIDES: Final = {
    f":{sign}{axis}": Vector(*((1.0 if sign == "+" else -1.0) * (k == row) for k in range(3)))
    for row, axis in enumerate("xyz")
    for sign in "+-"
}
"""The directions that may follow the name of a link, as unit vectors in the link's axes."""

MOST: Final = 1000
"""The largest number of points of a link. A step with a hundred contacts is large already."""

SAME: Final = 1e-9
"""The largest distance in m, and difference of radii, of spheres that are the same one."""


class _Sphere(NamedTuple):
    """A sphere in the frame of a link, or a point, whose radius is 0."""

    center: Vector3
    radius: float
    friction: float | None


def contacts_of_collision(description: Description, asked: object) -> tuple[list[Point], list[str]]:
    """The contacts at the shapes for collision of these links, and one line that tells their friction if the
    description has it.

    A contact has the name of its link; if a link has several, _1, _2 and so on are appended.

    Args:
        description: the description of the robot.
        asked: names of links, each followed by a side of `SIDES` or not. A pattern such as "*_foot" stands
            for all links that match and have such shapes.

    Raises:
        OptionError: `asked` is no list of names, a link does not exist, has no shape for collision, has one
            that could not be read, or one that is neither of these kinds.
    """
    if isinstance(asked, str) or not isinstance(asked, Iterable):
        what = f"contacts_from_collision {told(asked)} is not a list"
        raise OptionError(f"{what}; give names of links, such as ['foot_*']")
    names = list(asked)
    if not names:
        return [], []
    shapes = shapes_of(description)
    contacts: list[Point] = []
    friction: dict[str, float] = {}
    for name in names:
        for link, side in _links(name, description, shapes):
            spheres = _spheres(link, side, shapes)
            for k, sphere in enumerate(spheres, 1):
                own = link if len(spheres) == 1 else f"{link}_{k}"
                contacts.append(Point(own, link, sphere.center, sphere.radius))
                friction |= {} if sphere.friction is None else {own: sphere.friction}
    return contacts, _friction_told(description, friction)


def _friction_told(description: Description, friction: dict[str, float]) -> list[str]:
    if not friction:
        return []
    listed = ", ".join(f"{quoted(name, 40)} {value:.4g}" for name, value in islice(friction.items(), 12))
    more = f" and {len(friction) - 12} more" if len(friction) > 12 else ""
    what = f"the coefficients of friction of its shapes for collision are {listed}{more}"
    return [f"{description.path}: {what}; not used: give those of contacts with every step"]


def _links(name: object, description: Description, shapes: Shapes) -> Iterator[tuple[str, Vector | None]]:
    """The links that a name or a pattern stands for, each with the side that it names."""
    links = [link.name for link in description.links]
    text = str(name)
    found, side = [text] if text in links else [], None
    if not found and (side := SIDES.get(text[-3:])) is not None:
        text = text[:-3]
        found = [text] if text in links else []
    if not found:
        colliding = {x.link for x in shapes.shapes if x.role == "collision"} | shapes.incomplete
        matching = [link for link in links if fnmatchcase(link, text)]
        found = [link for link in matching if link in colliding]
        if matching and not found:
            raise OptionError(f"{_asked(name)}: none of these links has a shape for collision; {_INSTEAD}")
    if not found:
        raise OptionError(f"{_asked(name)}: there is no link {quoted(text)}; {choose(text, links)}")
    for link in found:
        yield link, side


def _spheres(link: str, side: Vector | None, shapes: Shapes) -> list[_Sphere]:
    """The spheres and corners of the shapes for collision of a link, each once."""
    own = [x for x in shapes.shapes if x.link == link and x.role == "collision"]
    if link in shapes.incomplete:
        raise OptionError(f"{_asked(link)}: a shape for collision could not be read; {_INSTEAD}")
    if not own:
        raise OptionError(f"{_asked(link)}: link {quoted(link)} has no shape for collision; {_INSTEAD}")
    found: list[_Sphere] = []
    for shape in sorted(own, key=lambda x: x.kind == "cylinder"):  # after the spheres at their ends
        made = list(_of_shape(shape, side))
        if shape.kind == "cylinder" and all(any(_same(x, y) for y in found) for x in made):
            continue
        if shape.kind not in ("sphere", "box", "capsule"):
            what = (
                f"link {quoted(link)} has a {shape.kind} for collision, and only spheres, capsules and boxes"
            )
            raise OptionError(f"{_asked(link)}: {what} become points; {_INSTEAD}")
        for one in made:
            if not any(_same(one, other) for other in found):
                found.append(one)
        if len(found) > MOST:
            raise OptionError(f"{_asked(link)}: its shapes have more than {MOST} points; {_INSTEAD}")
    return found


def _of_shape(shape: Shape, side: Vector | None) -> Iterator[_Sphere]:
    """The spheres or corners of a shape; those at the ends of a cylinder as if it were a capsule."""
    if shape.kind == "box":
        yield from (_sphere(shape, corner, 0.0) for corner in _corners(shape, side))
    elif shape.kind == "sphere":
        yield _sphere(shape, Vector(), shape.size[0])
    elif shape.kind in ("capsule", "cylinder"):
        radius, length = shape.size
        for z in (-length / 2, length / 2):
            yield _sphere(shape, Vector(0.0, 0.0, z), radius)


def _corners(shape: Shape, side: Vector | None) -> list[Vector]:
    """The corners of a box, or those of the side that faces a direction, in the box's frame."""
    half = [x / 2 for x in shape.size]
    corners = [
        Vector(x, y, z) for z in (-half[2], half[2]) for y in (-half[1], half[1]) for x in (-half[0], half[0])
    ]
    if side is None:
        return corners
    facing = [float(side.dot(column)) for column in shape.placement.rotation.T]
    k = max(range(3), key=lambda k: abs(facing[k]))
    return [corner for corner in corners if math.copysign(1.0, corner[k]) == math.copysign(1.0, facing[k])]


def _sphere(shape: Shape, at: Vector, radius: float) -> _Sphere:
    R, p = shape.placement
    x, y, z = map(float, R.apply(at) + p)
    return _Sphere((x, y, z), radius, shape.friction)


def _same(one: _Sphere, other: _Sphere) -> bool:
    return math.dist(one.center, other.center) <= SAME and abs(one.radius - other.radius) <= SAME


_INSTEAD: Final = f"give {option('contacts', ['NAME=LINK:X,Y,Z'])}"


def _asked(name: object) -> str:
    return option("contacts_from_collision", [name])
