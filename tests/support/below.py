"""Computes the outputs of a function from more basic functions, from poses of links up to second derivatives.

The poses of the links follow from the description, by rotation matrices. Jacobians, velocities and
accelerations of frames are finite differences of poses. Torques are sums of the Newton-Euler equations of all
links. All other outputs follow from torques, energies and Jacobians, and derivatives are finite differences
of their functions. No step of an algorithm of the package is repeated: a function is only compared with
textbook forms of others.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from support.forms import FunctionForm, relative_error, run_on_floats

from rbdgen.description.schema import Joint
from rbdgen.functions.function import Function
from rbdgen.functions.kinematics.columns import CONVENTIONS
from rbdgen.functions.table import lookup
from rbdgen.model.build import Robot
from rbdgen.model.inertial_parameters import ENTRIES

Array = NDArray[np.float64]
Inputs = Mapping[str, Array]

STENCIL: Final = ((1, 8 / 12), (-1, -8 / 12), (2, -1 / 12), (-2, 1 / 12))
"""The steps and weights of central differences of fourth order."""

STEP: Final = 5e-4


class Below:
    """The functions of a robot at some states, in their textbook forms."""

    def __init__(self, robot: Robot, inputs: Inputs) -> None:
        self.robot, self.model, self.inputs = robot, robot.model, inputs
        self._known: dict[str, tuple[Array, ...]] = {}

    def all(self, name: str, inputs: Inputs | None = None) -> tuple[Array, ...]:
        """The outputs of a function."""
        if inputs is not None:
            return self._run(name, inputs)
        if name not in self._known:
            self._known[name] = self._run(name, self.inputs)
        return self._known[name]

    def __call__(self, name: str, **changed: Array) -> Any:
        """The output of a function, or the outputs if it has several."""
        flat = {x: values.reshape(len(values), -1) for x, values in changed.items()}
        found = self.all(name, {**self.inputs, **flat} if changed else None)
        if len(found) == 1:
            return found[0]
        names = (
            [y.name for y in lookup(name, self.model).signature.outputs] if name != "poses" else ["R", "p"]
        )
        return namedtuple(name, names)(*found)

    @property
    def shaped(self) -> Inputs:
        """The inputs as identities take them."""
        bodies = self.inputs["fext"].reshape(len(self.inputs["fext"]), -1, 6)
        return {**self.inputs, "fext": bodies}

    def _run(self, name: str, inputs: Inputs) -> tuple[Array, ...]:
        if name == "poses":
            return poses(self.robot, inputs["q"])
        row = lookup(name, self.model)
        return tuple(run_on_floats(FunctionForm(row, row.forms_for(self.model)[0]), self.model, inputs))

    def along(self, name: str, directions: Mapping[str, Array]) -> list[Array]:
        """Derivatives of the outputs along directions (D, states, size) of inputs: (D, states, ...)."""
        first = next(iter(directions.values()))
        count, states = first.shape[:2]
        leading = (len(STENCIL), count, states)
        at = {x: np.broadcast_to(values, (*leading, values.shape[-1])) for x, values in self.inputs.items()}
        scale = STEP * np.array([k for k, _ in STENCIL])[:, None, None, None]
        for x, direction in directions.items():
            if x in ("q", "q0", "q1"):
                at[x] = self.model.manifold.integrate(at[x], scale * direction)
            else:
                at[x] = at[x] + scale * direction
        rows = {x: values.reshape(-1, values.shape[-1]) for x, values in at.items()}
        weights = np.array([w for _, w in STENCIL]) / STEP
        here = self.all(name)
        kinds = [] if name == "poses" else [y.kind for y in lookup(name, self.model).signature.outputs]
        found = []
        for k, y in enumerate(self._run(name, rows)):
            values = y.reshape(*leading, *y.shape[1:])
            if kinds and kinds[k] == "configuration":
                values = self.model.manifold.difference(here[k], values)
            found.append(np.einsum("s,s...->...", weights, values))
        return found

    def by(self, name: str, variable: str, size: int | None = None) -> list[Array]:
        """Derivatives of the outputs by an input, q in its tangent space: (states, ..., size)."""
        states = len(self.inputs["q"])
        n = size or (self.model.sizes["nv"] if variable[0] == "q" else self.inputs[variable].shape[-1])
        directions = np.repeat(np.eye(n)[:, None], states, axis=1)
        return [np.moveaxis(y, 0, -1) for y in self.along(name, {variable: directions})]

    def rate(self, name: str, **directions: Array) -> list[Array]:
        """The rates of the outputs at these rates of inputs."""
        return [y[0] for y in self.along(name, {x: rate[None] for x, rate in directions.items()})]


# ---- where links stand, by the description of a chain


def poses(robot: Robot, q: Array) -> tuple[Array, Array]:
    """R (states, links, 3, 3) and p (states, links, 3) of the links that move, down the chain."""
    joints = list(robot.model.manifold.joints)
    R, p = np.broadcast_to(np.eye(3), (len(q), 3, 3)), np.zeros((len(q), 3))
    found: list[tuple[Array, Array]] = []
    if robot.base == "floating":
        base, *joints = joints
        own = q[:, base.idx_q : base.idx_q + base.nq]
        R, p = rotation(own[:, 3:]), own[:, :3]
        found.append((R, p))
    position: dict[str, Array] = {}
    for joint in robot.description.joints:
        R, p = R @ turned(joint.origin.rpy), p + R @ np.array(joint.origin.xyz)
        for kind, axis in parts(joint):
            if joint.mimic is not None:
                own = joint.mimic.multiplier * position[joint.mimic.joint] + joint.mimic.offset
            else:
                place, *joints = joints
                own = q[:, place.idx_q : place.idx_q + place.nq]
            position[joint.name] = own
            turn, slide = moved(kind, axis, joint.pitch, own)
            p, R = p + (R @ slide[..., None])[..., 0], R @ turn
        found.append((R, p))
    return np.stack([R for R, _ in found], axis=1), np.stack([p for _, p in found], axis=1)


def parts(joint: Joint) -> list[tuple[str, Array]]:
    """The types and axes of a joint in series: a universal joint is two revolute ones."""
    if joint.type == "universal":
        return [("revolute", np.array(joint.axis)), ("revolute", np.array(joint.second_axis))]
    return [(joint.type, np.array(joint.axis))]


def moved(kind: str, axis: Array, pitch: float, q: Array) -> tuple[Array, Array]:
    """The rotation and the displacement, in the axes before it, of a joint at a position."""
    still = np.zeros((len(q), 3))
    if kind in ("revolute", "continuous", "helical"):
        return about(axis, q[:, 0]), (pitch * q if kind == "helical" else 0 * q) * axis
    if kind == "prismatic":
        return np.broadcast_to(np.eye(3), (len(q), 3, 3)), q * axis
    if kind == "planar":
        return about(np.array([0.0, 0, 1]), q[:, 2]), still + np.pad(q[:, :2], ((0, 0), (0, 1)))
    if kind == "spherical":
        return rotation(q), still
    assert kind == "floating", kind
    return rotation(q[:, 3:]), q[:, :3]


def about(axis: Array, angle: Array) -> Array:
    """Rodrigues' formula."""
    K = crossed(axis)
    return np.asarray(
        np.eye(3) + np.sin(angle)[:, None, None] * K + (1 - np.cos(angle))[:, None, None] * (K @ K)
    )


