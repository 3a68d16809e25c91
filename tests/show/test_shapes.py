"""The shapes of a robot as data of a page, against Pinocchio's reader, which reads meshes with Assimp."""

from __future__ import annotations

import json
import math
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.robots import PUBLIC
from support.shapes import TETRAHEDRON, ball, loaded, stl, visual

from rbdgen.errors import OptionError
from rbdgen.pipeline.robot import load_robot
from rbdgen.show import shapes
from rbdgen.show.scene import Scene
from rbdgen.show.shapes import Drawn, drawn

BOX = '<box size="1 2 3"/>'


def pose(row: dict[str, Any]) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = row["R"], row["p"]
    return T


def vertices_of(found: Drawn, shape: dict[str, Any]) -> np.ndarray:
    """The vertices of the mesh of a shape, in its frame."""
    parts = []
    for row in found.meshes[shape["mesh"]]:
        at, count = row["v"]
        steps = np.frombuffer(found.blob, "<u2", 3 * count, at).reshape(-1, 3)
        parts.append(np.array(row["lo"]) + np.array(row["size"]) * (steps / 65535))
    return np.concatenate(parts) * shape["scale"]


@pytest.mark.parametrize("name", PUBLIC)
def test_real_robots(name: str) -> None:
    """All shapes are found, each where Pinocchio has it at a random position, and meshes have its boxes."""
    path = str(PUBLIC[name])
    robot = load_robot(path, mimic="independent")
    found = drawn(robot)
    assert found.missing == []
    assert found.triangles[1] <= 24_000
    model = pin.buildModelFromUrdf(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Pinocchio warns of its own call of Assimp
        geometry = pin.buildGeomFromUrdf(model, path, pin.VISUAL, [path.partition("example-robot-data/")[0]])
    data, placed = model.createData(), geometry.createData()
    pin.updateGeometryPlacements(model, data, geometry, placed, pin.randomConfiguration(model))
    expected: dict[str, list[int]] = {}
    for k, item in enumerate(geometry.geometryObjects):
        expected.setdefault(model.frames[item.parentFrame].name, []).append(k)
    drawn_links = {row["name"]: row for row in found.links}
    for link, numbers in expected.items():
        row = drawn_links[link]
        assert len(row["shapes"]) == len(numbers), link
        for shape, k in zip(row["shapes"], numbers, strict=True):
            at = data.oMi[row["body"] + 1].homogeneous @ pose(row) @ pose(shape)
            np.testing.assert_allclose(at, placed.oMg[k].homogeneous, atol=1e-9)
            if shape["kind"] == "mesh":
                ours, theirs = vertices_of(found, shape), geometry.geometryObjects[k].geometry.vertices()
                largest = np.ptp(theirs, axis=0).max()  # what simplification and small parts may change
                np.testing.assert_allclose(ours.min(axis=0), theirs.min(axis=0), atol=0.04 * largest)
                np.testing.assert_allclose(ours.max(axis=0), theirs.max(axis=0), atol=0.04 * largest)


@pytest.mark.parametrize("name", ["panda", "anymal", "solo12"])
def test_meshes_are_those_of_assimp(name: str) -> None:
    """The boxes of whole meshes agree to rounding in single precision, before triangles are removed."""
    path = str(PUBLIC[name])
    model = pin.buildModelFromUrdf(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        geometry = pin.buildGeomFromUrdf(model, path, pin.VISUAL, [path.partition("example-robot-data/")[0]])
    scene = Scene(load_robot(path))
    by_link: dict[str, list[Any]] = {}
    for item in geometry.geometryObjects:
        by_link.setdefault(model.frames[item.parentFrame].name, []).append(item)
    compared = 0
    for link, own in scene.of_links.items():
        for shape, item in zip((x for x in own if x.role == "visual"), by_link.get(link, []), strict=True):
            if shape.kind == "mesh":
                points = [x.surface.vertices[np.unique(x.surface.faces)] for x in scene.parts(shape)]
                ours, theirs = np.concatenate(points) * shape.scale, item.geometry.vertices()
                np.testing.assert_allclose(ours.min(axis=0), theirs.min(axis=0), atol=1e-6)
                np.testing.assert_allclose(ours.max(axis=0), theirs.max(axis=0), atol=1e-6)
                compared += 1
    assert compared > 5


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.floats(0, 10), min_size=4, max_size=4),
    st.lists(st.floats(-3, 3), min_size=6, max_size=6),
)
def test_primitives(tmp_path: Path, sizes: list[float], origin: list[float]) -> None:
    """Every number of a primitive arrives in the data, and the data is JSON."""
    xyz, rpy = (" ".join(map(repr, part)) for part in (origin[:3], origin[3:]))
    a, b, c, r = sizes
    geometries = {
        "box": (f'<box size="{a!r} {b!r} {c!r}"/>', [a, b, c]),
        "sphere": (f'<sphere radius="{r!r}"/>', [r]),
        "cylinder": (f'<cylinder radius="{r!r}" length="{a!r}"/>', [r, a]),
        "capsule": (f'<capsule radius="{r!r}" length="{a!r}"/>', [r, a]),
    }
    link = "".join(visual(text, f'<origin xyz="{xyz}" rpy="{rpy}"/>') for text, _ in geometries.values())
    found = drawn(loaded(tmp_path, link))
    (base, arm) = json.loads(json.dumps(found.links))
    assert (base["name"], base["body"], base["merged"], base["shapes"]) == ("base", -1, True, [])
    assert (arm["name"], arm["body"], arm["merged"]) == ("arm", 0, False)
    expected = pin.SE3(pin.rpy.rpyToMatrix(*origin[3:]), np.array(origin[:3])).homogeneous
    for shape, (kind, (_, size)) in zip(arm["shapes"], geometries.items(), strict=True):
        assert set(shape) == {"kind", "R", "p", "size", "color"}
        assert (shape["kind"], shape["size"], shape["color"]) == (kind, size, None)
        np.testing.assert_allclose(pose(shape), expected, atol=1e-15)


