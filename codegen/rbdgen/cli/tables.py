"""Prints the tables and lines of the command line, with rich."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from io import TextIOWrapper
from math import degrees
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.tree import Tree

from rbdgen.checks.accuracy import Accuracy
from rbdgen.checks.check import Finding
from rbdgen.checks.timing import Time
from rbdgen.description.quoting import escaped
from rbdgen.functions.differentiated import MODES
from rbdgen.functions.table import ALL
from rbdgen.functions.whole import WHOLE
from rbdgen.graph.bounds.found import Bounds
from rbdgen.graph.cost import COLUMNS, Cost
from rbdgen.model.build import Robot
from rbdgen.model.distances import DistanceSet
from rbdgen.prove.prove import Proof
from rbdgen.signature import Argument
from rbdgen.toolchain.kept import Cleared, Contents

WIDTH = 120
"""The width, in columns, of output that goes to a file or a pipe rather than to a terminal."""


def consoles(*, quiet: bool = False) -> tuple[Console, Console]:
    """The consoles for results and for everything else; characters that a terminal cannot show are
    escaped."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    # emoji: rich would print line 100 of a file, ":100:", as a picture
    console, errors = (Console(stderr=stderr, quiet=quiet, emoji=False) for stderr in (False, True))
    for each in (console, errors):
        if not each.is_terminal:
            each.width = WIDTH
    return console, errors


def functions_table() -> Table:
    """One line per function, one for all functions of frames and one for all of contacts, in 80 columns."""
    table = Table(box=None, pad_edge=False, caption_justify="left", width=80)
    table.add_column("function", no_wrap=True)
    table.add_column("computes", overflow="fold")
    for function in ALL.values():
        if not (function.of_frames or function.of_contacts):
            names = [argument.name for argument in function.signature.inputs if not argument.optional]
            inputs = ", ".join([*names, "..."] if len(names) < len(function.signature.inputs) else names)
            table.add_row(f"{function.name}({inputs})", escape(function.summary))
    table.add_row(
        "frame_...",
        f"{sum(row.of_frames for row in ALL.values())} functions of named frames; for a robot with --frames",
    )
    held = [name for name, function in ALL.items() if function.of_contacts]
    named = ["contact_...", *(name for name in held if not name.startswith("contact_"))]
    table.add_row(", ".join(named), f"{len(held)} functions of contacts; for a robot with --contact")
    table.add_row(
        ", ".join(f"NAME_{mode}" for mode in MODES), "derivatives of every function along directions"
    )
    numbers = [f"NAME_{kind}" for kind, made in WHOLE.items() if made.of_a_number]
    table.add_row("NAME_jacobian", "all derivatives of every function")
    table.add_row(", ".join(numbers), "those of functions of one number")
    table.add_row("--together NAME=F,F", "the results of several functions in one call")
    table.caption = "rbdgen list --forms: all, shapes, units, sources; --counts ROBOT: operations"
    return table


def forms_table() -> Table:
    """Every function with its inputs, outputs, shapes and units, and its forms with their sources."""
    table = Table(title="functions", title_justify="left")
    table.add_column("function", no_wrap=True)
    for column in ("inputs", "outputs", "computes"):
        table.add_column(column, overflow="fold")
    longest = max(len(form.name) for function in ALL.values() for form in function.all_forms)
    table.add_column("forms (source)", overflow="fold", min_width=longest)
    for function in ALL.values():
        table.add_row(
            function.name,
            "\n".join(map(_argument, function.signature.inputs)),
            "\n".join(map(_argument, function.signature.outputs)),
            function.summary,
            "\n".join(f"{form.name} ({form.source})" for form in function.all_forms),
        )
    return table


def proofs_table(proofs: Iterable[Proof]) -> Table:
    """One line per function: whether it is proved, alarms, and statements."""
    table = Table(title="proofs", title_justify="left")
    for column in ("function", "proved", "alarms", "statements reached", "finite", "kinds of alarms"):
        table.add_column(column, overflow="fold")
    for proof in proofs:
        table.add_row(
            proof.function,
            "yes" if proof.proved else "no",
            str(proof.alarms),
            f"{proof.reached} of {proof.statements}",
            "proved" if proof.finite else "not proved",
            escape("; ".join(proof.kinds)),
        )
    return table


