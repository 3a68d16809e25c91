"""Compilers: objects are built once for each content, and linked several times with code at other
addresses."""

from __future__ import annotations

import hashlib
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

BUILD = Path(__file__).parent / "build"  # ignored by git; may be deleted at any time

_PADDING_STEP = 16  # bytes; functions are aligned to this, so smaller shifts would have no effect
_PADDING_STEPS = 256  # one page of 4 KiB


class ToolError(Exception):
    """A compiler or a benchmark program is missing or failed; the message says which and why."""


def run(
    command: Sequence[str | Path], *, stdin: str = "", folder: Path | None = None, timeout: float = 3600.0
) -> str:
    """The standard output of a command that must succeed, run in `folder` if one is given.

    Raises ToolError if it fails (with the end of its error output), is not found, or exceeds `timeout`
    seconds.
    """
    words = [str(word) for word in command]
    try:
        done = subprocess.run(
            words, input=stdin, cwd=folder, capture_output=True, text=True, check=True, timeout=timeout
        )
    except FileNotFoundError as error:
        raise ToolError(f"{words[0]}: not found; install it or leave this contestant out") from error
    except subprocess.TimeoutExpired as error:
        raise ToolError(f"{words[0]}: still running after {timeout:g} s; stopped") from error
    except subprocess.CalledProcessError as error:
        tail = error.stderr.strip()[-2000:]
        raise ToolError(f"{' '.join(words)}: exit status {error.returncode}:\n{tail}") from error
    return done.stdout


@dataclass(frozen=True)
class Compiler:
    """One compiler family: its C and its C++ driver."""

    name: str
    c: str
    cxx: str

    def driver(self, source: Path) -> str:
        """The program that compiles this source, by its suffix."""
        return self.c if source.suffix in {".c", ".s"} else self.cxx

    @property
    def version(self) -> str:
        """The first line of `--version`."""
        return _version(self.c)


GCC = Compiler("gcc", "gcc", "g++")
CLANG = Compiler("clang", "clang", "clang++")


@lru_cache
def _version(program: str) -> str:
    return run([program, "--version"]).splitlines()[0]


def available(candidates: Iterable[Compiler] = (GCC, CLANG)) -> tuple[Compiler, ...]:
    """The compilers whose C and C++ drivers are both on the PATH."""
    return tuple(c for c in candidates if shutil.which(c.c) and shutil.which(c.cxx))


def compile_object(compiler: Compiler, source: Path, flags: Sequence[str], output: Path) -> float:
    """Compiles one source to one object, and returns the time in s."""
    start = time.perf_counter()
    run([compiler.driver(source), *flags, "-c", source, "-o", output])
    return time.perf_counter() - start


def cached_object(
    compiler: Compiler, source: Path, flags: Sequence[str], includes: Sequence[str] = ()
) -> Path:
    """The object of `source` in benchmarks/build, which is compiled if there is none with the same content.

    The content is the preprocessed text, the flags and the compiler's predefined macros, which include its
    version and, with -march=native, the processor's features. The paths of headers (`includes`: -I, -isystem,
    -fmacro-prefix-map) are not part of it.
    """
    program = compiler.driver(source)
    text = run([program, *flags, *includes, "-E", "-P", source])
    language = "c" if program == compiler.c else "c++"
    macros = run([program, *flags, "-dM", "-E", "-x", language, "-"])
    key = hashlib.sha256("\0".join([compiler.name, macros, *flags, text]).encode()).hexdigest()[:24]
    path = BUILD / f"{source.stem}-{compiler.name}-{key}.o"
    if not path.exists():
        BUILD.mkdir(parents=True, exist_ok=True)
        print(f"compiling {source.name} with {program}, minutes the first time", file=sys.stderr, flush=True)
        # In the same folder as the final object, so that the rename is atomic and no half object is left.
        with tempfile.TemporaryDirectory(prefix="compiling-", dir=BUILD) as folder:
            unfinished = Path(folder) / path.name
            compile_object(compiler, source, [*flags, *includes], unfinished)
            unfinished.replace(path)
    return path


def link(
    compiler: Compiler,
    objects: Sequence[Path],
    program: Path,
    *,
    draw: int = 0,
    libraries: Sequence[str] = ("-lm",),
) -> None:
    """Links with clang++ or g++.

    Draw 0 keeps the given order. Every other number shuffles the objects, and inserts a gap of its own in
    front of the code, which is a multiple of 16 bytes and less than a page.
    """
    order = list(objects)
    if draw:
        chance = random.Random(draw)
        chance.shuffle(order)
        gap = _PADDING_STEP * chance.randrange(1, _PADDING_STEPS)
        assembly = program.with_suffix(".s")
        assembly.write_text(f'.text\n.skip {gap}\n.section .note.GNU-stack,"",@progbits\n')
        padding = program.with_suffix(".gap.o")
        run([compiler.c, "-c", assembly, "-o", padding])
        order.insert(0, padding)
    run([compiler.cxx, *order, "-o", program, *libraries])


def text_bytes(objects: Sequence[Path]) -> int:
    """The bytes of machine code and read-only data in the objects (the `text` column of binutils' `size`)."""
    rows = run(["size", *objects]).splitlines()[1:]
    return sum(int(row.split()[0]) for row in rows)
