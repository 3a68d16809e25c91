"""Existing objects are only used for the same code, whatever other files there are."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.toys import facts, inertia, torque, toys

from rbdgen.emit.package import Sources
from rbdgen.emit.render import render
from rbdgen.runtime import open_library
from rbdgen.toolchain import objects
from rbdgen.toolchain.cache import Cache
from rbdgen.toolchain.compiler import Compilation, Compiler, compile_all, find_compiler
from rbdgen.toolchain.module import Toolchain, build
from rbdgen.toolchain.watch import Watch


class Heard(Watch):
    def __init__(self) -> None:
        self.kept, self.begun = (0, 0), list[str]()

    def expects(self, total: int, kept: int = 0) -> None:
        self.kept = (kept, total)

    def begins(self, function: str) -> None:
        self.begun.append(function)


@pytest.fixture(scope="module")
def toolchain() -> Toolchain:
    return Toolchain(find_compiler(), ("-O1", "-ffp-contract=off"), 2)


def changed(sources: Sources, file: str, old: str, new: str) -> Sources:
    assert old in sources.files[file]
    return replace(sources, files={**sources.files, file: sources.files[file].replace(old, new, 1)})


def kept(sources: Sources, toolchain: Toolchain, cache: Cache) -> tuple[int, int]:
    heard = Heard()
    build(sources, toolchain, cache, heard)
    assert len(heard.begun) == heard.kept[1] - heard.kept[0]
    return heard.kept


def test_functions_are_compiled_once_whatever_stands_beside_them(
    tmp_path: Path, toolchain: Toolchain
) -> None:
    cache = Cache(tmp_path / "cache")
    assert kept(render(facts(), (torque(),)), toolchain, cache) == (0, 1)
    heard = Heard()
    both = build(render(facts(), toys()), toolchain, cache, heard)
    assert (heard.kept, heard.begun) == ((1, 2), ["inertia"])
    assert kept(render(facts(), (inertia(),)), toolchain, cache) == (1, 1)
    fresh = build(render(facts(), toys()), toolchain, Cache(tmp_path / "other"))
    for name in ("torque", "inertia"):
        one, other = (json.loads((x / "manifest.json").read_text())["functions"][name] for x in (both, fresh))
        for figure in ("object_bytes", "stack_bytes", "flags"):
            assert one[figure] == other[figure] is not None
        assert one["seconds"] > 0
    assert open_library(both).functions.keys() == open_library(fresh).functions.keys()


def test_other_code_is_compiled_anew(tmp_path: Path, toolchain: Toolchain) -> None:
    cache, sources = Cache(tmp_path), render(facts(), (torque(),))
    header = f"{sources.name}.h"
    kept(sources, toolchain, cache)
    assert kept(changed(sources, header, "#define", "/* a remark */\n#define"), toolchain, cache) == (1, 1)
    assert kept(changed(sources, header, "#define", "#define OTHER 1\n#define"), toolchain, cache) == (0, 1)
    source = f"{sources.name}_torque.c"
    assert kept(changed(sources, source, "#include", "int other;\n#include"), toolchain, cache) == (0, 1)
    assert kept(sources, replace(toolchain, flags=("-O2", "-ffp-contract=off")), cache) == (0, 1)
    batch = f"{sources.name}_torque_batch.c"
    assert kept(changed(sources, batch, "#include", "int other;\n#include"), toolchain, cache) == (0, 1)


def test_the_prototype_of_the_function_itself_counts(tmp_path: Path, toolchain: Toolchain) -> None:
    cache, sources = Cache(tmp_path), render(facts(), toys())
    kept(sources, toolchain, cache)
    header = f"{sources.name}.h"
    other = changed(sources, header, f"void {sources.name}_torque(", f"extern void {sources.name}_torque(")
    assert kept(other, toolchain, cache) != (2, 2)


def test_a_header_from_elsewhere_is_not_trusted(tmp_path: Path, toolchain: Toolchain) -> None:
    """The object is compiled again, as a header outside of the folder may change."""
    (tmp_path / "elsewhere.h").write_text("int elsewhere;\n")
    cache, sources = Cache(tmp_path / "cache"), render(facts(), (torque(),))
    included = f'#include "{tmp_path}/elsewhere.h"\n#include'
    sources = changed(sources, f"{sources.name}_torque.c", "#include", included)
    assert kept(sources, toolchain, cache) == (0, 1)
    assert kept(changed(sources, f"{sources.name}.h", "#define", "\n#define"), toolchain, cache) == (0, 1)


def test_code_of_all_folders_is_compiled_once_for_each_numpy(
    tmp_path: Path, toolchain: Toolchain, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Quick calls include headers of NumPy, whose version is not in the folder."""
    compiled: list[str] = []

    def noted(compiler: Compiler, compilations: Sequence[Compilation], *rest: Any) -> dict[str, float]:
        compiled.extend(Path(one.source).name for one in compilations)
        return compile_all(compiler, compilations, *rest)

    monkeypatch.setattr(objects, "compile_all", noted)
    cache = Cache(tmp_path / "cache")
    for made in (torque(), inertia()):
        build(render(facts(), (made,)), toolchain, cache)
    assert compiled.count("calls.c") == 1
    monkeypatch.setattr(np, "__version__", "0.0")
    build(render(facts(), (torque(),)), toolchain, cache)
    assert compiled.count("calls.c") == 2
