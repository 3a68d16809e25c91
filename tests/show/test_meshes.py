"""Files of meshes are read within bounds; broken and hostile ones are errors of one line."""

from __future__ import annotations

import builtins
import importlib
import struct
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.shapes import TETRAHEDRON, ball, stl

from rbdgen.description.shapes.shape import Triangles
from rbdgen.errors import DescriptionError
from rbdgen.show import meshes
from rbdgen.show.meshes import Reader, joined

ASCII = "solid a\nfacet normal 0 0 1\nouter loop\n{}endloop\nendfacet\nendsolid a\n"

CORNERS = "vertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n"

OBJ = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\n"


def read(folder: Path, name: str, data: bytes | str) -> Triangles:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    ((color, surface),) = Reader().read(path)
    assert color is None
    return surface


def refusal(folder: Path, name: str, data: bytes | str) -> str:
    with pytest.raises(DescriptionError) as error:
        read(folder, name, data)
    text = str(error.value)
    assert text.isprintable()
    assert text.startswith(f"mesh '{name}':")
    return text


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.stl", stl(TETRAHEDRON[0][:3], [(0, 1, 2)])),
        ("a.STL", ASCII.format(CORNERS)),
        ("a.obj", OBJ + "f 1 2 3\n"),
        ("a.obj", OBJ + "vt 0 0\nvn 0 0 1\nf 1/1/1 2/1/1 -2/1/1\n"),
    ],
)
def test_formats(tmp_path: Path, name: str, data: bytes | str) -> None:
    vertices, faces = read(tmp_path, name, data)
    np.testing.assert_array_equal(vertices[faces].tolist(), [[[0, 0, 0], [1, 0, 0], [0, 1, 0]]])


def test_a_square_of_an_obj_is_two_triangles(tmp_path: Path) -> None:
    assert len(read(tmp_path, "a.obj", OBJ + "f 1 2 4 3\n").faces) == 2


def test_an_obj_does_not_read_other_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its file of materials, which could name pictures in turn, is not opened."""
    (tmp_path / "a.mtl").write_text("newmtl red\nKd 1 0 0\nmap_Kd a.png\n")
    opened: list[str] = []
    real = builtins.open

    def told(file: Any, *args: Any, **options: Any) -> Any:
        opened.append(str(file))
        return real(file, *args, **options)

    monkeypatch.setattr(builtins, "open", told)
    read(tmp_path, "a.obj", "mtllib a.mtl\nusemtl red\n" + OBJ + "f 1 2 3\n")
    assert not [name for name in opened if "a.mtl" in name or ".png" in name]


WHOLE = ball(1)

HUGE_COUNT = bytes(80) + struct.pack("<I", 2**32 - 1) + bytes(100)

HOSTILE: dict[str, tuple[str, bytes | str, str]] = {
    "empty STL": ("a.stl", b"", "it "),
    "empty OBJ": ("a.obj", "", "it "),
    "no triangles": ("a.stl", stl([], []), "it "),
    "truncated STL": ("a.stl", WHOLE[:-30], "it is no sound STL file"),
    "header alone": ("a.stl", WHOLE[:84], "it "),
    "a huge count": ("a.stl", HUGE_COUNT, "it is no sound STL file"),
    "NaN": ("a.stl", stl([(0, 0, 0), (1, 0, 0), (0, float("nan"), 0)], [(0, 1, 2)]), "a coordinate of a"),
    "infinity": (
        "a.stl",
        stl([(0, 0, 0), (1, 0, 0), (0, float("inf"), 0)], [(0, 1, 2)]),
        "a coordinate of a",
    ),
    "far away": ("a.stl", stl([(0, 0, 0), (1, 0, 0), (0, 1e30, 0)], [(0, 1, 2)]), "of at most 1e+09"),
    "wrong words": ("a.stl", ASCII.format("vertex a b c\n" * 3), "it "),
    "binary OBJ": ("a.obj", bytes(range(256)), "it "),
    "an index out of range": ("a.obj", OBJ + "f 1 2 9\n", "it "),
    "an index below the range": ("a.obj", OBJ + "f 1 2 -9\n", "it "),
    "a NaN in an OBJ": ("a.obj", OBJ.replace("1 1 0", "1 nan 0") + "f 1 2 4\n", "a coordinate of a vertex"),
    "an archive": ("a.zae", b"PK", "files of type '.zae' are not read; convert it to STL, OBJ or DAE"),
    "no suffix": ("passwd", b"root", "files of type '' are not read"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_file_is_one_line(tmp_path: Path, what: str) -> None:
    name, data, told = HOSTILE[what]
    assert told in refusal(tmp_path, name, data)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from([".stl", ".obj"]), st.binary(max_size=300), st.integers(0, len(WHOLE)))
def test_any_bytes_are_a_mesh_or_one_line(tmp_path: Path, suffix: str, data: bytes, cut: int) -> None:
    for text in (data, WHOLE[:cut] + data, OBJ.encode() + b"f 1 2 3\n" + data):
        with suppress(DescriptionError):
            vertices, faces = read(tmp_path, f"a{suffix}", text)
            assert np.isfinite(vertices[faces]).all()


def test_an_archive_under_another_name_is_not_unpacked(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.stl", bytes(10_000_000))
    packed = (tmp_path / "a.zip").read_bytes()
    assert len(packed) < 20_000
    assert "no sound STL file" in refusal(tmp_path, "a.stl", packed)


def test_sizes_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.stl").write_bytes(WHOLE)
    monkeypatch.setattr(meshes, "MOST_BYTES", len(WHOLE))
    monkeypatch.setattr(meshes, "MOST_BYTES_OF_ALL", 2 * len(WHOLE) + 1)
    reader = Reader()
    for _ in range(2):
        reader.read(tmp_path / "a.stl")
    with pytest.raises(DescriptionError, match="all meshes together are larger than"):
        reader.read(tmp_path / "a.stl")
    monkeypatch.setattr(meshes, "MOST_BYTES", len(WHOLE) - 1)
    with pytest.raises(DescriptionError, match=r"mesh 'a\.stl': is larger than"):
        Reader().read(tmp_path / "a.stl")


def test_a_huge_file_is_not_read_whole(tmp_path: Path) -> None:
    with (tmp_path / "a.stl").open("wb") as file:
        file.truncate(10**12)  # takes no space on the disk
    with pytest.raises(DescriptionError, match="is larger than 100 MB"):
        Reader().read(tmp_path / "a.stl")


def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    with pytest.raises(DescriptionError, match=r"mesh 'a\.stl': cannot be read \(No such file"):
        Reader().read(tmp_path / "a.stl")


def test_surfaces_of_one_color_are_joined() -> None:
    one = Triangles(np.eye(3), np.array([[0, 1, 2]]))
    none = Triangles(np.eye(3), np.zeros((0, 3), int))
    red = (1.0, 0.0, 0.0, 1.0)
    parts = joined([(red, one), (None, one), (red, none), (red, one)])
    assert [(x.color, len(x.surface.vertices), x.surface.faces.tolist()) for x in parts] == [
        (red, 6, [[0, 1, 2], [3, 4, 5]]),
        (None, 3, [[0, 1, 2]]),
    ]


def test_without_the_extra_the_line_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def refused(name: str, *args: Any, **options: Any) -> Any:
        if name == "trimesh":
            raise ImportError(name)
        return real(name, *args, **options)

    importlib.import_module("trimesh")
    monkeypatch.setattr(builtins, "__import__", refused)
    told = refusal(tmp_path, "a.stl", WHOLE)
    assert told == "mesh 'a.stl': STL files are read by trimesh; pip install 'rbdgen[show]'"
