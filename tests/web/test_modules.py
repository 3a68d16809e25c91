"""Folders for the web: their files, names, types and refusals."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from support.toys import TAU, Q, V, facts, function, inertia, straight, torque, toys
from support.web import (
    NODE,
    WEBASSEMBLY,
    by_gcc,
    by_node,
    different,
    manifest_of,
    module_options,
    modules_of,
    need,
    node,
    states_of,
    written_module,
)

import rbdgen
from rbdgen.cli import main
from rbdgen.emit.javascript.language import RESERVED
from rbdgen.emit.package import FunctionSource, RobotFacts
from rbdgen.emit.render import render
from rbdgen.errors import BuildError, EmitError, OptionError
from rbdgen.graph.node import Graph, Input
from rbdgen.toolchain import webassembly
from rbdgen.toolchain.cache import Cache
from rbdgen.toolchain.targets import TARGETS

HOSTILE = '</script><!-- */ \u2028 ${alert(1)} `\\" \n'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, build_cache: Cache) -> Path:
    need(*WEBASSEMBLY)
    return written_module(tmp_path_factory.mktemp("toy"), facts(), toys(), module_options(), build_cache)


def test_the_manifest_lists_the_files_and_figures(folder: Path) -> None:
    manifest = manifest_of(folder)
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert set(manifest["files"]) == files
    assert {
        *("toy.wasm", "toy.mjs", "toy.d.mts", "webassembly/math.h"),
        *("javascript/toy.mjs", "javascript/toy.d.mts"),
    } < files
    module = (folder / "toy.wasm").read_bytes()
    assert manifest["target"] == "wasm32"
    assert manifest["build"]["webassembly"] == "toy.wasm"
    assert manifest["build"]["sha256"] == {"toy.wasm": sha256(module).hexdigest()}
    assert manifest["build"]["compiler"] == "clang"
    assert "-ffp-contract=off" in manifest["build"]["flags"]
    for row in manifest["functions"].values():
        assert 0 < row["object_bytes"] < len(module)
        assert row["stack_bytes"] >= 0
    page = (folder / "README.md").read_text()
    assert f"`toy.wasm` has {len(module)} bytes." in page
    assert "\n| `torque` | " in page
    assert page.count("## From JavaScript\n") == 2


def test_make_gives_the_same_module(folder: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(folder, tmp_path / "toy")
    (copy / "toy.wasm").unlink()
    subprocess.run(["make", "wasm"], cwd=copy, check=True, capture_output=True)
    assert (copy / "toy.wasm").read_bytes() == (folder / "toy.wasm").read_bytes()


def test_the_same_robot_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    again = written_module(tmp_path, facts(), toys(), module_options(), Cache(tmp_path / "cache"))
    for file in manifest_of(folder)["files"]:
        if file != "manifest.json":  # it has the seconds that compilation took
            assert (again / file).read_bytes() == (folder / file).read_bytes(), file


def test_other_folders_have_no_module(tmp_path: Path) -> None:
    """Neither the portable folder nor that of the host has a file for the web that nobody asked for."""
    for target in ("portable", "host"):
        out = rbdgen.generate("double_pendulum", tmp_path / target, ["rnea"], target=target, compiled=False)
        names = "".join(manifest_of(out)["files"])
        assert not re.search(r"mjs|mts|wasm|webassembly|javascript", names)
        assert "wasm" not in (out / "Makefile").read_text()


def test_javascript_needs_no_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    out = rbdgen.generate("double_pendulum", tmp_path, ["rnea"], target="portable", emit=["javascript"])
    assert (out / "javascript" / "double_pendulum.mjs").is_file()


def test_a_folder_without_its_module_can_be_written_without_tools(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    out = rbdgen.generate("double_pendulum", tmp_path, ["rnea"], target="wasm32", compiled=False)
    assert (out / "double_pendulum.mjs").is_file()
    assert not (out / "double_pendulum.wasm").exists()


def named(robot: RobotFacts) -> RobotFacts:
    """The robot with hostile texts wherever a description may have them."""
    joints = tuple(replace(joint, name=f"{joint.name} {HOSTILE}") for joint in robot.joints)
    return replace(robot, robot_name=f"toy {HOSTILE}", joints=joints)


def test_texts_of_a_description_stay_texts(tmp_path: Path, build_cache: Cache) -> None:
    need(*WEBASSEMBLY, NODE)
    unit = replace(Q, meaning=f"joint positions {HOSTILE}", unit=HOSTILE)
    source = torque()
    hostile = replace(
        source, signature=replace(source.signature, inputs=(unit, V)), doc=f"toy torque {HOSTILE}"
    )
    folder = written_module(tmp_path, named(facts()), [hostile], module_options(), build_cache)
    for module in modules_of(folder).values():
        text = module.read_text()
        assert text.isascii()
        assert "</script>" not in text
        assert "<!--" not in text
        assert "alert(1)" not in re.sub(r'"(?:[^"\\]|\\.)*"', '""', re.sub(r"//.*|/\*.*?\*/", "", text))
        assert "*/" not in re.sub(r"/\*\*?(?:[^*]|\*(?!/))*\*/", "", module.with_suffix(".d.mts").read_text())
        node("--check", module)
        program = f"import {{ load }} from {json.dumps(str(module))}; const r = await load();"
        program += "console.log(JSON.stringify([r.joint_names[0], r.manifest.robot_name, r.torque.summary]));"
        (tmp_path / "told.mjs").write_text(program)
        assert json.loads(node(tmp_path / "told.mjs")) == [
            *(f"{name} {HOSTILE}" for name in ("hip", "toy", "toy torque")),
        ]


def renamed(name: str, first: str, second: str) -> FunctionSource:
    """The toy torque with this name and these inputs."""
    graph = straight(torque())
    inputs = (Input(first, 2), Input(second, 2))
    own = replace(Q, name=first), replace(V, name=second)
    return function(name, Graph(inputs, graph.nodes, graph.outputs, graph.labels), own, (TAU,))


def test_words_of_javascript_are_names_like_others(tmp_path: Path, build_cache: Cache) -> None:
    need(*WEBASSEMBLY, NODE)
    words = sorted(RESERVED)
    names = [
        *((f"f{k}", word, words[k - 1]) for k, word in enumerate(words)),
        *(("constructor", "constructor", "hasOwnProperty"), ("toString", "valueOf", "toString")),
        *(("eval", "Math", "Float64Array"), ("call", "given", "name"), ("apply", "q", "length")),
    ]
    sources = [torque(), *(renamed(*those) for those in names)]
    folder = written_module(tmp_path, facts(), sources, module_options(), build_cache)
    states = states_of(manifest_of(folder), 20)
    for name, *inputs in names:
        states[name] = dict(zip(inputs, states["torque"].values(), strict=True))
    expected = by_gcc(folder, states)
    assert all(np.array_equal(expected[name], expected["torque"]) for name, *_ in names)
    for module in modules_of(folder).values():
        node("--check", module)
        assert different(expected, by_node(module, folder, states, tmp_path)) == {}


@pytest.mark.parametrize("name", ["array", "then"])
def test_functions_whose_names_the_module_needs_are_refused(name: str) -> None:
    with pytest.raises(EmitError, match=rf"^a function cannot be named '{name}', .*; take another name$"):
        render(facts(), [renamed(name, "q", "v")], module_options())


def test_types_name_every_argument(folder: Path) -> None:
    """Every name is there, once, and brackets are in pairs. A compiler of TypeScript reads the types, too, if
    there is one.
    """
    for types in folder.rglob("*.d.mts"):
        text = " ".join(re.sub(r"/\*\*.*?\*/", "", types.read_text(), flags=re.DOTALL).split())
        for opening, closing in ("{}", "()", "<>", "[]"):
            assert text.replace("=>", "").count(opening) == text.replace("=>", "").count(closing)
        assert (
            "(given: { readonly q: Numbers; readonly v: Numbers; }): { readonly tau: Float64Array; };" in text
        )
        assert "readonly prepared: (given?: { readonly q?: Float64Array; " in text
        assert 'Prepared<"q", "M" | "g">;' in text
        for name in ("torque", "inertia"):
            assert text.count(f"readonly {name}: ${name};") == 2
            assert text.count(f"export interface ${name} extends Facts {{") == 1
        assert text.count("export function load(") == 1
        if shutil.which("tsc") is not None:
            command = ["tsc", "--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", types]
            subprocess.run(command, check=True, capture_output=True)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"contract": True}, "target='wasm32' fuses no operations; leave contract out"),
        ({"trig": "libm"}, "target='wasm32' has no C library; leave trig='libm' out, or take trig='input'"),
        ({"arch": "x86-64-v3"}, "arch='x86-64-v3': target='wasm32' has its own processor; "),
        ({"ram": 1000}, "ram: target='wasm32' has no limit of RAM; choose from: cortex-m4f"),
        ({"variants": {"rnea": "limbs"}}, "target='wasm32' has no vectors; take target='host'"),
        (
            {"params": ["logchol:upper"]},
            "target='wasm32' has no library that computes them; ask for 'ten:upper'",
        ),
        ({"emit": ["javascript:2"]}, "emit=['javascript:2']: javascript has no further option"),
        (
            {"emit": ["javascript"], "real": "float"},
            "JavaScript computes in double; leave real='float' out, or take target='wasm32', which has both",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, dict) else "",
)
def test_options_that_do_not_fit_are_refused(options: dict[str, object], said: str, tmp_path: Path) -> None:
    with pytest.raises(OptionError) as refused:
        rbdgen.generate("double_pendulum", tmp_path, ["rnea"], target="wasm32", **options)
    assert said in str(refused.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"target": "cortex-m7"}, "a small machine runs no JavaScript; leave target='cortex-m7' out"),
        ({"trig": "libm"}, "JavaScript has other sines than a C library; leave trig='libm' out"),
        ({"contract": True}, "JavaScript fuses no operations; leave contract out"),
        ({"params": ["logchol:upper"]}, "ask for 'ten:LINK' in place of 'logchol:LINK'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, dict) else "",
)
def test_javascript_refuses_options_that_it_cannot_follow(
    options: dict[str, object], said: str, tmp_path: Path
) -> None:
    with pytest.raises(OptionError) as refused:
        rbdgen.generate("double_pendulum", tmp_path, ["rnea"], emit=["javascript"], **options)
    assert said in str(refused.value)


def test_libraries_of_webassembly_are_refused() -> None:
    with pytest.raises(OptionError, match="target='wasm32': its code does not run on this machine"):
        rbdgen.build("double_pendulum", target="wasm32")


def test_a_missing_tool_is_told_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(webassembly.shutil, "which", lambda _: None)
    monkeypatch.delenv("CC", raising=False)
    install = TARGETS["wasm32"].install
    with pytest.raises(BuildError, match=rf"^clang is not installed, .*; {install}, or leave the module out"):
        rbdgen.generate("double_pendulum", tmp_path, target="wasm32")
    assert main(["double_pendulum", "--target", "wasm32", "-o", str(tmp_path)]) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.endswith(f"{install}, or leave the module out with --no-compile")
    assert not list(tmp_path.iterdir())


def test_flash_is_bytes_of_the_module(tmp_path: Path) -> None:
    """A budget of flash gives smaller forms, measured in the module."""
    need(*WEBASSEMBLY)
    fast = manifest_of(rbdgen.generate("arm7", tmp_path, ["rnea"], target="wasm32"))["functions"]["rnea"]
    budget = fast["object_bytes"] - 1
    out = rbdgen.generate("arm7", tmp_path, ["rnea"], target="wasm32", budget_flash=budget)
    small = manifest_of(out)["functions"]["rnea"]
    assert small["object_bytes"] <= budget
    assert small["form"] != fast["form"]


def test_an_unused_import_stays_away(folder: Path) -> None:
    """A module in JavaScript is one file: it imports nothing, and names no address."""
    text = (folder / "javascript" / "toy.mjs").read_text()
    assert not re.search(r"^import|import\(|fetch|https?:", text, re.MULTILINE)
    assert inertia().name in text
