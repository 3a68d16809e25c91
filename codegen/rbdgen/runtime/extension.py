"""Opens compiled modules by path, without an entry in `sys.modules`."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader
from pathlib import Path
from types import ModuleType

from ..errors import LoadError


def open_extension(path: Path, digest: str) -> ModuleType:
    """The extension module in this file, whose SHA-256 is `digest`.

    Python and the dynamic linker identify an open module by its name and path, and return it even if the file
    has changed since. Therefore the digest is part of the module's name, and of the file's path in a
    generated folder, so that other code is another module. The digest is checked first, as loading a
    truncated file would end the process.

    Raises:
        LoadError: the file is not the one that was built, or this Python cannot load it.
    """
    if not _fits(path.name):
        raise LoadError(
            f"{path}: was compiled for another kind of Python; generate the folder again with this one"
        )
    name = f"_rbdgen_{digest}.{path.name.partition('.')[0]}"
    try:
        if hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            raise LoadError(f"{path}: is not the file that was built; generate the folder again")
        spec = importlib.util.spec_from_file_location(name, path, loader=ExtensionFileLoader(name, str(path)))
        if spec is None or spec.loader is None:
            raise ImportError("no module specification")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    except (OSError, ImportError, RuntimeError) as error:  # RuntimeError: NumPy with another binary interface
        raise LoadError(f"{path}: cannot be loaded here ({error}); generate the folder again") from error
    return module


def _fits(name: str) -> bool:
    """Whether the suffix of a module's file name is one that this Python uses.

    Python opens the file at a given path whatever its suffix, and a module for another Python could end the
    process. For example, objects of a free-threaded Python do not have the layout of the stable ABI.
    """
    free_threaded = "t" in getattr(sys, "abiflags", "")
    bare = (".so", ".pyd", ".dll")
    suffixes = [x for x in EXTENSION_SUFFIXES if x not in bare and not (free_threaded and ".abi3" in x)]
    return name.endswith(tuple(suffixes))


def open_calls(path: Path, digest: str) -> ModuleType | None:
    """The module of quick calls; None if it was compiled for another version of Python."""
    if not path.name.endswith(EXTENSION_SUFFIXES[0]) or not path.is_file():
        return None
    return open_extension(path, digest)
