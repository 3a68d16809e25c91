"""Derivatives of forward dynamics from those of inverse dynamics.

Carpentier and Mansard, RSS 2018, eq. 24: dFD/du = -M^-1 dID/du at a = FD(q, v, tau), and dFD/dtau = M^-1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rbdgen.functions.derivatives.one_frame import Rows, rnea_derivatives
from rbdgen.functions.forward_dynamics.articulated_body import aba
from rbdgen.functions.inertia_matrix.inverse import inverse
from rbdgen.model.joints import Coordinate
from rbdgen.model.model import Model
from rbdgen.spatial.ldl import ldl
from rbdgen.spatial.scalar import Naming, Scalar, dot, neg, unnamed


class ForwardDynamicsDerivatives(NamedTuple):
    """nv x nv each; da_dq in the tangent space; da_dtau = M^-1."""

    da_dq: Rows
    da_dv: Rows
    da_dtau: Rows


def aba_derivatives(
    model: Model,
    q: Sequence[Coordinate],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    naming: Naming = unnamed,
) -> ForwardDynamicsDerivatives:
    """dFD/dq, dFD/dv and dFD/dtau; arguments as in `aba`."""
    inverse_dynamics = rnea_derivatives(model, q, v, aba(model, q, v, tau, naming=naming), naming)
    factor = ldl(inverse_dynamics.dtau_da, [model.ancestor_dofs(k) for k in range(model.nv)], naming)
    Minv = inverse(factor)
    return ForwardDynamicsDerivatives(
        negative_product(Minv, inverse_dynamics.dtau_dq),
        negative_product(Minv, inverse_dynamics.dtau_dv),
        Minv,
    )


def negative_product(A: Rows, B: Rows) -> Rows:
    """-A B."""
    columns = [list(column) for column in zip(*B, strict=True)]
    return [[neg(dot(row, column)) for column in columns] for row in A]
