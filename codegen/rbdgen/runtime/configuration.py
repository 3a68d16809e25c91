"""The configuration manifold: the coordinates of every joint, and integration and difference on it.

The coordinate of a revolute, continuous or helical joint is its angle, and that of a prismatic joint its
displacement. A planar joint has q = [x y angle] and v = [vx vy rate]. A spherical joint has a unit quaternion
q = [qx qy qz qw] and its angular velocity. A floating joint, such as a floating base, has
q = [x y z qx qy qz qw] and v = [linear, angular]. All velocities are in the axes of the moving body. This is
Pinocchio's layout, except that Pinocchio has a cosine and a sine in place of the angle of continuous and
planar joints. The joint types define this layout and how their coordinates move; this module puts the joints
together, for arrays of configurations.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import ArrayValueError
from ..signature import OBSTACLES, SizedArgument
from .space import Element, JointCoordinates, Space

Array = npt.NDArray[Any]

_LONGEST_STEP = 1e-3
"""The longest random time step, in s. It is short because light links have large accelerations."""


@dataclass(frozen=True)
class _Alike:
    """Joints with the same space, which are moved at once."""

    space: Space
    q: Array
    """The indices of the joints in q: a row for each element of the space, with a column for each joint."""
    v: Array
    """The indices of the joints in v, likewise."""


@dataclass(frozen=True)
class Manifold:
    """The configuration manifold of one robot, from its joints in order, with a floating base first.

    It is the product of the spaces of the joints. All methods take arrays with any leading axes, q (..., nq)
    and v (..., nv), and compute in double.
    """

    joints: tuple[JointCoordinates, ...]

    @classmethod
    def of(cls, manifest: Mapping[str, Any]) -> Manifold:
        """The manifold that a manifest describes."""
        spaces = {name: Space.of(name, row) for name, row in manifest["spaces"].items()}
        rows = manifest["manifold"]
        return cls(
            tuple(
                JointCoordinates(row["name"], spaces[row["kind"]], row["idx_q"], row["idx_v"]) for row in rows
            )
        )

    @property
    def spaces(self) -> dict[str, Space]:
        """The spaces of the joints, by name."""
        return {joint.kind: joint.space for joint in self.joints}

    @property
    def nq(self) -> int:
        return sum(joint.nq for joint in self.joints)

    @property
    def nv(self) -> int:
        return sum(joint.nv for joint in self.joints)

    @property
    def flat(self) -> bool:
        """Whether v is dq/dt."""
        return all(joint.space.flat for joint in self.joints)

    @property
    def angles(self) -> frozenset[int]:
        """The indices in q of the angles; functions only read their sines and cosines."""
        return frozenset(self._elements("angle"))

    @property
    def quaternions(self) -> list[int]:
        """The index in q of the first element of every quaternion."""
        return [at for joint in self.joints for at in joint.quaternions]

    def _elements(self, *kinds: Element) -> list[int]:
        """The indices in q of the elements of these kinds."""
        return [joint.idx_q + k for joint in self.joints for k in joint.space.of_kind(*kinds)]

    @cached_property
    def _alike(self) -> list[_Alike]:
        """The joints, by their spaces."""
        found: dict[str, list[JointCoordinates]] = {}
        for joint in self.joints:
            found.setdefault(joint.kind, []).append(joint)
        return [
            _Alike(
                joints[0].space,
                np.array([joint.idx_q for joint in joints]) + np.arange(joints[0].nq)[:, None],
                np.array([joint.idx_v for joint in joints]) + np.arange(joints[0].nv)[:, None],
            )
            for joints in found.values()
        ]

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
        for at in self.quaternions:
            q[at + 3] = 1
        return q

    def random(self, generator: np.random.Generator, leading: Sequence[int] = ()) -> Array:
        """Random configurations: angles within pi, displacements within 1 m, uniformly distributed
        attitudes."""
        q = generator.uniform(-1, 1, (*leading, self.nq))
        q[..., self._elements("angle", "full_turn")] *= np.pi
        # spherical joints come before floating ones, so that a seed gives the same configurations as ever
        for joint in sorted(self.joints, key=lambda joint: joint.nq):
            for at in joint.quaternions:
                q[..., at : at + 4] = _unit(generator.standard_normal((*leading, 4)), "random")
        return q

    def random_inputs(
        self, inputs: Iterable[SizedArgument], generator: np.random.Generator, leading: Sequence[int] = ()
    ) -> dict[str, Array]:
        """A random value for every input of a function, by name.

        Inputs with a range are within it. Numbers that are not negative are between 0 and 1, time steps are
        at most 1 ms, and inertias are physical. Sines and cosines are those of the random configuration, and
        0 and 1 for elements that are no angles. Other inputs have their defaults, or unit variance if they
        have none.
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
            if argument.kind == "planes":
                return _random_planes(generator, shape)
            if argument.kind in OBSTACLES:
                return _random_obstacles(generator, argument, shape)
            if argument.kind in ("nonnegative", "coefficients"):
                return generator.uniform(size=shape)
            if argument.range is not None:
                return generator.uniform(*argument.range, size=shape)
            if argument.default is not None:
                return np.array(np.broadcast_to(np.reshape(argument.default, argument.shape), shape))
            if argument.kind == "inertia":
                return _random_inertia(generator, leading)
            return known[argument.kind] if argument.kind in known else generator.standard_normal(shape)

        return {argument.name: value(argument) for argument in wanted}

    def normalize(self, q: npt.ArrayLike, caller: str = "normalize") -> Array:
        """A copy of q with every quaternion scaled to unit length.

        Raises ArrayValueError if one has length 0.
        """
        result = np.array(q, float)
        for at in self.quaternions:
            result[..., at : at + 4] = _unit(result[..., at : at + 4], caller)
        return result

    def integrate(self, q: npt.ArrayLike, v: npt.ArrayLike) -> Array:
        """The configuration after one second at constant velocity v, by the exponential maps of the joints.

        Quaternions are scaled to unit length first. A quaternion and its negative are the same attitude; the
        result is the one of the two that is nearer to that of q.
        """
        start, rates = self.normalize(q, "integrate"), np.asarray(v, float)
        result = np.empty((*np.broadcast_shapes(start.shape[:-1], rates.shape[:-1]), self.nq))
        for alike in self._alike:
            moved = alike.space.integrate(_columns(start, alike.q), _columns(rates, alike.v))
            _put(result, alike.q, moved)
        return result

    def difference(self, q0: npt.ArrayLike, q1: npt.ArrayLike) -> Array:
        """The velocity that leads from q0 to q1 in one second: integrate(q0, difference(q0, q1)) is q1.

        Angles of single joints are subtracted without wrapping. Planar joints and quaternions turn by half a
        turn at most, so for them the angle that `integrate` reaches may differ from q1 by whole turns.
        """
        start, end = self.normalize(q0, "difference"), self.normalize(q1, "difference")
        result = np.empty((*np.broadcast_shapes(start.shape[:-1], end.shape[:-1]), self.nv))
        for alike in self._alike:
            moved = alike.space.difference(_columns(start, alike.q), _columns(end, alike.q))
            _put(result, alike.v, moved)
        return result


