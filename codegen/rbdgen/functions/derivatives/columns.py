"""Derivatives of forward dynamics, solved column by column.

dFD/du = -M^-1 dID/du at qdd = FD(q, v, tau) (Carpentier and Mansard, RSS 2018, eq. 24), on a `ReducedModel`
and in loops. First come M = L^T D L (Featherstone 2008, section 6.5), W = L^-1, qdd and dID/du. Then the same
sparse products

    x = W D^-1 W^T b

run for every column b of -dID/dq and -dID/dv, and x = W D^-1 w for every row w of W gives M^-1. All columns
take the same operations, so that neighbouring columns can be the lanes of a vector. W is as sparse as L: W_ij
is nonzero only if j is i or an ancestor of i. A substitution with L would be a chain of dependent operations
along every limb, whereas the rows of a product do not depend on each other.

A floating base's linear velocity and attitude enter only through the base's own linear acceleration; those
columns are known without a solve.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from rbdgen.access import Access, column, whole
from rbdgen.functions.derivatives.factored import (
    KNOWN_BY_Q,
    KNOWN_BY_V,
    add_base_terms,
    floating_bases,
    known_columns,
    without_base_translation,
)
from rbdgen.functions.derivatives.local import rnea_derivatives_local
from rbdgen.functions.inertia_matrix.inverse import factored, unit_lower_inverse
from rbdgen.functions.inertia_matrix.inverse_hybrid import scaled_product
from rbdgen.functions.inertia_matrix.moments import crba_composite
from rbdgen.functions.inverse_dynamics.classical import rnea_classical
from rbdgen.functions.resistance import add_to_diagonal, less, slopes
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.scalar import Scalar, add, mul, neg, sub
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.loops import Arrays, FormLoop, LoopedForm

Ancestors = Sequence[Sequence[int]]
"""The ancestors of every degree of freedom, nearest first."""

Rows = Sequence[Mapping[int, Scalar]]
"""A sparse matrix: row i maps j to the entry."""


def aba_derivatives_columns(reduced: ReducedModel) -> LoopedForm:
    """The loops for outputs `da_dq`, `da_dv`, `da_dtau`, nv x nv, from inputs q, v, tau."""
    nv, ancestors = reduced.model.coupling.independent, reduced.model.elimination.ancestors
    related = related_dofs(ancestors)
    bases = floating_bases(reduced)
    by_q = [k for k in range(nv) if k not in known_columns(bases, KNOWN_BY_Q)]
    by_v = [k for k in range(nv) if k not in known_columns(bases, KNOWN_BY_V)]
    below = [j * nv + i for i, above in enumerate(ancestors) for j in above]
    factor = {"W": Access("transposed_W", tuple(below)), "inverse_D": whole("inverse_D", nv)}
    unsolved = {"minus_dq": _columns("minus_dq", nv, by_q), "minus_dv": _columns("minus_dv", nv, by_v)}
    known, shift = of_bases(nv, bases) if bases else ({}, {})
    torques = FormLoop(
        "torques",
        lambda x: _torques(reduced, x, by_q, by_v),
        inputs=("q", "v", "tau"),
        writes={
            "transposed_W": whole("transposed_W", nv * nv),
            "inverse_D": factor["inverse_D"],
            **unsolved,
            **known,
            **({"shift": shift["shift"]} if bases else {}),
        },
    )
    solves = [
        FormLoop(
            "solve",
            lambda x: {"x": solved(by_rows(ancestors, x.arrays["W"]), x.arrays["inverse_D"], x.arrays["b"])},
            reads={**factor, "b": column(right, nv, nv, columns)},
            writes={"x": column(name, nv, nv, columns)},
            count=len(columns),
            zeros={"b": tuple(without(nv, related[k]) for k in columns)},
        )
        for name, right, columns in (("da_dq", "minus_dq", by_q), ("da_dv", "minus_dv", by_v))
        if columns
    ]
    inverse = FormLoop(
        "inverse",
        lambda x: {
            "x": scaled_product(by_rows(ancestors, x.arrays["W"]), x.arrays["inverse_D"], x.arrays["w"])
        },
        reads={**factor, "w": column("transposed_W", nv, nv, range(nv))},
        writes={"x": column("da_dtau", nv, nv, range(nv))},
        count=nv,
        zeros={"w": tuple(without(nv, dofs) for dofs in limbs(ancestors, related))},
    )
    shifts = [FormLoop("shift", shifted, reads=shift, writes={"sum": shift["solved"]})] if bases else []
    scratch = {"transposed_W": nv * nv, "inverse_D": nv, "minus_dq": nv * nv, "minus_dv": nv * nv}
    return LoopedForm(
        (torques, *solves, inverse, *shifts),
        dict.fromkeys(("da_dq", "da_dv", "da_dtau"), nv * nv),
        {**scratch, "shift": 9 * len(bases)} if bases else scratch,
    )


def related_dofs(ancestors: Ancestors) -> list[frozenset[int]]:
    """For every degree of freedom k: itself, its ancestors and its descendants. Column k of dID/du is zero
    elsewhere.
    """
    related = [{k, *above} for k, above in enumerate(ancestors)]
    for k, above in enumerate(ancestors):
        for i in above:
            related[i].add(k)
    return [frozenset(dofs) for dofs in related]


def limbs(ancestors: Ancestors, related: Sequence[frozenset[int]]) -> list[set[int]]:
    """For every degree of freedom k, the columns in which row k of W may be nonzero; they are equal within a
    limb.

    A limb is a set of degrees of freedom with the same related ones, for example the joints of one leg. Its
    columns are its own degrees of freedom and their ancestors. Row k is also zero at those degrees of freedom
    of its limb that are below k. These columns are kept, so that all rows of a limb take the same operations
    and can be lanes of one vector.
    """
    limbs: dict[frozenset[int], set[int]] = {}
    for k, above in enumerate(ancestors):
        limbs.setdefault(related[k], set()).update((k, *above))
    return [limbs[dofs] for dofs in related]


def without(nv: int, dofs: Set[int]) -> tuple[int, ...]:
    """All degrees of freedom but these."""
    return tuple(i for i in range(nv) if i not in dofs)


def _columns(array: str, rows: int, columns: Sequence[int]) -> Access:
    """Some columns of a square matrix, all at once."""
    return Access(array, tuple(i * rows + k for i in range(rows) for k in columns))


def of_bases(nv: int, bases: Sequence[int]) -> tuple[dict[str, Access], dict[str, Access]]:
    """Where the columns of floating bases lie: those that are known, and the terms to add to solved ones."""
    known = {
        "known_dq": _columns("da_dq", nv, known_columns(bases, KNOWN_BY_Q)),
        "known_dv": _columns("da_dv", nv, known_columns(bases, KNOWN_BY_V)),
    }
    blocks = Access("da_dv", tuple(row * nv + k for row, k in turning_blocks(bases)))
    return known, {"solved": blocks, "shift": whole("shift", 9 * len(bases))}


def turning_blocks(bases: Sequence[int]) -> list[tuple[int, int]]:
    """The entries of floating bases' linear accelerations with respect to their own angular velocities."""
    return [(base + row, base + k) for base in bases for row in range(3) for k in range(3, 6)]


