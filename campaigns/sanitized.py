"""Every form of the functions of random robots under the sanitizers of gcc and clang.

The robots are those of the campaign `forms`, with closed loops, contacts and packed results, in float and in
double. For each robot, the forms are tried that no earlier robot had, until all have been tried; a form that
is too long to be compiled with sanitizers waits for a smaller robot. A case is one form, compiled by both
compilers.

A program in C reads states from a file and calls the form for each of them, and for batches of them. Every
array is allocated with its exact size, so that an access beyond its end is detected. The sanitizers of
addresses and of undefined behaviour must report nothing, and the results must be those of the interpreter.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np

from campaigns.emitted import (
    BATCHES,
    Emitted,
    Inputs,
    difference_of,
    expected,
    same_bits,
    verdict_on,
    written,
)
from campaigns.forms import CASES, COVERED, KINDS, Subject
from campaigns.guard import PATIENCE
from campaigns.paths import STATES
from campaigns.sanitizers import COMPILERS, EXACT, SANITIZERS
from campaigns.tally import Tally
from campaigns.verdicts import ByRobots, Verdict, Verdicts
from rbdgen.emit.package import FunctionSource

__all__ = ["COVERED", "KINDS", "run", "run_case"]

COVERED = {what: every for what, every in COVERED.items() if not what.endswith("compiled")}

SIZE = 600

SMALL = 3

ROBOTS = 150
"""The largest number of robots; it is reached if some form is too long for all of them."""

LONGEST = 2_000
"""The largest number of operations of a form that is compiled with sanitizers."""

DRIVER = """\
#define _POSIX_C_SOURCE 200112L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "attacked.h"
#include "attacked_batch.h"
typedef {real} real;

static real *room(size_t numbers, int whole_lines)
{{
    void *memory = NULL;
    const size_t size = numbers * sizeof(real);
    if (!whole_lines)
        memory = malloc(size);
    else if (posix_memalign(&memory, 64, size) != 0)
        memory = NULL;
    if (memory == NULL && size > 0)
        exit(3);
    return memory;
}}

static real *states(FILE *file, size_t numbers, int whole_lines)
{{
    real *memory = room(numbers, whole_lines);
    if (fread(memory, sizeof(real), numbers, file) != numbers)
        exit(4);
    return memory;
}}

static void done(FILE *file, real *memory, size_t numbers)
{{
    if (fwrite(memory, sizeof(real), numbers, file) != numbers)
        exit(5);
    free(memory);
}}

