"""Builds the documentation site: `python -m website.build`.

The pages in docs/ are copied to build/pages, together with the pictures of examples that they show, and
Zensical or Material for MkDocs makes the folder site/ of them. Both put the address of a script on another
host into every page, which makes searching work from files; it is replaced by the copy in `vendor/`.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from rbdgen.cli.parsers import PARSERS
from website.drawing import in_page

ROOT: Final = Path(__file__).resolve().parents[1]
PAGES: Final = ROOT / "build" / "pages"
SITE: Final = ROOT / "site"
SHIM: Final = Path(__file__).parent / "vendor" / "iframe-worker.js"

BUILDERS: Final = {"zensical": ["zensical", "build", "--strict"], "material": ["mkdocs", "build", "--strict"]}
"""The commands that build the site."""

_OUTSIDE: Final = re.compile(r"(!\[[^\]]*\]\()(?:\.\./)+((?:examples|benchmarks)/[\w./-]+)\)")
"""A picture of a folder beside docs/."""

_DRAWN: Final = re.compile(r"!\[[^\]]*\]\((pictures/\w+\.svg)\)")
"""A picture of `website.pictures`."""

_PLACE: Final = "<!-- show -->"
"""Where Home has a robot in 3D, if the command line can write such a page."""

_SHOWN: Final = "pendulum.html"
_FRAME: Final = (
    f'<iframe class="show" src="{_SHOWN}" title="A double pendulum in 3D" loading="lazy"></iframe>'
)

_REMOTE: Final = re.compile(r'https://unpkg\.com/iframe-worker[^"\']*')

_REQUEST: Final = re.compile(
    r"<(?:script|img|iframe|source|link(?=[^>]*stylesheet))[^>]*?(?:src|href)=[\"']?(https?:[^\"' >]*)"
)
"""An element for which a browser would ask another host."""


class SiteError(Exception):
    """The site cannot be built; the message is one line."""


def stage(docs: Path, pages: Path) -> None:
    """Copies the pages, and the pictures outside of docs/ that they show.

    Raises SiteError if there is no such picture.
    """
    shutil.rmtree(pages, ignore_errors=True)
    shutil.copytree(docs, pages)
    for page in sorted(pages.rglob("*.md")):
        up = "../" * (len(page.relative_to(pages).parts) - 1)
        text = page.read_text(encoding="utf-8")
        for _, picture in _OUTSIDE.findall(text):
            if not (docs.parent / picture).is_file():
                raise SiteError(f"{page.relative_to(pages)}: there is no picture {picture}")
            (pages / picture).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(docs.parent / picture, pages / picture)
        text = text.replace(_PLACE, _FRAME if "show" in PARSERS else "")
        text = _OUTSIDE.sub(rf"\g<1>{up}\g<2>)", text)
        for shown in _DRAWN.finditer(text):
            text = text.replace(shown[0], _drawn(page, shown[1]))
        page.write_text(text, encoding="utf-8")


def _drawn(page: Path, name: str) -> str:
    """The picture as a part of a page, so that it has the colours of the page."""
    path = page.parent / name
    if not path.is_file():
        raise SiteError(f"{page.name}: there is no picture {name}; run python -m website.generate")
    return in_page(path.read_text(encoding="utf-8"))


def without_network(site: Path) -> None:
    """Replaces the script on another host by a file of the site.

    Raises SiteError if a page asks another host for anything else.
    """
    shutil.copyfile(SHIM, site / "assets" / SHIM.name)
    for page in sorted(site.rglob("*.html")):
        text = page.read_text(encoding="utf-8")
        here = "../" * (len(page.relative_to(site).parts) - 1)
        if (changed := _REMOTE.sub(f"{here}assets/{SHIM.name}", text)) != text:
            page.write_text(changed, encoding="utf-8")
        if found := _REQUEST.search(changed):
            raise SiteError(f"{page}: the page asks another host for {found[1]}; put a copy beside the pages")


def build(builder: str) -> None:
    """Builds the site. Raises SiteError if a link leads nowhere, or a page or a program is missing."""
    stage(ROOT / "docs", PAGES)
    shutil.rmtree(SITE, ignore_errors=True)
    program, *arguments = BUILDERS[builder]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    found = shutil.which(program, path=path)
    if found is None:
        raise SiteError(f"there is no program {program}; pip install 'rbdgen[docs]'")
    # Without this variable, Material for MkDocs prints a notice about a future version of MkDocs.
    environment = {**os.environ, "PATH": path, "NO_MKDOCS_2_WARNING": "true"}
    if done := subprocess.run([found, *arguments], cwd=ROOT, env=environment, check=False).returncode:
        raise SiteError(f"{program} ended with {done}; its message is above")
    without_network(SITE)
    if "show" in PARSERS:
        robot = ["show", "double_pendulum", "-o", str(SITE / _SHOWN)]
        if status := subprocess.run([sys.executable, "-m", "rbdgen", *robot], check=False).returncode:
            raise SiteError(f"rbdgen show ended with {status}; its message is above")


def main() -> int:
    parser = argparse.ArgumentParser(description="Builds the documentation site.")
    parser.add_argument("--builder", choices=BUILDERS, default="zensical", help="the program that builds it")
    try:
        build(parser.parse_args().builder)
    except SiteError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
