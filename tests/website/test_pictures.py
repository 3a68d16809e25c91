"""Pictures are small, hold nothing from outside, and follow the colours of the page."""

from __future__ import annotations

from pathlib import Path

import pytest
from lxml import etree
from support.pages import DOCS

from website.build import SiteError, stage
from website.drawing import Drawing, in_page
from website.pictures import PICTURES, pictures


@pytest.mark.parametrize("name", PICTURES)
def test_everything_is_inside_of_the_picture(name: str) -> None:
    drawing = PICTURES[name]()
    root = etree.fromstring(drawing.svg.encode())
    for element in root.iter("{*}text", "{*}rect", "{*}circle"):
        x, y = (float(element.get(a) or element.get(f"c{a}") or "nan") for a in "xy")
        assert 0 <= x <= drawing.width
        assert 0 <= y <= drawing.height
        width = float(element.get("width") or 0) or 0.55 * float(element.get("font-size") or 0) * len(
            element.text or ""
        )
        start = x - {"middle": width / 2, "end": width}.get(element.get("text-anchor") or "", 0.0)
        assert start >= 0
        assert start + width <= drawing.width, element.text
    assert len(drawing.svg) < 60_000


def test_every_picture_is_shown() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in (DOCS / "concepts").glob("*.md"))
    assert [name for name in PICTURES if f"](pictures/{name}.svg)" not in text] == []
    assert {path.name for path in (DOCS / "concepts/pictures").iterdir()} == {
        Path(x).name for x in pictures()
    }


def test_titles_and_words_are_escaped() -> None:
    drawing = Drawing('<a "b">', 10, 10)
    drawing.text(1, 1, "<script>")
    assert etree.fromstring(drawing.svg.encode()).get("aria-label") == '<a "b">'
    assert "<script>" not in drawing.svg
    assert "<style>" not in in_page(drawing.svg)
    assert "\n" not in in_page(drawing.svg)


def test_pictures_are_part_of_the_page(tmp_path: Path) -> None:
    (tmp_path / "docs" / "pictures").mkdir(parents=True)
    (tmp_path / "docs" / "one.md").write_text("![A](pictures/a.svg)")
    with pytest.raises(SiteError, match=r"^one\.md: there is no picture pictures/a\.svg; run "):
        stage(tmp_path / "docs", tmp_path / "pages")
    (tmp_path / "docs/pictures/a.svg").write_text(Drawing("A", 10, 10).svg)
    stage(tmp_path / "docs", tmp_path / "pages")
    assert (tmp_path / "pages/one.md").read_text().startswith('<figure class="picture"')
