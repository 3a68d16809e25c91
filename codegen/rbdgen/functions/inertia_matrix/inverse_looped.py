"""The inverse of the joint-space inertia matrix, factored in loops over bodies and solved column by column.

Minv = W D^-1 W^T as in `minv_hybrid`: inward U D^-1 of every joint and the articulated inertias, as in
`aba_looped`; then one step of the force that a unit torque leaves to the next joint above, W_ki = -S_i^T f,
run for every body above every body; then W D^-1 times a row of W, run for every column of Minv.
"""

from __future__ import annotations

from rbdgen.access import Access, column, whole
from rbdgen.functions.forward_dynamics.looped import (
    INERTIA,
    base_inertia,
    factor_reads,
    factor_writes,
    handed_on,
    joint_factor,
)
from rbdgen.functions.inertia_matrix.inverse import unit_lower_inverse
from rbdgen.functions.inertia_matrix.moments_looped import BASE, base_force_columns, entries
from rbdgen.functions.inverse_dynamics.classical import force_to_parent
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ldl import LDL
from rbdgen.spatial.scalar import Scalar, add, mul, neg
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.looped import (
    LoopedBodies,
    along_joint,
    cleared,
    looped_bodies,
    packed_force,
    unpacked_force,
)
from rbdgen.sweeps.loops import Arrays, FormLoop, LoopedForm

STRICTLY_LOWER = tuple((i, j) for i in range(BASE) for j in range(i))
"""The entries of a floating base's own L."""


def minv_looped(reduced: ReducedModel) -> LoopedForm:
    """The loops for output `Minv`, nv x nv, of input q.

    A row of the scratch array `force` is what a unit torque at one joint leaves, as far inward as it has
    come.
    """
    bodies = looped_bodies(reduced)
    nv, count = reduced.nv, len(bodies.outward)
    clear = cleared("inertia", INERTIA * (count + 1))
    loops = [bodies.positions, cleared("W", nv * nv), clear, _factors(bodies), _steps(bodies)]
    if bodies.floating:
        loops += [_base(bodies), _base_columns(bodies)]
    scratch = {
        "joint": bodies.joint_width * count,
        "inertia": clear.count,
        "scaled": 6 * (count + 1),
        "force": 6 * (count + 1),
        "L": len(STRICTLY_LOWER) if bodies.floating else 0,
        "inverse_D": nv,
        "W": nv * nv,
    }
    return bodies.loops([*loops, _columns(reduced)], {"Minv": nv * nv}, scratch)


def _factors(bodies: LoopedBodies) -> FormLoop:
    """U D^-1 and D^-1 of every joint; the articulated inertias."""
    runs = bodies.inward

    def factored(x: State) -> Arrays:
        body = bodies.placed(x)
        inertia, factor = joint_factor(bodies, body, x)
        return {
            **handed_on(body, inertia, factor, x),
            "force": packed_force(factor.scaled),
            "inverse_D": factor.D.inverse_diagonal,
            "W": [1],
        }

    return FormLoop(
        "factors",
        factored,
        reads=factor_reads(bodies, runs),
        writes={
            **factor_writes(bodies, runs),
            "force": bodies.own("force", 6, runs),
            "inverse_D": bodies.freedom("inverse_D", runs),
            "W": entries(bodies, "W", runs, runs),
        },
        count=len(runs),
    )


def _steps(bodies: LoopedBodies) -> FormLoop:
    """What a unit torque leaves at every joint above, and what goes on from there."""
    forces, below, above = bodies.steps

    def step(x: State) -> Arrays:
        force = force_to_parent(bodies.placed(x), unpacked_force(x.arrays["force"]))
        response = neg(along_joint(bodies.kinds.complete(x.arrays.get("above", ())), force))
        passed = force + unpacked_force(x.arrays["scaled"]) * response
        return {"passed": packed_force(passed), "W": [response]}

    return FormLoop(
        "steps",
        step,
        reads={
            **bodies.joints(below),
            **({"above": bodies.kinds.place(above)} if bodies.kinds.varying else {}),
            "scaled": bodies.own("scaled", 6, above),
            "force": bodies.own("force", 6, forces),
        },
        writes={
            "passed": bodies.own("force", 6, forces),
            "W": entries(bodies, "W", forces, above),
        },
        count=len(forces),
    )


def _base(bodies: LoopedBodies) -> FormLoop:
    """L, D^-1 and W of a floating base's own 6 x 6."""
    nv = bodies.reduced.nv

    def factored(x: State) -> Arrays:
        factor = base_inertia(bodies, x).D
        W = unit_lower_inverse(factor)
        return {
            "L": [factor.lower[i][j] for i, j in STRICTLY_LOWER],
            "inverse_D": factor.inverse_diagonal,
            "W": [W[i][j] for i in range(BASE) for j in range(i + 1)],
        }

    return FormLoop(
        "base",
        factored,
        reads={"inertia": whole("inertia", INERTIA)},
        writes={
            "L": whole("L", len(STRICTLY_LOWER)),
            "inverse_D": whole("inverse_D", BASE),
            "W": Access("W", tuple(nv * i + j for i in range(BASE) for j in range(i + 1))),
        },
    )


def _base_columns(bodies: LoopedBodies) -> FormLoop:
    """What a unit torque at every joint leaves at a floating base."""
    nv, runs = bodies.reduced.nv, bodies.outward

    def response(x: State) -> Arrays:
        lower: list[dict[int, Scalar]] = [{} for _ in range(BASE)]
        for (i, j), value in zip(STRICTLY_LOWER, x.arrays["L"], strict=True):
            lower[i][j] = value
        chains = tuple(tuple(reversed(range(i))) for i in range(BASE))
        back = LDL(tuple(lower), (), chains).back_substitute(base_force_columns(bodies, x))
        return {"W": [neg(value) for value in back]}

    return FormLoop(
        "base_columns",
        response,
        reads={
            **bodies.joints([bodies.branches[k][-1] for k in runs]),
            "force": bodies.own("force", 6, runs),
            "L": whole("L", len(STRICTLY_LOWER)),
        },
        writes={"W": Access("W", tuple(range(BASE)), tuple(nv * bodies.freedoms[k] for k in runs))},
        count=len(runs),
    )


def _columns(reduced: ReducedModel) -> FormLoop:
    """W D^-1 times every row of W."""
    nv, ancestors = reduced.nv, reduced.ancestors

    def product(x: State) -> Arrays:
        z = [mul(w, inverse) for w, inverse in zip(x.arrays["row"], x.arrays["inverse_D"], strict=True)]
        W = iter(x.arrays["W"])
        result = list(z)
        for i, above in enumerate(ancestors):
            for j in above:
                result[i] = add(result[i], mul(next(W), z[j]))
        return {"column": result}

    return FormLoop(
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
