"""Products of matrices of expressions while a user's text is traced."""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdgen.access import Place
from rbdgen.functions.composition import Call, Product
from rbdgen.graph.builder import Builder
from rbdgen.graph.expression import Expr
from rbdgen.graph.programs.products import MOST


class Recorder(Builder):
    """The builder of a text, which notes the gaps of the text: calls and products of large matrices."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[Call | Product] = []
        self.read: list[tuple[str, tuple[int, ...], list[Any]]] = []
        """The array that each gap reads."""

    def gap(self, step: Call | Product, read: list[Any], results: int) -> list[Expr]:
        """Note a gap that reads these elements, and return symbols for its results."""
        self.steps.append(step)
        self.read.append((step.name, (len(read),), read))
        return self.input(step.name, results)


def product(left: Any, right: Any, *, symmetric: bool = False) -> Any:
    """The matrix product of plain arrays of objects, as NumPy's, in which that of large matrices is a gap.

    If it is `symmetric`, the elements below the diagonal are those above it.
    """
    recorder = _recorder(left, right)
    if recorder is None or not {left.ndim, right.ndim} <= {1, 2} or left.shape[-1] != len(right):
        return _written_out(left, right, symmetric=symmetric)
    A, B = np.atleast_2d(left), right.reshape(len(right), -1)
    if not A.size * B.shape[1] > MOST:
        return _written_out(left, right, symmetric=symmetric)
    counts = _may_differ_from_0(A).astype(int) @ _may_differ_from_0(B).astype(int)
    counts = np.triu(counts) if symmetric else counts
    if counts.sum() <= MOST:
        return _written_out(left, right, symmetric=symmetric)
    wanted: tuple[Place, ...] = tuple((int(i), int(j)) for i, j in np.argwhere(counts))
    step = Product(len(A), len(B), B.shape[1], wanted, f"product {len(recorder.steps)}")
    found = np.zeros(counts.shape, object)
    for at, symbol in zip(wanted, recorder.gap(step, [*A.ravel(), *B.ravel()], len(wanted)), strict=True):
        found[at] = symbol
    if symmetric:
        i, j = np.triu_indices(len(found), 1)
        found[j, i] = found[i, j]
    return found.reshape(left.shape[:-1] + right.shape[1:])[()]


def _written_out(left: Any, right: Any, *, symmetric: bool) -> Any:
    if not symmetric:
        return np.matmul(left, right)
    found = np.empty((len(left), len(left)), object)
    for i in range(len(left)):
        for j in range(i, len(left)):
            found[i, j] = found[j, i] = left[i] @ right[:, j]
    return found


def _may_differ_from_0(values: Any) -> Any:
    return np.frompyfunc(lambda x: isinstance(x, Expr) or x != 0, 1, 1)(values).astype(bool)


def _recorder(*operands: Any) -> Recorder | None:
    """The recorder to which expressions among the elements belong; None if there is none."""
    builders = (x.builder for values in operands for x in values.ravel() if isinstance(x, Expr))
    found = next(builders, None)
    return found if isinstance(found, Recorder) else None
