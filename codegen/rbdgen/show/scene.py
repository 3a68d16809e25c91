"""The shapes of a robot with their meshes, at the zero position of its joints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from rbdgen.description.quoting import quoted
from rbdgen.description.shapes.mesh_files import MeshFiles
from rbdgen.description.shapes.meshes import Part, Reader
from rbdgen.description.shapes.read import shapes_of
from rbdgen.description.shapes.shape import Shape
from rbdgen.errors import DescriptionError
from rbdgen.model.robot import Robot
from rbdgen.show.extent import Array, bounds
from rbdgen.spatial.ops import NO_TRANSFORM, Transform


class Scene:
    """The shapes of a robot. Each mesh is read once, when it is needed first."""

    def __init__(self, robot: Robot) -> None:
        read = shapes_of(robot.description)
        self.robot = robot
        self.missing = list(read.missing)
        """One line for everything that could not be read so far."""
        self.of_links: dict[str, list[Shape]] = {x.link: [] for x in robot.attachments}
        for shape in read.shapes:
            self.of_links[shape.link].append(shape)
        self._meshes = {name: [Part(None, surface)] for name, surface in read.meshes.items()}
        self._refused: set[str] = set()
        file = robot.description.file
        self._files = MeshFiles(file.path if file else None)
        self._reader = Reader()

    def parts(self, shape: Shape) -> list[Part]:
        """The parts of the mesh of a shape, in the unit of its file; none for primitives.

        The first time that a mesh cannot be read, a line of `missing` says so; it has no parts then.
        """
        name = shape.mesh
        if name is None or name in self._refused:
            return []
        if name not in self._meshes:
            try:
                self._meshes[name] = self._reader.read(self._files.find(name))
            except DescriptionError as error:
                self._refused.add(name)
                self.tell(shape, str(error))
                return []
        return self._meshes[name]

    def tell(self, shape: Shape, text: str) -> None:
        """Adds a line about a shape to `missing`."""
        self.missing.append(f"{self.robot.description.path}:{shape.line}: link {quoted(shape.link)}: {text}")

    def has_box(self, shape: Shape) -> bool:
        """Whether the box of a shape is known: it is finite, and its mesh can be read."""
        return shape.kind != "plane" and (shape.mesh is None or bool(self.parts(shape)))

    def box(self, shapes: Sequence[Shape], frame: Callable[[Shape], Transform]) -> tuple[Array, Array]:
        """The least and the greatest coordinates (3,) of shapes, at least one, that all have a box, in m.

        `frame` gives the placement of the link of a shape in the frame whose axes count.
        """
        found = [bounds(x, self.parts(x), frame(x) @ x.placement) for x in shapes]
        low, high = zip(*found, strict=True)
        return np.min(low, axis=0), np.max(high, axis=0)

    @cached_property
    def at_zero(self) -> dict[str, Transform]:
        """The placements of links in the world if all coordinates of joints are 0."""
        bodies: list[Transform] = []
        for body in self.robot.model.bodies:
            above = bodies[body.parent] if body.parent >= 0 else NO_TRANSFORM
            bodies.append(above @ body.placement)
        return {
            x.link: (bodies[x.body] if x.body >= 0 else NO_TRANSFORM) @ x.placement
            for x in self.robot.attachments
        }
