"""Every file of a generated folder follows the required rules of MISRA C:2012, except for deviations."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from embedded.misra import RECORD, broken_rules, deviations
from embedded.subjects import Product, generated
from support.few import few

from rbdgen.functions.table import TABLE
from rbdgen.inertia.operations import OPERATIONS
from rbdgen.options import Options
from rbdgen.pipeline.inertia import generate_inertia

ROBOTS: dict[str, dict[str, Any]] = {
    "puma560": {"base": "fixed", "trig": "builtin", "real": "float"},
    "double_pendulum": {"base": "floating", "trig": "builtin", "real": "double"},
    "planar3r": {"base": "fixed", "trig": "input", "real": "float"},
}

FUNCTIONS: dict[str, tuple[str, ...]] = {
    "puma560": ("rnea", "aba_derivatives"),
    "double_pendulum": ("rnea", "minv", "aba_derivatives", "step"),
    "planar3r": (
        *("rnea", "aba", "crba", "minv", "rnea_derivatives", "aba_derivatives", "aba_fext"),
        *("com", "com_jacobian", "kinetic_energy", "regressor", "coriolis"),
    ),
}
"""Functions of all kinds: with numbers, vectors, one or several matrices, loops over columns, and parts."""

CASES = [(name, function) for name in ROBOTS for function in FUNCTIONS[name]]

LOOPED = [name for name, row in TABLE.items() if any(form.name == "looped" for form in row.forms)]
"""The functions that have a form in loops over bodies."""

PENDULUM, OF_LIMBS = "double_pendulum", ("quadruped12", "crba", "limb-loops")

SELFTEST = {"21.6"}


@pytest.fixture(scope="module", params=ROBOTS)
def product(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Product:
    name = request.param
    return produced(name, FUNCTIONS[name], tmp_path_factory.mktemp(name))


def produced(name: str, functions: tuple[str, ...], folder: Path) -> Product:
    return generated(name, functions=functions, folder=folder, target="portable", **ROBOTS[name])


QUICK = [
    ("puma560", "rnea"),
    *(("double_pendulum", function) for function in FUNCTIONS["double_pendulum"]),
    *(("planar3r", function) for function in ("aba_derivatives", "com", "kinetic_energy", "regressor")),
]
"""All functions of the robot that has the fewest bodies, and results of all shapes with sines as inputs."""


@pytest.mark.parametrize(("product", "function"), few(QUICK, CASES), indirect=["product"])
def test_functions(function: str, product: Product) -> None:
    """Functions, the header and the header of the built-in sine follow the rules."""
    assert_allowed(function, product)


@pytest.mark.campaign
@pytest.mark.parametrize("name", ROBOTS)
def test_every_function(name: str, tmp_path: Path) -> None:
    product = produced(name, tuple(TABLE), tmp_path)
    for function in TABLE:
        assert_allowed(function, product)


def assert_allowed(function: str, product: Product) -> None:
    subject = product.subject(function)
    assert broken_rules(subject.sources, subject.folders) == {}


@pytest.mark.parametrize(
    ("robot", "function", "form"),
    few(
        [*((PENDULUM, name, "looped") for name in ("rnea", "crba", "rnea_derivatives")), OF_LIMBS],
        [*((PENDULUM, name, "looped") for name in LOOPED), OF_LIMBS],
    ),
)
def test_looped_forms(robot: str, function: str, form: str, tmp_path: Path) -> None:
    product = generated(
        robot,
        "floating",
        (function,),
        tmp_path,
        real="float",
        target="portable",
        variants={function: form},
    )
    subject = product.subject(function)
    assert " for (" in subject.sources[0].read_text()
    assert broken_rules(subject.sources, subject.folders) == {}


def test_operations_on_inertias(tmp_path: Path) -> None:
    """Operations, their forms in place, the header and the self-test follow the rules."""
    options = Options.of(functions=OPERATIONS, real="float", target="portable")
    made = generate_inertia(options, tmp_path, compiled=False)
    product = Product(made.folder, made.manifest)
    sources = [source for operation in OPERATIONS for source in product.subject(operation).sources]
    assert broken_rules(sources, [product.folder]).keys() == set()
    assert broken_rules([selftest(product)], [product.folder]).keys() == SELFTEST


def selftest(product: Product) -> Path:
    return product.folder / "selftest" / f"{product.manifest['name']}_selftest.c"


def test_the_selftest(product: Product) -> None:
    broken = broken_rules([selftest(product)], [product.folder])
    assert broken.keys() == SELFTEST
    assert len(broken["21.6"]) == 1  # the line that includes <stdio.h> for the default report


def test_every_deviation_is_recorded_and_needed() -> None:
    assert deviations().keys() == SELFTEST
    assert all(len(reason) > 50 for reason in deviations().values())


@pytest.mark.parametrize("product", few(["planar3r"], ROBOTS), indirect=True)
def test_advisory_rules_that_are_broken_are_recorded(product: Product) -> None:
    """The record in the folder gives the reason for every advisory rule that its C breaks."""
    assert (product.folder / "MISRA.md").read_text() == RECORD.read_text()
    sources = [*product.folder.glob("*.c"), selftest(product)]
    broken = broken_rules(sources, [product.folder], advisory=True).keys()
    assert {"2.5", "8.9", "12.1"} <= broken <= deviations("advisory").keys()


@pytest.mark.parametrize("product", ["double_pendulum"], indirect=True)
@pytest.mark.parametrize(
    ("file", "old", "new", "rule"),
    [
        (
            "double_pendulum.h",
            "void double_pendulum_rnea(",
            "void double_pendulum_nothing();\nvoid double_pendulum_rnea(",
            "8.2",
        ),
        ("selftest/double_pendulum_selftest.c", "        ++count;\n", "        count += 1u;\n", "10."),
        ("selftest/double_pendulum_selftest.c", "(void)memcpy((unsigned", "memcpy((unsigned", "17.7"),
    ],
    ids=["prototype without arguments", "essential type", "unused result"],
)
def test_a_broken_rule_is_noticed(
    file: str, old: str, new: str, rule: str, product: Product, tmp_path: Path
) -> None:
    shutil.copytree(product.folder, tmp_path / "copy")
    path = tmp_path / "copy" / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    program = tmp_path / "copy" / "selftest" / "double_pendulum_selftest.c"
    rules = broken_rules([program], [tmp_path / "copy"]).keys() - deviations().keys()
    assert any(number.startswith(part) for number in rules for part in rule.split("|")), rules
