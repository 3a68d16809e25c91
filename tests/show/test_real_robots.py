"""Pages of all robots of example-robot-data are made, are small, and open in a browser without an error."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from support.browser import browsers, needs_browser, opened
from support.robots import PUBLIC_FOLDER

import rbdgen
from rbdgen.errors import RbdgenError
from rbdgen.model.robot import Robot

FILES = {path.relative_to(PUBLIC_FOLDER).as_posix(): path for path in sorted(PUBLIC_FOLDER.rglob("*.urdf"))}

REFUSED = {
    "ur_description/urdf/ur3.urdf": "name",
    "romeo_description/urdf/romeo.urdf": "nothing resists joint",
    "romeo_description/urdf/romeo_laas_small.urdf": "nothing resists joint",
}
"""The robots without a name, or with fingers without mass, which are refused in these words."""

OPTIONS: tuple[Mapping[str, Any], ...] = ({}, {"base": "floating"}, {"mimic": "independent"})
"""What a robot may need: some have no joint, and some have followers that nothing resists."""

MOST_BYTES = 2_000_000


def read(path: Path) -> Robot:
    """The robot, by the first of `OPTIONS` with which it can be read."""
    for options in OPTIONS:
        with suppress(RbdgenError):
            return rbdgen.load_robot(path, **options)
    return rbdgen.load_robot(path)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Callable[..., Any]]:
    with browsers() as launch:
        yield launch()


@pytest.mark.campaign
@needs_browser
@pytest.mark.parametrize("name", FILES)
def test_its_page(name: str, chromium: Any, tmp_path: Path) -> None:
    if name in REFUSED:
        with pytest.raises(RbdgenError, match=REFUSED[name]):
            read(FILES[name])
        return
    page = read(FILES[name]).show()
    assert len(page.text.encode()) < MOST_BYTES
    with opened(chromium, page.save(tmp_path / "page.html")) as seen:
        assert seen.run("rbdgenShow.failed") is None
        picture = seen.tab.locator("#canvas").screenshot()
        assert len(picture) > 8_000, "the picture is empty"
        seen.run("for (const mode of ['free', 'pose']) rbdgenShow.setMode(mode)")
        assert seen.run("[...rbdgenShow.q].every(Number.isFinite)")
        assert (seen.errors, seen.requests) == ([], [])
