"""`rbdgen cover` prints a file that `--capsules` reads, always the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.covers import joint, origin, robot, shape

from rbdgen.cli import main
from rbdgen.pipeline.robot import load_robot

BALL = '<sphere radius="0.05"/>'

CYLINDER = '<cylinder radius="0.05" length="0.4"/>'


def arm(folder: Path) -> Path:
    inside = {"a": shape(BALL), "b": shape(CYLINDER, origin((0.0, 0.0, 0.2))), "c": ""}
    return robot(folder, inside, [joint("a", "b"), joint("b", "c")])


PRINTED = """\
[[capsule]]
link = "a"
from = [0, 0, 0]
radius = 0.05
excess_mm = 0

[[capsule]]
link = "b"
from = [0, 0, 0]
to = [0, 0, 0.4]
radius = 0.05
excess_mm = 50
"""


def test_the_printed_file_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cover", str(arm(tmp_path)), "--cover", "cylinder=capsule"]) == 0
    printed = capsys.readouterr()
    assert printed.out == PRINTED
    assert "capsules stand out of the shapes of links by at most: 'b' 50 mm" in printed.err
    file = tmp_path / "capsules.toml"
    file.write_text(printed.out)
    found = load_robot(arm(tmp_path), capsules=file).description.distances
    assert (
        found.capsules
        == load_robot(arm(tmp_path), cover={"cylinder": "capsule"}).description.distances.capsules
    )


def test_options_reach_the_robot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "pairs.txt"
    file.write_text("a lost\n")
    assert main(["inspect", str(arm(tmp_path)), "--pairs", str(file)]) == 2
    assert "pairs.txt:1: there is no link 'lost'" in capsys.readouterr().err
    assert main(["inspect", str(arm(tmp_path)), "--pairs", "srdf"]) == 2
    assert "--pairs srdf needs the pairs of an SRDF; give --srdf FILE" in capsys.readouterr().err
    assert main(["cover", str(arm(tmp_path)), "--shapes", "visual"]) == 2
    assert (
        "its links have no visual shapes; give --shapes collision or --capsules FILE"
        in capsys.readouterr().err
    )
    assert main(["cover", str(arm(tmp_path)), "--cover", "mesh=3"]) == 2
    assert "--cover mesh=3: not a cover of a mesh; choose capsules:K" in capsys.readouterr().err


def test_a_mesh_has_one_capsule_by_default(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m.obj").write_text(
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\nf 2 3 4\nf 1 3 4\n"
    )
    path = robot(tmp_path, {"a": shape('<mesh filename="m.obj"/>'), "b": ""}, [joint("a", "b")])
    printed = []
    for _ in range(2):
        assert main(["cover", str(path)]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]
    assert printed[0].count("[[capsule]]") == 1


def test_inspect_tells_capsules_and_pairs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    links = {"a": shape(BALL), "b": shape(BALL), "c": shape(BALL)}
    path = robot(tmp_path, links, [joint("a", "b"), joint("b", "c", origin((0.0, 0.0, 1.0)))])
    assert main(["inspect", str(path), "--pairs", "auto"]) == 0
    assert (
        "distances: 3 capsules, 0 pairs; left out: 2 neighbours, 1 proved apart\n" in capsys.readouterr().out
    )
    assert main(["inspect", str(path), "--pairs", "all", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["distance_pairs"]
    assert told == {
        "capsules": ["a/0", "b/0", "c/0"],
        "pairs": ["a/0~b/0", "a/0~c/0", "b/0~c/0"],
        "left_out": [],
    }
