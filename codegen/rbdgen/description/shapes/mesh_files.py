"""Finds the files of meshes that a URDF names, in the folders of the robot and of ROS packages only.

A description may come from anywhere, so it must not make rbdgen read any other file: no file is read from the
network, and none outside of these folders, not even through a symbolic link. A link to another folder of the
same package is followed, because that is how ROS 2 installs packages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from rbdgen.description.packages import find_package, packages_around
from rbdgen.description.quoting import quoted
from rbdgen.errors import DescriptionError

_OF_PACKAGES: Final = ("package://", "model://")

_PACKAGE: Final = re.compile(r"[a-z]+://+([A-Za-z0-9_.-]*[A-Za-z0-9_-])/(.+)")

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


class MeshFiles:
    """The files of meshes of one description."""

    def __init__(self, path: str | None) -> None:
        """`path` is the absolute path of the description; None stands for a robot that is built in Python,
        whose program chooses its files itself, so that they may be anywhere on this machine."""
        self._folder = Path.cwd() if path is None else Path(path).resolve().parent
        self._above = [x for x in (self._folder, *self._folder.parents) if x != x.parent]
        self._home = next(
            (x for _, x in packages_around(self._folder)), (self._above or [self._folder])[:2][-1]
        )
        if path is None:
            self._home = Path(self._folder.anchor)
        self._packages: dict[str, Path | None] = {}

    def find(self, name: str) -> Path:
        """The file that a description names.

        `package://NAME/REST` and `model://NAME/REST` are searched for in the ROS package of this name, then
        in folders of this name in the robot's folder and those above it, and then as REST in the robot's
        folder and those above it up to its home, since a package may be in a folder of another name. The home
        of a robot is its package; if it is in none, it is the folder above the robot's. Any other name is a
        path, absolute or relative to the robot's folder, to a file in its home or in a package.

        Raises DescriptionError if there is no such file, or if it is in none of these folders.
        """
        try:
            for root, path in self._candidates(name):
                if path.is_file():
                    return self._checked(name, root.resolve(), path.resolve())
        except (OSError, ValueError):  # a name that no file can have
            pass
        raise _error(name, "there is no such file", "check the name, or set ROS_PACKAGE_PATH")

    def _candidates(self, name: str) -> Iterator[tuple[Path, Path]]:
        """The paths that a name may stand for, each with the folder that it must stay inside."""
        if name.startswith(_OF_PACKAGES):
            if found := _PACKAGE.fullmatch(name):
                for root in self._roots(found[1]):
                    yield root, root / found[2].lstrip("/")
            return
        path = name.removeprefix("file://")
        if _SCHEME.match(path):
            raise _error(name, "it is not a path", "give that of a local file: none is read from the network")
        yield self._home, self._folder / path

    def _roots(self, package: str) -> Iterator[Path]:
        if (known := self._package(package)) is not None:
            yield known
        yield from (folder / package for folder in self._above)
        yield from (folder for folder in self._above if folder.is_relative_to(self._home))

    def _package(self, name: str) -> Path | None:
        """The folder of the package of this name; None if the search does not find it."""
        if name not in self._packages:
            try:
                self._packages[name] = find_package(name, self._folder)
            except DescriptionError:
                self._packages[name] = None
        return self._packages[name]

    def _checked(self, name: str, root: Path, path: Path) -> Path:
        """The path itself, without symbolic links. Raises DescriptionError if it is neither in `root` nor in
        a package that the search finds."""
        if path.is_relative_to(root) or any(self._package(x) for x, _ in packages_around(path.parent)):
            return path
        raise _error(name, "it is outside of the robot's folders", "copy it to a folder of the robot")


def _error(name: str, what: str, what_to_do: str) -> DescriptionError:
    return DescriptionError(f"mesh {quoted(name)}", None, what, what_to_do)
