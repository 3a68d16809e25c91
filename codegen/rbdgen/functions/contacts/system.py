"""Forward dynamics in contact, solved in axes that turn with the contacts, for use by the derivatives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rbdgen.functions.contacts.anchors import anchors
from rbdgen.functions.contacts.multipliers import softness
from rbdgen.functions.contacts.row_derivatives import Anchor, ContactRows, turning_rows
from rbdgen.functions.derivatives import solved
from rbdgen.functions.derivatives.solved import Solved, named
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ldl import LDL, ldl
from rbdgen.spatial.ops import NO_FORCE
from rbdgen.spatial.rows import Rows
from rbdgen.spatial.scalar import Scalar, add, dot, mul, neg
from rbdgen.sweeps.inputs import State


@dataclass(frozen=True)
class System:
    """M a + h = tau + J^T lambda and J a + d + mu lambda = 0 at a state, factored and solved. With M = L^T D
    L, W is L^-1, and G is J M^-1 J^T.
    """

    rows: Sequence[ContactRows]
    free: Solved
    """The factor of M, and the torques without contacts."""
    Y: Rows
    """J W D^-1."""
    admittance: LDL
    """The factors of G + mu."""
    a: Sequence[Scalar]
    forces: Sequence[Scalar]

    @classmethod
    def of(cls, reduced: ReducedModel, x: State, *, anchored: bool) -> System:
        model, coupling, naming = reduced.model, reduced.model.coupling, x.naming
        free, still = Solved.at(reduced, x), [0] * model.nv
        factor = free.factor
        contacts = turning_rows(reduced, x)
        J = [coupling.folded(row) for own in contacts for row in own.jacobian(model.nv)]
        drift = [value for own in contacts for value in own.acceleration(free.v, still)]
        y = [named(factor.back_substitute(row), naming, f"y[{k}]") for k, row in enumerate(J)]
        Y = [named(factor.scale(row), naming, f"Y[{k}]") for k, row in enumerate(y)]
        G = [[dot(row, column) for column in Y] for row in y]
        for k, soft in enumerate(softness(model.contacts, x)):
            G[k][k] = add(G[k][k], soft)
        admittance = ldl(G, naming=naming)
        t = factor.back_substitute(free.torques)
        if anchored:
            pulls = [value for own, anchor in with_anchors(contacts, x) for value in own.pull(x, anchor)]
            drift = [add(*pair) for pair in zip(drift, pulls, strict=True)]
        forces = admittance.solve([neg(add(d, dot(row, t))) for d, row in zip(drift, Y, strict=True)])
        forces = named(forces, naming, "lambda")
        z = factor.scale(t)
        for row, force in zip(Y, forces, strict=True):
            z = [add(value, mul(entry, force)) for value, entry in zip(z, row, strict=True)]
        a = named([dot(list(row.values()), [z[j] for j in row]) for row in free.W], naming, "a")
        return cls(contacts, free, Y, admittance, coupling.extended(a), forces)

    def each(self) -> Iterator[tuple[ContactRows, list[Scalar]]]:
        """Iterate over the contacts, each with its forces."""
        rest = iter(self.forces)
        for own in self.rows:
            yield own, [next(rest) for _ in range(own.contact.rows)]


def with_anchors(rows: Sequence[ContactRows], x: State) -> Iterator[tuple[ContactRows, Anchor]]:
    """Iterate over the contacts, each with its anchor."""
    return zip(rows, anchors([own.contact for own in rows], x.arrays["anchor"]), strict=True)


def torque_derivatives(reduced: ReducedModel, s: System, x: State) -> tuple[Rows, Rows]:
    """dID/dq and dID/dv at these accelerations and forces, over the independent degrees of freedom."""
    nv, held = reduced.model.nv, [NO_FORCE] * reduced.model.nbodies
    for own, forces in s.each():
        held[own.contact.first.body] += own.force(forces)
    turning = (own.torque_derivatives(forces, nv) for own, forces in s.each())
    return solved.torque_derivatives(reduced, replace(x, v=s.free.v, a=s.a, fext=held), turning)
