"""Options for closed loops, and the refusals of wrong ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.functions import OF_CLOSED_LOOPS
from support.linkages import four_bar

import rbdgen
from rbdgen.cli import main
from rbdgen.errors import DescriptionError, ModelError, OptionError
from rbdgen.functions.table import rows_of
from rbdgen.model.model import WORLD


def test_builder_and_option_say_the_same() -> None:
    built = rbdgen.load_robot(four_bar().add_loop("tip", "end", "point"))
    asked = rbdgen.load_robot(four_bar(), loops=["tip=end:point"])
    assert built.model == asked.model
    assert built.model.loops[0].rows == 3
    assert rbdgen.load_robot(four_bar(), loops=["tip=end"]).model.loops[0].rows == 6


def test_the_world_is_a_frame() -> None:
    robot = rbdgen.load_robot(four_bar(), loops=["tip=world"], base="floating")
    assert robot.model.loops[0].second.body == WORLD


@pytest.mark.parametrize(
    ("loop", "said"),
    [
        (
            "tip=ende:point",
            "loops=['tip=ende:point']: a loop of frame 'ende', which does not exist; did you mean ",
        ),
        ("xyz=end", "name links, or the world; rbdgen inspect shows them"),
        ("tip=tip", "loops=['tip=tip']: a loop of frame 'tip' with itself; name two frames"),
        ("tip=coupler", "frames 'tip' and 'coupler' are on one body, so no joint moves this loop"),
        ("ground=plane", "frames 'ground' and 'plane' are on one body"),
    ],
)
def test_impossible_loops_are_refused(loop: str, said: str) -> None:
    with pytest.raises(ModelError) as caught:
        rbdgen.load_robot(four_bar(), loops=[loop])
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("given", ["tip=end", ["tip"], ["=end"], ["tip="], 3])
def test_what_is_no_list_of_loops_is_refused(given: Any) -> None:
    with pytest.raises(OptionError, match=r"hand=handle:point|FRAME1=FRAME2"):
        rbdgen.load_robot(four_bar(), loops=given)


def test_another_kind_is_refused() -> None:
    kind: Any = "line"
    with pytest.raises(DescriptionError, match="kind of the loop is 'line'; give frame or point"):
        four_bar().add_loop("tip", "end", kind)


def test_a_loop_to_what_was_dropped_is_told() -> None:
    robot = rbdgen.load_robot(four_bar().add_loop("tip", "end"), tip="tip")
    assert robot.model.loops == ()
    assert any("'tip' and 'end' goes to a part that was dropped" in text for text in robot.warnings)


def test_only_robots_with_loops_have_the_functions(capsys: pytest.CaptureFixture[str]) -> None:
    plain = rbdgen.load_robot(four_bar())
    assert not set(OF_CLOSED_LOOPS) & set(rows_of(plain.model))
    said = "'loop_drift' needs closed loops, which 'four_bar' does not have; give loops=\\['FRAME1=FRAME2'\\]"
    with pytest.raises(OptionError, match=said):
        rbdgen.build(plain, functions=["loop_drift"])
    with pytest.raises(OptionError, match=said):
        rbdgen.trace(plain, "loop_drift")
    assert main(["list"]) == 0
    printed = capsys.readouterr().out
    assert all(f"{name}(q" in printed for name in OF_CLOSED_LOOPS)


def test_command_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    given = ["double_pendulum", "--loop", "lower=world:point", "-f", "loop_jacobian", "-o", str(tmp_path)]
    assert main([*given, "--no-compile", "-q"]) == 0, capsys.readouterr().err
    assert "loop_jacobian" in (tmp_path / "double_pendulum" / "manifest.json").read_text()


def test_inspect_shows_loops(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", "double_pendulum", "--loop", "lower=world:point"]) == 0
    assert "loop: lower and world stay together (point, 3 rows)" in capsys.readouterr().out
