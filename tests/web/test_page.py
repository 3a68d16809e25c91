"""The page docs/web.md: its examples print what it shows, and its figures are those that were measured."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from support.web import NODE, WEBASSEMBLY, need, node

from rbdgen.cli import main

ROOT = Path(__file__).parents[2]

PAGE = (ROOT / "docs" / "web.md").read_text(encoding="utf-8")

BLOCKS = re.findall(r"```(\w*)\n(.*?)```", PAGE, re.DOTALL)

RESULTS: dict[str, Any] = {
    name: json.loads((ROOT / "benchmarks" / "results" / f"web_{name}.json").read_text(encoding="utf-8"))
    for name in ("double_pendulum", "arm7", "quadruped12")
}


def test_examples_print_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first block of JavaScript loads the robot, for the next ones too; an error is shown as it is."""
    need(*WEBASSEMBLY, NODE)
    monkeypatch.chdir(tmp_path)
    loading = next(text for kind, text in BLOCKS if kind == "js").partition("\n\nconst { tau }")[0]
    loading = loading.partition("const { tau }")[0]
    assert loading.rstrip().endswith("const robot = await load();")
    shown = 0
    for k, (kind, text) in enumerate(BLOCKS):
        if kind == "" and text.startswith("rbdgen "):
            assert main(shlex.split(text)[1:]) == 0
        elif kind == "js":
            program = tmp_path / f"example{k}.mjs"
            program.write_text(text if text.startswith("import") else loading + text)
            assert node(program) == BLOCKS[k + 1][1]
            shown += 1
        elif text.startswith("TypeError: "):
            call = "robot.rnea({ q: [1, 2, 3], v: [0, 0], a: [0, 0] })"
            program = tmp_path / "wrong.mjs"
            program.write_text(f"{loading}try {{ {call}; }} catch (error) {{ console.log(`${{error}}`); }}")
            assert node(program) == text
    assert shown == 4
    capsys.readouterr()


def told(ns: float) -> str:
    return f"{ns:.0f}"


def test_times_are_those_measured() -> None:
    rows = [
        f"| {name} `{function}` | {told(x['C'])} | {told(x['WebAssembly'])}, {told(x['WebAssembly, plain'])} "
        f"| {told(x['JavaScript'])}, {told(x['JavaScript, plain'])} |"
        for name, found in RESULTS.items()
        for function, x in found["functions"].items()
    ]
    assert PAGE.partition("| function | C | ")[2].partition("\n\n")[0].splitlines()[2:] == rows


def test_sizes_are_those_measured() -> None:
    rows = [
        f"| {name} | {' | '.join(f'{x}' for way in found['bytes'].values() for x in way)} |"
        for name, found in RESULTS.items()
    ]
    assert PAGE.partition("| robot | WebAssembly | ")[2].partition("\n\n")[0].splitlines()[2:] == rows
    assert all(found["node"].startswith("20.") for found in RESULTS.values())
