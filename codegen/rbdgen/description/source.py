"""Which file a user means: a path, or the name of a bundled robot."""

from __future__ import annotations

import os
import re
from difflib import get_close_matches
from pathlib import Path

from rbdgen.errors import DescriptionError
from rbdgen.resources import robot_root

_NAME = re.compile(r"[A-Za-z0-9_-]+")
"""A name has no suffix and no folder: `arm7` is one, `arm7.urdf` and `./arm7` are paths."""


def bundled_robots() -> dict[str, Path]:
    """The robots that come with rbdgen, by name."""
    return {path.stem: path for path in sorted(robot_root().glob("*.urdf"))}


def find(source: str | os.PathLike[str]) -> str:
    """The path of a robot file, from its path or from the name of a bundled robot.

    A name that is no file is looked up among the bundled robots; a file of that name goes first, a folder
    does not. Raises DescriptionError for a name that is neither.
    """
    path = os.fspath(source)
    if not _NAME.fullmatch(path) or (Path(path).exists() and not Path(path).is_dir()):
        return path
    robots = bundled_robots()
    if path in robots:
        return str(robots[path])
    if Path(path).is_dir():
        return path
    near = get_close_matches(path, robots, n=1)
    meant = f"did you mean {near[0]}? " if near else ""
    raise DescriptionError(
        path, None, "no such file, and no bundled robot", f"{meant}these are bundled: {', '.join(robots)}"
    )