def _torques(reduced: ReducedModel, x: State, by_q: Sequence[int], by_v: Sequence[int]) -> Arrays:
    """The inverse factor of M, the columns to solve for, and the known columns of a floating base."""
    coupling, nv = reduced.model.coupling, reduced.model.coupling.independent
    factor = factored(reduced.model, crba_composite(reduced, x.q, x.naming), x.naming)
    W = [
        {k: x.naming(f"W[{i},{k}]", value) for k, value in row.items()}
        for i, row in enumerate(unit_lower_inverse(factor))
    ]
    still = without_base_translation(reduced, x.v)
    bias = coupling.folded(rnea_classical(reduced, x.q, still, [0] * reduced.nv, x.fext, x.naming))
    qdd = solved(
        W, factor.inverse_diagonal, [sub(t, b) for t, b in zip(less(reduced.model, x), bias, strict=True)]
    )
    qdd = [x.naming(f"qdd[{k}]", value) for k, value in enumerate(qdd)]
    torque = rnea_derivatives_local(reduced, x.q, still, coupling.extended(qdd), x.fext, x.naming)
    resistance = slopes(reduced.model, x)
    add_to_diagonal(torque.dtau_dq, resistance.by_q)
    add_to_diagonal(torque.dtau_dv, resistance.by_v)
    by_position, by_velocity = map(coupling.folded_matrix, (torque.dtau_dq, torque.dtau_dv))
    arrays = {
        "transposed_W": [row.get(j, 0) for j in range(nv) for row in W],
        "inverse_D": factor.inverse_diagonal,
        "minus_dq": [neg(row[k]) for row in by_position for k in by_q],
        "minus_dv": [neg(row[k]) for row in by_velocity for k in by_v],
    }
    bases = floating_bases(reduced)
    return {**arrays, **of_base_motions(reduced, x, bases)} if bases else arrays


def of_base_motions(reduced: ReducedModel, x: State, bases: Sequence[int]) -> Arrays:
    """The columns of floating bases that are known without a solve, and the terms to add to the others."""
    nv = reduced.model.coupling.independent
    da_dq, da_dv = ([[0] * nv for _ in range(nv)] for _ in range(2))
    add_base_terms(reduced, x.q, x.v, da_dq, da_dv)
    return {
        "known_dq": [row[k] for row in da_dq for k in known_columns(bases, KNOWN_BY_Q)],
        "known_dv": [row[k] for row in da_dv for k in known_columns(bases, KNOWN_BY_V)],
        "shift": [da_dv[row][k] for row, k in turning_blocks(bases)],
    }


def by_rows(ancestors: Ancestors, entries: Sequence[Scalar]) -> Rows:
    """W by rows, from its entries below the diagonal."""
    below = iter(entries)
    return [{i: 1, **{j: next(below) for j in above}} for i, above in enumerate(ancestors)]


def solved(W: Rows, inverse_D: Sequence[Scalar], b: Sequence[Scalar]) -> list[Scalar]:
    """W D^-1 W^T b."""
    return scaled_product(W, inverse_D, transposed_times(W, b))


def transposed_times(W: Rows, b: Sequence[Scalar]) -> list[Scalar]:
    """W^T b."""
    y: list[Scalar] = [0] * len(b)
    for row, value in zip(W, b, strict=True):
        for j, entry in row.items():
            y[j] = add(y[j], mul(entry, value))
    return y


def shifted(x: State) -> Arrays:
    """The solved entries plus the terms to add."""
    return {"sum": [add(a, b) for a, b in zip(x.arrays["solved"], x.arrays["shift"], strict=True)]}
