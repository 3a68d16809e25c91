"""The cache is private, shared by processes, and only holds complete entries, also after accidents."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from rbdgen.errors import BuildError
from rbdgen.toolchain.cache import Cache

KEY = "k" * 64


def filler(text: str) -> Callable[[Path], None]:
    def fill(folder: Path) -> None:
        (folder / "sub").mkdir()
        (folder / "sub" / "module.so").write_text(text)

    return fill


def refuse(folder: Path) -> None:
    raise AssertionError("built again")


def test_an_entry_is_made_once(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    assert cache.lookup(KEY) is None
    entry = cache.entry(KEY, filler("x"))
    assert (entry / "sub" / "module.so").read_text() == "x"
    assert cache.entry(KEY, refuse) == entry == cache.lookup(KEY)
    assert Cache(tmp_path / "cache").entry(KEY, refuse) == entry


def test_nobody_else_may_enter(tmp_path: Path) -> None:
    open_folder = tmp_path / "cache"
    open_folder.mkdir(mode=0o777)
    open_folder.chmod(0o777)
    for root in (open_folder, tmp_path / "new" / "cache"):
        cache = Cache(root)
        assert not cache.temporary
        assert stat.S_IMODE(root.stat().st_mode) == 0o700
        assert stat.S_IMODE(cache.entry(KEY, filler("x")).stat().st_mode) == 0o700


@pytest.mark.parametrize("damage", ["truncate", "remove", "unseal", "empty", "nonsense", "deep", "fewer"])
def test_a_damaged_entry_is_made_anew(tmp_path: Path, damage: str) -> None:
    cache = Cache(tmp_path)
    entry = cache.entry(KEY, filler("good"))
    module, seal = entry / "sub" / "module.so", entry / "entry.json"
    if damage == "truncate":
        module.write_text("go")
    elif damage == "remove":
        module.unlink()
    elif damage == "unseal":
        seal.unlink()
    elif damage == "fewer":
        module.unlink()
        sealed = json.loads(seal.read_text())
        seal.write_text(json.dumps({**sealed, "files": {}}))
    else:
        seal.write_text({"empty": "", "nonsense": "[1]", "deep": "[" * 50_000}[damage])
    assert cache.lookup(KEY) is None
    assert (cache.entry(KEY, filler("good")) / "sub" / "module.so").read_text() == "good"
    assert not list(tmp_path.glob(".staging-*"))


def test_an_entry_under_the_name_of_another_is_made_anew(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    other = cache.entry("other", filler("other"))
    other.rename(tmp_path / KEY)
    assert cache.lookup(KEY) is None
    assert (cache.entry(KEY, filler("good")) / "sub" / "module.so").read_text() == "good"


def test_a_failed_build_leaves_nothing(tmp_path: Path) -> None:
    cache = Cache(tmp_path)

    def fail(folder: Path) -> None:
        (folder / "half").write_text("")
        raise BuildError("no")

    with pytest.raises(BuildError, match="no"):
        cache.entry(KEY, fail)
    assert cache.lookup(KEY) is None
    assert not list(tmp_path.glob(".staging-*"))
    assert cache.entry(KEY, filler("x")).is_dir()


def test_what_a_killed_process_left_is_removed_after_a_day(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    old, young = tmp_path / ".staging-old", tmp_path / ".staging-young"
    old.mkdir()
    young.mkdir()
    os.utime(old, (0, 0))
    cache.entry(KEY, filler("x"))
    assert not old.exists()
    assert young.exists()


def test_a_full_disk_is_one_line(tmp_path: Path) -> None:
    def full(folder: Path) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(BuildError, match="No space left on device; free space or choose another folder"):
        Cache(tmp_path).entry(KEY, full)


def test_an_unusable_folder_is_replaced_by_a_private_one(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.warns(
        UserWarning, match=r"cache .* cannot be used \(Not a directory\): builds will not be kept"
    ):
        cache = Cache(tmp_path / "file" / "cache")
    assert cache.temporary
    assert stat.S_IMODE(cache.root.stat().st_mode) == 0o700
    assert cache.entry(KEY, filler("x")).is_dir()
    root = cache.root
    del cache
    assert not root.exists()


def test_a_folder_of_somebody_else_is_not_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    with pytest.warns(UserWarning, match="it belongs to another user"):
        assert Cache(tmp_path).temporary


CONTENDER = """
import sys, time
from pathlib import Path
from rbdgen.toolchain.cache import Cache

def fill(folder):
    with open(sys.argv[2], "a") as log:
        log.write("built\\n")
    for k in range(20):
        (folder / f"part{k}").write_text("x" * 1000)
        time.sleep(0.01)

entry = Cache(Path(sys.argv[1])).entry("k" * 64, fill)
assert sum(len(path.read_text()) for path in entry.glob("part*")) == 20000
"""


@pytest.mark.parametrize("damaged", [False, True])
def test_processes_that_want_the_same_build_share_it(tmp_path: Path, damaged: bool) -> None:
    root, log = tmp_path / "cache", tmp_path / "log"
    if damaged:
        (root / KEY).mkdir(parents=True)
        (root / KEY / "part0").write_text("half")
    command = [sys.executable, "-c", CONTENDER, str(root), str(log)]
    processes = [subprocess.Popen(command) for _ in range(4)]
    assert [process.wait() for process in processes] == [0, 0, 0, 0]
    assert log.read_text() == "built\n"


def test_a_home_that_nobody_knows() -> None:
    with pytest.warns(UserWarning, match="its home folder is not known"):
        assert Cache(Path("~nosuchuser/x")).temporary


def test_neither_a_cache_nor_a_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(**_: str) -> str:
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setattr(tempfile, "mkdtemp", none)
    (tmp_path / "file").write_text("")
    with (
        pytest.warns(UserWarning, match="cannot be used"),
        pytest.raises(BuildError, match=r"nor a temporary folder .*; set RBDGEN_CACHE to a folder"),
    ):
        Cache(tmp_path / "file" / "cache")
