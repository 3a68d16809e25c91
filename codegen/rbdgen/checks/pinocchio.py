"""Pinocchio as a reference: its model from the numbers in a manifest, its results in rbdgen's conventions.

Only `rbdgen check` needs this, and only if Pinocchio is installed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from rbdgen.functions.contacts.pinocchio import UNIVERSE, Held, Place
from rbdgen.functions.function import Function
from rbdgen.functions.table import lookup, sets_of
from rbdgen.runtime.configuration import Manifold
from rbdgen.runtime.space import JointCoordinates
from rbdgen.signature import Kind

Rows = Sequence[Mapping[str, Any]]


def model_of(manifest: Mapping[str, Any]) -> Any:
    """The manifest's bodies as a Pinocchio model."""
    model = pin.Model()
    model.gravity.linear = np.array(manifest["gravity"])
    for body in manifest["bodies"]:
        joint = joint_of(body["kind"], body["axis"], body.get("pitch", 0.0))
        rotation, translation = np.array(body["rotation"]), np.array(body["translation"])
        index = model.addJoint(body["parent"] + 1, joint, pin.SE3(rotation, translation), body["joint"])
        model.appendBodyToJoint(index, _inertia(body), pin.SE3.Identity())
    add_rotors(model, manifest.get("resistance", ()))
    for frame in manifest.get("frames", ()):
        add_frame(model, frame["name"], frame["body"], frame["rotation"], frame["translation"])
    return model


def add_frame(model: Any, name: str, body: int, rotation: Any, translation: Any) -> None:
    """Add a frame to the joint of one of our bodies, or to the world if `body` is -1."""
    placement = pin.SE3(np.array(rotation, float), np.array(translation, float))
    model.addFrame(pin.Frame(name, body + 1, 0, placement, pin.FrameType.OP_FRAME))


def held_by(contacts: Rows, joints: Sequence[int]) -> list[Held]:
    """The contacts of a manifest on Pinocchio's joints, of which each of our bodies has one."""

    def place(end: Mapping[str, Any]) -> Place:
        joint = joints[end["body"]] if end["body"] >= 0 else UNIVERSE
        return Place(joint, pin.SE3(np.array(end["rotation"]), np.array(end["translation"])))

    return [Held(row["name"], row["rows"], [place(end) for end in row["ends"]]) for row in contacts]


def add_rotors(model: Any, resistance: Rows) -> None:
    """Add the inertia of the joints' rotors to the model."""
    armature = np.zeros(model.nv)
    for row in resistance:
        joint = model.joints[model.getJointId(row["joint"])]
        armature[joint.idx_v : joint.idx_v + joint.nv] = row["armature"]
    model.armature = armature


class Resisting(NamedTuple):
    """The terms of joint resistance at a state, except rotors, in the order of Pinocchio's joints."""

    torque: Any
    """The torques of damping, friction and springs."""
    spring: Any
    """The torques of springs alone."""
    slopes: tuple[Any, Any]
    """The derivatives of `torque` with respect to q and v, one number per degree of freedom."""
    energy: float
    """The energy of springs."""


def resisting(model: Any, resistance: Rows, q: Any, v: Any) -> Resisting:
    """The resistance at a state in Pinocchio's order; v = 0 if it is None. `resistance` has the rows of a
    manifest.
    """
    v = np.zeros(model.nv) if v is None else v
    torque, spring, by_q, by_v, energy = (*np.zeros((4, model.nv)), 0.0)
    for row in resistance:
        joint = model.joints[model.getJointId(row["joint"])]
        own, scale = slice(joint.idx_v, joint.idx_v + joint.nv), row["velocity_scale"]
        speed = np.hypot(v[own], scale)
        way = np.sign(v[own]) if scale == 0 else v[own] / speed
        if row["stiffness"] != 0:
            stretch = q[joint.idx_q] - row["reference"]
            spring[own], by_q[own] = row["stiffness"] * stretch, row["stiffness"]
            energy += row["stiffness"] * stretch**2 / 2
        torque[own] = row["damping"] * v[own] + row["friction"] * way + spring[own]
        by_v[own] = row["damping"] + (row["friction"] * scale**2 / speed**3 if scale != 0 else 0.0)
    return Resisting(torque, spring, (by_q, by_v), energy)


