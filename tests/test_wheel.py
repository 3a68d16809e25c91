"""The wheel as `pip install` unpacks it, away from the source tree: complete, and it generates."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("codegen", "templates", "robots", "pyproject.toml", "README.md", "LICENSE")
"""Of the source tree, what a wheel is built from."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel's content in it and nothing else."""
    source, site = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("site")
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, source / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / part, source)
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", source / "dist"]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    (wheel,) = (source / "dist").glob("rbdgen-*-py3-none-any.whl")
    ZipFile(wheel).extractall(site)
    shutil.rmtree(source)
    return site


def run(site: Path, folder: Path, *arguments: str | Path) -> str:
    """What Python prints in `folder`, with the wheel before all else on its path."""
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_holds_all_that_the_source_tree_has(site: Path) -> None:
    expected = {Path("rbdgen/py.typed")}
    for top, inside in (
        ("codegen/rbdgen", "rbdgen"),
        ("templates", "rbdgen/templates"),
        ("robots", "rbdgen/robots"),
    ):
        files = (
            path for path in (ROOT / top).rglob("*") if path.is_file() and "__pycache__" not in path.parts
        )
        expected |= {inside / path.relative_to(ROOT / top) for path in files}
    found = {path.relative_to(site) for path in site.rglob("*") if path.is_file()}
    assert sum(path.suffix == ".jinja" for path in expected) > 10
    assert {path for path in found if path.parts[0] == "rbdgen"} == expected
    assert {path.parts[0].partition("-")[0] for path in found} == {"rbdgen"}


def test_it_finds_its_own_templates_and_robots(site: Path, tmp_path: Path) -> None:
    program = "from rbdgen.resources import robot_root, template_root; print(template_root(), robot_root())"
    printed = run(site, tmp_path, "-c", program)
    assert printed.split() == [str(site / "rbdgen" / name) for name in ("templates", "robots")]


def test_it_generates_and_compiles(site: Path, tmp_path: Path) -> None:
    run(site, tmp_path, "-m", "rbdgen.cli", "double_pendulum", "-f", "rnea,crba", "-q")
    product = "import double_pendulum as d; print(d.rnea([0.3, -0.7], [0.1, 0.2], [0, 0]).round(8))"
    assert run(tmp_path / "generated", tmp_path, "-c", product) == "[ 0.57992332 -3.82663611]\n"
