"""Exact rational geometry: rotations, axes, angles and inertias whose identities hold without rounding."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from rbdgen.model.axes import axes_on
from rbdgen.model.inertia import Inertia
from rbdgen.model.joints import (
    Angle,
    Coordinate,
    Floating,
    Helical,
    Joint,
    JointType,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    rotation_about,
)
from rbdgen.model.model import WORLD, Body, Model
from rbdgen.spatial.ops import IDENTITY, NO_TRANSFORM, ZERO, ZERO_MATRIX, Matrix, Transform, Vector
from rbdgen.spatial.planar import FactoredRotation
from rbdgen.spatial.quaternion import rotation_of

Quaternion = tuple[Fraction, Fraction, Fraction, Fraction]

LETTERS: dict[str, JointType] = {
    "R": Revolute(),
    "P": Prismatic(),
    "H": Helical(Fraction(2, 7)),
    "L": Planar(),
    "S": Spherical(),
    "F": Floating(),
}

GRAVITY = Vector(0, 0, Fraction(-981, 100))

RIGHT_ANGLES = (Angle(1, 0), Angle(0, 1), Angle(-1, 0), Angle(0, -1))

X, Y, Z = COORDINATE_AXES = (Vector(1, 0, 0), Vector(0, 1, 0), Vector(0, 0, 1))


class Rationals:
    """Draws small random rationals, and geometry made of them; equal seeds give equal results."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def number(self) -> Fraction:
        """A number within [-2, 2], with a small denominator."""
        return Fraction(self._random.randint(-6, 6), self._random.randint(3, 7))

    def positive(self) -> Fraction:
        return Fraction(self._random.randint(1, 6), self._random.randint(2, 5))

    def numbers(self, count: int) -> list[Fraction]:
        return [self.number() for _ in range(count)]

    def vector(self) -> Vector:
        return Vector(*self.numbers(3))

    def angle(self) -> Angle:
        """Cosine and sine from the tangent t of half the angle: (1 - t^2, 2 t) / (1 + t^2)."""
        t = self.number()
        return Angle((1 - t * t) / (1 + t * t), 2 * t / (1 + t * t))

    def quaternion(self) -> Quaternion:
        """A unit quaternion, which is the stereographic image of a rational point."""
        x, y, z = self.numbers(3)
        s = x * x + y * y + z * z
        return 2 * x / (1 + s), 2 * y / (1 + s), 2 * z / (1 + s), (1 - s) / (1 + s)

    def rotation(self) -> Matrix:
        return rotation_of(self.quaternion())

    def transform(self) -> Transform:
        return Transform(self.rotation(), self.vector())

    def axis(self) -> Vector:
        """A coordinate axis in either direction, or a general unit vector.

        The general one has rational polar angles about its smallest component, so that a frame can be aligned
        with it without roots (see `axes_on`).
        """
        if self._random.random() < 0.5:
            axis = self._random.choice(COORDINATE_AXES)
            return axis if self._random.random() < 0.5 else -axis
        while True:
            (c, s), (cos, sin) = self.angle(), self.angle()
            if 0 < abs(cos) <= min(abs(c * sin), abs(s * sin)):
                return self._random.choice((Vector(cos, c * sin, s * sin), Vector(s * sin, c * sin, cos)))

    def inertia(self, points: int = 4) -> Inertia:
        """The inertia of random point masses, which is physical, and regular for three points not in line."""
        total = Inertia(0, ZERO, ZERO_MATRIX)
        for _ in range(points):
            total = total + Inertia.from_center_of_mass(self.positive(), self.vector(), ZERO_MATRIX)
        return total

    def coordinate(self, kind: JointType) -> Coordinate:
        q: list[Fraction] = self.numbers(kind.nq)
        if kind.kind in ("spherical", "floating"):
            q[-4:] = self.quaternion()
        return kind.coordinate(q, lambda _: self.angle())

    def coordinates(self, model: Model) -> list[Coordinate]:
        return [self.coordinate(body.joint.type) for body in model.bodies]

    def placement(self, axis: Vector, parent_axis: Vector | None) -> Transform:
        """A general placement with rational angles: Rz Rx Rz between frames with z along the joints' axes."""
        turn, tilt, other = (rotation_about(e, self.angle()) for e in (Z, X, Z))
        parent = IDENTITY if parent_axis is None else axes_on(parent_axis)
        return Transform(parent @ turn @ tilt @ other @ axes_on(axis).T, self.vector())

    def model(self, parents: tuple[int, ...], kinds: str) -> Model:
        """A robot with these parents of bodies, and one letter of `LETTERS` for the type of each joint."""
        bodies: list[Body] = []
        axes: list[Vector | None] = []
        idx_q = idx_v = 0
        for i, (parent, letter) in enumerate(zip(parents, kinds, strict=True)):
            kind = LETTERS[letter]
            above = None if parent == WORLD else axes[parent]
            axes.append(self.axis() if kind.one_axis else None)
            placement = self.placement(axes[-1] or Z, above)
            if letter == "F" and parent == WORLD:
                placement = NO_TRANSFORM
            joint = Joint(f"joint{i}", kind, axes[-1] or ZERO, idx_q, idx_v)
            bodies.append(Body(f"body{i}", parent, joint, placement, self.inertia()))
            idx_q, idx_v = idx_q + joint.nq, idx_v + joint.nv
        return Model("rational", tuple(bodies), GRAVITY)


def matrix_of(rotation: FactoredRotation) -> Matrix:
    """The rotation from the child's axes to the parent's."""
    return Matrix(*(rotation.to_parent(e) for e in IDENTITY)).T
