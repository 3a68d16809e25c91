"""Finds the text of the algorithm that a form of a function was traced from, and the line of each quantity.

The form is traced once more, while a profiler notes for every operation which line of an algorithm asked for
it. A quantity, such as `motion[2].a.x`, is in the line that made its value.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from types import FrameType
from typing import Any, Final, NamedTuple

from rbdgen.functions.form import Form
from rbdgen.functions.function import Function
from rbdgen.graph.engine import GraphEngine
from rbdgen.graph.expression import Expr
from rbdgen.model.model import Model
from rbdgen.resources import package_root
from rbdgen.selection.trace import trace_on
from rbdgen.spatial.scalar import Scalar

_ALGORITHMS: Final = package_root() / "functions"

_IMPORT: Final = re.compile(r"^(from|import) [^(\n]*(\([^)]*\))?\n", re.MULTILINE)

_INDICES: Final = re.compile(r"\[[^\]]*\]|\.[xyz]{1,2}\b")


class Place(NamedTuple):
    """A line of a file."""

    file: str
    line: int


@dataclass(frozen=True)
class Algorithm:
    """The text of an algorithm, without its imports."""

    text: str = ""
    lines: Mapping[str, int] = field(default_factory=dict)
    """The number of the line, from 0, of each quantity, and of all quantities of a name without indices."""

    def line(self, label: str) -> int | None:
        """The line of a quantity such as `motion[2].a.x`, or that of most quantities of its name."""
        return self.lines.get(label, self.lines.get(_name(label)))


def algorithm_of(model: Model, function: Function, form: Form) -> Algorithm:
    """The algorithm of a form: first the module that most operations come from, then all others that have a
    line of a quantity.

    A module in a folder of `functions` is an algorithm; the others there only combine algorithms.
    """
    tracer = _Noting()
    _watched(tracer.watch, lambda: tracer.run(model, function, form))
    files = Counter(place.file for place in tracer.places if place is not None)
    if not files:
        return Algorithm()
    of_quantities = Counter(place.file for place in tracer.quantities.values())
    first = max(files, key=files.__getitem__)
    others = sorted(of_quantities.keys() - {first}, key=lambda file: (-of_quantities[file], file))
    return _joined([first, *others], tracer.quantities)


class _Noting(GraphEngine):
    """Traces and notes the place that each node of the graph comes from."""

    def __init__(self) -> None:
        super().__init__()
        self.places: list[Place | None] = []
        """By the number of the node."""
        self.quantities: dict[str, Place] = {}

    def run(self, model: Model, function: Function, form: Form) -> None:
        for name, _, elements in trace_on(self, model, function, form):
            for k, element in enumerate(elements):
                self._note(f"{name}[{k}]", element)

    def named(self, label: str, value: Scalar) -> Scalar:
        self._note(label, value)
        return super().named(label, value)

    def watch(self, frame: FrameType, event: str, _: Any) -> None:
        """Gives the nodes that were made since the last return of a function to the line that is running."""
        made = len(self.builder.nodes) - len(self.places)
        if event == "return" and made:
            self.places.extend([_place(frame)] * made)

    def _note(self, label: str, value: Scalar) -> None:
        if isinstance(value, Expr) and value.edge >> 1 < len(self.places):
            place = self.places[value.edge >> 1]
            if place is not None:
                self.quantities.setdefault(label, place)


def _watched(watch: Callable[[FrameType, str, Any], None], work: Callable[[], object]) -> None:
    """Does the work in a thread of its own, so that profilers and debuggers of this one are left alone."""

    def watched() -> None:
        sys.setprofile(watch)
        work()

    thread = Thread(target=watched)
    thread.start()
    thread.join()


def _place(frame: FrameType | None) -> Place | None:
    """The line of an algorithm that is running, in the innermost call of one."""
    while frame is not None:
        if _is_text(frame.f_code.co_filename):
            return Place(frame.f_code.co_filename, frame.f_lineno)
        frame = frame.f_back
    return None


def _is_text(file: str) -> bool:
    path = Path(file)
    return path.is_relative_to(_ALGORITHMS) and path.parent != _ALGORITHMS and path.name != "rows.py"


def _name(label: str) -> str:
    """The name of a quantity without its indices and axes: `motion.a` for `motion[2].a.x`."""
    return _INDICES.sub("", label)


def _joined(files: Sequence[str], quantities: Mapping[str, Place]) -> Algorithm:
    """The texts of the files as one, each but the first below its path, and the lines of quantities in it."""
    text: list[str] = []
    numbers: dict[Place, int] = {}
    for file in files:
        if text:
            text += ["", f"# ---- {Path(file).relative_to(_ALGORITHMS).as_posix()}", ""]
        for place, line in _kept(file):
            numbers[place] = len(text)
            text.append(line)
    lines = {label: numbers[place] for label, place in quantities.items() if place in numbers}
    of_names: dict[str, Counter[int]] = {}
    for label, number in lines.items():
        of_names.setdefault(_name(label), Counter())[number] += 1
    usual = {name: max(found, key=found.__getitem__) for name, found in of_names.items()}
    return Algorithm("\n".join(text) + "\n", usual | lines)


def _kept(file: str) -> Iterator[tuple[Place, str]]:
    """The lines of a file without its imports, and without empty lines in their place."""
    text = Path(file).read_text(encoding="utf-8")
    imported: set[int] = set()
    for found in _IMPORT.finditer(text):
        begin = text.count("\n", 0, found.start()) + 1
        imported.update(range(begin, begin + found[0].count("\n")))
    empty = 2
    for number, line in enumerate(text.rstrip().split("\n"), 1):
        empty = 0 if line and number not in imported else empty + (number not in imported)
        if number not in imported and empty <= 1:
            yield Place(file, number), line
