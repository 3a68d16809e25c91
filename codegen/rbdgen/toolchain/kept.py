"""Lists the contents of the cache, removes old entries if it is too large, and empties it."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rbdgen.errors import OptionError
from rbdgen.toolchain.locks import locked_at_once

SEAL: Final = "entry.json"
"""A file of every entry, with the hashes of all others. It is touched whenever the entry is used."""

STAGING: Final = ".staging-"
"""The prefix of names of folders that are being filled or removed; the key of the entry follows."""

TAG: Final = "CACHEDIR.TAG"
"""The file that tells backup programs that a folder is a cache, see bford.info/cachedir. It is only written
to folders in which rbdgen wrote all files."""

_SIGNATURE: Final = "Signature: 8a477f597d28d172789f06886806bc55"
_TAG_TEXT: Final = f"{_SIGNATURE}\n# This folder is the cache of rbdgen; `rbdgen cache clear` empties it.\n"

_KEY: Final = r"(?:[a-z]+-)?[0-9a-f]{64}"
_ENTRY: Final = re.compile(_KEY)
_LOCK: Final = re.compile(rf"({_KEY})\.lock")
_STAGED: Final = re.compile(rf"{re.escape(STAGING)}({_KEY})-[0-9a-f]{{16}}")
_STAGED_EARLIER: Final = re.compile(rf"{re.escape(STAGING)}[0-9a-f]{{16}}")
_OWN: Final = (_ENTRY, _LOCK, _STAGED, _STAGED_EARLIER, re.compile(re.escape(TAG)))


@dataclass(frozen=True)
class Contents:
    """The number of entries of a cache, and their size in bytes."""

    entries: int
    size: int


@dataclass(frozen=True)
class Cleared:
    """The contents that were removed, and the number of entries that are in use and were kept."""

    removed: Contents
    in_use: int


@dataclass(frozen=True)
class _Entry:
    path: Path
    size: int
    used: float
    """The time of its last use, in seconds."""


def contents(root: Path) -> Contents:
    """The contents of a cache, which are empty if there is no cache."""
    entries = _entries(root)
    return Contents(len(entries), sum(entry.size for entry in entries))


def clear(root: Path) -> Cleared:
    """Removes all entries that no process is making or reading. Loaded libraries stay loaded.

    Only what rbdgen wrote is removed, and links are not followed.

    Raises:
        OptionError: the folder belongs to another user, or holds things that rbdgen did not write.
    """
    if not root.exists():
        return Cleared(Contents(0, 0), 0)
    _check_own(root)
    entries = _entries(root)
    removed = [entry for entry in entries if _removed(entry.path)]
    for path in _named(root, _STAGED):
        matched = _STAGED.fullmatch(path.name)
        assert matched is not None
        with suppress(OSError), locked_at_once(_lock_of(root / matched.group(1))) as free:
            if free:
                shutil.rmtree(path, ignore_errors=True)
    for lock in _named(root, _LOCK):
        with suppress(OSError), locked_at_once(lock) as free:
            if free:
                lock.unlink()
    size = sum(entry.size for entry in removed)
    return Cleared(Contents(len(removed), size), len(entries) - len(removed))


def trim(root: Path, limit: int) -> None:
    """Removes the least recently used entries until the others have at most `limit` bytes.

    Entries that are in use, or that cannot be removed, are kept.
    """
    entries = _entries(root)
    size = sum(entry.size for entry in entries)
    for entry in sorted(entries, key=lambda entry: entry.used):
        if size <= limit:
            return
        if _removed(entry.path, unused_since=entry.used):
            size -= entry.size


def tag(root: Path) -> None:
    """Marks a folder as a cache unless it holds anything that rbdgen did not write."""
    with suppress(OSError):
        if not is_tagged(root) and not _foreign(root):
            (root / TAG).write_text(_TAG_TEXT, encoding="utf-8")


def is_tagged(root: Path) -> bool:
    """Whether a folder is marked as a cache of rbdgen."""
    try:
        return (root / TAG).read_text(encoding="utf-8") == _TAG_TEXT
    except (OSError, ValueError):
        return False


def used_now(folder: Path) -> None:
    """Records that an entry is used now."""
    with suppress(OSError):
        os.utime(folder / SEAL)


def staging_of(folder: Path) -> Path:
    """A new name for a folder that is filled to become this entry, or that was this entry and is removed."""
    return folder.with_name(f"{STAGING}{folder.name}-{secrets.token_hex(8)}")


def _lock_of(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.lock")


def _check_own(root: Path) -> None:
    try:
        if root.stat().st_uid != os.geteuid():
            raise OptionError(f"the cache {root} belongs to another user; nothing was removed")
        foreign = None if is_tagged(root) else _foreign(root)
    except OSError as error:
        raise OptionError(f"the cache {root} cannot be read ({error.strerror}); check its path") from error
    if foreign is not None:
        raise OptionError(
            f"{root} holds what rbdgen did not write, such as '{foreign}'; nothing was removed: set "
            "RBDGEN_CACHE to a folder of its own"
        )


def _foreign(root: Path) -> str | None:
    """The name of a file in the folder that rbdgen did not write; None if there is none."""
    names = sorted(path.name for path in root.iterdir())
    return next((name for name in names if not any(own.fullmatch(name) for own in _OWN)), None)


def _named(root: Path, names: re.Pattern[str]) -> Iterator[Path]:
    """The paths in a folder whose names match and that are not links."""
    try:
        found = sorted(root.iterdir())
    except OSError:
        return
    yield from (path for path in found if names.fullmatch(path.name) and not path.is_symlink())


def _entries(root: Path) -> list[_Entry]:
    found = []
    for path in _named(root, _ENTRY):
        try:
            used = (path / SEAL).lstat().st_mtime
        except OSError:  # a damaged entry is removed first
            used = 0.0
        if path.is_dir():
            found.append(_Entry(path, _size(path), used))
    return found


def _size(folder: Path) -> int:
    """The bytes of all files of a folder; files that are deleted meanwhile count as 0."""
    size = 0
    with suppress(OSError), os.scandir(folder) as found:
        for entry in found:
            with suppress(OSError):
                if entry.is_dir(follow_symlinks=False):
                    size += _size(Path(entry.path))
                else:
                    size += entry.stat(follow_symlinks=False).st_size
    return size


def _removed(folder: Path, unused_since: float | None = None) -> bool:
    """Removes an entry as a whole, unless it is in use or was used after `unused_since`; returns whether it
    was removed.
    """
    lock = _lock_of(folder)
    try:
        with locked_at_once(lock) as free:
            if not free or (unused_since is not None and _used_after(folder, unused_since)):
                return False
            away = staging_of(folder)
            folder.rename(away)
            lock.unlink()
            shutil.rmtree(away, ignore_errors=True)
    except OSError:
        return False
    return True


def _used_after(folder: Path, seconds: float) -> bool:
    try:
        return (folder / SEAL).lstat().st_mtime > seconds
    except OSError:
        return False
