"""The resistance of a joint to its motion, in addition to the inertia of the bodies that it moves.

    tau = ID(q, v, a) + d v + f s(v) + k (q - q0) + A a

d is viscous damping, and f is Coulomb friction with s(v) the sign of v or a smooth form of it. k is the
stiffness of a spring that is at rest at q0. A, the armature, is the inertia of a motor's rotor as the joint
feels it: a rotor with inertia J that turns n times as fast as the joint gives A = n^2 J. The gyroscopic
torque of its spin is neglected, as in Pinocchio and MuJoCo.
"""

from __future__ import annotations

from dataclasses import dataclass

from rbdgen.spatial.scalar import Scalar, is_zero


@dataclass(frozen=True)
class Resistance:
    """The resistance of every degree of freedom of a joint; 0 for terms that are absent."""

    damping: Scalar = 0
    """d, in N m s/rad or N s/m."""
    friction: Scalar = 0
    """f, in N m or N."""
    smoothing: Scalar = 0
    """The velocity e of s(v) = v / sqrt(v^2 + e^2), in rad/s or m/s; 0 for the sign, which is 0 at rest."""
    stiffness: Scalar = 0
    """k, in N m/rad or N/m."""
    reference: Scalar = 0
    """q0, in rad or m."""
    armature: Scalar = 0
    """A, in kg m^2 or kg."""

    @property
    def dissipates(self) -> bool:
        """Whether motion dissipates energy."""
        return not (is_zero(self.damping) and is_zero(self.friction))

    @property
    def acts(self) -> bool:
        """Whether any term is present."""
        return self.dissipates or not (is_zero(self.stiffness) and is_zero(self.armature))


NONE = Resistance()
