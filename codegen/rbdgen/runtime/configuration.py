"""The configuration manifold: the coordinates of every joint, and integration and difference on it.

The coordinate of a revolute, continuous or helical joint is its angle, and that of a prismatic joint its
displacement. A planar joint has q = [x y angle] and v = [vx vy rate]. A spherical joint has a unit quaternion
q = [qx qy qz qw] and its angular velocity. A floating joint, such as a floating base, has
q = [x y z qx qy qz qw] and v = [linear, angular]. All velocities are in the axes of the moving body. This is
Pinocchio's layout, except that Pinocchio has a cosine and a sine in place of the angle of continuous and
planar joints. No other module of the runtime depends on the layout.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import factorial
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import ArrayValueError
from ..signature import CoordinatesKind, JointCoordinates, SizedArgument

Array = npt.NDArray[Any]

_LONGEST_STEP = 1e-3
"""The longest random time step, in s. It is short because light links have large accelerations."""

_SMALL = 0.5
"""Rotations by less than this angle, in rad, use series, as the formulas divide by powers of the angle."""

_LEFT = [(-1) ** k / factorial(2 * k + 3) for k in range(8)]
"""Coefficients of (x - sin x) / x^3 in powers of x^2."""

_LEFT_INVERSE = [1 / 12, 1 / 720, 1 / 30240, 1 / 1209600, 1 / 47900160, 691 / 1307674368000, 1 / 74724249600]
"""Coefficients of (1 - x/2 cot x/2) / x^2 in powers of x^2."""


@dataclass(frozen=True)
class Manifold:
    """The configuration manifold of one robot, from its joints in order, with a floating base first.

    It is a product of lines (for angles and displacements), SE(2), SO(3) and SE(3). All methods take arrays
    with any leading axes, q (..., nq) and v (..., nv), and compute in double.
    """

    joints: tuple[JointCoordinates, ...]

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]]) -> Manifold:
        """The manifold that the rows of a manifest describe."""
        return cls(tuple(JointCoordinates(**row) for row in rows))

    @property
    def nq(self) -> int:
        return sum(joint.nq for joint in self.joints)

    @property
    def nv(self) -> int:
        return sum(joint.nv for joint in self.joints)

    @property
    def angles(self) -> frozenset[int]:
        """The indices in q of the angles; functions only read their sines and cosines."""
        return frozenset(
            joint.idx_q + joint.nq - 1 for joint in self.joints if joint.kind in ("angle", "planar")
        )

    def positions(self, q: Array) -> dict[str, Array]:
        """The elements of q of every joint by name: (...) for a joint with one, (..., n) for one with n."""
        given = q.astype(float, copy=False)
        return {
            joint.name: given[..., joint.idx_q : joint.idx_q + joint.nq]
            if joint.nq > 1
            else given[..., joint.idx_q]
            for joint in self.joints
        }

    def neutral(self) -> Array:
        """The configuration (nq,) with all joints at zero, and a floating base at the world frame."""
        q = np.zeros(self.nq)
        for quaternion in self._quaternions():
            q[quaternion.stop - 1] = 1
        return q

    def random(self, generator: np.random.Generator, leading: Sequence[int] = ()) -> Array:
        """Random configurations: angles within pi, displacements within 1 m, uniformly distributed
        attitudes."""
        q = generator.uniform(-1, 1, (*leading, self.nq))
        screws = {joint.idx_q for joint in self.joints if joint.kind == "screw"}
        q[..., sorted(self.angles | screws)] *= np.pi
        for quaternion in self._quaternions():
            q[..., quaternion] = _unit(generator.standard_normal((*leading, 4)), "random")
        return q

    def random_inputs(
        self, inputs: Iterable[SizedArgument], generator: np.random.Generator, leading: Sequence[int] = ()
    ) -> dict[str, Array]:
        """A random value for every input of a function, by name.

        Inputs of kind "nonnegative" are between 0 and 1, time steps are at most 1 ms, and inertias are
        physical. Sines and cosines are those of the random configuration, and 0 and 1 for elements that are
        no angles. Other inputs have their defaults, or unit variance if they have none.
        """
        q = self.random(generator, leading)
        angles = np.isin(np.arange(self.nq), sorted(self.angles))
        known = {
            "configuration": q,
            "sines": np.where(angles, np.sin(q), 0),
            "cosines": np.where(angles, np.cos(q), 1),
        }

        wanted = list(inputs)
        first = next((argument.name for argument in wanted if argument.kind == "configuration"), "")

        def value(argument: SizedArgument) -> Array:
            shape = (*leading, *argument.shape)
            if argument.kind == "configuration" and argument.name != first:
                return self.random(generator, leading)
            if argument.kind == "time_step":
                return generator.uniform(high=_LONGEST_STEP, size=shape)
            if argument.kind == "nonnegative":
                return generator.uniform(size=shape)
            if argument.default is not None:
                return np.array(np.broadcast_to(argument.default, shape))
            if argument.kind == "inertia":
                return _random_inertia(generator, leading)
            return known[argument.kind] if argument.kind in known else generator.standard_normal(shape)

        return {argument.name: value(argument) for argument in wanted}

    def normalize(self, q: npt.ArrayLike, caller: str = "normalize") -> Array:
        """A copy of q with every quaternion scaled to unit length.

        Raises ArrayValueError if one has length 0.
        """
        result = np.array(q, float)
        for quaternion in self._quaternions():
            result[..., quaternion] = _unit(result[..., quaternion], caller)
        return result

    def integrate(self, q: npt.ArrayLike, v: npt.ArrayLike) -> Array:
        """The configuration after one second at constant velocity v, by the exponential maps of the joints.

        Quaternions are scaled to unit length first. A quaternion and its negative are the same attitude; the
        result is the one of the two that is nearer to that of q.
        """
        start, rates = self.normalize(q, "integrate"), np.asarray(v, float)
        leading = np.broadcast_shapes(start.shape[:-1], rates.shape[:-1])
        result = np.array(np.broadcast_to(start, (*leading, self.nq)))
        of_q, of_v = self._single()
        result[..., of_q] += rates[..., of_v]
        for q_i, v_i in self._of("planar"):
            result[..., q_i] = _moved_in_plane(start[..., q_i], rates[..., v_i])
        for q_i, v_i in self._of("spherical"):
            result[..., q_i] = _turned_by(start[..., q_i], rates[..., v_i])
        for q_i, v_i in self._of("floating"):
            result[..., q_i] = _moved(start[..., q_i], rates[..., v_i])
        return result

    def difference(self, q0: npt.ArrayLike, q1: npt.ArrayLike) -> Array:
        """The velocity that leads from q0 to q1 in one second: integrate(q0, difference(q0, q1)) is q1.

        Angles of single joints are subtracted without wrapping. Planar joints and quaternions turn by half a
        turn at most, so for them the angle that `integrate` reaches may differ from q1 by whole turns.
        """
        start, end = self.normalize(q0, "difference"), self.normalize(q1, "difference")
        leading = np.broadcast_shapes(start.shape[:-1], end.shape[:-1])
        result = np.empty((*leading, self.nv))
        of_q, of_v = self._single()
        result[..., of_v] = end[..., of_q] - start[..., of_q]
        for q_i, v_i in self._of("planar"):
            result[..., v_i] = _motion_in_plane(start[..., q_i], end[..., q_i])
        for q_i, v_i in self._of("spherical"):
            result[..., v_i] = _turn_between(start[..., q_i], end[..., q_i])
        for q_i, v_i in self._of("floating"):
            result[..., v_i] = _motion_between(start[..., q_i], end[..., q_i])
        return result

    def _of(self, kind: CoordinatesKind) -> list[tuple[slice, slice]]:
        """The elements of q and v of every joint of a kind."""
        return [
            (slice(joint.idx_q, joint.idx_q + joint.nq), slice(joint.idx_v, joint.idx_v + joint.nv))
            for joint in self.joints
            if joint.kind == kind
        ]

    def _quaternions(self) -> list[slice]:
        """The elements of q of every quaternion."""
        both = [*self._of("spherical"), *self._of("floating")]
        return [slice(q_i.stop - 4, q_i.stop) for q_i, _ in both]

    def _single(self) -> tuple[list[int], list[int]]:
        """The elements of q and v of joints that have one each."""
        single = [joint for joint in self.joints if joint.nq == 1]
        return [joint.idx_q for joint in single], [joint.idx_v for joint in single]


def _random_inertia(generator: np.random.Generator, leading: Sequence[int]) -> Array:
    """The ten parameters (m, m c, Ixx Ixy Iyy Ixz Iyz Izz about the origin) of four random point masses."""
    points = np.append(generator.standard_normal((*leading, 4, 3)), np.ones((*leading, 4, 1)), axis=-1)
    moments = np.swapaxes(points, -1, -2) @ (generator.uniform(0.5, 2, (*leading, 4, 1)) * points)
    (xx, xy, xz, hx), (_, yy, yz, hy), (_, _, zz, hz), (*_, m) = np.moveaxis(moments, (-2, -1), (0, 1))
    return np.stack([m, hx, hy, hz, yy + zz, -xy, xx + zz, -xz, -yz, xx + yy], axis=-1)


def _unit(quaternion: Array, caller: str) -> Array:
    """The quaternion scaled to unit length.

    It is scaled by a power of two first, which is exact, so that squares do not overflow or underflow.
    """
    largest = np.max(np.abs(quaternion), axis=-1, keepdims=True, initial=0)
    if np.any(largest == 0):
        raise ArrayValueError(f"{caller}: a quaternion has length zero; (0, 0, 0, 1) is no rotation")
    scaled = np.ldexp(quaternion, -np.frexp(largest)[1])
    return np.asarray(scaled / np.linalg.norm(scaled, axis=-1, keepdims=True))


def _moved_in_plane(pose: Array, motion: Array) -> Array:
    """A pose (x, y, angle) after a motion (vx, vy, rate) in its own axes."""
    angle, rate = pose[..., 2:], motion[..., 2:]
    # The displacement along the chord of the arc; its direction is that at half the rotation.
    chord = np.sinc(rate / (2 * np.pi)) * motion[..., :2]
    return np.concatenate([pose[..., :2] + _rotated(chord, angle + rate / 2), angle + rate], axis=-1)


def _motion_in_plane(start: Array, end: Array) -> Array:
    """The motion that leads from one pose (x, y, angle) to another, by half a turn at most."""
    turned = end[..., 2:] - start[..., 2:]
    rate = turned - 2 * np.pi * np.round(turned / (2 * np.pi))
    chord = _rotated(end[..., :2] - start[..., :2], -start[..., 2:] - rate / 2)
    return np.concatenate([chord / np.sinc(rate / (2 * np.pi)), rate], axis=-1)


def _rotated(vector: Array, angle: Array) -> Array:
    """The vector (x, y), rotated by an angle."""
    (x, y), c, s = (vector[..., :1], vector[..., 1:]), np.cos(angle), np.sin(angle)
    return np.concatenate([c * x - s * y, s * x + c * y], axis=-1)


def _turned_by(quaternion: Array, w: Array) -> Array:
    """The quaternion times the exponential of a rotation vector w in its own axes, with the nearer sign."""
    angle = np.linalg.norm(w, axis=-1, keepdims=True)
    half = 0.5 * np.sinc(angle / (2 * np.pi))
    result: Array = _product(quaternion, np.concatenate([half * w, np.cos(angle / 2)], axis=-1))
    near = np.sum(result * quaternion, axis=-1, keepdims=True)
    return _unit(np.where(near < 0, -result, result), "integrate")


def _turn_between(start: Array, end: Array) -> Array:
    """The logarithm of the attitude `end` relative to `start`."""
    relative = _product(start * [-1, -1, -1, 1], end)
    relative = np.where(relative[..., 3:] < 0, -relative, relative)
    vector, scalar = relative[..., :3], relative[..., 3:]
    sine = np.linalg.norm(vector, axis=-1, keepdims=True)
    angle = 2 * np.arctan2(sine, scalar)
    return np.asarray(vector * np.divide(angle, sine, out=np.full_like(sine, 2), where=sine > 0))


def _moved(pose: Array, motion: Array) -> Array:
    """The pose times the exponential of a motion (linear, angular) in its own axes."""
    linear, w = motion[..., :3], motion[..., 3:]
    angle = np.linalg.norm(w, axis=-1, keepdims=True)
    first = 0.5 * np.sinc(angle / (2 * np.pi)) ** 2
    second = _ratio(angle, _LEFT, lambda x: (x - np.sin(x)) / x**3)
    once = np.cross(w, linear)
    step = linear + first * once + second * np.cross(w, once)
    position = pose[..., :3] + _turned(pose[..., 3:], step)
    return np.concatenate([position, _turned_by(pose[..., 3:], w)], axis=-1)


def _motion_between(start: Array, end: Array) -> Array:
    """The logarithm of the pose `end` relative to `start`."""
    w = _turn_between(start[..., 3:], end[..., 3:])
    angle = np.linalg.norm(w, axis=-1, keepdims=True)
    step = _turned(start[..., 3:] * [-1, -1, -1, 1], end[..., :3] - start[..., :3])
    once = np.cross(w, step)
    second = _ratio(angle, _LEFT_INVERSE, lambda x: (1 - x / 2 / np.tan(x / 2)) / x**2)
    return np.concatenate([step - 0.5 * once + second * np.cross(w, once), w], axis=-1)


def _ratio(angle: Array, series: Sequence[float], formula: Callable[[Array], Array]) -> Array:
    """A function of the angle by its formula, or, near zero, by its series in powers of the squared angle."""
    near = np.polynomial.polynomial.polyval(np.minimum(angle, _SMALL) ** 2, series)
    return np.where(angle < _SMALL, near, formula(np.maximum(angle, _SMALL)))


def _product(a: Array, b: Array) -> Array:
    """The product of two quaternions (x, y, z, w)."""
    vector = a[..., 3:] * b[..., :3] + b[..., 3:] * a[..., :3] + np.cross(a[..., :3], b[..., :3])
    scalar = a[..., 3:] * b[..., 3:] - np.sum(a[..., :3] * b[..., :3], axis=-1, keepdims=True)
    return np.concatenate([vector, scalar], axis=-1)


def _turned(quaternion: Array, vector: Array) -> Array:
    """The vector, rotated by a unit quaternion."""
    twice = 2 * np.cross(quaternion[..., :3], vector)
    return np.asarray(vector + quaternion[..., 3:] * twice + np.cross(quaternion[..., :3], twice))
