"""Packages are refused by other interpreters than the one that compiled them; the process continues."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.toys import facts, toys

from rbdgen.emit.render import render
from rbdgen.errors import LoadError
from rbdgen.runtime import extension, open_library
from rbdgen.toolchain.cache import Cache
from rbdgen.toolchain.compiler import find_compiler
from rbdgen.toolchain.module import Toolchain, build

SUB_INTERPRETERS = """
import sys
try:
    import _interpreters
    create, run = lambda: _interpreters.create("legacy"), _interpreters.exec
except ImportError:
    import _xxsubinterpreters as _interpreters
    create, run = lambda: _interpreters.create(isolated=False), _interpreters.run_string

CALLS = '''
import sys
sys.path[:] = {path!r}
import warnings
warnings.simplefilter("ignore")
import numpy as np
from rbdgen.runtime import open_library
lib = open_library({folder!r})
print(lib.torque(*[np.ones(x.shape) for x in lib.torque.signature.inputs]).tolist(), flush=True)
'''

{first}
for _ in range(2):
    own = create()
    try:
        told = run(own, CALLS)
    except Exception as error:
        told = error
    print("refused" if told else "taken", told or "", flush=True)
    _interpreters.destroy(own)
"""


@pytest.fixture(scope="module")
def folder(build_cache: Cache) -> Path:
    toolchain = Toolchain(find_compiler(), ("-O1", "-ffp-contract=off"), 2)
    return build(render(facts(), toys()), toolchain, build_cache)


@pytest.mark.parametrize("first", ["", "exec(CALLS)"], ids=["sub-interpreters alone", "after the main one"])
def test_one_interpreter_of_a_process_takes_a_package(folder: Path, first: str) -> None:
    """NumPy can only be loaded by one interpreter of a process; the package loaded there stays right."""
    code = SUB_INTERPRETERS.replace("{path!r}", repr(sys.path)).replace("{folder!r}", repr(str(folder)))
    done = subprocess.run(
        [sys.executable, "-c", code.replace("{first}", first)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    lib = open_library(folder)
    right = lib.torque(*[np.ones(x.shape) for x in lib.torque.signature.inputs]).tolist()
    results = [line for line in done.stdout.splitlines() if line.startswith("[")]
    assert results == [str(right)]
    assert "refused" in done.stdout
    assert "ImportError" in done.stdout


@pytest.mark.parametrize("free_threaded", [False, True])
def test_a_module_for_another_kind_of_python(
    folder: Path, free_threaded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A free-threaded Python lacks the stable ABI, although it would open such a file by its path."""
    if free_threaded:
        monkeypatch.setattr(sys, "abiflags", "t")
    else:
        monkeypatch.setattr(extension, "EXTENSION_SUFFIXES", [".cpython-399t-x86_64-linux-gnu.so", ".so"])
    with pytest.raises(LoadError) as refusal:
        open_library(folder)
    assert str(refusal.value).endswith(
        "was compiled for another kind of Python; generate the folder again with this one"
    )
    assert "\n" not in str(refusal.value)