def rotation(quaternion: Array) -> Array:
    """The rotation matrix of a unit quaternion x y z w."""
    u, w = quaternion[:, :3], quaternion[:, 3]
    K = crossed(u)
    return np.asarray(np.eye(3) + 2 * w[:, None, None] * K + 2 * K @ K)


def turned(rpy: Sequence[float]) -> Array:
    """The rotation about the fixed x, then y, then z axis."""
    x, y, z = (about(e, np.array([angle]))[0] for e, angle in zip(np.eye(3), rpy, strict=True))
    return np.asarray(z @ y @ x)


def crossed(v: Array) -> Array:
    """The matrix of v x."""
    return np.cross(v[..., None, :], np.eye(3)).swapaxes(-1, -2)


def axial(S: Array) -> Array:
    """The axial vector of the skew-symmetric part of a matrix."""
    return (
        np.stack([S[..., 2, 1] - S[..., 1, 2], S[..., 0, 2] - S[..., 2, 0], S[..., 1, 0] - S[..., 0, 1]], -1)
        / 2
    )


# ---- frames, all of them at the links that move


def frames(f: Below) -> tuple[Array, Array]:
    """The poses of the frames."""
    return f("poses")


def twists(dR: Array, dp: Array, R: Array) -> Array:
    """Motions (..., 6) in convention aligned, from changes of poses."""
    return np.concatenate([dp, axial(dR @ R.swapaxes(-1, -2))], axis=-1)