def bounds_table(found: Iterable[Bounds]) -> Table:
    """One line per output: the range of its elements, and the largest rounding errors."""
    table = Table(title="bounds", title_justify="left", caption_justify="left")
    table.add_column("output", no_wrap=True)
    for column in ("lowest", "highest", "error in double", "error in float"):
        table.add_column(column, justify="right")
    table.add_column("unit", overflow="fold")
    endless = False
    for bounds in found:
        for name, output in bounds.outputs.items():
            ends = [output.lowest.min(initial=math.inf), output.highest.max(initial=-math.inf)]
            errors = [output.error[real].max(initial=0) for real in ("double", "float")]
            endless |= not all(map(math.isfinite, (*ends, *errors)))
            table.add_row(
                f"{bounds.function}: {name}",
                *(f"{end:.6g}" if math.isfinite(end) else "no bound" for end in ends),
                *(f"{error:.2g}" if math.isfinite(error) else "no bound" for error in errors),
                escape(output.unit),
            )
    table.caption = "of the elements of an output, the lowest and the highest; --json has all"
    if endless:
        table.caption += "\nno bound: the interval of a divisor contains 0; narrower ranges help"
    return table


def _argument(argument: Argument) -> str:
    sizes = [*map(str, argument.shape), *(["packed"] if argument.packed else [])]
    shape = f" ({', '.join(sizes)})" if sizes else ""
    return escape(f"{argument.name}{shape} [{argument.unit}]")


def robot_tree(robot: Robot) -> Tree:
    """The `outline` of a robot as a tree of rich."""
    top = robot.outline()
    tree = Tree(escape(top.text))
    waiting = [(top, tree)]
    while waiting:
        line, branch = waiting.pop()
        waiting += [(below, branch.add(escape(below.text))) for below in line.below]
    return tree


def inspect(console: Console, robot: Robot, warnings: Iterable[str]) -> None:
    """Prints the robot's tree, its snapped rotations, its capsules and pairs, and its warnings."""
    console.print(robot_tree(robot))
    for snap in robot.snapped:
        console.print(
            f"snapped: joint {escaped(snap.joint)}, rotation entries by at most {snap.change:.1e} "
            f"({degrees(snap.change):.1e} deg)",
            markup=False,
            soft_wrap=True,
        )
    if robot.model.distances.capsules:
        console.print(_distances_told(robot.model.distances), markup=False, soft_wrap=True)
    warn(console, warnings)


def _distances_told(own: DistanceSet) -> str:
    """The numbers of capsules and of pairs, and of those left out by their reason without details."""
    reasons = Counter(reason.partition(":")[0] for _, _, reason in own.left_out)
    left_out = ", ".join(f"{count} {reason}" for reason, count in reasons.items())
    told = f"distances: {len(own.capsules)} capsules, {len(own.pairs)} pairs"
    return f"{told}; left out: {left_out}" if left_out else told


MOST_WARNINGS = 12
"""The largest number of warnings that are printed with other output without being folded."""


def folded(warnings: Sequence[str]) -> list[str]:
    """The warnings, or, if there are many, the first of each kind and the number of others of that kind.

    The kind of a warning is its last part, which says what was done about it.
    """
    if len(warnings) <= MOST_WARNINGS:
        return list(warnings)
    kinds: dict[str, list[str]] = {}
    for warning in warnings:
        kinds.setdefault(warning.rpartition("; ")[2], []).append(warning)
    return [
        first + (f" (and {len(more)} more alike: see rbdgen inspect)" if more else "")
        for first, *more in kinds.values()
    ]


def warn(console: Console, warnings: Iterable[str]) -> None:
    """Prints one line per warning."""
    for warning in warnings:
        console.print(f"rbdgen: warning: {warning}", markup=False, soft_wrap=True)


def generation_table(functions: Mapping[str, Mapping[str, Any]]) -> Table:
    """One row per function: form, operation counts, and bytes of C, object code and stack."""
    table = _counted_table("function", "form")
    for column in ("C bytes", "object", "stack", "compile s"):
        table.add_column(column, justify="right")
    for name, facts in functions.items():
        operations = dict(facts["operations"])
        total = operations.pop("total")
        table.add_row(
            name,
            facts["form"],
            *(str(Cost(**operations).in_column(column)) for column in COLUMNS),
            str(total),
            str(facts["c_bytes"]),
            *(_measured(facts.get(key)) for key in ("object_bytes", "stack_bytes", "seconds")),
        )
    return table


