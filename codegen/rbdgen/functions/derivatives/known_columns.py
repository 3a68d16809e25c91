"""Columns of the derivatives of forward dynamics that need no solve. Only floating bases have such columns.

A floating base's linear velocity and attitude enter only through the base's own linear acceleration. It is
vdot = a - w x v + R^T g, where a is the classical acceleration less gravity. All other columns are solved for
a base with v = 0, and the terms with v are added at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from rbdgen.access import Access, MatrixView
from rbdgen.functions.derivatives.forward import add_base_velocity
from rbdgen.model.joints import Coordinate, Joint
from rbdgen.model.model import Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ops import IDENTITY
from rbdgen.spatial.rows import Rows
from rbdgen.spatial.scalar import Scalar, add, neg
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.loops import Arrays, FormLoop
from rbdgen.sweeps.sweep import BASE

KNOWN_BY_Q, KNOWN_BY_V = 6, 3
"""The numbers of leading columns of dFD/dq and of dFD/dv that need no solve on a floating base."""


@dataclass(frozen=True)
class KnownColumns:
    """The columns of `da_dq` and `da_dv` that need no solve, and the terms to add to columns that were
    solved. Without a floating base there are none.
    """

    reduced: ReducedModel
    by_q: int = KNOWN_BY_Q
    """The number of known columns of da_dq of a base."""
    by_v: int = KNOWN_BY_V
    """The number of known columns of da_dv of a base."""

    @property
    def nv(self) -> int:
        return self.reduced.model.coupling.independent

    @cached_property
    def known(self) -> dict[str, list[int]]:
        """The known columns, by the letter q or v."""
        bases = floating_bases(self.reduced.model)
        counts = {"q": self.by_q, "v": self.by_v}
        return {u: [first + k for first in bases for k in range(count)] for u, count in counts.items()}

    @cached_property
    def unknown(self) -> dict[str, list[int]]:
        """All other columns, by the letter q or v."""
        return {u: [k for k in range(self.nv) if k not in known] for u, known in self.known.items()}

    @property
    def writes(self) -> dict[str, Access]:
        """The places of the known columns."""
        return {
            f"known_d{u}": MatrixView(f"da_d{u}", self.nv).block(range(self.nv), some)
            for u, some in self.known.items()
            if some
        }

    def values(self, x: State) -> Arrays:
        """The values at a state for the places in `writes`."""
        da_dq, da_dv = ([[0] * self.nv for _ in range(self.nv)] for _ in range(2))
        add_base_terms(self.reduced, x.q, x.v, da_dq, da_dv)
        values = {
            "known_dq": [row[k] for row in da_dq for k in self.known["q"]],
            "known_dv": [row[k] for row in da_dv for k in self.known["v"]],
        }
        return {name: values[name] for name in self.writes}

    def shifts(self) -> list[FormLoop]:
        """The loops that add the terms to the columns of `da_dv` that were solved for, one for each floating
        base: its linear acceleration depends on its own velocity.
        """
        return [self._shift(body.joint) for body in self.reduced.model.bodies if body.floats]

    def _shift(self, joint: Joint) -> FormLoop:
        own, nv = joint.idx_v, self.nv
        columns = [k for k in range(own, own + BASE) if k not in self.known["v"]]
        entries = [(row, k) for row in range(own, own + 3) for k in columns]
        solved = MatrixView("da_dv", nv).entries(entries)

        def trace(x: State) -> Arrays:
            terms: Rows = [[0] * nv for _ in range(nv)]
            add_base_velocity(joint, [*[0] * own, *x.arrays["v"]], terms)
            shifted = zip(x.arrays["solved"], entries, strict=True)
            return {"sum": [add(value, terms[row][k]) for value, (row, k) in shifted]}

        rates = Access("v", tuple(range(own, own + BASE)))
        return FormLoop("shift", trace, {"sum": solved}, {"solved": solved, "v": rates})


def floating_bases(model: Model) -> list[int]:
    """The first degree of freedom of every body that floats in the world."""
    return [body.joint.idx_v for body in model.bodies if body.floats]


def without_base_translation(model: Model, v: Sequence[Scalar]) -> list[Scalar]:
    """v with the linear velocities of floating bases set to zero."""
    linear = [first + k for first in floating_bases(model) for k in range(3)]
    return [0 if k in linear else value for k, value in enumerate(v)]


def add_base_terms(
    reduced: ReducedModel, q: Sequence[Coordinate], v: Sequence[Scalar], da_dq: Rows, da_dv: Rows
) -> None:
    """Add the effect of a floating base's attitude and linear velocity on its vdot = a - w x v + R^T g."""
    for body, placed in zip(reduced.model.bodies, reduced.at(q), strict=True):
        if not body.floats:
            continue
        own, upward = body.joint.idx_v, placed.rotation.to_child(-reduced.gravity)
        for k, e in enumerate(IDENTITY, own + 3):
            for row, value in enumerate(upward.cross(e), own):
                da_dq[row][k] = neg(value)
        add_base_velocity(body.joint, v, da_dv)
