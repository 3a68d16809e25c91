"""Forward dynamics by the inertia matrix, for robots on which it costs less than articulated bodies.

M a = tau - nle over the independent degrees of freedom, with M = L^T D L (Featherstone 2008, section 6.5). M
and nle are folded from those of all joints, see `model/coupling.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdgen.functions.inertia_matrix.composite import crba
from rbdgen.functions.inertia_matrix.inverse import factored
from rbdgen.functions.inertia_matrix.moments import crba_composite
from rbdgen.functions.inverse_dynamics.classical import rnea_classical
from rbdgen.functions.inverse_dynamics.newton_euler import rnea
from rbdgen.model.joints import Coordinate
from rbdgen.model.model import Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ops import Force
from rbdgen.spatial.scalar import Naming, Scalar, sub, unnamed


def forward_dynamics_composite(
    model: Model,
    q: Sequence[Coordinate],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    fext: Sequence[Force] | None = None,
    naming: Naming = unnamed,
) -> list[Scalar]:
    """qdd of the independent degrees of freedom. q and v are given for all joints, and tau for the
    independent degrees of freedom.
    """
    factor = factored(model, crba(model, q, naming), naming)
    bias = model.coupling.folded(rnea(model, q, v, [0] * model.nv, fext, naming))
    return factor.solve([sub(t, b) for t, b in zip(tau, bias, strict=True)])


def composite_moments(
    reduced: ReducedModel,
    q: Sequence[Coordinate],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    fext: Sequence[Force] | None = None,
    naming: Naming = unnamed,
) -> list[Scalar]:
    """qdd of the independent degrees of freedom, computed with the algorithms on mass moments. The arguments
    are those of `forward_dynamics_composite`.
    """
    factor = factored(reduced.model, crba_composite(reduced, q, naming), naming)
    bias = reduced.model.coupling.folded(rnea_classical(reduced, q, v, [0] * reduced.nv, fext, naming))
    return factor.solve([sub(t, b) for t, b in zip(tau, bias, strict=True)])
