"""One call of the file system fails, is interrupted, or is the last one before the process is killed.

The calls are those that Python makes while a folder is generated, for the first time or in place of an older
one, and while the cache is filled. Afterwards the old folder or the new one must be complete, and the next
run must remove all leftovers.
"""

from __future__ import annotations

import builtins
import errno
import fcntl
import io
import os
import random
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any, NoReturn

from support.robots import PATHS

from campaigns.guard import Case, outcome, tallied, unclear
from campaigns.tally import Tally
from rbdgen.emit import write
from rbdgen.errors import RbdgenError
from rbdgen.options import Options
from rbdgen.pipeline.page import generate
from rbdgen.pipeline.robot import load_robot

KINDS = ("errors", "Ctrl-C", "kill -9")
SIZE = 600
SMALL = 8

CALLS = ("open", "mkdir", "rename", "replace", "unlink", "remove", "rmdir", "scandir", "listdir", "stat",
"lstat", "chmod", "link",
         "symlink", "fsync", "truncate")  # fmt: skip
"""The calls of `os` that can fail here; `open` in `io` and `flock` in `fcntl` can fail as well."""

FAULTS = (errno.ENOSPC, errno.EACCES, errno.EIO, errno.EINTR, errno.EROFS, errno.EMFILE)

Files = dict[str, bytes]


def run(seed: int, size: int) -> Tally:
    """Runs `size` faults, at random calls of all scenarios in turn."""
    return tallied(_cases(random.Random(seed), size))


def _cases(rng: random.Random, size: int) -> Iterator[Case]:
    counts = {scenario: _count(scenario) for scenario in SCENARIOS}
    for k in range(size):
        scenario = list(SCENARIOS)[k % len(SCENARIOS)]
        fault = rng.choice(("kill before", "kill after", "Ctrl-C", *FAULTS, *FAULTS[:3]))
        call = rng.randrange(counts[scenario])
        words = fault if isinstance(fault, str) else errno.errorcode[fault]
        yield Case(f"{scenario}: {words} at call {call}", partial(_tried, scenario, call, fault))


# ---- faults


class Injector:
    """Counts calls of the file system; call number `at` meets the fault, and all others are carried out."""

    def __init__(self, at: int = -1, fault: str | int = "") -> None:
        self.calls, self.at, self.fault = 0, at, fault

    def __enter__(self) -> Injector:
        self._kept: list[tuple[Any, str, Any]] = []
        for module, names in ((os, CALLS), (io, ("open",)), (builtins, ("open",)), (fcntl, ("flock",))):
            for name in names:
                self._kept.append((module, name, getattr(module, name)))
        for module, name, original in self._kept:
            opens = name == "open" and module is not os
            setattr(module, name, partial(self._open if opens else self._call, original))
        return self

    def __exit__(self, *_: object) -> None:
        for module, name, original in self._kept:
            setattr(module, name, original)

    def _call(self, original: Callable[..., Any], *args: Any, **named: Any) -> Any:
        number, self.calls = self.calls, self.calls + 1
        if number != self.at:
            return original(*args, **named)
        if self.fault == "kill after":
            original(*args, **named)
        return self._fail()

    def _fail(self) -> NoReturn:
        if self.fault == "Ctrl-C":
            raise KeyboardInterrupt
        if isinstance(self.fault, str):
            os.kill(os.getpid(), signal.SIGKILL)
        raise OSError(self.fault, os.strerror(int(self.fault)))

    def _open(self, original: Callable[..., Any], *args: Any, **named: Any) -> Any:
        file = self._call(original, *args, **named)
        return _Written(file, self) if file.writable() else file