def aligned_jacobian(f: Below) -> Array:
    """(states, links, 6, nv)."""
    R, _ = frames(f)
    dR, dp = f.by("poses", "q")
    return np.moveaxis(twists(np.moveaxis(dR, -1, 0), np.moveaxis(dp, -1, 0), R), 0, -1)


def seen(f: Below, convention: str) -> Array:
    """The matrices (states, links, 6, 6) from aligned motions to those of a convention."""
    R, p = frames(f)
    X = np.zeros((*p.shape[:2], 6, 6))
    turn = R.swapaxes(-1, -2) if convention == "local" else np.broadcast_to(np.eye(3), R.shape)
    X[..., :3, :3] = X[..., 3:, 3:] = turn
    if convention == "world":
        X[..., :3, 3:] = crossed(p)
    return X


def velocity(f: Below, convention: str) -> Array:
    dR, dp = f.rate("poses", q=f.inputs["v"])
    return times(seen(f, convention), twists(dR, dp, frames(f)[0]))


def acceleration(f: Below, convention: str) -> Array:
    """The spatial acceleration; for convention aligned, the local one is rotated."""
    if convention == "aligned":
        return times(np.linalg.inv(seen(f, "local")), acceleration(f, "local"))
    (A,) = f.rate(f"frame_velocity_{convention}", q=f.inputs["v"], v=f.inputs["a"])
    return A


def classical(f: Below, convention: str) -> Array:
    """The classical acceleration: the spatial one with omega x v added to the linear part."""
    A, V = acceleration(f, convention).copy(), velocity(f, convention)
    A[..., :3] += np.cross(V[..., 3:], V[..., :3])
    return A


def drift(f: Below, convention: str) -> Array:
    kind = "classical_acceleration" if convention == "aligned" else "acceleration"
    return np.asarray(f(f"frame_{kind}_{convention}", a=0 * f.inputs["a"]))


def times(A: Array, x: Array) -> Array:
    return np.asarray((A @ x[..., None])[..., 0])


# ---- dynamics, a sum over links


class Solid:
    """A link: its ten parameters about its frame."""

    def __init__(self, ten: Array) -> None:
        self.mass, self.first, self.J = ten[0], ten[1:4], np.zeros((3, 3))
        for (i, j), value in zip(ENTRIES, ten[4:], strict=True):
            self.J[i, j] = self.J[j, i] = value


def tens(robot: Robot) -> list[Array]:
    """The ten parameters of the moving links, in order."""
    moving = {x.link for x in robot.attachments if x.body >= 0}
    found = []
    for link in robot.description.links:
        if link.name not in moving:
            continue
        x = link.inertial
        assert x is not None
        assert x.origin.rpy == (0, 0, 0)
        J = np.array([[x.ixx, x.ixy, x.ixz], [x.ixy, x.iyy, x.iyz], [x.ixz, x.iyz, x.izz]])
        c = np.array(x.origin.xyz)
        J = J + x.mass * (c @ c * np.eye(3) - np.outer(c, c))
        found.append(np.array([x.mass, *(x.mass * c), *(J[i, j] for i, j in ENTRIES)]))
    return found


