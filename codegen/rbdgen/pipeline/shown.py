"""Shows progress: by a bar on a terminal or in a notebook, and by lines elsewhere.

The command line and calls from Python share this module. It imports rich only when something is shown.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from threading import Lock, Timer
from typing import TYPE_CHECKING, Any, Final

from rbdgen.description.quoting import told
from rbdgen.errors import OptionError
from rbdgen.pipeline.progress import Progress, Report, silent

if TYPE_CHECKING:
    from rich.console import Console

AFTER: Final = 2.0
"""The time, in seconds, after which the progress of a task is shown even if nobody asked for it."""


@contextmanager
def shown(asked: bool | None = None) -> Iterator[Progress]:
    """Shows the progress of a call from Python: always (True), never (False), or only if the call takes long
    and standard error is a terminal or a notebook (None).

    Raises OptionError for another value.
    """
    if asked is not None and not isinstance(asked, bool):
        raise OptionError(f"progress {told(asked)} is not one of the choices; give True, False or None")
    if asked is False or (asked is None and not _is_seen()):
        yield silent
        return
    with _shown_by(_console, 0.0 if asked else AFTER) as progress:
        yield progress


@contextmanager
def shown_on(console: Console) -> Iterator[Progress]:
    """Shows the progress of a task on this console, from its beginning."""
    with _shown_by(lambda: console, 0.0) as progress:
        yield progress


def say(console: Console, text: str) -> None:
    """Prints one line that belongs to no table."""
    console.print(f"rbdgen: {text}", markup=False, highlight=False, soft_wrap=True)


@contextmanager
def _shown_by(console: Callable[[], Console], after: float) -> Iterator[Progress]:
    display = _Display(console, after)
    try:
        yield display
    finally:
        display.close()


def _is_seen() -> bool:
    """Whether standard error is a terminal or a notebook, so that a person sees what is printed."""
    try:
        return _in_notebook() or sys.stderr.isatty()
    except (AttributeError, ValueError):  # closed, or replaced by something else
        return False


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    return shell is not None and type(shell.get_ipython()).__name__ == "ZMQInteractiveShell"


def _console() -> Console:
    from rich.console import Console  # noqa: PLC0415  (only where something is shown)

    # rich needs ipywidgets to draw in notebooks
    return Console(
        stderr=True, emoji=False, force_jupyter=_in_notebook() and find_spec("ipywidgets") is not None
    )


class _Display:
    """Shows the latest report once a task has taken long enough."""

    def __init__(self, console: Callable[[], Console], after: float) -> None:
        self._made, self._after = console, after
        self._lock = Lock()
        self._timer: Timer | None = None
        self._console: Console | None = None
        self._bar: Any = None
        self._latest = Report()
        self._waiting: list[str] = []
        self._closed = False

    def __call__(self, report: Report) -> None:
        with self._lock:
            if self._closed:
                return
            self._latest = report if report.now or report.total else self._latest
            if report.ended:
                self._waiting.append(report.ended)
            if self._console is not None:
                self._show()
            elif self._after <= 0:
                self._begin()
            elif self._timer is None:
                self._timer = Timer(self._after, self._late)
                self._timer.daemon = True
                self._timer.start()

    def close(self) -> None:
        """Removes the bar, and shows nothing more."""
        with self._lock:
            self._closed = True
            if self._timer is not None:
                self._timer.cancel()
            if self._bar is not None:
                self._bar.stop()

    def _late(self) -> None:
        with self._lock, suppress(OSError, ValueError):  # if standard error was closed in the meantime
            if not self._closed:
                self._begin()

    def _begin(self) -> None:
        self._console = self._made()
        if self._console.is_terminal or self._console.is_jupyter:
            self._bar = _bar(self._console)
        self._show()
        if self._bar is not None:
            self._bar.start()

    def _show(self) -> None:
        assert self._console is not None
        if self._bar is None:
            for text in self._waiting:
                say(self._console, text)
        else:
            latest = self._latest
            text = latest.now or (self._waiting or [""])[-1]
            changed = {"description": text} if text else {}
            self._bar.update(0, completed=latest.done, total=latest.total or None, refresh=True, **changed)
        self._waiting.clear()


def _bar(console: Console) -> Any:
    from rich import progress as bars  # noqa: PLC0415  (only where something is shown)

    columns = (bars.SpinnerColumn(), bars.TextColumn("{task.description}", markup=False), bars.BarColumn())
    # standard output is not redirected, because that of the cffi binding is captured while the bar is shown
    bar = bars.Progress(
        *columns,
        bars.TimeElapsedColumn(),
        console=console,
        transient=True,
        redirect_stdout=False,
    )
    bar.add_task("", total=None)
    return bar
