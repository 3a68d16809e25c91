"""A joint of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rbdgen.description.schema import Limit
from rbdgen.model.joints.coordinates import Coordinate
from rbdgen.model.joints.joint_type import JointType
from rbdgen.model.joints.resistance import NONE, Resistance
from rbdgen.runtime.space import JointCoordinates
from rbdgen.spatial.ops import Motion, Transform, Vector
from rbdgen.spatial.scalar import Scalar


class Follows(NamedTuple):
    """The joint that this one follows, so that q = multiplier q[idx_q] and v = multiplier v[idx_v]."""

    idx_q: int
    idx_v: int
    multiplier: float


@dataclass(frozen=True)
class Joint:
    """A moving joint. `axis` is a unit vector in the joint's frame; it is not used if `type` has no single
    axis.

    The joint's frame is that of its child body. At q = 0 it is at the joint's placement in the parent. Limits
    are enforced by steps with friction alone, on request. `resistance` applies to each degree of freedom. In
    a model, the joints that follow others come after all other joints.
    """

    name: str
    type: JointType
    axis: Vector
    idx_q: int
    idx_v: int
    limit: Limit | None = None
    resistance: Resistance = NONE
    follows: Follows | None = None

    @property
    def nq(self) -> int:
        return self.type.nq

    @property
    def nv(self) -> int:
        return self.type.nv

    @property
    def can_have_a_servo(self) -> bool:
        """Whether it has one coordinate of its own."""
        return self.nq == self.nv == 1 and self.follows is None

    @property
    def armature(self) -> tuple[Scalar, ...]:
        """The reflected inertia of the rotor, once for each degree of freedom."""
        return (self.resistance.armature,) * self.nv

    @property
    def coordinates(self) -> JointCoordinates:
        """The joint's elements of q and v, and the space of these coordinates."""
        return JointCoordinates(self.name, self.type.space, self.idx_q, self.idx_v)

    def slice(self, vector: Sequence[Scalar]) -> Sequence[Scalar]:
        """This joint's elements of a vector over all degrees of freedom."""
        return vector[self.idx_v : self.idx_v + self.nv]

    @property
    def motion_subspace(self) -> tuple[Motion, ...]:
        """S, one motion per degree of freedom, in the joint's frame."""
        return self.type.motion_subspace(self.axis)

    def transform(self, q: Coordinate) -> Transform:
        """The pose of the joint's frame at q, relative to the same frame at q = 0."""
        return self.type.transform(self.axis, q)
