"""Views of matrices in arrays have the indices that NumPy gives."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from rbdgen.access import Access, BlockViews, MatrixView, Place, element, lower, square

ROWS, WIDTH, FIRST = 5, 4, 7
MATRIX = FIRST + np.arange(ROWS * WIDTH).reshape(ROWS, WIDTH)
"""Every element of a matrix holds its own index in the array."""

VIEW = MatrixView("A", WIDTH, FIRST)


def addresses(access: Access, runs: int = 1) -> list[list[int]]:
    assert access.array == "A"
    return [access.addresses(run) for run in range(runs)]


def test_one_element() -> None:
    assert VIEW.index(3, 2) == MATRIX[3, 2]


def test_parts_that_all_runs_share() -> None:
    places = [(0, 1), (4, 3), (2, 0)]
    assert addresses(VIEW.entries(places)) == [[MATRIX[place] for place in places]]
    assert VIEW.entries(places).shared
    assert addresses(VIEW.block((3, 1), (0, 2))) == [MATRIX[np.ix_((3, 1), (0, 2))].ravel().tolist()]


def test_parts_that_start_elsewhere_in_each_run() -> None:
    starts = [(0, 1), (2, 0), (3, 2)]
    blocks = [MATRIX[i : i + 2, j : j + 2].ravel().tolist() for i, j in starts]
    assert addresses(VIEW.block(range(2), range(2), starts), 3) == blocks
    assert addresses(VIEW.down(2, starts), 3) == [MATRIX[i : i + 2, j].tolist() for i, j in starts]
    assert addresses(VIEW.row([4, 0]), 2) == [MATRIX[4].tolist(), MATRIX[0].tolist()]


def test_no_element() -> None:
    assert VIEW.entries([]).elements == ()
    assert VIEW.block((), range(3)).elements == ()


def test_elements_of_a_vector() -> None:
    assert addresses(element("A", iter([3, 1, 4])), 3) == [[3], [1], [4]]


@pytest.mark.parametrize("sizes", [(3,), (2, 3, 2, 1), (1, 1)])
def test_blocks(sizes: Sequence[int]) -> None:
    blocks, first = BlockViews("A", tuple(sizes)), 0
    for k, size in enumerate(sizes):
        own = first + np.arange(size**2).reshape(size, size)
        assert addresses(blocks[k].entries(square(size))) == [own.ravel().tolist()]
        assert addresses(blocks[k].entries(lower(size))) == [own[np.tril_indices(size)].tolist()]
        first += size**2
    assert blocks.total == first


def test_blocks_of_one_size_run_by_run() -> None:
    blocks = BlockViews("A", (2, 3, 2))
    assert addresses(blocks.entries(lower(2), [2, 0]), 2) == [[13, 15, 16], [0, 2, 3]]
    every: list[Place] = [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert square(2) == every
