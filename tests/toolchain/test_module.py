"""Whole packages are built and cached, have figures in the manifest, and can be imported on their own."""

from __future__ import annotations

import hashlib
import json
import platform
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.toys import facts, inertia, torque, toys

from rbdgen.emit.package import EmitOptions, Sources
from rbdgen.emit.render import render
from rbdgen.emit.write import write_folder
from rbdgen.errors import BuildError
from rbdgen.runtime import open_library
from rbdgen.toolchain import objects
from rbdgen.toolchain.batch import ARCHITECTURES
from rbdgen.toolchain.cache import Cache
from rbdgen.toolchain.compiler import find_compiler, find_compilers
from rbdgen.toolchain.module import Toolchain, build, build_key, module_suffix, package_files
from rbdgen.toolchain.watch import Watch

FLAGS = ("-O1", "-ffp-contract=off")
BOTH = all(shutil.which(name) for name in ("gcc", "clang"))


@pytest.fixture(scope="module")
def toolchain() -> Toolchain:
    return Toolchain(find_compiler(), FLAGS, 2)


@pytest.fixture(scope="module")
def sources() -> Sources:
    return render(facts(), toys())


@pytest.fixture(scope="module")
def built(sources: Sources, toolchain: Toolchain, build_cache: Cache) -> Path:
    return build(sources, toolchain, build_cache)


