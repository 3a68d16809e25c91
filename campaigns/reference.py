"""The dynamics of a URDF with 60 decimal digits, computed as simply as possible, to judge other results.

Nothing of rbdgen is used. Links stay as the file has them: fixed joints are not merged, rotations are not
snapped, and every link is one step of the Newton-Euler equations in its own frame. M is the response to unit
accelerations, forward dynamics is a dense elimination, and a derivative is a difference quotient with a step
of 1e-25.

Arrays hold `Decimal`s; the first axis counts the cases (directions of a derivative) that run together.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, getcontext
from typing import Any, Final

import numpy as np

from campaigns.decimals import (
    DIGITS,
    EYE,
    Array,
    cross,
    exact,
    inverse,
    norm,
    rotation_about,
    rotation_from_rpy,
    skew,
    times,
    turned_back,
)

STEP = Decimal("1e-25")

Perturb = Callable[[Array, Array], Array]
"""Perturbs numbers: perturb(values, sizes) changes the values by at most a rounding of these sizes."""


FUNCTIONS: Final = (
    *(
        "rnea",
        "nle",
        "gravity",
        "crba",
        "rnea_fext",
        "rnea_derivatives",
        "kinetic_energy",
        "potential_energy",
    ),
    *("aba", "minv", "aba_derivatives", "aba_fext"),
)
"""The functions of the reference; the last four need an M that can be inverted. Other functions are tested in
`tests/functions`.
"""


@dataclass(frozen=True)
class Moments:
    """The mass, first moment and inertia about the origin of a link's frame, or bounds of their sizes."""

    mass: Any
    first: Any
    inertia: Any

    def __add__(self, other: Moments) -> Moments:
        return Moments(self.mass + other.mass, self.first + other.first, self.inertia + other.inertia)

    def from_afar(self, p: Decimal) -> Moments:
        """The bounds about a point that is p metres farther away."""
        m, h = self.mass, self.first
        return Moments(m, h + m * p, self.inertia + 2 * h * p + m * p * p)


@dataclass(frozen=True)
class Link:
    """A link and the joint above it.

    `R`, `p` place the joint's frame in the parent's frame. `dofs` and `q` are the joint's indices in v and q,
    which are empty for a fixed joint. `carried` bounds the moments of the link with all that it carries, in
    any configuration.
    """

    name: str
    joint: str
    type: str
    parent: int
    R: Array
    p: Array
    axis: Array
    dofs: tuple[int, ...]
    q: tuple[int, ...]
    moments: Moments
    carried: Moments


def _link(joint: ET.Element, end: str) -> str:
    """The name of the link at an end of a joint, "parent" or "child"."""
    found = joint.find(end)
    assert found is not None
    return found.attrib["link"]


def unperturbed(values: Array, _: Array) -> Array:
    return values


def rounding(rng: np.random.Generator, size: float) -> Perturb:
    """A perturbation that changes numbers at random by up to `size`, relative to their given sizes."""

    def perturb(values: Array, scale: Array) -> Array:
        return values + exact(rng.uniform(-size, size, np.shape(values))) * scale

    return perturb


