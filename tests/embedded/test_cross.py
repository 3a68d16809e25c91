"""Folders for small machines have figures in the manifest and on the page; refusals have figures too."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from embedded.board import compile_subject
from embedded.subjects import Product

import rbdgen
from rbdgen.emit.package import Sources
from rbdgen.errors import BuildError, LoadError, OptionError
from rbdgen.figures.code import figures
from rbdgen.inertia.operations import OPERATIONS
from rbdgen.options import Options
from rbdgen.pipeline.inertia import generate_inertia
from rbdgen.pipeline.page import generate
from rbdgen.pipeline.robot import load_robot
from rbdgen.resources import robot_root
from rbdgen.toolchain import cross
from rbdgen.toolchain.batch import ARCHITECTURES
from rbdgen.toolchain.targets import TARGETS, Part

M4F = TARGETS["cortex-m4f"]


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Product:
    robot = load_robot(robot_root() / "planar3r.urdf")
    options = Options(functions=("rnea", "minv"), real="float", target="cortex-m4f")
    made = generate(robot, options, tmp_path_factory.mktemp("cross"))
    return Product(made.folder, made.manifest)


def test_operations_on_inertias(tmp_path: Path) -> None:
    """Operations and their forms in place are measured, and have no branches and no calls except roots."""
    options = Options.of(functions=OPERATIONS, real="float", target="cortex-m4f")
    functions = generate_inertia(options, tmp_path).manifest["functions"]
    assert list(functions) == list(OPERATIONS)
    for name, facts in functions.items():
        assert 0 < facts["instructions"] < facts["object_bytes"]
        # those that find the rank keep the matrix of all pivots
        assert facts["stack_bytes"] <= {"factored_any_rank": 1088, "rank": 864}.get(name, 64)
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
        slow = replace(M4F, flags=(*M4F.flags, "-O0"))
        debugged = figures(compile_subject(subject, slow, tmp_path), M4F.prefix)
        assert facts["debugged"] == {
            "object_bytes": debugged.flash(symbol),
            "stack_bytes": debugged.stack(symbol),
        }
        assert 2 * facts["stack_bytes"] < debugged.stack(symbol)
        (line,) = (line for line in page.splitlines() if line.startswith(row))
        assert line.endswith(f" | {debugged.flash(symbol)} | {debugged.stack(symbol)} |")
    assert "-mcpu=cortex-m4" in product.manifest["build"]["flags"]
    assert set(product.manifest["files"]) == {
        path.relative_to(product.folder).as_posix() for path in product.folder.rglob("*") if path.is_file()
    }


def sources_of(product: Product) -> Sources:
    """The sources of the folder, which are read back."""
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
    """The exit status and the standard error of the command line for planar3r."""
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
            "--ram 99: needs measured figures; leave --no-comp",
        ),
        ("--target host --ram 100", "--ram: --target host has no limit of RAM; choose from: cortex-m4f, "),
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
    made = generate(robot, options, tmp_path, progress=lambda report: said.append(report.ended))
    assert said[-1] == (
        "took no figures: riscv64-unknown-elf-gcc is not installed; "
        "apt install gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf"
    )
    assert "object_bytes" not in made.manifest["functions"]["rnea"]
    assert "Figures" not in (made.folder / "README.md").read_text()


@pytest.fixture
def without_library(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A compiler for Arm that only has gcc's own headers, first on the path."""
    folder = tmp_path / "bin"
    folder.mkdir()
    own, objdump = (shutil.which(f"{M4F.prefix}{tool}") for tool in ("gcc", "objdump"))
    wrapper = folder / f"{M4F.prefix}gcc"
    headers = f"-nostdinc -isystem $({own} -print-file-name=include)"
    wrapper.write_text(f'#!/bin/sh\nexec {own} {headers} "$@"\n')
    wrapper.chmod(0o755)
    assert objdump is not None
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return tmp_path / "out"


