"""Files that need more memory or work than a robot should are refused by the numbers in them."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

import rbdgen
from rbdgen.cli import main
from rbdgen.description import mjcf_size

BODY = '<body><joint/><geom size=".1"/></body>'

PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 60_000, 60_000)

LARGE = {
    "a height field": '<asset><hfield name="h" nrow="30000" ncol="30000" size="1 1 1 1"/></asset>',
    "a texture": '<asset><texture name="t" builtin="flat" type="2d" width="50000" height="50000"/></asset>',
    "a texture of a file": '<asset><texture name="t" type="2d" file="t.png"/></asset>',
    "numbers of the user": '<size nuser_geom="1000000000"/>',
    "a mesh that is made": '<asset><mesh name="m" builtin="supersphere" params="30000 30000 1 1"/></asset>',
    "a numeric": '<custom><numeric name="n" size="2000000000"/></custom>',
    "a replica": f'<worldbody><replicate count="100000">{BODY}</replicate></worldbody>',
    "replicas of replicas": f'<worldbody><replicate count="999"><replicate count="999">{BODY}</replicate>'
    "</replicate></worldbody>",
    "a composite": '<worldbody><composite type="cable" count="90000 1 1" size="1"/></worldbody>',
    "a flexcomp": '<worldbody><flexcomp name="f" count="300 300 300" type="grid"/></worldbody>',
    "bodies": f"<worldbody>{BODY * 7000}</worldbody>",
    "an infinite one": '<asset><hfield name="h" nrow="1e400" ncol="2" size="1 1 1 1"/></asset>',
    "an include": '<include file="part.xml"/>',
}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.png").write_bytes(PNG)
    Path("part.xml").write_text(f"<mujoco>{LARGE['a height field']}</mujoco>")


def written(more: str) -> str:
    Path("robot.xml").write_text(f"<mujoco><worldbody>{BODY}</worldbody>\n{more}</mujoco>")
    return "robot.xml"


@pytest.mark.parametrize("what", LARGE)
def test_what_asks_for_too_much_is_refused_before_it_is_compiled(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import mujoco  # noqa: PLC0415

    def compiled(path: str) -> Any:
        pytest.fail(f"{path} was compiled")

    monkeypatch.setattr(mujoco.MjModel, "from_xml_path", compiled)
    with pytest.raises(rbdgen.RbdgenError, match=r"\.xml:[12]: its? .* more than .*bounds=FACTOR") as error:
        rbdgen.load_robot(written(LARGE[what]))
    assert "\n" not in str(error.value)


SMALL = {
    "a height field": '<asset><hfield name="h" nrow="300" ncol="300" size="1 1 1 1"/></asset>',
    "a texture": '<asset><texture name="t" builtin="flat" type="2d" width="512" height="512"/></asset>',
    "replicas": f'<worldbody><replicate count="20" offset=".3 0 0">{BODY}</replicate></worldbody>',
    "numbers of the user": '<size nuser_geom="10" memory="1G"/>',
}


@pytest.mark.parametrize("what", SMALL)
def test_sound_files_are_read(what: str) -> None:
    assert rbdgen.load_robot(written(SMALL[what])).model.nv >= 1


def test_the_bounds_can_be_raised_and_lowered(capsys: pytest.CaptureFixture[str]) -> None:
    path = written(LARGE["replicas of replicas"].replace("999", "30"))
    assert rbdgen.load_robot(path).model.nv == 901
    with pytest.raises(rbdgen.RbdgenError, match="more than 200 elements"):
        rbdgen.load_robot(path, bounds=0.01)
    document = mjcf_size.parse(Path(written(LARGE["a height field"])).read_bytes(), "robot.xml")
    mjcf_size.check_size(document, bounds=20)
    assert main(["inspect", path, "--bounds", "0.01"]) == 2
    assert "--bounds FACTOR" in capsys.readouterr().err


@pytest.mark.parametrize("bounds", [0, -1, float("nan"), float("inf"), "2", None])
def test_bounds_that_are_no_factor(bounds: Any) -> None:
    with pytest.raises(rbdgen.RbdgenError, match="is not a number in range; give a number"):
        rbdgen.load_robot("arm7", bounds=bounds)


def test_the_work_of_a_xacro_is_bounded_by_the_same_factor() -> None:
    text = '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="r"><link name="{}"/></robot>'
    Path("r.xacro").write_text(text.format("${len([k for k in range(90000)])}"))
    with pytest.raises(rbdgen.RbdgenError, match="more than 1,000 steps to evaluate"):
        rbdgen.load_robot("r.xacro", bounds=1e-4)
    with pytest.raises(rbdgen.RbdgenError, match="no moving joint"):
        rbdgen.load_robot("r.xacro")


@pytest.mark.parametrize("name", ["x" * 5000, "y/" * 5000, " ", "."])
@pytest.mark.parametrize("element", ['<include file="{}"/>', '<asset><mesh name="m" file="{}"/></asset>'])
def test_names_that_no_file_has_are_left_to_mujoco(element: str, name: str) -> None:
    with pytest.raises(rbdgen.RbdgenError, match="MuJoCo says"):
        rbdgen.load_robot(written(element.format(name)))
