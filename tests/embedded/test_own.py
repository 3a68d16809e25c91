"""The controller of `examples/reach.py` has the expected bits on an emulated Cortex-M7."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

from embedded.board import BOARDS, SUPPORT, checked, run
from support.folders import selftest_sources

import rbdgen
from rbdgen.toolchain.targets import TARGETS

EXAMPLE = Path(__file__).parents[2] / "examples" / "reach.py"


def test_the_reach_on_a_cortex_m7(tmp_path: Path) -> None:
    names = runpy.run_path(str(EXAMPLE))
    target, board = TARGETS["cortex-m7"], BOARDS["cortex-m7"]
    folder = rbdgen.generate(
        names["ROBOT"],
        tmp_path,
        functions=[names["reach"]],
        target="cortex-m7",
        real="float",
        compiled=False,
    )
    report = ("-include", SUPPORT / "report.h", "-DARM7_REPORT(...)=report(__VA_ARGS__)")
    compiler = (f"{target.prefix}gcc", "-std=gnu99", *target.flags, f"-I{SUPPORT}", "-Wno-unused-function")
    elf = tmp_path / "selftest.elf"
    checked([*compiler, *report, *selftest_sources(folder), *board.support(), *board.link_flags(), "-o", elf])
    lines, _ = run(elf, target)
    line = r"^reach: ok, 0+ wrong elements in \w+ states, bits [0-9a-f]{8} as expected$"
    assert re.search(line, "\n".join(lines), re.MULTILINE), lines