def test_figures_need_no_c_library(without_library: Path, product: Product) -> None:
    """Figures are the same without a C library."""
    robot = load_robot(robot_root() / "planar3r.urdf")
    options = Options(functions=("rnea", "minv"), real="float", target="cortex-m4f")
    made = generate(robot, options, without_library)
    for name, facts in made.manifest["functions"].items():
        there = product.manifest["functions"][name]
        assert {**facts, "seconds": 0} == {**there, "seconds": 0}


def test_a_compiler_without_a_needed_header_is_as_none(without_library: Path) -> None:
    """A function that calls the C library's sine has no figures if the header is missing."""
    robot = load_robot(robot_root() / "planar3r.urdf")
    options = Options(functions=("rnea",), real="float", target="cortex-m4f", trig="libm")
    said: list[str] = []
    made = generate(robot, options, without_library, progress=lambda report: said.append(report.ended))
    assert re.fullmatch(
        r"took no figures: arm-none-eabi-gcc has no C library \(.*math\.h.*\); "
        r"apt install gcc-arm-none-eabi libnewlib-arm-none-eabi",
        said[-1],
    )
    assert "object_bytes" not in made.manifest["functions"]["rnea"]
    for more in ({"ram": 10_000}, {"budget_flash": 10_000}):
        with pytest.raises(OptionError, match=r"^no figures for --ram and --budget-flash: .* no C library"):
            generate(robot, replace(options, **more), without_library / "other")
    assert not (without_library / "other").exists()


@pytest.mark.parametrize("target", [name for name, row in TARGETS.items() if not row.at_home])
def test_folders_for_other_machines_hold_c_alone(target: str, tmp_path: Path) -> None:
    """Folders for other machines only have C, and no flags of the machine that generated them. Those of
    WebAssembly have a module, too, and those of CUDA kernels.
    """
    robot = load_robot(robot_root() / "double_pendulum.urdf")
    options = Options(functions=("rnea",), real="float", target=target)
    for compiled in (True, False):
        made = generate(robot, options, tmp_path / str(compiled), compiled=compiled)
        files = {x.relative_to(made.folder).as_posix() for x in made.folder.rglob("*") if x.is_file()}
        assert files == set(made.manifest["files"])
        kinds = {Path(file).suffix for file in files}
        module = {".mjs", ".mts", *([".wasm"] if compiled else [])} if TARGETS[target].module else set()
        board = {".ld"} if TARGETS[target].machine or target == "portable" else set()
        cubins = {".cubin"} if compiled else set()
        kernels = {".cu", ".cuh", *cubins} if TARGETS[target].kernels else set()
        assert kinds == {".c", ".h", ".hpp", ".md", ".txt", ".json", "", *module, *board, *kernels}
        assert "Python" not in (made.folder / "README.md").read_text()
        for build in ("Makefile", "CMakeLists.txt"):
            assert "march=native" not in (made.folder / build).read_text()
        if compiled and TARGETS[target].kernels:
            continue  # they are called on a GPU
        alone = r"as C alone, .*; generate it with target=.host. to call it here$"
        told = "has no machine code for GPUs" if TARGETS[target].kernels else alone
        with pytest.raises(LoadError, match=told):
            rbdgen.load(made.folder)


@pytest.mark.parametrize("arch", [name for name in ARCHITECTURES if name != "native"])
def test_build_files_are_told_the_processor_asked_for(arch: str, tmp_path: Path) -> None:
    robot = load_robot(robot_root() / "double_pendulum.urdf")
    options = Options(functions=("rnea",), arch=arch)
    folder = generate(robot, options, tmp_path, compiled=False).folder
    flag, _ = ARCHITECTURES[arch]
    for build in ("Makefile", "CMakeLists.txt"):
        text = (folder / build).read_text()
        assert re.findall(r"-march=[\w-]+", text) == [flag]


def test_build_files_fuse_where_that_is_asked_for(tmp_path: Path) -> None:
    robot = load_robot(robot_root() / "double_pendulum.urdf")
    options = Options(functions=("rnea",), target="portable", contract=True)
    text = (generate(robot, options, tmp_path).folder / "Makefile").read_text()
    assert "-ffp-contract=fast" in text
    assert "-ffp-contract=off" not in text