def wrench(solid: Solid, V: Array, A: Array, up: Array) -> Array:
    """The wrench on a link for local spatial V and A, in its frame; `up` is minus gravity in its axes."""
    v, w = V[..., :3], V[..., 3:]
    dv, dw = A[..., :3] + np.cross(w, v) + up, A[..., 3:]
    h, J = solid.first, solid.J
    force = solid.mass * dv + np.cross(dw, h) + np.cross(w, np.cross(w, h))
    moment = dw @ J + np.cross(w, w @ J) + np.cross(h, dv)
    return np.concatenate([force, moment], axis=-1)


def local_motions(f: Below, a: Array) -> tuple[Array, Array, Array, Array]:
    """V, A and minus gravity (states, links, ...), and J, all local."""
    R, _ = frames(f)
    up = -np.array([float(x) for x in f.model.gravity]) @ R
    A = np.asarray(f("frame_acceleration_local", a=a))
    return np.asarray(f("frame_velocity_local")), A, up, np.asarray(f("frame_jacobian_local"))


def torques(f: Below, links: Sequence[Array]) -> Array:
    """The torques for these links, without joint resistance."""
    V, A, up, J = local_motions(f, f.inputs["a"])
    wrenches = [wrench(Solid(ten), V[:, k], A[:, k], up[:, k]) for k, ten in enumerate(links)]
    return np.asarray(np.einsum("slik,sli->sk", J, np.stack(wrenches, axis=1)))


def regressor(f: Below) -> Array:
    """The regressor, column by column."""
    count = len(tens(f.robot))
    columns = []
    for k in range(10 * count):
        unit = np.eye(10 * count)[k].reshape(count, 10)
        columns.append(torques(f, list(unit)))
    return np.stack(columns, axis=-1)


def energies(f: Below, links: Sequence[Array]) -> tuple[Array, Array]:
    """The kinetic and potential energy of links, without springs and rotors."""
    R, p = frames(f)
    V, g = velocity(f, "local"), np.array([float(x) for x in f.model.gravity])
    T, U = np.zeros(len(p)), np.zeros(len(p))
    for k, ten in enumerate(links):
        solid, v, w = Solid(ten), V[:, k, :3], V[:, k, 3:]
        own = np.einsum("si,ij,sj->s", w, solid.J, w) + solid.mass * (v * v).sum(-1)
        T += own / 2 + (v * np.cross(w, solid.first)).sum(-1)
        U -= (solid.mass * p[:, k] + times(R[:, k], np.broadcast_to(solid.first, p[:, k].shape))) @ g
    return T, U


def energy_regressor(f: Below, which: int) -> Array:
    count = len(tens(f.robot))
    units = np.eye(10 * count).reshape(-1, count, 10)
    return np.stack([energies(f, list(unit))[which] for unit in units], axis=-1)


class Joints:
    """The joint resistance of every degree of freedom."""

    def __init__(self, f: Below) -> None:
        self.f, x = f, f.inputs
        zero = np.zeros((len(x["q"]), f.model.sizes["nv"]))
        self.torque, self.spring, self.rotors = zero.copy(), zero.copy(), zero.copy()
        self.kinetic, self.potential = zero[:, 0].copy(), zero[:, 0].copy()
        places = list(f.model.manifold.joints)[1 if f.robot.base == "floating" else 0 :]
        known: dict[str, Any] = {}
        for joint in f.robot.description.joints:
            for _ in parts(joint):
                k, c = (1.0, 0.0) if joint.mimic is None else (joint.mimic.multiplier, joint.mimic.offset)
                if joint.mimic is None:
                    known[joint.name], *places = places
                self._add(joint, known[joint.mimic.joint if joint.mimic else joint.name], k, c)

    def _add(self, joint: Joint, place: Any, k: float, c: float) -> None:
        x, use = self.f.inputs, self.f.robot.dissipation
        for at in range(place.idx_v, place.idx_v + place.nv):
            v, a = (k * x[name][:, at] if name in x else 0.0 for name in "va")
            damping = joint.damping if use.damping else 0.0
            speed = np.sqrt(v * v + use.friction[1] ** 2) if isinstance(use.friction, tuple) else abs(v)
            way = v / speed if joint.friction and use.friction else 0.0
            stretch = k * x["q"][:, place.idx_q] + c - joint.spring_reference
            pull = joint.stiffness * stretch
            self.spring[:, at] += k * pull
            self.torque[:, at] += k * (damping * v + joint.friction * way + pull)
            self.rotors[:, at] += k * joint.armature * a
            self.kinetic += joint.armature * v * v / 2
            self.potential += pull * stretch / 2


