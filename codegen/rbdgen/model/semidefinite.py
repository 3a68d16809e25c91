"""The factor of an inertia of any rank: of a solid, a plate, a rod, a point, or nothing.

The rotational inertia about the centre of mass, J, is factored with the largest pivot first: each column is
that of the largest entry of the diagonal that remains. Pivots of rounding give columns of zeros. The columns
are then rotated so that the factor is lower triangular, which has the precision of the pivoted factor. All
decisions are selections between two numbers, so that the same text is C without branches.
"""

from __future__ import annotations

from typing import NamedTuple

from rbdgen.model.inertia import Inertia, added_symmetric, from_second_moment
from rbdgen.spatial.ops import Matrix, Vector
from rbdgen.spatial.scalar import (
    Scalar,
    add,
    dot,
    maximum,
    mul,
    neg,
    reciprocal,
    select,
    select_le,
    sqrt,
    sub,
    total,
)


class Semidefinite(NamedTuple):
    """I = F F^T with F = [[a 1, 0], [b x, L]] in [linear, angular] order, and L as three columns.

    The rank is 6, 5 (a rod), 3 (a point) or 0 (no mass). It is NaN, as is L, if no body can have the inertia.
    """

    rank: Scalar
    a: Scalar
    b: Vector
    columns: tuple[Vector, Vector, Vector]


def semidefinite(inertia: Inertia, tolerance: Scalar) -> Semidefinite:
    """The factor with pivots. Moments up to `tolerance` times the trace of J about the origin count as 0."""
    mass, h, J = inertia.mass, inertia.first_moment, inertia.rotational
    a = sqrt(mass)
    b = h * select(0, mass, reciprocal(a), 0)
    about_center = added_symmetric(J, -from_second_moment(Matrix.outer(b, b)))
    limit = mul(tolerance, total(J[k][k] for k in range(3)))
    columns, live, rest = _pivoted(about_center, limit)
    weightless = total(_size(x) for x in (*h, *J[0], *J[1], *J[2]))
    worst = select(0, mass, rest, weightless)
    allowed = select(0, mass, add(limit, limit), 0)
    doubt = select_le(worst, allowed, 0, sqrt(sub(allowed, worst)))  # 0 or NaN
    rank = add(select_le(mass, 0, a, add(3, live)), doubt)
    return Semidefinite(rank, a, b, tuple(_plus(column, doubt) for column in columns))  # type: ignore[arg-type]


def lower_triangular(columns: tuple[Vector, Vector, Vector]) -> Matrix:
    """A lower triangular L with the same L L^T, and no negative number on its diagonal: the columns after
    three plane rotations (Givens).
    """
    x, y, z = columns
    x, y = _rotated(x, y, 0)
    x, z = _rotated(x, z, 0)
    y, z = _rotated(y, z, 1)
    return Matrix(Vector(x.x, 0, 0), Vector(x.y, y.y, 0), Vector(x.z, y.z, _size(z.z)))


def _pivoted(J: Matrix, limit: Scalar) -> tuple[list[Vector], Scalar, Scalar]:
    """Three columns with the sum of their squares J, how many of them are not zero, and the largest entry of
    what they leave of J."""
    columns: list[Vector] = []
    live: Scalar = 0
    for _ in range(3):
        diagonal = [J[k][k] for k in range(3)]
        pivot = maximum(maximum(diagonal[0], diagonal[1]), diagonal[2])
        chosen = Vector(
            *(
                select_le(pivot, diagonal[0], J[0][k], select_le(pivot, diagonal[1], J[1][k], J[2][k]))
                for k in range(3)
            )
        )
        scale = select_le(pivot, limit, 0, reciprocal(sqrt(pivot)))
        live = add(live, select_le(pivot, limit, 0, 1))
        column = chosen * scale
        J = added_symmetric(J, -Matrix.outer(column, column))
        columns.append(column)
    rest: Scalar = 0
    for i in range(3):
        for j in range(i, 3):
            rest = maximum(rest, _size(J[i][j]))
    return columns, live, rest


def _rotated(x: Vector, y: Vector, row: int) -> tuple[Vector, Vector]:
    """Two columns after a rotation of their plane, so that the second is 0 in this row."""
    a, b = list(x)[row], list(y)[row]
    length = sqrt(dot([a, b], [a, b]))
    inverse = select_le(length, 0, 0, reciprocal(length))
    c, s = select_le(length, 0, 1, mul(a, inverse)), mul(b, inverse)
    return x * c + y * s, y * c + -(x * s)


def _plus(vector: Vector, added: Scalar) -> Vector:
    return Vector(*(add(x, added) for x in vector))


def _size(x: Scalar) -> Scalar:
    """The absolute value of a number."""
    return maximum(x, neg(x))
