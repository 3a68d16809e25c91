"""The exponential map of rigid-body motions, its inverse, and the derivatives of both, without branches.

A motion (w, v) at constant velocity leads in one second to the rotation exp[w x] and the translation V v,

    V = 1 + B [w x] + C [w x]^2 ,   B = (1 - cos t) / t^2 ,   C = (1 - sin t / t) / t^2 ,   t = |w|

and back, v = V^-1 p, by V^-1 = 1 - [w x] / 2 + G [w x]^2 with G = (1 - t/2 cot t/2) / t^2. Derivatives are in
the axes of the moved frame, as in Pinocchio. Sola, Deray, Atchuthan: A micro Lie theory for state estimation
in robotics, 2018.

Divisors that are squares have 1e-30 added. This does not change other numbers, and makes a ratio that would
be 0 / 0 without rotation equal to its limit, to the last bit. Where all digits would cancel, series are used.

These limits are right for values, but not for derivatives. Results that will be differentiated are computed
with `smooth` functions: below t = 1 all of them are series, whose derivatives are right, too.
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
"""A number that vanishes beside any square that is not tiny itself, and that single precision can represent.
"""

_C: Final = [(-1) ** k / factorial(2 * k + 3) for k in range(11)]
"""Coefficients of C in powers of t^2, accurate to the last bit for t up to pi/2."""

_COS: Final = [(-1) ** k / (4**k * factorial(2 * k)) for k in range(9)]
"""Coefficients of cos(t/2) in powers of t^2. These and the next ones are accurate for t up to 1."""

_SIN: Final = [(-1) ** k / (2 * 4**k * factorial(2 * k + 1)) for k in range(9)]
"""Coefficients of sin(t/2) / t."""

_TWICE_DB: Final = [2 * (k + 1) * (-1) ** (k + 1) / factorial(2 * k + 4) for k in range(9)]
"""Coefficients of 2 dB/dt^2."""

_TWICE_DC: Final = [2 * (k + 1) * (-1) ** (k + 1) / factorial(2 * k + 5) for k in range(9)]
"""Coefficients of 2 dC/dt^2."""

_BERNOULLI: Final = [1 / 30, 1 / 42, 1 / 30, 5 / 66, 691 / 2730, 7 / 6, 3617 / 510, 43867 / 798]
_BERNOULLI_ON: Final = [174611 / 330, 854513 / 138, 236364091 / 2730, 8553103 / 6]

_TWICE_DG: Final = [
    2 * k * number / factorial(2 * k + 2) for k, number in enumerate([*_BERNOULLI, *_BERNOULLI_ON], 1)
]
"""Coefficients of 2 dG/dt^2. That of t^2k in G is |B_n| / n! with the Bernoulli number B_n, n = 2 k + 2."""

_ARC: Final = [(-1) ** k / (2 * k + 1) for k in range(12)]
"""Coefficients of arctan(z) / z in powers of z^2, accurate to the last bit for z up to tan(pi/16)."""

Blocks = tuple[Matrix, Matrix]
"""The blocks (first, second) of a derivative [[first, second], [0, first]] in (linear, angular) order."""


class Elementary(NamedTuple):
    """Elementary functions of the scalars in use. `angle` gives cosine and sine; the sign of 0 is 0.

    `smooth` says whether results will be differentiated.
    """

    angle: Callable[[Scalar], tuple[Scalar, Scalar]]
    sqrt: Callable[[Scalar], Scalar]
    sign: Callable[[Scalar], Scalar]
    smooth: bool = False


class _Switch:
    """Functions of t^2 that use a formula from t = 1 on, and a series below."""

    def __init__(self, squared: Scalar, elementary: Elementary) -> None:
        below = sub(1, squared)
        self._far = mul(0.5, sub(1, elementary.sign(below)))
        self._small = add(squared, mul(self._far, below))
        self.large = sub(1, mul(self._far, below)) if elementary.smooth else squared

    def __call__(self, series: Sequence[Scalar], formula: Scalar) -> Scalar:
        """The value of the function. The formula must be evaluated at `large`: t^2, or 1 if t < 1 and the
        result is to be smooth.
        """
        near = polynomial(series, self._small)
        return add(mul(self._far, formula), mul(sub(1, self._far), near))


@dataclass(frozen=True)
class Exponential:
    """The pose to which a motion leads in one second, as a quaternion and a translation, and its
    derivatives.
    """

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
        """The quaternion with a nonnegative scalar, of which the negative is the same rotation."""
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
        """C by its formula, which loses digits near t = 0. The product of C and t^2 does not lose any."""
        return sub(1, self._S) / mul(4, self._half[0])

    @cached_property
    def _C(self) -> Scalar:
        """C with all its digits: its formula from t = 1 on, and the series below."""
        return self._switch(_C, self._cancelled)

    @cached_property
    def translation(self) -> Vector:
        """The translation V v."""
        w, v = self.motion.angular, self.motion.linear
        once = w.cross(v)
        C = self._C if self.elementary.smooth else self._cancelled
        moved: Vector = v * self._S + once * self._B + w * mul(C, w.dot(v))
        return moved

    def by_motion(self) -> Blocks:
        """The derivative of the moved frame with respect to the motion, in the frame's own axes."""
        w, v = self.motion.angular, self.motion.linear
        W, B, C = Matrix.skew(w), self._B, self._C
        turn = IDENTITY - W * B + W @ W * C
        once = w.cross(v)
        twice = w.cross(once)
        inverse: Scalar = 1 / mul(4, self._half[0])  # 1 / t^2
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
        """The derivative of the moved frame with respect to the frame before it, each in its own axes."""
        back = rotation_of(self.quaternion).T
        return back, -(back @ Matrix.skew(self.translation))


