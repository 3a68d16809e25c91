"""The emitted self-test passes on the boards with the expected bits, and finds wrong results."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from embedded.board import BOARDS, SUPPORT, checked, run
from embedded.subjects import Product, generated
from support.few import few
from support.folders import selftest_sources

from rbdgen.functions.table import TABLE
from rbdgen.machine import Real
from rbdgen.toolchain.targets import TARGETS

FUNCTIONS = ("rnea", "aba", "crba")


@pytest.fixture(scope="module", params=["float", "double"])
def product(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Product:
    real: Real = request.param
    folder = tmp_path_factory.mktemp(f"selftest_{real}")
    return generated("planar3r", "fixed", FUNCTIONS, folder, real=real, target="portable")


def image(product: Product, board: str, folder: Path, *flags: str) -> Path:
    """Compiles the self-test for a board, and returns the image."""
    target, elf = TARGETS[board], folder / "selftest.elf"
    compiler = (f"{target.prefix}gcc", "-std=gnu99", *target.flags, *flags, f"-I{SUPPORT}")
    report = ("-include", SUPPORT / "report.h", "-DPLANAR3R_REPORT(...)=report(__VA_ARGS__)")
    sources = (*selftest_sources(product.folder), *BOARDS[board].support())
    checked([*compiler, *report, "-Wno-unused-function", *sources, *BOARDS[board].link_flags(), "-o", elf])
    return elf


def at_home(product: Product, folder: Path) -> str:
    return checked(["make", "-s", "-C", product.folder, f"BUILD={folder}/home", "check"])


def passed(report: str) -> dict[str, str]:
    """The bits by function, from the lines of functions that passed with the expected bits."""
    line = r"^(\w+): ok, 0+ wrong elements in 0?2 states, bits ([0-9a-f]{8}) as expected$"
    return dict(re.findall(line, report, re.MULTILINE))


@pytest.mark.parametrize("board", few(["cortex-m4f", "cortex-m7", "rv32imafc"], BOARDS))
def test_the_expected_bits_on_the_board(board: str, product: Product, tmp_path: Path) -> None:
    home = passed(at_home(product, tmp_path))
    assert tuple(home) == FUNCTIONS
    lines, _ = run(image(product, board, tmp_path), TARGETS[board])
    assert passed("\n".join(lines)) == home


@pytest.fixture(scope="module")
def looped(tmp_path_factory: pytest.TempPathFactory) -> Product:
    """A folder with the looped forms of all functions that have one."""
    forms = {row.name: row.smallest.name for row in TABLE.values() if row.smallest is not None}
    assert len(forms) > 6
    folder = tmp_path_factory.mktemp("selftest_looped")
    return generated(
        "planar3r", "floating", tuple(forms), folder, real="float", target="portable", variants=forms
    )


@pytest.mark.parametrize("board", few(["cortex-m4f", "rv32imafc"], BOARDS))
def test_the_expected_bits_of_looped_forms(board: str, looped: Product, tmp_path: Path) -> None:
    """All looped forms have the expected bits, in one image."""
    home = passed(at_home(looped, tmp_path))
    assert home.keys() == looped.manifest["functions"].keys()
    lines, _ = run(image(looped, board, tmp_path), TARGETS[board])
    assert passed("\n".join(lines)) == home


@contextmanager
def changed(product: Product, old: str, new: str) -> Iterator[None]:
    """Replaces one text of RNEA's C, and restores it at the end."""
    source = product.folder / product.manifest["functions"]["rnea"]["source"]
    text = source.read_text()
    head, brace, body = text.partition("{")
    assert old in body
    try:
        source.write_text(head + brace + body.replace(old, new, 1))
        yield
    finally:
        source.write_text(text)


def report_of_failure(product: Product, board: str, folder: Path, *flags: str) -> str:
    """The output of a run that fails."""
    elf = image(product, board, folder, *flags)
    with pytest.raises(AssertionError, match=rf"{BOARDS[board].emulator}: status 1"):
        run(elf, TARGETS[board])
    return elf.with_suffix(".out").read_text()


def last_bit(product: Product) -> tuple[str, str]:
    """The constant of RNEA's C with the most digits, and the neighbouring number of its type."""
    text = (product.folder / product.manifest["functions"]["rnea"]["source"]).read_text()
    old = max(re.findall(r"(?<![\w.])\d+\.\d+f?(?![\w.])", text.partition("{")[2]), key=len)
    dtype = np.float32 if old.endswith("f") else np.float64
    return old, f"{np.nextafter(dtype(old.rstrip('f')), dtype(1e9))!s}{'f' * old.endswith('f')}"


@pytest.mark.parametrize("board", ["cortex-m4f", "rv32imafc"])
def test_a_changed_last_bit_of_a_constant_is_found(board: str, product: Product, tmp_path: Path) -> None:
    with changed(product, *last_bit(product)):
        said = report_of_failure(product, board, tmp_path)
        home = tmp_path / "home"
        with pytest.raises(AssertionError, match=r"rnea: FAILED, 0 wrong elements .* bits \w+, not \w+"):
            checked(["make", "-s", "-C", product.folder, f"BUILD={home}", "check"])
    assert re.search(
        r"^rnea: FAILED, 0+ wrong elements in 02 states, bits \w+, not \w+: ", said, re.MULTILINE
    )
    assert tuple(passed(said)) == FUNCTIONS[1:]


@pytest.mark.parametrize("product", ["float"], indirect=True)
def test_contraction_is_found_and_may_be_accepted(product: Product, tmp_path: Path) -> None:
    elf = image(product, "cortex-m4f", tmp_path, "-ffp-contract=fast")
    with pytest.raises(AssertionError, match="qemu-system-arm: status 3"):
        run(elf, TARGETS["cortex-m4f"])
    assert elf.with_suffix(".out").read_text().count(": the compiler fuses, or ") == 3
    accepted = image(product, "cortex-m4f", tmp_path, "-ffp-contract=fast", "-DPLANAR3R_ANY_BITS=1")
    lines, _ = run(accepted, TARGETS["cortex-m4f"])
    assert sum(": ok, " in line for line in lines) == 3


def test_a_wrong_function_fails_on_the_board(product: Product, tmp_path: Path) -> None:
    with changed(product, " + ", " - "):
        said = report_of_failure(product, "cortex-m7", tmp_path)
    assert re.search(r"^rnea: FAILED, 0+[1-9a-f]\w* wrong|^rnea: FAILED, 0*[1-9a-f]", said, re.MULTILINE)
