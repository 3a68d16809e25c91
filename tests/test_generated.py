"""The committed example in `generated/` is what the generator writes today."""

from __future__ import annotations

from pathlib import Path

import pytest

from rbdgen.cli import main

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "generated" / "double_pendulum"

COMMAND = "double_pendulum.urdf --target portable -q"
"""Golden vectors are left out below: the last digit of a sine depends on the machine."""


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("generated")
    robot, *options = COMMAND.split()
    assert main([str(ROOT / "robots" / robot), *options, "-o", str(out)]) == 0
    return out / "double_pendulum"


def test_same_files(fresh: Path) -> None:
    def names(folder: Path) -> set[str]:
        files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
        return {name for name in files if "__pycache__" not in name}

    assert names(EXAMPLE) == names(fresh)


@pytest.mark.parametrize(
    "name", ["double_pendulum.h", "double_pendulum_rnea.c", "double_pendulum_aba_derivatives.c", "README.md"]
)
def test_same_text(fresh: Path, name: str) -> None:
    assert (EXAMPLE / name).read_text() == (fresh / name).read_text(), f"run: rbdgen robots/{COMMAND}"
