"""Derivatives of forward dynamics, solved column by column.

dFD/du = -M^-1 dID/du at qdd = FD(q, v, tau) (Carpentier and Mansard, RSS 2018, eq. 24) on a `ReducedModel`,
in stages: first M = L^T D L, qdd and dID/du as in `aba_derivatives_factored`; then the same sparse solve

    x = L^-1 D^-1 L^-T b                                     (Featherstone 2008, section 6.5)

for every column b of -dID/dq and -dID/dv, and of 1 for M^-1. All columns take the same operations, so that
neighbouring ones can be the lanes of a vector. A column of a degree of freedom is zero but at its ancestors
and descendants.

A floating base's linear velocity and its attitude enter only through its own linear acceleration: those
columns are known without a solve.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdgen.algorithms.aba_derivatives_factored import add_base_terms, without_base_translation
from rbdgen.algorithms.crba_composite import crba_composite
from rbdgen.algorithms.ldl import LDL, ldl
from rbdgen.algorithms.rnea_classical import rnea_classical
from rbdgen.algorithms.rnea_derivatives_local import rnea_derivatives_local
from rbdgen.algorithms.staged import Arrays, Stage, Staged
from rbdgen.algorithms.state import State
from rbdgen.model.joints import JointKind
from rbdgen.model.reduce import ReducedModel
from rbdgen.places import Place, column, whole
from rbdgen.spatial.scalar import Scalar, add, neg, sub

KNOWN_BY_Q, KNOWN_BY_V = 6, 3
"""Columns of a floating base, the first ones, that need no solve."""


def aba_derivatives_columns(reduced: ReducedModel) -> Staged:
    """The stages for outputs `da_dq`, `da_dv`, `da_dtau`, nv x nv, of inputs q, v, tau."""
    nv = reduced.nv
    floating = any(body.joint.kind is JointKind.FLOATING for body in reduced.bodies)
    by_q = range(KNOWN_BY_Q if floating else 0, nv)
    by_v = range(KNOWN_BY_V if floating else 0, nv)
    entries = sum(len(above) for above in reduced.ancestors)
    factor = {"L": whole("L", entries), "inverse_D": whole("inverse_D", nv)}
    unsolved = {"minus_dq": _columns("minus_dq", nv, by_q), "minus_dv": _columns("minus_dv", nv, by_v)}
    known, shift = _of_base(nv) if floating else ({}, {})
    torques = Stage(
        "torques",
        lambda x: _torques(reduced, x, by_q, by_v),
        inputs=("q", "v", "tau"),
        writes={**factor, **unsolved, **known, **({"shift": whole("shift", 9)} if floating else {})},
    )
    solves = [
        Stage(
            "solve",
            lambda x: {"x": _solved(reduced.ancestors, x.arrays)},
            reads={**factor, "b": column(right, nv, nv, columns)},
            writes={"x": column(name, nv, nv, columns)},
            count=len(columns),
            zeros={"b": tuple(_unrelated(reduced, k) for k in columns)},
        )
        for name, right, columns in (
            ("da_dq", "minus_dq", by_q),
            ("da_dv", "minus_dv", by_v),
            ("da_dtau", "identity", range(nv)),
        )
        if columns
    ]
    shifts = [Stage("shift", _shifted, reads=shift, writes={"sum": shift["solved"]})] if floating else []
    rooms = {"L": entries, "inverse_D": nv, "minus_dq": nv * nv, "minus_dv": nv * nv}
    return Staged(
        (torques, *solves, *shifts),
        dict.fromkeys(("da_dq", "da_dv", "da_dtau"), nv * nv),
        {**rooms, "shift": 9} if floating else rooms,
        {"identity": tuple(1.0 if i == k else 0.0 for i in range(nv) for k in range(nv))},
    )


def _unrelated(reduced: ReducedModel, k: int) -> tuple[int, ...]:
    """The dofs that are neither ancestors nor descendants of k, nor k itself."""
    above = reduced.ancestors
    return tuple(i for i in range(reduced.nv) if i != k and i not in above[k] and k not in above[i])


def _columns(array: str, rows: int, columns: Sequence[int]) -> Place:
    """Some columns of a square matrix, all at once."""
    return Place(array, tuple(i * rows + k for i in range(rows) for k in columns))


def _of_base(nv: int) -> tuple[dict[str, Place], dict[str, Place]]:
    """Where the columns of a floating base lie: those known, and what is added to those that are solved."""
    known = {
        "known_dq": _columns("da_dq", nv, range(KNOWN_BY_Q)),
        "known_dv": _columns("da_dv", nv, range(KNOWN_BY_V)),
    }
    block = Place("da_dv", tuple(row * nv + k for row in range(3) for k in range(3, 6)))
    return known, {"solved": block, "shift": whole("shift", 9)}


def _torques(reduced: ReducedModel, x: State, by_q: Sequence[int], by_v: Sequence[int]) -> Arrays:
    """The factor of M, the columns to be solved, and what is known of a floating base's."""
    nv = reduced.nv
    factor = ldl(crba_composite(reduced, x.q, x.naming), reduced.ancestors, x.naming)
    still = without_base_translation(reduced, x.v)
    bias = rnea_classical(reduced, x.q, still, [0] * nv, x.fext, x.naming)
    qdd = factor.solve([sub(t, b) for t, b in zip(x.tau, bias, strict=True)])
    qdd = [x.naming(f"qdd[{k}]", value) for k, value in enumerate(qdd)]
    torque = rnea_derivatives_local(reduced, x.q, still, qdd, x.fext, x.naming)
    arrays = {
        "L": [row[j] for row, above in zip(factor.lower, factor.ancestors, strict=True) for j in above],
        "inverse_D": factor.inverse_diagonal,
        "minus_dq": [neg(row[k]) for row in torque.dtau_dq for k in by_q],
        "minus_dv": [neg(row[k]) for row in torque.dtau_dv for k in by_v],
    }
    if len(by_q) == nv:
        return arrays
    da_dq, da_dv = ([[0] * nv for _ in range(nv)] for _ in range(2))
    add_base_terms(reduced, x.q, x.v, da_dq, da_dv)
    return {
        **arrays,
        "known_dq": [row[k] for row in da_dq for k in range(KNOWN_BY_Q)],
        "known_dv": [row[k] for row in da_dv for k in range(KNOWN_BY_V)],
        "shift": [row[k] for row in da_dv[:3] for k in range(3, 6)],
    }


def _solved(ancestors: Sequence[Sequence[int]], arrays: Arrays) -> list[Scalar]:
    """M^-1 b from the factor's flat arrays."""
    entries = iter(arrays["L"])
    lower = tuple({j: next(entries) for j in above} for above in ancestors)
    return LDL(lower, tuple(arrays["inverse_D"]), tuple(map(tuple, ancestors))).solve(arrays["b"])


def _shifted(x: State) -> Arrays:
    return {"sum": [add(a, b) for a, b in zip(x.arrays["solved"], x.arrays["shift"], strict=True)]}
