"""The capsules of the links of a robot: those of its shapes, or those of a file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, get_args

import numpy as np

from rbdgen.description.capsules import Capsule, Vector3
from rbdgen.description.quoting import quoted, told
from rbdgen.description.schema import Description
from rbdgen.description.shapes.covers.capsules_file import read_capsules
from rbdgen.description.shapes.covers.fit import fitted
from rbdgen.description.shapes.covers.rounded import rounded
from rbdgen.description.shapes.covers.solids import solid_cover
from rbdgen.description.shapes.covers.swept import Array, Swept, millimetres
from rbdgen.description.shapes.covers.wanted import Wanted
from rbdgen.description.shapes.mesh_files import MeshFiles
from rbdgen.description.shapes.meshes import Reader
from rbdgen.description.shapes.read import shapes_of
from rbdgen.description.shapes.shape import Role, Shape, Shapes
from rbdgen.errors import DescriptionError, OptionError
from rbdgen.wording import choose, option

_FILE: Final = option("capsules", "FILE")

_LISTED: Final = 12
"""The largest number of links that a line lists."""


def capsules_of(
    description: Description,
    wanted: Wanted,
    file: str | os.PathLike[str] | None = None,
    role: object = "collision",
) -> tuple[list[Capsule], list[str]]:
    """The capsules that cover the shapes of all links, and lines about them that a user should see.

    Args:
        description: the robot.
        wanted: the covers of meshes, boxes and cylinders.
        file: a file of capsules, which replace those of the links that it names.
        role: whether shapes for collision or visual ones are covered.

    Raises:
        OptionError: there are neither shapes nor a file, or a mesh without a cover.
        DescriptionError: a shape, a mesh or the file cannot be read.
    """
    if role not in get_args(Role):
        raise OptionError(f"shapes {told(role)} is not known; {choose(role, get_args(Role))}")
    of_file = {} if file is None else read_capsules(file, [link.name for link in description.links])
    shapes = shapes_of(description)
    own = [x for x in shapes.shapes if x.role == role and x.link not in of_file]
    covers = _Covers(description, shapes, wanted)
    capsules: list[Capsule] = []
    for link in (x.name for x in description.links):
        if link in of_file:
            swept = of_file[link]
        elif link in shapes.incomplete and role == "collision":
            what = f"a shape for collision of link {quoted(link)} could not be read"
            raise OptionError(f"{description.path}: {what}; correct it, or give {_FILE}")
        else:
            swept = list(covers.of_link([x for x in own if x.link == link]))
        capsules += [_named(x, link, k) for k, x in enumerate(swept)]
    if not capsules:
        raise _without_shapes(description, shapes, str(role))
    return capsules, [*shapes.missing, *covers.told, *_excess_told(description, capsules)]


def _without_shapes(description: Description, shapes: Shapes, role: str) -> OptionError:
    """The error for a robot whose links have no shape to cover."""
    others = [x for x in get_args(Role) if x != role and any(y.role == x for y in shapes.shapes)]
    kinds = "shapes for collision" if role == "collision" else "visual shapes"
    remedy = " or ".join([option("shapes", x) for x in others] + [_FILE])
    return OptionError(f"{description.path}: its links have no {kinds}; give {remedy}")


class _Covers:
    """Covers shapes of one robot. Every mesh is read and fitted once."""

    def __init__(self, description: Description, shapes: Shapes, wanted: Wanted) -> None:
        self.told: list[str] = []
        self._description, self._shapes, self._wanted = description, shapes, wanted
        self._files = MeshFiles(description.file.path if description.file else None)
        self._reader = Reader()
        self._read: dict[str, Array] = {}
        self._fitted: dict[tuple[str, Vector3], list[Swept]] = {}

    def of_link(self, shapes: Sequence[Shape]) -> Iterator[Swept]:
        """The capsules of the shapes of a link, in its frame."""
        capsules, others = rounded(shapes)
        yield from capsules
        for shape in others:
            if shape.kind == "plane":
                what = f"link {quoted(shape.link)}: a plane has no capsule; left out"
                self.told.append(f"{self._where(shape)}: {what}: use a halfspace, which is an obstacle")
                continue
            swept = self._mesh(shape) if shape.mesh is not None else solid_cover(shape, self._wanted)
            yield from (x.placed(shape.placement) for x in swept)

    def _mesh(self, shape: Shape) -> list[Swept]:
        assert shape.mesh is not None
        if self._wanted.mesh is None:
            what = f"link {quoted(shape.link)} has a mesh"
            cover = option("cover", {"mesh": "capsules:3"})
            raise OptionError(f"{self._where(shape)}: {what}; give {cover} or {_FILE}")
        key = (shape.mesh, shape.scale)
        if key not in self._fitted:
            self._fitted[key] = fitted(self._triangles(shape) * shape.scale, self._wanted.mesh)
        return self._fitted[key]

    def _triangles(self, shape: Shape) -> Array:
        """The corners (n, 3, 3) of the triangles of a mesh, in the unit of its file."""
        name = shape.mesh
        assert name is not None
        if name not in self._read:
            if name in self._shapes.meshes:
                surfaces = [self._shapes.meshes[name]]
            else:
                try:
                    surfaces = [part.surface for part in self._reader.read(self._files.find(name))]
                except DescriptionError as error:
                    said = f"{self._where(shape)}: link {quoted(shape.link)}: {error}"
                    raise OptionError(f"{said}, or give {_FILE}") from None
            self._read[name] = np.concatenate([x.vertices[x.faces] for x in surfaces])
        return self._read[name]

    def _where(self, shape: Shape) -> str:
        return f"{self._description.path}:{shape.line}"


def _named(swept: Swept, link: str, number: int) -> Capsule:
    center, axis = ((float(x[0]), float(x[1]), float(x[2])) for x in (swept.center, swept.axis))
    name = f"{link}/{number}"
    return Capsule(name, link, center, axis, swept.half_length, swept.radius, swept.excess)


def _excess_told(description: Description, capsules: Sequence[Capsule]) -> list[str]:
    """A line that tells how far the capsules of links stand out of their shapes, if they do."""
    most: dict[str, float] = {}
    for capsule in capsules:
        if capsule.excess:
            most[capsule.link] = max(most.get(capsule.link, 0.0), capsule.excess)
    if not most:
        return []
    listed = ", ".join(
        f"{quoted(link, 40)} {millimetres(x):g} mm" for link, x in islice(most.items(), _LISTED)
    )
    more = f" and {len(most) - _LISTED} more" if len(most) > _LISTED else ""
    return [f"{description.path}: capsules stand out of the shapes of links by at most: {listed}{more}"]