def test_manifest_says_what_the_compiler_made(built: Path, toolchain: Toolchain) -> None:
    manifest = json.loads((built / "manifest.json").read_text())
    digests = manifest["build"]["sha256"]
    names = [("_toy", module_suffix()), ("_rbdgen/_calls", sysconfig.get_config_var("EXT_SUFFIX"))]
    modules = [
        f"{stem}.{digest[:16]}{suffix}"
        for (stem, suffix), digest in zip(names, digests.values(), strict=True)
    ]
    for file, digest in digests.items():
        assert hashlib.sha256((built / file).read_bytes()).hexdigest() == digest
    assert manifest["build"] == {
        "module": modules[0],
        "calls": modules[1],
        "sha256": dict(zip(modules, digests.values(), strict=True)),
        "compiler": toolchain.compiler.family,
        "version": toolchain.compiler.version,
    }
    for facts_of_function in manifest["functions"].values():
        assert facts_of_function["compiler"] == toolchain.compiler.family
        assert {one["compiler"] for one in facts_of_function["batch"]} == {toolchain.compiler.family}
        assert facts_of_function["flags"] == list(toolchain.function_flags)
        assert "-O1" in facts_of_function["flags"]
        assert 50 < facts_of_function["object_bytes"] < 2000
        assert 0 <= facts_of_function["stack_bytes"] < 500
        assert facts_of_function["seconds"] > 0
    assert set(manifest["files"]) == {
        path.relative_to(built).as_posix()
        for path in built.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_the_second_build_compiles_nothing(
    built: Path, sources: Sources, toolchain: Toolchain, build_cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(objects, "compile_all", None)
    assert build(sources, toolchain, build_cache) == built


def test_progress_names_the_functions(sources: Sources, toolchain: Toolchain, tmp_path: Path) -> None:
    """Each function begins once and ends once, after its batch; a second build finds them in the cache."""
    heard: list[tuple[str, ...]] = []

    class Heard(Watch):
        def expects(self, total: int, kept: int = 0) -> None:
            heard.append(("expects", str(total), str(kept)))

        def begins(self, function: str) -> None:
            heard.append(("begins", function))

        def ends(self, function: str, seconds: float) -> None:
            assert seconds > 0
            heard.append(("ends", function))

    cache = Cache(tmp_path)
    build(sources, replace(toolchain, jobs=1, levels=ARCHITECTURES["x86-64-v3"][1]), cache, Heard())
    names = ("torque", "inertia")
    told = [(what, name) for name in names for what in ("begins", "ends")]
    assert heard[0] == ("expects", "2", "0")
    assert sorted(heard[1:]) == sorted(told)
    for name in names:
        assert heard.index(("begins", name)) < heard.index(("ends", name))
    heard.clear()
    build(sources, replace(toolchain, jobs=1, levels=ARCHITECTURES["x86-64-v3"][1]), cache, Heard())
    assert heard == [("expects", "2", "2")]


def test_the_key_depends_on_all_that_matters(sources: Sources, toolchain: Toolchain) -> None:
    key = build_key(sources, toolchain)
    assert key == build_key(render(facts(), toys()), toolchain)
    others = [
        build_key(render(facts(), (torque(),)), toolchain),
        build_key(render(facts(), (inertia(), torque())), toolchain),
        build_key(render(facts(), toys(), EmitOptions(nesting=0)), toolchain),
        build_key(sources, replace(toolchain, flags=("-O2", "-ffp-contract=off"))),
        build_key(sources, replace(toolchain, compiler=replace(toolchain.compiler, version="0"))),
    ]
    assert len({key, *others}) == 1 + len(others)
    assert build_key(sources, replace(toolchain, jobs=7)) == key


@pytest.mark.skipif(not BOTH, reason="needs gcc and clang")
@pytest.mark.parametrize("first", ["gcc", "clang"])
def test_two_compilers_give_one_module(
    first: str, built: Path, sources: Sources, toolchain: Toolchain, build_cache: Cache
) -> None:
    """Calls and batches are compiled by the family that is faster for each, whichever of them links."""
    found = find_compilers(first)
    compiler, other = found.values()
    assert (compiler.family, list(found)) == (first, [first, other.family])
    mixed = replace(toolchain, compiler=compiler, other=other)
    folder = build(sources, mixed, build_cache)
    manifest = json.loads((folder / "manifest.json").read_text())
    told = manifest["build"]
    assert (told["compiler"], told["version"]) == (compiler.family, compiler.version)
    assert told["other"] == {"compiler": other.family, "version": other.version}
    for one in manifest["functions"].values():
        assert (one["compiler"], [batch["compiler"] for batch in one["batch"]]) == ("clang", ["gcc"])
        (batch,) = one["batch"]
        assert one["flags"] == list(mixed.flags_by(mixed.for_calls()))
        assert batch["flags"] in (list(mixed.batch_flags), list(mixed.flags_by(mixed.for_batches)))
    q, v = np.random.default_rng(3).normal(size=(2, 37, 2))
    one, two = open_library(built), open_library(folder)
    for states in (np.s_[0], np.s_[:]):
        assert one.torque(q[states], v[states]).tobytes() == two.torque(q[states], v[states]).tobytes()
        for x, y in zip(one.inertia(q[states]), two.inertia(q[states]), strict=True):
            assert x.tobytes() == y.tobytes()


@pytest.mark.skipif(not BOTH, reason="needs gcc and clang")
def test_objects_of_two_compilers_are_those_of_each_alone(sources: Sources, tmp_path: Path) -> None:
    """The cache has one object for each file and compiler, whatever compiles the other files."""
    compiler, other = find_compilers("gcc").values()
    alone, cache = Toolchain(compiler, FLAGS, 2), Cache(tmp_path)
    for tools in (alone, replace(alone, compiler=other)):
        build(sources, tools, cache)
    before = set(tmp_path.glob("object-*"))
    build(sources, replace(alone, other=other), cache)
    assert set(tmp_path.glob("object-*")) == before


@pytest.mark.skipif(not BOTH or platform.machine() != "x86_64", reason="needs gcc and clang on x86-64")
@pytest.mark.parametrize("flag", ["-march=x86-64-v4", "-march=x86-64-v3"])
def test_the_compiler_depends_on_form_and_processor(flag: str) -> None:
    """gcc needs 32 registers for vectors for limbs as lanes."""
    for first in ("gcc", "clang"):
        compiler, other = find_compilers(first).values()
        tools = Toolchain(compiler, (flag, *FLAGS), other=other)
        assert (tools.for_calls("bias").family, tools.for_batches.family) == ("clang", "gcc")
        assert tools.for_calls("limbs").family == ("gcc" if flag.endswith("v4") else "clang")
        alone = replace(tools, other=None)
        assert {alone.for_calls("limbs"), alone.for_calls("bias"), alone.for_batches} == {compiler}
        assert build_key(Sources("toy", {}), alone) != build_key(Sources("toy", {}), tools)


def test_the_folder_is_a_package_of_its_own(built: Path, tmp_path: Path) -> None:
    """A copied folder can be imported without rbdgen, from any working directory."""
    write_folder(tmp_path / "here" / "toy", package_files(built))
    program = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("rbdgen", "casadi", "sympy", "jinja2", "lxml", "rich"):
            raise ImportError(name)
sys.meta_path.insert(0, Refuse())
import toy
assert toy.joint_names == ("hip", "knee") and toy.idx_q == toy.idx_v == (0, 1)
assert toy.manifest["name"] == "toy"
print(toy.inertia([0.0, 0.0]).M, toy.torque([0.1, 0.2], [0.0, 0.0])[0], toy.normalize([1, 2]))
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path / "here"), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout == "[[3.2 3.1]\n [3.1 3. ]] -0.9793658173053843 [1. 2.]\n"


def test_no_python_headers(
    sources: Sources, toolchain: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    with pytest.raises(BuildError) as caught:
        build(sources, toolchain, Cache(tmp_path / "cache"))
    assert str(caught.value) == (
        "Python.h is missing: the C headers of this Python are not installed;"
        " install one (apt install gcc python3-dev)"
    )


def test_sources_that_do_not_compile(sources: Sources, toolchain: Toolchain, tmp_path: Path) -> None:
    broken = Sources("toy", {**sources.files, "toy_torque.c": "#error no\n"})
    with pytest.raises(BuildError, match=r"toy_torque\.c: .* #error no; check the compiler"):
        build(broken, toolchain, Cache(tmp_path))
    assert not [path for path in tmp_path.iterdir() if path.is_dir()]


def test_fast_math_is_refused(toolchain: Toolchain) -> None:
    with pytest.raises(BuildError, match="-ffast-math changes results"):
        replace(toolchain, flags=("-O2", "-ffast-math"))
