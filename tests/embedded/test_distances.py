"""Distances on small machines: the bits of this machine, and no branches."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from embedded.board import build_image, run_at_home, run_on_board
from embedded.subjects import Product
from support.distances import reach

from rbdgen.figures.guarantees import violations
from rbdgen.options import Options
from rbdgen.pipeline.page import generate
from rbdgen.toolchain.targets import TARGETS

FUNCTIONS = ("distances", "distance_jacobian")


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Product:
    options = Options(functions=FUNCTIONS, real="float", target="cortex-m4f")
    made = generate(reach(), options, tmp_path_factory.mktemp("reach"), compiled=False)
    return Product(made.folder, made.manifest)


def test_float_takes_the_exact_formula(product: Product) -> None:
    assert product.manifest["distance_pairs"]["segments"] == "exact"


@pytest.mark.parametrize("board", ["cortex-m4f", "rv32imafc"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_on_the_board(function: str, board: str, product: Product, tmp_path: Path) -> None:
    """In the last states all links are in one line, on parallel lines, and on top of each other."""
    subject, target = product.subject(function), TARGETS[board]
    inputs = product.states(function, 5)
    inputs[2:, :3] = np.float32([[0, 0, 0], [0, np.pi / 2, np.pi / 2], [0, np.pi, 0]])
    home = run_at_home(subject, inputs, tmp_path / "home")
    image = build_image(subject, inputs, target, tmp_path / "board")
    result, _ = run_on_board(subject, image, target)
    np.testing.assert_array_equal(result.bits, home.bits)
    assert np.isfinite(result.values()).all()
    assert violations(image.figures) == ()
