"""The shapes of an MJCF are those of the model that MuJoCo compiles."""

from __future__ import annotations

import re
from pathlib import Path

import mujoco
import numpy as np
import pytest
from support.shapes import TETRAHEDRON, read_mjcf, stl

from rbdgen.description.shapes.shape import Shapes
from rbdgen.show.extent import arrays


def robot(body: str, more: str = "", world: str = "") -> str:
    return (
        f'<mujoco model="m">{more}<worldbody>{world}\n<body name="arm" pos="0 0 1"><joint axis="0 1 0"/>'
        f'<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>\n{body}</body></worldbody></mujoco>'
    )


def seen(shapes: Shapes) -> list[tuple[str, str, tuple[float, ...]]]:
    assert shapes.missing == ()
    return [(x.role, x.kind, x.size) for x in shapes.shapes]


@pytest.mark.parametrize(
    ("geom", "kind", "size"),
    [
        ('type="box" size="1 2 3"', "box", (2, 4, 6)),
        ('size="0.5"', "sphere", (0.5,)),
        ('type="capsule" size="0.5 2"', "capsule", (0.5, 4)),
        ('type="cylinder" size="0.5 2"', "cylinder", (0.5, 4)),
        ('type="ellipsoid" size="1 2 3"', "ellipsoid", (1, 2, 3)),
        ('type="capsule" size="0.5" fromto="0 0 0 3 0 4"', "capsule", (0.5, 5)),
    ],
)
def test_primitives(tmp_path: Path, geom: str, kind: str, size: tuple[float, ...]) -> None:
    """A geom is visual and for collision by default."""
    shapes = read_mjcf(tmp_path, robot(f'<geom name="g" {geom} friction="0.7"/>'))
    assert seen(shapes) == [("visual", kind, size), ("collision", kind, size)]
    look, touch = shapes.shapes
    assert (look.friction, touch.friction) == (None, 0.7)
    assert (look.link, look.name, look.line, look.color) == ("arm", "g", 3, None)


def test_a_capsule_from_one_point_to_another(tmp_path: Path) -> None:
    shapes = read_mjcf(tmp_path, robot('<geom type="capsule" size="0.5" fromto="1 0 0 4 0 4"/>'))
    R, p = arrays(shapes.shapes[0].placement)
    np.testing.assert_allclose(p, [2.5, 0, 2], atol=1e-15)
    np.testing.assert_allclose(np.abs(R[:, 2]), [0.6, 0, 0.8], atol=1e-15)


@pytest.mark.parametrize(
    ("attributes", "roles"),
    [
        ('group="2" contype="0" conaffinity="0"', ["visual"]),
        ('group="3"', ["collision"]),
        ('group="3" contype="0"', ["collision"]),
        ('group="5" contype="0" conaffinity="0"', []),
        ('class="looks"', ["visual"]),
    ],
)
def test_roles(tmp_path: Path, attributes: str, roles: list[str]) -> None:
    default = '<default><default class="looks"><geom contype="0" conaffinity="0"/></default></default>'
    shapes = read_mjcf(tmp_path, robot(f'<geom size="1" {attributes}/>', default))
    assert [x.role for x in shapes.shapes] == roles


def test_a_pair_collides(tmp_path: Path) -> None:
    pair = '<contact><pair geom1="a" geom2="floor"/></contact>'
    none = 'contype="0" conaffinity="0" group="4"'
    text = robot(
        f'<geom name="a" size="1" {none}/>', pair, f'<geom name="floor" type="plane" size="1 2 1" {none}/>'
    )
    assert seen(read_mjcf(tmp_path, text)) == [("collision", "plane", (1, 2)), ("collision", "sphere", (1,))]


