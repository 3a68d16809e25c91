"""The emitted self-test on the boards: it passes there, with the bits of home, and finds what is wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from embedded.board import HERE, SUPPORT, checked, run
from embedded.subjects import Product, generated

from rbdgen.build.targets import TARGETS
from rbdgen.options import Real

FUNCTIONS = ("rnea", "aba", "crba")


@pytest.fixture(scope="module", params=["float", "double"])
def product(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Product:
    real: Real = request.param
    folder = tmp_path_factory.mktemp(f"selftest_{real}")
    return generated("planar3r", "fixed", FUNCTIONS, folder, real=real, target="portable")


def on_board(product: Product, board: str, folder: Path, *flags: str) -> dict[str, tuple[int, int]]:
    """Function -> wrong elements, bits."""
    target = TARGETS[board]
    assert target.machine is not None
    elf = folder / "selftest.elf"
    report = "-DPLANAR3R_REPORT(name, wrong, states, bits)=report(name, wrong, states, bits)"
    compiler = (f"{target.prefix}gcc", "-std=gnu99", *target.flags, *flags, f"-I{SUPPORT}", "-include")
    sources = (*product.folder.glob("*.c"), SUPPORT / "startup.c")
    linker = ("-nostartfiles", "-T", SUPPORT / "board.ld", "-Wl,--gc-sections", "-lm", "-o", elf)
    checked([*compiler, HERE / "report.h", report, "-Wno-unused-function", *sources, *linker])
    lines, _ = run(elf, target.machine)
    return {line.split()[0]: (int(line.split()[1], 16), int(line.split()[3], 16)) for line in lines}


def at_home(product: Product, folder: Path) -> dict[str, tuple[int, int]]:
    said = checked(["make", "-s", "-C", product.folder, f"BUILD={folder}/home", "check"])
    lines = re.findall(
        r"^(\w+): ok, (\d+) wrong elements in 2 states, bits ([0-9a-f]{8})$", said, re.MULTILINE
    )
    return {name: (int(wrong), int(bits, 16)) for name, wrong, bits in lines}


@pytest.mark.parametrize("board", ["cortex-m4f", "cortex-m7", "cortex-m55"])
def test_same_bits_on_the_board(board: str, product: Product, tmp_path: Path) -> None:
    home = at_home(product, tmp_path)
    assert set(home) == set(FUNCTIONS)
    assert on_board(product, board, tmp_path) == home


@pytest.mark.parametrize("product", ["float"], indirect=True)
def test_contraction_changes_the_bits(product: Product, tmp_path: Path) -> None:
    assert on_board(product, "cortex-m4f", tmp_path, "-ffp-contract=fast") != at_home(product, tmp_path)


def test_a_wrong_function_fails_on_the_board(product: Product, tmp_path: Path) -> None:
    source = product.folder / product.manifest["functions"]["rnea"]["source"]
    text = source.read_text()
    head, brace, body = text.partition("{")
    try:
        source.write_text(head + brace + body.replace(" + ", " - ", 1))
        with pytest.raises(AssertionError, match="qemu-system-arm: status 1"):
            on_board(product, "cortex-m7", tmp_path)
    finally:
        source.write_text(text)
