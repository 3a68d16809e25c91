"""The outline of a robot as a browser draws it, against its shapes projected at Pinocchio's placements."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
import trimesh
from PIL import Image, ImageDraw
from support.browser import browsers, needs_browser, opened
from support.robots import BUNDLED, PUBLIC_FOLDER

import rbdgen
from rbdgen.description.shapes.shape import Shape
from rbdgen.show.extent import arrays
from rbdgen.show.scene import Scene

pytestmark = needs_browser

CELLS = 64

ROBOTS = {
    "primitives": BUNDLED["arm7"],
    "meshes": PUBLIC_FOLDER / "asr_twodof_description/urdf/TwoDofs.urdf",
}

DRAWN = """(pose) => {
  const { renderer, scene, camera, ground, coordinates, move, refresh, frameView, q } = rbdgenShow;
  coordinates.forEach((coordinate, k) => move(coordinate, pose[k], q));
  refresh();
  frameView();
  camera.updateMatrixWorld(true);
  for (const part of ground) part.visible = false;
  renderer.render(scene, camera);
  const { width, height } = renderer.domElement, canvas = new OffscreenCanvas(width, height);
  const pen = canvas.getContext("2d");
  pen.drawImage(renderer.domElement, 0, 0);
  const opacities = pen.getImageData(0, 0, width, height).data.filter((_, k) => k % 4 === 3);
  const [view, lens] = [camera.matrixWorldInverse.elements, camera.projectionMatrix.elements];
  return { width, height, seen: Array.from(opacities, (x) => +(x > 0)), q: [...q], view, lens };
}"""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browsers() as launch:
        yield launch()


@pytest.mark.parametrize("name", ROBOTS)
def test_the_robot_has_the_outline_of_its_shapes(name: str, chromium: Any, tmp_path: Path) -> None:
    """Cells of a grid are covered in both pictures, or in neither, but for a few at the edge."""
    robot = rbdgen.load_robot(ROBOTS[name])
    page = robot.show().save(tmp_path / "page.html")
    pose = [0.3 + 0.25 * k for k in range(robot.nv)]
    with opened(chromium, page) as shown:
        found = shown.tab.evaluate(DRAWN, pose)
    size = found["width"], found["height"]
    drawn = Image.fromarray(np.array(found["seen"], np.uint8).reshape(size[::-1]) * 255)
    camera = np.reshape(found["lens"], (4, 4)).T @ np.reshape(found["view"], (4, 4)).T
    model = pin.buildModelFromUrdf(str(ROBOTS[name]))
    scene, q = Scene(robot), np.array(found["q"])
    shown_cells = cells(drawn)
    assert 0.02 < shown_cells.mean() < 0.6
    assert alike(shown_cells, cells(outline(triangles(scene, model, q), camera, size))) > 0.97
    assert alike(shown_cells, cells(outline(triangles(scene, model, q + 0.3), camera, size))) < 0.9


def cells(picture: Image.Image) -> np.ndarray:
    """The cells of a grid that a picture covers by half."""
    return np.asarray(picture.resize((CELLS, CELLS), Image.Resampling.BOX)) > 127


def alike(one: np.ndarray, other: np.ndarray) -> float:
    """The part of the cells that either covers which both cover."""
    return float((one & other).sum() / (one | other).sum())


def outline(corners: np.ndarray, camera: np.ndarray, size: tuple[int, int]) -> Image.Image:
    """The picture of triangles (n, 3, 3) in world axes, white on black, by the matrix of a camera (4, 4)."""
    points = np.concatenate([corners, np.ones((*corners.shape[:2], 1))], axis=2) @ camera.T
    pixels = (points[..., :2] / points[..., 3:] * (1, -1) + 1) / 2 * size
    picture = Image.new("L", size)
    pen = ImageDraw.Draw(picture)
    for triangle in pixels:
        pen.polygon([(x, y) for x, y in triangle.tolist()], fill=255)
    return picture


def triangles(scene: Scene, model: Any, q: np.ndarray) -> np.ndarray:
    """The corners (n, 3, 3) of all visual shapes in world axes."""
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    found = []
    for link, shapes in scene.of_links.items():
        placement = data.oMf[model.getFrameId(link, pin.FrameType.BODY)]
        for shape in (each for each in shapes if each.role == "visual"):
            R, p = arrays(shape.placement)
            corners = surface(scene, shape) @ R.T + p
            found.append(corners @ placement.rotation.T + placement.translation)
    return np.concatenate(found)


def surface(scene: Scene, shape: Shape) -> np.ndarray:
    """The corners (n, 3, 3) of a shape in its own frame; those of a mesh as in its file, all of them."""
    if shape.kind == "mesh":
        parts = [part.surface for part in scene.parts(shape)]
        return np.concatenate([each.vertices[each.faces] for each in parts]) * shape.scale
    make: dict[str, Any] = {
        "box": lambda *size: trimesh.creation.box(size),
        "sphere": lambda radius: trimesh.creation.icosphere(4, radius),
        "cylinder": lambda radius, length: trimesh.creation.cylinder(radius, length, 64),
    }
    return np.asarray(make[shape.kind](*shape.size).triangles)