class Reference:
    """A robot exactly as its URDF describes it."""

    def __init__(
        self,
        urdf: str,
        floating: bool = False,
        gravity: Sequence[float] = (0.0, 0.0, -9.81),
        turns: Perturb = unperturbed,
        rounds: Perturb = unperturbed,
        afar: bool = False,
    ) -> None:
        """Reads a URDF. `turns` perturbs angles and axes, and `rounds` the numbers that algorithms use.

        These are the entries of rotations, which are then not orthogonal, lengths, and the moments of every
        link, relative to the moments of all that the link carries, about the link's frame. If `afar`, the
        sizes of lengths and moments are those as seen from the first joint, by way of the world's origin.
        """
        getcontext().prec = DIGITS
        self.gravity = exact(np.array(gravity, dtype=float))
        self.turns, self.rounds = turns, rounds
        self.links: list[Link] = []
        self.nq = self.nv = 0
        root = ET.fromstring(urdf)
        self._elements = {link.attrib["name"]: link for link in root.findall("link")}
        self._joints = root.findall("joint")
        children = {_link(joint, "child") for joint in self._joints}
        [base] = [name for name in self._elements if name not in children]
        self._add(base, "root_joint", "floating" if floating else "fixed", -1, None)
        self._descend(base, 0)
        self._carry()
        self._perturb(rounds, afar)
        self.bodies = [link for link in self.links if link.dofs]

    def _descend(self, name: str, index: int) -> None:
        """Adds the links below a link, depth first, with the joints of a link in the order of their names."""
        below = [joint for joint in self._joints if _link(joint, "parent") == name]
        for joint in sorted(below, key=lambda joint: joint.attrib["name"]):
            child = _link(joint, "child")
            self._add(child, joint.attrib["name"], joint.attrib["type"], index, joint)
            self._descend(child, len(self.links) - 1)

    def _add(self, name: str, joint: str, kind: str, parent: int, element: Any) -> None:
        xyz, rpy = self._origin(element)
        axis = EYE[0] if element is None or element.find("axis") is None else _vector(element.find("axis"))
        axis = self.turns(axis / norm(axis), Decimal(1))
        nv = {"fixed": 0, "floating": 6}.get(kind, 1)
        nq = {"fixed": 0, "floating": 7}.get(kind, 1)
        self.links.append(
            Link(
                name,
                joint,
                kind,
                parent,
                rotation_from_rpy(rpy),
                xyz,
                axis / norm(axis),
                tuple(range(self.nv, self.nv + nv)),
                tuple(range(self.nq, self.nq + nq)),
                *self._inertial(self._elements[name].find("inertial")),
            )
        )
        self.nv, self.nq = self.nv + nv, self.nq + nq

    def _carry(self) -> None:
        """Adds the bounds of what each link carries, stretched out straight, to those of its parent."""
        for i in reversed(range(len(self.links))):
            link = self.links[i]
            if link.parent >= 0:
                above = self.links[link.parent]
                carried = above.carried + link.carried.from_afar(norm(link.p))
                self.links[link.parent] = replace(above, carried=carried)

    def _perturb(self, perturb: Perturb, afar: bool) -> None:
        """Perturbs lengths and moments relative to their sizes; if `afar`, as seen along the whole tree."""
        distances: list[Decimal] = []
        for link in self.links:
            distances.append(norm(link.p) + (distances[link.parent] if link.parent >= 0 else 0))
        first = next((x for link, x in zip(self.links, distances, strict=True) if link.dofs), Decimal(0))
        for i, (link, distance) in enumerate(zip(self.links, distances, strict=True)):
            far = first + distance if afar else Decimal(0)
            own, size = link.moments, link.carried.from_afar(far)
            J = perturb(own.inertia, size.inertia)
            moved = Moments(perturb(own.mass, size.mass), perturb(own.first, size.first), (J + J.T) / 2)
            self.links[i] = replace(link, p=perturb(link.p, max(norm(link.p), far)), moments=moved)

    def _origin(self, element: Any) -> tuple[Array, Array]:
        origin = None if element is None else element.find("origin")
        xyz = _vector(origin, "xyz") if origin is not None else EYE[0] * 0
        rpy = _vector(origin, "rpy") if origin is not None else EYE[0] * 0
        scale = np.array([max(Decimal(1), abs(x)) for x in rpy], dtype=object)
        return xyz, self.turns(rpy, scale)

    def _inertial(self, element: Any) -> tuple[Moments, Moments]:
        """A link's moments, and bounds of their sizes."""
        if element is None:
            return Moments(Decimal(0), EYE[0] * 0, EYE * 0), Moments(*[Decimal(0)] * 3)
        center, rpy = self._origin(element)
        R = rotation_from_rpy(rpy)
        mass = Decimal(float(element.find("mass").get("value")))
        given = element.find("inertia")
        xx, xy, xz, yy, yz, zz = (
            Decimal(float(given.get(name))) for name in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        )
        J = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], dtype=object) @ R.T
        size = sum(abs(J[k, k]) for k in range(3)) + mass * center.dot(center)
        moments = Moments(mass, mass * center, J - mass * skew(center) @ skew(center))
        return moments, Moments(mass, mass * norm(center), size)

    def placements(self, q: Array) -> list[tuple[Array, Array]]:
        """The rotation (1, 3, 3) and the origin (1, 3) of every link in its parent."""
        found = []
        for link in self.links:
            R, p = link.R, link.p
            if link.type in ("revolute", "continuous"):
                R = R @ rotation_about(link.axis, q[link.q[0]])
            elif link.type == "prismatic":
                p = p + R @ link.axis * q[link.q[0]]
            elif link.type == "floating":
                x, y, z, w = q[3:7]
                vector = np.array([x, y, z], dtype=object)
                square = vector.dot(vector)
                R = EYE * (w * w - square) + 2 * np.outer(vector, vector) + 2 * w * skew(vector)
                p = q[:3]
            found.append((self.rounds(R, Decimal(1))[None], p[None]))
        return found

    def moved(self, placements: Sequence[tuple[Array, Array]], step: Decimal) -> list[tuple[Array, Array]]:
        """The placements for nv + 1 cases: unchanged, then after a small step of each degree of freedom."""
        result = []
        for link, (R, p) in zip(self.links, placements, strict=True):
            spin, slide = _directions(link)
            Rs, ps = np.repeat(R, self.nv + 1, axis=0), np.repeat(p, self.nv + 1, axis=0)
            for k, omega, v in zip(link.dofs, spin, slide, strict=True):
                Rs[k + 1] = R[0] @ (EYE + step * skew(omega))
                ps[k + 1] = p[0] + R[0] @ v * step
            result.append((Rs, ps) if link.dofs else (R, p))
        return result

    def newton_euler(
        self,
        placements: Sequence[tuple[Array, Array]],
        v: Array,
        a: Array,
        gravity: Array,
        fext: Array | None = None,
    ) -> Array:
        """The torques (cases, nv) for v and a (cases, nv) and external forces `fext` (nbodies, 6)."""
        omega, alpha, linear, force, moment = (list[Array]() for _ in range(5))
        for link, (R, p) in zip(self.links, placements, strict=True):
            if link.parent < 0:
                w, dw, at = (np.zeros((1, 3), dtype=object) + Decimal(0) for _ in range(3))
                at = at - gravity
            else:
                w, dw, at = omega[link.parent], alpha[link.parent], linear[link.parent]
            at = turned_back(R, at + cross(dw, p) + cross(w, cross(w, p)))
            w, dw = turned_back(R, w), turned_back(R, dw)
            spin, slide = _directions(link)
            qd, qdd = v[:, list(link.dofs)], a[:, list(link.dofs)]
            if link.dofs:
                rate, push = qd @ spin, qd @ slide
                both = w + rate
                at = at + qdd @ slide + cross(w, push) + cross(both, push)
                dw = dw + qdd @ spin + cross(w, rate)
                w = both
            h, J = link.moments.first[None], link.moments.inertia[None]
            F = link.moments.mass * at + cross(dw, h) + cross(w, cross(w, h))
            N = times(J, dw) + cross(w, times(J, w)) + cross(h, at)
            if fext is not None and link.dofs:
                row = fext[self.bodies.index(link)]
                F, N = F - row[:3], N - row[3:]
            for found, own in ((omega, w), (alpha, dw), (linear, at), (force, F), (moment, N)):
                found.append(own)
        cases = max(len(v), len(a), *(len(R) for R, _ in placements))
        tau = np.full((cases, self.nv), Decimal(0), dtype=object)
        for i in reversed(range(len(self.links))):
            link, (R, p) = self.links[i], placements[i]
            for k, s, d in zip(link.dofs, *_directions(link), strict=True):
                tau[:, k] = moment[i] @ s + force[i] @ d
            if link.parent >= 0:
                F = times(R, force[i])
                force[link.parent] = force[link.parent] + F
                moment[link.parent] = moment[link.parent] + times(R, moment[i]) + cross(p, F)
        return tau

    def energies(self, inputs: Mapping[str, Any]) -> tuple[Array, Array]:
        """The kinetic energy T and the potential energy U of every moving link, in J.

        T = m v . v / 2 + v . (w x h) + w . J w / 2, and U = -g . (m p + R h), which is 0 at the world's
        origin. Links that are fixed to the world are left out.
        """
        getcontext().prec = DIGITS
        placements, v = self.placements(exact(inputs["q"])), exact(inputs["v"])
        omega, linear, turned, origin = (list[Array]() for _ in range(4))
        moves: list[bool] = []
        kinetic, potential = [], []
        for link, (R, p) in zip(self.links, placements, strict=True):
            own, rotation, place = link.moments, R[0], p[0]
            w = at = EYE[0] * 0
            if link.parent >= 0:
                w, above = omega[link.parent], turned[link.parent]
                at = linear[link.parent] + cross(w, place)
                rotation, place = above @ rotation, origin[link.parent] + above @ place
            w, at = turned_back(R[0], w), turned_back(R[0], at)
            if link.dofs:
                spin, slide = _directions(link)
                rates = v[list(link.dofs)]
                w, at = w + rates @ spin, at + rates @ slide
            for found, value in ((omega, w), (linear, at), (turned, rotation), (origin, place)):
                found.append(value)
            moves.append(bool(link.dofs) or (link.parent >= 0 and moves[link.parent]))
            if moves[-1]:
                spinning = w.dot(own.inertia @ w) / 2 + at.dot(cross(w, own.first))
                kinetic.append(own.mass * at.dot(at) / 2 + spinning)
                potential.append(-self.gravity.dot(own.mass * place + rotation @ own.first))
        return np.array(kinetic), np.array(potential)

    def __call__(self, inputs: Mapping[str, Any]) -> dict[str, list[Array]]:
        """Computes the outputs of every function by name at one state."""
        getcontext().prec = DIGITS
        q, v, a, tau, fext = (exact(inputs[name]) for name in ("q", "v", "a", "tau", "fext"))
        fext = fext.reshape(-1, 6)
        at = self.placements(q)
        unit, none = exact(np.eye(self.nv)), exact(np.zeros((1, self.nv)))
        M = self.newton_euler(at, none, unit, self.gravity * 0)
        bias = self.newton_euler(at, v[None], none, self.gravity)[0]
        kinetic, potential = self.energies(inputs)
        pushed = self.newton_euler(at, v[None], none, self.gravity, fext)[0]
        results = {
            "rnea": [M @ a + bias],
            "nle": [bias],
            "gravity": [self.newton_euler(at, none, none, self.gravity)[0]],
            "crba": [M],
            "rnea_fext": [M @ a + pushed],
            "rnea_derivatives": [*self._derivatives(at, v, a), M],
            "kinetic_energy": [kinetic.sum()],
            "potential_energy": [potential.sum()],
        }
        Minv = inverse(M)
        if Minv is None:
            return results
        qdd = Minv @ (tau - bias)
        slopes = [-Minv @ slope for slope in self._derivatives(at, v, qdd)]
        return results | {
            "aba": [qdd],
            "minv": [Minv],
            "aba_derivatives": [*slopes, Minv],
            "aba_fext": [Minv @ (tau - pushed)],
        }

    def _derivatives(self, at: Sequence[tuple[Array, Array]], v: Array, a: Array) -> tuple[Array, Array]:
        """d tau / dq and d tau / dv (nv, nv), by steps so small that their error is far below a double's."""
        by_q = self.newton_euler(self.moved(at, STEP), v[None], a[None], self.gravity)
        steps = np.concatenate([exact(np.zeros((1, self.nv))), exact(np.eye(self.nv)) * STEP])
        by_v = self.newton_euler(at, v[None] + steps, a[None], self.gravity)
        return tuple(((f[1:] - f[0]) / STEP).T for f in (by_q, by_v))


def _directions(link: Link) -> tuple[Array, Array]:
    """The angular and the linear velocities (n, 3) of a joint's n degrees of freedom, in the link's axes."""
    if link.type == "floating":
        return np.concatenate([EYE * 0, EYE]), np.concatenate([EYE, EYE * 0])
    if link.type == "prismatic":
        return link.axis[None] * 0, link.axis[None]
    rows = link.axis[None][: len(link.dofs)]
    return rows, rows * 0


def _vector(element: Any, attribute: str = "xyz") -> Array:
    text = element.get(attribute) or "0 0 0"
    return np.array([Decimal(float(x)) for x in text.split()], dtype=object)
