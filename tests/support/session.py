"""Patches for a whole run of tests, also in processes that tests start."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from rbdgen.emit.c.loops import LoopPrinter
from rbdgen.emit.c.printer import Printer
from rbdgen.emit.cuda.fused import FMA
from rbdgen.emit.cuda.printer import KernelPrinter
from rbdgen.graph.node import Graph
from rbdgen.graph.programs.verify import verify_program
from rbdgen.graph.verify import verify
from rbdgen.machine import available_cores


@contextmanager
def verified_printers() -> Iterator[None]:
    """Verifies every graph and program when it is printed, after all reordering."""
    graphs, programs = Printer.__init__, LoopPrinter.printed

    def printer(self: Printer, graph: Graph, *rest: Any) -> None:
        verify(graph, {FMA: 3} if isinstance(self, KernelPrinter) else {})
        graphs(self, graph, *rest)

    def printed(self: LoopPrinter) -> Any:
        verify_program(self.program)
        return programs(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Printer, "__init__", printer)
        patch.setattr(LoopPrinter, "printed", printed)
        yield


@contextmanager
def shared_cores() -> Iterator[None]:
    """Lets each of several workers of a test run design and compile on its part of the cores.

    A design on several cores starts as many processes, each of which imports all of rbdgen first.
    """
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    share = max(1, available_cores() // workers)
    with pytest.MonkeyPatch.context() as patch:
        for module in ("compilation", "rebuild", "workers"):
            patch.setattr(f"rbdgen.pipeline.{module}.available_cores", lambda: share)
        yield


LARGE: Final = 50_000
"""The number of bytes of a source from which `quick_compiler` does not optimise it."""

_QUICK: Final = """\
#!/bin/sh
# Runs the C compiler, which does not optimise large sources; small ones are compiled with all flags.
before=
source=
for word; do
    [ "$before" = -c ] && source=$word
    before=$word
done
if [ -n "$source" ] && [ "$(wc -c < "$source")" -gt {large} ]; then
    set -- "$@" -O0
fi
exec {compiler} "$@"
"""


@contextmanager
def quick_compiler(folder: Path) -> Iterator[None]:
    """Puts a `cc` into the folder and the folder into PATH; it does not optimise large sources.

    Optimisation takes three quarters of the time of a build and changes no result, because no flag lets the
    compiler fuse or reorder operations. Campaigns do without this and compile as users do.
    """
    compiler = shutil.which("cc")
    if compiler is None:
        yield
        return
    quick = folder / "cc"
    quick.write_text(_QUICK.format(large=LARGE, compiler=compiler), encoding="utf-8")
    quick.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", str(folder), prepend=os.pathsep)
        yield
