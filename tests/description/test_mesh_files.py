"""Files of meshes are found in the folders of the robot and of ROS packages, and nowhere else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rbdgen.description.shapes.mesh_files import MeshFiles
from rbdgen.errors import DescriptionError


def made(path: Path, text: str = "mesh") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path.resolve()


def package(folder: Path, name: str) -> Path:
    made(folder / "package.xml", f"<package><name>{name}</name></package>")
    return folder


def found(robot: Path, name: str) -> Path:
    return MeshFiles(str(robot)).find(name)


def refusal(robot: Path, name: str) -> str:
    with pytest.raises(DescriptionError) as error:
        found(robot, name)
    text = str(error.value)
    assert "\n" not in text
    assert text.startswith("mesh '")
    return text.partition(": ")[2]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder so deep that the search for packages of other tests does not find those in it."""
    return tmp_path / "some" / "where"


MISSING = "there is no such file; check the name, or set ROS_PACKAGE_PATH"

OUTSIDE = "it is outside of the robot's folders; copy it to a folder of the robot"


@pytest.mark.parametrize("scheme", ["package://", "package:///", "model://"])
def test_a_package(place: Path, scheme: str) -> None:
    """The robot's own package, one beside it, and one of ROS_PACKAGE_PATH."""
    own = package(place / "ws/src/arm", "arm_description")
    robot = made(own / "urdf/arm.urdf")
    mesh = made(own / "meshes/a b.stl")
    assert found(robot, f"{scheme}arm_description/meshes/a b.stl") == mesh
    other = made(package(place / "ws/src/hand", "hand") / "meshes/h.stl")
    assert found(robot, f"{scheme}hand/meshes/h.stl") == other
    assert refusal(robot, f"{scheme}foot/meshes/h.stl") == MISSING


def test_a_package_of_ros(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    robot = made(place / "here/arm.urdf")
    mesh = made(package(place / "ros/src/arm", "arm") / "a.stl")
    assert refusal(robot, "package://arm/a.stl") == MISSING
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(place / "ros/src"))
    assert found(robot, "package://arm/a.stl") == mesh
    assert found(robot, f"file://{mesh}") == mesh
    assert found(robot, str(mesh)) == mesh


def test_folders_that_are_no_packages(place: Path) -> None:
    """A folder of the package's name above the robot, or the robot's folder under another name."""
    robot = made(place / "arm/robots/arm.urdf")
    mesh = made(place / "arm/meshes/a.stl")
    assert found(robot, "package://arm/meshes/a.stl") == mesh
    assert found(robot, "package://arm_description/meshes/a.stl") == mesh
    made(place / "meshes/b.stl")
    assert refusal(robot, "package://arm_description/meshes/b.stl") == MISSING


def test_paths(place: Path) -> None:
    robot = made(place / "arm/robots/arm.urdf")
    mesh, near = made(place / "arm/meshes/a.stl"), made(place / "arm/robots/b.stl")
    for name in ("../meshes/a.stl", str(mesh), f"file://{mesh}", "./../robots/../meshes/a.stl"):
        assert found(robot, name) == mesh
    assert found(robot, "b.stl") == near
    assert found(robot, "file://b.stl") == near


@pytest.mark.parametrize("in_package", [False, True])
def test_files_outside_are_refused(place: Path, in_package: bool) -> None:
    home = place / "arm"
    if in_package:
        package(home, "arm")
    robot, secret = made(home / "robots/arm.urdf"), made(place / "secret.stl")
    above = "../" * 30
    for name in (str(secret), f"file://{secret}", "../../secret.stl", f"{above}{str(secret)[1:]}"):
        assert refusal(robot, name) == OUTSIDE, name
    assert refusal(robot, f"package://arm/../../{place.name}/secret.stl") in (OUTSIDE, MISSING)
    assert refusal(robot, "package://arm/../secret.stl") == OUTSIDE
    (home / "meshes").mkdir()
    (home / "meshes/link.stl").symlink_to(secret)
    (home / "meshes/folder").symlink_to(place)
    for name in ("../meshes/link.stl", "package://arm/meshes/link.stl", "../meshes/folder/secret.stl"):
        assert refusal(robot, name) == OUTSIDE, name


@pytest.mark.parametrize("name", ["/etc/passwd", "file:///etc/passwd", "../" * 40 + "etc/passwd"])
def test_files_of_the_system_are_refused(place: Path, name: str) -> None:
    assert refusal(made(place / "arm.urdf"), name) == OUTSIDE


@pytest.mark.parametrize("name", ["package://etc/passwd", "package://x/etc/passwd", "model://../etc/passwd"])
def test_no_package_is_the_root_of_the_system(place: Path, name: str) -> None:
    assert refusal(made(place / "arm.urdf"), name) == MISSING


def test_a_link_to_the_same_package_is_followed(place: Path) -> None:
    """ROS 2 installs a package as links to its source, if it is asked to."""
    source = package(place / "src/arm", "arm")
    mesh = made(source / "meshes/a.stl")
    installed = package(place / "install/share/arm", "arm")
    robot = made(installed / "urdf/arm.urdf")
    (installed / "meshes").symlink_to(source / "meshes")
    assert found(robot, "package://arm/meshes/a.stl") == mesh
    assert found(robot, "../meshes/a.stl") == mesh


@pytest.mark.parametrize(
    "name", ["http://a.example/a.stl", "https://a.example/a.stl", "ftp://a/b", "s3://a/b"]
)
def test_nothing_is_read_from_the_network(place: Path, name: str) -> None:
    told = "it is not a path; give that of a local file: none is read from the network"
    assert refusal(made(place / "arm.urdf"), name) == told


@pytest.mark.parametrize(
    "name", ["x" * 5000, "package://arm/" + "x" * 5000, ".", "..", "package://arm/.", ""]
)
def test_names_that_no_file_has(place: Path, name: str) -> None:
    assert refusal(made(place / "arm/arm.urdf"), name) == MISSING


def test_a_pipe_is_no_file(place: Path) -> None:
    robot = made(place / "arm/arm.urdf")
    os.mkfifo(place / "arm/pipe.stl")
    assert refusal(robot, "pipe.stl") == MISSING
