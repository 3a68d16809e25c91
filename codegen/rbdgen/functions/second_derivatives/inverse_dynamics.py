"""Second derivatives of inverse dynamics: the analytical first ones, differentiated forward.

[i, j, k] of a tensor is d/dk of dtau_i/dj, by (q, q), (q, v), (v, v), and (a, q): dM_ij/dq_k; q in the
tangent space, the later derivative last. Dual numbers run through the first derivatives along the joints'
own motions. What follows from others is not differentiated (Singh, Russell and Wensing, 2022, have the
symmetries):

- by q_j and q_k the derivative of the deeper joint's column is taken by the other joint, once for both;
- by v twice it is dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i, the inertial torque being quadratic in v. In the
  rows of a joint with several degrees of freedom, whose S turn with it, S_i . (S_j x* F_k + S_k x* F_j) is
  added, F_k the force of S_o M_ok over the joint's own o, and S_j 0 where j is of another joint;
- a floating base's pose enters by u = -R^T g alone, like an acceleration: tau grows by M[:, linear] times the
  change of u, u x e_k for a turn about e_k, then (u x e_k) x e_j about e_j.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rbdgen.functions.derivatives.local import rnea_derivatives_local
from rbdgen.functions.derivatives.one_frame import InverseDynamicsDerivatives, Rows, rnea_derivatives
from rbdgen.functions.resistance import (
    add_to_diagonal,
    by_acceleration,
    by_position,
    by_velocity,
    by_velocity_twice,
    terms_of,
)
from rbdgen.functions.second_derivatives.coordinates import dual_coordinate
from rbdgen.functions.second_derivatives.tensors import Index, Tensor, folded, symmetric
from rbdgen.model.model import Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.dual import Dual, naming_duals, slopes_of, value_of
from rbdgen.spatial.ops import IDENTITY, NO_FORCE, Force, Vector
from rbdgen.spatial.scalar import Scalar, add, is_zero, sub
from rbdgen.sweeps.inputs import State


class Second(NamedTuple):
    """The second derivatives of inverse dynamics, see the top; `qa` is dM/dq."""

    qq: Tensor
    qv: Tensor
    vv: Tensor
    qa: Tensor


class Expansion(NamedTuple):
    """Derivatives of inverse dynamics over the independent degrees of freedom, with what joints set against
    their motion."""

    dq: Rows
    dv: Rows
    M: Rows
    second: Second


def expansion(reduced: ReducedModel, x: State) -> Expansion:
    """At q, v and a, those of all degrees of freedom."""
    model, moved = reduced.model, bodies_moved(reduced.model)
    q = [
        q_i if body.floats else dual_coordinate(body.joint, q_i)
        for body, q_i in zip(model.bodies, x.q, strict=True)
    ]
    first = rnea_derivatives_local(reduced, q, x.v, x.a, naming=naming_duals(x.naming))
    M = [list(map(value_of, row)) for row in first.dtau_da]
    qq: Tensor = {}
    for (i, j, k), value in _slopes(first.dtau_dq):
        if moved[j] == moved[k]:
            qq[i, j, k] = value
        elif moved[j] > moved[k]:
            qq[i, j, k] = qq[i, k, j] = value
    qa = symmetric(dict(_slopes(first.dtau_da)), _of_matrix)
    qq |= _of_base(reduced, x, M, qa)
    qv = {(i, k, j): value for (i, j, k), value in _slopes(first.dtau_dv)}
    return _over_independent(model, x, first, Second(qq, qv, _by_velocities(model, M, qa), qa))


def expansion_without_savings(model: Model, x: State) -> Expansion:
    """The same by dual numbers alone, through all coordinates and velocities, as the textbook has it."""
    n = model.nv
    q = [dual_coordinate(body.joint, q_i) for body, q_i in zip(model.bodies, x.q, strict=True)]
    v = [Dual(value, {n + k: 1}) for k, value in enumerate(x.v)]
    first = rnea_derivatives(model, q, v, x.a, naming=naming_duals(x.naming))
    by_v = dict(_slopes(first.dtau_dv))
    second = Second(
        dict(_slopes(first.dtau_dq)),
        {(i, k, j): value for (i, j, k), value in by_v.items()},
        {(i, j, k - n): value for (i, j, k), value in by_v.items()},
        dict(_slopes(first.dtau_da)),
    )
    # what is by velocities among the first ones, and by positions among the last ones, has other indices
    inside = (
        {index: value for index, value in tensor.items() if min(index) >= 0 and max(index) < n}
        for tensor in second
    )
    return _over_independent(model, x, first, Second(*inside))


def bodies_moved(model: Model) -> dict[int, int]:
    """The body of every degree of freedom."""
    return {
        k: i
        for i, body in enumerate(model.bodies)
        for k in range(body.joint.idx_v, body.joint.idx_v + body.joint.nv)
    }


def by_columns(i: int, j: int, k: int) -> Index:
    """What two derivatives in the other order have."""
    return i, k, j


def _of_matrix(i: int, j: int, k: int) -> Index:
    """What the derivative of a symmetric matrix has in the other half."""
    return j, i, k


def _slopes(matrix: Rows) -> Iterator[tuple[Index, Scalar]]:
    """The derivatives of a matrix of dual numbers, the variable last."""
    for i, row in enumerate(matrix):
        for j, x in enumerate(row):
            for k, slope in slopes_of(x).items():
                yield (i, j, k), slope


def _by_velocities(model: Model, M: Rows, qa: Tensor) -> Tensor:
    """vv from M and dM/dq."""
    moved, result = bodies_moved(model), Tensor()
    every = range(model.nv)

    def turned(i: int, j: int, k: int) -> Scalar:
        """S_i . (S_j x* F_k) where i and j are of one joint of several degrees of freedom."""
        joint = model.bodies[moved[j]].joint
        if moved[i] != moved[j] or joint.nv == 1:
            return 0
        S, force = joint.motion_subspace, NO_FORCE
        for S_o, row in zip(S, joint.slice(M), strict=True):
            force = force + Force(S_o.angular, S_o.linear) * row[k]
        return S[i - joint.idx_v].dot(S[j - joint.idx_v].cross_force(force))

    for i, j in ((i, j) for i in every for j in every):
        for k in range(j + 1):
            value = sub(add(qa.get((i, j, k), 0), qa.get((i, k, j), 0)), qa.get((j, k, i), 0))
            value = add(value, add(turned(i, j, k), turned(i, k, j)))
            if not is_zero(value):
                result[i, j, k] = result[i, k, j] = value
    return result


def upward(reduced: ReducedModel, x: State) -> Iterator[tuple[int, Vector]]:
    """The first degree of freedom of every floating base, and u = -R^T g, what gravity adds to its
    acceleration."""
    for body, placed in zip(reduced.model.bodies, reduced.at(x.q), strict=True):
        if body.floats:
            yield body.joint.idx_v, placed.rotation.to_child(-reduced.gravity)


def turned_twice(u: Vector) -> Iterator[tuple[int, int, Vector]]:
    """The second derivatives of u = -R^T g by turns about e_j, then e_k: (u x e_k) x e_j."""
    for j, about in enumerate(IDENTITY):
        for k, later in enumerate(IDENTITY):
            yield j, k, u.cross(later).cross(about)


def _of_base(reduced: ReducedModel, x: State, M: Rows, qa: Tensor) -> Tensor:
    """The entries of qq by the poses of floating bases."""
    result: Tensor = {}
    every = range(reduced.nv)
    for base, u in upward(reduced, x):
        turn = base + 3
        for i in every:
            for j, k, change in turned_twice(u):
                result[i, turn + j, turn + k] = Vector(*M[i][base:turn]).dot(change)
            for j in every:
                slope = Vector(*(qa.get((i, base + c, j), 0) for c in range(3)))
                for k, e in enumerate(IDENTITY, turn):
                    value = slope.dot(u.cross(e))
                    if not is_zero(value):
                        result[i, j, k] = result[i, k, j] = value
    return result


def _over_independent(model: Model, x: State, first: InverseDynamicsDerivatives, second: Second) -> Expansion:
    """With what joints set against their motion, over the degrees of freedom that follow no other."""
    dq, dv, M = ([list(map(value_of, row)) for row in matrix] for matrix in first[:3])
    for matrix, term in ((dq, by_position), (dv, by_velocity), (M, by_acceleration)):
        add_to_diagonal(matrix, terms_of(model, term, x))
    for k, value in enumerate(terms_of(model, by_velocity_twice, x)):
        if not is_zero(value):
            second.vv[k, k, k] = add(second.vv.get((k, k, k), 0), value)
    fold = model.coupling.folded_matrix
    qq, qv, vv, qa = (folded(model, tensor) for tensor in second)
    if not model.coupling.is_trivial:
        qq = _symmetric_between_bodies(model, qq)
        vv, qa = symmetric(vv, by_columns), symmetric(qa, _of_matrix)
    return Expansion(fold(dq), fold(dv), fold(M), Second(qq, qv, vv, qa))


def _symmetric_between_bodies(model: Model, qq: Tensor) -> Tensor:
    """qq with one value for both orders where j and k move two bodies.

    Motions of one joint need not commute: all their elements stay as they are, and one that is not there is 0
    even where its mirror image is not.
    """
    moved = bodies_moved(model)
    own = {index: value for index, value in qq.items() if moved[index[1]] == moved[index[2]]}
    between = {index: value for index, value in qq.items() if index not in own}
    return symmetric(between, by_columns) | own
