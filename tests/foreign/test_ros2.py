"""The plug-ins for ROS 2 compute the library's torques. Their headers are those of `headers`."""

from __future__ import annotations

import subprocess
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from support.carts import cart_with_a_ball
from support.recipes import recipe
from support.tools import EIGEN, need, own_lines, ran

import rbdgen
from rbdgen.emit.ros2.files import _text
from rbdgen.errors import OptionError

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("ros2")
    return rbdgen.generate("double_pendulum", root, functions=["rnea"], emit=["ros2"], compiled=False)


@pytest.mark.parametrize("older", [False, True])
def test_plugins(folder: Path, tmp_path: Path, *, older: bool) -> None:
    """The solver, its parts, and the controller of the recipe, with the interfaces of newer and older ROS."""
    need("g++", packages="g++")
    (user,) = recipe("ROS 2", "cpp")
    assert own_lines(user) <= 40
    (tmp_path / "user.cpp").write_text(user)
    sources = [p for p in folder.glob("*.c") if "batch" not in p.name and "selftest" not in p.name]
    ran("gcc", "-O1", "-std=c99", "-c", f"-I{folder}", *sources, cwd=tmp_path)
    system = [x for path in (HERE / "headers", EIGEN) for x in ("-isystem", path)]
    own = ["-I.", f"-I{folder}", f"-I{folder / 'ros2' / 'include'}", *(["-DOLDER_ROS"] if older else [])]
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror"]
    programs = [HERE / "ros2.cpp", folder / "ros2" / "src" / "plugins.cpp", *tmp_path.glob("*.o")]
    ran("g++", *flags, *system, *own, *programs, "-o", "check", cwd=tmp_path)
    told = subprocess.run([tmp_path / "check"], capture_output=True, text=True, check=True).stdout
    torques, refused, names, efforts = told.splitlines()
    library = rbdgen.build("double_pendulum", functions=["rnea"])
    q, v = np.array([0.3, -0.7]), np.array([0.1, 0.2])
    exact = library.rnea(q, v, [-1.0, 0.5])
    np.testing.assert_allclose(np.array(torques.split(), float).reshape(2, 2), [exact, exact], rtol=1e-12)
    assert refused == "double_pendulum: a vector has 3 elements, expected 2"
    joints = [(name, kind) for name in library.joint_names for kind in ("position", "velocity")]
    assert names.split() == [f"{x}/{y}" for x, y in joints] + [f"{x}/effort" for x in library.joint_names]
    wanted = 0.2 * np.array([np.sin(0.1), np.cos(0.1), -np.sin(0.1)])  # of the recipe, after 0.1 s
    a = wanted[2] + 400 * wanted[0] + 40 * (wanted[1] - v)
    limits = [joint["effort"] or 1e9 for joint in library.manifest["joints"]]
    expected = np.clip(library.rnea(q, v, a), np.negative(limits), limits)
    np.testing.assert_allclose(np.array(efforts.split(), float), expected, rtol=1e-12)


def test_descriptions(folder: Path) -> None:
    """The descriptions are well-formed, and name the classes of the package and its library."""
    package = ElementTree.parse(folder / "ros2" / "package.xml").getroot()
    assert package.findtext("name") == "double_pendulum_ros2"
    lists = (folder / "ros2" / "CMakeLists.txt").read_text()
    plugins = (folder / "ros2" / "src" / "plugins.cpp").read_text()
    for file in ("solver.xml", "controller.xml"):
        library = ElementTree.parse(folder / "ros2" / file).getroot()
        (described,) = library
        assert library.get("path") == "double_pendulum_ros2"
        assert (
            f"PLUGINLIB_EXPORT_CLASS({described.get('type')}, {described.get('base_class_type')})" in plugins
        )
        assert file in lists
    depends = [x.text for x in package.findall("depend")]
    assert all(f" {name}" in lists for name in depends if name not in ("eigen", "double_pendulum_dynamics"))


def test_names_of_joints() -> None:
    assert _text('a "b"\\?é') == '"a \\042b\\042\\134\\077\\303\\251"'


def test_refused() -> None:
    robot = rbdgen.load_robot(cart_with_a_ball())
    with pytest.raises(OptionError, match="its controller reads one position and one velocity of each joint"):
        rbdgen.generate(robot, functions=["rnea"], emit=["ros2"])
    with pytest.raises(OptionError, match=r"its models compute in double; leave real='float' out$"):
        rbdgen.generate("double_pendulum", emit=["ros2"], real="float")
