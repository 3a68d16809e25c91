"""Compiled modules opened from where they lie, without a name among the imported ones."""

from __future__ import annotations

import importlib.machinery
import importlib.util
from pathlib import Path
from types import ModuleType

from ..errors import LoadError


def open_extension(path: Path) -> ModuleType:
    """The extension module in this file; `LoadError` where this Python cannot load it."""
    name = path.name.partition(".")[0]
    try:
        loader = importlib.machinery.ExtensionFileLoader(name, str(path))
        spec = importlib.util.spec_from_file_location(name, path, loader=loader)
        if spec is None:
            raise ImportError("no module specification")
        module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
    except (ImportError, RuntimeError) as error:  # the second: NumPy, where its binary interface differs
        raise LoadError(f"{path}: cannot be loaded here ({error}); generate the folder again") from error
    return module


def open_calls(folder: Path, file: str | None) -> ModuleType | None:
    """The module of quick calls, which fits one version of Python only; None where that is another one."""
    if file is None or not (folder / file).is_file():
        return None
    try:
        return open_extension(folder / file)
    except LoadError:
        return None
