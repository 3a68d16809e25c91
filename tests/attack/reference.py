"""Dynamics of a URDF in 60 decimal digits, as simple as can be: what the attacks on numbers are judged by.

Nothing of rbdgen is used. Links stay as the file has them: fixed joints are not merged, rotations are not
snapped, every link is one step of Newton and Euler in its own frame. M is the response to unit
accelerations, forward dynamics a dense elimination, a derivative the difference quotient of a step of 1e-25.

Arrays hold `Decimal`s; the first axis counts the cases (directions of a derivative) that run together.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, getcontext
from functools import lru_cache
from typing import Any

import mpmath
import numpy as np

DIGITS = 60

STEP = Decimal("1e-25")

_EXACT = mpmath.MPContext()
_EXACT.dps = DIGITS

Array = Any
"""Of `Decimal`s."""

Perturb = Callable[[Array, Array], Array]
"""Numbers and their size -> the numbers as one rounding of that size might leave them."""


def exact(values: Any) -> Array:
    """Decimals of floats, digit for digit."""
    values = np.asarray(values)
    if values.dtype == object:
        return values
    return np.array([Decimal(x) for x in values.ravel().tolist()], dtype=object).reshape(values.shape)


def rounded(values: Array) -> np.ndarray:
    return np.asarray(values).astype(float)


@lru_cache(maxsize=4096)
def cos_sin(angle: Decimal) -> tuple[Decimal, Decimal]:
    x = _EXACT.mpf(str(angle))
    return tuple(Decimal(mpmath.nstr(f(x), DIGITS)) for f in (_EXACT.cos, _EXACT.sin))


@dataclass(frozen=True)
class Link:
    """A link and the joint above it. `R`, `p`: the joint's frame in the parent's; `dofs`: none if fixed."""

    name: str
    joint: str
    type: str
    parent: int
    R: Array
    p: Array
    axis: Array
    dofs: tuple[int, ...]
    q: tuple[int, ...]
    mass: Decimal
    center: Array
    inertia: Array


def skew(x: Array) -> Array:
    """[x] of vectors (..., 3): a matrix each."""
    zero = x[..., 0] * 0
    rows = ((zero, -x[..., 2], x[..., 1]), (x[..., 2], zero, -x[..., 0]), (-x[..., 1], x[..., 0], zero))
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def cross(x: Array, y: Array) -> Array:
    a, b, c = x[..., 0], x[..., 1], x[..., 2]
    d, e, f = y[..., 0], y[..., 1], y[..., 2]
    return np.stack([b * f - c * e, c * d - a * f, a * e - b * d], axis=-1)


def times(R: Array, x: Array) -> Array:
    return np.matmul(R, x[..., None])[..., 0]


def turned_back(R: Array, x: Array) -> Array:
    return np.matmul(x[..., None, :], R)[..., 0, :]


EYE = exact(np.eye(3))


def rotation_about(axis: Array, angle: Decimal) -> Array:
    """Rodrigues; a unit axis."""
    c, s = cos_sin(angle)
    return EYE * c + skew(axis) * s + np.outer(axis, axis) * (1 - c)


def rotation_from_rpy(rpy: Array) -> Array:
    x, y, z = (rotation_about(EYE[k], rpy[k]) for k in range(3))
    return z @ y @ x


def unperturbed(values: Array, _: Array) -> Array:
    return values


def rounding(rng: np.random.Generator, size: float) -> Perturb:
    """Numbers moved by `size` of their own size, at random."""

    def perturb(values: Array, scale: Array) -> Array:
        return values + exact(rng.uniform(-size, size, values.shape)) * scale

    return perturb


class Reference:
    """A robot as its URDF says it."""

    def __init__(
        self,
        urdf: str,
        floating: bool = False,
        gravity: Sequence[float] = (0.0, 0.0, -9.81),
        turns: Perturb = unperturbed,
        sizes: Perturb = unperturbed,
    ) -> None:
        """`turns` perturbs angles and axes, `sizes` lengths, masses and inertias."""
        getcontext().prec = DIGITS
        self.gravity = exact(np.array(gravity, dtype=float))
        self.turns, self.sizes = turns, sizes
        self.links: list[Link] = []
        self.nq = self.nv = 0
        root = ET.fromstring(urdf)
        self._elements = {link.get("name"): link for link in root.findall("link")}
        self._joints = root.findall("joint")
        children = {joint.find("child").get("link") for joint in self._joints}
        [base] = [name for name in self._elements if name not in children]
        self._add(base, "root_joint", "floating" if floating else "fixed", -1, None)
        self._descend(base, 0)
        self.bodies = [link for link in self.links if link.dofs]

    def _descend(self, name: str, index: int) -> None:
        """Depth first, joints by name."""
        below = [joint for joint in self._joints if joint.find("parent").get("link") == name]
        for joint in sorted(below, key=lambda joint: joint.get("name")):
            child = joint.find("child").get("link")
            self._add(child, joint.get("name"), joint.get("type"), index, joint)
            self._descend(child, len(self.links) - 1)

    def _add(self, name: str, joint: str, kind: str, parent: int, element: Any) -> None:
        xyz, rpy = self._origin(element)
        axis = EYE[0] if element is None or element.find("axis") is None else _vector(element.find("axis"))
        axis = self.turns(axis / _norm(axis), Decimal(1))
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
                axis / _norm(axis),
                tuple(range(self.nv, self.nv + nv)),
                tuple(range(self.nq, self.nq + nq)),
                *self._inertial(self._elements[name].find("inertial")),
            )
        )
        self.nv, self.nq = self.nv + nv, self.nq + nq

    def _origin(self, element: Any) -> tuple[Array, Array]:
        origin = None if element is None else element.find("origin")
        xyz = _vector(origin, "xyz") if origin is not None else EYE[0] * 0
        rpy = _vector(origin, "rpy") if origin is not None else EYE[0] * 0
        scale = np.array([max(Decimal(1), abs(x)) for x in rpy], dtype=object)
        return self.sizes(xyz, _norm(xyz)), self.turns(rpy, scale)

    def _inertial(self, element: Any) -> tuple[Decimal, Array, Array]:
        if element is None:
            return Decimal(0), EYE[0] * 0, EYE * 0
        center, rpy = self._origin(element)
        R = rotation_from_rpy(rpy)
        mass = np.array([Decimal(float(element.find("mass").get("value")))], dtype=object)
        [mass] = self.sizes(mass, mass)
        given = element.find("inertia")
        xx, xy, xz, yy, yz, zz = (
            Decimal(float(given.get(name))) for name in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        )
        J = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], dtype=object) @ R.T
        size = sum(abs(J[k, k]) for k in range(3)) + mass * center.dot(center)
        J = self.sizes(J, size)
        return mass, center, (J + J.T) / 2

    def placements(self, q: Array) -> list[tuple[Array, Array]]:
        """Rotation and origin of every link in its parent."""
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
            found.append((R[None], p[None]))
        return found

    def moved(self, placements: Sequence[tuple[Array, Array]], step: Decimal) -> list[tuple[Array, Array]]:
        """The placements as they are, then after a small step of every freedom alone, in tangent space."""
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
        """tau for every case; v, a: (cases, nv)."""
        omega, alpha, linear, force, moment = [], [], [], [], []
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
            F = link.mass * (at + cross(dw, link.center[None]) + cross(w, cross(w, link.center[None])))
            N = times(link.inertia[None], dw) + cross(w, times(link.inertia[None], w))
            N = N + cross(link.center[None], F)
            if fext is not None and link.dofs:
                row = fext[self.bodies.index(link)]
                F, N = F - row[:3], N - row[3:]
            omega.append(w), alpha.append(dw), linear.append(at), force.append(F), moment.append(N)
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

    def __call__(self, inputs: Mapping[str, Any]) -> dict[str, list[Array]]:
        """Every function of the catalogue by name at one state: its outputs."""
        getcontext().prec = DIGITS
        q, v, a, tau, fext = (exact(inputs[name]) for name in ("q", "v", "a", "tau", "fext"))
        fext = fext.reshape(-1, 6)
        at = self.placements(q)
        unit, none = exact(np.eye(self.nv)), exact(np.zeros((1, self.nv)))
        M = self.newton_euler(at, none, unit, self.gravity * 0)
        bias = self.newton_euler(at, v[None], none, self.gravity)[0]
        pushed = self.newton_euler(at, v[None], none, self.gravity, fext)[0]
        results = {
            "rnea": [M @ a + bias],
            "nle": [bias],
            "gravity": [self.newton_euler(at, none, none, self.gravity)[0]],
            "crba": [M],
            "rnea_fext": [M @ a + pushed],
            "rnea_derivatives": [*self._derivatives(at, v, a), M],
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
        """d tau / dq and / dv by steps so small that nothing is left of their error."""
        by_q = self.newton_euler(self.moved(at, STEP), v[None], a[None], self.gravity)
        steps = np.concatenate([exact(np.zeros((1, self.nv))), exact(np.eye(self.nv)) * STEP])
        by_v = self.newton_euler(at, v[None] + steps, a[None], self.gravity)
        return tuple(((f[1:] - f[0]) / STEP).T for f in (by_q, by_v))


def _directions(link: Link) -> tuple[Array, Array]:
    """The angular and the linear velocity of every freedom of a joint, in the link's axes."""
    if link.type == "floating":
        return np.concatenate([EYE * 0, EYE]), np.concatenate([EYE, EYE * 0])
    if link.type == "prismatic":
        return link.axis[None] * 0, link.axis[None]
    rows = link.axis[None][: len(link.dofs)]
    return rows, rows * 0


def _vector(element: Any, attribute: str = "xyz") -> Array:
    text = element.get(attribute) or "0 0 0"
    return np.array([Decimal(float(x)) for x in text.split()], dtype=object)


def _norm(x: Array) -> Decimal:
    return x.dot(x).sqrt() or Decimal(0)


def inverse(M: Array) -> Array | None:
    """By elimination with the largest pivot; None if a column has none that stands out of the rounding."""
    n = len(M)
    rows = np.concatenate([M, exact(np.eye(n))], axis=1)
    for k in range(n):
        pivot = k + max(range(n - k), key=lambda i: abs(rows[k + i, k]))
        if abs(rows[pivot, k]) <= Decimal("1e-40") * max(abs(x) for x in M.ravel()):
            return None
        rows[[k, pivot]] = rows[[pivot, k]]
        rows[k] = rows[k] / rows[k, k]
        for i in range(n):
            if i != k:
                rows[i] = rows[i] - rows[k] * rows[i, k]
    return rows[:, n:]