def test_links_that_are_merged_keep_their_place(tmp_path: Path) -> None:
    tool = (
        f'<link name="tool">{visual(BOX)}</link><joint name="t" type="fixed"><parent link="arm"/>'
        '<child link="tool"/><origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/></joint>'
    )
    row = drawn(loaded(tmp_path, "", tool)).links[2]
    assert (row["name"], row["body"], row["merged"], row["p"]) == ("tool", 0, True, [1, 2, 3])
    assert row["R"] == [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    assert len(row["shapes"]) == 1


def test_shapes_for_collision_replace_missing_ones(tmp_path: Path) -> None:
    collision = f"<collision><geometry>{BOX}</geometry></collision>"
    sphere = '<sphere radius="1"/>'
    kinds = [
        [x["kind"] for x in drawn(loaded(tmp_path, link)).links[1]["shapes"]]
        for link in (
            collision,
            collision + visual(sphere),
            collision + visual("<cone/>"),
            collision + visual('<mesh filename="no.stl"/>'),
        )
    ]
    assert kinds == [["box"], ["sphere"], ["box"], ["box"]]


def test_a_mesh_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "t.stl").write_bytes(stl(*TETRAHEDRON))
    mesh = '<mesh filename="t.stl" scale="1 -1 0.5"/>'
    found = drawn(loaded(tmp_path, visual(mesh) + visual('<mesh filename="t.stl"/>')))
    first, second = found.links[1]["shapes"]
    assert set(first) == {"kind", "R", "p", "mesh", "scale", "color"}
    assert (first["kind"], first["mesh"], first["scale"]) == ("mesh", 0, [1, -1, 0.5])
    assert (second["mesh"], second["scale"]) == (0, [1, 1, 1])
    assert (len(found.meshes), found.triangles) == (1, (4, 4))


def test_small_parts_are_small_for_the_robot(tmp_path: Path) -> None:
    """The same file is a large mesh of a small robot; the robot's size includes all of its links."""
    (tmp_path / "b.stl").write_bytes(ball(1) + b"")
    screw = '<mesh filename="b.stl" scale="0.001 0.001 0.001"/>'
    assert drawn(loaded(tmp_path, visual(screw))).triangles == (80, 80)
    both = tmp_path / "both.stl"
    large = np.frombuffer(ball(1)[84:], np.uint8).reshape(-1, 50)
    small = large.copy()
    values = small[:, :48].copy().view("<f4")
    small[:, :48] = (values * np.float32(0.002) + np.float32(3)).view(np.uint8)
    both.write_bytes(ball(1)[:80] + (160).to_bytes(4, "little") + large.tobytes() + small.tobytes())
    assert drawn(loaded(tmp_path, visual('<mesh filename="both.stl"/>'))).triangles == (160, 80)


