"""Tables of the numbers that differ between bodies."""

from __future__ import annotations

from rbdgen.sweeps.looped_bodies import Rows


def test_rows_keep_what_differs() -> None:
    table = Rows("numbers", ((1, 2.5, 0), (1, 3.5, 0), (1, 4.5, 0)))
    assert table.varying == (1,)
    assert table.values == (2.5, 3.5, 4.5)
    assert table.complete([9.0]) == [1, 9.0, 0]
    assert table.place([2, 0]).addresses(0) == [2]


def test_identical_limbs_share_rows() -> None:
    """The table has a left and a right leg; the legs of a second pair have the same rows."""
    left, right = ((0.1 * k, 1.0, k) for k in range(2))
    legs = Rows("legs", (left, right, left, right, left, right))
    assert legs.varying == (0, 2)
    assert legs.values == (0.0, 0, 0.1, 1)
    assert [legs.place([4, 5, 0]).addresses(k) for k in range(3)] == [[0, 1], [2, 3], [0, 1]]
    few = Rows("few", ((0.5,), (1.5,), (0.5,)))
    assert few.values == (0.5, 1.5, 0.5), "an offset for every body would take more than the row saves"
