"""A process is killed while it replaces a folder: afterwards the old or the new folder must be complete."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from rbdgen.emit import write
from rbdgen.emit.write import write_folder
from rbdgen.errors import EmitError

KINDS = {
    "calls": "killed before each call of the file system in turn",
    "lines": "killed before a line of Python drawn at random, the library's lines too",
    "times": "killed after a time drawn at random, up to 10 ms",
}
SIZE = 600

NAMES = ("a.c", "a.h", "sub/b.py", "sub/deep/c.py", "manifest.json")
_CALLS = ("open", "os.", "shutil.", "fcntl.", "ctypes.")


def content(text: str) -> dict[str, str | bytes]:
    """The files of a small generated folder, each of which contains `text`."""
    listed = json.dumps({"generator": "rbdgen", "files": NAMES, "which": text})
    return {**{name: f"{text} {name}\n" * 50 for name in NAMES}, "manifest.json": listed}


def found(folder: Path) -> dict[str, str | bytes] | None:
    """The files of a folder without compiled Python; None if there is no folder."""
    if not folder.exists():
        return None
    paths = (path for path in folder.rglob("*") if path.is_file() and path.parent.name != "__pycache__")
    return {path.relative_to(folder).as_posix(): path.read_text() for path in paths}


def at_call(k: int) -> None:
    """Lets this process be killed before its k-th call of the file system."""
    left = k

    def hook(event: str, _: object) -> None:
        nonlocal left
        if event.startswith(_CALLS) and event != "os.kill":
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def at_line(k: int) -> None:
    """Lets this process be killed before the k-th line of Python that it runs, including library code."""
    left = k

    def trace(_: FrameType, event: str, __: Any) -> Any:
        nonlocal left
        left -= event == "line"
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return trace

    sys.settrace(trace)


def killed(work: Callable[[], None], arm: Callable[[], None], after: float | None = None) -> bool:
    """Whether `work` was killed, in a fork that `arm` prepares, or that is killed `after` some seconds."""
    child = os.fork()
    if child == 0:
        arm()
        work()
        os._exit(0)
    if after is not None:
        time.sleep(after)
        os.kill(child, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def trial(parent: Path, old: bool, exchange: bool, kill: Callable[[Callable[[], None]], bool]) -> str | None:
    """Says what is wrong after a kill, a run that fails before it replaces the folder, and one that succeeds.

    If `old`, a folder exists before. If `exchange`, folders are exchanged by one call, else by two renames.
    """
    folder = parent / "r"
    if old:
        write_folder(folder, content("old"))
        (folder / "sub/__pycache__").mkdir()
        (folder / "sub/__pycache__/b.cpython-311.pyc").write_bytes(b"compiled")
    before = (content("old"),) if old else (None,)

    def work() -> None:
        if not exchange:
            write._renameat2 = lambda: None  # type: ignore[assignment]
        write_folder(folder, content("new"))

    allowed = (*before, content("new")) if kill(work) else (content("new"),)
    if exchange and write._renameat2() is not None and found(folder) not in allowed:
        return "neither folder is there"
    try:
        write_folder(folder, {"a.c": "half", "a.c/b.c": "a file below a file cannot be written"})
        return "written below a file"
    except EmitError:
        pass
    if found(folder) not in allowed:
        return "the next run found neither folder"
    if set(parent.iterdir()) - {folder}:
        return "leavings after the next run"
    write_folder(folder, content("third"))
    whole = found(folder) == content("third") and list(parent.iterdir()) == [folder]
    return None if whole else "the run after the next is wrong"


def campaign(seed: int, size: int) -> dict[str, int]:
    """The counts of `size` kills: before each call of the file system in turn, before random lines, and at
    random times."""
    draw = random.Random(seed)
    counts = {"tried": 0, "killed": 0, "wrong": 0, "crashed": 0}
    call = 0
    for number in range(size):
        after = draw.uniform(0, 0.01) if number % 3 == 2 else None
        line = draw.randrange(3000)
        if number % 3 == 0:
            call += 1
        # four cases in a row kill at the same call, with and without an old folder and an exchange
        every = (call % 4 != 3, call % 2 == 0)
        old, exchange = every if number % 3 == 0 else (draw.random() < 0.8, draw.random() < 0.5)
        point = call // 4 if number % 3 == 0 else line
        arms = (lambda k=point: at_call(k), lambda k=point: at_line(k), lambda: None)

        def kill(work: Callable[[], None], arm: Any = arms[number % 3], after: float | None = after) -> bool:
            was = killed(work, arm, after)
            counts["killed"] += was
            return was

        with tempfile.TemporaryDirectory() as parent:
            counts["tried"] += 1
            try:
                wrong = trial(Path(parent), old, exchange, kill)
            except Exception as error:
                counts["crashed"] += 1
                print(f"kill {number} of seed {seed}: {error!r}", file=sys.stderr)
                continue
        if wrong is not None:
            counts["wrong"] += 1
            print(f"kill {number} of seed {seed}: {wrong}", file=sys.stderr)
    return counts


def run(seed: int, size: int) -> dict[str, int]:
    """The counts of the campaign, which runs in a process of its own, as it has one thread and may fork."""
    command = [sys.executable, __file__, str(seed), str(size)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    counts: dict[str, int] = json.loads(done.stdout)
    return counts


if __name__ == "__main__":
    print(json.dumps(campaign(int(sys.argv[1]), int(sys.argv[2]))))
