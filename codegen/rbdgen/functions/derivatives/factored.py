"""Derivatives of forward dynamics from one factor of M.

dFD/du = -M^-1 dID/du at qdd = FD(q, v, tau) (Carpentier and Mansard, RSS 2018, eq. 24), on a `ReducedModel`.
M = L^T D L is computed from composites that the derivatives of inverse dynamics need anyway, and M^-1 = W
D^-1 W^T with W = L^-1. A column of dID/du is zero outside its branch, and so is L^-T times that column. The
product W D^-1 L^-T therefore saves operations that M^-1 itself would spend on zeros.

A floating base's linear velocity and attitude enter only through the base's own linear acceleration, vdot + w
x v - R^T g; those columns are known without a solve.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdgen.functions.derivatives.forward import ForwardDynamicsDerivatives, add_base_velocity
from rbdgen.functions.derivatives.local import rnea_derivatives_local
from rbdgen.functions.derivatives.one_frame import Rows
from rbdgen.functions.inertia_matrix.inverse import factored, unit_lower_inverse, weighted_square
from rbdgen.functions.inertia_matrix.inverse_hybrid import scaled_product
from rbdgen.functions.inertia_matrix.moments import crba_composite
from rbdgen.functions.inverse_dynamics.classical import rnea_classical
from rbdgen.functions.resistance import Slopes, add_to_diagonal
from rbdgen.model.joints import Coordinate
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ops import IDENTITY, Force
from rbdgen.spatial.scalar import Naming, Scalar, neg, sub, unnamed

KNOWN_BY_Q, KNOWN_BY_V = 6, 3
"""How many of a floating base's columns, counted from the first, need no solve: of dFD/dq and of dFD/dv."""


def aba_derivatives_factored(
    reduced: ReducedModel,
    q: Sequence[Coordinate],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    fext: Sequence[Force] | None = None,
    naming: Naming = unnamed,
    resistance: Slopes | None = None,
) -> ForwardDynamicsDerivatives:
    """dFD/dq, dFD/dv and dFD/dtau over the independent degrees of freedom; `fext` turns with the bodies.

    Arguments are as in `composite_moments`. tau is without the torques of joint resistance, whose derivatives
    are `resistance`.
    """
    coupling = reduced.model.coupling
    factor = factored(reduced.model, crba_composite(reduced, q, naming), naming)
    W = [
        {k: naming(f"W[{i},{k}]", value) for k, value in row.items()}
        for i, row in enumerate(unit_lower_inverse(factor))
    ]
    Minv = weighted_square(W, factor.inverse_diagonal)
    still = without_base_translation(reduced, v)
    bias = coupling.folded(rnea_classical(reduced, q, still, [0] * reduced.nv, fext, naming))
    qdd = factor.solve([sub(t, b) for t, b in zip(tau, bias, strict=True)])
    qdd = [naming(f"qdd[{k}]", value) for k, value in enumerate(qdd)]
    torque = rnea_derivatives_local(reduced, q, still, coupling.extended(qdd), fext, naming)
    if resistance is not None:
        add_to_diagonal(torque.dtau_dq, resistance.by_q)
        add_to_diagonal(torque.dtau_dv, resistance.by_v)

    def solved(column: Sequence[Scalar]) -> list[Scalar]:
        z = factor.back_substitute([neg(value) for value in column])
        return scaled_product(W, factor.inverse_diagonal, z)

    def solutions(rows: Rows, count: int) -> list[list[Scalar]]:
        columns = _columns(reduced, coupling.folded_matrix(rows), count)
        return [[0] * coupling.independent if known else solved(column) for known, column in columns]

    by_q, by_v = solutions(torque.dtau_dq, KNOWN_BY_Q), solutions(torque.dtau_dv, KNOWN_BY_V)
    da_dq, da_dv = ([list(row) for row in zip(*columns, strict=True)] for columns in (by_q, by_v))
    add_base_terms(reduced, q, v, da_dq, da_dv)
    return ForwardDynamicsDerivatives(da_dq, da_dv, Minv)


def floating_bases(reduced: ReducedModel) -> list[int]:
    """The first degree of freedom of every body that floats in the world."""
    return [body.joint.idx_v for body in reduced.model.bodies if body.floats]


def known_columns(bases: Sequence[int], count: int) -> list[int]:
    """The first `count` columns of every floating base, which need no solve."""
    return [first + k for first in bases for k in range(count)]


def without_base_translation(reduced: ReducedModel, v: Sequence[Scalar]) -> list[Scalar]:
    """v with the linear velocities of floating bases set to zero."""
    still = known_columns(floating_bases(reduced), KNOWN_BY_V)
    return [0 if k in still else value for k, value in enumerate(v)]


def _columns(reduced: ReducedModel, rows: Rows, count: int) -> list[tuple[bool, tuple[Scalar, ...]]]:
    """The columns, and for each of them whether it is known."""
    known = known_columns(floating_bases(reduced), count)
    return [(k in known, column) for k, column in enumerate(zip(*rows, strict=True))]


def add_base_terms(
    reduced: ReducedModel, q: Sequence[Coordinate], v: Sequence[Scalar], da_dq: Rows, da_dv: Rows
) -> None:
    """Add the effect of a floating base's attitude and linear velocity on its vdot = a - w x v + R^T g."""
    for body, placed in zip(reduced.model.bodies, reduced.at(q), strict=True):
        if not body.floats:
            continue
        own, upward = body.joint.idx_v, placed.rotation.to_child(-reduced.gravity)
        for k, e in enumerate(IDENTITY, own + 3):
            for row, value in enumerate(upward.cross(e), own):
                da_dq[row][k] = neg(value)
        add_base_velocity(body.joint, v, da_dv)
