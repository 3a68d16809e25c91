"""Integration steps on the manifold of configurations, with forward dynamics in any of its forms.

The semi-implicit Euler method is v_next = v + h FD(q, v, tau), q_next = q exp(h v_next). The classical
Runge-Kutta method keeps its fourth order where motions do not commute, because it integrates u in q = q0
exp(u): du/dt = v + [u, v] / 2 + [u, [u, v]] / 12 for small u (Munthe-Kaas, High order Runge-Kutta methods on
manifolds, 1999).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from rbdgen.functions.configurations.manifold import (
    Blocked,
    integrate_derivatives,
    integrated,
    joints_of,
)
from rbdgen.model.joints import Turning
from rbdgen.model.model import Model
from rbdgen.spatial.exponential import Elementary
from rbdgen.spatial.scalar import Scalar, add, dot, mul, unnamed
from rbdgen.sweeps.inputs import State, coordinates, positions

Vector = Sequence[Scalar]
Matrix = list[list[Scalar]]

Forward = Callable[[State], Vector]
"""Forward dynamics: the acceleration a at a state."""


def time_step(x: State) -> Scalar:
    """The time step."""
    (step,) = x.arrays["dt"]
    return step


def semi_implicit_step(model: Model, x: State, forward: Forward) -> list[Vector]:
    """The next q and v."""
    h = time_step(x)
    v = plus(x.v[: model.sizes["nv"]], forward(x), h)
    return [integrated(model, x.positions, times(v, h), x.elementary), v]


def runge_kutta_step(model: Model, x: State, forward: Forward) -> list[Vector]:
    """The next q and v; the torques are constant over the step."""
    h = time_step(x)
    v = list(x.v[: model.sizes["nv"]])
    half = mul(0.5, h)
    rates, accelerations = [v], [forward(x)]
    for step in (half, half, h):
        moved, faster = times(rates[-1], step), plus(v, accelerations[-1], step)
        accelerations.append(forward(_moved(model, x, moved, faster)))
        rates.append(_in_chart(model, moved, faster))
    sixth = mul(h, 1 / 6)
    u = times(_weighted(rates), sixth)
    return [integrated(model, x.positions, u, x.elementary), plus(v, _weighted(accelerations), sixth)]


def _moved(model: Model, x: State, u: Vector, v: Vector) -> State:
    """The state at q exp(u) and v."""
    q = integrated(model, x.positions, u, x.elementary)
    bodies = coordinates(model, q, lambda angle: x.angle(angle).cos, lambda angle: x.angle(angle).sin)
    speeds = model.coupling.extended(v)
    return replace(x, q=bodies, positions=positions(model, q), v=speeds, naming=unnamed)


def _in_chart(model: Model, u: Vector, v: Vector) -> list[Scalar]:
    """The rate of u while q0 exp(u) moves at the velocity v."""
    result = list(v)
    for joint in joints_of(model):
        if isinstance(joint.type, Turning):
            turn, motion = joint.type.motion(joint.slice(u)), joint.type.motion(joint.slice(v))
            once = turn.cross(motion)
            rate = motion + once * 0.5 + turn.cross(once) * (1 / 12)
            result[joint.idx_v : joint.idx_v + joint.nv] = joint.type.velocity(rate)
    return result


def _weighted(values: Sequence[Vector]) -> list[Scalar]:
    """The sum with the weights of Simpson's rule, without the factor 1/6."""
    return [add(add(a, d), mul(2, add(b, c))) for a, b, c, d in zip(*values, strict=True)]


def plus(a: Vector, b: Vector, factor: Scalar) -> list[Scalar]:
    """a + factor b."""
    return [add(x, mul(factor, y)) for x, y in zip(a, b, strict=True)]


def times(a: Vector, factor: Scalar) -> list[Scalar]:
    return [mul(x, factor) for x in a]


class ByState(NamedTuple):
    """The derivatives of accelerations or velocities, by rows, with respect to q, v and tau."""

    q: Sequence[Vector]
    v: Sequence[Vector]
    tau: Sequence[Vector]


def semi_implicit_derivatives(
    model: Model, x: State, acceleration: Vector, slopes: ByState
) -> tuple[Matrix, Matrix]:
    """A (nx, nx) and B (nx, nv) of the semi-implicit step, by rows, with dv_next = dv + h da."""
    h = time_step(x)
    by_q, by_v, by_tau = ([times(row, h) for row in part] for part in slopes)
    for k, row in enumerate(by_v):
        row[k] = add(row[k], 1)
    return in_state_space(model, turn(model, x, acceleration), h, ByState(by_q, by_v, by_tau), x.elementary)


def turn(model: Model, x: State, acceleration: Vector) -> list[Scalar]:
    """u = h v_next of the semi-implicit step."""
    h = time_step(x)
    return times(plus(x.v[: model.sizes["nv"]], acceleration, h), h)


def in_state_space(
    model: Model, u: Vector, h: Scalar, of_v: ByState, functions: Elementary
) -> tuple[Matrix, Matrix]:
    """A (nx, nx) and B (nx, nv) of a step q_next = q exp(u) with u = h v_next, by rows, with q in its tangent
    space, from the derivatives of v_next.

    Let J_q and J_v be the derivatives of q exp(u) by q and by u. Then dq_next = J_q dq + J_v h dv_next.
    """
    by_start, by_motion = moving(model, u, h, functions)
    by_q, by_v, by_tau = of_v
    lower = [[*a, *b] for a, b in zip(by_q, by_v, strict=True)]
    upper = _product(by_motion, lower)
    for joint, block in by_start:
        for i, entries in enumerate(block):
            row = upper[joint.idx_v + i]
            for j, entry in enumerate(entries, joint.idx_v):
                row[j] = add(row[j], entry)
    return [*upper, *lower], [*_product(by_motion, by_tau), *map(list, by_tau)]


def moving(model: Model, u: Vector, h: Scalar, functions: Elementary) -> tuple[Blocked, Blocked]:
    """J_q and h J_v of `in_state_space`."""
    by_start, by_motion = integrate_derivatives(model, u, functions)
    return by_start, [(joint, [times(row, h) for row in block]) for joint, block in by_motion]


def _product(blocked: Blocked, rows: Sequence[Vector]) -> Matrix:
    """A block-diagonal matrix times a matrix by rows."""
    result: Matrix = [[] for _ in rows]
    for joint, block in blocked:
        own = list(zip(*rows[joint.idx_v : joint.idx_v + joint.nv], strict=True))
        for i, entries in enumerate(block):
            result[joint.idx_v + i] = [dot(entries, list(column)) for column in own]
    return result
