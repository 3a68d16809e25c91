"""Second derivatives of forward dynamics from those of inverse dynamics, at a = FD(q, v, tau).

They follow from differentiating ID(q, v, FD(q, v, tau)) = tau twice. Let D_j = dM/dq_j, a_j = da/dq_j and
a_k' = da/dv_k, and let qq, qv and vv be the second derivatives of inverse dynamics. Then the columns are

    by q_j, q_k     -M^-1 (qq_jk + D_j a_k + D_k a_j)
    by q_j, v_k     -M^-1 (qv_jk + D_j a_k')
    by v_j, v_k     -M^-1 vv_jk
    by q_j, tau_k   -M^-1 D_j M^-1 e_k

The pose and the linear velocity of a floating base enter only through its own acceleration. With u = -R^T g,
it is vdot = a - w x v - u, where a does not depend on them. The derivatives by the pose and the linear
velocity are therefore known without M, and all others are computed for a base whose linear velocity is 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from rbdgen.functions.derivatives.known_columns import KnownColumns
from rbdgen.functions.derivatives.solved import Solved
from rbdgen.functions.forward_dynamics.composite import forward_dynamics_composite
from rbdgen.functions.inertia_matrix.composite import crba
from rbdgen.functions.inertia_matrix.inverse import factored, inverse, weighted_square
from rbdgen.functions.resistance import less
from rbdgen.functions.second_derivatives.inverse_dynamics import (
    Expansion,
    bodies_moved,
    expansion,
    expansion_without_savings,
    turned_twice,
    upward,
)
from rbdgen.functions.second_derivatives.tensors import Index, Tensor, symmetric
from rbdgen.model.model import Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ops import IDENTITY
from rbdgen.spatial.rows import Rows
from rbdgen.spatial.scalar import Scalar, add, dot, is_zero, mul, neg
from rbdgen.sweeps.inputs import State

Solve = Callable[[Sequence[Scalar]], list[Scalar]]
"""Multiplies a column by -M^-1."""


class ForwardSecond(NamedTuple):
    """The second derivatives of forward dynamics; element [i, j, k] is that of a_i."""

    qq: Tensor  # by q_j, then q_k
    qv: Tensor  # by q_j, then v_k
    vv: Tensor  # by v_j, then v_k
    qtau: Tensor  # by q_j and tau_k


def aba_second(reduced: ReducedModel, x: State) -> ForwardSecond:
    """The second derivatives over the independent degrees of freedom, with a floating base treated
    separately."""
    model, known, s = reduced.model, KnownColumns(reduced), Solved.at(reduced, x)
    torque = expansion(reduced, replace(x, v=s.v, a=model.coupling.extended(s.accelerations)))
    Minv = weighted_square(s.W, s.factor.inverse_diagonal)
    result = _solved(model, x, torque, s.minus_solved, Minv, known.unknown["q"], known.unknown["v"])
    for base, u in upward(reduced, x):
        turn = base + 3
        for j, k, change in turned_twice(u):
            crossed = IDENTITY[j].cross(IDENTITY[k])
            for row in range(3):
                result.qq[base + row, turn + j, turn + k] = neg(change[row])
                linear = neg(crossed[row])
                result.vv[base + row, turn + j, base + k] = result.vv[base + row, base + k, turn + j] = linear
    return result


def aba_second_without_savings(model: Model, x: State) -> ForwardSecond:
    """Second derivatives with M^-1 as a matrix, from which every column is computed."""
    coupling, torques = model.coupling, less(model, x)
    Minv = inverse(factored(model, crba(model, x.q, x.naming), x.naming))
    qdd = forward_dynamics_composite(model, x.q, x.v, torques, naming=x.naming)
    torque = expansion_without_savings(model, replace(x, a=coupling.extended(qdd)))
    every = range(coupling.independent)

    def solve(column: Sequence[Scalar]) -> list[Scalar]:
        return [neg(dot(row, list(column))) for row in Minv]

    return _solved(model, x, torque, solve, Minv, every, every)


def _solved(
    model: Model,
    x: State,
    torque: Expansion,
    solve: Solve,
    Minv: Rows,
    by_q: Sequence[int],
    by_v: Sequence[int],
) -> ForwardSecond:
    """The second derivatives by q along the degrees of freedom `by_q`, by v at those of `by_v`, and by all of
    tau.
    """
    second, every, moved = torque.second, range(len(Minv)), bodies_moved(model)
    rates: dict[int, list[tuple[int, int, Scalar]]] = {j: [] for j in every}
    for (i, m, j), value in second.qa.items():
        rates[j].append((i, m, value))

    def first(of: str, rows: Rows, columns: Sequence[int]) -> dict[int, list[Scalar]]:
        found = {k: solve([row[k] for row in rows]) for k in columns}
        return {
            k: [x.naming(f"da_{of}[{i},{k}]", value) for i, value in enumerate(column)]
            for k, column in found.items()
        }

    def by_rate(j: int, column: Sequence[Scalar]) -> list[Scalar]:
        """The product of D_j and a column."""
        product: list[Scalar] = [0] * len(column)
        for i, m, value in rates[j]:
            product[i] = add(product[i], mul(value, column[m]))
        return product

    def solved(tensor: Tensor, j: int, k: int, *more: Sequence[Scalar]) -> list[Scalar]:
        """The product of -M^-1 and the sum of a column of the tensor and other columns."""
        column = [tensor.get((i, j, k), 0) for i in every]
        for other in more:
            column = [add(one, value) for one, value in zip(column, other, strict=True)]
        return solve(column)

    a_q, a_v = first("dq", torque.dq, by_q), first("dv", torque.dv, by_v)
    mixed = {(j, k): by_rate(j, a_q[k]) for j in by_q for k in by_q}
    qq, qv, vv, qtau = (Tensor() for _ in ForwardSecond._fields)
    for j in by_q:
        for k in by_q:
            if k <= j or moved[j] == moved[k]:
                _put(qq, j, k, solved(second.qq, j, k, mixed[j, k], mixed[k, j]), moved[j] != moved[k])
        for k in by_v:
            _put(qv, j, k, solved(second.qv, j, k, by_rate(j, a_v[k])))
        for k in every:
            _put(qtau, j, k, solved({}, j, k, by_rate(j, Minv[k])))
    for j in by_v:
        for k in (k for k in by_v if k <= j):
            _put(vv, j, k, solved(second.vv, j, k), both=True)
    return ForwardSecond(qq, qv, vv, symmetric(qtau, _of_ends))


def _put(tensor: Tensor, j: int, k: int, column: Sequence[Scalar], both: bool = False) -> None:
    """Writes a column of a tensor; with `both`, for both orders of the indices j and k."""
    for i, value in enumerate(column):
        if not is_zero(value):
            tensor[i, j, k] = value
            if both:
                tensor[i, k, j] = value


def _of_ends(i: int, j: int, k: int) -> Index:
    """The index of the equal element of qtau, the derivative of the symmetric matrix M^-1 by q_j."""
    return k, j, i
