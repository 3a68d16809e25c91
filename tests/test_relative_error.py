"""Errors are relative to the largest element of an output in its state."""

from __future__ import annotations

import numpy as np
import pytest

from rbdgen.relative_error import relative_errors


def test_relative_to_the_largest_element_of_the_state() -> None:
    reference = np.array([[1.0, 2.0], [0.0, 0.0], [4.0, -8.0]])
    result = np.array([[1.0, 2.5], [0.0, 0.0], [4.0, -7.0]])
    np.testing.assert_array_equal(relative_errors(result, reference), [0.25, 0.0, 0.125])
    result[1, 0] = 1e-9
    assert relative_errors(result, reference)[1] == np.inf
    np.testing.assert_array_equal(relative_errors(result, reference, 4.0), [0.125, 2.5e-10, 0.125])
    np.testing.assert_array_equal(relative_errors(result, reference, [1, 1, 16]), [0.25, 1e-9, 0.0625])


def test_scalars_and_matrices() -> None:
    np.testing.assert_array_equal(relative_errors(np.array([2.0, 3.0]), np.array([4.0, 3.0])), [0.5, 0.0])
    matrices = np.arange(8.0).reshape(2, 2, 2)
    np.testing.assert_array_equal(relative_errors(matrices + 7, matrices), [7 / 3, 1.0])


def test_no_number_is_no_small_error() -> None:
    assert np.isnan(relative_errors(np.array([[np.nan, 1.0]]), np.ones((1, 2)))).all()


def test_shapes_are_not_broadcast() -> None:
    with pytest.raises(ValueError, match="shapes"):
        relative_errors(np.ones((3, 1)), np.ones((3, 3)))
