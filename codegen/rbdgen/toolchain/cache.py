"""Finished builds by the hash of their content, in a folder that only the user can enter."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import tempfile
import time
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final, TypeVar

from rbdgen.errors import BuildError, OptionError
from rbdgen.options import environment_cache, environment_cache_size
from rbdgen.toolchain.kept import SEAL, STAGING, staging_of, tag, trim, used_now
from rbdgen.toolchain.locks import locked

_ATTEMPTS: Final = 10
"""The number of attempts at an entry that another process removes before it is used."""

_STALE_SECONDS: Final = 24 * 3600.0
_PRIVATE_MODE: Final = 0o700


T = TypeVar("T")


class Cache:
    """Folders by key: made once, sealed with the hashes of their files, and never changed.

    An entry appears as a whole, by renaming. Processes that want the same entry wait for the first one to
    finish it. An entry whose files do not match its seal is made again. If `root` cannot be used (not
    writable, owned by another user), a private folder of this process replaces it, with a warning.
    """

    def __init__(self, root: Path, limit: int | None = None) -> None:
        """`root` is the folder of the entries; "~" at its beginning is the user's home.

        `limit` is in bytes. If the entries have more, the least recently used ones are removed before the
        first new one is made. None keeps all.
        """
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
        self._limit = limit
        tag(root)

    def lookup(self, key: str) -> Path | None:
        """The entry's folder if it exists and is intact; None otherwise."""
        folder = self.root / key
        return folder if _sound(folder) else None

    def read(self, key: str, read: Callable[[Path], T]) -> T | None:
        """Calls `read` on the entry's folder, and returns its result; None if there is no such entry."""
        if not (self.root / key).is_dir():
            return None
        try:
            with locked(self.root / f"{key}.lock", shared=True):
                found = self.lookup(key)
                if found is None:
                    return None
                used_now(found)
                return read(found)
        except OSError:
            return None

    def entry(self, key: str, fill: Callable[[Path], None]) -> Path:
        """Returns the folder of an entry, as `using` does, but without a lock against its removal."""
        with self.using(key, fill) as folder:
            return folder

    @contextmanager
    def using(self, key: str, fill: Callable[[Path], None]) -> Iterator[Path]:
        """The entry's folder, which `fill(folder)` makes if it does not exist. It stays as long as the
        context does, whatever other processes remove from the cache.

        Raises:
            BuildError: the disk is full, or the cache became unusable. Errors of `fill` are passed on.
        """
        with ExitStack() as stack:
            try:
                folder = self._found_or_made(key, fill, stack)
            except OSError as error:
                raise BuildError(
                    f"the cache {self.root}: {error}; free space or choose another folder"
                ) from error
            yield folder

    def _found_or_made(self, key: str, fill: Callable[[Path], None], stack: ExitStack) -> Path:
        """The entry's folder; `stack` receives a shared lock, which keeps the entry from being removed."""
        lock = self.root / f"{key}.lock"
        for _ in range(_ATTEMPTS):
            with ExitStack() as attempt:
                attempt.enter_context(locked(lock, shared=True))
                found = self.lookup(key)
                if found is not None:
                    used_now(found)
                    stack.push(attempt.pop_all())
                    return found
            with locked(lock):
                if self.lookup(key) is None:
                    self._make(key, fill)
        raise BuildError(f"the cache {self.root}: every new entry is removed at once; choose another folder")

    def _make(self, key: str, fill: Callable[[Path], None]) -> None:
        self._remove_stale()
        if self._limit is not None:
            trim(self.root, self._limit)
            self._limit = None  # once is enough: a build adds little
        folder = self.root / key
        staging = staging_of(folder)
        staging.mkdir(_PRIVATE_MODE)
        try:
            fill(staging)
            hashes = _hashes(staging)
            seal = json.dumps({"files": hashes, "sha256": _digest(key, hashes)})
            (staging / SEAL).write_text(seal, encoding="utf-8")
            if folder.exists():
                broken = staging_of(folder)
                folder.rename(broken)
                shutil.rmtree(broken, ignore_errors=True)
            staging.rename(folder)
        finally:
            shutil.rmtree(staging, ignore_errors=True)

    def _remove_stale(self) -> None:
        """Removes the unfinished folders of killed processes."""
        for folder in self.root.glob(f"{STAGING}*"):
            with suppress(OSError):
                if time.time() - folder.stat().st_mtime > _STALE_SECONDS:
                    shutil.rmtree(folder, ignore_errors=True)


def user_cache() -> Cache:
    """The user's cache. Environment variables determine its folder and the limit of its size."""
    return Cache(environment_cache(), environment_cache_size())


def user_cache_root() -> Path:
    """The folder of the user's cache, which may not exist yet.

    Raises:
        OptionError: it is in a home folder that is not known.
    """
    given = environment_cache()
    try:
        return given.expanduser()
    except RuntimeError as error:
        raise OptionError(f"the cache {given}: its home folder is not known; set RBDGEN_CACHE") from error


def _unusable(root: Path) -> str | None:
    """The reason why a folder cannot hold the cache; None if it can. The folder is created, and closed to
    other users, if possible.
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
        seal = json.loads((folder / SEAL).read_text(encoding="utf-8"))
        files = seal["files"]
        return bool(seal["sha256"] == _digest(folder.name, files)) and all(
            hashlib.sha256((folder / name).read_bytes()).hexdigest() == value for name, value in files.items()
        )
    except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return False
