"""Reads files of meshes: COLLADA by `collada.py`, STL and OBJ by trimesh.

Files may come from anywhere, so their sizes are bounded, and everything that is wrong with one becomes an
error of one line. Files that they name in turn, such as textures, are not read.
"""

from __future__ import annotations

from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from rbdgen.description.document import read_most
from rbdgen.description.quoting import escaped, quoted
from rbdgen.description.shapes.shape import Color, Triangles
from rbdgen.errors import DescriptionError
from rbdgen.show.collada import read_collada

EXTRA: Final = "pip install 'rbdgen[show]'"

MOST_BYTES: Final = 100_000_000
"""The largest size of a file, in bytes."""

MOST_BYTES_OF_ALL: Final = 400_000_000
"""The largest size of all files of a robot, in bytes."""

LARGEST: Final = 1e9
"""The largest coordinate of a vertex, in the unit of the file."""

FORMATS: Final = (".stl", ".dae", ".obj")


class Part(NamedTuple):
    """The triangles of one colour of a mesh."""

    color: Color | None
    surface: Triangles


def can_be_drawn() -> bool:
    """Whether the packages that read and simplify meshes are installed."""
    return all(find_spec(name) is not None for name in ("trimesh", "fast_simplification"))


class Reader:
    """Reads the files of a robot, all of them together within `MOST_BYTES_OF_ALL`."""

    def __init__(self) -> None:
        self._left = MOST_BYTES_OF_ALL

    def read(self, path: Path) -> list[Part]:
        """The parts of a mesh by colour, as in the file.

        Raises DescriptionError, whose message is one line, for a file that cannot be read, is too large, or
        has no sound triangles.
        """
        name, suffix = quoted(path.name), path.suffix.lower()
        where = f"mesh {name}"
        if suffix not in FORMATS:
            what = f"files of type {quoted(suffix)} are not read"
            raise DescriptionError(where, None, what, "convert it to STL, OBJ or DAE")
        data = self._bytes(path, where)
        if suffix == ".dae":
            parts = joined(read_collada(data, where))
        else:
            parts = [Part(None, _by_trimesh(data, suffix[1:], where))]
        if not parts:
            raise DescriptionError(where, None, "it has no triangles", "export the mesh again")
        for part in parts:
            _check(part.surface, where)
        return parts

    def _bytes(self, path: Path, where: str) -> bytes:
        most = min(MOST_BYTES, self._left)
        try:
            with path.open("rb") as file:
                data = read_most(file, most)
        except OSError as error:
            raise DescriptionError(where, None, f"cannot be read ({error.strerror})", "check it") from None
        if len(data) > most:
            what = f"is larger than {MOST_BYTES / 1e6:g} MB"
            if most < MOST_BYTES:
                what = f"all meshes together are larger than {MOST_BYTES_OF_ALL / 1e6:g} MB"
            raise DescriptionError(where, None, what, "use meshes with fewer triangles")
        self._left -= len(data)
        return data


def joined(surfaces: list[tuple[Color | None, Triangles]]) -> list[Part]:
    """The surfaces with those of the same colour joined, without empty ones."""
    by_color: dict[Color | None, list[Triangles]] = {}
    for color, surface in surfaces:
        if len(surface.faces):
            by_color.setdefault(color, []).append(surface)
    parts = []
    for color, alike in by_color.items():
        begin = np.cumsum([0, *(len(x.vertices) for x in alike)])
        faces = [x.faces + shift for x, shift in zip(alike, begin[:-1], strict=True)]
        parts.append(
            Part(color, Triangles(np.concatenate([x.vertices for x in alike]), np.concatenate(faces)))
        )
    return parts


def _check_stl(data: bytes, where: str) -> None:
    """Raises DescriptionError for an STL that is neither text nor as long as its number of triangles says.

    trimesh tries to read such a file as text, in an encoding that depends on what else is installed.
    """
    count = int.from_bytes(data[80:84], "little")
    if len(data) != 84 + 50 * count and not data.lstrip().startswith(b"solid"):
        told = f"{count} triangles do not have {len(data)} bytes"
        raise DescriptionError(where, None, f"it is no sound STL file ({told})", "export the mesh again")


def _by_trimesh(data: bytes, kind: str, where: str) -> Triangles:
    if kind == "stl":
        _check_stl(data, where)
    try:
        import trimesh  # noqa: PLC0415  (an extra)
    except ImportError:
        raise DescriptionError(where, None, f"{kind.upper()} files are read by trimesh", EXTRA) from None
    try:
        mesh: Any = trimesh.load_mesh(BytesIO(data), file_type=kind, process=False)
        return Triangles(np.array(mesh.vertices, float), np.array(mesh.faces, np.int64).reshape(-1, 3))
    except Exception as error:  # trimesh raises exceptions of many types
        told = escaped(" ".join(f"{type(error).__name__}: {error}".split()), 200)
        raise DescriptionError(
            where, None, f"it is no sound {kind.upper()} file ({told})", "export the mesh again"
        ) from None


def _check(surface: Triangles, where: str) -> None:
    """Raises DescriptionError for a surface that is empty or has wrong numbers."""
    vertices, faces = surface
    what = ""
    if not len(faces):
        what = "it has no triangles"
    elif vertices.ndim != 2 or vertices.shape[1] != 3:
        what = "its vertices are not points"
    elif not (np.abs(vertices) <= LARGEST).all():
        what = f"a coordinate of a vertex is not a number of at most {LARGEST:g}"
    elif faces.min() < 0 or faces.max() >= len(vertices):
        what = "it has an index of a vertex that does not exist"
    if what:
        raise DescriptionError(where, None, what, "export the mesh again")
