"""A biped squats on two feet by low-gain PD control, with and without inverse dynamics for its contacts.

    python examples/biped/squat.py            prints tracking errors, with those of the paper
    python examples/biped/squat.py FOLDER     writes them there, with plots; needs pip install 'rbdgen[plot]'

It repeats the experiments of Nakanishi, Mistry and Schaal, Inverse Dynamics Control with Floating Base and
Constraints, ICRA 2007, section IV, at 1 kHz. Robot, controller and simulation are generated functions. There
are three control laws:

    PD alone        tau = PD
    equation 17     tau = PD + contact_control: the contact forces are those of the previous sample's torques
    least forces    tau = PD + contact_rnea_least: the contact forces are the smallest that support the robot

Equation 17 has a memory, in which a torque of the ankles decays with a time constant of 1.3 s on this robot.
The PD torques enter this memory, so the damping of the ankles must be more than 1.3 s times their stiffness;
otherwise the motion diverges.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from biped import SOLES, biped

import rbdgen
from rbdgen.runtime import Library

Array = npt.NDArray[np.float64]

STEP, SECONDS = 1e-3, 5.0
"""The time step of controller and simulation, and the duration of each movement, in s."""

BASE = 6

FUNCTIONS = [
    "contact_pose",
    "contact_jacobian",
    "contact_motion",
    "contact_aba_held",
    "contact_control",
    "contact_rnea_least",
]

LAWS = {
    "PD alone": (None, 1.0),
    "equation 17": ("contact_control", 1.0),
    "equation 17, masses +10 %": ("contact_control", 1.1),
    "least forces": ("contact_rnea_least", 1.0),
    "least forces, masses +10 %": ("contact_rnea_least", 1.1),
}
"""The function that each law adds to PD, and the factor on the masses of its model."""

MU, SHARE = 1e-8, [1, 0.01, 1, 0.01]
"""The compliance of contacts in equation 17; the weights of forces and moments of both feet in least
forces."""

HOLD = [2500.0, 100.0]
"""The gains with which the simulation pulls the feet to their anchors, 1/s^2 and 1/s."""

GAINS = {
    "hip_yaw": (100, 3),
    "hip_roll": (250, 50),
    "hip_pitch": (250, 50),
    "knee": (250, 50),
    "ankle_pitch": (250, 400),
    "ankle_roll": (100, 3),
    "ankle_yaw": (100, 1),
    "torso_pitch": (100, 3),
    "torso_roll": (100, 3),
}
"""The stiffness in N m/rad and damping in N m s/rad of the PD control."""

TASK_GAINS = np.array([110.0, 110.0, 180.0]), np.array([20.0, 20.0, 20.0])
"""The gains of the pelvis in N m/m and N m s/m; a pseudoinverse of the task's Jacobian turns them into
torques."""

CROUCH, AMPLITUDE, STROKE = 0.5, 0.2, 0.04
"""The initial angle of hips and ankles and its amplitude, rad (those of the knees are twice as large); the
stroke of the pelvis, m."""

PAPER = {
    "squat, 1 Hz, rad": (1.82e-1, 1.40e-2),
    "squat, 2 Hz, rad": (2.04e-1, 1.63e-2),
    "pelvis, 1 Hz, m": (8.60e-2, 3.81e-3),
}
"""The errors in the paper, without and with inverse dynamics."""


class Command(NamedTuple):
    """The output of a controller, one row per law: PD torques, and desired accelerations of joints."""

    feedback: Array
    wanted: Array


class Robot:
    """The biped with its generated functions."""

    def __init__(self, build: Callable[..., Library] = rbdgen.build) -> None:
        robot = rbdgen.load_robot(biped(), base="floating", contacts=SOLES)
        self.model, self.lib = robot.model, build(robot, FUNCTIONS)
        self.joint_names = robot.joint_names
        names = [name.removeprefix("left_").removeprefix("right_") for name in robot.joint_names]
        self.stiffness, self.damping = np.array([GAINS[name] for name in names], float).T
        bend = {"hip_pitch": -1.0, "knee": 2.0, "ankle_pitch": -1.0}
        self.bend = np.array([bend.get(name, 0.0) for name in names])
        """The direction of a squat in joint space: soles and pelvis stay level if thighs are as long as
        shanks."""

    def standing(self, joints: Array) -> Array:
        """The configuration with these joints and the left sole below the pelvis, on the ground."""
        q = np.concatenate([self.lib.neutral()[:7], joints])
        sole = self.lib.contact_pose(q)[0][0]
        q[[0, 2]] -= sole[[0, 2]]
        return q

    def feedforward(self, q: Array, v: Array, wanted: Array, before: Array) -> Array:
        """The torques of every law without PD, one row per law; `before` are the torques of the previous
        sample.

        Torques and forces are proportional to masses, so a law with larger masses in its model is the same
        law in other units of force.
        """
        tau = np.zeros_like(before)
        for k, (name, scale) in enumerate(LAWS.values()):
            if name == "contact_control":
                memory = before[k] / scale
                tau[k] = scale * self.lib.contact_control(q[k], v[k], wanted[k], memory, [1, 1], [MU])[0]
            elif name:
                tau[k] = scale * self.lib.contact_rnea_least(q[k], v[k], wanted[k], SHARE)[0]
        return tau

    def simulated(
        self, start: Array, command: Callable[[float, Array, Array], Command], seconds: float
    ) -> Array:
        """Simulates all laws from rest, and returns q over time: (samples, laws, nq)."""
        lib, laws = self.lib, len(LAWS)
        q, v = np.tile(start, (laws, 1)), np.zeros((laws, lib.manifold.nv))
        position, rotation = lib.contact_pose(start)
        anchor = np.hstack([position, rotation.reshape(len(position), 9)]).ravel()
        tau = lib.contact_rnea_least(q, v, 0 * v[:, BASE:], np.tile(SHARE, (laws, 1)))[0]
        path = np.empty((round(seconds / STEP), laws, lib.manifold.nq))
        for k in range(len(path)):
            path[k] = q
            feedback, wanted = command(k * STEP, q, v)
            tau = feedback + self.feedforward(q, v, wanted, tau)
            applied = np.hstack([np.zeros((laws, BASE)), tau])
            a, _ = lib.contact_aba_held(
                q,
                v,
                applied,
                np.ones((laws, 2)),
                np.zeros((laws, 1)),
                np.tile(HOLD, (laws, 1)),
                np.tile(anchor, (laws, 1)),
            )
            q, v = lib.integrate(q, STEP * (v + STEP / 2 * a)), v + STEP * a
        return path


def wave(frequency: float, t: float | Array) -> tuple[Array, Array, Array]:
    """1 - cos of a frequency over time, with its first and second derivatives."""
    w = 2 * np.pi * frequency
    return 1 - np.cos(w * t), w * np.sin(w * t), w**2 * np.cos(w * t)


def squat(robot: Robot, frequency: float, seconds: float) -> tuple[Array, Array]:
    """The joints follow sines. Returns the desired joints (samples, joints), and those of all laws."""

    def desired(t: float) -> list[Array]:
        rise, rate, acceleration = (AMPLITUDE * x for x in wave(frequency, t))
        return [robot.bend * x for x in (CROUCH - AMPLITUDE + rise, rate, acceleration)]

    def command(t: float, q: Array, v: Array) -> Command:
        position, rate, acceleration = desired(t)
        feedback = robot.stiffness * (position - q[:, 7:]) + robot.damping * (rate - v[:, BASE:])
        return Command(feedback, np.tile(acceleration, (len(q), 1)))

    path = robot.simulated(robot.standing(desired(0.0)[0]), command, seconds)
    times = STEP * np.arange(len(path))
    return np.array([desired(t)[0] for t in times]), path[..., 7:]


def pelvis(robot: Robot, frequency: float, seconds: float) -> tuple[Array, Array]:
    """The pelvis follows a sine, by equations 31 to 33.

    Returns the desired positions (samples, 3), and those of all laws. Two misprints are corrected: equation
    31 lacks the dot of dJ/dt, and equations 32 and 33 have a minus before the posture's term, which would
    push away from the posture.
    """
    lib, start = robot.lib, robot.standing(CROUCH * robot.bend)
    joint_gains, task_gains = (robot.stiffness, robot.damping), TASK_GAINS

    def desired(t: float) -> tuple[Array, Array, Array]:
        down, rate, acceleration = (-STROKE * np.array([0, 0, x]) for x in wave(frequency, t))
        return start[:3] + down, rate, acceleration

    def command(t: float, q: Array, v: Array) -> Command:
        x, rate, acceleration = desired(t)
        J, (_, drift) = lib.contact_jacobian(q), lib.contact_motion(q, v)
        R = rotation(q[:, 3:7])
        held = -np.linalg.pinv(
            J[..., :BASE]
        )  # maps velocities of joints to that of the base while the feet stand
        task = R @ (held @ J[..., BASE:])[:, :3]
        slip = np.cross(v[:, 3:6], v[:, :3])  # added to dv/dt it gives the classical acceleration
        task_drift = product(R, product(held, drift)[:, :3] + slip)
        inverse = np.linalg.pinv(task)
        error, error_rate = x - q[:, :3], rate - product(R, v[:, :3])
        pull = task_gains[0] * error + task_gains[1] * error_rate
        posture = joint_gains[0] * (CROUCH * robot.bend - q[:, 7:]) - joint_gains[1] * v[:, BASE:]
        left = posture - product(inverse, product(task, posture))
        return Command(product(inverse, pull) + left, product(inverse, acceleration - task_drift))

    path = robot.simulated(start, command, seconds)
    times = STEP * np.arange(len(path))
    return np.array([desired(t)[0] for t in times]), path[..., :3]


def product(A: Array, x: Array) -> Array:
    """The products A x, one per row."""
    return np.asarray((A @ x[..., None])[..., 0])


def rotation(quaternion: Array) -> Array:
    """The rotation matrices of unit quaternions (x, y, z, w), one per row."""
    (x, y, z), w = quaternion[:, :3].T, quaternion[:, 3]
    zero = np.zeros_like(w)
    skew = np.array([[zero, -z, y], [z, zero, -x], [-y, x, zero]]).transpose(2, 0, 1)
    return np.asarray(np.eye(3) + 2 * w[:, None, None] * skew + 2 * skew @ skew)


def errors(desired: Array, path: Array) -> Array:
    """The root mean square of the norm of the tracking error, for each law."""
    return np.asarray(np.sqrt(np.mean(np.sum((desired[:, None] - path) ** 2, axis=2), axis=0)))


def table(found: dict[str, Array]) -> str:
    """A table of the errors with those of the paper; in brackets, how many times less than with PD alone."""
    lines = [f"{'tracking error':28}" + "".join(f"{name:>22}" for name in found)]
    for k, law in enumerate(LAWS):
        cells = (f"{x[k]:.2e} ({x[0] / x[k]:.0f})" if k else f"{x[k]:.2e}" for x in found.values())
        lines.append(f"{law:28}" + "".join(f"{cell:>22}" for cell in cells))
    for k, law in enumerate(("without", "with")):
        cells = (
            f"{PAPER[name][k]:.2e}" + (f" ({PAPER[name][0] / PAPER[name][1]:.0f})" if k else "")
            for name in found
        )
        lines.append(f"{f'the paper, {law}':28}" + "".join(f"{cell:>22}" for cell in cells))
    return "\n".join(lines)


def plotted(robot: Robot, runs: dict[str, tuple[Array, Array]], folder: Path) -> None:
    """Writes the plots of the runs into a folder."""
    from plots import plot_pelvis, plot_squat  # noqa: PLC0415  (matplotlib)

    def drawn(path: Array) -> dict[str, Array]:
        return {law: path[:, k] for k, law in enumerate(LAWS) if LAWS[law][0] is None or LAWS[law][1] > 1}

    joints = {part: robot.joint_names.index(f"left_{part}") for part in ("hip_pitch", "knee", "ankle_pitch")}
    desired, path = runs["squat, 2 Hz, rad"]
    plot_squat(folder / "squat.png", STEP, desired, joints, drawn(path))
    desired, path = runs["pelvis, 1 Hz, m"]
    plot_pelvis(folder / "pelvis.png", STEP, desired, drawn(path))


def main() -> None:
    robot = Robot()
    runs = {
        "squat, 1 Hz, rad": squat(robot, 1.0, SECONDS),
        "squat, 2 Hz, rad": squat(robot, 2.0, SECONDS),
        "pelvis, 1 Hz, m": pelvis(robot, 1.0, SECONDS),
    }
    told = table({name: errors(*run) for name, run in runs.items()})
    print(told)
    if len(sys.argv) > 1:
        folder = Path(sys.argv[1])
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "errors.txt").write_text(f"{told}\n", encoding="utf-8")
        plotted(robot, runs, folder)


if __name__ == "__main__":
    main()
