"""Derivatives of forward dynamics from those of inverse dynamics.

Carpentier and Mansard, RSS 2018, eq. 24: dFD/du = -M^-1 dID/du at a = FD(q, v, tau), and dFD/dtau = M^-1.

A floating base's linear velocity is left out of dID, and its effect is added at the end. Otherwise M^-1 would
divide the rounding errors of forces m w v by m l^2, and results for bodies of 1e-13 m would have only two
correct digits at 1 m/s.

In loops, the sweeps for qdd, for dID/du and for M^-1 come first. Then the product of a row and a column is
computed for every entry. The three groups of sweeps use scratch arrays of the same names, one after the
other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rbdgen.access import MatrixView, column, element, whole
from rbdgen.functions.articulated.step import forward_dynamics
from rbdgen.functions.derivatives.one_frame import OUTPUTS, derivatives, rnea_derivatives
from rbdgen.functions.forward_dynamics.articulated_body import aba
from rbdgen.functions.forward_dynamics.composite import forward_dynamics_composite
from rbdgen.functions.inertia_matrix.inverse import factored, inverse
from rbdgen.functions.inertia_matrix.inverse_hybrid import minv_looped
from rbdgen.functions.resistance import (
    Added,
    Slopes,
    add_to_diagonal,
    by_acceleration,
    by_position,
    by_velocity,
    freedoms,
    loops_with_added,
    loops_with_less,
    terms_of,
)
from rbdgen.model.joints import Coordinate, Joint
from rbdgen.model.model import Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ops import IDENTITY, Force, Vector
from rbdgen.spatial.rows import Rows, product
from rbdgen.spatial.scalar import Naming, Scalar, dot, neg, sub, unnamed
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.looped import looped
from rbdgen.sweeps.loops import Arrays, FormLoop, LoopedForm
from rbdgen.sweeps.sweep import BASE


class ForwardDynamicsDerivatives(NamedTuple):
    """The derivatives of forward dynamics, nv x nv each; da_dq is in the tangent space, and da_dtau =
    M^-1.
    """

    da_dq: Rows
    da_dv: Rows
    da_dtau: Rows


def aba_and_derivatives(
    model: Model,
    q: Sequence[Coordinate],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    fext: Sequence[Force] | None = None,
    naming: Naming = unnamed,
    resistance: Slopes | None = None,
) -> tuple[Sequence[Scalar], ForwardDynamicsDerivatives]:
    """FD and its derivatives over the independent degrees of freedom. The arguments are those of `aba`.

    `fext` turns with the bodies. tau does not include the torques of joint resistance, whose derivatives are
    given as `resistance`.
    """
    coupling = model.coupling
    forward = aba if coupling.is_trivial else forward_dynamics_composite
    a = forward(model, q, v, tau, fext, naming)
    qdd = coupling.extended(a)
    inverse_dynamics = rnea_derivatives(model, q, v, qdd, fext, naming, beside=True)
    add_to_diagonal(inverse_dynamics.dtau_da, terms_of(model, by_acceleration, State(q)))
    if resistance is not None:
        add_to_diagonal(inverse_dynamics.dtau_dq, resistance.by_q)
        add_to_diagonal(inverse_dynamics.dtau_dv, resistance.by_v)
    Minv = inverse(factored(model, inverse_dynamics.dtau_da, naming))
    da_dq = negative_product(Minv, coupling.folded_matrix(inverse_dynamics.dtau_dq))
    da_dv = negative_product(Minv, coupling.folded_matrix(inverse_dynamics.dtau_dv))
    for body in model.bodies:
        if body.floats:
            add_base_velocity(body.joint, v, da_dv)
    return a, ForwardDynamicsDerivatives(da_dq, da_dv, Minv)


def add_base_velocity(joint: Joint, v: Sequence[Scalar], da_dv: Rows) -> None:
    """Add, in place, the effect of a floating base's velocity on its vdot = a - w x v, where a is the
    classical acceleration.
    """
    own, rates = joint.idx_v, joint.slice(v)
    linear, w = Vector(*rates[:3]), Vector(*rates[3:])
    for k, e in enumerate(IDENTITY, own):
        by_linear, by_angular = w.cross(e), e.cross(linear)
        for row in range(3):
            da_dv[own + row][k] = neg(by_linear[row])
            da_dv[own + row][k + 3] = sub(da_dv[own + row][k + 3], by_angular[row])


def from_classical(model: Model, v: Sequence[Scalar], classical: Sequence[Scalar]) -> list[Scalar]:
    """The accelerations; that of a floating base is a - w x v, where a is its classical acceleration."""
    a = list(classical)
    for joint in (body.joint for body in model.bodies if body.floats):
        rates, own = joint.slice(v), joint.idx_v
        turned = Vector(*rates[3:]).cross(Vector(*rates[:3]))
        a[own : own + 3] = map(sub, a[own : own + 3], turned)
    return a


def negative_product(A: Rows, B: Rows) -> Rows:
    """-A B."""
    return [[neg(value) for value in row] for row in product(A, B)]


def aba_derivatives_looped(reduced: ReducedModel, *, values: bool = False) -> LoopedForm:
    """The loops for outputs `da_dq`, `da_dv`, `da_dtau`, nv x nv, from inputs q, v, tau. With `values`, they
    also give `a`.
    """
    nv, qdd = reduced.nv, "a" if values else "qdd"
    accelerations = looped(reduced, ("a",), *forward_dynamics())
    torques = looped(reduced, OUTPUTS[:2], *derivatives(OUTPUTS[:2], beside=True))
    if any(freedoms(reduced.model)):
        slopes = Added("dtau_dq", by_position), Added("dtau_dv", by_velocity)
        accelerations = loops_with_less(reduced, accelerations)
        torques = loops_with_added(reduced, torques, slopes)
    parts = (
        accelerations.renamed({"a": qdd}),
        torques.renamed({"a": qdd}),
        minv_looped(reduced).renamed({"Minv": "da_dtau"}),
    )
    first, *others = parts
    loops = [*first.loops, *(s for part in others for s in part.loops if s.name != "joints")]
    scratch = {"dtau_dq": nv * nv, "dtau_dv": nv * nv} | ({} if values else {qdd: nv})
    for part in parts:
        scratch |= {name: max(size, scratch.get(name, 0)) for name, size in part.scratch.items()}
    products = (_product(nv, "da_dq", "dtau_dq"), _product(nv, "da_dv", "dtau_dv"))
    floating = [body.joint for body in reduced.model.bodies if body.floats]
    base = [_base_velocity(nv, joint) for joint in floating]
    return LoopedForm(
        (*loops, *products, *base),
        ({qdd: nv} if values else {}) | dict.fromkeys(("da_dq", "da_dv", "da_dtau"), nv * nv),
        scratch,
        {name: values for part in parts for name, values in part.tables.items()},
    )


def _product(nv: int, result: str, right: str) -> FormLoop:
    """The loop that multiplies a matrix by -M^-1, entry by entry."""
    entries = [(i, k) for i in range(nv) for k in range(nv)]
    return FormLoop(
        "product",
        lambda x: {"entry": [neg(dot(list(x.arrays["row"]), list(x.arrays["column"])))]},
        reads={
            "row": MatrixView("da_dtau", nv).row([i for i, _ in entries]),
            "column": column(right, nv, nv, [k for _, k in entries]),
        },
        writes={"entry": element(result, range(nv * nv))},
        count=nv * nv,
    )


def _base_velocity(nv: int, joint: Joint) -> FormLoop:
    """The loop that adds the effect of a floating base's velocity to the rows of its linear acceleration."""
    block = MatrixView("da_dv", nv).block(range(3), range(BASE))

    def trace(x: State) -> Arrays:
        entries = x.arrays["block"]
        rows = [list(entries[BASE * row : BASE * (row + 1)]) for row in range(3)]
        add_base_velocity(joint, x.arrays["v"], rows)
        return {"new_block": [value for row in rows for value in row]}

    return FormLoop("base", trace, {"new_block": block}, {"block": block, "v": whole("v", BASE)})
