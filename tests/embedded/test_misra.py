"""Every file of a generated folder against the required rules of MISRA C:2012."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from embedded.misra import broken_rules, deviations
from embedded.subjects import Product, generated

from rbdgen.functions.table import TABLE
from rbdgen.inertia.operations import OPERATIONS
from rbdgen.options import Options
from rbdgen.pipeline.page import generate_inertia

ROBOTS: dict[str, dict[str, Any]] = {
    "arm7": {"base": "fixed", "trig": "builtin", "real": "float"},
    "double_pendulum": {"base": "floating", "trig": "builtin", "real": "double"},
    "planar3r": {"base": "fixed", "trig": "input", "real": "float"},
}

LOOPED = [name for name, row in TABLE.items() if any(form.name == "looped" for form in row.forms)]
"""Functions that have a form in loops over bodies."""

SINE = {"21.15"}
SELFTEST = {"21.6", "21.15"}


@pytest.fixture(scope="module", params=ROBOTS)
def product(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Product:
    """All functions of a robot."""
    row = ROBOTS[request.param]
    folder = tmp_path_factory.mktemp(request.param)
    return generated(request.param, functions=tuple(TABLE), folder=folder, target="portable", **row)


@pytest.mark.parametrize("function", TABLE)
def test_functions(function: str, product: Product) -> None:
    """With them the header, and that of the built-in sine."""
    subject = product.subject(function)
    allowed = SINE if product.manifest["trig"] == "builtin" else set()
    assert broken_rules(subject.sources, subject.folders).keys() == allowed


@pytest.mark.parametrize("function", LOOPED)
def test_looped_forms(function: str, tmp_path: Path) -> None:
    product = generated(
        "double_pendulum",
        "floating",
        (function,),
        tmp_path,
        real="float",
        target="portable",
        variants={function: "looped"},
    )
    subject = product.subject(function)
    assert " for (" in subject.sources[0].read_text()
    assert broken_rules(subject.sources, subject.folders).keys() <= SINE


def test_operations_on_inertias(tmp_path: Path) -> None:
    """With their twins in place, the header and the self-test."""
    options = Options.of(functions=OPERATIONS, real="float", target="portable")
    made = generate_inertia(options, tmp_path, compiled=False)
    product = Product(made.folder, made.manifest)
    for operation in OPERATIONS:
        subject = product.subject(operation)
        assert broken_rules(subject.sources, subject.folders).keys() == set()
    assert broken_rules([selftest(product)], [product.folder]).keys() == SELFTEST


def selftest(product: Product) -> Path:
    return product.folder / f"{product.manifest['name']}_selftest.c"


def test_the_selftest(product: Product) -> None:
    broken = broken_rules([selftest(product)], [product.folder])
    assert broken.keys() == SELFTEST
    assert len(broken["21.6"]) == 1  # the line that includes <stdio.h> where no report is given


def test_every_deviation_is_recorded_and_needed() -> None:
    assert deviations().keys() == SINE | SELFTEST
    assert all(len(reason) > 50 for reason in deviations().values())


@pytest.mark.parametrize("product", ["planar3r"], indirect=True)
@pytest.mark.parametrize(
    ("file", "old", "new", "rule"),
    [
        ("planar3r.h", "void planar3r_rnea(", "void planar3r_nothing();\nvoid planar3r_rnea(", "8.2"),
        ("planar3r_selftest.c", "        ++count;\n", "        count += 1u;\n", "10."),
        ("planar3r_selftest.c", "(void)memcpy(&word", "memcpy(&word", "17.7"),
    ],
    ids=["prototype without arguments", "essential type", "unused result"],
)
def test_a_broken_rule_is_noticed(
    file: str, old: str, new: str, rule: str, product: Product, tmp_path: Path
) -> None:
    for path in product.folder.glob("*.[ch]"):
        text = path.read_text()
        assert path.name != file or old in text
        (tmp_path / path.name).write_text(text.replace(old, new) if path.name == file else text)
    rules = broken_rules([tmp_path / "planar3r_selftest.c"], [tmp_path]).keys() - deviations().keys()
    assert any(number.startswith(part) for number in rules for part in rule.split("|")), rules
