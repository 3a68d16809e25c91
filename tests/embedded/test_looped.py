"""Looped forms on small machines: bits, instructions as counted in loops, and budgets for flash."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from embedded.board import BOARDS, build_image, run_at_home, run_on_board
from embedded.subjects import Product, generated
from support.few import few

from rbdgen.cli import main
from rbdgen.errors import BuildError
from rbdgen.figures.guarantees import violations
from rbdgen.model.build import Base
from rbdgen.options import Options
from rbdgen.pipeline.page import generate
from rbdgen.pipeline.robot import load_robot
from rbdgen.resources import robot_root
from rbdgen.toolchain.cross import cross_compiler
from rbdgen.toolchain.targets import TARGETS

FUNCTIONS = ("rnea", "aba", "crba", "minv", "rnea_derivatives", "aba_derivatives")
ROBOTS: dict[str, Base] = {"double_pendulum": "floating", "arm7": "fixed", "quadruped12": "floating"}
STATES = 2

EMBEDDED = [name for name, row in TARGETS.items() if row.embedded]

CASES = [
    (robot, function, board)
    for robot in ROBOTS
    for function in FUNCTIONS
    for board in BOARDS
    if robot != "quadruped12" or "derivatives" not in function
]
"""All cases, except the derivatives of the quadruped, which take too long in the emulator."""

KINDS = ("cortex-m4f", "rv32imafc")
"""One board for each kind of processor."""

ALWAYS = [
    *(("double_pendulum", "rnea", board) for board in BOARDS),
    *(("double_pendulum", name, board) for name in FUNCTIONS[1:] for board in KINDS),
    ("arm7", "rnea", "cortex-m7"),
    ("quadruped12", "aba", "cortex-m4f"),
]
"""The cases of every run: a robot of the smallest size, one of more than two bodies, one with branches."""


@pytest.fixture(scope="module")
def products(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Product]:
    """The folders of the robots, with every function in loops."""
    forms = dict.fromkeys(FUNCTIONS, "looped")
    return {
        name: generated(
            name,
            base,
            FUNCTIONS,
            tmp_path_factory.mktemp(name),
            real="float",
            target="portable",
            variants=forms,
        )
        for name, base in ROBOTS.items()
    }


@pytest.mark.parametrize(("robot", "function", "board"), few(ALWAYS, CASES))
def test_on_the_board(
    robot: str, function: str, board: str, products: dict[str, Product], tmp_path: Path
) -> None:
    """A board gives this machine's bits and the counted instructions, with the manifest's counts of loops."""
    product, target = products[robot], TARGETS[board]
    subject, inputs = product.subject(function), product.states(function, STATES)
    loops = product.manifest["functions"][function]["loops"]
    home = run_at_home(subject, inputs, tmp_path / "home")
    image = build_image(subject, inputs, target, tmp_path / "board")
    result, executed = run_on_board(subject, image, target, list(image.figures.functions))
    np.testing.assert_array_equal(result.bits, home.bits)
    assert np.isfinite(result.values()).all()
    assert len(np.unique(result.bits)) > 4
    assert sum(executed.values()) == 2 * STATES * image.figures.instructions(subject.function, loops)
    assert violations(image.figures, loops={subject.function: len(loops)}) == ()
    found = violations(image.figures)
    assert found[0].startswith(f"{subject.function}: {len(loops)} conditional branches")


EACH = ("rnea", "aba", "aba_derivatives")
"""Functions with outward loops, inward loops and loops over columns."""


@pytest.mark.parametrize(
    ("target", "robot", "base"),
    few(
        [(name, "double_pendulum", "fixed") for name in KINDS],
        product(EMBEDDED, ["double_pendulum", "planar3r"], ["fixed", "floating"]),
    ),
)
def test_small_robots(target: str, robot: str, base: Base, tmp_path: Path) -> None:
    """Loops of two runs stay loops in machine code, so that their instructions can be counted."""
    if cross_compiler(TARGETS[target]) is None:
        pytest.skip(f"{TARGETS[target].prefix}gcc is not installed")
    options = Options(functions=EACH, real="float", target=target, variants=dict.fromkeys(EACH, "looped"))
    facts = generate(load_robot(robot_root() / f"{robot}.urdf", base), options, tmp_path).manifest[
        "functions"
    ]
    for row in facts.values():
        assert row["instructions"] > sum(row["loops"]) > 2


def test_sines_as_inputs(tmp_path: Path) -> None:
    product = generated(
        "quadruped12",
        "floating",
        ("rnea",),
        tmp_path,
        real="float",
        target="portable",
        trig="input",
        variants={"rnea": "looped"},
    )
    target, subject, inputs = TARGETS["cortex-m4f"], product.subject("rnea"), product.states("rnea", STATES)
    image = build_image(subject, inputs, target, tmp_path / "board")
    result, executed = run_on_board(subject, image, target, list(image.figures.functions))
    np.testing.assert_array_equal(result.bits, run_at_home(subject, inputs, tmp_path / "home").bits)
    loops = product.manifest["functions"]["rnea"]["loops"]
    assert sum(executed.values()) == 2 * STATES * image.figures.instructions(subject.function, loops)


SHRINKING = ("rnea", "aba")


def arm(folder: Path, **options: Any) -> Product:
    robot = load_robot(robot_root() / "arm7.urdf", "fixed")
    chosen = Options(functions=SHRINKING, real="float", target="cortex-m4f", **options)
    made = generate(robot, chosen, folder)
    return Product(made.folder, made.manifest)


def flash(product: Product) -> dict[str, int]:
    return {name: facts["object_bytes"] for name, facts in product.manifest["functions"].items()}


def looped(product: Product) -> set[str]:
    facts = product.manifest["functions"]
    return {name for name in facts if facts[name]["form"] == "looped"}


def test_a_budget(tmp_path: Path) -> None:
    """With a budget just below the unrolled size, only the largest function is looped; with less, all are."""
    whole = flash(arm(tmp_path / "unrolled"))
    first = arm(tmp_path / "first", budget_flash=sum(whole.values()) - 1)
    assert looped(first) == {max(whole, key=lambda name: whole[name])} == {"aba"}
    assert flash(first)["rnea"] == whole["rnea"]
    least = arm(tmp_path / "least", budget_flash=sum(whole.values()) * 2 // 3)
    assert looped(least) == set(SHRINKING)
    assert least.manifest["options"]["budget_flash"] >= sum(flash(least).values())


def test_a_budget_that_cannot_be_met(tmp_path: Path) -> None:
    words = r"budget_flash=2000: \d+ bytes are the least .*, \d+ too many \(aba \d+, rnea \d+\)"
    with pytest.raises(BuildError, match=words):
        arm(tmp_path, budget_flash=2000)
    assert not list(tmp_path.iterdir())


def test_refused_without_the_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "")
    urdf = str(robot_root() / "planar3r.urdf")
    flags = ["--target", "cortex-m4f", "--real", "float", "--budget-flash", "9000", "-q", "-o", str(tmp_path)]
    assert main([urdf, *flags]) == 2
    said = capsys.readouterr().err
    assert "--budget-flash 9000: needs measured sizes" in said
    assert "install arm-none-eabi-gcc" in said


@pytest.mark.parametrize(("function", "board"), [("crba", "rv32imafc"), ("minv", "cortex-m4f")])
def test_loops_over_limbs(function: str, board: str, tmp_path: Path) -> None:
    """Loops over limbs that write zeros or read values of other limbs have the right bits and counts."""
    options: dict[str, Any] = {"real": "float", "target": "portable"}
    forms = {function: "limb-loops"}
    product = generated("quadruped12", "floating", (function,), tmp_path, variants=forms, **options)
    target, subject, inputs = TARGETS[board], product.subject(function), product.states(function, STATES)
    loops = product.manifest["functions"][function]["loops"]
    assert set(loops) == {4}
    image = build_image(subject, inputs, target, tmp_path / "board")
    result, executed = run_on_board(subject, image, target, list(image.figures.functions))
    np.testing.assert_array_equal(result.bits, run_at_home(subject, inputs, tmp_path / "home").bits)
    assert np.isfinite(result.values()).all()
    assert sum(executed.values()) == 2 * STATES * image.figures.instructions(subject.function, loops)
    assert violations(image.figures, loops={subject.function: len(loops)}) == ()


def test_a_budget_takes_loops_over_limbs(tmp_path: Path) -> None:
    """Loops over limbs, which are faster, are taken if they fit; otherwise loops over bodies are taken."""
    robot = load_robot(robot_root() / "quadruped12.urdf", "floating")
    forms = {}
    for budget in (2500, 2000):
        options = Options(functions=("rnea",), real="float", target="cortex-m4f", budget_flash=budget)
        facts = generate(robot, options, tmp_path).manifest["functions"]["rnea"]
        assert facts["object_bytes"] <= budget
        forms[budget] = facts["form"], facts["instructions"]
    assert [form for form, _ in forms.values()] == ["limb-loops", "looped"]
    assert forms[2500][1] < 0.7 * forms[2000][1]


def test_tables_count(products: dict[str, Product], tmp_path: Path) -> None:
    """The flash of a looped form includes its constants, which are at least the numbers of its tables."""
    product, target = products["quadruped12"], TARGETS["cortex-m4f"]
    image = build_image(product.subject("rnea"), product.states("rnea", 1), target, tmp_path)
    (function,) = (f for f in image.figures.functions.values() if f.name == "quadruped12_rnea")
    assert sum(function.constants.values()) >= 4 * 67