class _Written:
    """A file that is being written; if a write meets the fault, half of its data is written before."""

    def __init__(self, file: Any, injector: Injector) -> None:
        self._file, self._injector = file, injector

    def write(self, data: Any) -> Any:
        def half() -> Any:
            self._file.write(data[: len(data) // 2])
            self._file.flush()

        injector = self._injector
        if injector.calls == injector.at:
            half()
        return injector._call(self._file.write, data)

    def __enter__(self) -> _Written:
        self._file.__enter__()
        return self

    def __exit__(self, *error: Any) -> Any:
        return self._file.__exit__(*error)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


# ---- scenarios


def _generated(root: Path, name: str = "gravity") -> None:
    options = Options(functions=(name,), name="robot")
    os.environ["RBDGEN_CACHE"] = str(root / "cache")
    generate(load_robot(PATHS["double_pendulum"]), options, root / "out", compiled=False)


def _nothing(root: Path) -> None:
    """Prepares a first run: an empty output folder."""
    (root / "out").mkdir()


def _older(root: Path) -> None:
    """Prepares an older folder with other files, and no cache."""
    _generated(root, "crba")
    (root / "out/robot/__pycache__").mkdir()
    (root / "out/robot/__pycache__/__init__.cpython-311.pyc").write_bytes(b"x")
    shutil.rmtree(root / "cache")


def _warm(root: Path) -> None:
    """Prepares an older folder, and a cache with the new design."""
    _generated(root, "gravity")
    shutil.rmtree(root / "out")
    _generated(root, "crba")


def _broken(root: Path) -> None:
    """Prepares the same, and damages the files of the cache."""
    _warm(root)
    for path in (root / "cache").glob("design-*/sources.json"):
        path.write_bytes(path.read_bytes()[:-9])


SCENARIOS: Mapping[str, Callable[[Path], None]] = {
    "first run": _nothing,
    "in place of an older folder": _older,
    "in place of an older folder, by two renames": _older,
    "from the cache": _warm,
    "with a broken cache": _broken,
}


def _prepared(scenario: str) -> Path:
    """A copy of the folder in which the scenario begins."""
    scratch = Path(tempfile.mkdtemp(prefix="attack-"))
    shutil.copytree(_begun(scenario), scratch, dirs_exist_ok=True)
    if (scratch / "cache").exists():
        (scratch / "cache").chmod(0o700)
    return scratch


@cache
def _begun(scenario: str) -> Path:
    root = Path(tempfile.mkdtemp(prefix="attack-"))
    SCENARIOS[scenario](root)
    return root


def _prefer_renames(scenario: str) -> None:
    """Sets whether this process exchanges two folders by one call, as Linux can, or by two renames."""
    write._renameat2 = (lambda: None) if "two renames" in scenario else EXCHANGE  # type: ignore[assignment]


EXCHANGE = write._renameat2


@cache
def _count(scenario: str) -> int:
    """The number of calls of an undisturbed run."""
    root = _prepared(scenario)
    _expected()
    try:
        _prefer_renames(scenario)
        with Injector() as injector:
            _generated(root)
        return injector.calls
    finally:
        shutil.rmtree(root)


@cache
def _expected() -> Files:
    with tempfile.TemporaryDirectory(prefix="attack-") as scratch:
        _generated(Path(scratch))
        return _files(Path(scratch) / "out/robot")


def _files(folder: Path) -> Files:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def _tried(scenario: str, call: int, fault: str | int) -> str | None:
    """Tries one fault, runs once more, and says what is wrong with the files after each run, if anything."""
    root = _prepared(scenario)
    try:
        out = root / "out"
        old = _files(out / "robot")
        _prefer_renames(scenario)
        verdict, words = outcome(partial(_disturbed, root, call, fault))
        killed = verdict == "crashed" and words == "SIGKILL" and str(fault).startswith("kill")
        if verdict != "right" and not killed:
            return f"{verdict}: {words}"
        left = _files(out / "robot")
        if left not in (old, _expected()):
            return f"neither the old folder nor the new one is there: {len(left)} files"
        if (root / REFUSED).exists() and left != old:
            return "refused, yet replaced"
        stray = _stray(root)
        if not killed and stray is not None and ".new-" in stray:
            return f"left behind: {stray}"
        _generated(root)
        if _files(out / "robot") != _expected():
            return "the next run gives other files"
        return f"the next run leaves {stray}" if (stray := _stray(root)) else None
    finally:
        shutil.rmtree(root, ignore_errors=True)


REFUSED = "refused"
"""The name of a file that is written if the run was refused."""


def _disturbed(root: Path, call: int, fault: str | int) -> str | None:
    """Generates with the fault, and says what is wrong, if anything; a refusal or Ctrl-C is expected."""
    try:
        with Injector(call, fault):
            _generated(root)
    except RbdgenError as error:
        (root / REFUSED).touch()
        return unclear(error)
    except KeyboardInterrupt:
        return None if fault == "Ctrl-C" else "KeyboardInterrupt"
    return None


def _stray(root: Path) -> str | None:
    """The names of all that is in `out` beside the generated folder, or None.

    An older folder that could not be deleted may stay there until the next run. The cache is not checked, as
    leftovers in it are removed after a day.
    """
    names = sorted(path.name for path in (root / "out").iterdir() if path.name != "robot")
    return ", ".join(names) or None
