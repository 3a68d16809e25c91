"""The messages of progress, the displays that show them, and the cases in which none is shown."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from io import StringIO
from pathlib import Path
from threading import Event
from types import SimpleNamespace

import pytest
from rich.console import Console

import rbdgen
from rbdgen.errors import OptionError
from rbdgen.options import Options
from rbdgen.pipeline import shown as module
from rbdgen.pipeline.page import build_library
from rbdgen.pipeline.progress import Compiling, Progress, Report, Stage, silent
from rbdgen.pipeline.robot import load_robot
from rbdgen.pipeline.shown import shown, shown_on


class Seen:
    """A fake terminal, or a pipe, that remembers what is printed."""

    def __init__(self, *, terminal: bool) -> None:
        self.file = StringIO()
        self.console = Console(file=self.file, force_terminal=terminal, force_jupyter=False, width=120)

    @property
    def text(self) -> str:
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.file.getvalue()).replace("\r", "\n")


@pytest.fixture(params=[True, False], ids=["terminal", "pipe"])
def seen(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Seen:
    made = Seen(terminal=request.param)
    monkeypatch.setattr(module, "_console", lambda: made.console)
    return made


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Seen:
    """A terminal on which progress is shown without delay."""
    made = Seen(terminal=True)
    monkeypatch.setattr(module, "_console", lambda: made.console)
    monkeypatch.setattr(module, "_is_seen", lambda: True)
    monkeypatch.setattr(module, "AFTER", 0.0)
    return made


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RBDGEN_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def reports(told: Callable[[Progress], None]) -> list[Report]:
    heard: list[Report] = []
    told(heard.append)
    return heard


def test_a_stage_counts_what_is_done_and_what_the_cache_saved() -> None:
    def told(progress: Progress) -> None:
        stage = Stage(progress, "compiling", 9, 6)
        stage.begins("contact_aba_hvp")
        stage.begins("com")
        stage.ends("com", "compiled com")
        stage.ends("contact_aba_hvp", "compiled contact_aba_hvp")

    assert reports(told) == [
        Report("compiling: 6 of 9 from the cache", "", 6, 9),
        Report("", "compiling contact_aba_hvp, 7 of 9 (6 from the cache)", 6, 9),
        Report("", "compiling com, 7 of 9 (6 from the cache)", 6, 9),
        Report("compiled com", "compiling contact_aba_hvp, 8 of 9 (6 from the cache)", 7, 9),
        Report("compiled contact_aba_hvp", "", 8, 9),
    ]


def test_a_compilation_is_a_stage() -> None:
    def told(progress: Progress) -> None:
        watch = Compiling(progress)
        watch.expects(1)
        watch.begins("rnea")
        watch.ends("rnea", 1.26)

    assert reports(told) == [
        Report("", "compiling rnea, 1 of 1", 0, 1),
        Report("compiled rnea in 1.3 s", "", 1, 1),
    ]


def test_lines_or_a_bar(seen: Seen) -> None:
    for shows in (lambda: shown(True), lambda: shown_on(seen.console)):
        with shows() as progress:
            stage = Stage(progress, "designing", 4, 1)
            stage.begins("[rnea]")
            stage.ends("[rnea]", "designed [rnea]")
        if seen.console.is_terminal:
            assert "designing [rnea], 2 of 4 (1 from the cache)" in seen.text
            assert "rbdgen: " not in seen.text
        else:
            assert seen.text == "rbdgen: designing: 1 of 4 from the cache\nrbdgen: designed [rnea]\n"
        seen.file.seek(0)
        seen.file.truncate()


def test_a_bar_goes_away_and_hides_no_error(terminal: Seen) -> None:
    before = sys.stderr
    with pytest.raises(KeyboardInterrupt), shown() as progress:  # noqa: PT012
        Stage(progress, "compiling", 2).begins("rnea")
        raise KeyboardInterrupt
    assert "compiling rnea, 1 of 2" in terminal.text
    assert terminal.file.getvalue().endswith("\x1b[2K")  # the last line is erased
    assert sys.stderr is before
    progress(Report("late"))
    assert "late" not in terminal.text


def test_nothing_is_shown_of_what_is_quick(terminal: Seen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "AFTER", 1e6)
    with shown() as progress:
        Stage(progress, "compiling", 2).begins("rnea")
    assert terminal.file.getvalue() == ""


def test_what_takes_long_is_shown_by_a_timer(terminal: Seen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "AFTER", 1e-6)
    begun, original = Event(), module._bar

    def bar(console: Console) -> object:
        begun.set()
        return original(console)

    monkeypatch.setattr(module, "_bar", bar)
    with shown() as progress:
        Stage(progress, "compiling", 2).begins("rnea")
        assert begun.wait(60)
    assert "compiling rnea, 1 of 2" in terminal.text


def test_nothing_is_shown_to_nobody(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "AFTER", 0.0)
    for stream in (sys.stderr, None, SimpleNamespace(isatty=lambda: False), SimpleNamespace()):
        monkeypatch.setattr(sys, "stderr", stream)
        with shown() as progress:
            assert progress is silent
    monkeypatch.undo()
    with shown(False) as progress:
        assert progress is silent
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("shell", "widgets", "bar"),
    [
        ("ZMQInteractiveShell", True, True),
        ("ZMQInteractiveShell", False, False),
        ("TerminalInteractiveShell", True, False),
        ("NoneType", True, False),
    ],
)
def test_notebooks(shell: str, widgets: bool, bar: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A notebook that cannot draw a bar shows lines; IPython in a pipe is not a notebook."""
    made = type(shell, (), {})()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: made))
    monkeypatch.setattr(sys, "stderr", StringIO())
    monkeypatch.setattr(module, "find_spec", lambda name: widgets or None)
    assert module._is_seen() is (shell == "ZMQInteractiveShell")
    console = module._console()
    assert console.is_jupyter is bar
    assert not console.is_terminal


