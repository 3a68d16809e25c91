"""Finds the folder of a ROS package without ROS: above the file that names it, or by ROS's variables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from rbdgen.description.document import parse, read_bytes
from rbdgen.description.quoting import quoted
from rbdgen.errors import DescriptionError
from rbdgen.options import environment_packages

_NAME = re.compile(r"[A-Za-z0-9_-]+")


def find_package(name: str, start: Path) -> Path:
    """The folder of the package that a file in the folder `start` names.

    A package is a folder with a `package.xml` that contains its name. The search covers `start` and the
    folders above it, then the folders of ROS_PACKAGE_PATH, with up to two levels below each of them, then
    `share/NAME` in the folders of AMENT_PREFIX_PATH. Raises DescriptionError if the package is not found.
    """
    sources, installed = environment_packages()
    if _NAME.fullmatch(name):
        here = start.resolve()
        for folder in (here, *here.parents, *sources):
            for candidate in _candidates(folder.resolve(), name):
                if _named(candidate, name):
                    return candidate
        for prefix in installed:
            if (share := prefix.resolve() / "share" / name).is_dir():
                return share
    raise DescriptionError(
        str(start),
        None,
        f"no package.xml of package {quoted(name)} in this folder or above it",
        "set ROS_PACKAGE_PATH to the folder that holds the package",
    )


def _candidates(folder: Path, name: str) -> Iterator[Path]:
    yield folder
    yield folder / name
    yield from sorted(folder.glob(f"*/{name}"))


def _named(folder: Path, name: str) -> bool:
    """Whether this folder has a `package.xml` with this name."""
    return package_in(folder) == name


def package_in(folder: Path) -> str | None:
    """The name in the `package.xml` of this folder; None if it has none, or none that can be read."""
    file = folder / "package.xml"
    if not file.is_file():
        return None
    try:
        root = parse(read_bytes(str(file)), str(file)).root
    except DescriptionError:  # an unreadable package.xml of another package must not stop the search
        return None
    return (root.findtext("name") or "").strip() or None


def packages_around(folder: Path) -> Iterator[tuple[str, Path]]:
    """The packages that a folder is in, by name, the innermost first."""
    for above in (folder, *folder.parents):
        if (name := package_in(above)) is not None:
            yield name, above
