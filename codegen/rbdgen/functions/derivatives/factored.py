"""Derivatives of forward dynamics from one factor of M.

dFD/du = -M^-1 dID/du at qdd = FD(q, v, tau) (Carpentier and Mansard, RSS 2018, eq. 24) on a `ReducedModel`.
M = L^T D L from the composites that the derivatives of inverse dynamics are made of anyway, and
M^-1 = W D^-1 W^T with W = L^-1. A column of dID/du is zero off the branch it belongs to, and so is L^-T times
it: W D^-1 L^-T leaves out what M^-1 itself would multiply by zeros.

A floating base's linear velocity and its attitude enter only through its own linear acceleration,
vdot + w x v - R^T g: those columns are known without solving for them.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdgen.functions.derivatives.forward import ForwardDynamicsDerivatives, add_base_velocity
from rbdgen.functions.derivatives.local import rnea_derivatives_local
from rbdgen.functions.derivatives.one_frame import Rows
from rbdgen.functions.inertia_matrix.inverse import unit_lower_inverse, weighted_square
from rbdgen.functions.inertia_matrix.inverse_hybrid import scaled_product
from rbdgen.functions.inertia_matrix.moments import crba_composite
from rbdgen.functions.inverse_dynamics.classical import rnea_classical
from rbdgen.model.joints import Coordinate, JointKind, Pose
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ldl import ldl
from rbdgen.spatial.ops import IDENTITY, Force
from rbdgen.spatial.scalar import Naming, Scalar, neg, sub, unnamed
from rbdgen.sweeps.straight import upward_in_base


def aba_derivatives_factored(
    reduced: ReducedModel,
    q: Sequence[Coordinate],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    fext: Sequence[Force] | None = None,
    naming: Naming = unnamed,
) -> ForwardDynamicsDerivatives:
    """dFD/dq, dFD/dv and dFD/dtau; arguments as in `rnea_classical`, `fext` constant in the bodies."""
    factor = ldl(crba_composite(reduced, q, naming), reduced.ancestors, naming)
    W = [
        {k: naming(f"W[{i},{k}]", value) for k, value in row.items()}
        for i, row in enumerate(unit_lower_inverse(factor))
    ]
    Minv = weighted_square(W, factor.inverse_diagonal)
    still = without_base_translation(reduced, v)
    bias = rnea_classical(reduced, q, still, [0] * reduced.nv, fext, naming)
    qdd = factor.solve([sub(t, b) for t, b in zip(tau, bias, strict=True)])
    qdd = [naming(f"qdd[{k}]", value) for k, value in enumerate(qdd)]
    torque = rnea_derivatives_local(reduced, q, still, qdd, fext, naming)

    def solved(column: Sequence[Scalar]) -> list[Scalar]:
        z = factor.back_substitute([neg(value) for value in column])
        return scaled_product(W, factor.inverse_diagonal, z)

    by_q = [[0] * reduced.nv if known else solved(c) for known, c in _columns(reduced, torque.dtau_dq, 6)]
    by_v = [[0] * reduced.nv if known else solved(c) for known, c in _columns(reduced, torque.dtau_dv, 3)]
    da_dq, da_dv = ([list(row) for row in zip(*solutions, strict=True)] for solutions in (by_q, by_v))
    add_base_terms(reduced, q, v, da_dq, da_dv)
    return ForwardDynamicsDerivatives(da_dq, da_dv, Minv)


def without_base_translation(reduced: ReducedModel, v: Sequence[Scalar]) -> list[Scalar]:
    """v with floating bases at linear velocity zero."""
    still = list(v)
    for body in reduced.bodies:
        if body.joint.kind is JointKind.FLOATING:
            still[body.joint.idx_v : body.joint.idx_v + 3] = [0, 0, 0]
    return still


def _columns(reduced: ReducedModel, rows: Rows, known: int) -> list[tuple[bool, tuple[Scalar, ...]]]:
    """The columns, and whether each is among the first `known` ones of a floating base."""
    of_base = [False] * reduced.nv
    for body in reduced.bodies:
        if body.joint.kind is JointKind.FLOATING:
            of_base[body.joint.idx_v : body.joint.idx_v + known] = [True] * known
    return list(zip(of_base, zip(*rows, strict=True), strict=True))


def add_base_terms(
    reduced: ReducedModel, q: Sequence[Coordinate], v: Sequence[Scalar], da_dq: Rows, da_dv: Rows
) -> None:
    """What a floating base's attitude and linear velocity do to its vdot = a - w x v + R^T g."""
    for i, (body, pose) in enumerate(zip(reduced.bodies, q, strict=True)):
        if not isinstance(pose, Pose):
            continue
        own, upward = body.joint.idx_v, upward_in_base(reduced, i, pose)
        for k, e in enumerate(IDENTITY, own + 3):
            for row, value in enumerate(upward.cross(e), own):
                da_dq[row][k] = neg(value)
        add_base_velocity(body.joint, v, da_dv)
