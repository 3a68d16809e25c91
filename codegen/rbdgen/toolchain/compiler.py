"""Finds and identifies the C compiler, and runs several compilations in parallel, with explicit flags."""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import shutil
import signal
import subprocess
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Final

from rbdgen.errors import BuildError, either
from rbdgen.options import AUTO
from rbdgen.toolchain.watch import FunctionsWatched

INSTALL: Final = "install one (apt install gcc python3-dev)"

ANOTHER: Final = "name another compiler in CC"

FAMILIES: Final = ("gcc", "clang")
"""The kinds of compilers, which are also the names of their commands."""

FUNCTION_FLAGS: Final = ("-std=c99", "-fPIC", "-fvisibility=hidden", "-fno-math-errno", "-fstack-usage")
"""Flags for emitted functions, in addition to those of the target. The code is position-independent and does
not set errno. No symbol is visible outside of the module, so that two builds of one robot can be in one
process. None of the flags changes a result.
"""

BINDING_FLAGS: Final = ("-std=gnu11", "-O2", "-fPIC", "-fvisibility=hidden")
"""Flags for the code that binds the functions to Python, which includes headers of Python."""

_FORBIDDEN: Final = (
    "-Ofast",
    "-ffast-math",
    "-funsafe-math-optimizations",
    "-fassociative-math",
    "-ffinite-math-only",
)


@dataclass(frozen=True)
class Compiler:
    """A C compiler."""

    command: tuple[str, ...]
    """The command that runs it."""
    family: str
    """"gcc" or "clang"."""
    version: str
    """The version that it reports."""

    def fingerprint(self, flags: Sequence[str]) -> str:
        """A hash of the predefined macros, which include the version, the machine and its features
        (-march=native).

        Raises:
            BuildError: the compiler refuses the flags, such as those of another kind of processor.
        """
        remedy = ANOTHER
        if any(flag.startswith("-march=") and flag != "-march=native" for flag in flags):
            native = either('arch="native"', "--arch native")
            remedy = (
                f"this machine is {platform.machine()}: build with {native}, which every machine compiles"
            )
            remedy += f" for itself, or {ANOTHER}"
        return hashlib.sha256(self._macros(flags, remedy).encode()).hexdigest()

    def defines(self, macro: str, flags: Sequence[str]) -> bool:
        """Whether a macro is predefined, such as that of an instruction set. Raises BuildError as
        `fingerprint`.
        """
        return f"#define {macro} " in self._macros(flags, ANOTHER)

    def _macros(self, flags: Sequence[str], remedy: str) -> str:
        return _output([*self.command, *flags, "-dM", "-E", "-x", "c", os.devnull], remedy)


def find_compiler(command: str | None = None) -> Compiler:
    """The compiler that `command` names (words as in a shell: "ccache gcc"), or the first of cc, gcc, clang.

    Raises:
        BuildError: there is none, or it is neither gcc nor clang.
    """
    if command is not None and command.strip():
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise BuildError(f"CC={command}: {str(error).lower()}; write it as in a shell") from error
        found = shutil.which(words[0]) if words else None
        if found is None:
            raise BuildError(f"the C compiler '{command}' is not there; {INSTALL} or name another one in CC")
        # the compiler runs in other folders, so a relative path is made absolute
        return _identified((words[0] if Path(found).is_absolute() else str(Path.cwd() / found), *words[1:]))
    for name in ("cc", "gcc", "clang"):
        if shutil.which(name) is not None:
            return _identified((name,))
    raise BuildError(f"no C compiler found; {INSTALL} or name one in CC, or only write the C by --no-compile")


def find_compilers(command: str | None = None) -> dict[str, Compiler]:
    """One compiler of each family that is installed, by family. That of `find_compiler` comes first, and the
    other one is found by the name of its family.

    Raises:
        BuildError: as `find_compiler`.
    """
    first = find_compiler(command)
    found = {first.family: first}
    for name in FAMILIES:
        if name not in found and shutil.which(name) is not None:
            other = _identified((name,))
            found.setdefault(other.family, other)  # a command of this name may run the other compiler
    return found


def compilers_named(name: str | None, command: str | None) -> tuple[Compiler, Compiler | None]:
    """The compiler that the option `compiler` names, or that of `find_compiler` if it names none. For "auto"
    also that of the other family, if it is installed.

    Raises:
        BuildError: as `find_compiler`, or the compiler of this name is not installed.
    """
    if name is None:
        return find_compiler(command), None
    found = find_compilers(command)
    if name == AUTO:
        first, *others = found.values()
        return first, others[0] if others else None
    if name not in found:
        raise BuildError(f"the C compiler '{name}' is not there; install it (apt install {name})")
    return found[name], None