def rnea(f: Below) -> Array:
    joints = Joints(f)
    return torques(f, tens(f.robot)) + joints.torque + joints.rotors


def pushed(f: Below) -> Array:
    """J^T fext for forces in the links' frames."""
    J, fext = np.asarray(f("frame_jacobian_local")), f.inputs["fext"]
    return np.asarray(np.einsum("slik,sli->sk", J, fext.reshape(len(J), -1, 6)))


# ---- momentum and the centre of mass


def center(f: Below) -> Array:
    R, p = frames(f)
    links = tens(f.robot)
    total = sum(ten[0] * p[:, k] + R[:, k] @ ten[1:4] for k, ten in enumerate(links))
    return np.asarray(total / sum(ten[0] for ten in links))


def momentum(f: Below) -> Array:
    """The momentum: linear, then angular about the centre of mass, in world axes."""
    (R, p), V, c = frames(f), velocity(f, "local"), center(f)
    found = np.zeros((len(p), 6))
    for k, ten in enumerate(tens(f.robot)):
        solid, v, w = Solid(ten), V[:, k, :3], V[:, k, 3:]
        own = times(R[:, k], solid.mass * v + np.cross(w, solid.first))
        found[:, :3] += own
        found[:, 3:] += times(R[:, k], w @ solid.J + np.cross(solid.first, v)) + np.cross(p[:, k] - c, own)
    return found


# ---- contacts, none a loop


def held(f: Below) -> tuple[list[int], Array]:
    """The links with contacts, by their numbers among moving links, and the points of contact in their
    axes."""
    visible = list(f.model.visible)
    ends = [contact.first for contact in f.model.contacts]
    points = [[float(x) for x in end.placement.translation] for end in ends]
    return [visible.index(end.body) for end in ends], np.array(points)


def contact_pose(f: Below) -> list[Array]:
    (R, p), (links, points) = frames(f), held(f)
    return [p[:, links] + times(R[:, links], np.broadcast_to(points, (len(p), *points.shape))), R[:, links]]