int main(int count, char **names)
{{
    FILE *from = count > 3 ? fopen(names[2], "rb") : NULL, *to = count > 3 ? fopen(names[3], "wb") : NULL;
    if (from == NULL || to == NULL)
        return 2;
{functions}
    fclose(from);
    return fclose(to) == 0 ? 0 : 6;
}}
"""


def _of_robot(seed: int, number: int, traces: Collection[int]) -> Verdicts:
    subject = Subject(seed, number)
    attempts = dict(enumerate(islice(subject.attempts(), max(traces) + 1)))
    short = [
        (attempts[k], source)
        for k in traces
        if k in attempts
        and isinstance(source := attempts[k].source, FunctionSource)
        and source.cost.total < LONGEST
    ]
    sources = [(source, subject.states(attempt.row)) for attempt, source in short]
    emitted = Emitted(subject.robot, subject.real, False, sources)
    words = [attempt.label for attempt, _ in short]
    found = dict(zip((attempt for attempt, _ in short), Sanitized(emitted, words).verdicts(), strict=True))

    def verdicts(trace: int) -> Sequence[Verdict]:
        return [found[attempts[trace]]] if trace in attempts and attempts[trace] in found else []

    return verdicts


CAMPAIGN = ByRobots("sanitized", KINDS, CASES, 1, _of_robot)
run_case = CAMPAIGN.run_case


def run(seed: int, size: int) -> Tally:
    """Tries, robot after robot, the forms that no earlier robot had."""
    left = {form for every in COVERED.values() for form in every}
    tally = Tally()
    for number in range(ROBOTS):
        if tally.tried >= size or not left:
            break
        labels = [attempt.label for attempt in islice(Subject(seed, number).attempts(), CASES)]
        first = {label: k for k, label in reversed(list(enumerate(labels))) if label in left}
        if chosen := sorted(first.values())[: size - tally.tried]:
            tally += CAMPAIGN.of_cases(seed, number, chosen)
        left -= tally.covered
    return tally


@dataclass(frozen=True)
class Sanitized:
    """Functions of a robot that are called by a program in C, and their labels."""

    emitted: Emitted
    labels: Sequence[str]

    def verdicts(self) -> Iterator[Verdict]:
        """Yields one verdict for each function, in order."""
        if not self.labels:
            return
        with tempfile.TemporaryDirectory(prefix="attack-") as scratch:
            try:
                folder = Path(scratch)
                functions, sources = self.emitted.sources()
                symbols = [sources.manifest["functions"][x.name]["symbol"] for x in functions]
                files = written(sources, folder)
                (folder / "main.c").write_text(self._driver(functions, symbols), encoding="utf-8")
                for compiler in COMPILERS:
                    self._compile(compiler, folder, files)
            except Exception as error:
                yield from [Verdict(f"{label}: {error!s:.300}", crashed=True) for label in self.labels]
                return
            for k, (function, label) in enumerate(zip(functions, self.labels, strict=True)):
                inputs = self.emitted.inputs(function, self.emitted.functions[k][1])
                found = verdict_on(partial(_tried, folder, k, function, inputs), label)
                yield replace(found, covers=(label,))

    def _driver(self, functions: Sequence[FunctionSource], symbols: Sequence[str]) -> str:
        calls = [
            f"    if (atoi(names[1]) == {k}) {{\n"
            + _singles(function, symbol)
            + _batches(function, symbol)
            + "    }"
            for k, (function, symbol) in enumerate(zip(functions, symbols, strict=True))
        ]
        return DRIVER.format(real=self.emitted.real, functions="\n".join(calls))

    def _compile(self, compiler: str, folder: Path, files: Sequence[str]) -> None:
        flags = [*EXACT, *SANITIZERS, "-fno-math-errno", "-Wno-psabi"]
        command = [compiler, *flags, *files, "main.c", "-o", compiler, "-lm"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            errors = [line for line in done.stderr.splitlines() if "error" in line]
            raise RuntimeError(f"{compiler} does not compile it: {(errors or [done.stderr])[0]:.300}")


def _singles(function: FunctionSource, symbol: str) -> str:
    """The C of the calls for one state after the other; each input and output has its own allocation."""
    signature = function.signature
    names = ", ".join(x.name for x in (*signature.inputs, *signature.outputs))
    lines = [
        f"for (int k = 0; k < {STATES}; ++k)",
        "{",
        *(f"    real *{x.name} = states(from, {x.size}, 0);" for x in signature.inputs),
        *(f"    real *{y.name} = room({y.size}, 0);" for y in signature.outputs),
        f"    {symbol}({names});",
        *(f"    done(to, {y.name}, {y.size});" for y in signature.outputs),
        *(f"    free({x.name});" for x in signature.inputs),
        "}",
    ]
    return "".join(f"        {line}\n" for line in lines)


def _batches(function: FunctionSource, symbol: str) -> str:
    if function.batch is None:
        return ""
    signature = function.signature
    lines = []
    for count, stream in BATCHES:
        given = [f"{x.name}, {x.size}" for x in signature.inputs]
        names = ", ".join([str(count), *given, *(y.name for y in signature.outputs), str(stream)])
        lines += [
            "{",
            *(f"    real *{x.name} = states(from, {count * x.size}, {stream});" for x in signature.inputs),
            *(f"    real *{y.name} = room({count * y.size}, {stream});" for y in signature.outputs),
            f"    {symbol}_batch({names});",
            *(f"    done(to, {y.name}, {count * y.size});" for y in signature.outputs),
            *(f"    free({x.name});" for x in signature.inputs),
            "}",
        ]
    return "".join(f"        {line}\n" for line in lines)


def _tried(folder: Path, k: int, function: FunctionSource, inputs: Inputs) -> str | None:
    """Says what is wrong with a function, as compiled by each of the compilers, if anything."""
    batches = BATCHES if function.batch is not None else ()
    parts = [np.concatenate([x[k] for x in inputs.values()]) for k in range(STATES)]
    parts += [x[:count].ravel() for count, _ in batches for x in inputs.values()]
    (folder / f"{k}.in").write_bytes(np.concatenate(parts).tobytes())
    for compiler in COMPILERS:
        command = [f"./{compiler}", str(k), f"{k}.in", f"{k}.out"]
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        if done.returncode != 0 or done.stderr:
            told = [line for line in done.stderr.splitlines() if "rror" in line]
            return f"{compiler}, status {done.returncode}: {(told or [done.stderr])[0]:.300}"
        results = np.frombuffer((folder / f"{k}.out").read_bytes(), next(iter(inputs.values())).dtype)
        if (problem := _off(results, function, inputs)) is not None:
            return f"{compiler}: {problem}"
    return None


def _off(results: np.ndarray, function: FunctionSource, inputs: Inputs) -> str | None:
    """Says what is wrong with the numbers that a program wrote, if anything."""
    outputs = function.signature.outputs
    singles = expected(function, function.printed, inputs)
    wanted = [(y.name, right[k]) for k in range(STATES) for y, right in zip(outputs, singles, strict=True)]
    exact = len(wanted)
    if function.batch is not None:
        several = expected(function, function.batch, inputs)
        wanted += [
            (y.name, right[:count].ravel())
            for count, _ in BATCHES
            for y, right in zip(outputs, several, strict=True)
        ]
    if results.size != sum(right.size for _, right in wanted):
        return f"it wrote {results.size} numbers"
    ends = np.cumsum([right.size for _, right in wanted])
    for place, (ours, (name, right)) in enumerate(zip(np.split(results, ends[:-1]), wanted, strict=True)):
        if not (same_bits(ours, right) if place < exact else np.array_equal(ours, right, equal_nan=True)):
            return f"{name}: not the interpreter's, {difference_of(ours, right)}"
    return None