def counts_table(counted: Mapping[str, tuple[str, Cost]]) -> Table:
    """The operation counts of every function's cheapest form."""
    table = _counted_table("function", "form")
    for name, (form, cost) in counted.items():
        table.add_row(
            name,
            form,
            *(str(cost.in_column(column)) for column in COLUMNS),
            str(cost.total),
        )
    return table


def kernels_table(functions: Mapping[str, Mapping[str, Any]]) -> Table:
    """One row per kernel and GPU: its blocks, and the figures of its machine code."""
    table = Table(title_justify="left")
    for column in ("function", "form", "GPU"):
        table.add_column(column)
    figures = ("registers", "spill_bytes", "instructions")
    for column in ("operations", "threads", "states", "shared bytes", "registers", "spilled", "instructions"):
        table.add_column(column, justify="right")
    for name, facts in functions.items():
        block = (facts[key] for key in ("operations", "threads", "states_per_block", "shared_bytes"))
        told = [str(number) for number in block]
        for arch, own in facts["architectures"].items():
            table.add_row(name, facts["form"], arch, *told, *(str(own[key]) for key in figures))
    return table


def _counted_table(*texts: str) -> Table:
    table = Table(title_justify="left")
    for column in texts:
        table.add_column(column)
    for column in (*COLUMNS, "total"):
        table.add_column(column, justify="right")
    return table


def findings_table(findings: Iterable[Finding]) -> Table:
    """One row per check, including those that were left out."""
    results = {True: "passed", False: "FAILED", None: "left out"}
    table = Table()
    for column in ("check", "result", "figure"):
        table.add_column(column)
    for finding in findings:
        table.add_row(escape(finding.what), results[finding.passed], escape(finding.figure))
    return table


def findings_told(findings: Sequence[Finding], states: int) -> str:
    """A summary of all findings in one line."""
    counts = [sum(finding.passed is result for finding in findings) for result in (True, False, None)]
    return "{} passed, {} failed, {} left out; at {} random states".format(*counts, states)


def accuracy_table(rows: Iterable[Accuracy], states: int) -> Table:
    """The relative errors of every function in float."""
    table = Table(title=f"float against double, {states:,} random states", title_justify="left")
    table.add_column("function")
    for column in ("median relative error", "largest", "its bound"):
        table.add_column(column, justify="right")
    for row in rows:
        bound = f"{row.bound:.1e}" if math.isfinite(row.bound) else "none"
        table.add_row(row.function, f"{row.median:.1e}", f"{row.largest:.1e}", bound)
    return table


def times_table(times: Iterable[Time]) -> Table:
    """The times of calls of every function from Python, in microseconds."""
    table = Table(title="microseconds, least of several repetitions", title_justify="left")
    table.add_column("function")
    for column in ("operations", "call", "bound call", "a state in batches"):
        table.add_column(column, justify="right")
    for time in times:
        table.add_row(
            time.function,
            str(time.operations),
            f"{time.call:.3f}",
            f"{time.bound:.3f}",
            f"{time.batch:.3f}",
        )
    return table


def cache_told(root: Path, held: Contents, limit: int | None) -> str:
    """Describes the place and the size of the cache, in lines."""
    most = "without a limit" if limit is None else f"at most {_bytes_told(limit)} are kept"
    return (
        f"folder   {escaped(str(root))}\nentries  {held.entries}\n"
        f"size     {_bytes_told(held.size)}, {most} (RBDGEN_CACHE_SIZE)"
    )


def cleared_told(root: Path, cleared: Cleared) -> str:
    """Describes in a line the entries that were removed from the cache."""
    removed = cleared.removed
    entries = f"{removed.entries} {'entry' if removed.entries == 1 else 'entries'}"
    left = f"; {cleared.in_use} in use at this moment stayed" if cleared.in_use else ""
    return f"removed {entries}, {_bytes_told(removed.size)}, from {escaped(str(root))}{left}"


def _bytes_told(size: int) -> str:
    """The text of a size in bytes, in the largest unit that is not larger than the size."""
    unit = next((unit for unit in reversed(_UNITS) if size >= _UNITS[unit]), "bytes")
    return f"{size / _UNITS[unit]:.3g} {unit}" if unit != "bytes" else f"{size} bytes"


_UNITS = {"bytes": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


def _measured(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.2f}" if isinstance(value, float) else str(value)
