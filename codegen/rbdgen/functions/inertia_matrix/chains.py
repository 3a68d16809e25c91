"""Solve M x = -b by articulated bodies, one chain of joints at a time, with right-hand sides as the lanes of
vectors.

This is the algorithm of Featherstone 2008, chapter 7, for joints of any number of degrees of freedom: an
unbranched chain of joints, such as a leg, is treated as one joint. The carrier of a chain is the chain, the
base or the world to which its first joint is attached. Let C be the block of M of a chain, computed with
articulated-body inertias if other chains hang on its end. Let U be the forces on the carrier at unit
accelerations of the joints, and a the acceleration of the carrier. Then

    x = -C^-1 b + K a,   K = -C^-1 U^T        the accelerations of the joints
    f = K^T b                                 the part of b that is handed on to the carrier
    U K                                       the change of the carrier's inertia

All quantities are in one common frame, so motions and forces need no transformation from body to body. The
base is the last chain, with six unit motions. Quantities that do not depend on a right-hand side are computed
once. Then the columns of right-hand sides are processed as lanes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from rbdgen.access import TOP_LEFT, Access, BlockViews, MatrixView, Place, element, lower, square, whole
from rbdgen.functions.inertia_matrix.inverse import inverse
from rbdgen.spatial.ldl import ldl
from rbdgen.spatial.rows import Rows, product, times, transposed
from rbdgen.spatial.scalar import Scalar, add, dot, neg, total
from rbdgen.sweeps.columns import ROOT, ChainTree, Columns, Nonzero, split
from rbdgen.sweeps.freedoms import WIDE, FreedomLanes, ancestor_pairs, cover
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.loops import Arrays, FormLoop, copied
from rbdgen.sweeps.sweep import BASE, Given, Gives

ROW_WIDTH: Final = WIDE
"""The width of a row, which has six numbers of a force or of K and one number of the right-hand side of qdd,
and is padded to a whole vector.
"""

LINEAR_FIRST: Final = (3, 4, 5, 0, 1, 2)
"""The components of a motion in the order of a base's degrees of freedom; the permutation is its own
inverse.
"""

# ---- a right-hand side


def solve_inward(x: Given) -> Gives:
    """Compute -C^-1 b and f. The b of a chain includes the forces that chains on its end hand on."""
    b = list(map(add, x.b, times(x.S, x.force)))
    return {"solved": times(x.inverse, b), "passed": list(map(add, x.force, times(transposed(x.K), b)))}


def solve_outward(x: Given) -> Gives:
    """Compute x and the acceleration of the end of the chain."""
    found = [dot([1, *K], [own, *x.moved]) for own, K in zip(x.own, x.K, strict=True)]
    return {"x": found, "moved": list(map(add, x.moved, times(transposed(x.S), found)))}


# ---- the loops


@dataclass
class ChainLanes:
    """The loops over a robot's chains, on the arrays of `lanes`.

    For every joint they read `S`, the force `unit` at unit acceleration, the entry `own` on the diagonal of
    M, and a row of `rows`, which has the six numbers of `unit` and then b for qdd. `C` holds the blocks of M,
    one chain after the other.
    """

    lanes: FreedomLanes

    def __post_init__(self) -> None:
        self.tree = ChainTree(self.lanes.parents, self.lanes.first)
        self.chains, self.on = self.tree.chains, self.tree.on
        self.C, self.inverse = (
            BlockViews(name, tuple(len(chain.joints) for chain in self.chains)) for name in ("C", "inverse")
        )
        self.K, self.rows, self.backs = (MatrixView(name, ROW_WIDTH) for name in ("K", "rows", "back"))
        rows = ROW_WIDTH * self.lanes.count
        self.lanes.sizes |= {"rows": rows, "K": rows, "C": self.C.total, "inverse": self.C.total}
        self.lanes.sizes |= {"back": BASE * ROW_WIDTH * len(self.chains), "a": self.lanes.reduced.nv}
        if self.lanes.first:
            self.lanes.sizes |= {"base_inverse": BASE**2, "base_right": BASE, "base_change": BASE}

    # ---- blocks of M

    def blocks(self) -> list[FormLoop]:
        """The loops that compute the entries of M between joints of a chain, in rows of lanes, and then copy
        them to their places.
        """
        lanes = self.lanes
        wide = min(WIDE, lanes.count)
        firsts = {chain.joints[0] for chain in self.chains}
        parents = [-1 if k in firsts else above for k, above in enumerate(lanes.parents)]
        rows = cover(parents, wide)
        pairs = [pair for row in rows for pair in row.pairs(wide)]
        lanes.sizes["inertias"] = len(pairs)
        loops = []
        for along in (False, True):
            runs = [
                wide * k + lane for k, row in enumerate(rows) if row.along == along for lane in range(wide)
            ]
            below, above = ([pairs[k][end] for k in runs] for end in range(2))
            loops.append(
                FormLoop(
                    "inertias",
                    lambda x: {"entry": [dot(list(x.arrays["S"]), list(x.arrays["unit"]))]},
                    {"entry": element("inertias", runs)},
                    {"S": self._six("S", LINEAR_FIRST, above), "unit": self._six("unit", range(BASE), below)},
                    count=len(runs),
                )
            )
        at = {pair: k for k, pair in enumerate(pairs)}
        inside = ancestor_pairs(parents)
        joints = range(lanes.count)
        return [
            *loops,
            self._put("inertias", [at[pair] for pair in inside], inside),
            self._put("own", joints, [(k, k) for k in joints]),
        ]

    def _put(self, source: str, places: Sequence[int], pairs: Sequence[tuple[int, int]]) -> FormLoop:
        return copied("put", element(source, places), element("C", [self._place(*pair) for pair in pairs]))

    def _place(self, below: int, above: int) -> int:
        """The index in C of the entry for two joints of a chain."""
        k = next(k for k, chain in enumerate(self.chains) if below in chain.joints)
        first = self.chains[k].joints[0]
        return self.C[k].index(below - first, above - first)

    def _six(self, array: str, order: Iterable[int], joints: Sequence[int]) -> Access:
        """The places of the six numbers of one joint in each run."""
        return MatrixView(array, self.lanes.stride).block(order, (0,), [(0, j) for j in joints])

    # ---- quantities that do not depend on right-hand sides

    def factor(self) -> list[FormLoop]:
        """The loops that compute -C^-1, K and U K of all chains. Chains that carry no others come first."""
        inner = [k for k in reversed(range(len(self.chains))) if self.on[k]]
        ends = [k for k in range(len(self.chains)) if not self.on[k]]
        loops = [loop for alike in self.tree.alike(ends) for loop in self._factor_ends(alike)]
        return [*loops, *map(self._factor_inner, inner)]

    def _factor_ends(self, alike: Sequence[int]) -> list[FormLoop]:
        """The loops that factor chains of one size that carry no others. The numbers of a row are lanes."""
        size = self.tree.size(alike[0])
        inverses = FormLoop(
            "inverse",
            lambda x: {"new_inverse": _minus_inverse(triangle(x.arrays["C"]))},
            {"new_inverse": self.inverse.entries(square(size), alike)},
            {"C": self.C.entries(lower(size), alike)},
            count=len(alike),
        )

        def couple(x: State) -> Arrays:
            K = times(split(x.arrays["inverse"], size), x.arrays["right"])
            U = split(x.arrays["U"], BASE)
            return {"new_K": K, "new_back": [dot([u[c] for u in U], K) for c in range(BASE)]}

        lanes = [(k, lane) for k in alike for lane in range(ROW_WIDTH)]
        firsts = [(self.chains[k].joints[0], lane) for k, lane in lanes]
        coupling = FormLoop(
            "coupling",
            couple,
            {
                "new_K": self.K.down(size, firsts),
                "new_back": self.backs.down(BASE, [(BASE * k, lane) for k, lane in lanes]),
            },
            {
                "inverse": self.inverse.entries(square(size), [k for k, _ in lanes]),
                "right": self.rows.down(size, firsts),
                "U": self.rows.block(range(size), range(BASE), [(joint, 0) for joint, _ in firsts]),
            },
            count=len(lanes),
        )
        return [inverses, coupling]

    def _factor_inner(self, k: int) -> FormLoop:
        """The straight line that factors a chain that carries others, which change the inertia of its end."""
        chain, carried = self.chains[k], self.on[k]
        n = len(chain.joints)

        def trace(x: State) -> Arrays:
            backs = [split(x.arrays[f"back_{c}"], BASE + 1) for c in carried]
            back = [[total(b[i][j] for b in backs) for j in range(BASE + 1)] for i in range(BASE)]
            S, C = split(x.arrays["S"], BASE), triangle(x.arrays["C"])
            rows = plus(split(x.arrays["row"], BASE + 1), product(S, back))
            felt = [times([line[:BASE] for line in back], S_j) for S_j in S]
            lower = [[add(C[i][j], dot(S[i], felt[j])) for j in range(i + 1)] for i in range(n)]
            inverse = _minus_inverse(lower)
            K = product(split(inverse, n), rows)
            U, columns = transposed(rows), transposed(K)
            gone = {
                (i, j): add(back[i][j], dot(U[i], columns[j]))
                for i in range(BASE)
                for j in range(i, BASE + 1)
            }
            return {
                "new_inverse": inverse,
                "new_K": [value for row in K for value in row],
                "new_back": [gone[min(i, j), max(i, j)] for i in range(BASE) for j in range(BASE + 1)],
            }

        return FormLoop(
            "inner",
            trace,
            {
                "new_inverse": self.inverse[k].entries(square(n)),
                "new_K": self.K.block(chain.joints, range(BASE + 1)),
                "new_back": self.back(k),
            },
            {
                "C": self.C[k].entries(lower(n)),
                "row": self.rows.block(chain.joints, range(BASE + 1)),
                "S": self.subspaces(chain.joints),
                **{f"back_{c}": self.back(c) for c in carried},
            },
        )

    def back(self, k: int) -> Access:
        """The places of U K of a chain, followed by the force that it hands on for qdd."""
        return self.backs.block(range(BASE * k, BASE * (k + 1)), range(BASE + 1))

    def subspaces(self, joints: Sequence[int], starts: Iterable[Place] = TOP_LEFT) -> Access:
        """The places of S of these joints, in the order of a base's degrees of freedom."""
        return MatrixView("S", self.lanes.stride).entries(
            [(c, j) for j in joints for c in LINEAR_FIRST], starts
        )

    def columns(self, right: str, result: str, first: int, nonzero: Nonzero) -> list[FormLoop]:
        """The loops that solve for the columns of `right`, from `first` on, into `result`, both nv x nv."""
        steps, sizes = (solve_inward, solve_outward), self.lanes.sizes
        constants = {"inverse": self._inverses, "K": self._gains, "S": self._subspaces}
        return Columns(self.tree, *steps, constants, sizes, right, result, first, nonzero).loops()

    def _inverses(self, alike: Sequence[int]) -> Access:
        """The places of -C^-1 of chains of one size, or of the base."""
        if alike[0] == ROOT:
            return whole("base_inverse", BASE**2)
        return self.inverse.entries(square(self.tree.size(alike[0])), alike)

    def _gains(self, alike: Sequence[int]) -> Access:
        """The places of K of chains of one size."""
        firsts = [(self.chains[k].joints[0], 0) for k in alike]
        return self.K.block(range(self.tree.size(alike[0])), range(BASE), firsts)

    def _subspaces(self, alike: Sequence[int]) -> Access:
        """The places of S of chains of one size."""
        starts = [(0, self.chains[k].joints[0]) for k in alike]
        return self.subspaces(range(self.tree.size(alike[0])), starts)

    def base_inverse(self, inertia: Rows, backs: Sequence[Rows]) -> list[Scalar]:
        """Minus the inverse of the articulated-body inertia of a base, whose own `inertia` is given as a
        lower triangle.
        """
        return _minus_inverse(
            [[add(inertia[i][j], total(b[i][j] for b in backs)) for j in range(i + 1)] for i in range(BASE)]
        )

    def accelerations(self) -> FormLoop:
        """The straight line that computes qdd, from the base to the ends of chains."""
        lanes, nv = self.lanes, self.lanes.reduced.nv
        inner = [j for k, chain in enumerate(self.chains) for j in chain.joints if self.on[k]]
        roots = self.on[ROOT]

        def trace(x: State) -> Arrays:
            rows = split(x.arrays.get("K", ()), BASE + 1)
            S = dict.fromkeys(range(lanes.count), [0] * BASE)
            S |= zip(inner, split(x.arrays.get("S", ()), BASE), strict=True)
            a: dict[int, list[Scalar]] = {ROOT: [0] * BASE}
            if self.lanes.first:
                forces = [[x.arrays[f"back_{k}"][(BASE + 1) * i + BASE] for k in roots] for i in range(BASE)]
                right = list(map(add, x.arrays["base_right"], map(total, forces)))
                a[ROOT] = times(split(x.arrays["base_inverse"], BASE), right)
            qdd = list(a[ROOT]) if self.lanes.first else []
            for k, (joints, carrier) in enumerate(self.chains):
                own = [add(dot(rows[j][:BASE], a[carrier]), rows[j][BASE]) for j in joints]
                a[k] = list(map(add, a[carrier], times(transposed([S[j] for j in joints]), own)))
                qdd += own
            base = {"new_base": [a[ROOT][c] for c in LINEAR_FIRST]} if self.lanes.first else {}
            return {"new_a": qdd, **base}

        reads = {"K": self.K.block(range(lanes.count), range(BASE + 1))} if lanes.count else {}
        if inner:
            reads["S"] = self.subspaces(inner)
        writes = {"new_a": whole("a", nv)}
        if self.lanes.first:
            reads |= {f"back_{k}": self.back(k) for k in roots}
            reads |= {name: whole(name, lanes.sizes[name]) for name in ("base_inverse", "base_right")}
            writes["new_base"] = whole("base_change", BASE)
        return FormLoop("accelerations", trace, writes, reads)


def triangle(values: Sequence[Scalar]) -> Rows:
    """The values of a lower triangle by rows, the first of which has one value."""
    rest, rows = list(values), list[list[Scalar]]()
    while rest:
        rows.append([rest.pop(0) for _ in range(len(rows) + 1)])
    return rows


def plus(A: Rows, B: Rows) -> Rows:
    """A + B."""
    return [list(map(add, *rows)) for rows in zip(A, B, strict=True)]


def _minus_inverse(lower: Rows) -> list[Scalar]:
    """Minus the inverse of a symmetric positive definite matrix given as a lower triangle, row-major."""
    n = range(len(lower))
    H = [[lower[max(i, j)][min(i, j)] for j in n] for i in n]
    return [neg(value) for row in inverse(ldl(H)) for value in row]
