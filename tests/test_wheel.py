"""The source distribution and the wheel made from it are complete, and work outside of the source tree."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
from email import message_from_string
from pathlib import Path
from zipfile import ZipFile

import pytest

import rbdgen

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LEAST: str = PROJECT["project"]["requires-python"]
PARTS: list[str] = PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
"""The parts of the source tree in a source distribution, beside `pyproject.toml`."""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that a source distribution unpacks to."""
    copy, unpacked = tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("source")
    for part in (*PARTS, "pyproject.toml", ".gitignore"):
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, copy / part, ignore=shutil.ignore_patterns("__pycache__", "build"))
        else:
            shutil.copy(ROOT / part, copy)
    with tarfile.open(built(copy, "sdist")) as archive:
        archive.extractall(unpacked, filter="data")
    shutil.rmtree(copy)
    (folder,) = unpacked.iterdir()
    return folder


@pytest.fixture(scope="module")
def site(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the content of the wheel that the source distribution gives, and nothing else."""
    site = tmp_path_factory.mktemp("site")
    ZipFile(built(source, "wheel")).extractall(site)
    return site


def built(folder: Path, target: str) -> Path:
    """The file of this kind that hatchling builds from a source tree."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", folder / "dist"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    (file,) = (folder / "dist").glob("rbdgen-*.tar.gz" if target == "sdist" else "rbdgen-*-py3-none-any.whl")
    return file


def run(site: Path, folder: Path, *arguments: str | Path) -> str:
    """The output of Python in `folder`, with the wheel first on its path."""
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


def test_the_source_distribution_holds_all_parts(source: Path) -> None:
    assert {path.name for path in source.iterdir()} - {"dist"} == {
        *PARTS, "pyproject.toml", "PKG-INFO", ".gitignore"
    }  # fmt: skip
    assert [path.name for path in (source / "generated").iterdir()] == ["double_pendulum"]


def test_all_places_name_the_same_least_python_and_version(site: Path) -> None:
    """pip's metadata, the documentation and the continuous integration agree."""
    (file,) = site.glob("rbdgen-*.dist-info/METADATA")
    metadata = message_from_string(file.read_text(encoding="utf-8"))
    assert metadata["Requires-Python"] == LEAST
    least = LEAST.removeprefix(">=")
    assert f"Python {least} or newer" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"Programming Language :: Python :: {least}" in metadata.get_all("Classifier", [])
    assert PROJECT["tool"]["mypy"]["python_version"] == least
    assert sys.version_info >= tuple(map(int, least.split(".")))
    assert metadata["Version"] == rbdgen.__version__
    assert f"\n## {rbdgen.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_continuous_integration_runs_on_the_least_python() -> None:
    """`.ci/run` finds the line of this version in `pyproject.toml`."""
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    (line,) = (line for line in lines if line.startswith("least="))
    done = subprocess.run(
        ["bash", "-c", f"{line}; echo $least"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == LEAST.removeprefix(">=")


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
