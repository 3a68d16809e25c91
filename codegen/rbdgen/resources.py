"""Finds rbdgen's data files: next to the code in a wheel, or at the top of a source checkout."""

from __future__ import annotations

from pathlib import Path

from rbdgen.errors import RbdgenError


def package_root() -> Path:
    """The folder of rbdgen's own modules."""
    return Path(__file__).resolve().parent


def template_root() -> Path:
    """The folder of the Jinja2 templates."""
    return _root("templates")


def robot_root() -> Path:
    """The folder of the bundled robot descriptions."""
    return _root("robots")


def _root(name: str) -> Path:
    package = package_root()
    for candidate in (package / name, package.parent.parent / name):
        if candidate.is_dir():
            return candidate
    raise RbdgenError(f"{package}: the folder '{name}' is missing; reinstall rbdgen")
