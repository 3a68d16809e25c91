"""A robot is found by its path or by the name of a bundled one."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.robots import BUNDLED

import rbdgen
from rbdgen.description.source import bundled_robots, find


@pytest.fixture(autouse=True)
def _away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs outside of the source tree."""
    monkeypatch.chdir(tmp_path)


def test_every_bundled_robot_has_its_name() -> None:
    assert {name: path.resolve() for name, path in bundled_robots().items()} == BUNDLED


def test_a_bundled_robot_is_loaded_by_name() -> None:
    assert rbdgen.load_robot("double_pendulum").joint_names == ("shoulder", "elbow")


def test_a_file_of_that_name_goes_first() -> None:
    Path("arm7").write_bytes(BUNDLED["double_pendulum"].read_bytes())
    assert rbdgen.load_robot("arm7").model.name == "double_pendulum"


def test_a_folder_of_that_name_does_not() -> None:
    """A folder with the name of a robot, as rbdgen writes it, does not hide the bundled robot."""
    Path("arm7").mkdir()
    assert rbdgen.load_robot("arm7").model.name == "arm7"


@pytest.mark.parametrize("path", ["./arm7", "arm7.urdf", "robots/arm7", "", "a\0b"])
def test_a_path_is_no_name(path: str) -> None:
    assert find(path) == path


@pytest.mark.parametrize("text", ["<robot name='r'/>", "\n<?xml version='1.0'?>\n<mujoco>" + 9999 * " "])
def test_xml_in_place_of_a_path_is_told(text: str) -> None:
    with pytest.raises(rbdgen.RbdgenError, match="is XML and no path; write it to a file") as error:
        rbdgen.load_robot(text)
    assert len(str(error.value)) < 130
    assert "\n" not in str(error.value)
    with pytest.raises(rbdgen.RbdgenError, match="no such file"):
        rbdgen.load_robot("<robot")


@pytest.mark.parametrize(
    ("name", "told"), [("arm", "did you mean arm7?"), ("panda", "these are bundled: arm7, double_pendulum,")]
)
def test_an_unknown_name_lists_those_there_are(name: str, told: str) -> None:
    with pytest.raises(rbdgen.RbdgenError, match=rf"^{name}: no such file, and no bundled robot; ") as error:
        rbdgen.load_robot(name)
    assert told in str(error.value)
