"""Finished builds by the hash of their content, in a folder that only the user can enter."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import secrets
import shutil
import stat
import tempfile
import time
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from rbdgen.errors import BuildError

_SEAL: Final = "entry.json"
_STAGING: Final = ".staging-"
_STALE_SECONDS: Final = 24 * 3600.0
_PRIVATE_MODE: Final = 0o700


class Cache:
    """Folders by key: made once, sealed with the hashes of their files, and never changed.

    An entry appears as a whole, by renaming. Processes that want the same entry wait for the first one to
    finish it. An entry whose files do not match its seal is made again. If `root` cannot be used (not
    writable, owned by another user), a private folder of this process replaces it, with a warning.
    """

    def __init__(self, root: Path) -> None:
        """`root` is the folder of the entries; "~" at its beginning is the user's home."""
        try:
            root = root.expanduser()
            reason = _unusable(root)
        except RuntimeError:
            reason = "its home folder is not known"
        self.temporary = reason is not None
        if reason is not None:
            warnings.warn(
                f"the cache {root} cannot be used ({reason}): builds will not be kept", stacklevel=2
            )
            try:
                root = Path(tempfile.mkdtemp(prefix="rbdgen-"))
            except OSError as error:
                raise BuildError(
                    f"the cache {root} cannot be used ({reason}), nor a temporary folder "
                    f"({error.strerror}); set RBDGEN_CACHE to a folder that can be written"
                ) from error
            self._removal = weakref.finalize(self, shutil.rmtree, root, ignore_errors=True)
        self.root = root

    def lookup(self, key: str) -> Path | None:
        """The entry's folder, if it exists and is intact."""
        folder = self.root / key
        return folder if _sound(folder) else None

    def entry(self, key: str, fill: Callable[[Path], None]) -> Path:
        """The entry's folder, which `fill(folder)` makes if it does not exist.

        Raises:
            BuildError: the disk is full, or the cache became unusable. Errors of `fill` are passed on.
        """
        found = self.lookup(key)
        if found is not None:
            return found
        try:
            with self._locked(key):
                return self.lookup(key) or self._made(key, fill)
        except OSError as error:
            raise BuildError(
                f"the cache {self.root}: {error}; free space or choose another folder"
            ) from error

    def _made(self, key: str, fill: Callable[[Path], None]) -> Path:
        self._remove_stale()
        staging = self.root / f"{_STAGING}{secrets.token_hex(8)}"
        staging.mkdir(_PRIVATE_MODE)
        folder = self.root / key
        try:
            fill(staging)
            hashes = _hashes(staging)
            seal = json.dumps({"files": hashes, "sha256": _digest(key, hashes)})
            (staging / _SEAL).write_text(seal, encoding="utf-8")
            if folder.exists():
                broken = self.root / f"{_STAGING}{secrets.token_hex(8)}"
                folder.rename(broken)
                shutil.rmtree(broken, ignore_errors=True)
            staging.rename(folder)
        finally:
            shutil.rmtree(staging, ignore_errors=True)
        return folder

    @contextmanager
    def _locked(self, key: str) -> Iterator[None]:
        """One process at a time. The lock is released when its process ends."""
        with (self.root / f"{key}.lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _remove_stale(self) -> None:
        """Remove what killed processes left behind."""
        for folder in self.root.glob(f"{_STAGING}*"):
            with suppress(OSError):
                if time.time() - folder.stat().st_mtime > _STALE_SECONDS:
                    shutil.rmtree(folder, ignore_errors=True)


def _unusable(root: Path) -> str | None:
    """Why a folder cannot hold the cache; None if it can. It is created, and closed to others, if
    possible.
    """
    try:
        root.mkdir(_PRIVATE_MODE, parents=True, exist_ok=True)
        status = root.stat()
        if status.st_uid != os.geteuid():
            return "it belongs to another user"
        if stat.S_IMODE(status.st_mode) != _PRIVATE_MODE:
            root.chmod(_PRIVATE_MODE)
    except OSError as error:
        return error.strerror or str(error)
    return None if os.access(root, os.W_OK | os.X_OK) else "it is not writable"


def _hashes(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _digest(key: str, hashes: dict[str, str]) -> str:
    """A hash of the entry's name and the seal's own list, so that no other entry or shorter list can replace
    it.
    """
    return hashlib.sha256(json.dumps([key, hashes]).encode()).hexdigest()


def _sound(folder: Path) -> bool:
    try:
        seal = json.loads((folder / _SEAL).read_text(encoding="utf-8"))
        files = seal["files"]
        return bool(seal["sha256"] == _digest(folder.name, files)) and all(
            hashlib.sha256((folder / name).read_bytes()).hexdigest() == value for name, value in files.items()
        )
    except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return False
