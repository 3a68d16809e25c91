"""The inverse of the joint-space inertia matrix, computed in two ways.

`minv_recursive` follows Carpentier, Analytical Inverse of the Joint Space Inertia Matrix, LAAS 2018, with
three errors of its first listing corrected. Here Minv[i, i] is set before it is used, the force that is
passed to the parent is added to the force of the parent, and the outward pass runs over all columns from i
on.

`minv_factored` uses CRBA, the sparse factors L^T D L (Featherstone 2008, section 6.5), and the inverse along
the tree.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdgen.functions.inertia_matrix.composite import crba
from rbdgen.model.articulated import ArticulatedInertia, JointFactor, combination, factor_joint
from rbdgen.model.joints import Coordinate
from rbdgen.model.model import WORLD, Model
from rbdgen.spatial.ldl import LDL, ldl
from rbdgen.spatial.ops import NO_FORCE, NO_MOTION, Force, Motion, Transform
from rbdgen.spatial.scalar import Naming, Scalar, add, mul, sub, unnamed
from rbdgen.sweeps.records import named


def minv_recursive(model: Model, q: Sequence[Coordinate], naming: Naming = unnamed) -> list[list[Scalar]]:
    """M(q)^-1, nv x nv, full symmetric.

    The quantities have the following meanings at v = 0 without gravity. F_i tau is the articulated bias force
    of body i in the ABA. After the inward pass, row i of Minv times tau is D_i^-1 u_i. P_i tau is a_i for a
    tau whose elements before i are zero.
    """
    transforms = [body.transform(q_i) for body, q_i in zip(model.bodies, q, strict=True)]
    Minv: list[list[Scalar]] = [[0] * model.nv for _ in range(model.nv)]
    factors = _inward(model, transforms, Minv, naming)
    _outward(model, transforms, factors, Minv, naming)
    for i in range(model.nv):
        for j in range(i):
            Minv[i][j] = Minv[j][i]
    return Minv


def _inward(
    model: Model, transforms: Sequence[Transform], Minv: list[list[Scalar]], naming: Naming
) -> list[JointFactor]:
    articulated = [ArticulatedInertia.of(body.inertia) for body in model.bodies]
    F: list[list[Force]] = [[NO_FORCE] * model.nv for _ in model.bodies]
    factors: list[JointFactor] = []
    for i in reversed(range(model.nbodies)):
        body, X, first = model.bodies[i], transforms[i], model.bodies[i].joint.idx_v
        factor = factor_joint(articulated[i], body.joint.motion_subspace, body.joint.armature)
        factors.insert(0, factor)
        own = range(first, first + body.joint.nv)
        subtree = range(first, model.subtree_dof_end[i])
        for column in subtree:
            unit = [1 if k == column else 0 for k in own]
            right = [sub(e, S.dot(F[i][column])) for e, S in zip(unit, factor.S, strict=True)]
            for k, value in zip(own, factor.solve(right), strict=True):
                Minv[k][column] = value
        if body.parent == WORLD:
            continue
        for column in subtree:
            passed = F[i][column] + combination(factor.U, [Minv[k][column] for k in own])
            F[body.parent][column] = (F[body.parent][column] + X.force_to_parent(passed)).named(
                naming, f"F[{body.parent},{column}]"
            )
        total = articulated[body.parent] + factor.project(articulated[i]).transformed(X)
        articulated[body.parent] = named(ArticulatedInertia, total, naming, f"IA[{body.parent}]")
    return factors


def _outward(
    model: Model,
    transforms: Sequence[Transform],
    factors: Sequence[JointFactor],
    Minv: list[list[Scalar]],
    naming: Naming,
) -> None:
    P: list[list[Motion]] = [[NO_MOTION] * model.nv for _ in model.bodies]
    for i, (body, X, factor) in enumerate(zip(model.bodies, transforms, factors, strict=True)):
        first = body.joint.idx_v
        own = range(first, first + body.joint.nv)
        for column in range(first, model.nv):
            carried = NO_MOTION
            if body.parent != WORLD:
                carried = X.motion_to_child(P[body.parent][column])
                change = factor.solve([carried.dot(U) for U in factor.U])
                for k, value in zip(own, change, strict=True):
                    Minv[k][column] = sub(Minv[k][column], value)
            for k, S in zip(own, factor.S, strict=True):
                carried = carried + S * Minv[k][column]
            P[i][column] = carried.named(naming, f"P[{i},{column}]")


def minv_factored(model: Model, q: Sequence[Coordinate], naming: Naming = unnamed) -> list[list[Scalar]]:
    """M(q)^-1, nv x nv, full symmetric, from CRBA and sparse L^T D L."""
    return inverse(factored(model, crba(model, q, naming), naming))


def factored(model: Model, M: Sequence[Sequence[Scalar]], naming: Naming = unnamed) -> LDL:
    """The factor of M, which is given over all degrees of freedom and folded to the independent ones."""
    elimination = model.elimination
    return ldl(model.coupling.folded_matrix(M), elimination.ancestors, naming, elimination.order)


def inverse(factor: LDL) -> list[list[Scalar]]:
    """H^-1 = W D^-1 W^T with W = L^-1."""
    return weighted_square(unit_lower_inverse(factor), factor.inverse_diagonal)


def unit_lower_inverse(factor: LDL) -> list[dict[int, Scalar]]:
    """W = L^-1 by rows. Row i is nonzero only at i, where it is 1, and at the ancestors of i."""
    W: list[dict[int, Scalar]] = [{} for _ in factor.lower]
    for i in factor.order:
        row: dict[int, Scalar] = {i: 1}
        for j in factor.ancestors[i]:
            value: Scalar = 0
            for k in factor.ancestors[i]:
                if j in W[k]:
                    value = sub(value, mul(factor.lower[i][k], W[k][j]))
            row[j] = value
        W[i] = row
    return W


def weighted_square(W: Sequence[dict[int, Scalar]], weights: Sequence[Scalar]) -> list[list[Scalar]]:
    """W diag(weights) W^T, full symmetric, from sparse rows with W_ii = 1."""
    n = len(W)
    scaled = [{k: mul(value, weights[k]) for k, value in row.items()} for row in W]
    H: list[list[Scalar]] = [[0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i, n):
            value: Scalar = 0
            for k in scaled[i]:
                if k in W[j]:
                    value = add(value, mul(scaled[i][k], W[j][k]) if k != i else scaled[j][k])
            H[i][j] = H[j][i] = value
    return H