def test_colors(tmp_path: Path) -> None:
    """A geom's own colour comes before that of its material."""
    asset = '<asset><material name="red" rgba="1 0 0 0.5"/></asset>'
    geoms = '<geom size="1" material="red"/><geom size="1" material="red" rgba="0 1 0 1"/><geom size="1"/>'
    shapes = read_mjcf(tmp_path, robot(geoms, asset)).shapes
    assert [x.color for x in shapes if x.role == "visual"] == [(1, 0, 0, 0.5), (0, 1, 0, 1), None]


def test_a_mesh_is_where_its_file_is(tmp_path: Path) -> None:
    """MuJoCo turns meshes to their principal axes, and their geoms accordingly."""
    (tmp_path / "t.stl").write_bytes(stl(*TETRAHEDRON))
    asset = '<asset><mesh name="t" file="t.stl" scale="2 2 2"/></asset>'
    shapes = read_mjcf(tmp_path, robot('<geom type="mesh" mesh="t" pos="0 0 5"/>', asset))
    assert seen(shapes) == [("visual", "mesh", ()), ("collision", "mesh", ())]
    assert shapes.shapes[0].mesh == "t"
    R, p = arrays(shapes.shapes[0].placement)
    vertices, faces = shapes.meshes["t"]
    found = vertices @ R.T + p
    expected = 2 * np.array(TETRAHEDRON[0], float) + [0, 0, 5]
    distances = np.linalg.norm(found[:, None] - expected, axis=2)
    assert distances.min(axis=0).max() < 1e-6
    a, b, c = (found[faces[:, k]] for k in range(3))
    volume = np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6
    assert volume == pytest.approx(8 / 6, rel=1e-6)


def test_what_is_no_shape_is_told(tmp_path: Path) -> None:
    asset = '<asset><hfield name="h" nrow="2" ncol="2" size="1 1 1 1" elevation="0 0 0 1"/></asset>'
    shapes = read_mjcf(
        tmp_path, robot('<geom size="1"/>\n<geom name="hill" type="hfield" hfield="h"/>', asset)
    )
    assert [x.kind for x in shapes.shapes] == ["sphere", "sphere"]
    (line,) = shapes.missing
    assert line == (
        f"{tmp_path}/robot.xml:4: geom 'hill' of body 'arm' is a height field or a signed distance function; "
        "left out: use a mesh to see it"
    )


def test_the_world_around_a_floating_base_is_not_of_the_robot(tmp_path: Path) -> None:
    floor = '<geom type="plane" size="1 1 1"/>'
    fixed = robot('<geom size="1"/>', world=floor)
    assert {x.link for x in read_mjcf(tmp_path, fixed).shapes} == {"world", "arm"}
    floating = re.sub("<joint .*?/>", "<freejoint/>", fixed)
    assert {x.link for x in read_mjcf(tmp_path, floating).shapes} == {"arm"}


def test_a_file_that_changed_is_one_line(tmp_path: Path) -> None:
    from rbdgen.description.shapes.read import shapes_of  # noqa: PLC0415
    from rbdgen.description.source import read_description  # noqa: PLC0415

    path = tmp_path / "robot.xml"
    path.write_text(robot('<geom size="1"/>'))
    description = read_description(path)
    path.write_text("<mujoco>")
    shapes = shapes_of(description)
    assert shapes.shapes == ()
    assert len(shapes.missing) == 1


def test_geoms_are_placed_as_in_mujoco(tmp_path: Path) -> None:
    text = robot(
        '<body name="b" pos="1 2 3" euler="20 30 40"><joint axis="1 0 0"/>'
        '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
        '<geom type="box" size="1 2 3" pos="0.1 0.2 0.3" euler="50 -60 70"/></body>'
    )
    shape = read_mjcf(tmp_path, text).shapes[0]
    assert shape.link == "b"
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    R, p = arrays(shape.placement)
    body = data.xmat[2].reshape(3, 3)
    np.testing.assert_allclose(body @ R, data.geom_xmat[0].reshape(3, 3), atol=1e-12)
    np.testing.assert_allclose(body @ p + data.xpos[2], data.geom_xpos[0], atol=1e-12)
