"""Finds the text of the algorithm that a form of a function was traced from."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from types import FrameType
from typing import Any

from rbdgen.functions.form import Form
from rbdgen.functions.function import Function
from rbdgen.model.model import Model
from rbdgen.resources import package_root
from rbdgen.selection.trace import trace_graph

_ALGORITHMS = package_root() / "functions"


def text_of(model: Model, function: Function, form: Form) -> str:
    """The text of the module whose functions compute the form, without its imports.

    The form is traced once, and the calls of functions are counted by module. A module in a folder of
    `functions` is an algorithm; the others there only combine algorithms.
    """
    called = Counter[str]()

    def watch(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            called[frame.f_code.co_filename] += 1

    _watched(watch, lambda: trace_graph(model, function, form, "graph"))
    algorithms = {
        name: times
        for name, times in called.items()
        if Path(name).is_relative_to(_ALGORITHMS) and _is_text(name)
    }
    if not algorithms:
        return ""
    return _without_imports(Path(max(algorithms, key=algorithms.__getitem__)).read_text(encoding="utf-8"))


def _watched(watch: Callable[[FrameType, str, Any], None], work: Callable[[], object]) -> None:
    """Does the work in a thread of its own, so that profilers and debuggers of this one are left alone."""

    def watched() -> None:
        sys.setprofile(watch)
        work()

    thread = Thread(target=watched)
    thread.start()
    thread.join()


def _is_text(name: str) -> bool:
    path = Path(name)
    return path.parent != _ALGORITHMS and path.name != "rows.py"


def _without_imports(text: str) -> str:
    kept = re.sub(r"^(from|import) [^(\n]*(\([^)]*\))?\n", "", text, flags=re.MULTILINE)
    return re.sub(r"\n{3,}", "\n\n", kept).strip() + "\n"
