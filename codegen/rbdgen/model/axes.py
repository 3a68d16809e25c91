"""Body frames for cheap equations: z on the joint's axis, and placements as planar rotations.

Such a frame may be turned about its axis and slid along it without a change of the dynamics; a search finds
the turns and slides with the fewest operations. The rotation of a placement is Rz(gamma) Rx(alpha)
Rz(theta0), the form of Denavit and Hartenberg's parameters in Khalil and Dombre 2002.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import hypot, isqrt, sqrt
from typing import Self

from rbdgen.model.angles import ZERO_ANGLE, exact
from rbdgen.model.frames import Frame
from rbdgen.model.joints import Angle, Joint
from rbdgen.model.model import WORLD, Model
from rbdgen.model.moments import MassMoments
from rbdgen.spatial.ops import IDENTITY, Matrix, Transform, Vector, mirrored
from rbdgen.spatial.planar import FactoredRotation, PlanarRotation, X, Z
from rbdgen.spatial.scalar import Scalar, dot, is_number, reciprocal

RESIDUE = 1e-15
"""A sum that is smaller than this fraction of its terms is rounding and is cleared to 0."""


@dataclass(frozen=True, slots=True)
class AlignedFrame:
    """A frame on a body or on the world, whose axes may be turned about z and slid along z.

    `gamma`, `alpha` and `theta0` give the rotation from this frame to the parent's, and `translation` is its
    origin in the parent's frame, in m. For a body both hold at q = 0.
    """

    name: str
    parent: int
    gamma: Angle
    alpha: Angle
    theta0: Angle
    translation: Vector

    @property
    def axis(self) -> Vector:
        """The z axis in the parent's frame, which is the third column of the rotation."""
        (cg, sg), (ca, sa) = self.gamma, self.alpha
        return Vector(sg * sa, -cg * sa, ca)

    @property
    def rotation(self) -> FactoredRotation:
        """The rotation from this frame (at q = 0) to the parent's."""
        return FactoredRotation.of(
            PlanarRotation(Z, *self.gamma), PlanarRotation(X, *self.alpha), PlanarRotation(Z, *self.theta0)
        )

    def beside(self, turn: Angle, slide: Scalar, parent_turn: Angle, parent_slide: Scalar) -> Self:
        """The frame after it was turned by `turn` about z and slid by `slide` along z, and its parent's frame
        by `parent_turn` and `parent_slide`.
        """
        gamma, theta0 = _merged(
            exact(parent_turn.opposite + self.gamma), self.alpha, exact(self.theta0 + turn)
        )
        origin = _less_residue(self.translation, self.axis * slide, parent_slide)
        (x, y, z), (c, s) = origin, parent_turn
        return replace(self, gamma=gamma, theta0=theta0, translation=Vector(*_planar(x, y, c, -s), z))


@dataclass(frozen=True, slots=True)
class AlignedBody(AlignedFrame):
    """A body in a frame with z on its joint's axis."""

    joint: Joint
    moments: MassMoments
    """The mass moments in this frame."""
    axes: Matrix
    """The rotation from this frame without `turn` and `slide` to the joint's own frame."""
    turn: Angle = ZERO_ANGLE
    slide: Scalar = 0

    @property
    def frame(self) -> Transform:
        """The pose of this frame in the joint's own frame, which users know."""
        c, s = self.turn
        about_z = Matrix(Vector(c, -s, 0), Vector(s, c, 0), Vector(0, 0, 1))
        return Transform(self.axes @ about_z, self.axes.apply(Vector(0, 0, self.slide)))

    def moved(self, turn: Angle, slide: Scalar, parent_turn: Angle, parent_slide: Scalar) -> AlignedBody:
        """The body in a frame that is turned and slid, as `beside` does. The body was not moved before."""
        moments = _turned(_slid(self.moments, slide), turn)
        placed = self.beside(turn, slide, parent_turn, parent_slide)
        return replace(placed, moments=moments, turn=turn, slide=slide)


def align(model: Model) -> tuple[AlignedBody, ...]:
    """Every body in a frame with z on its joint's axis, and with the same origin as in the model.

    A body whose joint does not have a single axis keeps its frame.
    """
    axes: list[Matrix] = []
    bodies: list[AlignedBody] = []
    for body in model.bodies:
        own = axes_on(body.joint.axis) if body.joint.type.one_axis else IDENTITY
        parent = IDENTITY if body.parent == WORLD else axes[body.parent]
        axes.append(own)
        rotation, translation = body.placement
        bodies.append(
            AlignedBody(
                body.name,
                body.parent,
                *factor(parent.T @ rotation @ own),
                parent.T.apply(translation),
                body.joint,
                MassMoments.of(body.inertia.rotated(own.T)),
                own,
            )
        )
    return tuple(bodies)


