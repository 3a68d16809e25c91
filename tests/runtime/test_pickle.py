"""Functions and libraries pickle by content: another process, with another cache, builds them anew."""

from __future__ import annotations

import json
import os
import pickle
import platform
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.toys import facts, toys

from rbdgen.emit.render import render
from rbdgen.emit.write import write_folder
from rbdgen.errors import BuildError, LoadError
from rbdgen.pipeline import rebuild
from rbdgen.pipeline.rebuild import library_of, open_built
from rbdgen.runtime import Library
from rbdgen.toolchain.cache import Cache
from rbdgen.toolchain.compiler import find_compiler
from rbdgen.toolchain.module import Toolchain, build, package_files

Q = np.array([[0.3, -1.2], [0.1, 0.2], [-2.0, 1.0]])
V = np.array([0.7, 0.1])

WORKER = """
import pickle, sys
import numpy as np
function, library, q, v = pickle.load(sys.stdin.buffer)
result = function(q, v)
assert (library.torque(q, v) == result).all()
sys.stdout.buffer.write(pickle.dumps(result))
"""


@pytest.fixture(scope="module")
def folder(build_cache: Cache) -> Path:
    toolchain = Toolchain(find_compiler(), ("-O2", "-ffp-contract=off"), 2)
    return build(render(facts(), toys()), toolchain, build_cache)


@pytest.fixture(scope="module")
def lib(folder: Path) -> Library:
    return open_built(folder)


def in_a_process(payload: Any, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-c", WORKER],
        input=pickle.dumps(payload),
        capture_output=True,
        check=False,
        env={**os.environ, **environment},
    )


def test_the_bytes_hold_no_path_and_no_machine_code(lib: Library) -> None:
    data = pickle.dumps(lib.torque)
    assert str(lib.folder.parent).encode() not in data
    assert len(data) < 80_000
    assert pickle.dumps(lib.torque) == data


