"""Derivatives of forward dynamics for robots with alike limbs, whose limbs are lanes up to the last product.

dFD/du = -M^-1 dID/du at qdd = FD(q, v, tau) (Carpentier and Mansard, RSS 2018, eq. 24). The sweeps of
`inverse_hybrid.py` give M^-1 = W D^-1 W^T. All sweeps hand values on from body to body, so alike limbs can be
lanes. A straight line computes qdd, M^-1 and z = -D^-1 W^T dID/du. The column of a limb's joint is zero at
other limbs, and so is its part of z, but W z is dense. This last product runs for every column, with columns
as lanes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from rbdgen.access import MatrixView, column, whole
from rbdgen.functions.derivatives.forward import from_classical
from rbdgen.functions.derivatives.known_columns import KnownColumns, without_base_translation
from rbdgen.functions.derivatives.local import derivatives_in_own_axes
from rbdgen.functions.derivatives.solved import named
from rbdgen.functions.inertia_matrix.inverse_hybrid import inverse_factor, squared
from rbdgen.functions.inertia_matrix.vectors import columns_fill
from rbdgen.functions.inverse_dynamics.classical import inverse_dynamics
from rbdgen.functions.resistance import add_to_diagonal, less, slopes
from rbdgen.model.alike_limbs import alike_limbs
from rbdgen.model.model import Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.rows import Rows, transposed
from rbdgen.spatial.scalar import Scalar, add, dot, is_zero, mul, neg, sub
from rbdgen.sweeps.inputs import Lanes, State
from rbdgen.sweeps.loops import Arrays, FormLoop, LoopedForm
from rbdgen.sweeps.straight import straight


def limbs_and_columns_fill(model: Model) -> bool:
    """Whether the robot has alike limbs, and enough columns to fill a vector."""
    return bool(alike_limbs(model)) and columns_fill(model)


@dataclass(frozen=True)
class Factor:
    """M^-1 = W D^-1 W^T, where some degrees of freedom may stand for those of several alike limbs."""

    W: Sequence[Mapping[int, Scalar]]
    """The rows of W: the entries at a degree of freedom and its ancestors."""
    inverse_diagonal: Sequence[Scalar]
    """1 / D, one number per degree of freedom."""
    lanes: Lanes
    inside: Set[int]
    """The degrees of freedom that stand for several."""

    def half(self, b: Sequence[Scalar], *, of_one_limb: bool = False) -> list[Scalar]:
        """D^-1 W^T b. `of_one_limb` says that b is zero at all limbs but that of the lane."""
        t = self.to_base(b, of_one_limb=of_one_limb)
        return [mul(x, inverse) for x, inverse in zip(t, self.inverse_diagonal, strict=True)]

    def to_base(self, b: Sequence[Scalar], *, of_one_limb: bool = False) -> list[Scalar]:
        """W^T b. For `of_one_limb`, see `half`."""
        n = len(b)
        own: list[Scalar] = [0] * n
        handed: list[Scalar] = [0] * n
        for i, (row, value) in enumerate(zip(self.W, b, strict=True)):
            for k, entry in row.items():
                to = handed if i in self.inside and k not in self.inside and not of_one_limb else own
                to[k] = add(to[k], mul(entry, value))
        return [x if is_zero(y) else add(x, self.lanes.join(y)) for x, y in zip(own, handed, strict=True)]

    def other_half(self, z: Sequence[Scalar]) -> list[Scalar]:
        """W z."""
        return [dot(list(row.values()), [z[k] for k in row]) for row in self.W]


def aba_derivatives_in_limbs(reduced: ReducedModel, *, values: bool = False) -> LoopedForm:
    """The loops for outputs `da_dq`, `da_dv`, `da_dtau`, nv x nv, from inputs q, v, tau. With `values`, they
    also give `a`.
    """
    nv, square = reduced.nv, reduced.nv**2
    W = MatrixView("W", nv).entries((i, j) for i, above in enumerate(reduced.ancestors) for j in above)
    known = KnownColumns(reduced)
    halves = {
        f"half_d{u}": MatrixView(f"half_d{u}", nv).block(range(nv), some) for u, some in known.unknown.items()
    }
    accelerations = {"a": whole("a", nv)} if values else {}
    line = FormLoop(
        "halves",
        lambda x: _halves(reduced, x, known, values=values),
        inputs=("q", "v", "tau"),
        writes={"W": W, "da_dtau": whole("da_dtau", square), **accelerations, **halves, **known.writes},
    )
    products = [
        FormLoop(
            "product",
            _product(reduced.ancestors),
            reads={"W": W, "half": column(f"half_d{u}", nv, nv, columns)},
            writes={"whole": column(f"da_d{u}", nv, nv, columns)},
            count=len(columns),
        )
        for u, columns in known.unknown.items()
    ]
    return LoopedForm(
        (line, *products, *known.shifts()),
        dict.fromkeys(accelerations, nv) | dict.fromkeys(("da_dq", "da_dv", "da_dtau"), square),
        dict.fromkeys(("W", *halves), square),
    )


def _product(ancestors: Sequence[Sequence[int]]) -> Callable[[State], Arrays]:
    """The run that multiplies a column by W."""

    def run(x: State) -> Arrays:
        W, half = iter(x.arrays["W"]), x.arrays["half"]
        return {
            "whole": [
                add(half[i], dot([next(W) for _ in above], [half[j] for j in above]))
                for i, above in enumerate(ancestors)
            ]
        }

    return run


def _halves(reduced: ReducedModel, x: State, known: KnownColumns, *, values: bool) -> Arrays:
    """W, M^-1, the known columns, and z for all others; with `values`, also the accelerations."""
    W, inverse_D = inverse_factor(reduced, x)
    factor = Factor(W, inverse_D, x.lanes, x.lanes.freedoms(reduced.bodies))
    still = replace(x, v=without_base_translation(reduced.model, x.v), a=[0] * reduced.nv)
    bias = straight(reduced, still).run(*inverse_dynamics())["tau"]
    torques = [sub(a, b) for a, b in zip(less(reduced.model, x), bias, strict=True)]
    qdd = named(factor.other_half(factor.half(torques)), x.naming, "qdd")
    given, resistance = _torques(reduced, replace(still, a=qdd)), slopes(reduced.model, x)
    add_to_diagonal(given["q"], resistance.by_q)
    add_to_diagonal(given["v"], resistance.by_v)
    halves = {
        f"half_d{u}": transposed(
            [factor.half([neg(row[k]) for row in given[u]], of_one_limb=k in factor.inside) for k in columns]
        )
        for u, columns in known.unknown.items()
    }
    Minv = squared(W, inverse_D, x.lanes, factor.inside)
    return {
        "W": [row[j] for row, above in zip(W, reduced.ancestors, strict=True) for j in above],
        "da_dtau": [value for row in Minv for value in row],
        **({"a": from_classical(reduced.model, x.v, qdd)} if values else {}),
        **{name: [value for row in rows for value in row] for name, rows in halves.items()},
        **known.values(x),
    }


def _torques(reduced: ReducedModel, x: State) -> dict[str, Rows]:
    """dID/dq and dID/dv, by the letter q or v."""
    given = straight(reduced, x).run(*derivatives_in_own_axes())
    return {"q": given["dtau_dq"], "v": given["dtau_dv"]}
