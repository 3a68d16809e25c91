"""A real browser that opens pages from files, without a network."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

needs_browser = pytest.mark.skipif(
    CHROMIUM is None and not os.environ.get("CI"), reason="there is no Chromium: apt install chromium"
)

ARGUMENTS = [
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--hide-scrollbars",
]


@dataclass
class Opened:
    """A page in the browser, with the errors and the requests to a network that it made."""

    tab: Any
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def run(self, script: str) -> Any:
        return self.tab.evaluate(script)


@contextmanager
def browsers() -> Iterator[Callable[..., Any]]:
    """A function that starts headless Chromium, which draws in software, with further arguments."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415  (only where there is a browser)

    assert CHROMIUM is not None, "there is no Chromium: apt install chromium"
    with sync_playwright() as playwright:
        started = []

        def launch(*arguments: str) -> Any:
            started.append(
                playwright.chromium.launch(executable_path=CHROMIUM, args=[*ARGUMENTS, *arguments])
            )
            return started[-1]

        yield launch
        for one in started:
            one.close()


@contextmanager
def opened(started: Any, page: Path, scheme: str = "light", width: int = 1440) -> Iterator[Opened]:
    """A page of `rbdgen show` that is ready, in a browser that is offline."""
    context = started.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True, reduced_motion="reduce"
    )
    tab = context.new_page()
    found = Opened(tab)
    tab.on("pageerror", lambda error: found.errors.append(str(error)))
    tab.on("console", lambda said: found.errors.append(said.text) if said.type == "error" else None)
    tab.on(
        "request", lambda asked: found.requests.append(asked.url) if asked.url.startswith("http") else None
    )
    tab.goto(page.as_uri())
    tab.wait_for_function("window.rbdgenShow?.ready || window.rbdgenShow?.failed", timeout=120_000)
    yield found
    context.close()
