"""The blocks of a function's Jacobian, one for each result and input, as they are known before the C is
written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from rbdgen.emit.casadi.entries import Place, Subject
from rbdgen.emit.casadi.matrices import Matrix, in_coordinates, jacobian_of
from rbdgen.emit.casadi.patterns import first_pattern
from rbdgen.emit.casadi.subjects import covered_by
from rbdgen.errors import EmitError
from rbdgen.signature import SizedArgument
from rbdgen.wording import option


@dataclass(frozen=True)
class Block:
    """The derivatives of a result with respect to an input, for one state."""

    matrix: Matrix
    derivative: SizedArgument | None = None
    """The output that holds the block, if a function computes all derivatives at once; None if the block is
    computed from products along directions.
    """
    rows: int = 0
    """The number of rows that are first converted from the tangent space to coordinates; 0 if none are."""

    def within(self, pattern: Matrix) -> Block:
        """The block without the elements that are 0 according to a pattern.

        With respect to coordinates, more elements are 0 than in the tangent space.
        """
        kept = {(column, row) for column, row, _ in pattern.entries}
        entries = tuple(entry for entry in self.matrix.entries if entry[:2] in kept)
        return replace(self, matrix=replace(self.matrix, entries=entries))


def blocks_of(subject: Subject, place: Place, matrices: Mapping[str, Matrix]) -> dict[tuple[str, str], Block]:
    """The blocks that are not 0, by the names of the result and the input.

    Raises:
        EmitError: the derivatives are packed but must be converted to derivatives with respect to
            coordinates.
    """
    value = subject.value.signature
    found = {}
    if subject.derivatives is not None:
        given = subject.derivatives.signature
        by = covered_by(given.name, value)
        wanted = [(y, x) for y in value.outputs for x in by]
        derivatives = given.outputs[len(given.outputs) - len(wanted) :]  # a gradient follows the value
        for (y, x), derivative in zip(wanted, derivatives, strict=True):
            found[y.name, x.name] = _known(subject, place, matrices, derivative, y, x)
    for (y_name, x_name), pairs in first_pattern(value, subject.vjp, subject.jvp).items():
        pattern = of_pattern(pairs, matrices[y_name], matrices[x_name])
        known = found.get((y_name, x_name))
        found[y_name, x_name] = Block(pattern) if known is None else known.within(pattern)
    return found


def _known(
    subject: Subject,
    place: Place,
    matrices: Mapping[str, Matrix],
    derivative: SizedArgument,
    y: SizedArgument,
    x: SizedArgument,
) -> Block:
    """A block that is an output of the function of all derivatives."""
    of = matrices[y.name]
    if x.kind != "configuration" or place.manifold.flat:
        return Block(jacobian_of(derivative, of, matrices[x.name]), derivative)
    if derivative.dense is not None:
        raise EmitError(
            f"{subject.value.signature.name}: packed derivatives of a robot with quaternions are "
            f"not for CasADi; leave {option('packed')} out"
        )
    tangent = jacobian_of(derivative, of, Matrix(place.manifold.nv, 1, ()))
    return Block(in_coordinates(tangent, of, place.elements, place.manifold.nq), derivative, of.size)


def of_pattern(pairs: Iterable[tuple[int, int]], one: Matrix, other: Matrix) -> Matrix:
    """The derivatives of the matrix `one` with respect to the matrix `other` that may be other than 0.

    `pairs` are the row-major positions of an element of `one` and an element of `other`.
    """
    entries = ((other.number(column), one.number(row), row) for row, column in pairs)
    return Matrix(one.size, other.size, tuple(sorted(entries)))