def joint_of(kind: str, axis: Sequence[float], pitch: float) -> Any:
    """Pinocchio's joint for a joint type, by its name. `axis` and `pitch` are used if it has them."""
    n = np.array(axis)
    known = {
        "revolute": lambda: pin.JointModelRevoluteUnaligned(n),
        "prismatic": lambda: pin.JointModelPrismaticUnaligned(n),
        "helical": lambda: pin.JointModelHelicalUnaligned(*axis, pitch),
        "planar": pin.JointModelPlanar,
        "spherical": pin.JointModelSpherical,
        "floating": pin.JointModelFreeFlyer,
    }
    return known[kind]()


def configuration_of(model: Any, joints: Sequence[JointCoordinates], q: Any) -> Any:
    """One q in the order of Pinocchio's joints, which are found by name. In it, a planar joint has the cosine
    and the sine of its angle.
    """
    result = np.empty(model.nq)
    for joint in joints:
        theirs, own = model.joints[model.getJointId(joint.name)], q[joint.idx_q : joint.idx_q + joint.nq]
        if joint.kind == "planar":
            own = [*own[:2], np.cos(own[2]), np.sin(own[2])]
        result[theirs.idx_q : theirs.idx_q + theirs.nq] = own
    return result


def _inertia(body: Mapping[str, Any]) -> Any:
    mass, h = body["mass"], np.array(body["first_moment"])
    about_origin = np.array(body["rotational_inertia"])
    if mass == 0:
        return pin.Inertia(0.0, np.zeros(3), about_origin)
    c = h / mass
    return pin.Inertia(mass, c, about_origin + mass * pin.skew(c) @ pin.skew(c))


def reference(
    manifest: Mapping[str, Any], functions: Sequence[Function], inputs: Mapping[str, Any]
) -> dict[str, tuple[Any, ...]]:
    """The outputs of every function by Pinocchio at the states of `inputs`, as arrays over the states.

    Joints that follow others are independent joints in Pinocchio's model; the results are projected.
    """
    robot, sets = _Robot.of(manifest), sets_of(manifest)

    def outputs(function: Function, inputs: Mapping[str, Any]) -> tuple[Any, ...]:
        if not robot.followers or function.projected is None:
            return robot.outputs(function, inputs)

        def call(name: str, **changed: Any) -> Any:
            found = outputs(lookup(name, sets=sets), {**inputs, **changed})
            return found if len(found) > 1 else found[0]

        held = contacts_of(function, robot.contacts)
        found = function.projected(call, {**inputs, "contacts": held})
        return found if isinstance(found, tuple) else (found,)

    return {row.name: outputs(row, inputs) for row in functions if row.pinocchio is not None}


