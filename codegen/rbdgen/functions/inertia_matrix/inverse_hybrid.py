"""The inverse of the joint-space inertia matrix on a reduced model, two ways.

`minv_hybrid`, for trees: the inward sweep of the articulated-body algorithm yields W = L^-1 of M = L^T D L
directly. A unit torque at dof j reaches an ancestor's joint i with the component f_z; then W_ji = -f_z. With
D of the same sweep Minv = W D^-1 W^T: Minv_ij is the sum over common joints k of W_ik W_jk / D_k, plus the
floating base's share y_i^T D_b^-1 y_j, y_j = L_b^-T f_j. No sweep outward over columns.

`minv_composite`, for short chains: CRBA by composites, sparse L^T D L and the inverse along the tree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rbdgen.access import Access, column, whole
from rbdgen.functions.forward_dynamics.bias import hand_on, joint_factor, own_inertia, with_joint_force
from rbdgen.functions.inertia_matrix.inverse import inverse, unit_lower_inverse, weighted_square
from rbdgen.functions.inertia_matrix.moments import crba_composite
from rbdgen.model.articulated import ArticulatedInertia, factor_joint
from rbdgen.model.joints import Coordinate
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ldl import LDL, ldl
from rbdgen.spatial.ops import Force
from rbdgen.spatial.scalar import Naming, Scalar, dot, mul, neg, unnamed
from rbdgen.sweeps.bodies import Base, Body, Jointed, along_base, along_joint, force_to_parent
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.looped import looped
from rbdgen.sweeps.loops import FormLoop, LoopedForm
from rbdgen.sweeps.records import Entry
from rbdgen.sweeps.straight import straight
from rbdgen.sweeps.sweep import BASE, Climb, Given, Gives, Inward, Sum

STRICTLY_LOWER = tuple((i, j) for i in range(BASE) for j in range(i))
"""The entries of a floating base's own L."""


def factor(body: Body, x: Given) -> Gives:
    """1 / D of a joint, and the force of a unit torque at it on the parent: U / D, 1 along the joint."""
    joint = joint_factor(body, x)
    return {
        **hand_on(body, joint, x),
        "force": with_joint_force(body, joint.scaled, 1),
        "inverse_D": joint.D.inverse_diagonal[0],
        "W": 1,
    }


def base_factor(body: Base, x: Given) -> Gives:
    """L, 1 / D and W of a floating base's own 6 x 6."""
    D = factor_joint(x.inertia, body.joint.motion_subspace).D
    W = unit_lower_inverse(D)
    return {
        "L": [D.lower[i][j] for i, j in STRICTLY_LOWER],
        "inverse_D": list(D.inverse_diagonal),
        "W": [W[i].get(j, 0) for i in range(BASE) for j in range(BASE)],
    }


def response(above: Jointed, x: Given) -> Gives:
    """The entry of W at a joint above, and the force of a unit torque that goes on from there to the root.

    Along that joint it is zero: the joint moves freely.
    """
    along = neg(along_joint(above, x.force))
    return {"force": with_joint_force(above, x.force + x.scaled * along, 0), "W_below": along}


def base_response(_: Base, x: Given) -> Gives:
    """The six entries of W at a floating base."""
    lower: list[dict[int, Scalar]] = [{} for _ in range(BASE)]
    for (i, j), value in zip(STRICTLY_LOWER, x.L, strict=True):
        lower[i][j] = value
    chains = tuple(tuple(reversed(range(i))) for i in range(BASE))
    back = LDL(tuple(lower), (), chains).back_substitute(along_base(x.force))
    return {"W_below": [neg(value) for value in back]}


INVERSE_FACTOR = (
    Inward(
        "factors",
        {"inertia": Sum(ArticulatedInertia, own_inertia)},
        factor,
        base_factor,
        reads=("placement", "moments"),
        gives={"W": Entry, "inverse_D": Scalar, "force": Force, "scaled": Force},
        base_gives={"W": Entry, "inverse_D": Scalar, "L": len(STRICTLY_LOWER)},
    ),
    Climb(
        "responses",
        "force",
        force_to_parent,
        response,
        base_response,
        gives=("W_below",),
        reads=("scaled",),
        base_reads=("L",),
    ),
)
"""The sweeps that give `W`, nv x nv, and `inverse_D`."""


def minv_hybrid(
    reduced: ReducedModel, q: Sequence[Coordinate], naming: Naming = unnamed
) -> list[list[Scalar]]:
    """M(q)^-1, nv x nv, full symmetric; entries between roots' trees are exactly 0."""
    given = straight(reduced, State(q, naming=naming)).run(*INVERSE_FACTOR)
    rows = enumerate(zip(given["W"], reduced.ancestors, strict=True))
    return weighted_square([{k: row[k] for k in (i, *above)} for i, (row, above) in rows], given["inverse_D"])


def minv_looped(reduced: ReducedModel) -> LoopedForm:
    """The loops for output `Minv`, nv x nv, of input q: the same W and D, then a column a run."""
    nv, ancestors = reduced.nv, reduced.ancestors

    def product(x: State) -> Mapping[str, Sequence[Scalar]]:
        W, read = iter(x.arrays["W"]), x.arrays
        rows = [{i: 1, **{j: next(W) for j in above}} for i, above in enumerate(ancestors)]
        return {"column": scaled_product(rows, read["inverse_D"], read["row"])}

    columns = FormLoop(
        "columns",
        product,
        reads={
            "W": Access("W", tuple(nv * i + j for i, above in enumerate(ancestors) for j in above)),
            "inverse_D": whole("inverse_D", nv),
            "row": Access("W", tuple(range(nv)), tuple(nv * k for k in range(nv))),
        },
        writes={"column": column("Minv", nv, nv, range(nv))},
        count=nv,
    )
    factor = looped(reduced, (), *INVERSE_FACTOR)
    return replace(factor, loops=(*factor.loops, columns), outputs={"Minv": nv * nv})


def scaled_product(
    W: Sequence[Mapping[int, Scalar]], inverse_D: Sequence[Scalar], y: Sequence[Scalar]
) -> list[Scalar]:
    """W D^-1 y, W by sparse rows."""
    z = [mul(value, inverse) for value, inverse in zip(y, inverse_D, strict=True)]
    return [dot(list(row.values()), [z[j] for j in row]) for row in W]


def minv_composite(
    reduced: ReducedModel, q: Sequence[Coordinate], naming: Naming = unnamed
) -> list[list[Scalar]]:
    """M(q)^-1, nv x nv, full symmetric, from CRBA and sparse L^T D L."""
    return inverse(ldl(crba_composite(reduced, q, naming), reduced.ancestors, naming))
