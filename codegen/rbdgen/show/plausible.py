"""Compares the inertias of bodies with their shapes.

The mass of a body lies within its shapes. If its shapes reach from c - a to c + b along an axis through the
centre of mass c, the mean square distance of mass from c along this axis is at most a b (Bhatia, Davis, Amer.
Math. Monthly 107, 2000), and so at most the square of half of a + b. An inertia with a larger one is that of
no body with these shapes, no matter how its mass is distributed. Since shapes may leave out parts, such as
motors in neighbouring links, there is a margin.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

import numpy as np

from rbdgen.description.quoting import quoted
from rbdgen.description.shapes.shape import Shape
from rbdgen.model.robot import Robot
from rbdgen.show.ellipsoid import Ellipsoid, ellipsoid_of
from rbdgen.show.extent import Array
from rbdgen.show.scene import Scene
from rbdgen.spatial.ops import Matrix, Transform, Vector

MARGIN: Final = 0.1
"""The length by which the mass of a body may reach beyond its shapes without a warning, relative to half of
the diagonal of their box."""

SMALL: Final = 0.1
"""The smallest root mean square distance of mass from the centre without a warning, relative to half of the
diagonal of the box of the shapes. It is 0.58 for a solid box."""

POINT: Final = 1e-6
"""The largest such distance of a point mass, which causes no warning because it is meant to be a point."""


def implausible(robot: Robot) -> tuple[list[str], list[str]]:
    """Warnings of bodies whose inertia or centre of mass does not fit their shapes, and one line for every
    shape that could not be read.
    """
    scene = Scene(robot)
    found = doubts(scene)
    path, bodies = robot.description.path, robot.model.bodies
    told = [f"{path}: body {quoted(bodies[i].name)}: {text}" for i, texts in found.items() for text in texts]
    return told, scene.missing


def doubts(scene: Scene) -> dict[int, list[str]]:
    """The reasons why the inertia or the centre of mass of a body does not fit its shapes, by its index.

    Bodies without shapes are not compared, nor are those of which a shape could not be read or is a plane.
    """
    robot = scene.robot
    of_bodies: dict[int, list[Shape]] = {}
    for attachment in robot.attachments:
        of_bodies.setdefault(attachment.body, []).extend(scene.of_links[attachment.link])
    found: dict[int, list[str]] = {}
    for i, body in enumerate(robot.model.bodies):
        shapes, ellipsoid = of_bodies.get(i, []), ellipsoid_of(body.inertia)
        known = [scene.has_box(x) for x in shapes]  # all are tried, so that all lines are told
        if ellipsoid is not None and shapes and all(known):
            said = list(_compared(ellipsoid, *_box(scene, shapes, ellipsoid.R)))
            if said:
                found[i] = said
    return found


def _box(scene: Scene, shapes: list[Shape], R: Array) -> tuple[Array, Array]:
    """The least and the greatest coordinates of the shapes of a body along the columns of R."""
    placed = {x.link: x.placement for x in scene.robot.attachments}
    turned = Transform(Matrix(*(Vector(*axis) for axis in R.T.tolist())), Vector())
    return scene.box(shapes, lambda shape: turned @ placed[shape.link])


def _compared(ellipsoid: Ellipsoid, low: Array, high: Array) -> Iterator[str]:
    """What does not fit: the ellipsoid and the box of the shapes, along the ellipsoid's axes."""
    center, half = ellipsoid.R.T @ ellipsoid.com, (high - low) / 2
    distances = ellipsoid.radii / math.sqrt(5)
    size = float(np.linalg.norm(half))
    outside = float(np.linalg.norm(np.maximum(0, np.maximum(low - center, center - high))))
    if outside > MARGIN * size:
        yield f"its centre of mass is {outside:.2g} m outside of its shapes; check its origin"
    excess = distances - half
    k = int(np.argmax(excess))
    check = "check the unit and the axes of its inertia"
    if excess[k] > MARGIN * size:
        long = f"a solid ellipsoid with it is {2 * ellipsoid.radii[k]:.2g} m long"
        span = f"along an axis where its shapes span {2 * half[k]:.2g} m"
        yield f"its inertia is too large for its shapes: {long}, {span}; {check}"
    elif POINT * size < np.linalg.norm(distances) < SMALL * size:
        long = f"a solid ellipsoid with it is {2 * ellipsoid.radii.max():.2g} m long"
        yield f"its inertia is too small for its shapes: {long}, they span {2 * half.max():.2g} m; {check}"
