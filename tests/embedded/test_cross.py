"""Folders for small machines: figures in manifest and page, refusals with figures."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from embedded.board import compile_subject
from embedded.subjects import Product

from rbdgen.emit.package import Sources
from rbdgen.errors import BuildError
from rbdgen.figures.code import figures
from rbdgen.inertia.operations import OPERATIONS
from rbdgen.options import Options
from rbdgen.pipeline.page import generate, generate_inertia
from rbdgen.pipeline.robot import load_robot
from rbdgen.resources import robot_root
from rbdgen.toolchain import cross
from rbdgen.toolchain.targets import TARGETS, Part

M4F = TARGETS["cortex-m4f"]


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Product:
    robot = load_robot(robot_root() / "planar3r.urdf")
    options = Options(functions=("rnea", "minv"), real="float", target="cortex-m4f")
    made = generate(robot, options, tmp_path_factory.mktemp("cross"))
    return Product(made.folder, made.manifest)


def test_operations_on_inertias(tmp_path: Path) -> None:
    """They and their twins in place are measured: no branch, no call but a root's."""
    options = Options.of(functions=OPERATIONS, real="float", target="cortex-m4f")
    functions = generate_inertia(options, tmp_path).manifest["functions"]
    assert list(functions) == list(OPERATIONS)
    for facts in functions.values():
        assert 0 < facts["instructions"] < facts["object_bytes"]
        assert facts["stack_bytes"] <= 64
        assert facts["outside"] == []
        assert facts["float_error"] < 1e-6


def test_figures_in_the_manifest_and_on_the_page(product: Product, tmp_path: Path) -> None:
    page = (product.folder / "README.md").read_text()
    for name, facts in product.manifest["functions"].items():
        subject = product.subject(name)
        code = figures(compile_subject(subject, M4F, tmp_path), M4F.prefix)
        symbol = subject.function
        assert facts["object_bytes"] == code.flash(symbol)
        assert facts["stack_bytes"] == code.stack(symbol)
        assert facts["instructions"] == code.instructions(symbol)
        assert facts["outside"] == []
        assert 1e-8 < facts["float_error"] < 1e-5
        row = f"| `{name}` | {code.flash(symbol)} | {code.stack(symbol)} | {code.instructions(symbol)} | "
        assert row in page
    assert "-mcpu=cortex-m4" in product.manifest["build"]["flags"]
    assert set(product.manifest["files"]) == {
        path.relative_to(product.folder).as_posix() for path in product.folder.rglob("*") if path.is_file()
    }


def sources_of(product: Product) -> Sources:
    """The folder read back."""
    files = {name: (product.folder / name).read_text() for name in product.manifest["files"]}
    return Sources(product.manifest["name"], files)


def broken(product: Product, old: str, new: str) -> Sources:
    """The folder's sources with a text of RNEA's C replaced."""
    sources = sources_of(product)
    name = product.manifest["functions"]["rnea"]["source"]
    assert old in sources.files[name]
    return replace(sources, files={**sources.files, name: sources.files[name].replace(old, new, 1)})


def refused(sources: Sources, part: Part | None = None) -> str:
    compiler = cross.cross_compiler(M4F)
    assert compiler is not None
    with pytest.raises(BuildError) as caught:
        cross.with_figures(sources, replace(M4F, part=part or M4F.part), compiler, M4F.flags)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_what_does_not_fit_is_refused(product: Product) -> None:
    sources = sources_of(product)
    facts = product.manifest["functions"]["rnea"]
    said = refused(sources, Part("tiny", facts["object_bytes"] - 1, 10**6))
    assert f"rnea: {facts['object_bytes']} bytes of flash, but cortex-m4f (tiny) has" in said
    arguments = 4 * 3 * 4  # q, v, a and tau, three floats each
    ram = facts["stack_bytes"] + arguments
    said = refused(sources, Part("tiny", 10**6, ram - 1))
    assert f"rnea: {ram} bytes of RAM (stack {facts['stack_bytes']}, arguments {arguments}), but" in said


def command(*words: str) -> tuple[int, str]:
    """The command line on planar3r: exit status, standard error."""
    done = subprocess.run(
        [sys.executable, "-m", "rbdgen.cli", str(robot_root() / "planar3r.urdf"), "-f", "rnea", "-q", *words],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--target cortex-m3", "--target cortex-m3 is not known; did you mean 'cortex-m33' or "),
        (
            "--target cortex-m4f --real double",
            "--target cortex-m4f, --real double: its hardware has float only, ",
        ),
        ("--target cortex-m33 --real double", "--target cortex-m33, --real double: "),
        ("--target rv32imafc --real double", "--target rv32imafc, --real double: "),
        (
            "--target cortex-m4f --real float --ram 50",
            r"rnea: \d+ bytes of RAM \(stack \d+, arguments 48\), ",
        ),
        (
            "--target cortex-m4f --real float --ram 0",
            "--ram 0 holds nothing; give a positive number of bytes",
        ),
        (
            "--target cortex-m4f --real float --ram 99 --no-compile",
            "--ram 99: needs figures, so no --no-comp",
        ),
        ("--target host --ram 100", "--ram: --target host is not short of it; choose from: cortex-m4f, "),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(words: str, said: str, tmp_path: Path) -> None:
    status, errors = command(*words.split(), "-o", str(tmp_path / "out"))
    assert status == 2
    assert re.fullmatch(rf"rbdgen: error: {said}.*\n", errors)
    assert not (tmp_path / "out").exists()


def test_ram_that_suffices(tmp_path: Path) -> None:
    given = ("--target", "cortex-m4f", "--real", "float", "--ram", "1000")
    assert command(*given, "-o", str(tmp_path)) == (0, "")


def test_a_broken_promise_is_refused(product: Product) -> None:
    wrong = broken(
        product, ")\n{\n", ")\n{\n    static float calls;\n    calls += 1.0f;\n    tau[0] = calls;\n"
    )
    assert "rnea on cortex-m4f: 4 bytes of zero-initialised writable globals" in refused(wrong)
    wrong = broken(product, ")\n{\n", ")\n{\n    if (q[0] < 0.0f)\n        return;\n")
    assert "rnea on cortex-m4f: planar3r_rnea: 1 conditional branches" in refused(wrong)
    wrong = broken(product, "}\n", "    no such statement\n}\n")
    assert "planar3r_rnea.c" in refused(wrong)


def test_without_the_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    robot = load_robot(robot_root() / "planar3r.urdf")
    options = Options(functions=("rnea",), real="float", target="rv32imafc")
    said: list[str] = []
    monkeypatch.setattr(cross.shutil, "which", lambda _: None)
    made = generate(robot, options, tmp_path, progress=said.append)
    assert said[-1] == "took no figures: riscv64-unknown-elf-gcc is not installed"
    assert "object_bytes" not in made.manifest["functions"]["rnea"]
    assert "Figures" not in (made.folder / "README.md").read_text()
