"""The inverse of the joint-space inertia matrix on a reduced model, computed in two ways.

`minv_hybrid` is for trees. The inward sweep of the articulated-body algorithm yields W = L^-1 of M = L^T D L
directly: a unit torque at degree of freedom j reaches the joint i of an ancestor as a force with component
f_z along the joint, and W_ji = -f_z. With D of the same sweep, Minv = W D^-1 W^T. Minv_ij is therefore the
sum of W_ik W_jk / D_k over the common ancestors k. A joint with several degrees of freedom has S^T U = L^T D
L and W_ji = -(L^-T S^T f)^T. No outward sweep over columns is needed.

`minv_composite` is for short chains. It uses CRBA with composite mass moments, the sparse factors L^T D L,
and the inverse along the tree.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from rbdgen.access import MatrixView, column, whole
from rbdgen.functions.articulated.step import FACTORS, hand_on, joint_factor
from rbdgen.functions.between_limbs import between_limbs
from rbdgen.functions.inertia_matrix.inverse import factored, inverse, unit_lower_inverse, weighted_square
from rbdgen.functions.inertia_matrix.moments import crba_composite
from rbdgen.model.articulated import combination
from rbdgen.model.joints import Coordinate
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ldl import back_substituted
from rbdgen.spatial.ops import Force
from rbdgen.spatial.scalar import Naming, Scalar, dot, mul, neg, unnamed
from rbdgen.sweeps.bodies import Body, Jointed, along_joint, with_joint_force
from rbdgen.sweeps.inputs import ALONE, Lanes, State
from rbdgen.sweeps.looped import looped
from rbdgen.sweeps.loops import FormLoop, LoopedForm
from rbdgen.sweeps.records import Each, Entry
from rbdgen.sweeps.straight import straight
from rbdgen.sweeps.sweep import BASE_LOWER, Climb, Given, Gives, carry_force


def factor(body: Body, x: Given) -> Gives:
    """Compute L and 1 / D of a joint, its own block of W, and the forces that unit torques at the joint exert
    on the parent.

    The force for degree of freedom k is U (S^T U + A)^-1 e_k with the inertia A of the rotors. Without rotors
    its components along the joint are e_k.
    """
    joint = joint_factor(body, x)
    W, n = unit_lower_inverse(joint.D), range(len(body.subspace))
    units = [[int(j == k) for j in n] for k in n]
    # L^-1 z = (S^T U + A)^-1 e_k with U = V L
    forces = [combination(joint.V, joint.decoupled(unit)) for unit in units]
    return {
        **hand_on(body, joint, x),
        "force": [with_joint_force(body, *pair) for pair in zip(forces, units, strict=True)],
        "W": [W[i].get(j, 0) for i in n for j in n],
    }


def response(above: Jointed, x: Given) -> Gives:
    """Compute the entries of W at the joint of an ancestor."""
    return {"W_below": [neg(value) for value in back_substituted(x.L, along_joint(above, x.force))]}


def remainder(above: Jointed, x: Given) -> Force:
    """The force of a unit torque that an ancestor passes on toward the root.

    Its components along a joint without rotors are zero, because the joint moves freely.
    """
    rest = x.force + combination(x.scaled, x.W_below)
    return with_joint_force(above, rest, [0] * len(above.subspace))


INVERSE_FACTOR = (
    replace(
        FACTORS,
        step=factor,
        gives={"W": Entry, "inverse_D": Scalar, "force": Each(Force), "scaled": Each(Force)},
        base_gives={"W": Entry, "inverse_D": Scalar, "L": len(BASE_LOWER)},
    ),
    Climb(
        "responses",
        "force",
        carry_force,
        response,
        gives=("W_below",),
        onward=remainder,
        reads=("scaled", "L"),
        base_reads=("L",),
    ),
)
"""The sweeps that compute `W`, nv x nv, and `inverse_D`."""


def minv_hybrid(
    reduced: ReducedModel, q: Sequence[Coordinate], naming: Naming = unnamed, lanes: Lanes = ALONE
) -> list[list[Scalar | None]]:
    """M(q)^-1, nv x nv, full symmetric. Entries between trees on the world are exactly 0.

    With `lanes`, the entries of `between_limbs` follow.
    """
    rows, inverse_D = inverse_factor(reduced, State(q, naming=naming, lanes=lanes))
    return squared(rows, inverse_D, lanes, lanes.freedoms(reduced.bodies))


def inverse_factor(reduced: ReducedModel, x: State) -> tuple[list[dict[int, Scalar]], list[Scalar]]:
    """The rows of W, each with its entries at a degree of freedom and its ancestors, and 1 / D."""
    given = straight(reduced, x).run(*INVERSE_FACTOR)
    found = enumerate(zip(given["W"], reduced.ancestors, strict=True))
    return [{k: row[k] for k in (i, *above)} for i, (row, above) in found], given["inverse_D"]


def squared(
    W: Sequence[dict[int, Scalar]], inverse_D: Sequence[Scalar], lanes: Lanes, inside: Collection[int]
) -> list[list[Scalar | None]]:
    """W D^-1 W^T, full symmetric, followed by the entries of `between_limbs`. `inside` has the degrees of
    freedom of limbs that are lanes.
    """
    return [*weighted_square(W, inverse_D), *between_limbs(W, inverse_D, lanes, inside, inside)]


def minv_looped(reduced: ReducedModel) -> LoopedForm:
    """The loops for output `Minv`, nv x nv, from input q. W and D come first, then each run computes a
    column.
    """
    nv, ancestors = reduced.nv, reduced.ancestors

    def product(x: State) -> Mapping[str, Sequence[Scalar]]:
        W, read = iter(x.arrays["W"]), x.arrays
        rows = [{i: 1, **{j: next(W) for j in above}} for i, above in enumerate(ancestors)]
        return {"column": scaled_product(rows, read["inverse_D"], read["row"])}

    columns = FormLoop(
        "columns",
        product,
        reads={
            "W": MatrixView("W", nv).entries((i, j) for i, above in enumerate(ancestors) for j in above),
            "inverse_D": whole("inverse_D", nv),
            "row": MatrixView("W", nv).row(range(nv)),
        },
        writes={"column": column("Minv", nv, nv, range(nv))},
        count=nv,
    )
    factor = looped(reduced, (), *INVERSE_FACTOR)
    return replace(factor, loops=(*factor.loops, columns), outputs={"Minv": nv * nv})


def scaled_product(
    W: Sequence[Mapping[int, Scalar]], inverse_D: Sequence[Scalar], y: Sequence[Scalar]
) -> list[Scalar]:
    """W D^-1 y, with W by sparse rows."""
    z = [mul(value, inverse) for value, inverse in zip(y, inverse_D, strict=True)]
    return [dot(list(row.values()), [z[j] for j in row]) for row in W]


def minv_composite(
    reduced: ReducedModel, q: Sequence[Coordinate], naming: Naming = unnamed
) -> list[list[Scalar]]:
    """M(q)^-1, nv x nv, full symmetric, from CRBA and sparse L^T D L."""
    return inverse(factored(reduced.model, crba_composite(reduced, q, naming), naming))
