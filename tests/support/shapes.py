"""Robots with shapes, and files of meshes, for tests."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from pathlib import Path

import trimesh

from rbdgen.description.shapes.read import shapes_of
from rbdgen.description.shapes.shape import Shape, Shapes
from rbdgen.description.source import read_description
from rbdgen.model.build import Robot
from rbdgen.pipeline.robot import load_robot

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'

TETRAHEDRON = (
    [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)],
    [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)],
)


def urdf(link: str, more: str = "") -> str:
    """A robot whose moving link `arm` contains these elements, and starts in line 2."""
    return (
        f'<robot name="r"><link name="base"/>{more}\n<link name="arm">{INERTIAL}{link}</link>'
        '<joint name="j" type="continuous"><parent link="base"/><child link="arm"/>'
        '<origin xyz="0 0 1"/><axis xyz="0 1 0"/></joint></robot>'
    )


def visual(geometry: str, more: str = "") -> str:
    return f"<visual>{more}<geometry>{geometry}</geometry></visual>"


def loaded(folder: Path, link: str, more: str = "") -> Robot:
    """The robot of `urdf`, from a file in this folder."""
    path = folder / "robot.urdf"
    path.write_text(urdf(link, more))
    return load_robot(path)


def read(folder: Path, link: str, more: str = "") -> Shapes:
    return shapes_of(loaded(folder, link, more).description)


def only(shapes: Shapes) -> Shape:
    """The single shape of a robot of which nothing is missing."""
    assert shapes.missing == ()
    (shape,) = shapes.shapes
    return shape


def read_mjcf(folder: Path, text: str, **options: object) -> Shapes:
    path = folder / "robot.xml"
    path.write_text(text)
    return shapes_of(read_description(path, **options))  # type: ignore[arg-type]


def stl(vertices: Sequence[Iterable[float]], faces: Iterable[Sequence[int]]) -> bytes:
    """A binary STL."""
    rows = [
        struct.pack("<12fH", 0, 0, 0, *(float(x) for k in face for x in vertices[k]), 0) for face in faces
    ]
    return bytes(80) + struct.pack("<I", len(rows)) + b"".join(rows)


def ball(subdivisions: int) -> bytes:
    """An STL of a sphere of radius 1 with 20 * 4^subdivisions triangles."""
    sphere = trimesh.creation.icosphere(subdivisions)
    return stl(sphere.vertices.tolist(), sphere.faces.tolist())
