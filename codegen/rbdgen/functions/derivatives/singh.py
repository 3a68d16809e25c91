"""Bodies in one common frame, and the matrix B of Singh, Russell and Wensing, RA-L 2022.

Velocities enter the derivatives of inverse dynamics and the Coriolis matrix through B.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from rbdgen.model.moments import MassMoments
from rbdgen.spatial.ops import Force, Matrix, Motion, Transform, Vector
from rbdgen.spatial.planar import FactoredRotation
from rbdgen.sweeps.bodies import Body
from rbdgen.sweeps.sweep import Given


@dataclass(frozen=True, slots=True)
class Moving:
    """A body in the common frame: its pose and its velocity."""

    rotation: Matrix
    translation: Vector
    v: Motion

    def turned(self, rotation: FactoredRotation) -> Self:
        """Rotate the axes of the body."""
        return replace(self, rotation=Matrix(*map(rotation.to_parent, self.rotation)))


class Unturned:
    """A record in the common frame, which does not depend on a body's axes."""

    __slots__ = ()

    def turned(self, _: FactoredRotation) -> Self:
        """Return the record unchanged."""
        return self


@dataclass(frozen=True, slots=True)
class BMatrix:
    """B = [[Bt, 0], [-l x, 0]], which maps motions to forces. B of several bodies is the sum of theirs.

    For one body Bt = -([w x] Sigma + [h x][v x]), and l is its linear momentum.
    """

    momentum: Vector
    Bt: Matrix

    @staticmethod
    def of(moments: MassMoments, v: Motion) -> BMatrix:
        """B of one body."""
        skew, momentum = Matrix.skew, moments.apply(v).force
        return BMatrix(momentum, -(skew(v.angular) @ moments.second + skew(moments.first) @ skew(v.linear)))

    def __add__(self, other: BMatrix) -> BMatrix:
        return BMatrix(self.momentum + other.momentum, self.Bt + other.Bt)

    def apply(self, m: Motion) -> Force:
        """B m."""
        return Force(self.Bt.apply(m.angular), m.angular.cross(self.momentum))

    def transposed(self, m: Motion) -> Vector:
        """The angular part of B^T m; the linear part is 0."""
        return self.Bt.T.apply(m.angular) + self.momentum.cross(m.linear)


def placed(body: Body, x: Given) -> Transform:
    """The pose of a body in the common frame, from that of its parent."""
    R, p = x.parent.rotation, x.parent.translation
    return Transform(
        Matrix(*map(body.rotation.to_child, R)).named(x.naming, "R"),
        (R.apply(body.translation) + p).named(x.naming, "p"),
    )


def in_common_frame(own: MassMoments, R: Matrix, p: Vector) -> MassMoments:
    """The mass moments of a body with this pose, in the common frame. `own` has them in the body's own
    frame.
    """
    h = R.apply(own.first)
    shifted = h + p * own.mass
    sigma = R.congruence(own.second) + Matrix.outer(shifted, p) + Matrix.outer(p, h)
    return MassMoments(own.mass, shifted, sigma)
