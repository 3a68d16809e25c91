"""A folder compiles in every standard of C and C++ that its users may have, without a warning."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from support.hopper import hopper

import rbdgen

STRICT = ("-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror", "-ffp-contract=off", "-fsyntax-only")
FUNCTIONS = ["step", "contact_step"]

TARGETS = {"host": "double", "portable": "double", "cortex-m4f": "float"}
"""The types of numbers, by target."""


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    root, robot = tmp_path_factory.mktemp("standards"), hopper()
    return [
        rbdgen.generate(robot, root / target, FUNCTIONS, target=target, real=real, compiled=False)
        for target, real in TARGETS.items()
    ]


@pytest.mark.parametrize(
    "standard", ["c99", "c11", "c17", "c2x", "c++11", "c++14", "c++17", "c++20", "c++2b"]
)
@pytest.mark.parametrize("family", ["gcc", "clang"])
def test_compiles_without_a_warning(family: str, standard: str, folders: list[Path], tmp_path: Path) -> None:
    if shutil.which(family) is None:
        pytest.skip(f"{family} is not installed")
    for folder in folders:
        texts = [*folder.glob("*.c"), *folder.glob("selftest/*.c")]
        if "++" in standard:
            (tmp_path / "main.cpp").write_text(f'#include "{next(folder.glob("*.hpp"))}"\n')
            texts = [tmp_path / "main.cpp"]
        machine = ["-march=native"] if folder.parent.name == "host" else []
        command = [family, f"-std={standard}", *machine, *STRICT, f"-I{folder}", *texts]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