class _Robot(NamedTuple):
    """A manifest's robot."""

    model: Any
    joints: Sequence[JointCoordinates]
    followers: Rows
    """The rows of joints that follow others."""
    bodies: Sequence[int]
    """The joints of the bodies that are not hidden."""
    resistance: Rows
    contacts: Sequence[Held]

    @classmethod
    def of(cls, manifest: Mapping[str, Any]) -> _Robot:
        moving = {body["joint"] for body in manifest["bodies"]}
        return cls(
            model_of(manifest),
            Manifold.of(manifest).joints,
            [row for row in manifest.get("mimic", ()) if row["joint"] in moving],
            [k for k, body in enumerate(manifest["bodies"], 1) if not body.get("hidden")],
            manifest.get("resistance", ()),
            held_by(manifest.get("contacts", ()), range(1, len(manifest["bodies"]) + 1)),
        )

    def spread(self) -> Any:
        """G, from our degrees of freedom to those of Pinocchio's joints."""
        ours = {joint.name: joint for joint in self.joints}
        G = np.zeros((self.model.nv, sum(joint.nv for joint in self.joints)))
        for name, joint in ours.items():
            first = self.model.joints[self.model.getJointId(name)].idx_v
            G[first : first + joint.nv, joint.idx_v : joint.idx_v + joint.nv] = np.eye(joint.nv)
        for row in self.followers:
            theirs = self.model.joints[self.model.getJointId(row["joint"])].idx_v
            G[theirs, ours[row["primary"]].idx_v] = row["multiplier"]
        return G

    def theirs(self, kind: Kind, values: Any) -> Any:
        """One input at one state, in Pinocchio's conventions."""
        if kind == "external_forces":
            return external_forces(values, self.bodies, self.model.njoints)
        if kind == "configuration":
            q = configuration_of(self.model, self.joints, values)
            first = {joint.name: joint.idx_q for joint in self.joints}
            for row in self.followers:  # their offsets are part of the placements
                own = self.model.joints[self.model.getJointId(row["joint"])].idx_q
                q[own] = row["multiplier"] * values[first[row["primary"]]]
            return q
        return self.spread() @ values if self.followers and kind in ("velocity", "acceleration") else values

    def ours(self, kind: Kind, value: Any) -> Any:
        """One output at one state, in our conventions."""
        if kind in ("torque_coefficients", "energy_coefficients"):
            value = value[..., ten_columns(self.bodies)]
        if kind == "by_external_forces":
            value = value[:, [joint - 1 for joint in self.bodies]]
        if not self.followers or kind in ("scalar", "energy_coefficients", "error", "values"):
            return value
        G = self.spread()
        if kind == "columns":
            return value @ G
        return G.T @ value @ G if kind == "matrix" else np.tensordot(G.T, value, 1)

    def outputs(self, function: Function, inputs: Mapping[str, Any]) -> tuple[Any, ...]:
        """The outputs of a function, as arrays over the states."""
        data, rows = self.model.createData(), []
        for k in range(len(next(iter(inputs.values())))):
            state = {x.name: self.theirs(x.kind, inputs[x.name][k]) for x in function.signature.inputs}
            found = outputs_of_state(function, self.model, data, state, self.resistance, self.contacts)
            pairs = zip(function.signature.outputs, found, strict=True)
            rows.append([self.ours(x.kind, value) for x, value in pairs])
        return tuple(np.array(part) for part in zip(*rows, strict=True))


def outputs_of_state(
    function: Function,
    model: Any,
    data: Any,
    state: Mapping[str, Any],
    resistance: Rows = (),
    contacts: Sequence[Held] = (),
) -> list[Any]:
    """The outputs of a function at one state, as one array per output.

    The arrays are copies, because Pinocchio's own would change with the next state.
    """
    assert function.pinocchio is not None
    kinds = {x.kind: state[x.name] for x in function.signature.inputs}
    against = resisting(model, resistance, kinds["configuration"], kinds.get("velocity"))
    held = contacts_of(function, contacts)
    result = function.pinocchio(pin, model, data, {**state, "resistance": against, "contacts": held})
    return [np.array(output, float) for output in (result if isinstance(result, tuple) else (result,))]


def contacts_of(function: Function, contacts: Sequence[Held]) -> Sequence[Held]:
    """The contacts to which a function is restricted."""
    if function.contacts is None:
        return contacts
    return [next(x for x in contacts if x.name == name) for name in function.contacts]


def ten_columns(bodies: Sequence[int]) -> list[int]:
    """The columns of a regressor that belong to these joints."""
    return [10 * (joint - 1) + k for joint in bodies for k in range(10)]


def external_forces(rows: Any, bodies: Sequence[int], count: int) -> Any:
    """One force for each of `count` joints, with the universe first. `bodies` has the joint of every row."""
    forces = pin.StdVec_Force()
    forces.extend([pin.Force.Zero()] * count)
    for joint, row in zip(bodies, rows, strict=True):
        forces[int(joint)] = pin.Force(row)
    return forces
