"""Records: the values that a sweep carries from body to body, and the numbers of which they are made.

A record is a dataclass whose fields are `Scalar`, `Vector`, `Matrix`, `Symmetric` or other records; for
example a `Force`, which has two vectors. Other kinds of values need no class: `Scalar` is one number per
degree of freedom, `Each(Force)` is a force per degree of freedom, an integer n stands for n numbers, `Entry`
is an entry of a matrix between two degrees of freedom, and `Total` is one number for the whole robot.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from typing import Any, Final, NamedTuple, get_type_hints

from rbdgen.spatial.ops import Matrix, Symmetric, Vector, mirrored
from rbdgen.spatial.planar import FactoredRotation
from rbdgen.spatial.scalar import Naming, Scalar, unnamed

Kind = Any
"""A dataclass, `Scalar`, `Vector`, `Matrix`, `Symmetric`, `Each`, `Entry`, `Total`, or a number of values."""


class Each(NamedTuple):
    """A record of this kind for each degree of freedom."""

    kind: Kind


Entry: Final = "entry"
"""An entry of an nv x nv matrix, in the row of one degree of freedom and the column of another."""

Total: Final = "total"
"""The sum over all bodies of a number that each of them gives."""

_UPPER: Final = tuple((i, j) for i in range(3) for j in range(i, 3))


@cache
def fields(kind: Kind) -> tuple[tuple[str, Kind], ...]:
    """The name and kind of every field of a record."""
    return tuple(get_type_hints(kind, include_extras=True).items())


@cache
def width(kind: Kind) -> int:
    """The number of numbers in a value of this kind."""
    if isinstance(kind, int):
        return kind
    if isinstance(kind, Each):
        return width(kind.kind)
    plain = {Scalar: 1, Entry: 1, Total: 1, Vector: 3, Matrix: 9, Symmetric: 6}
    return plain[kind] if kind in plain else sum(width(part) for _, part in fields(kind))


def per_freedom(kind: Kind) -> bool:
    """Whether a body has a list of such values, one for each of its degrees of freedom."""
    return kind is Scalar or kind is Entry or isinstance(kind, Each)


def flat(kind: Kind, value: Any) -> list[Scalar]:
    """The numbers of a value or of a list of values. Those of a symmetric matrix are its upper triangle, row
    by row.
    """
    if isinstance(value, list) and per_freedom(kind):
        return [number for one in value for number in flat(kind, one)]
    if isinstance(kind, Each):
        return flat(kind.kind, value)
    if kind is Scalar or kind is Entry or kind is Total:
        return [value]
    if kind is Vector or isinstance(kind, int):
        return list(value)
    if kind is Matrix:
        return [number for row in value for number in row]
    if kind is Symmetric:
        return [value[i][j] for i, j in _UPPER]
    return [number for name, part in fields(kind) for number in flat(part, getattr(value, name))]


def of(kind: Kind, numbers: Sequence[Scalar]) -> Any:
    """The value that is made of these numbers; the inverse of `flat`."""
    return _taken(kind, iter(numbers))


def _taken(kind: Kind, numbers: Iterator[Scalar]) -> Any:
    if kind is Scalar or kind is Total:
        return next(numbers)
    if isinstance(kind, Each):
        return _taken(kind.kind, numbers)
    if isinstance(kind, int):
        return list(islice(numbers, kind))
    if kind is Vector:
        return Vector(*islice(numbers, 3))
    if kind is Matrix:
        return Matrix(*(Vector(*islice(numbers, 3)) for _ in range(3)))
    if kind is Symmetric:
        xx, xy, xz, yy, yz, zz = islice(numbers, 6)
        return mirrored([[xx, xy, xz], [0, yy, yz], [0, 0, zz]])
    return kind(*(_taken(part, numbers) for _, part in fields(kind)))


def turned(kind: Kind, value: Any, rotation: FactoredRotation) -> Any:
    """A value given in a child's axes, expressed in its parent's axes. A record may define this by a method
    `turned`.
    """
    if kind is Vector:
        return rotation.to_parent(value)
    if kind is Matrix:
        return rotation.general_to_parent(value)
    if kind is Symmetric:
        return rotation.symmetric_to_parent(value)
    if per_freedom(kind) or kind is Total or isinstance(kind, int):
        return value
    if hasattr(kind, "turned"):
        return value.turned(rotation)
    return kind(*(turned(part, getattr(value, name), rotation) for name, part in fields(kind)))


def named(kind: Kind, value: Any, naming: Naming, label: str) -> Any:
    """The value with a name for each of its numbers, such as `force[3].n.x`."""
    if naming is unnamed:
        return value
    if isinstance(value, list) and per_freedom(kind):
        return [named(kind, one, naming, f"{label}[{k}]") for k, one in enumerate(value)]
    if isinstance(kind, Each):
        return named(kind.kind, value, naming, label)
    if kind is Scalar or kind is Total:
        return naming(label, value)
    if kind is Symmetric:
        upper = [[0] * 3 for _ in range(3)]
        for i, j in _UPPER:
            upper[i][j] = naming(f"{label}.{'xyz'[i]}{'xyz'[j]}", value[i][j])
        return mirrored(upper)
    if hasattr(kind, "named"):
        return value.named(naming, label)
    if kind is Entry or isinstance(kind, int):
        return value
    return kind(
        *(named(part, getattr(value, name), naming, f"{label}.{name}") for name, part in fields(kind))
    )
