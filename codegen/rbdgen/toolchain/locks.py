"""Locks by files, which end with the process that holds them."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked(path: Path, *, shared: bool = False) -> Iterator[None]:
    """Holds the lock of this file after waiting for all others who hold it. A missing file is created."""
    descriptor = None
    while descriptor is None:
        descriptor = _acquired(path, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(descriptor)


@contextmanager
def locked_at_once(path: Path) -> Iterator[bool]:
    """Holds the lock if nobody else holds it; the value says whether it is held.

    The file may be removed while the lock is held: processes that wait for the lock make a new file.
    """
    try:
        descriptor = _acquired(path, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        descriptor = None
    try:
        yield descriptor is not None
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _acquired(path: Path, operation: int) -> int | None:
    """A descriptor that holds the lock until it is closed; None if the file was removed meanwhile."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, operation)
        if _is(descriptor, path):
            return descriptor
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None


def _is(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False
