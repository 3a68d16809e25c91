"""Messages name options as users give them: as arguments in Python, and as flags on the command line."""

from __future__ import annotations

import argparse
import inspect
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import rbdgen
from rbdgen.cli import main
from rbdgen.cli.parsers import PARSERS
from rbdgen.errors import OptionError, RbdgenError, either
from rbdgen.options import Options
from rbdgen.wording import both, choose, near, on_command_line, option


@pytest.mark.parametrize(
    ("name", "value", "python", "shell"),
    [
        ("frames", ["tool0", "foot_*"], "frames=['tool0', 'foot_*']", "--frames 'tool0,foot_*'"),
        ("params", ["mass:*", "gravity"], "params=['mass:*', 'gravity']", "--param 'mass:*' --param gravity"),
        ("variants", {"rnea": "looped"}, "variants={'rnea': 'looped'}", "--variant rnea=looped"),
        ("target", "host", "target='host'", "--target host"),
        ("budget", 3, "budget=3", "--budget-operations 3"),
        ("damping", True, "damping=True", "--damping"),
        ("compiled", False, "compiled=False", "--no-compile"),
        ("contact_sets", None, "contact_sets", "--contact-set"),
        ("name", "a\nb", "name='a\\nb'", "--name 'a\\nb'"),
    ],
)
def test_an_option_in_both_languages(name: str, value: Any, python: str, shell: str) -> None:
    error = OptionError(f"x: {option(name, value)} y")
    assert str(error) == f"x: {python} y"
    assert error.in_shell == f"x: {shell} y"
    assert both(name, value) == f"{python} ({shell})"


def test_several_in_a_message_and_through_a_pickle() -> None:
    error = RbdgenError(f"{either('a', 'b')} {either('', 'c')}d{either('e', '')}")
    assert (str(error), error.in_shell) == ("a de", "b cd")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.in_shell) == ("a de", "b cd")


def test_flags_are_those_of_the_parser() -> None:
    """The flags of arguments are those of the parser of the command line."""
    parser = PARSERS["generate"]()
    known = {flag for action in parser._actions for flag in action.option_strings}
    arguments = {*inspect.signature(rbdgen.load_robot).parameters, *inspect.signature(Options).parameters}
    for name in sorted((arguments | {"out", "compiled"}) - {"path", "gravity"}):
        assert on_command_line(name) in known, name
    assert on_command_line("budget_terms") in {
        flag for action in PARSERS["equations"]()._actions for flag in action.option_strings
    }


MISTAKES: list[tuple[Callable[[], Any], str, list[str], str]] = [
    (
        lambda: rbdgen.load_robot("arm7", frames=["tool0"]),
        "frames=['tool0']: there is no frame 'tool0'",
        ["inspect", "arm7", "--frames", "tool0"],
        "--frames tool0: there is no frame 'tool0'",
    ),
    (
        lambda: rbdgen.build("arm7", ["rnea"], params=["mass:link9"]),
        "params=['mass:link9']: no such parameter; did you mean 'mass:link7'",
        ["arm7", "-f", "rnea", "--param", "mass:link9", "--no-compile"],
        "--param mass:link9: no such parameter",
    ),
    (
        lambda: rbdgen.build("arm7", ["contact_aba"]),
        "function 'contact_aba' needs contacts, which 'arm7' does not have; give contacts=['NAME=LINK'] to "
        "load_robot",
        ["arm7", "-f", "contact_aba", "--no-compile"],
        "does not have; give --contact NAME=LINK\n",
    ),
    (
        lambda: rbdgen.build("arm7", ["rnea"], knots=3),
        "knots is an option of CasADi functions; give emit=['casadi:3']",
        ["arm7", "-f", "rnea", "--knots", "3", "--no-compile"],
        "--knots is an option of CasADi functions; give --emit casadi:3",
    ),
]


@pytest.mark.parametrize(("call", "python", "words", "shell"), MISTAKES)
def test_the_same_mistake_from_both_sides(
    call: Callable[[], Any],
    python: str,
    words: list[str],
    shell: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RbdgenError) as caught:
        call()
    assert python in str(caught.value)
    assert main(words) == 2
    assert shell in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["frames", "contacts", "gravity", "damping", "base", "lock"])
def test_options_of_load_robot_are_not_those_of_build(name: str) -> None:
    with pytest.raises(
        OptionError, match=rf"^{name} is an option of load_robot, not of build; give load_robot"
    ):
        rbdgen.build("arm7", ["rnea"], **{name: ["link7"]})
    with pytest.raises(OptionError, match=rf"^{name} is an option of load_robot, not of generate"):
        rbdgen.generate("arm7", functions=["rnea"], **{name: ["link7"]})


@pytest.mark.parametrize(
    ("given", "meant"),
    [("dtype", "'real'"), ("param", "'params'"), ("trigonometry", "'trig'"), ("variant", "'variants'")],
)
def test_unknown_options_of_build(given: str, meant: str) -> None:
    with pytest.raises(OptionError, match=rf"unknown option '{given}'; did you mean {meant}"):
        rbdgen.build("arm7", ["rnea"], **{given: 1})
    with pytest.raises(OptionError, match="unknown option 'xyz'; choose from: arch, budget"):
        rbdgen.build("arm7", ["rnea"], xyz=1)


def test_what_is_near() -> None:
    known = ["crank_joint", "rocker_joint", "RNEA"]
    assert near("crank", known) == ["crank_joint"]
    assert near("rnea", known) == ["RNEA"]
    assert near("the_rocker_joint_of_it", known) == ["rocker_joint"]
    assert near("", known) == near("ab", known) == near(None, []) == []
    assert choose("zzz", known) == "choose from: crank_joint, rocker_joint, RNEA"


def test_parsers_know_all_commands() -> None:
    assert all(isinstance(make(), argparse.ArgumentParser) for make in PARSERS.values())
