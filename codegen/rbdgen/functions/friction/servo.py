"""Servos and stops in the joints, which act implicitly.

A servo pulls a joint to a target with the torque kp (target - q) - kd v. If this is evaluated at the end of
the step, at q + dt v_next and v_next, the step stays stable for any gains. With v_next = v + dt a,

    kp (target - q - dt v_next) - kd v_next = tau_s - (dt kd + dt^2 kp) a
    tau_s = kp (target - q - dt v) - kd v

so a servo is a rotor with the inertia dt kd + dt^2 kp and the constant torque tau_s. A stop is a servo that
acts where q + dt v leaves the limits of the joint, with the limit as its target.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from rbdgen.functions.contacts.composite import Robot
from rbdgen.functions.friction.resisted import with_resistances
from rbdgen.functions.resistance import model_of
from rbdgen.model.joints import Joint
from rbdgen.spatial.scalar import Scalar, add, mul, select, sub
from rbdgen.sweeps.inputs import State


@dataclass(frozen=True)
class Servo:
    """A servo of a joint at the beginning of a step."""

    kp: Scalar
    kd: Scalar
    target: Scalar

    def armature(self, dt: Scalar) -> Scalar:
        """The inertia of the rotor that stands for the servo."""
        return mul(dt, add(self.kd, mul(dt, self.kp)))

    def torque(self, reached: Scalar, v: Scalar) -> Scalar:
        """tau_s, where `reached` is q + dt v."""
        return sub(mul(self.kp, sub(self.target, reached)), mul(self.kd, v))


class Served(NamedTuple):
    """A robot with rotors that stand for its servos, and the torques of joints with theirs."""

    robot: Robot
    tau: list[Scalar]


def served(robot: Robot, x: State) -> Served:
    """The robot and its torques with the servos and stops that the inputs of a step describe."""
    model, (dt,), tau = model_of(robot), x.arrays["dt"], list(x.tau)
    each = zip(x.arrays["kp"], x.arrays["kd"], x.arrays["target"], strict=True)
    armatures: dict[int, Scalar] = {}
    joints = [body.joint for body in model.bodies if body.joint.can_have_a_servo]
    for joint, gains in zip(joints, each, strict=True):
        k, v = joint.idx_v, x.v[joint.idx_v]
        reached = add(x.positions[joint.idx_q], mul(dt, v))
        for servo in (Servo(*gains), *_stop(joint, x.arrays["stops"], reached)):
            tau[k] = add(tau[k], servo.torque(reached, v))
            armatures[k] = add(armatures.get(k, joint.resistance.armature), servo.armature(dt))
    resistances = {
        joint.idx_v: replace(joint.resistance, armature=armatures[joint.idx_v]) for joint in joints
    }
    return Served(with_resistances(robot, resistances), tau)


def _stop(joint: Joint, stops: Sequence[Scalar], reached: Scalar) -> list[Servo]:
    """The stops at both limits of a joint, each with gains of 0 where it does not act."""
    (kp, kd), found, limit = stops, list[Servo](), joint.limit
    if limit is not None and limit.lower is not None:
        low = limit.lower
        found.append(Servo(select(reached, low, kp, 0), select(reached, low, kd, 0), low))
    if limit is not None and limit.upper is not None:
        high = limit.upper
        found.append(Servo(select(high, reached, kp, 0), select(high, reached, kd, 0), high))
    return found
