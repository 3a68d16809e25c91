"""`rbdgen equations` prints or writes the equations completely, or refuses."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

import rbdgen
from rbdgen.cli import main
from rbdgen.cli.parsers import PARSERS
from rbdgen.emit.write import write_file
from rbdgen.errors import EmitError
from rbdgen.formulas.derive import MOST_TERMS, QUANTITIES
from rbdgen.formulas.symbols import SETS

GOLDEN = Path(__file__).parents[1] / "golden" / "formulas"


@pytest.mark.parametrize(("form", "suffix"), [("text", "txt"), ("latex", "tex"), ("html", "html")])
def test_every_format(form: str, suffix: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expected = (GOLDEN / f"double_pendulum.{suffix}").read_text(encoding="utf-8")
    assert main(["equations", "double_pendulum", "--format", form]) == 0
    assert capsys.readouterr() == (expected, "")
    assert main(["equations", "double_pendulum", "--format", form, "-o", f"equations.{suffix}"]) == 0
    assert capsys.readouterr() == ("", "")
    assert (here / f"equations.{suffix}").read_text(encoding="utf-8") == expected
    assert len(list(here.iterdir())) == 1


def test_functions_and_symbols_are_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [
        "equations",
        "double_pendulum",
        "-f",
        "nle",
        "-f",
        "potential_energy",
        "--symbols",
        "gravity",
    ]
    assert main(arguments) == 0
    printed = capsys.readouterr().out.splitlines()
    assert "h1 = -sin(q2) (2 v1 v2 + v2^2) + g (3/2 sin(q1) + sin(q1 + q2))" in printed
    assert "U = -g (3/2 cos(q1) + cos(q1 + q2))" in printed
    assert "g = 9.81 m/s^2 (gravity, along -z)" in printed
    assert not any(line.startswith(("M", "C", "m1")) for line in printed)


def test_the_help_names_what_can_be_asked_for() -> None:
    parser = PARSERS["equations"]()
    words = " ".join(parser.format_help().split())
    assert all(name in words for name in (*QUANTITIES, *SETS))
    assert parser.get_default("budget_terms") == MOST_TERMS
    default = inspect.signature(rbdgen.equations).parameters["budget_terms"].default
    assert default == MOST_TERMS


def test_an_older_file_is_replaced_and_a_link_stays(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_text("old")
    link.symlink_to(file)
    write_file(link, "new")
    assert link.is_symlink()
    assert file.read_text() == "new"


def test_a_write_that_fails_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.write_text("old")

    def refused(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", refused)
    with pytest.raises(EmitError, match="file: No space left on device; choose another file with -o"):
        write_file(file, "new")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert file.read_text() == "old"