@dataclass(frozen=True)
class Logarithm:
    """The motion that leads in one second to a unit quaternion and a translation, by at most half a turn."""

    quaternion: Quaternion
    translation: Vector
    elementary: Elementary

    @cached_property
    def _shorter(self) -> tuple[Vector, Scalar]:
        """The vector and the scalar of the quaternion, with the sign that makes the scalar nonnegative."""
        x, y, z, scalar = self.quaternion
        sign = self.elementary.sign(add(scalar, _TINY))
        return Vector(x, y, z) * sign, mul(sign, scalar)

    @cached_property
    def _factor(self) -> Scalar:
        """t / sin(t/2). The tangent of half the angle is halved until a short series is accurate."""
        vector, scalar = self._shorter
        ratio = 1 / add(1, scalar)  # tan(t/4) = sin(t/2) ratio
        squared = vector.dot(vector)
        for _ in range(2):
            ratio = ratio / add(1, self.elementary.sqrt(add(1, mul(squared, mul(ratio, ratio)))))
        return mul(mul(16, ratio), polynomial(_ARC, mul(squared, mul(ratio, ratio))))

    @cached_property
    def _G(self) -> Scalar:
        """G = (B - C) t / (8 sin(t/2)) with B and C at half the angle, where they do not lose digits."""
        vector, scalar = self._shorter
        squared = mul(self._factor, self._factor)
        once = 4 / mul(squared, add(1, scalar))
        quarter = mul(0.25, mul(squared, vector.dot(vector)))
        return mul(mul(0.125, self._factor), sub(once, polynomial(_C, quarter)))

    @cached_property
    def motion(self) -> Motion:
        """The motion (w, v) with v = V^-1 p."""
        w, p = self._shorter[0] * self._factor, self.translation
        once = w.cross(p)
        return Motion(w, p - once * 0.5 + w.cross(once) * self._G)

    def by_end(self) -> Blocks:
        """The derivative of the motion with respect to the frame to which it leads, in that frame's axes."""
        return self._derivative(self.motion.angular, self.translation)

    def by_start(self) -> Blocks:
        """The derivative of the motion with respect to the frame in which it starts.

        It is minus the derivative of the reverse motion with respect to the frame to which that leads.
        """
        back = rotation_of(self.quaternion).T.apply(self.translation)
        turn, shift = self._derivative(-self.motion.angular, -back)
        return -turn, -shift

    def _derivative(self, w: Vector, p: Vector) -> Blocks:
        W, G = Matrix.skew(w), self._G
        turn = IDENTITY + W * 0.5 + W @ W * G
        once = w.cross(p)
        twice = w.cross(once)
        squared = w.dot(w)
        slope = add(sub(0.25, mul(3, G)), mul(squared, mul(G, G)))  # 2 dG/dt^2, times t^2
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
