"""The C of a folder becomes one WebAssembly module, with figures of every function."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from support.toys import facts, inertia, torque, toys
from support.web import WEBASSEMBLY, need

from rbdgen.emit.package import EmitOptions, Sources
from rbdgen.emit.render import render
from rbdgen.emit.write import write_folder
from rbdgen.errors import BuildError
from rbdgen.toolchain import objects, webassembly
from rbdgen.toolchain.cache import Cache
from rbdgen.toolchain.webassembly import compiled, find_tools, linked

PORTABLE = EmitOptions(trig="builtin", target="portable", extensions=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    need(*WEBASSEMBLY)
    write_folder(tmp_path / "toy", render(facts(), toys(), PORTABLE).files)
    return tmp_path / "toy"


def manifest_of(folder: Path) -> dict[str, object]:
    manifest: dict[str, object] = json.loads((folder / "manifest.json").read_text())
    return manifest


def test_a_folder_becomes_a_module_that_exports_its_functions(folder: Path) -> None:
    module = compiled(folder, manifest_of(folder))
    assert module.startswith(b"\0asm\1\0\0\0")
    for name in (*(function.name for function in toys()), "__heap_base", "memory"):
        exported = name if name in ("__heap_base", "memory") else f"toy_{name}"
        assert bytes([len(exported)]) + exported.encode() in module
    assert b"clang" not in module  # no section with the versions of tools


def test_the_same_folder_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    first = compiled(folder, manifest_of(folder))
    again = linked(render(facts(), toys(), PORTABLE), find_tools(), Cache(tmp_path / "empty"), jobs=1)
    assert again.data == first


def test_objects_are_kept(folder: Path, build_cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    sources = render(facts(), toys(), PORTABLE)
    first = linked(sources, find_tools(), build_cache)
    compile_all = objects.compile_all

    def nothing(compiler: object, compilations: list[object], *rest: object) -> dict[str, float]:
        assert compilations == []
        return {}

    monkeypatch.setattr(objects, "compile_all", nothing)
    assert linked(sources, find_tools(), build_cache) == first
    monkeypatch.setattr(objects, "compile_all", compile_all)
    monkeypatch.setattr(webassembly, "copied", lambda _: "#define sqrt(x) (x)\n")  # another header
    assert linked(sources, find_tools(), build_cache).data != first.data


def test_figures_are_those_of_the_module(folder: Path, build_cache: Cache) -> None:
    """Code and constants of all functions, and less than a hundred bytes a function for everything else."""
    sources = render(facts(), toys(), PORTABLE)
    module = linked(sources, find_tools(), build_cache)
    names = [function.name for function in toys()]
    assert list(module.object_bytes) == list(module.stack_bytes) == list(module.seconds) == names
    assert all(size > 8 for size in module.object_bytes.values())
    rest = len(module.data) - sum(module.object_bytes.values())
    assert 0 < rest < 200 + 100 * len(names)
    alone = linked(render(facts(), [torque()], PORTABLE), find_tools(), build_cache)
    assert alone.object_bytes["torque"] == module.object_bytes["torque"]


def test_a_deep_stack_makes_the_stack_larger() -> None:
    assert webassembly._stack({"f": 0, "g": None}) == webassembly.STACK
    assert webassembly._stack({"f": 5 << 20}) == (5 << 20) + 65536


@pytest.mark.parametrize("missing", WEBASSEMBLY)
def test_a_missing_tool_is_told_in_one_line(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    need(*WEBASSEMBLY)
    which = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name: None if name == missing else which(name))
    with pytest.raises(BuildError, match=rf"^{missing} is not installed, .*; apt install clang lld$"):
        find_tools()


def test_another_clang_may_be_named_and_gcc_is_passed_over() -> None:
    need(*WEBASSEMBLY)
    assert find_tools("clang").compiler.family == "clang"
    assert find_tools("gcc").compiler.family == "clang"


def test_folders_that_need_more_than_webassembly_has_are_refused(tmp_path: Path) -> None:
    for options in (EmitOptions(), EmitOptions(target="portable", extensions=False, trig="libm")):
        sources = render(facts(), [torque()], options)
        with pytest.raises(BuildError, match=r"toy: its C needs vectors or a C library, .*wasm32$"):
            compiled(tmp_path / "toy", sources.manifest)


def test_a_folder_that_lacks_a_file_is_told_in_one_line(folder: Path) -> None:
    (folder / "toy_torque.c").unlink()
    with pytest.raises(BuildError, match=r"toy: cannot be read \(.*\); generate it again$"):
        compiled(folder, manifest_of(folder))


def test_sources_that_clang_refuses_are_told_in_one_line(build_cache: Cache) -> None:
    need(*WEBASSEMBLY)
    sources = render(facts(), [inertia()], PORTABLE)
    broken = Sources("toy", {**sources.files, "toy_inertia.c": "#include <stdio.h>\n"})
    with pytest.raises(BuildError, match=r"toy_inertia.c: 'clang' failed .*stdio.h"):
        linked(broken, find_tools(), build_cache)
    undefined = Sources(
        "toy", {**sources.files, "toy_inertia.c": "int other(void);\nvoid toy_inertia(void)\n{ other(); }\n"}
    )
    with pytest.raises(BuildError, match=r"module.wasm: 'wasm-ld' failed .*undefined symbol: other"):
        linked(undefined, find_tools(), build_cache)