def align_frame(frame: Frame, aligned: Sequence[AlignedBody]) -> AlignedFrame:
    """A frame of a model on its aligned bodies, before these are turned or slid."""
    back = IDENTITY if frame.body == WORLD else aligned[frame.body].axes.T
    R, p = frame.placement
    return AlignedFrame(frame.name, frame.body, *factor(back @ R), back.apply(p))


def axes_on(n: Vector) -> Matrix:
    """A rotation whose third column is the unit vector n. It is a signed permutation for a coordinate
    axis.
    """
    axis = n.coordinate_axis
    if axis is not None:
        x = IDENTITY[(axis + 1) % 3]
    else:
        k = min(range(3), key=lambda i: abs(n[i]))
        across = Vector(*(1 if i == k else 0 for i in range(3))).cross(n)
        x = across * reciprocal(_root(dot(list(across), list(across))))
    return Matrix(x, n.cross(x), n).T


def factor(R: Matrix) -> tuple[Angle, Angle, Angle]:
    """gamma, alpha and theta0 of R = Rz(gamma) Rx(alpha) Rz(theta0), with alpha in [0, pi] and exact right
    angles.
    """
    across = _length(R[0].z, R[1].z)
    alpha = exact(Angle(R[2].z, across))
    gamma = ZERO_ANGLE
    if alpha.sin != 0:
        gamma = exact(Angle(-R[1].z * reciprocal(across), R[0].z * reciprocal(across)))
    # the first row of Rx(alpha) Rz(theta0) is well conditioned even for a small alpha
    c, s = gamma
    theta0 = exact(Angle(c * R[0].x + s * R[1].x, -(c * R[0].y + s * R[1].y)))
    return gamma, alpha, theta0


def _merged(gamma: Angle, alpha: Angle, theta0: Angle) -> tuple[Angle, Angle]:
    """The angles with gamma merged into theta0 if both turn about the same line."""
    if alpha.sin != 0:
        return gamma, theta0
    return ZERO_ANGLE, exact((gamma if alpha.cos > 0 else gamma.opposite) + theta0)


def _root(square: Scalar) -> Scalar:
    """The square root, which is rational if possible."""
    if isinstance(square, (int, Fraction)):
        square = Fraction(square)
        top, bottom = isqrt(square.numerator), isqrt(square.denominator)
        if top * top == square.numerator and bottom * bottom == square.denominator:
            return Fraction(top, bottom)
    return sqrt(square)


def _length(x: Scalar, y: Scalar) -> Scalar:
    return hypot(x, y) if isinstance(x, float) or isinstance(y, float) else _root(x * x + y * y)


def _planar(x: Scalar, y: Scalar, c: Scalar, s: Scalar) -> tuple[Scalar, Scalar]:
    """(x, y) rotated by a known angle; residues are cleared."""
    cx, sy, sx, cy = c * x, s * y, s * x, c * y
    return cleared(cx - sy, total_magnitude(cx, sy)), cleared(sx + cy, total_magnitude(sx, cy))


def _less_residue(translation: Vector, slide: Vector, parent_slide: Scalar) -> Vector:
    entries = zip(translation, slide, (0, 0, -parent_slide), strict=True)
    return Vector(*(cleared(a + b + c, total_magnitude(a, b, c)) for a, b, c in entries))


def cleared(value: Scalar, scale: Scalar) -> Scalar:
    """The value, or 0 if it is a number that is only rounding of terms of this scale."""
    return 0 if is_number(value) and abs(value) <= RESIDUE * scale else value


def magnitude(value: Scalar) -> Scalar:
    """|x| of a number, and 0 for a symbol, whose size is unknown."""
    return abs(value) if is_number(value) else 0


def largest_magnitude(values: Iterable[Scalar]) -> Scalar:
    """The largest magnitude of numbers, which may include symbols."""
    return max(map(magnitude, values))


def total_magnitude(*terms: Scalar) -> Scalar:
    """The sum of the magnitudes of numbers, which may include symbols."""
    return sum(map(magnitude, terms))


def _slid(moments: MassMoments, d: Scalar) -> MassMoments:
    """Numeric moments about the point d z."""
    if d == 0:
        return moments
    m, h = moments.mass, moments.first
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = (tuple(row) for row in moments.second)
    second = mirrored([[xx, xy, xz - d * h.x], [0, yy, yz - d * h.y], [0, 0, zz - d * (2 * h.z - d * m)]])
    return MassMoments(m, Vector(h.x, h.y, h.z - d * m), second)


def _turned(moments: MassMoments, turn: Angle) -> MassMoments:
    """Numeric moments in axes that are turned about z."""
    if turn == ZERO_ANGLE:
        return moments
    h, (c, s) = moments.first, turn
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = (tuple(row) for row in moments.second)
    e = c * (xx - yy) + 2 * s * xy
    second = mirrored(
        [
            [yy + c * e, xy - s * e, c * xz + s * yz],
            [0, xx - c * e, c * yz - s * xz],
            [0, 0, zz],
        ]
    )
    return MassMoments(moments.mass, Vector(c * h.x + s * h.y, c * h.y - s * h.x, h.z), second)
