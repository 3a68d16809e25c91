"""Compares this working tree with another commit: `--before COMMIT` of the benchmarks.

The other commit is checked out in a temporary worktree of git. Each side generates the same functions by its
own command line, in its own process, and both are then measured in turns in one run. Only ratios are printed,
because other work on the machine changes all times, but hardly their ratios. The largest difference of the
results is relative to the largest entry of an output.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from benchmarks import toolchain
from benchmarks.c_driver import CFunction, Programs, linked
from benchmarks.contestants import ROOT, Contest, Suite
from benchmarks.states import SAME, States, random_states
from benchmarks.toolchain import ToolError
from rbdgen.description.contacts import Contact, Frame, Point
from rbdgen.options import Options
from rbdgen.pipeline.compilation import toolchain_of
from rbdgen.runtime import Library, open_library
from rbdgen.toolchain.compiler import find_compiler
from rbdgen.toolchain.module import Toolchain

SECONDS: Final = 0.05
"""The duration of one run of one link, in s. Runs of both sides alternate."""

Ways = Mapping[str, Callable[[], float]]
"""Functions that measure the time of one run in ns, by the name of the measurement."""


@dataclass(frozen=True)
class Comparison:
    """A function on both sides."""

    name: str
    forms: tuple[str, str]
    ratios: Mapping[str, float]
    """The time before over the time after, by compiler; above 1 if this tree is faster."""
    code_bytes: tuple[int, int]
    difference: float

    @property
    def cells(self) -> list[str]:
        before, after = self.forms
        small, large = self.code_bytes
        return [
            self.name,
            before if before == after else f"{before}, now {after}",
            *(f"{ratio:.3f}" for ratio in self.ratios.values()),
            f"{large / small:.2f}",
            f"{self.difference:.0e}",
        ]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add `--before` and `--functions` to a benchmark."""
    parser.add_argument("--before", metavar="COMMIT", help="only compare with this commit; nothing is saved")
    parser.add_argument("--functions", metavar="NAME,NAME", help="the functions that --before compares")


@contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """A temporary worktree of a commit of this project. Raises ToolError if there is no such commit."""
    with tempfile.TemporaryDirectory(prefix="before-") as folder:
        tree = Path(folder) / "tree"
        git = ["git", "-C", str(ROOT), "worktree"]
        toolchain.run([*git, "add", "--detach", "--quiet", tree, commit])
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=False, capture_output=True)


def generated(
    tree: Path, contest: Contest, suite: Suite, functions: Sequence[str], out: Path, *, compiled: bool
) -> Path:
    """The folder that the command line of a working tree writes. Raises ToolError if it fails."""
    words = [str(contest.urdf), "--base", contest.base, "--mimic", "independent", "--quiet"]
    words += ["--functions", ",".join(functions), "--out", str(out)]
    words += [] if compiled else ["--no-compile"]
    if frames := suite.frames.get(contest.name):
        words += ["--frames", ",".join(frames)]
    for contact in suite.contacts.get(contest.name, ()):
        words += _contact(contact)
    environment = os.environ | {"PYTHONPATH": str(tree / "codegen")}
    command = [sys.executable, "-m", "rbdgen.cli", *words]  # commits without rbdgen.__main__ have it, too
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ToolError(f"{tree.name}: {done.stderr.strip()[-500:]}")
    (folder,) = out.iterdir()
    return folder


def _contact(contact: Contact) -> list[str]:
    """The words that add a contact on the command line."""
    assert isinstance(contact, Point | Frame)
    place = ",".join(map(str, contact.point))
    option = "--contact" if isinstance(contact, Point) else "--contact-frame"
    return [option, f"{contact.name}={contact.link}:{place}"]


