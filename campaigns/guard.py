"""Runs each case of a campaign in a process of its own, so that the campaign goes on if the process dies.

A case returns what is wrong, or None. An exception, or the end of the process by a signal, is a crash.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from traceback import extract_tb

from campaigns.tally import MOST_NOTES, Tally
from rbdgen.errors import RbdgenError

PATIENCE = 120
"""The processor time in seconds after which a case is ended, as if it hung."""

LONGEST = 1000
"""The largest number of characters in a line of an error."""


@dataclass(frozen=True)
class Case:
    """A case: its name, and a call that returns what is wrong, or None."""

    name: str
    run: Callable[[], str | None]


def tallied(cases: Iterable[Case]) -> Tally:
    """The counts of all cases, which it runs."""
    tried = wrong = crashed = 0
    notes = []
    for case in cases:
        tried += 1
        verdict, words = outcome(case.run)
        wrong += verdict == "wrong"
        crashed += verdict == "crashed"
        if verdict != "right":
            notes.append(f"{case.name}: {verdict}: {words}")
    return Tally(tried, wrong, crashed, notes=tuple(notes[:MOST_NOTES]))


def outcome(run: Callable[[], str | None]) -> tuple[str, str]:
    """The verdict on a case, which runs in a fork of this process, and words that say why."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of forks beside threads
        child = os.fork()
    if child == 0:
        os.close(reading)
        _in_child(run, writing)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8", errors="replace") as pipe:
        told = pipe.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return "crashed", signal.Signals(os.WTERMSIG(status)).name
    verdict, _, words = told.partition("\n")
    return (verdict, words) if verdict else ("crashed", f"it ended with status {os.WEXITSTATUS(status)}")


def _in_child(run: Callable[[], str | None], pipe: int) -> None:
    """Runs a case with its output discarded, writes its verdict to the pipe, and ends the process."""
    try:
        import resource  # noqa: PLC0415

        resource.setrlimit(resource.RLIMIT_CPU, (PATIENCE, PATIENCE + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        warnings.simplefilter("ignore")
        silent = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(silent, stream)
        problem = run()
        told = "right\n" if problem is None else f"wrong\n{problem}"
    except BaseException as error:
        told = f"crashed\n{_where(error)}"
    os.write(pipe, told.encode("utf-8", "replace")[:4000])
    os._exit(0)


def _where(error: BaseException) -> str:
    frames = extract_tb(error.__traceback__)
    place = f" at {os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""  # noqa: PTH119
    return f"{type(error).__name__}{place}: {' '.join(str(error).split())[:300]}"


def run_program(command: Sequence[str]) -> None:
    """Runs a program in a process of its own; raises RuntimeError if it fails or writes errors."""
    done = subprocess.run(
        command, capture_output=True, text=True, errors="replace", timeout=PATIENCE, check=False
    )
    if done.returncode < 0:
        raise RuntimeError(f"ended by {signal.Signals(-done.returncode).name}")
    if done.returncode != 0 or done.stderr:
        told = [line for line in done.stderr.splitlines() if "rror" in line]
        raise RuntimeError(f"status {done.returncode}: {(told or [done.stderr])[0]:.300}")


def unclear(error: RbdgenError) -> str | None:
    """Says what is wrong with the text of an error, if anything."""
    text = str(error)
    if not text.strip() or any(not c.isprintable() for c in text):
        return f"the error is not one line of text: {text!r:.200}"
    return f"the error has {len(text)} letters" if len(text) > LONGEST else None


def refused(call: Callable[[], object]) -> str | None:
    """Says what is wrong if `call` is not refused in one line."""
    try:
        result = call()
    except RbdgenError as error:
        return unclear(error)
    return f"it was taken and gave {str(result)!r:.100}"


def said_well(status: int, errors: str) -> str | None:
    """Says what is wrong with the end of a command; None for status 0, or status 2 with one line of error."""
    if status < 0:
        return f"ended by {signal.Signals(-status).name}"
    if "Traceback" in errors or "Error:" in errors.replace("error:", ""):
        return f"a traceback: {errors.strip().splitlines()[-1][:300]}"
    lines = [line for line in errors.splitlines() if line.startswith("rbdgen: error: ")]
    if status == 0:
        return None if not lines else f"status 0, yet {lines[0]}"
    if status == 2:
        return None if len(lines) == 1 else f"{len(lines)} lines of error: {errors[:300]!r}"
    return f"status {status}: {errors[:300]!r}"


PYTHON = sys.executable
