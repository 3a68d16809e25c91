"""M x = -b by articulated bodies, one chain of joints at a time, with right-hand sides as the lanes of
vectors.

This is Featherstone 2008, chapter 7, with joints of any number of degrees of freedom: an unbranched chain of
joints, such as a leg, is treated as one joint. Let C be the block of M of a chain (computed with
articulated-body inertias where other chains hang on its end), U the forces on the carrier of the chain at
unit accelerations of its joints, and a the acceleration of the carrier:

    x = -C^-1 b + K a,   K = -C^-1 U^T        the accelerations of the joints
    f = K^T b                                 the part of b that is handed on to the carrier
    U K                                       the change of the carrier's inertia

All quantities are in one common frame, so a and f have the same values along a tree. The base is the last
chain, with six unit motions. All that does not depend on a right-hand side is computed once; then columns of
right-hand sides are lanes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from rbdgen.access import TOP_LEFT, Access, BlockViews, MatrixView, Place, element, lower, square, whole
from rbdgen.functions.inertia_matrix.inverse import inverse
from rbdgen.spatial.ldl import ldl
from rbdgen.spatial.scalar import Scalar, add, dot, neg
from rbdgen.sweeps.freedoms import WIDE, FreedomLanes, ancestor_pairs, cover
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.loops import Arrays, FormLoop
from rbdgen.sweeps.sweep import BASE

ROOM: Final = WIDE
"""The width of a row: six numbers of a force or of K, and one of the right-hand side of qdd, padded to a
vector.
"""

ROOT: Final = -1
"""The carrier of a chain that no other chain carries."""

LINEAR_FIRST: Final = (3, 4, 5, 0, 1, 2)
"""The components of a motion in the order of a base's degrees of freedom; the permutation is its own
inverse.
"""

Rows = Sequence[Sequence[Scalar]]


@dataclass(frozen=True)
class Chain:
    """An unbranched chain of joints, which are counted as lanes. `carrier` is the number of the chain that
    carries it.
    """

    joints: range
    carrier: int

    @property
    def size(self) -> int:
        """The number of degrees of freedom."""
        return len(self.joints)


def chains_of(parents: Sequence[int]) -> list[Chain]:
    """The chains of a tree of joints. Every chain comes after its carrier."""
    children = [[k for k, above in enumerate(parents) if above == j] for j in range(len(parents))]
    found: list[Chain] = []
    of: dict[int, int] = {}
    for k, above in enumerate(parents):
        if k in of:
            continue
        end = k + 1
        while children[end - 1] == [end]:
            end += 1
        of |= dict.fromkeys(range(k, end), len(found))
        found.append(Chain(range(k, end), of[above] if above >= 0 else ROOT))
    return found


@dataclass
class ChainLanes:
    """The loops over a robot's chains, on the arrays of `lanes`.

    They read for every joint `S`, `unit` (its force at unit acceleration), `own` (its entry on the diagonal
    of M) and a row of `rows`: the six numbers of `unit`, and b for qdd. `C` has the blocks of M, one chain
    after the other. `on` lists the chains that a chain carries, and `levels` lists the chains by their depth.
    """

    lanes: FreedomLanes

    def __post_init__(self) -> None:
        self.chains = chains_of(self.lanes.parents)
        numbers = range(len(self.chains))
        self.on = {c: [k for k in numbers if self.chains[k].carrier == c] for c in (ROOT, *numbers)}
        self.levels = [[ROOT]]
        while below := [c for k in self.levels[-1] for c in self.on[k]]:
            self.levels.append(below)
        self.C, self.inverse = (
            BlockViews(name, tuple(chain.size for chain in self.chains)) for name in ("C", "inverse")
        )
        self.K, self.rows, self.backs = (MatrixView(name, ROOM) for name in ("K", "rows", "back"))
        self.based = bool(self.lanes.first)
        rows = ROOM * self.lanes.count
        self.lanes.sizes |= {"rows": rows, "K": rows, "C": self.C.total, "inverse": self.C.total}
        self.lanes.sizes |= {"back": BASE * ROOM * len(self.chains), "a": self.lanes.reduced.nv}
        if self.based:
            self.lanes.sizes |= {"base_inverse": BASE**2, "base_right": BASE, "base_change": BASE}

    # ---- blocks of M

    def blocks(self) -> list[FormLoop]:
        """The entries of M between joints of a chain, computed in rows of lanes and then copied to their
        places.
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
        return FormLoop(
            "put",
            lambda x: {"entry": list(x.arrays["value"])},
            {"entry": element("C", [self._place(*pair) for pair in pairs])},
            {"value": element(source, places)},
            count=len(pairs),
        )

    def _place(self, below: int, above: int) -> int:
        """The index in C of the entry for two joints of a chain."""
        k = next(k for k, chain in enumerate(self.chains) if below in chain.joints)
        first = self.chains[k].joints[0]
        return self.C[k].index(below - first, above - first)

    def _six(self, array: str, order: Iterable[int], joints: Sequence[int]) -> Access:
        """The six numbers of one joint in each run."""
        return MatrixView(array, self.lanes.stride).block(order, (0,), [(0, j) for j in joints])

    # ---- what does not depend on right-hand sides

    def factor(self) -> list[FormLoop]:
        """-C^-1, K and U K of all chains. Chains that carry no others come first."""
        inner = [k for k in reversed(range(len(self.chains))) if self.on[k]]
        ends = [k for k in range(len(self.chains)) if not self.on[k]]
        loops = [loop for alike in self.alike(ends) for loop in self._factor_ends(alike)]
        return [*loops, *map(self._factor_inner, inner)]

    def alike(self, chains: Sequence[int]) -> list[list[int]]:
        """The chains, grouped by their number of joints."""
        sizes = dict.fromkeys(self.chains[k].size for k in chains)
        return [[k for k in chains if self.chains[k].size == size] for size in sizes]

    def _factor_ends(self, alike: Sequence[int]) -> list[FormLoop]:
        """The factors of chains of one size that carry no others. The numbers of a row are lanes."""
        size = self.chains[alike[0]].size
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

        lanes = [(k, lane) for k in alike for lane in range(ROOM)]
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
        """The factors of a chain that carries others, which change the inertia of its end."""
        chain, carried = self.chains[k], self.on[k]
        n = chain.size

        def trace(x: State) -> Arrays:
            backs = [split(x.arrays[f"back_{c}"], BASE + 1) for c in carried]
            back = [[total(b[i][j] for b in backs) for j in range(BASE + 1)] for i in range(BASE)]
            S = split(x.arrays["S"], BASE)
            rows = [
                [add(own, dot(S_j, column)) for own, column in zip(row, zip(*back, strict=True), strict=True)]
                for row, S_j in zip(split(x.arrays["row"], BASE + 1), S, strict=True)
            ]
            felt = [[dot(S_j, line[:BASE]) for line in back] for S_j in S]
            C = triangle(x.arrays["C"])
            inverse = _minus_inverse(
                [[add(C[i][j], dot(S[i], felt[j])) for j in range(i + 1)] for i in range(n)]
            )
            K = [[dot(row, column) for column in zip(*rows, strict=True)] for row in split(inverse, n)]
            gone = [
                [
                    add(back[i][j], dot([row[i] for row in rows], [row[j] for row in K]))
                    for j in range(i, BASE + 1)
                ]
                for i in range(BASE)
            ]
            return {
                "new_inverse": inverse,
                "new_K": [value for row in K for value in row],
                "new_back": [
                    gone[min(i, j)][max(i, j) - min(i, j)] for i in range(BASE) for j in range(BASE + 1)
                ],
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
        """U K of a chain, followed by the force that it hands on for qdd."""
        return self.backs.block(range(BASE * k, BASE * (k + 1)), range(BASE + 1))

    def subspaces(self, joints: Sequence[int], starts: Iterable[Place] = TOP_LEFT) -> Access:
        """S of these joints, in the order of a base's degrees of freedom."""
        return MatrixView("S", self.lanes.stride).entries(
            [(c, j) for j in joints for c in LINEAR_FIRST], starts
        )

    def base_inverse(self, inertia: Rows, backs: Sequence[Rows]) -> list[Scalar]:
        """Minus the inverse of the articulated-body inertia of a base, whose own `inertia` is given as a
        lower triangle.
        """
        return _minus_inverse(
            [[add(inertia[i][j], total(b[i][j] for b in backs)) for j in range(i + 1)] for i in range(BASE)]
        )

    def accelerations(self) -> FormLoop:
        """The straight line that computes qdd, starting with that of the base."""
        lanes, nv = self.lanes, self.lanes.reduced.nv
        inner = [j for k, chain in enumerate(self.chains) for j in chain.joints if self.on[k]]
        roots = self.on[ROOT]

        def trace(x: State) -> Arrays:
            rows = split(x.arrays.get("K", ()), BASE + 1)
            S = dict(zip(inner, split(x.arrays["S"], BASE) if inner else (), strict=True))
            a: dict[int, list[Scalar]] = {ROOT: [0] * BASE}
            if self.based:
                right = [
                    add(own, total(x.arrays[f"back_{k}"][(BASE + 1) * i + BASE] for k in roots))
                    for i, own in enumerate(x.arrays["base_right"])
                ]
                a[ROOT] = [dot(row, right) for row in split(x.arrays["base_inverse"], BASE)]
            qdd = list(a[ROOT]) if self.based else []
            for k, chain in enumerate(self.chains):
                own = [add(dot(rows[j][:BASE], a[chain.carrier]), rows[j][BASE]) for j in chain.joints]
                qdd += own
                if self.on[k]:
                    a[k] = [
                        add(value, dot([S[j][c] for j in chain.joints], own))
                        for c, value in enumerate(a[chain.carrier])
                    ]
            found: dict[str, Sequence[Scalar]] = {"new_a": qdd}
            return {**found, "new_base": [a[ROOT][c] for c in LINEAR_FIRST]} if self.based else found

        reads = {"K": self.K.block(range(lanes.count), range(BASE + 1))} if lanes.count else {}
        if inner:
            reads["S"] = self.subspaces(inner)
        writes = {"new_a": whole("a", nv)}
        if self.based:
            reads |= {f"back_{k}": self.back(k) for k in roots}
            reads |= {name: whole(name, lanes.sizes[name]) for name in ("base_inverse", "base_right")}
            writes["new_base"] = whole("base_change", BASE)
        return FormLoop("accelerations", trace, writes, reads)


def split(values: Sequence[Scalar], width: int) -> list[list[Scalar]]:
    """The values in rows of this width."""
    return [list(values[k : k + width]) for k in range(0, len(values), width)]


def triangle(values: Sequence[Scalar]) -> list[list[Scalar]]:
    """The values in rows that grow by one."""
    rest, rows = list(values), list[list[Scalar]]()
    while rest:
        rows.append([rest.pop(0) for _ in range(len(rows) + 1)])
    return rows


def times(rows: Rows, vector: Sequence[Scalar]) -> list[Scalar]:
    """A matrix times a vector."""
    return [dot(list(row), list(vector)) for row in rows]


def total(values: Iterable[Scalar]) -> Scalar:
    """The sum of the values."""
    found: Scalar = 0
    for value in values:
        found = add(found, value)
    return found


def _minus_inverse(lower: Rows) -> list[Scalar]:
    """Minus the inverse of a symmetric positive definite matrix given as a lower triangle, row-major."""
    n = range(len(lower))
    H = [[lower[max(i, j)][min(i, j)] for j in n] for i in n]
    return [neg(value) for row in inverse(ldl(H)) for value in row]