def test_the_same_process_reopens_it(
    lib: Library, build_cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RBDGEN_CACHE", str(build_cache.root))
    again = pickle.loads(pickle.dumps(lib))
    assert again.folder == lib.folder
    assert pickle.loads(pickle.dumps(lib.torque)) is again.torque


def test_another_process_builds_it_in_its_own_cache(lib: Library, tmp_path: Path) -> None:
    done = in_a_process((lib.torque, lib, Q, V), RBDGEN_CACHE=str(tmp_path / "cache"))
    assert done.returncode == 0, done.stderr.decode()
    np.testing.assert_array_equal(pickle.loads(done.stdout), lib.torque(Q, V))
    assert list((tmp_path / "cache").glob("*/toy/manifest.json"))


FOREIGN = "-march=armv8-a" if platform.machine() == "x86_64" else "-march=x86-64-v2"
"""A flag for another kind of processor."""


def compiled_with(lib: Library, *flags: str) -> bytes:
    """The library as if it came from a machine that compiled it with these flags."""
    made = json.loads(zlib.decompress(lib.content.packed))
    return zlib.compress(json.dumps({**made, "flags": flags}).encode())


def test_a_library_of_another_kind_of_processor(
    lib: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RBDGEN_CACHE", str(tmp_path / "cache"))
    remedy = r'; this machine is \w+: build with arch="native", which every machine compiles for itself, or'
    with pytest.raises(BuildError, match=remedy) as error:
        library_of(compiled_with(lib, "-O2", FOREIGN, "-ffp-contract=off"))
    assert "\n" not in str(error.value)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="XOP is an instruction set of x86")
def test_a_library_of_a_larger_processor(
    lib: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """XOP, which AMD's Zen gave up, stands for what the sender's processor has and this one lacks."""
    monkeypatch.setenv("RBDGEN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(rebuild, "_FLAGS", rebuild._FLAGS | {"-mxop"})
    with pytest.raises(LoadError, match=r"compiled for .*xop, which this processor lacks; generate") as error:
        library_of(compiled_with(lib, "-O2", "-mxop", "-ffp-contract=off"))
    assert "\n" not in str(error.value)


def test_a_library_of_a_smaller_processor(
    lib: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C is sent, so `native` means the receiver's processor."""
    monkeypatch.setenv("RBDGEN_CACHE", str(tmp_path / "cache"))
    here = library_of(compiled_with(lib, "-O2", "-march=native", "-ffp-contract=off"))
    assert here.folder.is_relative_to(tmp_path)
    np.testing.assert_array_equal(here.torque(Q, V), lib.torque(Q, V))


def test_a_process_without_a_compiler_says_so(lib: Library, tmp_path: Path) -> None:
    done = in_a_process((lib.torque, lib, Q, V), RBDGEN_CACHE=str(tmp_path / "cache"), CC="/nowhere/cc")
    assert b"BuildError: the C compiler '/nowhere/cc' is not there" in done.stderr


def test_a_generated_package_pickles_without_the_generator(folder: Path, tmp_path: Path) -> None:
    program = """
import pickle, subprocess, sys
sys.modules["rbdgen"] = None
import numpy as np
import toy
load = 'pickle.load(sys.stdin.buffer)'
worker = f"import sys, pickle\\nsys.modules['rbdgen'] = None\\nprint({load}([1, 2], [3, 4]))"
command = [sys.executable, "-c", worker]
done = subprocess.run(command, input=pickle.dumps(toy.torque), capture_output=True, check=True)
assert done.stdout.decode().strip() == str(toy.torque([1, 2], [3, 4]))
"""
    write_folder(tmp_path / "toy", package_files(folder))
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "changed",
    [
        {"name": "../toy"},
        {"name": "/toy"},
        {"name": 3},
        {"files": {"../../escaped.txt": ""}},
        {"files": {"/escaped.txt": ""}},
        {"files": {"C:escaped.txt": ""}},
        {"files": {"..\\escaped.txt": ""}},
        {"files": {"toy/./escaped.txt": ""}},
        {"files": {"escaped.txt": 3}},
        {"files": {"manifest.json": '{"functions": {"../f": {"source": "toy_torque.c"}}}'}},
        {"files": {"manifest.json": '{"functions": {"f": {"source": "../toy_torque.c"}}}'}},
        {"files": {"manifest.json": "[" * 50_000}},
        {"files": []},
        {"flags": ["-O2", "-fplugin=escaped.so"]},
        {"flags": ["-O2", ["-march=native"]]},
        {"flags": None},
        {"levels": ["x86-64-v9"]},
        {"levels": 3},
        {"compiler": "gcc -fplugin=escaped.so"},
        {"compiler": ["auto"]},
    ],
    ids=lambda changed: str(changed)[:60],
)
def test_a_pickle_that_rbdgen_did_not_make(
    lib: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: dict[str, Any]
) -> None:
    monkeypatch.setenv("RBDGEN_CACHE", str(tmp_path / "a" / "b" / "cache"))
    made = json.loads(zlib.decompress(lib.content.packed))
    if isinstance(changed.get("files"), dict):
        changed = {"files": {**made["files"], **changed["files"]}}
    packed = zlib.compress(json.dumps({**made, **changed}).encode())
    with pytest.raises(LoadError, match=r"^a pickled library is not .* \(.*\); pickle it again$"):
        library_of(packed)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "packed", [b"", b"x", zlib.compress(b"["), zlib.compress(b"{}"), zlib.compress(b"3")]
)
def test_a_pickle_of_something_else(packed: Any) -> None:
    with pytest.raises(LoadError, match=r"^a pickled library cannot be read \(.*\); pickle it again$"):
        library_of(packed)


def test_results_pickle(lib: Library) -> None:
    result = lib.inertia(Q)
    again = pickle.loads(pickle.dumps(result))
    assert type(again) is type(result)
    np.testing.assert_array_equal(again.M, result.M)


def test_a_folder_that_lost_a_file_cannot_be_pickled(folder: Path, tmp_path: Path) -> None:
    write_folder(tmp_path / "toy", package_files(folder))
    (tmp_path / "toy" / "toy.h").unlink()
    with pytest.raises(LoadError, match=r"toy: cannot be pickled \(.*toy\.h.*\); generate the folder again"):
        pickle.dumps(open_built(tmp_path / "toy"))
