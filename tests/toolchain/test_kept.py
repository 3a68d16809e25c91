"""The size of the cache is bounded, and it can be emptied; entries in use and files of others stay."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rbdgen.errors import BuildError, OptionError
from rbdgen.options import environment_cache_size
from rbdgen.toolchain.cache import Cache, user_cache, user_cache_root
from rbdgen.toolchain.kept import SEAL, TAG, Cleared, Contents, clear, contents, trim

KEYS = [prefix + digit * 64 for prefix, digit in (("", "a"), ("design-", "b"), ("shared-", "c"), ("", "d"))]
SIZE = 1000


def filler(size: int = SIZE) -> Callable[[Path], None]:
    def fill(folder: Path) -> None:
        (folder / "sub").mkdir()
        (folder / "sub" / "module.so").write_bytes(bytes(size))

    return fill


def filled(root: Path, limit: int | None = None) -> Cache:
    """A cache whose entries were last used one after another, long ago."""
    cache = Cache(root, limit)
    for k, key in enumerate(KEYS):
        os.utime(cache.entry(key, filler()) / SEAL, (k + 1, k + 1))
    return cache


def entries(root: Path) -> list[str]:
    return [key for key in KEYS if (root / key).is_dir()]


def test_what_it_holds(tmp_path: Path) -> None:
    filled(tmp_path / "cache")
    held = contents(tmp_path / "cache")
    assert held.entries == 4
    assert 4 * SIZE < held.size < 4 * (SIZE + 500)  # the size includes the seals
    assert contents(tmp_path / "nowhere") == Contents(0, 0)


def test_the_least_recently_used_go_first(tmp_path: Path) -> None:
    cache = filled(tmp_path)
    cache.entry(KEYS[0], filler())  # used again
    trim(tmp_path, 2 * (SIZE + 500))
    assert entries(tmp_path) == [KEYS[0], KEYS[3]]
    assert cache.lookup(KEYS[0]) is not None
    assert sorted(path.stem for path in tmp_path.glob("*.lock")) == entries(tmp_path)
    assert not list(tmp_path.glob(".staging-*"))


def test_a_new_entry_makes_room(tmp_path: Path) -> None:
    filled(tmp_path)
    new = "e" * 64
    cache = Cache(tmp_path, limit=2 * (SIZE + 500))
    cache.entry(KEYS[0], filler())  # the entry exists, so nothing is removed
    assert len(entries(tmp_path)) == 4
    cache.entry(new, filler())
    assert entries(tmp_path) == [KEYS[0], KEYS[3]]
    assert cache.lookup(new) is not None


def test_damaged_entries_go_first(tmp_path: Path) -> None:
    filled(tmp_path)
    (tmp_path / KEYS[3] / SEAL).unlink()
    trim(tmp_path, 3 * (SIZE + 500))
    assert entries(tmp_path) == KEYS[:3]


def test_no_limit_keeps_all_and_none_keeps_what_is_in_use(tmp_path: Path) -> None:
    filled(tmp_path)
    Cache(tmp_path).entry("e" * 64, filler())
    assert len(entries(tmp_path)) == 4
    with Cache(tmp_path).using(KEYS[1], filler()):
        trim(tmp_path, 0)
        assert entries(tmp_path) == [KEYS[1]]
    trim(tmp_path, 0)
    assert entries(tmp_path) == []


def test_what_was_used_since_it_was_looked_at_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process may use an entry between the decision to remove it and its lock."""
    cache = filled(tmp_path)
    from rbdgen.toolchain import kept  # noqa: PLC0415

    original = kept._removed

    def late(folder: Path, unused_since: float | None = None) -> bool:
        cache.entry(folder.name, filler())
        return original(folder, unused_since)

    monkeypatch.setattr(kept, "_removed", late)
    trim(tmp_path, 0)
    assert entries(tmp_path) == KEYS


def test_clear_leaves_an_empty_folder(tmp_path: Path) -> None:
    root = tmp_path / "cache"
    held = (filled(root), contents(root))[1]
    (root / f".staging-{'0' * 16}").mkdir()  # of earlier versions
    (root / f".staging-{KEYS[0]}-{'0' * 16}").mkdir()  # of a process that was killed
    assert clear(root) == Cleared(held, in_use=0)
    assert {path.name for path in root.iterdir()} <= {TAG, f".staging-{'0' * 16}"}
    assert clear(root) == Cleared(Contents(0, 0), 0)
    assert clear(tmp_path / "nowhere") == Cleared(Contents(0, 0), 0)


