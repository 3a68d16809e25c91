"""A generated folder on disk: it is replaced whole or not at all, and files of the user are never touched.

This holds however the process ends: by an error, Ctrl-C or kill -9. A run that is killed may leave folders
behind whose names say what they are, and the next run with the same parent folder repairs this:

    .NAME.new-TOKEN     a folder being written; it is removed
    .NAME.old-TOKEN     the old folder, whole; it is renamed to NAME if NAME is missing, else removed
    .NAME.del-TOKEN     an old folder being removed; it is removed

The repair holds a lock on the parent, so none of these folders belongs to a run that is still alive. On most
file systems Linux exchanges two names atomically, and NAME is never missing. Elsewhere it is missing for an
instant.
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

from rbdgen.description.quoting import told
from rbdgen.emit.package import MANIFEST
from rbdgen.errors import EmitError, OptionError
from rbdgen.wording import option

_LEAVING: Final = re.compile(r"\.(?P<name>.+)\.(?P<kind>new|old|del)-(?P<token>[0-9a-f]{12})", re.DOTALL)
_COMPILED: Final = re.compile(r"(?P<module>[^.]+)\..*pyc(\.\d+)?")
_AT_FDCWD: Final = -100
_RENAME_EXCHANGE: Final = 2


def folder_of(given: object) -> Path:
    """The folder that a caller names. Raises OptionError if it is not a path."""
    if isinstance(given, str | os.PathLike):
        return Path(given)
    raise OptionError(f"out {told(given)} is no folder; give its path")


def check_path(folder: Path) -> None:
    """Raises `OptionError` if no file system can have a folder of that name."""
    try:
        sound = b"\0" not in os.fsencode(folder)
    except UnicodeEncodeError:
        sound = False
    if not sound:
        raise OptionError(f"{str(folder)!r}: is no name of a folder; choose another {option('out')}")


def write_folder(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Writes the files as `folder`, and replaces an older folder of rbdgen there.

    If the old folder cannot be removed after the new one is in place, a warning says so.

    Raises:
        EmitError: something else has that name, the older folder holds files that rbdgen did not write, or
            the disk refuses. Whatever had this name before is then unchanged.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _locked(folder.parent):
            _put_right(folder.parent)
            _replace(folder, files)
    except OSError as error:
        raise EmitError(f"{folder}: {error.strerror or error}; choose another folder with -o") from error


def write_file(path: Path, text: str) -> None:
    """Writes a single file, whole or not at all, and replaces an older file of that name.

    Raises:
        EmitError: something that is no file has that name, or the disk refuses.
    """
    try:
        path = path.resolve()  # a symbolic link is kept; its target is replaced
        if path.exists() and not path.is_file():
            raise EmitError(f"{path}: is not a file; choose another one with -o")
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
    """Lets one process at a time write into a folder. The lock is on the folder itself and leaves no file."""
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
        _refuse_foreign(folder)  # again, because the user may have added files meanwhile
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
    with suppress(OSError, KeyboardInterrupt):  # the new folder is in place; the next run cleans up the rest
        _put_right(folder.parent)


def _write(folder: Path, files: Mapping[str, str | bytes]) -> None:
    folder.mkdir()
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def _exchange(one: Path, other: Path) -> bool:
    """Exchanges two names atomically; returns False if the system or the file system cannot do that."""
    rename = _renameat2()
    arguments = (_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE)
    return rename is not None and rename(*arguments) == 0


@cache
def _renameat2() -> Callable[..., int] | None:
    """Linux's renameat2, which Python does not offer; None on other systems."""
    try:
        import ctypes  # noqa: PLC0415  (some Pythons lack it)

        function = ctypes.CDLL(None).renameat2
    except (ImportError, OSError, AttributeError):
        return None
    function.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    return function


def _put_right(parent: Path) -> None:
    """Removes or restores what killed runs left in `parent`. The caller must hold the lock on this folder."""
    for path in sorted(parent.glob(".*-*")):
        leaving = _LEAVING.fullmatch(path.name)
        if leaving is None or path.is_symlink() or not path.is_dir():
            continue
        try:
            _put_one_right(path, leaving["name"], leaving["kind"], leaving["token"])
        except OSError as error:
            reason = error.strerror or error
            warnings.warn(
                f"{path}: is left over and cannot be removed ({reason}); remove it by hand", stacklevel=2
            )


def _put_one_right(path: Path, name: str, kind: str, token: str) -> None:
    if kind == "new":
        shutil.rmtree(path)
    elif kind == "old" and not os.path.lexists(path.with_name(name)):
        path.rename(path.with_name(name))
    else:  # rename it first, so that a folder which is no longer whole is never restored
        _remove(path if kind == "del" else path.rename(path.with_name(f".{name}.del-{token}")))


def _remove(folder: Path) -> None:
    """Deletes rbdgen's own files, and then the empty folders. The manifest, which lists the files, is the
    last file to be deleted.
    """
    listed = _listed(folder / MANIFEST) or frozenset()
    files, folders = _contents(folder)
    for path in sorted(files, key=lambda path: path == folder / MANIFEST):
        if _own(path, folder, listed):
            path.unlink()
    for path in [*folders, folder]:
        path.rmdir()


def _refuse_foreign(folder: Path) -> None:
    """Raises `EmitError` unless the folder is missing, empty or an older folder of rbdgen."""
    if not os.path.lexists(folder):
        return
    if folder.is_symlink() or not folder.is_dir():
        raise EmitError(f"{folder}: is not a folder; choose another {option('out')} or {option('name')}")
    files, _ = _contents(folder)
    listed = _listed(folder / MANIFEST)
    if files and listed is None:
        raise EmitError(
            f"{folder}: exists and was not generated by rbdgen; choose another {option('out')} or "
            f"{option('name')}"
        )
    for path in sorted(files):
        if not _own(path, folder, listed or frozenset()):
            raise EmitError(
                f"{folder}: holds '{path.relative_to(folder).as_posix()}', which rbdgen did not write; "
                "move it elsewhere first"
            )


def _contents(folder: Path) -> tuple[list[Path], list[Path]]:
    """All files in a folder (links included), and all folders in it, inner ones first."""
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
    """Whether rbdgen wrote the file, or Python did by compiling a module of rbdgen. A link is foreign."""
    if not stat.S_ISREG(path.lstat().st_mode):
        return False
    inside = path.relative_to(folder)
    compiled = _COMPILED.fullmatch(inside.name) if inside.parent.name == "__pycache__" else None
    source = inside if compiled is None else inside.parent.parent / f"{compiled['module']}.py"
    return source.as_posix() in listed


def _listed(path: Path) -> frozenset[str] | None:
    """The files that a manifest of rbdgen lists if all of them lie in its folder; otherwise None."""
    with suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
        manifest = json.loads(path.read_text(encoding="utf-8")) if stat.S_ISREG(path.lstat().st_mode) else {}
        names = frozenset(manifest["files"])
        inside = all(not PurePosixPath(n).is_absolute() and ".." not in PurePosixPath(n).parts for n in names)
        if manifest["generator"] == "rbdgen" and inside:
            return names
    return None
