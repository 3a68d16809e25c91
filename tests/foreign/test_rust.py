"""Folders as crates: their self-test through Rust, and programs of users in few lines."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.recipes import PAGE, recipe
from support.tools import attempted, need, own_lines, ran
from support.toys import Q, V, facts, inertia, straight, torque

import rbdgen
from rbdgen.emit.package import EmitOptions, FunctionSource
from rbdgen.emit.render import render
from rbdgen.emit.rust.files import crate_version, text_of
from rbdgen.emit.write import write_folder
from rbdgen.errors import OptionError
from rbdgen.graph.node import Graph, Input
from rbdgen.graph.programs.program import straight_line


def passed(folder: Path, build: Path) -> list[str]:
    """The names of the tests of a crate, all of which pass without a warning."""
    need("cargo", "cc", packages="cargo gcc")
    printed = attempted("cargo", "test", "--offline", "--locked", "--target-dir", build, cwd=folder)
    assert printed.returncode == 0, printed.stdout + printed.stderr
    assert "warning" not in printed.stderr
    return sorted(re.findall(r"^test (\w+) \.\.\. ok$", printed.stdout, re.MULTILINE))


def test_a_program(tmp_path: Path) -> None:
    """The program of the recipe has at most ten lines and gets the library's bits."""
    need("cargo", "cc", packages="cargo gcc")
    robot, functions = rbdgen.load_robot("double_pendulum"), ["step", "step_derivatives"]
    folder = rbdgen.generate(
        robot, functions=functions, emit=["rust"], out=tmp_path / "generated", compiled=False
    )
    manifest, program = recipe("Rust", "toml", "rust")
    assert own_lines(manifest, program) <= 10
    user = tmp_path / "user"
    (user / "src").mkdir(parents=True)
    (user / "Cargo.toml").write_text(manifest)
    (user / "src" / "main.rs").write_text(program)
    printed = ran("cargo", "run", "--offline", "--quiet", cwd=user)
    library = rbdgen.build(robot, functions=["step"])
    expected = library.step([0.3, -0.7], [0.1, 0.2], np.zeros(2), 0.01)
    assert printed == f"({', '.join(str(x.tolist()) for x in expected)})\n"
    told = ", ".join(f"[{', '.join(f'{number:.5f}' for number in x)}]" for x in expected)
    assert f"`({told})`" in PAGE.read_text(encoding="utf-8")
    assert passed(folder, tmp_path / "build") == [
        "bits_in_c",
        "step",
        "step_derivatives",
    ]


def with_words() -> FunctionSource:
    """A function whose name and arguments are words of Rust, which C and Python do not reserve."""
    source = torque()
    graph = straight(source)
    given = Graph((Input("fn", 2), Input("self", 2)), graph.nodes, graph.outputs, graph.labels)
    signature = replace(
        source.signature, name="loop", inputs=(replace(Q, name="fn"), replace(V, name="self"))
    )
    return replace(source, signature=signature, program=straight_line(given), batch=None)


@pytest.mark.parametrize("real", ["double", "float"])
def test_words_of_rust(tmp_path: Path, real: str) -> None:
    """Also for a small machine, whose crate runs its self-test here."""
    small = real == "float"
    flags = ("-mcpu=cortex-m4", "-mthumb") if small else ("-O1", "-ffp-contract=off")
    options = EmitOptions(
        "float" if small else "double",
        "builtin",
        extensions=False,
        prefix="arm-none-eabi-" if small else "",
        flags=flags,
        emit=("rust",),
    )
    sources = render(facts(joints=("hip", 'a "knee" \\ of é')), [with_words(), inertia()], options)
    write_folder(tmp_path / "toy", sources.files)
    assert passed(tmp_path / "toy", tmp_path / "build") == ["bits_in_c", "inertia", "loop_"]
    assert "pub fn loop_(fn_: &" in sources.files["rust/lib.rs"]
    assert ', "a \\u{22}knee\\u{22} \\u{5c} of \\u{e9}"]' in sources.files["rust/lib.rs"]


def test_without_a_compiler(tmp_path: Path) -> None:
    need("cargo", packages="cargo")
    sources = render(facts(), [inertia()], EmitOptions(trig="builtin", emit=("rust",)))
    write_folder(tmp_path / "toy", sources.files)
    command = ("cargo", "build", "--offline", "--target-dir", tmp_path / "build")
    done = attempted(*command, cwd=tmp_path / "toy", env={"CC": "no_such_cc"})
    assert done.returncode != 0
    assert "toy: `no_such_cc` does not run (" in done.stderr
    assert "; apt install gcc, or name a C compiler in CC" in done.stderr


def test_numbers_and_texts() -> None:
    assert [crate_version(x) for x in ("0.2.0rc1", "1.2", "3", "dev")] == ["0.2.0", "1.2.0", "3.0.0", "0.0.0"]
    assert text_of("é\n") == '"\\u{e9}\\u{a}"'


def test_refused() -> None:
    robot = rbdgen.load_robot("double_pendulum")
    with pytest.raises(OptionError, match=r"rust has no further option; give rust alone$"):
        rbdgen.generate(robot, emit=["rust:2"])
    with pytest.raises(OptionError, match=r"a crate compiles C for a processor; take target='portable'$"):
        rbdgen.generate(robot, emit=["rust"], target="wasm32")
