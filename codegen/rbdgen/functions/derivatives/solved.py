"""Forward dynamics at a state, solved with one factor of M, and the derivatives of the torques at this state.

All derivatives of forward dynamics on a `ReducedModel` begin with these steps. M = L^T D L is computed from
composite mass moments (Featherstone 2008, section 6.5). A floating base's linear velocity is left out, see
`known_columns.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from rbdgen.functions.derivatives.known_columns import without_base_translation
from rbdgen.functions.derivatives.local import rnea_derivatives_local
from rbdgen.functions.inertia_matrix.inverse import factored, unit_lower_inverse
from rbdgen.functions.inertia_matrix.inverse_hybrid import scaled_product
from rbdgen.functions.inertia_matrix.moments import crba_composite
from rbdgen.functions.inverse_dynamics.classical import rnea_classical
from rbdgen.functions.resistance import add_to_diagonal, less, slopes
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ldl import LDL
from rbdgen.spatial.rows import Rows
from rbdgen.spatial.scalar import Naming, Scalar, neg, sub
from rbdgen.sweeps.inputs import State


@dataclass(frozen=True)
class Solved:
    """M = L^T D L at a state, and the torques that accelerate the robot."""

    reduced: ReducedModel
    x: State
    factor: LDL
    W: Sequence[dict[int, Scalar]]
    """The rows of L^-1."""
    v: Sequence[Scalar]
    """Velocities of all joints, without the linear velocities of floating bases."""

    @classmethod
    def at(cls, reduced: ReducedModel, x: State) -> Solved:
        factor = factored(reduced.model, crba_composite(reduced, x.q, x.naming), x.naming)
        W = [
            {k: x.naming(f"W[{i},{k}]", value) for k, value in row.items()}
            for i, row in enumerate(unit_lower_inverse(factor))
        ]
        return cls(reduced, x, factor, W, without_base_translation(reduced.model, x.v))

    @cached_property
    def torques(self) -> list[Scalar]:
        """tau - h, where h includes joint resistance and external forces."""
        still = [0] * self.reduced.nv
        bias = rnea_classical(self.reduced, self.x.q, self.v, still, self.x.fext, self.x.naming)
        folded = self.reduced.model.coupling.folded(bias)
        return [sub(t, b) for t, b in zip(less(self.reduced.model, self.x), folded, strict=True)]

    @cached_property
    def accelerations(self) -> list[Scalar]:
        """M^-1 (tau - h), of the independent degrees of freedom."""
        return named(self.factor.solve(self.torques), self.x.naming, "qdd")

    def minus_solved(self, column: Sequence[Scalar]) -> list[Scalar]:
        """-M^-1 times a column. L^-T is applied by substitution, which skips the zeros of the column, and
        then W D^-1."""
        z = self.factor.back_substitute([neg(value) for value in column])
        return scaled_product(self.W, self.factor.inverse_diagonal, z)


def torque_derivatives(reduced: ReducedModel, x: State, taken: Iterable[Rows] = ()) -> tuple[Rows, Rows]:
    """dID/dq and dID/dv over the independent degrees of freedom, with joint resistance.

    `taken` are matrices over all degrees of freedom, which are subtracted from dID/dq.
    """
    torque = rnea_derivatives_local(reduced, x.q, x.v, x.a, x.fext, x.naming)
    for part in taken:
        for row, others in zip(torque.dtau_dq, part, strict=True):
            row[:] = [sub(value, other) for value, other in zip(row, others, strict=True)]
    resistance = slopes(reduced.model, x)
    add_to_diagonal(torque.dtau_dq, resistance.by_q)
    add_to_diagonal(torque.dtau_dv, resistance.by_v)
    folded = reduced.model.coupling.folded_matrix
    return folded(torque.dtau_dq), folded(torque.dtau_dv)


def named(values: Sequence[Scalar], naming: Naming, label: str) -> list[Scalar]:
    """A vector with a name for each element."""
    return [naming(f"{label}[{k}]", value) for k, value in enumerate(values)]
