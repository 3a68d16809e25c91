"""Exact derivatives along directions, by evaluating a function of NumPy columns at a complex step.

f(x + i h x_dot) = f(x) + i h f'(x) x_dot, with h so small that its square vanishes. No digits are lost, as
nothing is subtracted. Squire and Trapp, Using complex variables to estimate derivatives, SIAM Review 1998.
The motion of q is implemented again here, by quaternion products and rotation matrices.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rbdgen.functions.function import Function
from rbdgen.model.model import Model
from rbdgen.runtime.configuration import Manifold
from rbdgen.signature import BAR, DOT, Argument
from rbdgen.sweeps.inputs import state_of

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
Inputs = Mapping[str, Array]

STEP = 1e-40
"""The step h. Its square is less than the number that `spatial/exponential.py` adds to squares."""

STENCIL = ((1, 8 / 12), (-1, -8 / 12), (2, -1 / 12), (-2, 1 / 12))

WIDTH = 1e-3


@dataclass(frozen=True)
class Derivatives:
    """The derivatives of a function of a model in its textbook form, at states (N, size) by name.

    `by` are the inputs by which it is differentiated; `coordinates` says whether rates and gradients of q
    have nq elements.
    """

    model: Model
    function: Function
    by: Sequence[Argument]
    coordinates: bool = False

    def rates(self, inputs: Inputs) -> list[Array]:
        """The rates of the outputs (N, size) at the rates NAME_dot of inputs."""
        moves = {x.name: inputs[x.name + DOT] for x in self.by}
        raw = {x.name: self._raw(x, inputs, moves[x.name]) for x in self.by}
        return self._along(inputs, raw)

    def gradients(self, inputs: Inputs) -> list[Array]:
        """The gradients of the outputs weighted by NAME_bar, by every input (N, size)."""
        states = len(next(iter(inputs.values())))
        found = []
        for x in self.by:
            size = inputs[x.name].shape[1]
            moving = x.kind == "configuration" and not self.coordinates
            every = np.eye(self.model.sizes["nv"] if moving else size)
            tiled = {name: np.tile(values, (len(every), 1)) for name, values in inputs.items()}
            raw = self._raw(x, tiled, np.repeat(every, states, axis=0))
            rates = self._along(tiled, {x.name: raw})
            weights = [tiled[y.name + BAR] for y in self.function.signature.outputs]
            sums = sum(np.sum(w * rate, axis=1) for w, rate in zip(weights, rates, strict=True))
            found.append(np.reshape(sums, (len(every), states)).T)
        return found

    def gradient_rates(self, inputs: Inputs) -> tuple[list[Array], list[Array]]:
        """The rates of the gradients at the rates NAME_dot, by finite differences, with estimates of their
        errors."""
        fine, coarse = ([self._changes(inputs, k * WIDTH)] for k in (1, 2))
        errors = [np.abs(a - b) for a, b in zip(fine[0], coarse[0], strict=True)]
        return fine[0], errors

    def _changes(self, inputs: Inputs, width: float) -> list[Array]:
        states = len(next(iter(inputs.values())))
        ends = [self._moved(inputs, k * width) for k, _ in STENCIL]
        joined = {name: np.concatenate([end[name] for end in ends]) for name in inputs}
        weights = np.array([weight for _, weight in STENCIL]) / width
        return [
            np.einsum("s,snk->nk", weights, g.reshape(len(STENCIL), states, -1))
            for g in self.gradients(joined)
        ]

    def _moved(self, inputs: Inputs, step: float) -> dict[str, Array]:
        result = dict(inputs)
        for x in self.by:
            at, rate = inputs[x.name], inputs[x.name + DOT]
            if x.kind == "configuration":
                manifold = self.model.manifold
                v = tangent(manifold, at, within(manifold, at, rate)) if self.coordinates else rate
                result[x.name] = manifold.integrate(at, step * v)
            else:
                result[x.name] = at + step * rate
        return result

    def _raw(self, x: Argument, inputs: Inputs, rate: Array) -> Array:
        """Rates of the elements of an input."""
        if x.kind != "configuration":
            return rate
        manifold, q = self.model.manifold, inputs[x.name]
        return within(manifold, q, rate) if self.coordinates else elements(manifold, q, rate)

    def _along(self, inputs: Inputs, raw: Mapping[str, Array]) -> list[Array]:
        taken = {x.name: inputs[x.name] + 0j for x in self.function.signature.inputs}
        for name, rate in raw.items():
            taken[name] = taken[name] + 1j * STEP * rate
        found = []
        values = run_on_complex(self.function, self.model, taken)
        for y, value in zip(self.function.signature.outputs, values, strict=True):
            rate = value.imag / STEP
            if y.kind == "configuration" and not self.coordinates:
                rate = tangent(self.model.manifold, value.real, rate)
            found.append(rate)
        return found


def run_on_complex(function: Function, model: Model, inputs: Mapping[str, Complex]) -> list[Complex]:
    """The outputs of the textbook's form on complex columns; the sign of a number is its real part's."""
    signature = function.sized(model)
    columns = [(x, list(inputs[x.name].T)) for x in signature.inputs]
    state = state_of(model, columns, np.cos, np.sin, sign=lambda x: np.sign(np.real(x)))
    count = len(inputs[signature.inputs[0].name])
    results = []
    for elements in function.trace(function.forms_for(model)[0], model, state):
        rows = [np.broadcast_to(np.asarray(element, dtype=complex), (count,)) for element in elements]
        results.append(np.stack(rows, axis=1))
    return results


# ---- rates of the elements of q


def elements(manifold: Manifold, q: Array, v: Array) -> Array:
    """The rates of the elements of q (N, nq) at velocities v (N, nv)."""
    found = np.zeros_like(q)
    for joint in manifold.joints:
        own, rate = _own(joint.idx_q, joint.nq, q), _own(joint.idx_v, joint.nv, v)
        place = found[:, joint.idx_q : joint.idx_q + joint.nq]
        if joint.kind == "planar":
            place[:] = np.column_stack([_turned(own[:, 2], rate[:, :2]), rate[:, 2]])
        elif joint.kind == "spherical":
            place[:] = _half_product(own, rate)
        elif joint.kind == "floating":
            place[:, :3] = np.einsum("nij,nj->ni", _rotation(own[:, 3:]), rate[:, :3])
            place[:, 3:] = _half_product(own[:, 3:], rate[:, 3:])
        else:
            place[:] = rate
    return found


def tangent(manifold: Manifold, q: Array, rates: Array) -> Array:
    """The velocities (N, nv) at which the elements of q have these rates, by least squares."""
    n = manifold.nv
    columns = np.stack([elements(manifold, q, np.tile(e, (len(q), 1))) for e in np.eye(n)], axis=2)
    return np.asarray(np.einsum("nij,nj->ni", np.linalg.pinv(columns), rates))


def within(manifold: Manifold, q: Array, rates: Array) -> Array:
    """The rates of q without the part that changes the length of quaternions."""
    found = rates.copy()
    for joint in manifold.joints:
        if joint.kind in ("spherical", "floating"):
            at = slice(joint.idx_q + joint.nq - 4, joint.idx_q + joint.nq)
            found[:, at] -= q[:, at] * np.sum(q[:, at] * rates[:, at], axis=1, keepdims=True)
    return found


def _own(start: int, count: int, x: Array) -> Array:
    return x[:, start : start + count]


def _turned(angle: Array, xy: Array) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    return np.column_stack([c * xy[:, 0] - s * xy[:, 1], s * xy[:, 0] + c * xy[:, 1]])


def _half_product(quaternion: Array, w: Array) -> Array:
    """Half the product of x y z w with a pure quaternion."""
    u, scalar = quaternion[:, :3], quaternion[:, 3:]
    return np.column_stack([scalar * w + np.cross(u, w), -np.sum(u * w, axis=1)]) / 2


def _rotation(quaternion: Array) -> Array:
    x, y, z, w = quaternion.T
    rows: Iterable[Iterable[Array]] = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
        (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
        (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
    )
    return np.stack([np.stack(list(row), axis=1) for row in rows], axis=1)