def test_clear_leaves_what_is_in_use(tmp_path: Path) -> None:
    """A build that runs during the removal does not fail, and finds its own entries."""
    cache = filled(tmp_path)
    made = "f" * 64

    def fill(folder: Path) -> None:
        (folder / "first").write_text("1")
        assert clear(tmp_path).in_use == 1
        (folder / "second").write_text("2")

    with cache.using(KEYS[2], filler()) as used:
        assert (cache.entry(made, fill) / "first").read_text() == "1"
        assert (used / "sub" / "module.so").is_file()
        assert entries(tmp_path) == [KEYS[2]]


def test_clear_never_follows_links(tmp_path: Path) -> None:
    root, outside = tmp_path / "cache", tmp_path / "outside"
    cache = filled(root)
    outside.mkdir()
    (outside / "kept.txt").write_text("x")
    (root / ("e" * 64)).symlink_to(outside)
    (root / f".staging-{'e' * 64}-{'0' * 16}").symlink_to(outside)
    (root / f"{'9' * 64}.lock").symlink_to(outside / "kept.txt")
    (cache.entry(KEYS[0], filler()) / "link").symlink_to(outside)
    assert clear(root).removed.entries == 4
    trim(root, 0)
    assert (outside / "kept.txt").read_text() == "x"
    assert (root / ("e" * 64)).is_symlink()


def test_clear_removes_only_what_rbdgen_wrote(tmp_path: Path) -> None:
    """Other files in the cache stay, and a folder that had other files before is not used as a cache."""
    root, mixed = tmp_path / "cache", tmp_path / "mixed"
    filled(root)
    (root / "notes.txt").write_text("mine")
    (root / "results").mkdir()
    clear(root)
    assert {path.name for path in root.iterdir()} == {TAG, "notes.txt", "results"}
    mixed.mkdir()
    (mixed / "notes.txt").write_text("mine")
    filled(mixed)
    assert not (mixed / TAG).exists()
    with pytest.raises(OptionError, match=r"holds what rbdgen did not write, such as 'notes.txt'"):
        clear(mixed)
    assert entries(mixed) == KEYS


def test_clear_refuses_folders_of_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    with pytest.raises(OptionError, match="belongs to another user"):
        clear(tmp_path)
    assert entries(tmp_path) == KEYS


def test_a_file_is_no_cache(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert contents(tmp_path / "file") == Contents(0, 0)
    with pytest.raises(OptionError, match="cannot be read"):
        clear(tmp_path / "file")


CLEARER = """
import sys
from pathlib import Path
from rbdgen.toolchain.kept import clear, trim

print("ready", flush=True)
while not Path(sys.argv[2]).exists():
    clear(Path(sys.argv[1]))
    trim(Path(sys.argv[1]), 0)
"""


def test_builds_go_on_while_others_clear(tmp_path: Path) -> None:
    root, stop = tmp_path / "cache", tmp_path / "stop"
    cache = Cache(root, limit=0)
    command = [sys.executable, "-c", CLEARER, str(root), str(stop)]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for k in range(100):
        with cache.using(KEYS[k % 4], filler()) as folder:
            assert len((folder / "sub" / "module.so").read_bytes()) == SIZE
    stop.write_text("")
    assert [process.wait() for process in processes] == [0, 0]
    for process in processes:
        assert process.stdout is not None
        process.stdout.close()


def test_what_always_vanishes_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = Cache(tmp_path)
    original = cache._make

    def lost(key: str, fill: Callable[[Path], None]) -> None:
        original(key, fill)
        shutil.rmtree(tmp_path / key)

    monkeypatch.setattr(cache, "_make", lost)
    with pytest.raises(BuildError, match="every new entry is removed at once; choose another folder"):
        cache.entry(KEYS[0], filler())


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("", 2 * 10**9),
        ("0", 0),
        ("123", 123),
        ("1.5 GB", 1_500_000_000),
        ("500MB", 500_000_000),
        ("20 k", 20_000),
        ("1tb", 10**12),
        ("unlimited", None),
    ],
)
def test_the_limit_is_an_environment_variable(
    text: str, size: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RBDGEN_CACHE_SIZE", text)
    assert environment_cache_size() == size
    assert user_cache()._limit == size


@pytest.mark.parametrize("text", ["much", "-1", "nan", "1e9", "2 GiB", "1 2", "9" * 400, "GB"])
def test_what_is_no_limit_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RBDGEN_CACHE_SIZE", text)
    with pytest.raises(OptionError, match="is no size; give bytes, a size such as '500 MB', or 'unlimited'"):
        environment_cache_size()


def test_a_home_that_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RBDGEN_CACHE", "~nosuchuser/x")
    with pytest.raises(OptionError, match="its home folder is not known; set RBDGEN_CACHE"):
        user_cache_root()
