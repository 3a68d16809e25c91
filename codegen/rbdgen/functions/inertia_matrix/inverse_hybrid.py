"""The inverse of the joint-space inertia matrix on a reduced model, two ways.

`minv_hybrid`, for trees: the inward pass of the articulated-body algorithm yields W = L^-1 of M = L^T D L
directly. The force that a unit torque at dof j leaves at an ancestor's joint i, f_z, gives W_ji = -f_z; with
D of the same pass Minv_ij = sum over common joints k of W_ik W_jk / D_k, plus the floating base's share
y_i^T D_b^-1 y_j, y_j = L_b^-T f_j. No sweep outward over columns.

`minv_composite`, for short chains: CRBA by composites, sparse L^T D L and the inverse along the tree.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdgen.functions.forward_dynamics.articulated_planar import articulated_factors
from rbdgen.functions.forward_dynamics.bias import with_joint_force
from rbdgen.functions.inertia_matrix.inverse import inverse, unit_lower_inverse, weighted_square
from rbdgen.functions.inertia_matrix.moments import crba_composite
from rbdgen.functions.inverse_dynamics.classical import along_joint, force_to_parent
from rbdgen.model.articulated import JointFactor
from rbdgen.model.joints import Coordinate
from rbdgen.model.model import WORLD
from rbdgen.model.reduce import ReducedBody, ReducedModel
from rbdgen.spatial.ldl import ldl
from rbdgen.spatial.ops import Force
from rbdgen.spatial.scalar import Naming, Scalar, mul, neg, unnamed


def minv_composite(
    reduced: ReducedModel, q: Sequence[Coordinate], naming: Naming = unnamed
) -> list[list[Scalar]]:
    """M(q)^-1, nv x nv, full symmetric, from CRBA and sparse L^T D L."""
    return inverse(ldl(crba_composite(reduced, q, naming), reduced.ancestors, naming))


def minv_hybrid(
    reduced: ReducedModel, q: Sequence[Coordinate], naming: Naming = unnamed
) -> list[list[Scalar]]:
    """M(q)^-1, nv x nv, full symmetric; entries between roots' trees are exactly 0."""
    bodies = reduced.at(q)
    factors = articulated_factors(bodies, naming)
    return weighted_square(*unit_responses(bodies, factors, reduced.nv, naming))


def unit_responses(
    bodies: Sequence[ReducedBody], factors: Sequence[JointFactor], nv: int, naming: Naming
) -> tuple[list[dict[int, Scalar]], list[Scalar]]:
    """W = L^-1 by sparse rows, and D^-1; leaves to root."""
    W: list[dict[int, Scalar]] = [{} for _ in range(nv)]
    inverse_diagonal: list[Scalar] = [0] * nv
    carried: list[dict[int, Force]] = [{} for _ in bodies]
    for i in reversed(range(len(bodies))):
        body, factor, own = bodies[i], factors[i], bodies[i].joint.idx_v
        inverse_diagonal[own : own + body.joint.nv] = factor.D.inverse_diagonal
        for k, row in enumerate(unit_lower_inverse(factor.D), own):
            W[k] = {own + column: value for column, value in row.items()}
        for j, force in carried[i].items():
            response = factor.D.back_substitute(along_joint(body, force))
            W[j].update({k: naming(f"W[{j},{k}]", neg(value)) for k, value in enumerate(response, own)})
        if body.parent != WORLD:
            passed = {own: with_joint_force(body, factor.scaled, 1)}
            for j, force in carried[i].items():
                rate = mul(W[j][own], inverse_diagonal[own])
                passed[j] = with_joint_force(body, force + factor.U[0] * rate, 0)
            for j, force in passed.items():
                carried[body.parent][j] = force_to_parent(body, force).named(naming, f"F[{body.parent},{j}]")
    return W, inverse_diagonal
