"""Reads the triangles and colours of a COLLADA file (Khronos, COLLADA 1.4.1, 2008).

Lengths are multiplied by `unit`, and nodes are placed by their transformations. `up_axis` is left alone, as
in RViz. Only geometry that a scene contains counts; textures, normals and skins are not read.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
from lxml import etree

from rbdgen.description.document import Document, line_of, parse
from rbdgen.description.quoting import escaped
from rbdgen.description.shapes.shape import Color, Triangles, clipped
from rbdgen.errors import DescriptionError

_Array: TypeAlias = npt.NDArray[np.float64]

MOST_NODES: Final = 100_000
"""The largest number of nodes of a scene. Nodes that contain others several times, which contain others
several times, would otherwise have no bound."""

MOST_TRIANGLES: Final = 5_000_000
"""The largest number of triangles of a scene, in which a geometry may occur several times."""


def read_collada(data: bytes, path: str) -> list[tuple[Color | None, Triangles]]:
    """The surfaces of a file, each with its colour, in m.

    `path` is the name of the file in messages.

    Raises DescriptionError, whose message is one line, for a file that is no COLLADA or is inconsistent.
    """
    document = parse(data, path, "COLLADA", long_texts=True)
    if etree.QName(document.root).localname != "COLLADA":
        raise document.error(line_of(document.root), "this is no COLLADA file", "give a file of a mesh")
    with np.errstate(over="ignore", invalid="ignore"):  # results that are not finite are refused later
        return list(_Scene(document).surfaces())


class _Scene:
    """The elements of a document by their identifiers, and the walk over the nodes of its scene."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.root = document.root
        self.known: Mapping[str, etree._Element] = {
            key: element for element in self.root.iter("*") if (key := element.get("id")) is not None
        }
        unit = self.root.find("{*}asset/{*}unit")
        self.unit = 1.0 if unit is None else document.number(unit, "meter", 1.0)
        self.triangles = 0

    def surfaces(self) -> Iterator[tuple[Color | None, Triangles]]:
        chosen = self.root.find("{*}scene/{*}instance_visual_scene")
        scenes = self.root.iter("{*}visual_scene") if chosen is None else [self.named(chosen, "url")]
        stack = [(scene, np.eye(4)) for scene in scenes]
        visited = 0
        while stack:
            node, placement = stack.pop()
            visited += 1
            if visited > MOST_NODES:
                raise self.error(node, f"the scene has more than {MOST_NODES:,} nodes")
            placement = self.placed(node, placement)
            for element in node.iterchildren("*"):
                tag = _tag(element)
                if tag == "node":
                    stack.append((element, placement))
                elif tag == "instance_node":
                    stack.append((self.named(element, "url"), placement))
                elif tag == "instance_geometry":
                    yield from self.geometry(element, placement)

    def placed(self, node: etree._Element, placement: _Array) -> _Array:
        """The placement of a node, given that of its parent, by the node's transformations in their order."""
        for element in node.iterchildren("*"):
            count = _TRANSFORMATIONS.get(_tag(element))
            if count is None:
                continue
            values = self.numbers(element)
            if len(values) != count:
                raise self.error(element, f"<{_tag(element)}> has {len(values)} numbers, not {count}")
            placement = placement @ _transformation(_tag(element), values)
        return placement

    def geometry(
        self, instance: etree._Element, placement: _Array
    ) -> Iterator[tuple[Color | None, Triangles]]:
        """The surfaces of a geometry at its placement, one for each of its primitives."""
        mesh = self.named(instance, "url").find("{*}mesh")
        if mesh is None:  # splines
            return
        materials = {x.get("symbol"): x for x in instance.iter("{*}instance_material")}
        for primitive in mesh.iterchildren("*"):
            tag = _tag(primitive)
            if tag not in ("triangles", "polylist", "polygons"):
                continue
            positions, faces = self.primitive(primitive, tag)
            self.triangles += len(faces)
            if self.triangles > MOST_TRIANGLES:
                raise self.error(primitive, f"the scene has more than {MOST_TRIANGLES:,} triangles")
            vertices = (positions @ placement[:3, :3].T + placement[:3, 3]) * self.unit
            if np.linalg.det(placement[:3, :3]) < 0:
                faces = faces[:, ::-1]
            yield self.color(materials.get(primitive.get("material"))), Triangles(vertices, faces)

    def primitive(self, element: etree._Element, tag: str) -> tuple[_Array, npt.NDArray[np.int64]]:
        """The positions (n, 3) and the triangles (m, 3) of a primitive; polygons become fans of triangles."""
        inputs = element.findall("{*}input")
        offsets = [int(self.document.number(x, "offset", 0.0)) for x in inputs]
        vertex = next((k for k, x in enumerate(inputs) if x.get("semantic") == "VERTEX"), None)
        if vertex is None or not 0 <= min(offsets) <= max(offsets) < 100:
            raise self.error(element, f"<{tag}> has no sound <input> of its vertices")
        rows = []
        for p in element.findall("{*}p"):
            indices = self.numbers(p)
            if len(indices) % (1 + max(offsets)):
                raise self.error(p, f"<p> of <{tag}> has {len(indices)} numbers, not whole vertices")
            rows.append(indices.reshape(-1, 1 + max(offsets))[:, offsets[vertex]])
        corners = np.concatenate(rows) if rows else np.zeros(0)
        if tag == "triangles":
            counts = np.full(len(corners) // 3, 3)
        elif tag == "polygons":
            counts = np.array([len(row) for row in rows], int)
        else:
            counts = self.numbers(self.required(element, "vcount"))
        positions = self.positions(inputs[vertex])
        if not _whole(counts, len(corners)) or counts.sum() != len(corners):
            raise self.error(element, f"the polygons of <{tag}> have other vertices than it lists")
        if not _whole(corners, len(positions) - 1):
            raise self.error(element, f"<{tag}> has an index of a vertex that does not exist")
        return positions, corners.astype(np.int64)[_fans(counts.astype(np.int64))]

    def positions(self, vertex: etree._Element) -> _Array:
        """The positions (n, 3) of the input with the vertices of a primitive."""
        for semantic in self.named(vertex, "source").findall("{*}input"):
            if semantic.get("semantic") == "POSITION":
                source = self.named(semantic, "source")
                numbers = self.numbers(self.required(source, "float_array"))
                accessor = source.find("{*}technique_common/{*}accessor")
                stride = 3 if accessor is None else int(self.document.number(accessor, "stride", 1.0))
                if not 3 <= stride <= 100 or len(numbers) % stride:
                    raise self.error(source, f"<source> has {len(numbers)} numbers in groups of {stride}")
                return numbers.reshape(-1, stride)[:, :3]
        raise self.error(vertex, "<vertices> have no positions")

    def color(self, material: etree._Element | None) -> Color | None:
        """The diffuse colour of a material that an instance binds; None if it has none, or a texture."""
        element = None if material is None else self.known.get(material.get("target", "").removeprefix("#"))
        effect = None if element is None else element.find("{*}instance_effect")
        found = None if effect is None else self.known.get(effect.get("url", "").removeprefix("#"))
        diffuse = None if found is None else found.find(".//{*}diffuse/{*}color")
        values = np.zeros(0) if diffuse is None else self.numbers(diffuse)
        return clipped((*values[:3], 1.0)) if len(values) >= 3 and np.isfinite(values).all() else None

    def named(self, element: etree._Element, attribute: str) -> etree._Element:
        """The element that an attribute refers to."""
        name = element.get(attribute, "").removeprefix("#")
        if name not in self.known:
            raise self.error(element, f"{attribute} refers to {escaped(name)!r}, which does not exist")
        return self.known[name]

    def required(self, element: etree._Element, tag: str) -> etree._Element:
        found = element.find(f"{{*}}{tag}")
        if found is None:
            raise self.error(element, f"<{_tag(element)}> has no <{tag}>")
        return found

    def numbers(self, element: etree._Element) -> _Array:
        """The numbers in the text of an element."""
        try:
            with warnings.catch_warnings():  # NumPy only warns of a text that is not all numbers
                warnings.simplefilter("error")
                return np.fromstring(element.text or "", sep=" ")
        except (ValueError, DeprecationWarning):
            raise self.error(element, f"<{_tag(element)}> has a text that is not all numbers") from None

    def error(self, element: etree._Element, what: str) -> DescriptionError:
        return self.document.error(line_of(element), what, "export the mesh again")


_TRANSFORMATIONS: Final = {"matrix": 16, "translate": 3, "rotate": 4, "scale": 3}
"""The numbers of every transformation of a node."""


def _transformation(tag: str, values: _Array) -> _Array:
    """A transformation of a node as a matrix (4, 4)."""
    if tag == "matrix":
        return values.reshape(4, 4)
    result = np.eye(4)
    if tag == "translate":
        result[:3, 3] = values
    elif tag == "scale":
        result[:3, :3] = np.diag(values)
    else:
        x, y, z, degrees = values.tolist()
        length = math.hypot(x, y, z) or 1.0
        K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]) / length
        angle = np.radians(degrees)
        result[:3, :3] += np.sin(angle) * K + (1 - np.cos(angle)) * K @ K
    return result


def _fans(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The triangles (m, 3) of consecutive polygons with these numbers of corners, as indices of corners."""
    begin = np.cumsum(counts) - counts
    triangles = np.maximum(counts - 2, 0)
    first = np.repeat(begin, triangles)
    step = np.arange(triangles.sum()) - np.repeat(np.cumsum(triangles) - triangles, triangles)
    return np.stack([first, first + step + 1, first + step + 2], axis=1)


def _whole(values: Any, most: int) -> bool:
    """Whether all values are whole numbers from 0 to `most`."""
    return bool(np.all((values >= 0) & (values <= most) & (values == np.floor(values))))


def _tag(element: etree._Element) -> str:
    return etree.QName(element).localname
