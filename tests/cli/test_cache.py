"""`rbdgen cache` prints the place and the size of the cache; `rbdgen cache clear` empties it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import rbdgen
from rbdgen.cli.command import main
from rbdgen.toolchain.cache import Cache


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RBDGEN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("RBDGEN_CACHE_SIZE", "1.5 GB")
    return tmp_path / "cache"


def told(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["cache", *words]) == 0
    return capsys.readouterr().out


def test_where_it_is(root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    empty = f"folder   {root}\nentries  0\nsize     0 bytes, at most 1.5 GB are kept (RBDGEN_CACHE_SIZE)\n"
    assert told(capsys) == empty
    assert not root.exists()  # the command creates no cache
    entry = Cache(root).entry("a" * 64, lambda folder: (folder / "x").write_bytes(bytes(1234)) and None)
    seal = (entry / "entry.json").stat().st_size
    monkeypatch.setenv("RBDGEN_CACHE_SIZE", "unlimited")
    lines = told(capsys).splitlines()
    assert lines[1] == "entries  1"
    assert lines[2] == f"size     {(1234 + seal) / 1000:.3g} kB, without a limit (RBDGEN_CACHE_SIZE)"


def test_libraries_stay_loaded_where_it_is_cleared(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lib = rbdgen.build("double_pendulum", ["gravity"])
    before = lib.gravity(np.ones(2))
    assert re.match(r"removed \d+ entries, ", told(capsys, "clear"))
    assert [path.name for path in root.iterdir()] == ["CACHEDIR.TAG"]
    assert np.array_equal(lib.gravity(np.ones(2)), before)
    assert told(capsys, "clear") == f"removed 0 entries, 0 bytes, from {root}\n"
    again = rbdgen.build("double_pendulum", ["gravity"])
    assert np.array_equal(again.gravity(np.ones(2)), before)


def test_the_limit_is_kept_by_builds(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rbdgen.build("double_pendulum", ["gravity"])
    first = {path.name for path in root.iterdir() if path.is_dir()}
    monkeypatch.setenv("RBDGEN_CACHE_SIZE", "1 kB")
    rbdgen.build("double_pendulum", ["com"])
    kept = first & {path.name for path in root.iterdir()}
    assert kept < first
    # the second build uses the objects of the code that all folders share
    assert all(name.startswith("object-") for name in kept)


def test_what_is_no_cache_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    monkeypatch.setenv("RBDGEN_CACHE", str(tmp_path))
    assert main(["cache", "clear"]) == 2
    said = capsys.readouterr().err
    assert said == (
        f"rbdgen: error: {tmp_path} holds what rbdgen did not write, such as 'thesis.tex'; nothing was "
        "removed: set RBDGEN_CACHE to a folder of its own\n"
    )
    assert (tmp_path / "thesis.tex").exists()