def test_what_is_missing_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "bad.stl").write_bytes(b"bad")
    link = visual('<mesh filename="bad.stl"/>') * 3 + visual('<mesh filename="no.stl"/>') + visual(BOX)
    found = drawn(loaded(tmp_path, link))
    assert [x["kind"] for x in found.links[1]["shapes"]] == ["box"]
    first, second = found.missing
    assert first.startswith(f"{tmp_path}/robot.urdf:2: link 'arm': mesh 'bad.stl': it ")
    assert second == (
        f"{tmp_path}/robot.urdf:2: link 'arm': mesh 'no.stl': there is no such file; check the name, or set "
        "ROS_PACKAGE_PATH"
    )


def test_planes_are_left_to_the_page(tmp_path: Path) -> None:
    (tmp_path / "r.xml").write_text(
        '<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/><body name="b"><joint/>'
        '<geom size="1"/></body></worldbody></mujoco>'
    )
    found = drawn(load_robot(tmp_path / "r.xml"))
    assert [[x["kind"] for x in row["shapes"]] for row in found.links] == [[], ["sphere"]]
    told = "link 'world': a plane is not drawn; the page has a floor of its own"
    assert found.missing == [f"{tmp_path}/r.xml:1: {told}"]


def test_a_mesh_of_mujoco(tmp_path: Path) -> None:
    (tmp_path / "b.stl").write_bytes(ball(2))
    (tmp_path / "r.xml").write_text(
        '<mujoco><asset><mesh name="b" file="b.stl"/></asset><worldbody><body name="b"><joint/>'
        '<geom type="mesh" mesh="b" rgba="1 0 0 1"/></body></worldbody></mujoco>'
    )
    found = drawn(load_robot(tmp_path / "r.xml"), triangles=100)
    (shape,) = found.links[1]["shapes"]
    assert (shape["mesh"], shape["scale"], shape["color"]) == (0, [1, 1, 1], [1, 0, 0, 1])
    assert found.triangles[0] == 320
    assert 80 <= found.triangles[1] <= 100
    assert found.missing == []


def test_without_the_extra_only_primitives_are_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.stl").write_bytes(stl(*TETRAHEDRON))
    monkeypatch.setattr(shapes, "can_be_drawn", lambda: False)
    collision = f"<collision><geometry>{BOX}</geometry></collision>"
    found = drawn(loaded(tmp_path, visual('<mesh filename="t.stl"/>') + collision))
    assert [x["kind"] for x in found.links[1]["shapes"]] == ["box"]
    (line,) = found.missing
    told = "its meshes (1 file) are not drawn, which takes two more packages; pip install 'rbdgen[show]'"
    assert line == f"{tmp_path}/robot.urdf: {told}"


def test_shapes_can_be_left_out(tmp_path: Path) -> None:
    found = drawn(loaded(tmp_path, visual('<mesh filename="no.stl"/>')), shapes=False)
    assert [row["shapes"] for row in found.links] == [[], []]
    assert (found.meshes, found.blob, found.missing, found.triangles) == ([], b"", [], (0, 0))


@pytest.mark.parametrize("triangles", [0, -1, 1.5, math.nan, "many", None, True])
def test_a_wrong_number_of_triangles(tmp_path: Path, triangles: Any) -> None:
    with pytest.raises(
        OptionError, match=r"^triangles .* is not a number of triangles; give a positive one$"
    ):
        drawn(loaded(tmp_path, ""), triangles=triangles)


def test_a_robot_without_a_file_has_links_alone(tmp_path: Path) -> None:
    robot = loaded(tmp_path, visual(BOX))
    found = drawn(replace(robot, description=replace(robot.description, file=None)))
    assert [row["shapes"] for row in found.links] == [[], []]


def test_the_same_robot_gives_the_same_bytes() -> None:
    first, second = (drawn(load_robot(PUBLIC["hyq"]), triangles=3000) for _ in range(2))
    assert first == second
    assert len(first.blob) > 10_000
