"""The triangles of the meshes of one robot."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from rbdgen.description.schema import Description
from rbdgen.description.shapes.mesh_files import MeshFiles
from rbdgen.description.shapes.meshes import Reader
from rbdgen.description.shapes.shape import Shape, Shapes

Array: TypeAlias = npt.NDArray[np.float64]


class Surfaces:
    """Reads the meshes of one robot, every one once."""

    def __init__(self, description: Description, shapes: Shapes) -> None:
        self._shapes = shapes
        self._files = MeshFiles(description.file.path if description.file else None)
        self._reader = Reader()
        self._read: dict[str, Array] = {}

    def triangles(self, shape: Shape) -> Array:
        """The corners (n, 3, 3) of the triangles of a mesh, in its own frame and the unit of its file.

        Raises DescriptionError, whose message is one line, for a file that cannot be read.
        """
        name = shape.mesh
        assert name is not None
        if name not in self._read:
            if name in self._shapes.meshes:
                surfaces = [self._shapes.meshes[name]]
            else:
                surfaces = [part.surface for part in self._reader.read(self._files.find(name))]
            self._read[name] = np.concatenate([x.vertices[x.faces] for x in surfaces])
        return self._read[name]
