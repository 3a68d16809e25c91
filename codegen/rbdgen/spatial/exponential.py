"""The exponential map of rigid-body motions, its inverse, and the derivatives of both, without a branch.

A motion (w, v) at constant velocity leads in one second to the rotation exp[w x] and the translation V v,

    V = 1 + B [w x] + C [w x]^2 ,   B = (1 - cos t) / t^2 ,   C = (1 - sin t / t) / t^2 ,   t = |w|

and back, v = V^-1 p, by V^-1 = 1 - [w x] / 2 + G [w x]^2 with G = (1 - t/2 cot t/2) / t^2. Derivatives are
taken in the axes of the moved frame, as Pinocchio takes them. Sola, Deray, Atchuthan: A micro Lie theory for
state estimation in robotics, 2018.

Squares that are divided by have 1e-30 added: it vanishes beside other numbers, and where nothing turns what
is 0 / 0 otherwise has its limit, to the last bit. Where all digits would cancel, series stand in.

These limits are right as values, not as slopes. What will be differentiated takes `smooth` functions: below
t = 1 all of them are series, and so are their slopes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import factorial
from typing import Final, NamedTuple

from rbdgen.spatial.ops import IDENTITY, Matrix, Motion, Vector
from rbdgen.spatial.quaternion import Quaternion, rotation_of
from rbdgen.spatial.scalar import Scalar, add, mul, sub

_TINY: Final = 1e-30
"""Beside any square that is not tiny itself nothing, and a number of single precision too."""

_C: Final = [(-1) ** k / factorial(2 * k + 3) for k in range(11)]
"""Coefficients of C in powers of t^2: for t up to pi/2 to the last bit."""

_COS: Final = [(-1) ** k / (4**k * factorial(2 * k)) for k in range(9)]
"""Of cos(t/2) in powers of t^2; these and those below for t up to 1."""

_SIN: Final = [(-1) ** k / (2 * 4**k * factorial(2 * k + 1)) for k in range(9)]
"""Of sin(t/2) / t."""

_TWICE_DB: Final = [2 * (k + 1) * (-1) ** (k + 1) / factorial(2 * k + 4) for k in range(9)]
"""Of 2 dB/dt^2."""

_TWICE_DC: Final = [2 * (k + 1) * (-1) ** (k + 1) / factorial(2 * k + 5) for k in range(9)]
"""Of 2 dC/dt^2."""

_BERNOULLI: Final = [1 / 30, 1 / 42, 1 / 30, 5 / 66, 691 / 2730, 7 / 6, 3617 / 510, 43867 / 798]
_BERNOULLI_ON: Final = [174611 / 330, 854513 / 138, 236364091 / 2730, 8553103 / 6]

_TWICE_DG: Final = [
    2 * k * number / factorial(2 * k + 2) for k, number in enumerate([*_BERNOULLI, *_BERNOULLI_ON], 1)
]
"""Of 2 dG/dt^2: G has the size of Bernoulli's number 2 k + 2 over its factorial in front of t^2k."""

_ARC: Final = [(-1) ** k / (2 * k + 1) for k in range(12)]
"""Coefficients of arctan(z) / z in powers of z^2: for z up to tan(pi/16) to the last bit."""

Blocks = tuple[Matrix, Matrix]
"""Of a derivative by a motion: [[first, second], [0, first]] over linear, angular."""


class Elementary(NamedTuple):
    """Functions of the scalars: `angle`: cosine and sine; the sign of 0 is 0.

    `smooth`: whether what is made of them will be differentiated.
    """

    angle: Callable[[Scalar], tuple[Scalar, Scalar]]
    sqrt: Callable[[Scalar], Scalar]
    sign: Callable[[Scalar], Scalar]
    smooth: bool = False


class _Switch:
    """Functions of t^2: from t = 1 on by a formula, below by a series."""

    def __init__(self, squared: Scalar, elementary: Elementary) -> None:
        below = sub(1, squared)
        self._far = mul(0.5, sub(1, elementary.sign(below)))
        self._small = add(squared, mul(self._far, below))
        self.large = sub(1, mul(self._far, below)) if elementary.smooth else squared

    def __call__(self, series: Sequence[Scalar], formula: Scalar) -> Scalar:
        """The formula is to be of `large`: t^2, and 1 below where all is smooth."""
        near = polynomial(series, self._small)
        return add(mul(self._far, formula), mul(sub(1, self._far), near))