def _columns(array: Array, indices: Array) -> list[Array]:
    """The elements (..., joints) of joints with the same space, element by element."""
    return [np.take(array, at, axis=-1) for at in indices]


def _put(result: Array, indices: Array, columns: Sequence[Any]) -> None:
    for at, column in zip(indices, columns, strict=True):
        result[..., at] = column


def _random_obstacles(
    generator: np.random.Generator, argument: SizedArgument, shape: tuple[int, ...]
) -> Array:
    """Obstacles like the unused ones, but with random sizes in place of negative numbers, and random numbers
    in place of the zeros with which they begin.
    """
    assert argument.default is not None
    found = np.array(np.broadcast_to(np.reshape(argument.default, argument.shape), shape))
    unused = np.array(argument.default[: shape[-1]])
    first = int(np.argmax(unused != 0))
    found[..., :first] = generator.standard_normal((*shape[:-1], first))
    sizes = unused < 0
    found[..., sizes] = generator.uniform(0.05, 0.5, (*shape[:-1], int(sizes.sum())))
    return found


def _random_planes(generator: np.random.Generator, shape: Sequence[int]) -> Array:
    """Planes near the level ground through the origin: a unit normal and an offset in each row."""
    planes = 0.2 * generator.standard_normal(shape)
    planes[..., 2] += 1
    planes[..., :3] /= np.linalg.norm(planes[..., :3], axis=-1, keepdims=True)
    return planes


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
        raise ArrayValueError(f"{caller}: a quaternion has length zero; the identity is (0, 0, 0, 1)")
    scaled = np.ldexp(quaternion, -np.frexp(largest)[1])
    return np.asarray(scaled / np.linalg.norm(scaled, axis=-1, keepdims=True))
