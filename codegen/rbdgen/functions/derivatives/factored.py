"""Derivatives of forward dynamics from one factor of M.

dFD/du = -M^-1 dID/du at qdd = FD(q, v, tau) (Carpentier and Mansard, RSS 2018, eq. 24), on a `ReducedModel`.
M = L^T D L is computed from composites that the derivatives of inverse dynamics need anyway, and M^-1 = W
D^-1 W^T with W = L^-1. A column of dID/du is zero outside its branch, and so is L^-T times that column. The
product W D^-1 L^-T therefore saves operations that M^-1 itself would spend on zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rbdgen.functions.derivatives.forward import ForwardDynamicsDerivatives, from_classical
from rbdgen.functions.derivatives.known_columns import KnownColumns, add_base_terms
from rbdgen.functions.derivatives.solved import Solved, torque_derivatives
from rbdgen.functions.inertia_matrix.inverse import weighted_square
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.rows import Rows, transposed
from rbdgen.spatial.scalar import Scalar
from rbdgen.sweeps.inputs import State


def aba_and_derivatives_factored(
    reduced: ReducedModel, x: State
) -> tuple[Sequence[Scalar], ForwardDynamicsDerivatives]:
    """FD, dFD/dq, dFD/dv and dFD/dtau over the independent degrees of freedom at q, v, tau and fext.

    Joint resistance is included. External forces turn with the bodies.
    """
    coupling, known = reduced.model.coupling, KnownColumns(reduced)
    solved = Solved.at(reduced, x)
    Minv = weighted_square(solved.W, solved.factor.inverse_diagonal)
    qdd = coupling.extended(solved.accelerations)
    by_q, by_v = torque_derivatives(reduced, replace(x, v=solved.v, a=qdd))

    def solutions(rows: Rows, known: list[int]) -> Rows:
        return transposed(
            [
                [0] * coupling.independent if k in known else solved.minus_solved(column)
                for k, column in enumerate(transposed(rows))
            ]
        )

    da_dq, da_dv = solutions(by_q, known.known["q"]), solutions(by_v, known.known["v"])
    add_base_terms(reduced, x.q, x.v, da_dq, da_dv)
    a = from_classical(reduced.model, x.v, solved.accelerations)
    return a, ForwardDynamicsDerivatives(da_dq, da_dv, Minv)
