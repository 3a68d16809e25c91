"""Second derivatives of inverse dynamics by forward differentiation of its analytical first derivatives.

Element [i, j, k] of a tensor is a second derivative of tau_i, first by variable j, then by variable k. The
pairs of variables are (q, q), (q, v), (v, v) and (a, q); the last gives dM_ij/dq_k. Derivatives by q are in
its tangent space. The first derivatives are evaluated on dual numbers, whose variables are the degrees of
freedom. Elements that follow from others are not differentiated; the symmetries are those of Singh, Russell
and Wensing, 2022:

- If q_j and q_k belong to two joints, the column of the deeper joint is differentiated by the coordinate of
  the other joint. The result serves for both orders.
- The derivative by v_j and v_k is dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i, as the inertial torque is quadratic
  in v. If the joint of row i has several degrees of freedom, its axes S rotate with it, which adds
  S_i . (S_j x* F_k + S_k x* F_j). Here F_k is the sum of the forces S_o M_ok over the degrees of freedom o of
  this joint, and the term of S_j is left out if j belongs to another joint.
- The pose of a floating base enters only through u = -R^T g, which acts like an acceleration. A change of u
  adds M[:, linear] times this change to tau. The derivative of u along a rotation about e_j is u x e_j, and
  the derivative of this along a rotation about e_k is (u x e_k) x e_j.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rbdgen.functions.derivatives.local import rnea_derivatives_local
from rbdgen.functions.derivatives.one_frame import InverseDynamicsDerivatives, rnea_derivatives
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
from rbdgen.spatial.rows import Rows
from rbdgen.spatial.scalar import Scalar, add, is_zero, sub
from rbdgen.sweeps.inputs import State


class Second(NamedTuple):
    """The second derivatives of inverse dynamics; element [i, j, k] is that of tau_i."""

    qq: Tensor  # by q_j, then q_k
    qv: Tensor  # by q_j, then v_k
    vv: Tensor  # by v_j, then v_k
    qa: Tensor  # by a_j, then q_k: dM_ij/dq_k


class Expansion(NamedTuple):
    """First and second derivatives of inverse dynamics over the independent degrees of freedom.

    They include the springs, damping, friction and armature of the joints.
    """

    dq: Rows  # dtau/dq
    dv: Rows  # dtau/dv
    M: Rows  # dtau/da
    second: Second


def expansion(reduced: ReducedModel, x: State) -> Expansion:
    """The derivatives at q, v and a, which hold the values of all degrees of freedom."""
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
    """The expansion by dual numbers alone: the textbook's derivatives, differentiated by all coordinates and
    velocities.
    """
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
    # The dual numbers have n variables q, then n variables v. Indices outside 0 ... n - 1 belong to
    # derivatives by the other kind of variable.
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
    """The index of the second derivative in the other order."""
    return i, k, j


def _of_matrix(i: int, j: int, k: int) -> Index:
    """The index of the equal element of the derivative of a symmetric matrix."""
    return j, i, k


def _slopes(matrix: Rows) -> Iterator[tuple[Index, Scalar]]:
    """The derivatives of a matrix of dual numbers, with the variable as the last index."""
    for i, row in enumerate(matrix):
        for j, x in enumerate(row):
            for k, slope in slopes_of(x).items():
                yield (i, j, k), slope


def _by_velocities(model: Model, M: Rows, qa: Tensor) -> Tensor:
    """The second derivatives by v from M and dM/dq."""
    moved, result = bodies_moved(model), Tensor()
    every = range(model.nv)

    def turned(i: int, j: int, k: int) -> Scalar:
        """S_i . (S_j x* F_k) if i and j belong to one joint of several degrees of freedom, otherwise 0."""
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
    """The first degree of freedom of every floating base, with u = -R^T g, which stands for gravity and is
    added to the base's acceleration.
    """
    for body, placed in zip(reduced.model.bodies, reduced.at(x.q), strict=True):
        if body.floats:
            yield body.joint.idx_v, placed.rotation.to_child(-reduced.gravity)


def turned_twice(u: Vector) -> Iterator[tuple[int, int, Vector]]:
    """The second derivatives of u = -R^T g along rotations, first about e_j, then about e_k: (j, k, (u x e_k)
    x e_j).
    """
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
    """Adds joint resistance to the derivatives, and folds them over the independent degrees of freedom."""
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
    """Makes qq[i, j, k] and qq[i, k, j] one value if j and k belong to two joints.

    The motions of one joint need not commute, so the elements within a joint are left as they are, including
    those that are 0 although the element with j and k exchanged is not.
    """
    moved = bodies_moved(model)
    own = {index: value for index, value in qq.items() if moved[index[1]] == moved[index[2]]}
    between = {index: value for index, value in qq.items() if index not in own}
    return symmetric(between, by_columns) | own
