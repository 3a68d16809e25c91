"""Natural mistakes in calls do what the user intended, or one line says what to give instead."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from support.robots import BUNDLED

import rbdgen
from rbdgen.cli import main
from rbdgen.errors import RbdgenError, shortened

PENDULUM = "double_pendulum"


def loaded() -> Any:
    return rbdgen.load_robot(PENDULUM)


@pytest.mark.parametrize("robot", [PENDULUM, BUNDLED[PENDULUM]])
def test_a_name_or_a_path_is_loaded(robot: Any, tmp_path: Path) -> None:
    """A name or a path is accepted wherever a robot is an argument."""
    q = [0.3, -0.4]
    expected = rbdgen.build(loaded(), ["gravity"]).gravity(q)
    np.testing.assert_array_equal(rbdgen.build(robot, ["gravity"]).gravity(q), expected)
    found = rbdgen.trace(robot, "gravity")(q).full().ravel()
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    folder = rbdgen.generate(robot, tmp_path, ["gravity"], compiled=False)
    assert folder == tmp_path / PENDULUM
    assert "g" in rbdgen.equations(robot).matrices
    assert rbdgen.build(robot).functions.keys() == rbdgen.build(loaded()).functions.keys()


def test_a_pinocchio_model_is_loaded() -> None:
    """The model keeps its own gravity unless another is given, as with `from_pinocchio`."""
    model = pin.buildModelFromUrdf(str(BUNDLED["arm7"]), pin.JointModelFreeFlyer())
    model.gravity.linear = np.array([0.5, -1.0, -9.0])
    robot = rbdgen.load_robot(model)
    assert robot == rbdgen.from_pinocchio(model)
    assert (robot.base, tuple(robot.model.gravity)) == ("floating", (0.5, -1.0, -9.0))
    changed = rbdgen.load_robot(model, "fixed", gravity=(0, 0, -1), lock={"joint3": 0.1}, tip="link4")
    assert changed.joint_names == ("joint1", "joint2", "joint4")
    assert tuple(changed.model.gravity) == (0, 0, -1)
    assert rbdgen.build(model, ["gravity"]).nq == 14


def test_gravity_of_files_is_the_standard_one() -> None:
    assert tuple(loaded().model.gravity) == (0, 0, -9.81)


LONG = "x" * 100_000

MISTAKES: dict[str, tuple[Callable[[], object], str]] = {
    "no robot": (lambda: rbdgen.build(3, ["rnea"]), "robot 3 is no robot; give what "),  # type: ignore[arg-type]
    "no robot to trace": (lambda: rbdgen.trace(None, "rnea"), "robot None is no robot"),  # type: ignore[arg-type]
    "no function": (lambda: rbdgen.build(PENDULUM, [3]), "functions=[3]: give a list of names"),  # type: ignore[list-item]
    "no functions": (lambda: rbdgen.build(PENDULUM, 3), "functions=3: give a list of names"),  # type: ignore[arg-type]
    "one function": (lambda: rbdgen.build(PENDULUM, "rnea"), "functions='rnea': give a list of names"),
    "functions to trace": (lambda: rbdgen.trace(PENDULUM, ("rnea",)), "function ('rnea',) is not a name"),  # type: ignore[arg-type]
    "no engine": (lambda: rbdgen.trace(PENDULUM, "rnea", []), "unknown engine '[]'"),  # type: ignore[arg-type]
    "no equations": (lambda: rbdgen.equations(PENDULUM, 3), "functions 3 are not a list"),  # type: ignore[arg-type]
    "no name": (lambda: rbdgen.build(PENDULUM, name=3), "name=3: give a text, such as 'my_robot'"),
    "no target": (lambda: rbdgen.build(PENDULUM, target=[]), "target=[]: give a text, such as 'host'"),
    "no flag": (lambda: rbdgen.build(PENDULUM, packed="no"), "packed='no': give True or False"),
    "no parameters": (lambda: rbdgen.build(PENDULUM, params=[3]), "params=[3]: give a list of names"),
    "no form": (lambda: rbdgen.build(PENDULUM, variants={"rnea": 3}), "variants={'rnea': 3}: give a dict"),
    "no folder to load": (lambda: rbdgen.load(None), "None is no folder; give the path"),  # type: ignore[arg-type]
    "no folder": (lambda: rbdgen.generate(PENDULUM, None), "out None is no folder; give its path"),  # type: ignore[arg-type]
    "no folder of inertias": (lambda: rbdgen.generate_inertia(None), "out None is no folder"),  # type: ignore[arg-type]
    "a long path": (lambda: rbdgen.load_robot(LONG), "File name too long"),
    "a long path in folders": (lambda: rbdgen.load_robot("y/" * 50_000), "File name too long"),
    "a long function": (lambda: rbdgen.build(PENDULUM, [LONG]), "unknown function 'xxx"),
    "a long parameter": (lambda: rbdgen.build(PENDULUM, params=[LONG]), "no such parameter"),
    "a parameter of many words": (
        lambda: rbdgen.build(PENDULUM, params=["x " * 50_000]),
        "no such parameter",
    ),
    "a long option": (lambda: rbdgen.build(PENDULUM, **{LONG: 1}), "unknown option 'xxx"),
    "a long loop": (lambda: rbdgen.load_robot(PENDULUM, loops=["x " * 50_000]), "not of the form"),
    "a long set of contacts": (
        lambda: rbdgen.load_robot(PENDULUM, contact_sets={"x" * 5000: ["a"]}),
        "its name has 5000 letters; choose one of at most 60",
    ),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_mistakes_are_one_line(what: str) -> None:
    call, told = MISTAKES[what]
    with pytest.raises(RbdgenError) as error:
        call()
    text = str(error.value)
    assert told in text
    assert "\n" not in text
    assert max(map(len, text.split())) < 310
    assert len(text) < 2010


@pytest.mark.parametrize(
    "option",
    [
        *("--param", "--snap", "--base", "--name", "--out", "--target", "--arch", "--variant", "--lock"),
        *("--contact", "--contact-set", "--xacro-arg", "--frames", "--loop", "--tip", "--armature", "--emit"),
        *("--friction", "--knots", "--ignore", "--independent", "--functions", "--no-such"),
    ],
)
def test_no_option_is_echoed_at_length(
    option: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = [
        PENDULUM,
        "-q",
        "--no-compile",
        option,
        LONG,
        *(["-f", "gravity"] * (option != "--functions")),
    ]
    try:
        status = main(arguments)
    except SystemExit as left:
        status = int(str(left.code))
    [line] = capsys.readouterr().err.splitlines()
    assert status == 2
    assert line.startswith("rbdgen: error: ")
    assert max(map(len, line.split())) < 310


def test_what_is_cut_keeps_its_ends() -> None:
    assert shortened("a short text") == "a short text"
    path = f"/home/{'folder/' * 30}robot.urdf:12: wrong"
    assert shortened(path) == path
    assert shortened(f"--param {'y' * 500}: none; look") == f"--param {'y' * 57}...{'y' * 19}: none; look"
    assert len(shortened("a " * 5000)) == 2000
