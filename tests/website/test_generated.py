"""Pages that are made from the sources are those that the sources give now."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import rbdgen
from rbdgen.cli.parsers import PARSERS
from rbdgen.functions.table import ALL
from website.counts import PINNED, counts
from website.families import FAMILIES
from website.generate import DOCS, pages

PAGES = pages()


@pytest.mark.parametrize("name", PAGES)
def test_pages_are_fresh(name: str) -> None:
    stale = "the page is stale; run python -m website.generate"
    assert (DOCS / name).read_text(encoding="utf-8") == PAGES[name], stale


def test_no_page_is_left_over() -> None:
    """A page whose family has gone is removed by hand."""
    assert {f"algorithms/{path.name}" for path in (DOCS / "algorithms").iterdir()} < set(PAGES)


def test_every_function_has_one_section() -> None:
    names = [name for family in FAMILIES for name in family.names]
    assert sorted(names) == sorted(ALL)
    made = "".join(PAGES.values())
    for row in ALL.values():
        assert made.count(f"## `{row.name}` {{ #{row.name} }}\n") == 1
        section = made.partition(f"## `{row.name}` ")[2].partition("\n## ")[0]
        for x in (*row.signature.inputs, *row.signature.outputs):
            assert f"| `{x.name}` |" in section
        assert all(f"| `{form.name}`" in section for form in row.all_forms)


def test_counts_are_read_from_their_tables() -> None:
    found = {(count.function, count.robot): count for count in counts()}
    arm = found["rnea", "7-dof arm"]
    assert (arm.form, arm.total, arm.kinds) == ("classical", 356, ("189", "155", "0", "0", "12"))
    assert found["com", "7-dof arm"].kinds == ()
    lines = sum(len(path.read_text().splitlines()) for path in PINNED.glob("*.txt"))
    others = re.compile(r"^solver |: humanoid, as traced: |^\w+: composite_moments .*internal", re.MULTILINE)
    left_out = sum(len(others.findall(path.read_text())) for path in PINNED.glob("cont*.txt"))
    rotors = len((PINNED / "with_rotors.txt").read_text().splitlines())
    assert len(list(counts())) == lines - left_out - rotors


def test_counts_of_a_table_that_nobody_knows(tmp_path: Path) -> None:
    """Lines of unknown tables and lines that are no counts are left out."""
    (tmp_path / "other.txt").write_text(
        "rnea: classical (searched): 1 = 1 mul\narm7 rnea: looped (a): 2\n\nnone\n"
    )
    assert [(x.function, x.robot, x.total) for x in counts(tmp_path)] == [("rnea", "7-dof arm", 2)]


def test_every_command_and_option_is_told() -> None:
    text = PAGES["reference/command-line.md"]
    for name, parser_of in PARSERS.items():
        if name == "guide":
            continue
        parser = parser_of()
        section = text.partition(f"## `{parser.prog}` {{")[2].partition("\n## ")[0]
        for action in parser._actions:
            assert all(flag in section for flag in action.option_strings)
    assert "SUPPRESS" not in text
    assert "%(" not in text


def test_every_public_name_is_told() -> None:
    told = re.findall(
        r"^::: rbdgen\.(\w+)$", (DOCS / "reference/python.md").read_text(encoding="utf-8"), re.M
    )
    assert sorted(told) == sorted(set(rbdgen.__all__) - {"__version__"})
