"""If a framework or one of its parts is missing, one line says what to install."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from rbdgen.errors import BuildError, LoadError
from rbdgen.frameworks.bridge import compiled, existing
from rbdgen.frameworks.functions import functions_of
from rbdgen.runtime import Library, open_library


@pytest.mark.parametrize("framework", ["jax", "torch"])
def test_the_framework(arm: Library, framework: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, f"rbdgen.frameworks.in_{framework}", raising=False)
    monkeypatch.setitem(sys.modules, framework, None)
    library = open_library(arm.folder, arm.content.revive, arm._frameworks)
    with pytest.raises(BuildError, match=rf"^lib\.{framework}: .* pip install -U 'rbdgen\[{framework}\]'$"):
        getattr(library, framework)


def test_rbdgen(arm: Library) -> None:
    """A generated package opens without rbdgen, and says that frameworks need it."""
    with pytest.raises(
        LoadError, match=r"^lib.jax: this package stands alone; pip install 'rbdgen\[jax\]' and"
    ):
        _ = open_library(arm.folder).jax


@pytest.mark.parametrize("framework", ["casadi", "jax", "torch"])
def test_the_function(arm: Library, framework: str) -> None:
    if find_spec(framework) is None:
        pytest.skip(f"missing: {framework}")
    told = rf"^lib\.{framework}: no function 'rnaa' was generated; did you mean 'rnea'\? there are: rnea, "
    functions = functions_of(None, framework, arm)
    with pytest.raises(AttributeError, match=told):
        _ = functions.rnaa
    with pytest.raises(LoadError, match=told):
        functions("rnaa")
    with pytest.raises(LoadError, match=r"no function \['rnea'\] was generated"):
        functions(["rnea"])  # type: ignore[arg-type]
    if framework != "casadi":
        with pytest.raises(LoadError, match="its functions have no options; pass the name 'rnea' alone"):
            functions("rnea", 32)


def test_headers(tmp_path: Path) -> None:
    with pytest.raises(
        BuildError, match=r"^lib.jax: the header ffi.h is not among those of jax 9; install it again"
    ):
        existing("jax", "9", [str(tmp_path)], "ffi.h")


def test_what_the_compiler_refuses(tmp_path: Path) -> None:
    """If headers are of another version, the compiler's refusal is told in one line."""
    (tmp_path / "xla/ffi/api").mkdir(parents=True)
    (tmp_path / "xla/ffi/api/ffi.h").write_text('#error "of another time"\n')
    with pytest.raises(
        BuildError, match=r"^lib.jax: .*of another time.*; it needs g\+\+ .* jax 9 brings them$"
    ):
        compiled("jax", "9", existing("jax", "9", [str(tmp_path)], "xla/ffi/api/ffi.h"))
