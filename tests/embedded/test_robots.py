"""Generated functions of the bundled robots on emulated boards: bits, figures and guarantees."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from embedded.board import BOARDS, build_image, checked, run_at_home, run_on_board
from embedded.subjects import Product, generated
from support.few import few

from rbdgen.figures.guarantees import TRIGONOMETRY, violations
from rbdgen.machine import Real
from rbdgen.toolchain.targets import TARGETS

ROBOTS: dict[str, dict[str, Any]] = {
    "arm7": {"base": "fixed", "functions": ("rnea", "aba", "crba", "minv")},
    "double_pendulum": {"base": "floating", "functions": ("rnea_derivatives", "aba_derivatives")},
    "quadruped12": {"base": "floating", "functions": ("rnea",)},
}
STATES = 4

each_function = pytest.mark.parametrize(
    ("robot", "function"), [(name, function) for name, row in ROBOTS.items() for function in row["functions"]]
)


@pytest.fixture(scope="module")
def products(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, Real], Product]:
    """The folders of every robot in float and in double, for any C compiler, with built-in trigonometry."""
    reals: tuple[Real, ...] = ("float", "double")
    return {
        (name, real): generated(
            name, folder=tmp_path_factory.mktemp(f"{name}_{real}"), real=real, target="portable", **row
        )
        for name, row in ROBOTS.items()
        for real in reals
    }


Case = tuple[str, str, str, Real]


def on_boards() -> Iterator[Case]:
    """Yields every function on every board; software arithmetic is only tried with `rnea`."""
    for robot, row in ROBOTS.items():
        for function in row["functions"]:
            for board in BOARDS:
                yield robot, function, board, "float"
                if "double" in TARGETS[board].reals or function == "rnea":
                    yield robot, function, board, "double"


def always() -> Iterator[Case]:
    """Yields one function on every board with all types of numbers, and the others on one board."""
    for case in on_boards():
        robot, function, board, real = case
        if (robot, function) == ("arm7", "rnea") or (board == "cortex-m4f" and real == "float"):
            yield case


@pytest.mark.parametrize(("robot", "function", "board", "real"), few(always(), on_boards()))
def test_on_the_board(
    robot: str, function: str, board: str, real: Real, products: dict[Any, Product], tmp_path: Path
) -> None:
    product, target = products[robot, real], TARGETS[board]
    subject, inputs = product.subject(function), product.states(function, STATES)
    home = run_at_home(subject, inputs, tmp_path / "home")
    image = build_image(subject, inputs, target, tmp_path / "board")
    result, executed = run_on_board(subject, image, target, list(image.figures.functions))
    np.testing.assert_array_equal(result.bits, home.bits)
    assert np.isfinite(result.values()).all()
    calls = 2 * STATES
    assert sum(executed.values()) == calls * image.figures.instructions(subject.function)
    if real not in target.reals:
        return  # figures do not include routines of software arithmetic
    stack = image.figures.stack(subject.function)
    assert (
        stack - BOARDS[board].alignment
        <= result.stack
        <= stack + 4 * max(0, len(subject.inputs + subject.outputs) - 4)
    )
    assert violations(image.figures) == ()
    assert result.bits.std() > 0


@each_function
def test_float_against_double(
    robot: str, function: str, products: dict[Any, Product], tmp_path: Path
) -> None:
    single, double = products[robot, "float"], products[robot, "double"]
    inputs = single.states(function, 50)
    got = run_at_home(single.subject(function), inputs, tmp_path / "float").values()
    reference = run_at_home(double.subject(function), inputs, tmp_path / "double").values()
    error = np.abs(got - reference).max(axis=1) / np.abs(reference).max(axis=1)
    assert 0 < error.max() <= (1e-6 if function == "rnea" else 1e-4)


@pytest.mark.parametrize(
    ("robot", "trig"),
    few([("arm7", "input"), ("arm7", "libm")], product(ROBOTS, ["input", "libm"])),
)
def test_other_trigonometry(robot: str, trig: str, tmp_path: Path) -> None:
    row = {**ROBOTS[robot], "functions": ("rnea",)}
    product = generated(robot, folder=tmp_path, real="float", target="cortex-m4f", trig=trig, **row)
    target, subject, inputs = TARGETS["cortex-m4f"], product.subject("rnea"), product.states("rnea", STATES)
    image = build_image(subject, inputs, target, tmp_path / "board")
    result, executed = run_on_board(subject, image, target, list(image.figures.functions))
    assert sum(executed.values()) == 2 * STATES * image.figures.instructions(subject.function)
    home = run_at_home(subject, inputs, tmp_path / "home")
    if trig == "input":
        assert violations(image.figures) == ()
        np.testing.assert_array_equal(result.bits, home.bits)
    else:
        assert violations(image.figures, TRIGONOMETRY) == ()
        assert image.figures.undefined == {"sinf", "cosf"}
        np.testing.assert_allclose(
            result.values(), home.values(), rtol=0, atol=1e-5 * np.abs(home.values()).max()
        )


@pytest.mark.parametrize("real", ["float", "double"])
@each_function
def test_as_cpp(robot: str, function: str, real: Real, products: dict[Any, Product]) -> None:
    subject = products[robot, real].subject(function)
    warnings = ("-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wdouble-promotion", "-Werror")
    for compiler in ("g++", "arm-none-eabi-g++"):
        command = [compiler, "-x", "c++", "-std=c++11", *warnings, *subject.flags(), "-fsyntax-only"]
        checked([*command, *subject.sources])
