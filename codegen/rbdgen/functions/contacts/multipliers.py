"""Contact forces as Lagrange multipliers: the solution of G lambda = right with G = J M^-1 J^T.

Let M = L^T D L. The rows of y = J L^-1 = (L^-T J^T)^T are given, one for each row of J. Then G = y D^-1 y^T
and M^-1 J^T lambda = L^-1 D^-1 y^T lambda. All forces are eliminated at once, after the joints. It therefore
suffices that the rows of all contacts together are independent, even if the part of G that belongs to a
single leg is singular, for example when the leg is stretched.

A contact that is not active has a zero row on both sides and 1 on the diagonal. Its force is then exactly 0,
and all other results are the same as without the contact. `mu` on the diagonal makes contacts compliant: J a
+ drift + mu lambda = 0. The resulting a is that of one step of the proximal method (Carpentier, Budhiraja and
Mansard, RSS 2021).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from rbdgen.functions.between_limbs import Entries, between_limbs
from rbdgen.functions.contacts.in_lanes import EACH_ALONE, RowLanes
from rbdgen.model.contacts import Contact
from rbdgen.spatial.ldl import LDL, ldl
from rbdgen.spatial.scalar import Naming, Scalar, add, mul, sub
from rbdgen.sweeps.inputs import State


@dataclass(frozen=True)
class Multipliers:
    """The system for contact forces."""

    y: Sequence[Entries]
    """One row per contact row."""
    inverse_diagonal: Sequence[Scalar]
    """1 / D, one number per degree of freedom."""
    lanes: RowLanes = EACH_ALONE
    """The rows that stand for several."""

    @cached_property
    def scaled(self) -> list[Entries]:
        """y D^-1."""
        return [{k: mul(value, self.inverse_diagonal[k]) for k, value in row.items()} for row in self.y]

    def G(self, naming: Naming) -> list[list[Scalar]]:
        """J M^-1 J^T, the full symmetric matrix. Contacts that move independently of each other have exact
        zeros.
        """
        n = len(self.y)
        G: list[list[Scalar]] = [[0] * n for _ in range(n)]
        for i, row in enumerate(self.y):
            for j in range(i, n):
                G[i][j] = G[j][i] = naming(f"G[{i},{j}]", product(row, self.scaled[j]))
        return G

    @property
    def between_limbs(self) -> list[list[Scalar | None]]:
        """The entries of G between limbs that are lanes, see `functions.between_limbs`."""
        return between_limbs(
            self.y, self.inverse_diagonal, self.lanes.lanes, self.lanes.several, self.lanes.inside
        )

    def factored(self, softness: Sequence[Scalar], naming: Naming) -> LDL:
        """The factors of G + softness, for the rows of all limbs."""
        G = self.G(naming)
        for i, soft in enumerate(softness):
            G[i][i] = add(G[i][i], soft)
        return ldl(self.lanes.system(G, self.between_limbs), naming=naming)

    def forces(
        self, whole: LDL, right: Sequence[Scalar], rates: Sequence[Scalar], naming: Naming
    ) -> list[Scalar]:
        """(G + softness)^-1 (right - J M^-1 u), where rates = D^-1 L^-T u. `whole` has the factors."""
        driven = dict(enumerate(rates))
        wanted = [sub(value, product(row, driven)) for value, row in zip(right, self.y, strict=True)]
        found = enumerate(whole.solve(self.lanes.spread(wanted)))
        return self.lanes.gathered([naming(f"lambda[{i}]", value) for i, value in found])

    def pushed(self, forces: Sequence[Scalar], rates: Sequence[Scalar]) -> list[Scalar]:
        """D^-1 L^-T (u + J^T lambda)."""
        total, of_limbs, several = list(rates), dict[int, Scalar](), self.lanes.several
        for i, (row, force) in enumerate(zip(self.scaled, forces, strict=True)):
            for k, value in row.items():
                term = mul(value, force)
                if i in several and k not in self.lanes.inside:
                    of_limbs[k] = add(of_limbs.get(k, 0), term)
                else:
                    total[k] = add(total[k], term)
        for k, value in of_limbs.items():
            total[k] = add(total[k], self.lanes.lanes.join(value))
        return total


def product(a: Entries, b: Entries) -> Scalar:
    """The scalar product over the degrees of freedom that both rows have."""
    total: Scalar = 0
    for k, value in a.items():
        if k in b:
            total = add(total, mul(value, b[k]))
    return total


def activity(contacts: Sequence[Contact], x: State) -> list[Scalar]:
    """`active` for every row."""
    return [w for contact, w in zip(contacts, x.arrays["active"], strict=True) for _ in range(contact.rows)]


def softness(contacts: Sequence[Contact], x: State) -> list[Scalar]:
    """The value mu + 1 - active for every row, which is added to the diagonal of G."""
    (mu,) = x.arrays["mu"]
    return [add(mu, sub(1, w)) for w in activity(contacts, x)]
