"""The shapes of a robot as the data of a page: what is drawn of every link, and the triangles of meshes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rbdgen.description.quoting import told
from rbdgen.description.shapes.shape import Shape
from rbdgen.errors import OptionError
from rbdgen.model.attachments import Attachment
from rbdgen.model.robot import Robot
from rbdgen.show.extent import arrays
from rbdgen.show.meshes import EXTRA, can_be_drawn
from rbdgen.show.scene import Scene
from rbdgen.show.triangles import SMALL, packed
from rbdgen.spatial.ops import Transform

BUDGET = 24_000
"""The number of triangles of a page."""


@dataclass(frozen=True)
class Drawn:
    """What a page draws of a robot's shapes. All of it except `blob` is ready for JSON."""

    links: list[dict[str, Any]]
    """For every link its `name`, the index `body` of the body that carries it (-1: the world), the pose `R`,
    `p` of its frame on this body, in m, whether it is `merged` into a body of another name, and its `shapes`.

    A shape has a `kind`, the pose `R`, `p` of its frame on the link, and a `color`: red, green, blue and
    opacity from 0 to 1, or None. Its `size`, in m, is [x, y, z] for a box, [radius] for a sphere, [radius,
    length] for a cylinder and a capsule, along z and without the capsule's half spheres, and [rx, ry, rz] for
    an ellipsoid. A mesh has `mesh`, an index of `meshes`, and `scale` [x, y, z] instead.
    """
    meshes: list[list[dict[str, Any]]]
    """For every mesh its parts by colour: `v`, `f`, `lo` and `size`, which say where its triangles are in
    `blob` (see `triangles.py`), and `color`, which is None where the colour of the shape applies."""
    blob: bytes
    """The numbers of all meshes, little-endian."""
    missing: list[str]
    """One line for everything that is not drawn."""
    triangles: tuple[int, int]
    """The numbers of triangles that were read, and that are drawn."""


def drawn(robot: Robot, *, triangles: int = BUDGET, shapes: bool = True, scene: Scene | None = None) -> Drawn:
    """The shapes of a robot's links as the data of a page. The same files give the same bytes.

    The visual shapes of a link are drawn; if none can be, those for collision are. Meshes need the packages
    of the extra `show`; without them, only primitives are drawn.

    Args:
        robot: the robot.
        triangles: the number of triangles to keep of all meshes together; the result may have some more.
        shapes: whether shapes are drawn at all; otherwise links have none.
        scene: the shapes of the robot, if they were read before.

    Raises:
        OptionError: `triangles` is not a positive number.
    """
    if isinstance(triangles, bool) or not (isinstance(triangles, int) and triangles > 0):
        raise OptionError(f"triangles {told(triangles)} is not a number of triangles; give a positive one")
    if not shapes:
        return Drawn([_link(x, []) for x in robot.attachments], [], b"", [], (0, 0))
    scene = scene or Scene(robot)
    chosen = _chosen(scene)
    flat = [shape for link in chosen.values() for shape in link]
    meshes = {shape.mesh: scene.parts(shape) for shape in flat if shape.mesh is not None}
    size = 0.0
    if flat:
        low, high = scene.box(flat, lambda shape: scene.at_zero[shape.link])
        size = float(np.linalg.norm(high - low))
    scales = [max(abs(x) for shape in flat if shape.mesh == name for x in shape.scale) for name in meshes]
    smallest = [SMALL * size / scale for scale in scales]
    result = packed(list(meshes.values()), smallest, triangles)
    numbers = {name: k for k, name in enumerate(meshes)}
    links = [_link(x, [_shape(shape, numbers) for shape in chosen[x.link]]) for x in robot.attachments]
    return Drawn(links, result.meshes, result.blob, scene.missing, result.triangles)


def _chosen(scene: Scene) -> dict[str, list[Shape]]:
    """The shapes that are drawn, by link: the visual ones, or those for collision if none of them can be.

    Lines of `missing` tell what is left out.
    """
    able = can_be_drawn()
    chosen: dict[str, list[Shape]] = {}
    for link, shapes in scene.of_links.items():
        chosen[link] = []
        for role in ("visual", "collision"):
            own = (x for x in shapes if x.role == role and (able or x.mesh is None))
            chosen[link] = chosen[link] or [x for x in own if scene.has_box(x)]
    every = [shape for shapes in scene.of_links.values() for shape in shapes]
    for shape in {(x.link, x.name, x.line): x for x in every if x.kind == "plane"}.values():
        scene.tell(shape, "a plane is not drawn; the page has a floor of its own")
    if not able and (meshes := {x.mesh for x in every if x.mesh is not None}):
        files = "1 file" if len(meshes) == 1 else f"{len(meshes)} files"
        what = f"its meshes ({files}) are not drawn, which takes two more packages"
        scene.missing.append(f"{scene.robot.description.path}: {what}; {EXTRA}")
    return chosen


def _link(attachment: Attachment, shapes: list[dict[str, Any]]) -> dict[str, Any]:
    pose = _pose(attachment.placement)
    return {
        "name": attachment.link,
        "body": attachment.body,
        **pose,
        "merged": attachment.merged,
        "shapes": shapes,
    }


def _shape(shape: Shape, numbers: Mapping[str, int]) -> dict[str, Any]:
    color = None if shape.color is None else list(shape.color)
    if shape.mesh is None:
        size: dict[str, Any] = {"size": list(shape.size)}
    else:
        size = {"mesh": numbers[shape.mesh], "scale": list(shape.scale)}
    return {"kind": shape.kind, **_pose(shape.placement), **size, "color": color}


class _Pose(NamedTuple):
    """A pose, as the page has it."""

    R: list[list[float]]
    p: list[float]


def _pose(placement: Transform) -> dict[str, Any]:
    R, p = arrays(placement)
    return _Pose(R.tolist(), p.tolist())._asdict()
