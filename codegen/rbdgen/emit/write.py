"""A generated folder on disk: the old one or the new one, whole, and nothing of the user's is touched.

That is kept whatever ends the process: an error, Ctrl-C, kill -9. What a killed run leaves beside the folder
has a name that says what it is, and the next run into the same parent puts it right:

    .NAME.new-TOKEN     a folder being written: removed
    .NAME.old-TOKEN     the old folder, whole: comes back where NAME is missing, else removed
    .NAME.del-TOKEN     an old folder being removed: removed

This happens under a lock on the parent, so none of them belongs to a run that still lives. Linux exchanges
two names at once on most file systems, then NAME is never missing. Elsewhere it is for an instant.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import secrets
import shutil
import stat
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Final

from rbdgen.emit.package import MANIFEST
from rbdgen.errors import EmitError

_LEAVING: Final = re.compile(r"\.(?P<name>.+)\.(?P<kind>new|old|del)-(?P<token>[0-9a-f]{12})", re.DOTALL)
_COMPILED: Final = re.compile(r"(?P<module>[^.]+)\..*pyc(\.\d+)?")
_AT_FDCWD: Final = -100
_RENAME_EXCHANGE: Final = 2


def write_folder(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Write the files as `folder`; an older folder of rbdgen's there is replaced.

    Where the old folder cannot be removed once the new one stands, a warning says so.

    Raises:
        EmitError: something else stands there, the older folder holds files that rbdgen did not write, or
            the disk refuses; what was there is then as before.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _locked(folder.parent):
            _put_right(folder.parent)
            _replace(folder, files)
    except OSError as error:
        raise EmitError(f"{folder}: {error.strerror or error}; choose another folder with -o") from error


def write_file(path: Path, text: str) -> None:
    """Write a file of its own, whole or not at all; an older file of that name is replaced.

    Raises:
        EmitError: something that is no file stands there, or the disk refuses.
    """
    try:
        path = path.resolve()  # a link stays one
        if path.exists() and not path.is_file():
            raise EmitError(f"{path}: is no file; choose another one with -o")
        new = path.with_name(f".{path.name}.new-{secrets.token_hex(6)}")
        try:
            new.write_text(text, encoding="utf-8")
            new.replace(path)
        finally:
            new.unlink(missing_ok=True)
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or error
        raise EmitError(f"{path}: {reason}; choose another file with -o") from error


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """One process at a time writes into a folder; the lock is on the folder itself and leaves no file."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _replace(folder: Path, files: Mapping[str, str | bytes]) -> None:
    _refuse_foreign(folder)
    token = secrets.token_hex(6)
    new, old, removed = (folder.with_name(f".{folder.name}.{kind}-{token}") for kind in ("new", "old", "del"))
    written = None
    try:
        _write(new, files)
        written = new.stat().st_ino
        _refuse_foreign(folder)  # once more: what came meanwhile is the user's
        if not os.path.lexists(folder):
            new.rename(folder)
        elif _exchange(new, folder):
            new.rename(removed)
        else:
            folder.rename(old)
            new.rename(folder)
    except BaseException:
        if written is None or not os.path.lexists(folder) or folder.lstat().st_ino != written:
            _put_right(folder.parent)
            raise
    with suppress(OSError, KeyboardInterrupt):  # the new folder stands; what is left here is the next run's
        _put_right(folder.parent)


def _write(folder: Path, files: Mapping[str, str | bytes]) -> None:
    folder.mkdir()
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two names at once; False where the system or the file system cannot."""
    rename = _renameat2()
    arguments = (_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE)
    return rename is not None and rename(*arguments) == 0


@cache
def _renameat2() -> Callable[..., int] | None:
    """Linux's, which Python does not offer; None elsewhere."""
    try:
        import ctypes  # noqa: PLC0415  (not every Python has it)

        function = ctypes.CDLL(None).renameat2
    except (ImportError, OSError, AttributeError):
        return None
    function.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    return function


def _put_right(parent: Path) -> None:
    """What killed runs left in a folder: removed, or back in its place. Needs the lock on it."""
    for path in sorted(parent.glob(".*-*")):
        leaving = _LEAVING.fullmatch(path.name)
        if leaving is None or path.is_symlink() or not path.is_dir():
            continue
        try:
            _put_one_right(path, leaving["name"], leaving["kind"], leaving["token"])
        except OSError as error:
            reason = error.strerror or error
            warnings.warn(f"{path}: is left over and stays ({reason}); remove it", stacklevel=2)


def _put_one_right(path: Path, name: str, kind: str, token: str) -> None:
    if kind == "new":
        shutil.rmtree(path)
    elif kind == "old" and not os.path.lexists(path.with_name(name)):
        path.rename(path.with_name(name))
    else:  # renamed first: what is no longer whole must never come back
        _remove(path if kind == "del" else path.rename(path.with_name(f".{name}.del-{token}")))


def _remove(folder: Path) -> None:
    """Delete rbdgen's own files, the manifest that lists them last, and folders that are empty then."""
    listed = _listed(folder / MANIFEST) or frozenset()
    files, folders = _contents(folder)
    for path in sorted(files, key=lambda path: path == folder / MANIFEST):
        if _own(path, folder, listed):
            path.unlink()
    for path in [*folders, folder]:
        path.rmdir()


def _refuse_foreign(folder: Path) -> None:
    """`EmitError` where anything but an older folder of rbdgen's, or an empty one, stands."""
    if not os.path.lexists(folder):
        return
    if folder.is_symlink() or not folder.is_dir():
        raise EmitError(f"{folder}: is not a folder; choose another one with -o or --name")
    files, _ = _contents(folder)
    listed = _listed(folder / MANIFEST)
    if files and listed is None:
        raise EmitError(
            f"{folder}: exists and was not generated by rbdgen; choose another folder with -o or --name"
        )
    for path in sorted(files):
        if not _own(path, folder, listed or frozenset()):
            raise EmitError(
                f"{folder}: holds '{path.relative_to(folder).as_posix()}', which rbdgen did not write; "
                "move it elsewhere first"
            )


def _contents(folder: Path) -> tuple[list[Path], list[Path]]:
    """Everything in a folder: what is no folder, links among it, and the folders, inner ones first."""
    files: list[Path] = []
    folders: list[Path] = []
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            inner_files, inner_folders = _contents(entry)
            files += inner_files
            folders += [*inner_folders, entry]
        else:
            files.append(entry)
    return files, folders


def _own(path: Path, folder: Path, listed: frozenset[str]) -> bool:
    """Whether rbdgen wrote it, or Python, compiling a module that rbdgen wrote. A link is foreign."""
    if not stat.S_ISREG(path.lstat().st_mode):
        return False
    inside = path.relative_to(folder)
    compiled = _COMPILED.fullmatch(inside.name) if inside.parent.name == "__pycache__" else None
    source = inside if compiled is None else inside.parent.parent / f"{compiled['module']}.py"
    return source.as_posix() in listed


def _listed(path: Path) -> frozenset[str] | None:
    """The files that a manifest of rbdgen's lists, all inside its folder."""
    with suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
        manifest = json.loads(path.read_text(encoding="utf-8")) if stat.S_ISREG(path.lstat().st_mode) else {}
        names = frozenset(manifest["files"])
        inside = all(not PurePosixPath(n).is_absolute() and ".." not in PurePosixPath(n).parts for n in names)
        if manifest["generator"] == "rbdgen" and inside:
            return names
    return None
