"""Every compiler accepts the flags of functions, and none of them gives up IEEE 754."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from rbdgen.toolchain.compiler import check_flags, find_compiler
from rbdgen.toolchain.module import Toolchain


@pytest.mark.parametrize("name", [name for name in ("gcc", "clang") if shutil.which(name)])
def test_compilers_take_the_flags_silently(name: str, tmp_path: Path) -> None:
    tools = Toolchain(find_compiler(name), ("-O2", "-ffp-contract=off"))
    flags = (*tools.function_flags, *tools.batch_flags)
    check_flags(flags)
    source = tmp_path / "square.c"
    source.write_text("double square(double x);\ndouble square(double x) { return x * x; }\n")
    command = [name, *flags, "-Werror", "-c", source, "-o", tmp_path / "square.o"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