def _identified(command: tuple[str, ...]) -> Compiler:
    macros = dict(
        line.split(" ", 2)[1:]
        for line in _output([*command, "-dM", "-E", "-x", "c", os.devnull]).splitlines()
        if line.count(" ") >= 2
    )
    family: str | None
    if "__clang__" in macros:
        family = "clang"
    elif "__GNUC__" in macros:
        family = "gcc"
    else:
        family = None
    if family is None or "__VERSION__" not in macros:
        raise BuildError(f"'{shlex.join(command)}' is neither gcc nor clang; name one of them in CC")
    return Compiler(command, family, macros["__VERSION__"].strip('"'))


def _output(command: Sequence[str], remedy: str = ANOTHER) -> str:
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except OSError as error:
        raise BuildError(f"'{command[0]}' cannot be run: {error.strerror}; {INSTALL}") from error
    if done.returncode != 0:
        raise BuildError(f"'{shlex.join(command)}' failed: {reason_of(done.stderr)}; {remedy}")
    return done.stdout


def check_flags(flags: Sequence[str]) -> None:
    """Raises BuildError for a flag with which results violate IEEE 754."""
    for flag in flags:
        if flag in _FORBIDDEN:
            raise BuildError(f"the flag {flag} changes results beyond rounding; leave it out")


@dataclass(frozen=True)
class Compilation:
    """One source and its object, with paths relative to the folder in which the compiler runs."""

    source: str
    target: str
    flags: tuple[str, ...]
    compiler: Compiler | None = None
    """The compiler; None for the one that compiles whatever names none."""


def compile_all(
    compiler: Compiler,
    compilations: Sequence[Compilation],
    folder: Path,
    jobs: int,
    watched: FunctionsWatched | None = None,
) -> dict[str, float]:
    """Compiles every source, `jobs` at a time, and returns the seconds that each source took.

    `compiler` compiles the sources that name no compiler of their own.

    `watched` is notified when a compilation begins or ends. All running compilers are ended if one of them
    fails, or if an exception (including Ctrl-C) is raised.

    Raises:
        BuildError: a source was refused; the message has the first one and the compiler's first complaint.
    """
    processes = Processes()
    seconds: dict[str, float] = {}

    def one(compilation: Compilation) -> tuple[Compilation, float]:
        if watched is not None:
            watched.begun(compilation.target)
        start = perf_counter()
        own = compilation.compiler or compiler
        command = [*own.command, *compilation.flags, "-c", compilation.source, "-o", compilation.target]
        processes.run(command, folder, compilation.source)
        return compilation, perf_counter() - start

    pool = ThreadPoolExecutor(max(1, jobs))
    try:
        for done in as_completed([pool.submit(one, compilation) for compilation in compilations]):
            compilation, taken = done.result()
            seconds[compilation.source] = taken
            if watched is not None:
                watched.ended(compilation.target)
    finally:
        processes.stop()
        pool.shutdown(cancel_futures=True)
    return seconds


def link(compiler: Compiler, objects: Sequence[str], module: str, folder: Path, flags: Sequence[str]) -> None:
    """Links objects into a shared module. Raises BuildError if the linker refuses."""
    Processes().run(
        [*compiler.command, "-shared", *flags, *objects, "-o", module, "-pthread", "-lm"], folder, module
    )


class Processes:
    """Commands that run side by side and can all be ended."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[str]] = set()
        self._stopped = False

    def run(
        self,
        command: Sequence[str],
        folder: Path,
        what: str,
        remedy: str = "check the compiler, or report the generated file",
    ) -> None:
        """Runs a command to its end. Raises BuildError, with its first error, if its exit status is not 0."""
        with self._lock:
            if self._stopped:
                raise BuildError(f"{what}: not compiled, another file failed")
            try:
                # in a session of its own, so that the compiler's children can be ended with it
                process = subprocess.Popen(
                    command,
                    cwd=folder,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    text=True,
                    errors="replace",
                    start_new_session=True,
                )
            except OSError as error:
                raise BuildError(f"'{command[0]}' cannot be run: {error.strerror}; {INSTALL}") from error
            self._running.add(process)
        try:
            _, complaint = process.communicate()
        except BaseException:
            _end(process)
            raise
        finally:
            with self._lock:
                self._running.discard(process)
        if process.returncode != 0:
            failed = f"{what}: '{command[0]}' failed with status {process.returncode}"
            raise BuildError(f"{failed}: {reason_of(complaint)}; {remedy}")

    def stop(self) -> None:
        """Ends all running commands, and lets no other start."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                _end(process)


def _end(process: subprocess.Popen[str]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)


def reason_of(complaint: str) -> str:
    """The line that gives the reason, rather than the driver's remark that the linker failed."""
    lines = [line.strip() for line in complaint.splitlines() if line.strip()]
    remarks = ("ld returned", "linker command failed")
    telling = [line for line in lines if not any(remark in line for remark in remarks)]
    errors = [line for line in telling if "error" in line]
    return (errors or telling or lines or ["no message"])[0]
