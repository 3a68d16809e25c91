"""Draws pictures as SVG whose lines and letters have the colour of the text around them.

As a file of its own, a picture follows the scheme of the browser; in a page it follows that of the page.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import escape
from typing import Final

BLUE: Final = "#0072B2"
ORANGE: Final = "#E69F00"
GREEN: Final = "#009E73"
RED: Final = "#D55E00"
"""Colours by Okabe and Ito, which people with any colour vision can tell apart, on light and on dark."""

_ALONE: Final = "<style>svg{color:#1a1a1a}@media (prefers-color-scheme:dark){svg{color:#e6e6e6}}</style>"
"""The colours of a picture that is not part of a page."""


@dataclass
class Drawing:
    """A picture of a width and a height; y points down."""

    title: str
    width: int
    height: int
    _parts: list[str] = field(default_factory=list)

    def line(
        self,
        *points: tuple[float, float],
        color: str = "currentColor",
        width: float = 2,
        dashed: bool = False,
    ) -> None:
        path = " ".join(f"{x:g},{y:g}" for x, y in points)
        dashes = ' stroke-dasharray="5 4"' if dashed else ""
        self._parts.append(
            f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="{width:g}"{dashes} '
            'stroke-linecap="round" stroke-linejoin="round"/>'
        )

    def arrow(
        self,
        start: tuple[float, float],
        end: tuple[float, float],
        color: str = "currentColor",
        width: float = 2,
        dashed: bool = False,
    ) -> None:
        (x0, y0), (x1, y1) = start, end
        length = ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5
        ux, uy = (x1 - x0) / length, (y1 - y0) / length
        neck = (x1 - 8 * ux, y1 - 8 * uy)
        self.line(start, neck, color=color, width=width, dashed=dashed)
        head = (
            (x1, y1),
            (neck[0] - 4.5 * uy, neck[1] + 4.5 * ux),
            (neck[0] + 4.5 * uy, neck[1] - 4.5 * ux),
        )
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in head)
        self._parts.append(f'<polygon points="{points}" fill="{color}"/>')

    def box(self, x: float, y: float, width: float, height: float, color: str, opacity: float = 0.22) -> None:
        self._parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="3" fill="{color}" '
            f'fill-opacity="{opacity:g}" stroke="{color}"/>'
        )

    def dot(
        self, x: float, y: float, radius: float = 5, color: str = "currentColor", hollow: bool = False
    ) -> None:
        fill = "none" if hollow else color
        self._parts.append(
            f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{fill}" stroke="{color}" stroke-width="2"/>'
        )

    def text(
        self, x: float, y: float, words: str, size: float = 13, anchor: str = "start", bold: bool = False
    ) -> None:
        weight = ' font-weight="600"' if bold else ""
        self._parts.append(
            f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" text-anchor="{anchor}"{weight}>'
            f"{escape(words)}</text>"
        )

    @property
    def svg(self) -> str:
        """The picture as a file."""
        title = escape(self.title, quote=True)
        first = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" role="img" '
            f'aria-label="{title}" font-family="Inter, system-ui, sans-serif" fill="currentColor">'
        )
        return "\n".join([first, _ALONE, *self._parts, "</svg>"]) + "\n"


def in_page(svg: str) -> str:
    """The picture as a part of a page, in one line."""
    inside = re.sub(r"<style>.*?</style>", "", svg.replace("\n", ""))
    return f'<figure class="picture" markdown="0">{inside}</figure>'
