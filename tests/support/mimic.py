"""Random robots with mimic joints, and their functions computed from the robot with all joints
independent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray
from support.forms import FunctionForm, run_on_floats

from rbdgen.description.schema import Description, Joint, Mimic
from rbdgen.functions.function import Function
from rbdgen.functions.table import lookup
from rbdgen.model.build import Base, Robot, build_robot
from rbdgen.model.mimic import Mimics
from rbdgen.model.resistance import Dissipation

Array = NDArray[np.float64]

MULTIPLIERS = (1.0, -1.0, 2.0, -0.5, 0.3, 0.0)
OFFSETS = (0.0, np.pi / 2, 0.4, -1.1)


def with_mimics(description: Description, rng: np.random.Generator) -> Description:
    """The robot with random types for some joints, random resistance, and mimic joints, some of them in
    chains."""
    types = {
        "revolute": ("revolute", "helical", "spherical", "planar"),
        "prismatic": ("prismatic", "helical"),
    }
    joints: list[Joint] = []
    for joint in description.joints:
        kind = (
            str(rng.choice(types[joint.type])) if joint.type in types and rng.random() < 0.4 else joint.type
        )
        joints.append(replace(joint, type=kind, pitch=0.2 if kind == "helical" else 0.0))  # type: ignore[arg-type]
    single = [k for k, x in enumerate(joints) if x.type in ("revolute", "continuous", "prismatic", "helical")]
    rng.shuffle(single)
    for at, k in enumerate(single[1:], 1):
        if rng.random() < 0.6:
            leader = joints[single[rng.integers(at)]].name
            mimic = Mimic(leader, float(rng.choice(MULTIPLIERS)), float(rng.choice(OFFSETS)))
            joints[k] = replace(joints[k], mimic=mimic)
    for k in single:
        d, f, A, K, q0 = (float(x) for x in rng.uniform(0, 2, 5) * rng.integers(0, 2, 5))
        joints[k] = replace(joints[k], damping=d, friction=f, armature=A, stiffness=K, spring_reference=q0)
    return replace(description, joints=tuple(joints))


@dataclass(frozen=True)
class Projection:
    """Projects outputs of a robot with all joints independent to those of the robot with mimic joints.

    NumPy computes tau = G^T ID(S q + c, G v, G a), M = G^T M G and so on.
    """

    coupled: Robot
    free: Robot
    G: Array
    S: Array
    c: Array

    @classmethod
    def of(cls, description: Description, base: Base = "fixed", frames: Sequence[str] = ()) -> Projection:
        losses = Dissipation(damping=True, friction=("smooth", 0.3))
        coupled, free = (
            build_robot(description, base, snap=0.0, dissipation=losses, mimic=mimic, frames=frames)
            for mimic in get_args(Mimics)
        )
        ours = {joint.name: joint for joint in coupled.model.manifold.joints}
        sizes, model = coupled.model.sizes, free.model
        G, S, c = np.zeros((model.nv, sizes["nv"])), np.zeros((model.nq, sizes["nq"])), np.zeros(model.nq)
        for joint in model.manifold.joints:
            name, k, offset = followed(description, joint.name)
            for i in range(joint.nv):
                G[joint.idx_v + i, ours[name].idx_v + i] = k
            for i in range(joint.nq):
                S[joint.idx_q + i, ours[name].idx_q + i] = k
                c[joint.idx_q + i] = offset
        return cls(coupled, free, G, S, c)

    def outputs(self, function: Function, inputs: Mapping[str, Array]) -> list[Array]:
        """The outputs of a function for all states."""
        if function.projected is None:
            return self._folded(function, inputs)

        def call(name: str, **changed: Array) -> Any:
            found = self.outputs(lookup(name), {**inputs, **changed})
            return found[0] if len(found) == 1 else tuple(found)

        found = function.projected(call, {**inputs, "contacts": self.coupled.model.contacts})
        return list(found) if isinstance(found, tuple) else [found]

    def _folded(self, function: Function, inputs: Mapping[str, Array]) -> list[Array]:
        full = dict(inputs)
        for argument in function.signature.inputs:
            x = inputs[argument.name]
            if argument.kind == "configuration":
                full[argument.name] = x @ self.S.T + self.c
            elif argument.kind in ("velocity", "acceleration"):
                full[argument.name] = x @ self.G.T
            elif argument.kind == "external_forces":
                full[argument.name] = self._on_bodies(x)
        textbook = FunctionForm(function, function.forms[0])
        outputs = run_on_floats(textbook, self.free.model, full)
        folds = {
            "force": lambda y: y @ self.G,
            "matrix": lambda y: self.G.T @ y @ self.G,
            "columns": lambda y: y @ self.G,
            "scalar": lambda y: y,
            "values": lambda y: y,
            "torque_coefficients": lambda y: self.G.T @ y[..., self._columns()],
            "by_external_forces": lambda y: np.einsum("ij,kibc->kjbc", self.G, y[:, :, self._bodies()]),
            "energy_coefficients": lambda y: y[..., self._columns()],
        }
        kinds = ("matrix" if x.shape[-2:] == ("nv", "nv") else x.kind for x in function.signature.outputs)
        return [folds[kind](y) for kind, y in zip(kinds, outputs, strict=True)]

    def _bodies(self) -> list[int]:
        """The indices of the bodies that are also bodies of the robot with mimic joints."""
        names = {body.name for body in self.coupled.model.bodies}
        return [k for k, body in enumerate(self.free.model.bodies) if body.name in names]

    def _columns(self) -> list[int]:
        """The columns of the ten inertial parameters of each of these bodies."""
        return [10 * k + column for k in self._bodies() for column in range(10)]

    def _on_bodies(self, fext: Array) -> Array:
        """External forces on all bodies of the robot with all joints independent. A body whose joint is
        constant is part of its parent in the other robot, so its force is 0."""
        rows = {body.name: k for k, body in enumerate(self.coupled.model.bodies)}
        given = fext.reshape(len(fext), -1, 6)
        found = np.zeros((len(fext), self.free.model.nbodies, 6))
        for k, body in enumerate(self.free.model.bodies):
            if body.name in rows:
                found[:, k] = given[:, rows[body.name]]
        return found.reshape(len(fext), -1)


def followed(description: Description, name: str) -> tuple[str, float, float]:
    """The independent joint that a joint follows through any chain, with the multiplier and the offset."""
    mimic = {joint.name: joint.mimic for joint in description.joints}.get(name)
    if mimic is None:
        return name, 1.0, 0.0
    primary, k, c = followed(description, mimic.joint)
    return primary, mimic.multiplier * k, mimic.multiplier * c + mimic.offset
