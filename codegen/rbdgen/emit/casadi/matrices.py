"""C arrays as CasADi stores them (matrices in compressed columns), and Jacobians between two arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

from rbdgen.graph.engine import rows_and_columns
from rbdgen.signature import SizedArgument


@dataclass(frozen=True)
class Matrix:
    """A sparse matrix for one state.

    `entries` are (column, row, place in the C array), sorted in this order.
    """

    rows: int
    columns: int
    entries: tuple[tuple[int, int, int], ...]

    @cached_property
    def places(self) -> tuple[int, ...]:
        """For each number that CasADi stores, its place in the C array."""
        return tuple(place for _, _, place in self.entries)

    @property
    def size(self) -> int:
        return self.rows * self.columns

    def number(self, position: int) -> int:
        """The index that an element has in CasADi (column-major), from its row-major position."""
        row, column = divmod(position, self.columns)
        return column * self.rows + row

    def position(self, number: int) -> int:
        """The row-major position of an element, from its index in CasADi (column-major)."""
        column, row = divmod(number, self.rows)
        return row * self.columns + column

    def transposed(self) -> Matrix:
        """The transposed matrix, with the same places."""
        entries = ((row, column, place) for column, row, place in self.entries)
        return Matrix(self.columns, self.rows, tuple(sorted(entries)))

    def beside(self, states: int) -> tuple[int, ...]:
        """The sparsity, in CasADi's form, of the matrices of several states side by side."""
        return self._compressed(self.rows, states, 0)

    def diagonal(self, states: int) -> tuple[int, ...]:
        """The sparsity, in CasADi's form, of the matrices of several states as blocks on a diagonal."""
        return self._compressed(states * self.rows, states, self.rows)

    def of_rows(self, states: int) -> tuple[int, ...]:
        """The sparsity, in CasADi's form, of the derivatives of the Jacobians of one number of several
        states. This matrix has those of a state; the Jacobians are blocks on a diagonal.
        """
        spread = tuple((column, row * states, place) for column, row, place in self.entries)
        above = self.rows * states
        return Matrix(above, self.columns, spread)._compressed(above * states, states, above + 1)

    def _compressed(self, rows: int, states: int, step: int) -> tuple[int, ...]:
        if len(self.entries) == self.size and rows == self.rows:
            return rows, self.columns * states, 1  # a third number of 1 means "dense" in CasADi
        starts, below = [0], []
        for state in range(states):
            own = [0] * self.columns
            for column, row, _ in self.entries:
                own[column] += 1
                below.append(row + state * step)
            for count in own:
                starts.append(starts[-1] + count)
        return rows, self.columns * states, *starts, *below


def matrix_of(argument: SizedArgument) -> Matrix:
    """The matrix with the elements of an array. With more than two axes, the array's matrices are stacked."""
    rows, columns = rows_and_columns(argument.dense or argument.shape)
    found = ((*divmod(at, columns), place) for at, place in _places(argument).items())
    return Matrix(rows, columns, tuple(sorted((j, i, place) for i, j, place in found)))


def jacobian_of(derivative: SizedArgument, of: Matrix, by: Matrix) -> Matrix:
    """The derivative of the matrix `of` with respect to the matrix `by`; its rows and columns are CasADi's
    indices of their elements.
    """
    entries = []
    for at, place in _places(derivative).items():
        element, variable = divmod(at, by.size)
        entries.append((by.number(variable), of.number(element), place))
    return Matrix(of.size, by.size, tuple(sorted(entries)))


def in_coordinates(jacobian: Matrix, of: Matrix, elements: Sequence[Sequence[int]], nq: int) -> Matrix:
    """The Jacobian of the matrix `of` with respect to q, which C stores as a full matrix with a row for each
    element of `of` in row-major order, from one with respect to the tangent space of q.

    `elements` lists, for every element of the tangent space, those of q on whose rates it depends.
    """
    found = {
        (to, row, of.position(row) * nq + to)
        for column, row, _ in jacobian.entries
        for to in elements[column]
    }
    return Matrix(jacobian.rows, nq, tuple(sorted(found)))


def _places(argument: SizedArgument) -> dict[int, int]:
    """The row-major positions of elements that may be other than 0, each with its place in the C array."""
    positions = range(prod(argument.shape)) if argument.nonzero is None else argument.nonzero
    if argument.dense is None:
        return {position: position for position in positions}
    held = {position: place for place, position in enumerate(positions)}
    return {**dict(_mirrored(argument, held)), **held}


def _mirrored(argument: SizedArgument, held: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """The elements of `held` with the two symmetric axes exchanged, each with its place."""
    if argument.symmetric is None or argument.dense is None:
        return
    first, second = argument.symmetric
    strides = [prod(argument.dense[axis + 1 :]) for axis in range(len(argument.dense))]
    for position, place in held.items():
        index = [position // stride % n for stride, n in zip(strides, argument.dense, strict=True)]
        index[first], index[second] = index[second], index[first]
        yield sum(i * stride for i, stride in zip(index, strides, strict=True)), place
