"""The mass moments of a body: m, h = int r dm and Sigma = int r r^T dm, over numbers or symbols.

They are equivalent to the ten parameters of `Inertia`: J = tr(Sigma) 1 - Sigma. In this form, a rotation
changes six numbers with four products per plane, and a translation gives h + m p and Sigma + (h + m p) p^T +
p h^T.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from rbdgen.model.inertia import Inertia, added_symmetric, from_second_moment
from rbdgen.spatial.ops import Force, Matrix, Motion, Symmetric, Vector, mirrored
from rbdgen.spatial.planar import FactoredRotation
from rbdgen.spatial.scalar import Scalar, add, is_zero, mul


@dataclass(frozen=True, slots=True)
class MassMoments:
    """Mass in kg, first moment in kg m and second moment in kg m^2, about the origin of one frame."""

    mass: Scalar
    first: Vector
    second: Symmetric

    @staticmethod
    def of(inertia: Inertia) -> MassMoments:
        """The moments of a numeric inertia; exact for rationals."""
        J = inertia.rotational
        # an inertia of floats may have integers among its entries, so the type follows that of the mass
        half = J.trace() * (0.5 if isinstance(inertia.mass, float) else Fraction(1, 2))
        return MassMoments(inertia.mass, inertia.first_moment, Matrix.diagonal(half, half, half) - J)

    @property
    def rotational(self) -> Matrix:
        """J = tr(Sigma) 1 - Sigma."""
        return from_second_moment(self.second)

    def __add__(self, other: MassMoments) -> MassMoments:
        """The moments of both bodies together, given in the same frame."""
        return MassMoments(
            add(self.mass, other.mass), self.first + other.first, added_symmetric(self.second, other.second)
        )

    def rotated(self, rotation: FactoredRotation) -> MassMoments:
        """The moments in the parent's axes."""
        return MassMoments(
            self.mass, rotation.to_parent(self.first), rotation.symmetric_to_parent(self.second)
        )

    def translated(self, p: Vector) -> MassMoments:
        """The moments in a parallel frame, in which the old origin is at p."""
        if all(is_zero(value) for value in p):
            return self
        h, shifted = self.first, self.first + p * self.mass

        def change(i: int, j: int) -> Scalar:
            if i == j:
                return mul(p[i], add(shifted[i], h[i]))
            return add(mul(shifted[i], p[j]), mul(p[i], h[j]))

        moved = mirrored([[change(i, j) if j >= i else 0 for j in range(3)] for i in range(3)])
        return MassMoments(self.mass, shifted, added_symmetric(self.second, moved))

    def apply(self, m: Motion) -> Force:
        """I m = (J w + h x a, m a + w x h) for a motion m = (w, a)."""
        h, w, a = self.first, m.angular, m.linear
        return Force(self.rotational.apply(w) + h.cross(a), a * self.mass + w.cross(h))
