"""Derivatives of forward dynamics, solved column by column.

dFD/du = -M^-1 dID/du at qdd = FD(q, v, tau) (Carpentier and Mansard, RSS 2018, eq. 24), on a `ReducedModel`
and in loops. The first step computes M = L^T D L (Featherstone 2008, section 6.5), W = L^-1, qdd and dID/du.
The second step solves for every column b of -dID/dq and -dID/dv by the same sparse products

    x = W D^-1 W^T b

The third step computes M^-1: its columns are x = W D^-1 w for every row w of W. All columns take the same
operations, so neighbouring columns can be the lanes of a vector. W is as sparse as L: W_ij is nonzero only if
j is i or an ancestor of i. A substitution with L would be a chain of dependent operations along every limb,
whereas the rows of a product do not depend on each other.

The linear velocity and the attitude of a floating base enter only through the base's own linear acceleration.
Their columns are known without a solve.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

from rbdgen.access import MatrixView, column, whole
from rbdgen.functions.derivatives.forward import from_classical
from rbdgen.functions.derivatives.known_columns import KnownColumns
from rbdgen.functions.derivatives.solved import Solved, named, torque_derivatives
from rbdgen.functions.inertia_matrix.inverse_hybrid import scaled_product
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.scalar import Scalar, add, mul, neg
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.loops import Arrays, FormLoop, LoopedForm

Ancestors = Sequence[Sequence[int]]
"""The ancestors of every degree of freedom, nearest first."""

Rows = Sequence[Mapping[int, Scalar]]
"""A sparse matrix: row i maps j to the entry."""


def aba_derivatives_columns(reduced: ReducedModel, *, values: bool = False) -> LoopedForm:
    """The loops for outputs `da_dq`, `da_dv`, `da_dtau`, nv x nv, from inputs q, v, tau. With `values`, they
    also give `a`.
    """
    nv, ancestors = reduced.model.coupling.independent, reduced.model.elimination.ancestors
    related, known = related_dofs(ancestors), KnownColumns(reduced)
    below = MatrixView("transposed_W", nv).entries((j, i) for i, above in enumerate(ancestors) for j in above)
    factor = {"W": below, "inverse_D": whole("inverse_D", nv)}
    unsolved = {
        f"minus_d{u}": MatrixView(f"minus_d{u}", nv).block(range(nv), some)
        for u, some in known.unknown.items()
    }
    accelerations = {"a": whole("a", nv)} if values else {}
    torques = FormLoop(
        "torques",
        lambda x: _torques(reduced, x, known, values=values),
        inputs=("q", "v", "tau"),
        writes={
            "transposed_W": whole("transposed_W", nv * nv),
            "inverse_D": factor["inverse_D"],
            **accelerations,
            **unsolved,
            **known.writes,
        },
    )
    solves = [
        FormLoop(
            "solve",
            lambda x: {"x": solved(by_rows(ancestors, x.arrays["W"]), x.arrays["inverse_D"], x.arrays["b"])},
            reads={**factor, "b": column(f"minus_d{u}", nv, nv, columns)},
            writes={"x": column(f"da_d{u}", nv, nv, columns)},
            count=len(columns),
            zeros={"b": tuple(without(nv, related[k]) for k in columns)},
        )
        for u, columns in known.unknown.items()
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
    scratch = {"transposed_W": nv * nv, "inverse_D": nv, "minus_dq": nv * nv, "minus_dv": nv * nv}
    return LoopedForm(
        (torques, *solves, inverse, *known.shifts()),
        dict.fromkeys(accelerations, nv) | dict.fromkeys(("da_dq", "da_dv", "da_dtau"), nv * nv),
        scratch,
    )


def related_dofs(ancestors: Ancestors) -> list[frozenset[int]]:
    """The ancestors and descendants of every degree of freedom k, and k itself. Column k of dID/du is zero in
    all other rows.
    """
    related = [{k, *above} for k, above in enumerate(ancestors)]
    for k, above in enumerate(ancestors):
        for i in above:
            related[i].add(k)
    return [frozenset(dofs) for dofs in related]


def limbs(ancestors: Ancestors, related: Sequence[frozenset[int]]) -> list[set[int]]:
    """The columns in which row k of W may be nonzero, for every degree of freedom k. All rows of a limb have
    the same columns.

    A limb is a set of degrees of freedom whose sets of related degrees of freedom are equal, for example the
    joints of one leg. The columns of a limb are its degrees of freedom and their ancestors. They include
    some zeros, at the degrees of freedom of the limb that are below k, so that all rows of a limb take the
    same operations and can be lanes of one vector.
    """
    limbs: dict[frozenset[int], set[int]] = {}
    for k, above in enumerate(ancestors):
        limbs.setdefault(related[k], set()).update((k, *above))
    return [limbs[dofs] for dofs in related]


def without(nv: int, dofs: Set[int]) -> tuple[int, ...]:
    """All degrees of freedom except these."""
    return tuple(i for i in range(nv) if i not in dofs)


def _torques(reduced: ReducedModel, x: State, known: KnownColumns, *, values: bool) -> Arrays:
    """The inverse factor of M, the columns to solve for, and the known columns of a floating base; with
    `values`, also the accelerations.
    """
    coupling, s = reduced.model.coupling, Solved.at(reduced, x)
    qdd = named(solved(s.W, s.factor.inverse_diagonal, s.torques), x.naming, "qdd")
    torques = torque_derivatives(reduced, replace(x, v=s.v, a=coupling.extended(qdd)))
    return {
        "transposed_W": [row.get(j, 0) for j in range(coupling.independent) for row in s.W],
        "inverse_D": s.factor.inverse_diagonal,
        **({"a": from_classical(reduced.model, x.v, qdd)} if values else {}),
        **{
            f"minus_d{u}": [neg(row[k]) for row in rows for k in known.unknown[u]]
            for u, rows in zip("qv", torques, strict=True)
        },
        **known.values(x),
    }


def by_rows(ancestors: Ancestors, entries: Sequence[Scalar]) -> Rows:
    """The rows of W, made from its entries below the diagonal."""
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
