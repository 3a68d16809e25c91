"""Shapes of links as a user gives them in Python.

Box((0.2, 0.1, 0.05))                         edges along x, y and z
Sphere(0.03, xyz=(0, 0, 0.1))                 a radius, and where its middle is in the frame of the link
Cylinder(0.04, 0.3)                           a radius and a length along z; also a capsule
Ellipsoid((0.1, 0.05, 0.05))                  three radii
Mesh("meshes/arm.stl", scale=(1e-3,) * 3)     a file, and the factors that give m
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

from rbdgen.description.quoting import told
from rbdgen.errors import DescriptionError

ORIGIN: Final = (0.0, 0.0, 0.0)

FARTHEST: Final = 1e6
"""The largest size and the largest coordinate of a shape, in m."""

_Numbers: TypeAlias = Callable[[str, object, tuple[int, ...]], list[float]]


@dataclass(frozen=True, kw_only=True)
class _Placed:
    """The placement of a shape and its colour. All shapes take these arguments by name.

    Args:
        xyz: the middle of the shape in the frame of the link, m; for a mesh, the origin of its file.
        rpy: the orientation of the shape, rad: rotations about the x, then y, then z axis of the link.
        color: red, green and blue from 0 to 1, and the opacity, which is 1 if it is left out.
    """

    xyz: Sequence[float] = ORIGIN
    rpy: Sequence[float] = ORIGIN
    color: Sequence[float] | None = None


@dataclass(frozen=True)
class Box(_Placed):
    """A box. Its edges along x, y and z have the lengths `size` (3,), m. `xyz`, `rpy` and `color` say where
    its middle is in the frame of the link, how it is turned, and how it is drawn."""

    size: Sequence[float]


@dataclass(frozen=True)
class Sphere(_Placed):
    """A sphere with a radius in m; `xyz`, `rpy` and `color` as for `Box`."""

    radius: float


@dataclass(frozen=True)
class Cylinder(_Placed):
    """A cylinder with a radius and a length along z, m; `xyz`, `rpy` and `color` as for `Box`."""

    radius: float
    length: float


@dataclass(frozen=True)
class Capsule(_Placed):
    """A cylinder with a half sphere at each end, which `length`, m, does not include; `xyz`, `rpy` and
    `color` as for `Box`."""

    radius: float
    length: float


@dataclass(frozen=True)
class Ellipsoid(_Placed):
    """An ellipsoid with radii (3,) along x, y and z, m; `xyz`, `rpy` and `color` as for `Box`."""

    radii: Sequence[float]


@dataclass(frozen=True)
class Mesh(_Placed):
    """The mesh of a file: STL, OBJ or COLLADA (DAE), whose coordinates times `scale` (3,) are in m.

    `file` is a path or `package://NAME/PATH`. It is read when the shapes are needed, and a file that cannot
    be read is a line of a message then. `xyz` is the place of the file's origin; `rpy` and `color` are as for
    `Box`.
    """

    file: str | os.PathLike[str]
    scale: Sequence[float] = (1.0, 1.0, 1.0)


Solid: TypeAlias = Box | Sphere | Cylinder | Capsule | Ellipsoid | Mesh

SolidRole: TypeAlias = Literal["visual", "collision"]


class OnLink(NamedTuple):
    """A shape on a link. Its numbers are floats in tuples."""

    link: str
    role: SolidRole
    solid: Solid
    line: int
    """The number of the body."""


_LENGTHS: Final = {"size": 3, "radii": 3, "radius": 1, "length": 1}
"""The number of lengths in each field that has some."""


def solids_of(
    role: SolidRole, given: object, numbers: _Numbers, error: Callable[[str, str], DescriptionError]
) -> Iterator[Solid]:
    """The shapes that a user gave, one or several, with floats in tuples.

    Args:
        role: the name of the argument.
        given: a shape, or several.
        numbers: gives a value as one of these numbers of finite floats, or raises DescriptionError.
        error: makes an error of what is wrong and what to do.
    """
    several = given if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    kinds = get_args(Solid)
    for solid in several:
        if not isinstance(solid, kinds):
            names = ", ".join(f"rbdgen.{kind.__name__}" for kind in kinds)
            raise error(f"{role} has {told(solid)}", f"give shapes: {names}")
        yield _checked(f"{type(solid).__name__} in {role}", solid, numbers, error)


def _checked(
    what: str, solid: Solid, numbers: _Numbers, error: Callable[[str, str], DescriptionError]
) -> Solid:
    found: dict[str, Any] = {}
    for name in (each.name for each in fields(solid)):
        value = getattr(solid, name)
        label = f"{name} of {what}"
        if name == "file":
            found[name] = _path(label, value, error)
        elif name == "color":
            found[name] = None if value is None else tuple((*numbers(label, value, (3, 4)), 1.0)[:4])
        elif name in _LENGTHS:
            single = _LENGTHS[name] == 1
            lengths = numbers(label, [value] if single else value, (_LENGTHS[name],))
            if min(lengths) < 0:
                raise error(f"{label} is {min(lengths):g} m, less than zero", "give a size of zero or more")
            found[name] = lengths[0] if single else tuple(lengths)
        else:
            found[name] = tuple(numbers(label, value, (3,)))
    for name, value in found.items():
        if name not in ("file", "color", "rpy"):
            sizes = value if isinstance(value, tuple) else (value,)
            if max(map(abs, sizes)) > FARTHEST:
                raise error(f"{name} of {what} is more than {FARTHEST:g}", "give lengths in m")
    if 0.0 in found.get("scale", ()):
        raise error(f"scale of {what} has a 0", "give three numbers that are not 0")
    return replace(solid, **found)


def _path(label: str, given: object, error: Callable[[str, str], DescriptionError]) -> str:
    """A path as an absolute one, so that the working directory may change before the file is read."""
    if not (isinstance(given, str | os.PathLike) and isinstance(os.fspath(given), str) and os.fspath(given)):
        raise error(f"{label} is {told(given)}", "give the path of a file")
    text = os.fspath(given)
    return text if "://" in text else str(Path(text).absolute())
