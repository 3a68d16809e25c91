"""The C of every form of every function passes its own self-test and compiles without a warning."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import pytest
from support.few import few
from support.folders import written
from support.forms import FORMS, FunctionForm

from rbdgen.functions.table import TABLE
from rbdgen.model.build import Base
from rbdgen.options import Options
from rbdgen.pipeline.page import designed
from rbdgen.pipeline.request import Request
from rbdgen.pipeline.robot import load_robot
from rbdgen.resources import robot_root
from rbdgen.toolchain.cache import user_cache

WARNINGS = (
    *("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wdouble-promotion"),
    *("-Wstrict-prototypes", "-Wmissing-prototypes", "-Werror"),
)


@dataclass(frozen=True)
class Case:
    """A robot and the options that change its C."""

    robot: str
    base: Base
    options: Options
    functions: tuple[str, ...] = tuple(TABLE)

    def __str__(self) -> str:
        some = "" if len(self.functions) == len(TABLE) else "-some"
        return f"{self.robot}-{self.base}-{self.options.real}-{self.options.target}{some}"


OF_EVERY_KIND = ("rnea", "aba_derivatives", "kinetic_energy")
"""Functions whose outputs are vectors, matrices and single numbers, and whose forms have all loops."""

SMALL = [
    Case("double_pendulum", "fixed", Options()),
    Case("double_pendulum", "floating", Options(real="float", target="portable"), OF_EVERY_KIND),
]
LARGE = Case("arm7", "fixed", Options(real="float"), OF_EVERY_KIND)
"""A robot whose seven bodies fill the vectors of loops; one compiler is tried, as compiling takes long."""

WHOLE = replace(LARGE, functions=tuple(TABLE))
"""The same with all functions, which the campaign compiles."""


def forms_of(case: Case) -> list[FunctionForm]:
    """The forms that are compiled; for the large robot, only the forms in loops."""
    forms = [form for form in FORMS if form.function.name in case.functions]
    return [form for form in forms if case.robot != LARGE.robot or form.form.loops]


@dataclass(frozen=True)
class Folders:
    """The folders of a robot. A folder has one form of each function, and together they have all forms."""

    case: Case
    folders: tuple[Path, ...]


@pytest.fixture(scope="module", params=few([*SMALL, LARGE], [*SMALL, LARGE, WHOLE]), ids=str)
def folders(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Folders:
    case: Case = request.param
    # all workers of a test run share this cache: one worker designs, and the others wait for it
    store, robot = user_cache(), load_robot(robot_root() / f"{case.robot}.urdf", case.base)
    made = []
    left = forms_of(case)
    while left:
        forms: dict[str, str] = {}
        for form in left:
            forms.setdefault(form.function.name, form.form.name)
        left = [form for form in left if forms[form.function.name] != form.form.name]
        options = replace(case.options, functions=tuple(forms), variants=forms)
        folder = tmp_path_factory.mktemp("round")
        made.append(written(designed(Request(robot, options), store).files, folder))
    return Folders(case, tuple(made))


def sources(folder: Path, which: str) -> list[Path]:
    """The sources of the self-test of single calls or of batches; the last source has the main function."""
    name = next(folder.glob("*.hpp")).stem
    twins = sorted(folder.glob("*_batch.c"))
    singles = sorted({*folder.glob("*.c")} - {*twins})
    twins = twins if which == "batch_selftest" else []
    return [*singles, *twins, folder / "selftest" / f"{name}_{which}.c"]


def report(folder: Path, which: str, *command: str) -> dict[str, str]:
    """The line that the self-test prints for each function."""
    program = folder / f"{which}{''.join(command)}"
    subprocess.run(
        [*command, "-std=c99", "-ffp-contract=off", *sources(folder, which), "-lm", "-o", program], check=True
    )
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    return dict(line.split(": ", 1) for line in done.stdout.splitlines())


def assert_passed(folder: Path, *command: str) -> None:
    passed = r"ok, 0 wrong elements in 2 states, bits [0-9a-f]{8} as expected"
    said = report(folder, "selftest", *command)
    assert len(said) == len(sources(folder, "selftest")) - 1
    assert {name: line for name, line in said.items() if not re.fullmatch(passed, line)} == {}


def test_the_folders_have_every_form(folders: Folders) -> None:
    found = [
        (path.stem.removeprefix(f"{folders.case.robot}_"), *re.findall(r"; form (\w+)", path.read_text()))
        for folder in folders.folders
        for path in sources(folder, "selftest")[:-1]
    ]
    assert sorted(found) == sorted((form.function.name, form.form.name) for form in forms_of(folders.case))


def test_the_expected_bits(folders: Folders) -> None:
    """The C computes the same bits as the generator's own arithmetic."""
    for folder in folders.folders:
        assert_passed(folder, "gcc", "-O1")


CLANG, GCC = "clang -O2 -march=native", "gcc -O3 -march=native -fno-tree-slp-vectorize"


@pytest.mark.parametrize(
    ("folders", "command"),
    few(product(SMALL[1:], [CLANG, GCC]), product(SMALL, ["clang -O1", CLANG, GCC])),
    indirect=["folders"],
    ids=str,
)
def test_the_expected_bits_of_other_compilers(folders: Folders, command: str) -> None:
    """gcc 12 fuses products and sums that it joins into vectors, even with -ffp-contract=off. The option
    -fno-tree-slp-vectorize prevents it.
    """
    for folder in folders.folders:
        assert_passed(folder, *command.split())


def test_no_warning_of_gcc(folders: Folders) -> None:
    """The sources include batches and self-tests."""
    assert_no_warning("gcc", folders)


@pytest.mark.parametrize("folders", few(SMALL[1:], SMALL), indirect=True, ids=str)
def test_no_warning_of_clang(folders: Folders) -> None:
    assert_no_warning("clang", folders)


def assert_no_warning(compiler: str, folders: Folders) -> None:
    for folder in folders.folders:
        subprocess.run([compiler, *WARNINGS, "-fsyntax-only", *sorted(folder.glob("*.c"))], check=True)
