"""Reads the manifest of a generated folder, and refuses folders whose code cannot be called from Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from ..errors import LoadError, either
from ..signature import MANIFEST_FORMAT

MANIFEST: Final = "manifest.json"


def folder_of(given: object) -> Path:
    """The path of a folder. Raises LoadError unless it is given as a text or a Path."""
    if not isinstance(given, str | Path):
        raise LoadError(f"{given!r} is no folder; give the path of one that was generated and compiled")
    return Path(given)


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a generated folder. Raises LoadError if it is missing or has another format."""
    path = folder / MANIFEST
    try:
        manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        _, written = manifest["name"], manifest.get("format")
    except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
        raise LoadError(_no_manifest(folder, path)) from error
    if written != MANIFEST_FORMAT:
        raise LoadError(
            f"{path}: its format is {written!r}, this rbdgen opens {MANIFEST_FORMAT};"
            " generate the folder again"
        )
    return manifest


def manifest_of(folder: Path) -> dict[str, Any]:
    """The manifest of a compiled folder. Raises LoadError if it is missing, or the folder is not compiled."""
    manifest = read_manifest(folder)
    name, built = manifest["name"], manifest.get("build")
    if "__init__.py" not in manifest.get("files", ()):
        host = either('target="host"', "--target host")
        raise LoadError(
            f"{folder}: '{name}' was generated as C alone, and its self-test checks it (make check); "
            f"generate it with {host} to call it here"
        )
    if built is None:
        raise LoadError(
            f"{folder}: '{name}' has not been compiled; generate it "
            + either("with compiled=True", "without --no-compile")
        )
    return manifest


def _no_manifest(folder: Path, path: Path) -> str:
    """The message that says why a folder without a readable manifest cannot be opened."""
    if folder.is_file():
        return f"{folder}: a file, not a generated folder; rbdgen.load_robot reads descriptions of robots"
    inside = [str(found.parent) for found in sorted(folder.glob("*/manifest.json"))[:3]]
    if inside and not path.exists():
        return f"{folder}: not a generated folder itself; choose {' or '.join(inside)}"
    if not folder.exists():
        return f"{folder}: no such folder; write it with {either('rbdgen.generate', 'rbdgen ROBOT')}"
    return f"{path}: not the manifest of a generated folder; generate it again"
