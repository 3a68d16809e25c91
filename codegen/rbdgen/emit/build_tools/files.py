"""Files that describe a folder to build tools of other people."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from rbdgen.emit.folder import Folder
from rbdgen.emit.text import filled


def files(folder: Folder, tool: str, described: Sequence[str]) -> dict[str, str]:
    """The files for a build tool, by path. Of the robot's description they only have its checked name."""
    return {
        path: filled(f"{tool}/{PurePosixPath(path).name}.jinja", robot=folder.robot, functions=folder.shown)
        for path in described
    }
