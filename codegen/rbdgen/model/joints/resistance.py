"""What a joint sets against its motion beside the inertia of the bodies that it moves.

    tau = ID(q, v, a) + d v + f s(v) + k (q - q0) + A a

d is viscous damping and f Coulomb friction, s(v) the sign of v or a smooth form of it. k is the stiffness of
a spring that rests at q0. A, the armature, is the inertia of a motor's rotor as the joint feels it: where the
rotor has the inertia J and turns n times as fast as the joint, A = n^2 J. The gyroscopic torque of its
spin is left out, as Pinocchio and MuJoCo leave it out.
"""

from __future__ import annotations

from dataclasses import dataclass

from rbdgen.spatial.scalar import Scalar, is_zero


@dataclass(frozen=True)
class Resistance:
    """Of every degree of freedom of a joint; 0 where there is none.

    `damping`: N m s/rad or N s/m; `friction`: N m or N; `smoothing`: the velocity e of s(v) =
    v / sqrt(v^2 + e^2), in rad/s or m/s, 0 for the sign itself, 0 at rest; `stiffness`: N m/rad or N/m;
    `reference`: q0, rad or m; `armature`: kg m^2 or kg.
    """

    damping: Scalar = 0
    friction: Scalar = 0
    smoothing: Scalar = 0
    stiffness: Scalar = 0
    reference: Scalar = 0
    armature: Scalar = 0

    @property
    def dissipates(self) -> bool:
        """Whether moving takes energy."""
        return not (is_zero(self.damping) and is_zero(self.friction))

    @property
    def acts(self) -> bool:
        """Whether there is any."""
        return self.dissipates or not (is_zero(self.stiffness) and is_zero(self.armature))


NONE = Resistance()
