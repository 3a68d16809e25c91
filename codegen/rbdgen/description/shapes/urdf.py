"""Reads the shapes in <visual> and <collision> of a URDF.

The defaults of missing elements are those of urdfdom: the identity for <origin>, 1 1 1 for the scale of a
mesh. A material without a colour of its own has that of the material of the same name. Textures are not read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, get_args

from lxml import etree

from rbdgen.description.document import Document, describe_element, line_of
from rbdgen.description.quoting import escaped
from rbdgen.description.shapes.shape import Color, Role, Shape, Shapes, clipped
from rbdgen.description.solids import FARTHEST
from rbdgen.description.urdf import origin_of
from rbdgen.errors import DescriptionError
from rbdgen.spatial.ops import Transform, Vector
from rbdgen.spatial.rpy import rotation_from_rpy


def urdf_shapes(document: Document) -> Shapes:
    """The shapes of a URDF that can be read, and one line for everything that cannot.

    The document is one that the reader of descriptions has accepted.
    """
    colors = _Colors(document)
    missing = colors.missing
    shapes: list[Shape] = []
    incomplete: set[str] = set()
    for link in document.children(document.root, "link"):
        name = link.get("name", "")
        for role in get_args(Role):
            for element in document.children(link, role):
                try:
                    shape = _shape(document, name, role, element)
                except DescriptionError as error:
                    missing.append(str(error))
                    incomplete |= {name} if role == "collision" else set()
                else:
                    shapes.append(replace(shape, color=colors.of(element)))
    return Shapes(tuple(shapes), missing=tuple(missing), incomplete=frozenset(incomplete))


def _shape(document: Document, link: str, role: Role, element: etree._Element) -> Shape:
    """The shape of one <visual> or <collision>, without its colour."""
    origin = origin_of(document, element)
    _bounded(document, element, "coordinate", origin.xyz)
    geometry = document.required_child(element, "geometry", "write <geometry> with a shape in it")
    inner = list(geometry.iterchildren("*"))
    if len(inner) != 1:
        what = f"{describe_element(geometry)} has {len(inner)} shapes"
        raise document.error(line_of(geometry), what, "write one")
    tag = etree.QName(inner[0]).localname
    if tag not in _READERS:
        what = f"{describe_element(geometry)} has <{escaped(tag)}>"
        raise document.error(line_of(inner[0]), what, f"use one of {', '.join(_READERS)}")
    return Shape(
        link=link,
        role=role,
        placement=Transform(rotation_from_rpy(*origin.rpy), Vector(*origin.xyz)),
        name=element.get("name"),
        line=line_of(element),
        **_READERS[tag](document, inner[0]),
    )


# ---- Each function reads one tag inside <geometry>, and returns the fields of its shape.


def _box(document: Document, element: etree._Element) -> dict[str, Any]:
    size = document.vector(element, "size")
    _not_negative(document, element, "size", *size)
    return {"kind": "box", "size": size}


def _sphere(document: Document, element: etree._Element) -> dict[str, Any]:
    radius = document.number(element, "radius")
    _not_negative(document, element, "radius", radius)
    return {"kind": "sphere", "size": (radius,)}


def _cylinder(document: Document, element: etree._Element) -> dict[str, Any]:
    radius, length = (document.number(element, name) for name in ("radius", "length"))
    _not_negative(document, element, "radius", radius)
    _not_negative(document, element, "length", length)
    return {"kind": etree.QName(element).localname, "size": (radius, length)}


def _mesh(document: Document, element: etree._Element) -> dict[str, Any]:
    scale = document.vector(element, "scale") if "scale" in element.attrib else (1.0, 1.0, 1.0)
    _bounded(document, element, "scale", scale)
    if 0.0 in scale:
        what = f"scale of {describe_element(element)} has a 0"
        raise document.error(line_of(element), what, "write three numbers that are not 0")
    return {"kind": "mesh", "mesh": document.attribute(element, "filename").strip(), "scale": scale}


_READERS: Final[Mapping[str, Callable[[Document, etree._Element], dict[str, Any]]]] = {
    "box": _box,
    "sphere": _sphere,
    "cylinder": _cylinder,
    "capsule": _cylinder,
    "mesh": _mesh,
}


def _not_negative(document: Document, element: etree._Element, name: str, *values: float) -> None:
    if min(values) < 0:
        what = f"{name} of {describe_element(element)} is {min(values):g} m, less than zero"
        raise document.error(line_of(element), what, "write a size of zero or more")
    _bounded(document, element, name, values)


def _bounded(document: Document, element: etree._Element, what: str, values: tuple[float, ...]) -> None:
    if max(map(abs, values)) > FARTHEST:
        said = f"a {what} of {describe_element(element)} is more than {FARTHEST:g}"
        raise document.error(line_of(element), said, "write lengths in m")


class _Colors:
    """The colours of materials, of which each is read once."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.missing: list[str] = []
        self.named: dict[str, Color] = {}
        self.own: dict[etree._Element, Color] = {}
        for material in self._materials():
            try:
                color = self._read(material)
            except DescriptionError as error:
                self.missing.append(str(error))
                continue
            if color is not None:
                self.own[material] = color
                self.named.setdefault(material.get("name", ""), color)

    def of(self, element: etree._Element) -> Color | None:
        """The colour of a <visual> or <collision>."""
        for material in self.document.children(element, "material"):
            return self.own.get(material) or self.named.get(material.get("name", ""))
        return None

    def _materials(self) -> Iterator[etree._Element]:
        """All materials; those of the robot come before those inside of links."""
        document = self.document
        yield from document.children(document.root, "material")
        for link in document.children(document.root, "link"):
            for role in get_args(Role):
                for element in document.children(link, role):
                    yield from document.children(element, "material")

    def _read(self, material: etree._Element) -> Color | None:
        element = self.document.child(material, "color")
        return None if element is None else clipped(self.document.numbers(element, "rgba", "R G B A"))
