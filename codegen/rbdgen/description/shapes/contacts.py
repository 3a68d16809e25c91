"""Contacts at the shapes for collision of links: spheres, the corners of boxes, and soles.

A sphere becomes a point with its radius, a capsule the two spheres at its ends, and a box its eight corners,
or the four corners of the side that faces a direction of the link: "foot:-z". A cylinder with a sphere of its
radius at each end is a capsule, too, as URDF has none of its own. With "sole:" before it, the flat side of a
link's boxes and meshes that faces the direction, -z if none is given, becomes one sole.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import islice
from typing import Final, NamedTuple

from rbdgen.description.contacts import Point, Sole
from rbdgen.description.quoting import quoted, told
from rbdgen.description.schema import Description, Vector3
from rbdgen.description.shapes.read import shapes_of
from rbdgen.description.shapes.shape import Kind, Shape, Shapes
from rbdgen.description.shapes.soles import corners_of_box, corners_of_sole, side_of
from rbdgen.description.shapes.surfaces import Surfaces
from rbdgen.errors import DescriptionError, OptionError, either
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

SOLE: Final = "sole:"
"""The prefix of the name of a link whose flat side becomes a sole."""

MOST_CORNERS: Final = 16
"""The largest number of corners of a sole. Each has a cone of friction of its own."""

SAME: Final = 1e-9
"""The largest distance in m, and difference of radii, of spheres that are the same one."""


class _Sphere(NamedTuple):
    """A sphere in the frame of a link, or a point, whose radius is 0."""

    center: Vector3
    radius: float
    friction: float | None


class _Asked(NamedTuple):
    """A link whose shapes become contacts."""

    name: object
    """The name or pattern that stands for it."""
    link: str
    side: Vector | None
    sole: bool


def contacts_of_collision(description: Description, asked: object) -> tuple[list[Point | Sole], list[str]]:
    """The contacts at the shapes for collision of these links, and one line that tells their friction if the
    description has it.

    A contact has the name of its link; if a link has several, _1, _2 and so on are appended.

    Args:
        description: the description of the robot.
        asked: names of links, each followed by a side of `SIDES` or not, and with `SOLE` before it or not. A
            pattern such as "*_foot" stands for all links that match and have such shapes.

    Raises:
        OptionError: `asked` is no list of names, a link does not exist, has no shape for collision, has one
            that could not be read, or one of a kind that does not become such a contact.
    """
    if isinstance(asked, str) or not isinstance(asked, Iterable):
        what = f"contacts_from_collision {told(asked)} is not a list"
        raise OptionError(f"{what}; give names of links, such as ['foot_*']")
    names = list(asked)
    if not names:
        return [], []
    shapes = shapes_of(description)
    surfaces = Surfaces(description, shapes)
    contacts: list[Point | Sole] = []
    friction: dict[str, float] = {}
    for one in (one for name in names for one in _links(name, description, shapes)):
        link, made = one.link, list[tuple[Point | Sole, float | None]]()
        if one.sole:
            made.append(_sole(one, shapes, surfaces))
        else:
            spheres = _spheres(one, shapes)
            for k, sphere in enumerate(spheres, 1):
                own = link if len(spheres) == 1 else f"{link}_{k}"
                made.append((Point(own, link, sphere.center, sphere.radius), sphere.friction))
        contacts += [contact for contact, _ in made]
        friction |= {contact.name: value for contact, value in made if value is not None}
    return contacts, _friction_told(description, friction)


def _friction_told(description: Description, friction: dict[str, float]) -> list[str]:
    if not friction:
        return []
    listed = ", ".join(f"{quoted(name, 40)} {value:.4g}" for name, value in islice(friction.items(), 12))
    more = f" and {len(friction) - 12} more" if len(friction) > 12 else ""
    what = f"the coefficients of friction of its shapes for collision are {listed}{more}"
    return [f"{description.path}: {what}; not used: give those of contacts with every step"]


def _links(name: object, description: Description, shapes: Shapes) -> Iterator[_Asked]:
    """The links that a name or a pattern stands for."""
    links = [link.name for link in description.links]
    text = str(name)
    found, side, sole = [text] if text in links else [], None, False
    if not found and text.startswith(SOLE):
        text, sole = text.removeprefix(SOLE), True
        found, side = [text] if text in links else [], SIDES[":-z"]
    if not found and (direction := SIDES.get(text[-3:])) is not None:
        text, side = text[:-3], direction
        found = [text] if text in links else []
    if not found:
        colliding = {x.link for x in shapes.shapes if x.role == "collision"} | shapes.incomplete
        matching = [link for link in links if fnmatchcase(link, text)]
        found = [link for link in matching if link in colliding]
        if matching and not found:
            what = "none of these links has a shape for collision"
            raise OptionError(f"{_told(name)}: {what}; {_instead(sole)}")
    if not found:
        raise OptionError(f"{_told(name)}: there is no link {quoted(text)}; {choose(text, links)}")
    for link in found:
        yield _Asked(name, link, side, sole)


def _own(asked: _Asked, shapes: Shapes, kinds: Sequence[Kind], said: str) -> list[Shape]:
    """The shapes for collision of a link. Raises OptionError if one is not of these kinds."""
    link = asked.link
    own = [x for x in shapes.shapes if x.link == link and x.role == "collision"]
    other = next((x.kind for x in own if x.kind not in kinds), None)
    what = None
    if link in shapes.incomplete:
        what = "a shape for collision could not be read"
    elif not own:
        what = f"link {quoted(link)} has no shape for collision"
    elif other is not None:
        what = f"link {quoted(link)} has {_an(other)} for collision, and only {said}"
    if what is not None:
        raise _refusal(asked, what)
    return own


def _an(kind: Kind) -> str:
    return f"{'an' if kind == 'ellipsoid' else 'a'} {kind}"


def _refusal(asked: _Asked, what: str) -> OptionError:
    of = asked.name if asked.sole else asked.link
    return OptionError(f"{_told(of)}: {what}; {_instead(asked.sole)}")


def _sole(asked: _Asked, shapes: Shapes, surfaces: Surfaces) -> tuple[Sole, float | None]:
    """The sole at the flat side of a link, and the largest coefficient of friction of its shapes."""
    own = _own(asked, shapes, ("box", "mesh"), "boxes and meshes become soles")
    assert asked.side is not None
    try:
        corners = corners_of_sole(own, asked.side, surfaces)
    except DescriptionError as error:
        raise _refusal(asked, str(error)) from None
    if len(corners) < 3:
        raise _refusal(asked, f"link {quoted(asked.link)} has no flat side there")
    if len(corners) > MOST_CORNERS:
        what = f"the side of link {quoted(asked.link)} has {len(corners)} corners, more than {MOST_CORNERS}"
        raise _refusal(asked, what)
    known = [x.friction for x in own if x.friction is not None]
    return Sole(asked.link, asked.link, corners=corners), max(known, default=None)


def _spheres(asked: _Asked, shapes: Shapes) -> list[_Sphere]:
    """The spheres and corners of the shapes for collision of a link, each once."""
    kinds: tuple[Kind, ...] = ("sphere", "box", "capsule", "cylinder")
    said = "spheres, capsules and boxes become points"
    own = _own(asked, shapes, kinds, said)
    found: list[_Sphere] = []
    for shape in sorted(own, key=lambda x: x.kind == "cylinder"):  # after the spheres at their ends
        made = list(_of_shape(shape, asked.side))
        if shape.kind == "cylinder":
            if not all(any(_same(x, y) for y in found) for x in made):
                what = f"link {quoted(asked.link)} has a cylinder for collision, and only {said}"
                raise _refusal(asked, what)
            continue
        for one in made:
            if not any(_same(one, other) for other in found):
                found.append(one)
        if len(found) > MOST:
            raise _refusal(asked, f"its shapes have more than {MOST} points")
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
    corners = corners_of_box(shape)
    if side is None:
        return corners
    k, sign = side_of(shape, side)
    return [corner for corner in corners if math.copysign(1.0, corner[k]) == sign]


def _sphere(shape: Shape, at: Vector, radius: float) -> _Sphere:
    R, p = shape.placement
    x, y, z = map(float, R.apply(at) + p)
    return _Sphere((x, y, z), radius, shape.friction)


def _same(one: _Sphere, other: _Sphere) -> bool:
    return math.dist(one.center, other.center) <= SAME and abs(one.radius - other.radius) <= SAME


def _instead(sole: bool) -> str:
    """The advice in errors about shapes that do not become contacts."""
    if sole:
        return either("give contacts=[rbdgen.Sole(...)]", "give --contact-sole NAME=LINK:LENGTH,WIDTH,X,Y,Z")
    return f"give {option('contacts', ['NAME=LINK:X,Y,Z'])}"


def _told(name: object) -> str:
    return option("contacts_from_collision", [name])