@pytest.mark.parametrize("value", [1, "yes", 0.5, math.nan])
def test_other_values_are_refused(value: object) -> None:
    with pytest.raises(
        OptionError, match=r"^progress .* is not one of the choices; give True, False or None$"
    ):
        rbdgen.build("double_pendulum", ["gravity"], progress=value)  # type: ignore[arg-type]


def test_builds_tell_what_they_are_at(empty_cache: Path, terminal: Seen) -> None:
    rbdgen.build("double_pendulum", ["gravity", "com"])
    assert re.search(r"designing (gravity|com), 1 of 2", terminal.text)
    assert re.search(r"compiling (gravity|com), [12] of 2", terminal.text)


def test_generation_tells_too(empty_cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rbdgen.generate("double_pendulum", tmp_path, ["gravity"], progress=True)
    rbdgen.generate_inertia(tmp_path, ["rotated"], progress=True)
    lines = [re.sub(r" in .* s$", "", line) for line in capsys.readouterr().err.splitlines()]
    assert lines == [
        "rbdgen: searched body axes",
        "rbdgen: designed gravity",
        "rbdgen: compiled gravity",
        "rbdgen: designed the operations on inertias",
        "rbdgen: compiled rotated",
    ]


def test_the_second_build_tells_what_was_saved(empty_cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rbdgen.build("double_pendulum", ["gravity", "com"])
    assert capsys.readouterr().err == ""
    rbdgen.build("double_pendulum", ["gravity", "com"], progress=True)
    assert capsys.readouterr().err.splitlines() == [
        "rbdgen: designing: 2 of 2 from the cache",
        "rbdgen: compiling: 2 of 2 from the cache",
    ]


def test_derivatives_that_are_built_later_tell_too(empty_cache: Path) -> None:
    """For every later build, progress is shown as it was requested when the library was built."""
    heard: list[list[Report]] = []

    class Later(AbstractContextManager[Progress]):
        def __enter__(self) -> Progress:
            heard.append([])
            return heard[-1].append

        def __exit__(self, *_: object) -> None:
            heard[-1].append(Report("closed"))

    lib = build_library(load_robot("double_pendulum"), Options(functions=("gravity",)), later=Later)
    assert heard == []
    lib.casadi("gravity")
    told = [report.ended for reports in heard for report in reports]
    assert "designed gravity_jvp" in told or "designed gravity_vjp" in told
    assert any(text.startswith("compiled double_pendulum_gravity") for text in told)
    assert [reports[-1] for reports in heard] == [Report("closed")] * len(heard)


@pytest.fixture(autouse=True)
def _streams() -> Iterator[None]:
    before = sys.stdout, sys.stderr
    yield
    assert (sys.stdout, sys.stderr) == before