def compare_calls(
    contest: Contest, suite: Suite, commit: str, functions: Sequence[str], relinks: int
) -> Table:
    """Single calls of the functions in C, with every compiler."""
    headings = ["function", "form", *(c.name for c in toolchain.available()), "code", "difference"]
    table = Table(*headings, title=f"{contest.name}: the time at {commit} over the time here")
    with checked_out(commit) as tree, tempfile.TemporaryDirectory(prefix="before-") as work:
        folders = [
            generated(side, contest, suite, functions, Path(work) / str(k), compiled=False)
            for k, side in enumerate((tree, ROOT))
        ]
        for name in functions:
            table.add_row(*_compared(name, contest, folders, relinks).cells)
    return table


def _compared(name: str, contest: Contest, folders: Sequence[Path], relinks: int) -> Comparison:
    """A function of both folders, measured in turns."""
    manifests = [json.loads((folder / "manifest.json").read_text(encoding="utf-8")) for folder in folders]
    told = [manifest["functions"][name] for manifest in manifests]
    shape = CFunction(told[1]["symbol"], _sizes(told[1]["inputs"]), _sizes(told[1]["outputs"]))
    states = random_states(manifests[1]["nv"], floating=contest.floating)
    inputs = [_rows(states, x["name"], size) for x, size in zip(told[1]["inputs"], shape.inputs, strict=True)]
    ratios: dict[str, float] = {}
    for compiler in toolchain.available():
        flags = Toolchain(find_compiler(compiler.c), toolchain_of(Options()).flags).function_flags
        with ExitStack() as stack:
            sides: list[Programs] = [
                stack.enter_context(
                    linked(
                        shape,
                        [folder / one["source"]],
                        inputs,
                        compiler=compiler,
                        flags=flags,
                        links=relinks,
                    )
                )
                for folder, one in zip(folders, told, strict=True)
            ]
            before, after = _least_in_turns(
                [[side.time(draw, SECONDS) for side in sides] for draw in range(relinks)]
            )
            ratios[compiler.name] = before / after
            difference = _difference(*(side.outputs() for side in sides))
            code_bytes = sides[0].text_bytes, sides[1].text_bytes
    return Comparison(name, (told[0]["form"], told[1]["form"]), ratios, code_bytes, difference)


def _least_in_turns(turns: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """The least time of each side over all turns."""
    return tuple(map(min, zip(*turns, strict=True)))


def _sizes(arguments: Sequence[Mapping[str, Any]]) -> tuple[int, ...]:
    return tuple(prod(x["shape"]) for x in arguments)


def _rows(states: States, name: str, size: int) -> NDArray[np.float64]:
    """The values of an input, one row per state: those of `States`, those of `SAME`, or random numbers."""
    if name in SAME:
        return np.full((len(states), size), SAME[name])
    if hasattr(states, name):
        return np.asarray(getattr(states, name))
    return np.random.default_rng(1).normal(size=(len(states), size))


def _difference(before: Sequence[NDArray[Any]], after: Sequence[NDArray[Any]]) -> float:
    """The largest difference of an entry, relative to the largest entry of its output."""
    return max(
        float(np.abs(a - b).max() / max(1.0, float(np.abs(a).max())))
        for a, b in zip(before, after, strict=True)
        if a.size
    )


def compare_packages(
    contest: Contest,
    suite: Suite,
    commit: str,
    functions: Sequence[str],
    ways: Callable[[Library], Ways],
    repetitions: int,
) -> Table:
    """The measurements that `ways` takes of the compiled packages of both sides, such as batches."""
    table = Table("way", "ratio", title=f"{contest.name}: the time at {commit} over the time here")
    with checked_out(commit) as tree, tempfile.TemporaryDirectory(prefix="before-") as work:
        sides = [
            ways(open_library(generated(side, contest, suite, functions, Path(work) / str(k), compiled=True)))
            for k, side in enumerate((tree, ROOT))
        ]
        for name in sides[1]:
            before, after = _least_in_turns([[side[name]() for side in sides] for _ in range(repetitions)])
            table.add_row(name, f"{before / after:.3f}")
    return table


def printed(compared: Callable[[Contest], Table], contests: Sequence[Contest]) -> None:
    """Prints the tables of these robots."""
    for contest in contests:
        print(f"{contest.name}: generating and measuring", file=sys.stderr, flush=True)
        Console(width=120).print(compared(contest))
