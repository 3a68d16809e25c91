"""The spatial inertia of a rigid body as ten parameters, over numbers or symbols.

These are the mass m in kg, the first moment h = m c in kg m, and the rotational inertia J about the body's
origin in kg m^2 (Featherstone 2008, eq. 2.63). The dynamics is linear in the ten parameters, so bodies are
merged by plain additions.
"""

from __future__ import annotations

from dataclasses import dataclass

from rbdgen.spatial.ops import ZERO, ZERO_MATRIX, Force, Matrix, Motion, Transform, Vector, mirrored
from rbdgen.spatial.scalar import Naming, Scalar, add, is_zero, mul, neg, reciprocal, sqrt, sub


@dataclass(frozen=True, slots=True)
class Inertia:
    """Mass, first moment and rotational inertia about the origin of the body's frame."""

    mass: Scalar
    first_moment: Vector
    rotational: Matrix

    @staticmethod
    def from_center_of_mass(mass: Scalar, center: Vector, about_center: Matrix) -> Inertia:
        """Computes the inertia from the rotational inertia about the centre of mass, in axes parallel to the
        frame's (parallel axis theorem).
        """
        h = center * mass
        return Inertia(mass, h, about_center - Matrix.skew(h) @ Matrix.skew(center))

    @staticmethod
    def from_first_moment(mass: Scalar, first_moment: Vector, about_center: Matrix) -> Inertia:
        """Computes the inertia from h = m c and the rotational inertia about the centre of mass; the inverse
        of `about_center`.
        """
        outer = Matrix.outer(first_moment, first_moment * reciprocal(mass))
        return Inertia(mass, first_moment, added_symmetric(about_center, from_second_moment(outer)))

    @staticmethod
    def from_second_moment(mass: Scalar, first_moment: Vector, second_moment: Matrix) -> Inertia:
        """The inertia with the second moment Sigma = int r r^T dm, J = tr(Sigma) 1 - Sigma."""
        return Inertia(mass, first_moment, from_second_moment(second_moment))

    @property
    def second_moment(self) -> Matrix:
        """Sigma = tr(J)/2 1 - J, the integral of r r^T dm."""
        J = self.rotational
        half = J.trace() / 2
        return Matrix.diagonal(half, half, half) - J

    @property
    def center(self) -> Vector:
        """The centre of mass, c = h / m."""
        c: Vector = self.first_moment * reciprocal(self.mass)
        return c

    @property
    def about_center(self) -> Matrix:
        """J_c = J - (h.c) 1 + h c^T, the rotational inertia about the centre of mass."""
        outer = Matrix.outer(self.first_moment, self.center)
        return added_symmetric(self.rotational, -from_second_moment(outer))

    def __add__(self, other: Inertia) -> Inertia:
        """The inertia of both bodies together, given in the same frame."""
        return Inertia(
            add(self.mass, other.mass),
            self.first_moment + other.first_moment,
            self.rotational + other.rotational,
        )

    def rotated(self, rotation: Matrix) -> Inertia:
        """The inertia in a frame with the same origin: r' = R r."""
        return Inertia(self.mass, rotation.apply(self.first_moment), rotation.congruence(self.rotational))

    def turned(self, rotation: Matrix) -> Inertia:
        """Rotates the inertia, as `rotated`, with fewer operations. Right angles are not exact, see
        `Matrix.turned`.
        """
        return Inertia(self.mass, rotation.apply(self.first_moment), rotation.turned(self.rotational))

    def translated(self, p: Vector) -> Inertia:
        """The inertia in a parallel frame, in which the old origin is at p.

        J' = J - [h x][p x] - [p x][(h + m p) x], which is symmetric.
        """
        if all(is_zero(value) for value in p):
            return self
        h = self.first_moment
        shifted = h + p * self.mass
        change = [[0 if j < i else _shift(h, shifted, p, i, j) for j in range(3)] for i in range(3)]
        return Inertia(self.mass, shifted, self.rotational + mirrored(change))

    def __sub__(self, other: Inertia) -> Inertia:
        """The inertia that is left after the other body, which is a part of this one, is removed. Both are
        given in the same frame.
        """
        return Inertia(
            sub(self.mass, other.mass),
            self.first_moment - other.first_moment,
            self.rotational - other.rotational,
        )

    def transformed(self, placement: Transform) -> Inertia:
        """The inertia in the parent frame: X^T I X."""
        return self.rotated(placement.rotation).translated(placement.translation)

    def apply(self, m: Motion) -> Force:
        """The product I m without a 6 x 6 matrix: (J w + h x v, m v - h x w)."""
        h = self.first_moment
        return Force(
            self.rotational.apply(m.angular) + h.cross(m.linear),
            m.linear * self.mass - h.cross(m.angular),
        )

    def quadratic(self, v: Motion) -> Scalar:
        """v . I v, twice the kinetic energy: m v.v + 2 w.(h x v) + w.J w."""
        w, linear = v.angular, v.linear
        mixed = w.dot(self.first_moment.cross(linear))
        return add(
            add(mul(self.mass, linear.dot(linear)), add(mixed, mixed)), w.dot(self.rotational.apply(w))
        )

    def without_mass(self) -> tuple[Scalar, Vector, Matrix]:
        """a = sqrt m, b = h / a, and the rotational inertia after [a 1; b x] is eliminated: J + [b x][b x] =
        J_c.
        """
        a = sqrt(self.mass)
        b = self.first_moment * reciprocal(a)
        return a, b, added_symmetric(self.rotational, -from_second_moment(Matrix.outer(b, b)))

    def factor(self) -> tuple[Scalar, Vector, Matrix]:
        """a, b and a lower triangular L with I = F F^T, F = [[a 1, 0], [b x, L]] in [linear, angular] order.

        a, b and J_c are those of `without_mass`, and J_c = L L^T (Cholesky without pivoting, for full rank).
        """
        a, b, ((xx, xy, xz), (_, yy, yz), (_, _, zz)) = self.without_mass()
        x = sqrt(xx)
        inverse = reciprocal(x)
        yx, zx = mul(xy, inverse), mul(xz, inverse)
        y = sqrt(sub(yy, mul(yx, yx)))
        zy = mul(sub(yz, mul(zx, yx)), reciprocal(y))
        z = sqrt(sub(sub(zz, mul(zx, zx)), mul(zy, zy)))
        return a, b, Matrix(Vector(x, 0, 0), Vector(yx, y, 0), Vector(zx, zy, z))

    def equation_of_motion(self, v: Motion, a: Motion) -> Force:
        """I a + v x* I v, the force for this motion (Featherstone 2008, eq. 2.72).

        It is computed from the classical acceleration a' = a + w x v of the origin, which does not need I v:
        f = m a' + wdot x h + w x (w x h), n = J wdot + w x J w + h x a'.
        """
        w, wdot = v.angular, a.angular
        h, J = self.first_moment, self.rotational
        classical = a.linear + w.cross(v.linear)
        return Force(
            J.apply(wdot) + w.cross(J.apply(w)) + h.cross(classical),
            classical * self.mass + wdot.cross(h) + w.cross(w.cross(h)),
        )

    def named(self, naming: Naming, label: str) -> Inertia:
        return Inertia(
            naming(f"{label}.m", self.mass),
            self.first_moment.named(naming, f"{label}.h"),
            self.rotational.named(naming, f"{label}.J"),
        )


def added_symmetric(a: Matrix, b: Matrix) -> Matrix:
    """a + b for symmetric matrices, which takes six sums."""
    return mirrored([[add(a[i][j], b[i][j]) if j >= i else 0 for j in range(3)] for i in range(3)])


NO_INERTIA = Inertia(0, ZERO, ZERO_MATRIX)


def from_second_moment(sigma: Matrix) -> Matrix:
    """tr(Sigma) 1 - Sigma, where each diagonal entry is a sum of two."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = (tuple(row) for row in sigma)
    return mirrored([[add(yy, zz), neg(xy), neg(xz)], [0, add(xx, zz), neg(yz)], [0, 0, add(xx, yy)]])


def _shift(h: Vector, shifted: Vector, p: Vector, i: int, j: int) -> Scalar:
    """Entry (i, j) of -[h x][p x] - [p x][(h + m p) x], written with products of components only."""
    if i == j:
        k, m = (i + 1) % 3, (i + 2) % 3
        return add(mul(p[k], add(h[k], shifted[k])), mul(p[m], add(h[m], shifted[m])))
    return neg(add(mul(shifted[i], p[j]), mul(p[i], h[j])))
