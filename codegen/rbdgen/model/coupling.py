"""Joints that follow others: how velocities spread to them, and how forces and matrices are folded back.

On a robot with followers each body keeps its degrees of freedom. All of them move as x = G y with the
independent ones y, where G is constant: a row is a unit vector, or k times one if q_m = k q_p. With the
velocities w of the independent degrees of freedom, all velocities, accelerations, torques and the inertia
matrix are

    v = G w,  a = G wdot,  tau = G^T ID(q, G w, G wdot),  M = G^T M_x G,

so an algorithm over bodies does not need to know about followers. Independent degrees of freedom come first,
in the order of the bodies, and followers come after them. Constraint embedding: Jain, Robot and Multibody
Dynamics, 2011.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rbdgen.model.joints import Joint
from rbdgen.spatial.rows import transposed
from rbdgen.spatial.scalar import Scalar, add, mul, total

Matrix = Sequence[Sequence[Scalar]]
Member = tuple[int, Scalar]
"""A degree of freedom, and the factor by which it moves with the independent one that it follows (1 for the
independent one itself).
"""


@dataclass(frozen=True)
class Coupling:
    """G by its columns: `groups[i]` has the members of independent degree of freedom i, itself first."""

    groups: tuple[tuple[Member, ...], ...]

    @property
    def independent(self) -> int:
        """The number of independent degrees of freedom."""
        return len(self.groups)

    @property
    def is_trivial(self) -> bool:
        """Whether no joint follows another."""
        return all(len(members) == 1 for members in self.groups)

    def extended(self, y: Sequence[Scalar]) -> list[Scalar]:
        """G y."""
        if self.is_trivial:
            return list(y)
        x: dict[int, Scalar] = {
            i: mul(k, value) for members, value in zip(self.groups, y, strict=True) for i, k in members
        }
        return [x[i] for i in range(len(x))]

    def folded(self, x: Sequence[Scalar]) -> list[Scalar]:
        """G^T x."""
        return [total([mul(k, x[i]) for i, k in members]) for members in self.groups]

    def folded_rows(self, A: Matrix) -> list[list[Scalar]]:
        """G^T A, for a matrix whose columns are not degrees of freedom."""
        return transposed([self.folded(column) for column in transposed(A)])

    def folded_matrix(self, A: Matrix) -> list[list[Scalar]]:
        """G^T A G. For a symmetric matrix both halves are the same expressions."""
        if self.is_trivial:
            return [list(row) for row in A]
        n = range(self.independent)
        return [[self._entry(A, i, j) for j in n] for i in n]

    def _entry(self, A: Matrix, i: int, j: int) -> Scalar:
        """Entry (i, j) of G^T A G. In both halves, the outer sum is over the group with the lower number."""
        rows, columns = self.groups[i], self.groups[j]
        if i < j:
            return total([mul(k, total([mul(m, A[r][c]) for c, m in columns])) for r, k in rows])
        if j < i:
            return total([mul(m, total([mul(k, A[r][c]) for r, k in rows])) for c, m in columns])
        terms = [mul(k * k, A[r][r]) for r, k in rows]
        for at, (r, k) in enumerate(rows):
            for c, m in rows[at + 1 :]:
                same = A[r][c] is A[c][r]
                terms.append(mul(2 * k * m, A[r][c]) if same else mul(k * m, add(A[r][c], A[c][r])))
        return total(terms)


@dataclass(frozen=True)
class Elimination:
    """The order in which M is factored, and its fill-in.

    `order` goes from the root to the leaves. `ancestors[i]` has the independent degrees of freedom above i in
    the elimination tree, nearest first.
    """

    order: tuple[int, ...]
    ancestors: tuple[tuple[int, ...], ...]


def coupling_of(joints: Iterable[Joint]) -> Coupling:
    """The groups of a robot's joints."""
    groups: dict[int, list[Member]] = {}
    followers: list[tuple[int, int, float]] = []
    for joint in joints:
        if joint.follows is None:
            for k in range(joint.idx_v, joint.idx_v + joint.nv):
                groups[k] = [(k, 1)]
        else:
            followers.append((joint.idx_v, joint.follows.idx_v, joint.follows.multiplier))
    for own, primary, multiplier in sorted(followers):
        groups[primary].append((own, multiplier))
    return Coupling(tuple(tuple(groups[k]) for k in range(len(groups))))


def elimination_of(above: Sequence[Sequence[int]], coupling: Coupling) -> Elimination:
    """An order with little fill-in, and the elimination tree that it leads to.

    Without followers, it is the tree of the robot (Featherstone 2008, section 6.5). A group is placed
    directly below the lowest body that is an ancestor of all its members. There is no fill-in with one group,
    or with several groups whose paths to that body do not cross. Otherwise there may be, so the pattern is
    found by elimination.

    `above[k]` has the degrees of freedom from the parent of k up to the root, nearest first.
    """
    if coupling.is_trivial:
        return Elimination(tuple(range(len(above))), tuple(map(tuple, above)))
    lines = [frozenset((k, *chain)) for k, chain in enumerate(above)]
    owner = {i: g for g, members in enumerate(coupling.groups) for i, _ in members}
    depths = []
    for members in coupling.groups:
        shared = frozenset.intersection(*(frozenset(above[i]) for i, _ in members))
        depths.append(len(shared) + (0.5 if len(members) == 1 else 0))
    order = sorted(range(coupling.independent), key=lambda g: (depths[g], g))
    place = {g: at for at, g in enumerate(order)}
    upper: list[set[int]] = [set() for _ in order]
    for i, line in enumerate(lines):
        for j in line:
            later, earlier = sorted((owner[i], owner[j]), key=place.__getitem__, reverse=True)
            if later != earlier:
                upper[later].add(earlier)
    parents: dict[int, int] = {}
    for g in reversed(order):
        if upper[g]:
            parents[g] = parent = max(upper[g], key=place.__getitem__)
            upper[parent] |= upper[g] - {parent}
    ancestors: list[tuple[int, ...]] = [()] * len(order)
    for g, parent in sorted(parents.items(), key=lambda pair: place[pair[0]]):
        ancestors[g] = (parent, *ancestors[parent])
    return Elimination(tuple(order), tuple(ancestors))