def contact_rows(f: Below, jacobian: Array) -> Array:
    """Rows of contacts from those of aligned motions (states, links, 6, ...) of the links."""
    R, _ = frames(f)
    rows = []
    for link, point, contact in zip(*held(f), f.model.contacts, strict=True):
        own, arm = jacobian[:, link], R[:, link] @ point
        linear = own[:, :3] - np.einsum("sij,sj...->si...", crossed(arm), own[:, 3:])
        rows += [linear, own[:, 3:]][: contact.rows // 3]
    return np.concatenate(rows, axis=1)


def contact_motion(f: Below) -> list[Array]:
    v = f.inputs["v"]
    (change,) = f.rate("contact_jacobian", q=v)
    return [contact_rows(f, velocity(f, "aligned")), times(change, v)]


# ---- the table

Expected = Callable[[Below], Sequence[Any]]


def _derivatives(of: str, *inputs: str) -> Expected:
    """The derivatives of every output by every input."""

    def found(f: Below) -> list[Array]:
        slopes = [f.by(of, x) for x in inputs]
        return [slope[k] for k in range(len(slopes[0])) for slope in slopes]

    return found


def _second(f: Below, of: str, last: str) -> list[Array]:
    by_q, by_v = f.by(of, "q"), f.by(of, "v")
    qlast = by_q[2] if last == "a" else by_q[2].swapaxes(2, 3)
    return [by_q[0], by_v[0], by_v[1], qlast]


def _integrated(f: Below) -> list[Array]:
    return [f.model.manifold.integrate(f.inputs["q"], f.inputs["v"])]


def _difference(f: Below) -> list[Array]:
    return [f.model.manifold.difference(f.inputs["q0"], f.inputs["q1"])]


def _step(f: Below) -> list[Array]:
    x = f.inputs
    v = x["v"] + x["dt"] * f("aba")
    return [f.model.manifold.integrate(x["q"], x["dt"] * v), v]


def _step_rk4(f: Below) -> list[Array]:
    """Many small steps of the midpoint rule, extrapolated.

    The error of RK4 is of the fourth power of dt, and that of the midpoint rule of the square of its small
    step.
    """
    x = f.inputs

    def arrived(count: int) -> tuple[Array, Array]:
        q, v, h = x["q"], x["v"], x["dt"] / count
        for _ in range(count):
            a = f("aba", q=q, v=v)
            middle = f.model.manifold.integrate(q, h / 2 * v)
            half = v + h / 2 * a
            q, v = f.model.manifold.integrate(q, h * half), v + h * f("aba", q=middle, v=half)
        return q, v

    (coarse_q, coarse_v), (q, v) = arrived(4), arrived(8)
    ahead = f.model.manifold.difference(coarse_q, q) / 3
    return [f.model.manifold.integrate(q, ahead), v + (v - coarse_v) / 3]


def _step_derivatives(f: Below) -> list[Array]:
    by = [f.by("step", x) for x in ("q", "v", "tau")]
    A = np.concatenate([np.concatenate([x[k] for x in by[:2]], axis=2) for k in (0, 1)], axis=1)
    return [A, np.concatenate(by[2], axis=1)]


def _to_world(f: Below) -> Array:
    """The matrix that rotates the base's rows from its own axes to world axes."""
    T = np.broadcast_to(np.eye(f.model.sizes["nv"]), (len(f.inputs["q"]), *(f.model.sizes["nv"],) * 2)).copy()
    T[:, :3, :3] = T[:, 3:6, 3:6] = frames(f)[0][:, 0]
    return T


def _nle_world(f: Below) -> list[Array]:
    """Nonlinear effects with a base velocity that is constant in world axes, so that in base axes it rotates
    back."""
    v, a = f.inputs["v"], np.zeros_like(f.inputs["v"])
    a[:, :3] = np.cross(v[:, :3], v[:, 3:6])
    return [times(_to_world(f), f("rnea", a=a))]


def _base_regressor(f: Below) -> list[Array]:
    """The independent columns of Y, of which the others are combinations."""
    basis = lookup("regressor_base", f.model).basis
    assert basis is not None
    Y, chosen = f("regressor"), basis(f.model)
    Yb = Y[..., list(chosen.columns)]
    assert relative_error(Yb @ np.array(chosen.matrix, float), Y, floor=1.0) < 1e-9
    return [Yb]


def _of_frames(c: str) -> dict[str, Expected]:
    return {
        f"frame_velocity_{c}": lambda f: [velocity(f, c)],
        f"frame_acceleration_{c}": lambda f: [acceleration(f, c)],
        f"frame_classical_acceleration_{c}": lambda f: [classical(f, c)],
        f"frame_jacobian_{c}": lambda f: [seen(f, c) @ aligned_jacobian(f)],
        f"frame_jacobian_rate_{c}": lambda f: f.rate(f"frame_jacobian_{c}", q=f.inputs["v"]),
        f"frame_drift_{c}": lambda f: [drift(f, c)],
        f"frame_velocity_derivatives_{c}": _derivatives(f"frame_velocity_{c}", "q", "v"),
        f"frame_acceleration_derivatives_{c}": _derivatives(f"frame_acceleration_{c}", "q", "v", "a"),
    }


EXPECTED: Final[Mapping[str, Expected]] = {
    "frame_placement": frames,
    **{name: row for c in CONVENTIONS for name, row in _of_frames(c).items()},
    "rnea": lambda f: [rnea(f)],
    "nle": lambda f: [f("rnea", a=0 * f.inputs["a"])],
    "gravity": lambda f: [f("rnea", v=0 * f.inputs["v"], a=0 * f.inputs["a"])],
    "crba": lambda f: f.by("rnea", "a"),
    "minv": lambda f: [np.linalg.inv(f("crba"))],
    "aba": lambda f: [times(np.linalg.inv(f("crba")), f.inputs["tau"] - f("nle"))],
    "rnea_fext": lambda f: [f("rnea") - pushed(f)],
    "aba_fext": lambda f: [f("aba", tau=f.inputs["tau"] + pushed(f))],
    "rnea_derivatives": _derivatives("rnea", "q", "v", "a"),
    "aba_derivatives": _derivatives("aba", "q", "v", "tau"),
    "rnea_fext_derivatives": _derivatives("rnea_fext", "q", "v", "a", "fext"),
    "aba_fext_derivatives": _derivatives("aba_fext", "q", "v", "tau", "fext"),
    "kinetic_energy": lambda f: [energies(f, tens(f.robot))[0] + Joints(f).kinetic],
    "potential_energy": lambda f: [energies(f, tens(f.robot))[1] + Joints(f).potential],
    "com": lambda f: [center(f)],
    "com_velocity": lambda f: f.rate("com", q=f.inputs["v"]),
    "com_acceleration": lambda f: f.rate("com_velocity", q=f.inputs["v"], v=f.inputs["a"]),
    "com_jacobian": lambda f: f.by("com", "q"),
    "centroidal_momentum": lambda f: [momentum(f)],
    "centroidal_matrix": lambda f: f.by("centroidal_momentum", "v"),
    "centroidal_matrix_rate": lambda f: f.rate("centroidal_matrix", q=f.inputs["v"]),
    "regressor": lambda f: [regressor(f)],
    "regressor_base": _base_regressor,
    "kinetic_regressor": lambda f: [energy_regressor(f, 0)],
    "potential_regressor": lambda f: [energy_regressor(f, 1)],
    "rnea_second": lambda f: _second(f, "rnea_derivatives", "a"),
    "aba_second": lambda f: _second(f, "aba_derivatives", "tau"),
    "integrate": _integrated,
    "difference": _difference,
    "integrate_derivatives": _derivatives("integrate", "q", "v"),
    "difference_derivatives": _derivatives("difference", "q0", "q1"),
    "step": _step,
    "step_rk4": _step_rk4,
    "step_derivatives": _step_derivatives,
    "crba_world": lambda f: [_to_world(f) @ f("crba") @ _to_world(f).swapaxes(1, 2)],
    "nle_world": _nle_world,
    "contact_pose": contact_pose,
    "contact_jacobian": lambda f: [contact_rows(f, aligned_jacobian(f))],
    "contact_motion": contact_motion,
    "contact_aba_derivatives": _derivatives("contact_aba", "q", "v", "tau"),
    "contact_aba_derivatives_held": _derivatives("contact_aba_held", "q", "v", "tau"),
}
"""The expected outputs by function. Functions of contacts that are missing are checked by the dense equations
of their rows, from M, J, the drift and `nle`."""


def expected(f: Below, row: Function) -> list[Array]:
    """The outputs of a function from more basic ones; empty for functions that only identities check."""
    if row.name in EXPECTED:
        return list(EXPECTED[row.name](f))
    if row.projected is None:
        assert row.identities, row.name
        return []
    found = row.projected(f, {**f.inputs, "contacts": f.model.contacts})
    return list(found) if isinstance(found, tuple) else [found]
