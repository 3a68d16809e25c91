"""The examples of every page run in order, and print what the page says; pages name what exists."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from support.pages import DOCS, examples, text_of

import rbdgen
from rbdgen.cli.parsers import PARSERS
from rbdgen.functions.differentiated import MODES
from rbdgen.functions.table import lookup
from rbdgen.functions.whole import WHOLE

PAGES = sorted(str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md"))
VARYING = re.compile(r"\d+(?= iterations)")
"""Numbers that rounding on another processor may change."""


def compiled(code: str, name: str, position: int) -> Any:
    return compile(code, f"<example {position} of {name}>", "exec")


ELSEWHERE = ("recipes.md", "optimal-control.md", "cuda.md")
"""Pages of other tools, whose programs `tests/foreign` runs as far as the tools can be had, and the page of
GPUs, whose examples `tests/emit/test_cuda.py` and `tests/gpu` run."""


@pytest.mark.filterwarnings("ignore")  # warnings of the frameworks
@pytest.mark.parametrize("name", [x for x in PAGES if examples(text_of(x)) and x not in ELSEWHERE])
def test_examples_run_in_order(
    name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Examples of PyTorch are left out where it is not installed; see the test of frameworks."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "robots").symlink_to(DOCS.parent / "robots")  # as in a clone
    names: dict[str, Any] = {"__name__": "__main__"}
    for position, (code, told) in enumerate(examples(text_of(name)), 1):
        if "import torch" in code and find_spec("torch") is None:
            continue
        exec(compiled(code, name, position), names)
        printed = capsys.readouterr().out
        assert VARYING.sub("N", printed) == VARYING.sub("N", told or ""), f"example {position}"


def test_what_an_example_prints_is_found() -> None:
    page = (
        "```python\nprint(1)\n```\n\nprints\n\n```\n1\n```\n\n```python\nx = 1\n```\nC:\n```\nint x;\n```\n"
    )
    assert examples(page) == [("print(1)\n", "1\n"), ("x = 1\n", None)]
    assert examples("no examples, `python`") == []


# ---- names

OWN = {"own-functions.md": {"cost"}, "functions.md": {"terms"}}
"""The names of functions that a page speaks of without defining them."""

ACTIONS = [action for parser_of in PARSERS.values() for action in parser_of()._actions]
PROGRAMS = "".join(path.read_text(encoding="utf-8") for path in DOCS.parent.glob("examples/**/*.py"))
FLAGS = {flag for action in ACTIONS for flag in action.option_strings} | {
    *re.findall(r'add_argument\(\s*"(--[\w-]+)"', PROGRAMS)
}
"""The options of all commands and examples."""


def known_function(name: str) -> bool:
    """Whether a robot can have a function of this name, as far as the name tells."""
    try:
        return bool(lookup(name))
    except rbdgen.RbdgenError:
        return False


def own_names(text: str) -> set[str]:
    """The names of own functions and of contact sets that a page defines."""
    code = "\n".join(code for code, _ in examples(text))
    return {
        *re.findall(r"^def (\w+)", code, re.MULTILINE),
        *re.findall(r'(?:name=|casadi.Function\()"(\w+)"', code),
    }


@pytest.fixture(scope="module")
def attributes() -> set[str]:
    """The names that every library has."""
    return set(dir(rbdgen.build("double_pendulum", ["gravity"], params=["gravity"])))


@pytest.mark.parametrize("name", PAGES)
def test_functions_that_are_named_exist(name: str, attributes: set[str]) -> None:
    """NAME stands for any name."""
    text = text_of(name)
    own = {*own_names(text), *attributes, "NAME", *OWN.get(name, ())}
    unknown = []
    for called in re.findall(r"\blib\.(?:jax\.|torch\.)?(\w+)", text):
        of = re.sub(f"(_({'|'.join((*MODES, *WHOLE))}))+$", "", called)
        if not (known_function(called) or of in own):
            unknown.append(called)
    assert unknown == []


@pytest.mark.parametrize("name", PAGES)
def test_names_of_the_package_exist(name: str) -> None:
    used = set(re.findall(r"\brbdgen\.([a-z_A-Z]\w*)", text_of(name)))
    unknown = used - set(rbdgen.__all__) - {"fish"}  # a file
    assert [name for name in unknown if find_spec(f"rbdgen.{name}") is None] == []


@pytest.mark.parametrize("name", PAGES)
def test_options_that_are_named_exist(name: str) -> None:
    """Options of other programs stand in lines that begin with the program."""
    lines = [
        line
        for line in text_of(name).splitlines()
        if not re.search(r"\b(pip|gcc|make|cmake|clang|apt|python|nvcc)\b", line)
    ]
    used = set(re.findall(r"(?<![\w-])--[a-z][\w-]*", "\n".join(lines)))
    assert used - FLAGS == set()
