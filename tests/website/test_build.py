"""The site is made of the pages and the pictures that they show, and asks no other host for anything."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from website.build import ROOT, SiteError, build, stage, without_network


def page(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_pictures_of_examples_come_along(tmp_path: Path) -> None:
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "a.png").write_bytes(b"picture")
    page(tmp_path / "docs", "one.md", "![A](../examples/a.png)")
    page(tmp_path / "docs", "start/two.md", "![A](../../examples/a.png) [one](../one.md)")
    stage(tmp_path / "docs", tmp_path / "pages")
    assert (tmp_path / "pages/examples/a.png").read_bytes() == b"picture"
    assert (tmp_path / "pages/one.md").read_text() == "![A](examples/a.png)"
    assert (tmp_path / "pages/start/two.md").read_text() == "![A](../examples/a.png) [one](../one.md)"


@pytest.mark.parametrize("known", [True, False])
def test_a_robot_is_shown_if_there_is_a_command_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, known: bool
) -> None:
    monkeypatch.setattr("website.build.PARSERS", {"show": None} if known else {})
    page(tmp_path / "docs", "index.md", "a <!-- show --> b")
    stage(tmp_path / "docs", tmp_path / "pages")
    assert ("<iframe" in (tmp_path / "pages/index.md").read_text()) is known


def test_a_picture_that_is_missing(tmp_path: Path) -> None:
    page(tmp_path / "docs", "one.md", "![A](../examples/a.png)")
    with pytest.raises(SiteError, match=r"^one\.md: there is no picture examples/a\.png$"):
        stage(tmp_path / "docs", tmp_path / "pages")


def test_the_script_of_another_host_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "assets").mkdir()
    text = '<a href="https://a.org">a</a><script src="https://unpkg.com/iframe-worker/shim"></script>'
    deep = page(tmp_path, "start/one.html", text)
    without_network(tmp_path)
    assert deep.read_text() == text.replace(
        "https://unpkg.com/iframe-worker/shim", "../assets/iframe-worker.js"
    )
    assert (tmp_path / "assets/iframe-worker.js").stat().st_size > 1000


@pytest.mark.parametrize(
    "text",
    [
        '<script defer src="https://a.org/b.js"></script>',
        "<img alt=x src=http://a.org/b.png>",
        '<link rel="stylesheet" href="https://a.org/b.css">',
        '<link href="https://a.org/b.css" rel="stylesheet">',
    ],
)
def test_requests_are_found(tmp_path: Path, text: str) -> None:
    (tmp_path / "assets").mkdir()
    page(tmp_path, "one.html", text)
    with pytest.raises(SiteError, match=r"one\.html: the page asks another host for https?://a\.org/b\."):
        without_network(tmp_path)


def test_a_program_that_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("website.build.SITE", tmp_path / "site")
    monkeypatch.setattr("website.build.PAGES", tmp_path / "pages")
    monkeypatch.setattr("website.build.BUILDERS", {"none": ["rbdgen-no-such-program"]})
    with pytest.raises(SiteError, match=r"^there is no program rbdgen-no-such-program; pip install"):
        build("none")


def test_every_page_is_in_the_navigation() -> None:
    """The builders say so as well; this test needs none of them."""
    listed = re.findall(r": ([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    docs = ROOT / "docs"
    assert sorted(listed) == sorted(str(path.relative_to(docs)) for path in docs.rglob("*.md"))
