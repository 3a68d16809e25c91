"""The torques per unit of a body's moments: rows of the regressor, in the body's axes.

Some moments of a body have no effect on its own joint (`JointType.split`). They act on the joints above as if
they were moments of the parent, so their columns are sums of the parent's columns with constant factors. On a
revolute joint about z these moments are m, m c_z and Ixx + Iyy, so the forces of only seven columns, rather
than ten, are carried up. The regrouping of inertial parameters uses the same property: Khalil and Dombre
2002, ch. 9.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from rbdgen.model.axes import AlignedBody, cleared, magnitude
from rbdgen.model.base_parameters import in_parent
from rbdgen.model.inertial_parameters import NAMES, UNIT_INERTIAS, entries
from rbdgen.model.moments import MassMoments
from rbdgen.spatial.ops import ZERO, Matrix, Vector
from rbdgen.spatial.scalar import Scalar, add, dot, is_number, is_zero, mul, sub

IXX: Final = NAMES.index("Ixx")
IYY: Final = NAMES.index("Iyy")

_UNITS: Final = tuple(map(MassMoments.of, UNIT_INERTIAS))
_ROD: Final = MassMoments(0, ZERO, Matrix.diagonal(0, 0, 1))
"""Moments with Sigma_zz = 1, which is Ixx = Iyy = 1."""


@dataclass(frozen=True)
class Coefficients:
    """The coefficients of m, of h and of the entries of J in a torque.

    `second` has the coefficients of the diagonal of Sigma, which can replace those of the diagonal of J.
    """

    mass: Scalar
    first: Vector
    rotational: tuple[Scalar, ...]
    second: Vector

    def of(self, own: MassMoments) -> Scalar:
        """The torque for these moments. Of the two diagonals, the one with more zeros is used."""
        sigma = [own.second[k][k] for k in range(3)]
        largest = max(map(magnitude, sigma))
        J = [cleared(x, largest) if is_number(x) else x for x in entries(own.rotational)]
        diagonal, coefficients = [J[0], J[2], J[5]], [self.rotational[k] for k in (0, 2, 5)]
        if sum(map(is_zero, sigma)) > sum(map(is_zero, diagonal)):
            diagonal, coefficients = sigma, [*self.second]
        total = add(mul(own.mass, self.mass), self.first.dot(own.first))
        total = add(total, dot(diagonal, coefficients))
        return add(total, dot([J[k] for k in (1, 3, 4)], [self.rotational[k] for k in (1, 3, 4)]))

    def slid(self, r: Scalar) -> Coefficients:
        """The coefficients of moments about the point r z, in the same axes."""
        if is_zero(r):
            return self
        (x, y, z), (_, _, _, xz, yz, _) = self.first, self.rotational
        along = add(z, mul(2 * r, self.second.z))
        mass = add(self.mass, mul(r * Fraction(1, 2), add(z, along)))
        return replace(self, mass=mass, first=Vector(sub(x, mul(r, xz)), sub(y, mul(r, yz)), along))


@dataclass(frozen=True)
class Unfelt:
    """The moments of a body that its joint does not feel, in the parent's axes.

    `alone` has the moments of each single parameter that is unfelt, by its column. `rod` has those of Ixx =
    Iyy = 1, if only the sum of Ixx and Iyy is unfelt.
    """

    alone: Mapping[int, MassMoments]
    rod: MassMoments | None

    @staticmethod
    def by(body: AlignedBody) -> Unfelt:
        """The moments of a body that its joint does not feel."""
        alone = {column: moved for column, unit in enumerate(_UNITS) if (moved := _handed_on(body, unit))}
        return Unfelt(alone, None if IXX in alone else _handed_on(body, _ROD))

    @property
    def carried(self) -> list[int]:
        """The columns whose forces are carried up to the joints above."""
        return [k for k in range(10) if k not in self.alone and not (self.rod and k == IYY)]

    def completed(self, values: Mapping[int, Scalar], parent: Coefficients | None) -> Coefficients:
        """All columns, from those that were carried and those of the parent (None if there is none)."""

        def handed(moments: MassMoments) -> Scalar:
            return 0 if parent is None else parent.of(moments)

        known = {**values, **{column: handed(moments) for column, moments in self.alone.items()}}
        if self.rod:
            rod = handed(self.rod)
            known[IYY] = sub(rod, known[IXX])
        m, x, y, z, *J = (known[k] for k in range(10))
        xx, yy, zz = J[0], J[2], J[5]
        about_z = rod if self.rod else add(xx, yy)
        return Coefficients(m, Vector(x, y, z), tuple(J), Vector(add(yy, zz), add(xx, zz), about_z))


def _handed_on(body: AlignedBody, own: MassMoments) -> MassMoments | None:
    """The moments in the parent's axes if the joint feels nothing of them, else None."""
    felt, moved = body.joint.type.split(own)
    nothing = all(map(is_zero, (felt.mass, *felt.first, *(x for row in felt.second for x in row))))
    return in_parent(body, moved) if moved is not None and nothing else None