@dataclass(frozen=True)
class Exponential:
    """Where a motion leads in one second: a quaternion, a translation, and derivatives."""

    motion: Motion
    elementary: Elementary

    @cached_property
    def _switch(self) -> _Switch:
        w = self.motion.angular
        return _Switch(w.dot(w), self.elementary)

    @cached_property
    def _half(self) -> tuple[Scalar, Scalar, Scalar]:
        """t^2 / 4, cos(t/2), sin(t/2) / t."""
        w, smooth = self.motion.angular, self.elementary.smooth
        squared = mul(0.25, self._switch.large) if smooth else add(mul(0.25, w.dot(w)), _TINY)
        half = self.elementary.sqrt(squared)
        cos, sin = self.elementary.angle(half)
        factor = mul(0.5, sin / half)
        if smooth:
            return squared, self._switch(_COS, cos), self._switch(_SIN, factor)
        return squared, cos, factor

    @cached_property
    def quaternion(self) -> Quaternion:
        """Of its two signs the one whose scalar is not negative, the nearer one to no rotation."""
        _, cos, factor = self._half
        sign = self.elementary.sign(add(cos, _TINY))
        x, y, z = self.motion.angular * mul(sign, factor)
        return x, y, z, mul(sign, cos)

    @cached_property
    def _S(self) -> Scalar:
        """sin t / t."""
        _, cos, factor = self._half
        return mul(2, mul(factor, cos))

    @cached_property
    def _B(self) -> Scalar:
        factor = self._half[2]
        return mul(2, mul(factor, factor))

    @cached_property
    def _cancelled(self) -> Scalar:
        """C, which loses its digits near zero, but not its product with t^2."""
        return sub(1, self._S) / mul(4, self._half[0])

    @cached_property
    def _C(self) -> Scalar:
        """C with all its digits: from t = 1 on by its formula, below by the series."""
        return self._switch(_C, self._cancelled)

    @cached_property
    def translation(self) -> Vector:
        """V v."""
        w, v = self.motion.angular, self.motion.linear
        once = w.cross(v)
        C = self._C if self.elementary.smooth else self._cancelled
        moved: Vector = v * self._S + once * self._B + w * mul(C, w.dot(v))
        return moved

    def by_motion(self) -> Blocks:
        """How the moved frame moves with the motion, in its own axes."""
        w, v = self.motion.angular, self.motion.linear
        W, B, C = Matrix.skew(w), self._B, self._C
        turn = IDENTITY - W * B + W @ W * C
        once = w.cross(v)
        twice = w.cross(once)
        inverse: Scalar = 1 / mul(4, self._half[0])  # of 2 t^2 times a half
        by_B, by_C = sub(self._S, mul(2, B)), sub(B, mul(3, C))
        if self.elementary.smooth:
            by_B = self._switch(_TWICE_DB, mul(by_B, inverse))
            by_C = self._switch(_TWICE_DC, mul(by_C, inverse))
            inverse = 1
        by_squared = once * by_B + twice * by_C
        shift = Matrix.outer(by_squared * inverse, w)
        shift = shift - Matrix.skew(v) * B - (Matrix.skew(once) + W @ Matrix.skew(v)) * C
        return turn, rotation_of(self.quaternion).T @ shift

    def by_start(self) -> Blocks:
        """How the moved frame moves with the one before, each in its own axes."""
        back = rotation_of(self.quaternion).T
        return back, -(back @ Matrix.skew(self.translation))


@dataclass(frozen=True)
class Logarithm:
    """The motion that leads in one second to a unit quaternion and a translation, by half a turn at most."""

    quaternion: Quaternion
    translation: Vector
    elementary: Elementary

    @cached_property
    def _shorter(self) -> tuple[Vector, Scalar]:
        """Vector and scalar of the quaternion with the sign that makes the scalar not negative."""
        x, y, z, scalar = self.quaternion
        sign = self.elementary.sign(add(scalar, _TINY))
        return Vector(x, y, z) * sign, mul(sign, scalar)

    @cached_property
    def _factor(self) -> Scalar:
        """t / sin(t/2): the tangent of half the angle is halved until a short series serves."""
        vector, scalar = self._shorter
        ratio = 1 / add(1, scalar)  # tan(t/4) = sin(t/2) ratio
        squared = vector.dot(vector)
        for _ in range(2):
            ratio = ratio / add(1, self.elementary.sqrt(add(1, mul(squared, mul(ratio, ratio)))))
        return mul(mul(16, ratio), polynomial(_ARC, mul(squared, mul(ratio, ratio))))

    @cached_property
    def _G(self) -> Scalar:
        """By B and C of half the angle, of which neither loses digits: G = (B - C) t / (8 sin(t/2))."""
        vector, scalar = self._shorter
        squared = mul(self._factor, self._factor)
        once = 4 / mul(squared, add(1, scalar))
        quarter = mul(0.25, mul(squared, vector.dot(vector)))
        return mul(mul(0.125, self._factor), sub(once, polynomial(_C, quarter)))

    @cached_property
    def motion(self) -> Motion:
        w, p = self._shorter[0] * self._factor, self.translation
        once = w.cross(p)
        return Motion(w, p - once * 0.5 + w.cross(once) * self._G)

    def by_end(self) -> Blocks:
        """How the motion changes as the frame that it leads to moves, in its own axes."""
        return self._derivative(self.motion.angular, self.translation)

    def by_start(self) -> Blocks:
        """How it changes as the frame moves that it begins in: as the motion back does with its end."""
        back = rotation_of(self.quaternion).T.apply(self.translation)
        turn, shift = self._derivative(-self.motion.angular, -back)
        return -turn, -shift

    def _derivative(self, w: Vector, p: Vector) -> Blocks:
        W, G = Matrix.skew(w), self._G
        turn = IDENTITY + W * 0.5 + W @ W * G
        once = w.cross(p)
        twice = w.cross(once)
        squared = w.dot(w)
        slope = add(sub(0.25, mul(3, G)), mul(squared, mul(G, G)))  # 2 dG/dt^2, but for t^2
        if self.elementary.smooth:
            switch = _Switch(squared, self.elementary)
            slope = switch(_TWICE_DG, slope / switch.large)
        else:
            slope = slope / add(squared, _TINY)
        shift = Matrix.outer(twice * slope, w) + Matrix.skew(p) * 0.5
        shift = shift - (Matrix.skew(once) + W @ Matrix.skew(p)) * G
        return turn, shift @ turn


def polynomial(coefficients: Sequence[Scalar], x: Scalar) -> Scalar:
    """The sum of coefficients[k] x^k."""
    total: Scalar = 0
    for coefficient in reversed(coefficients):
        total = add(mul(total, x), coefficient)
    return total
