"""M x = -b by articulated bodies, a whole chain of joints at a time, right sides as the lanes of vectors.

Featherstone 2008, chapter 7, where a joint may have any number of degrees of freedom: a chain of joints
without a fork, such as a leg, is one joint. With C the block of M of a chain, that of its articulated bodies
where other chains hang on its end, U the forces on what carries it of unit accelerations of its joints, and
a the acceleration of what carries it:

    x = -C^-1 b + K a,   K = -C^-1 U^T        what the joints do
    f = K^T b                                 what it passes on of b to what carries it
    U K                                       what that one's inertia changes by

All in one frame, so that a and f are the same numbers all along a tree. The base is the last chain, of six
unit motions. What depends on no right side is computed once; then columns of right sides are lanes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from rbdgen.access import Access, whole
from rbdgen.functions.inertia_matrix.inverse import inverse
from rbdgen.spatial.ldl import ldl
from rbdgen.spatial.scalar import Scalar, add, dot, neg
from rbdgen.sweeps.freedoms import WIDE, FreedomLanes, ancestor_pairs, cover
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.loops import Arrays, FormLoop
from rbdgen.sweeps.sweep import BASE

ROOM: Final = WIDE
"""Numbers of a row: six of a force or of K, one of the right side of qdd."""

ROOT: Final = -1
"""What carries a chain that no other one carries."""

LINEAR_FIRST: Final = (3, 4, 5, 0, 1, 2)
"""A motion's numbers in the order of a base's degrees of freedom, and back."""

Rows = Sequence[Sequence[Scalar]]


@dataclass(frozen=True)
class Chain:
    """Joints without a fork, counted as lanes; `carrier`: the number of the chain that carries it."""

    joints: range
    carrier: int

    @property
    def size(self) -> int:
        """Degrees of freedom."""
        return len(self.joints)


def chains_of(parents: Sequence[int]) -> list[Chain]:
    """The chains of a tree of joints, every one behind its carrier."""
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
    """The loops of a robot's chains, on the arrays of `lanes`.

    They read, of every joint, `S`, `unit` (its force at a unit acceleration), `own` (its entry on M's
    diagonal) and a row of `rows`: the six numbers of `unit`, and b for qdd. `C` has the blocks of M one
    chain after the other. `on`: the chains on a chain; `levels`: the chains by how many carry them.
    """

    lanes: FreedomLanes

    def __post_init__(self) -> None:
        self.chains = chains_of(self.lanes.parents)
        numbers = range(len(self.chains))
        self.on = {c: [k for k in numbers if self.chains[k].carrier == c] for c in (ROOT, *numbers)}
        self.levels = [[ROOT]]
        while below := [c for k in self.levels[-1] for c in self.on[k]]:
            self.levels.append(below)
        sizes = [chain.size**2 for chain in self.chains]
        self.places = [sum(sizes[:k]) for k in numbers]
        self.based = bool(self.lanes.first)
        rows = ROOM * self.lanes.count
        self.lanes.sizes |= {"rows": rows, "K": rows, "C": sum(sizes), "inverse": sum(sizes)}
        self.lanes.sizes |= {"back": BASE * ROOM * len(self.chains), "a": self.lanes.reduced.nv}
        if self.based:
            self.lanes.sizes |= {"base_inverse": BASE**2, "base_right": BASE, "base_change": BASE}

    # ---- blocks of M

    def blocks(self) -> list[FormLoop]:
        """The entries of M between joints of a chain, in rows of lanes, then into their places."""
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
                    {"entry": Access("inertias", (0,), tuple(runs))},
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
            {"entry": Access("C", (0,), tuple(self._place(*pair) for pair in pairs))},
            {"value": Access(source, (0,), tuple(places))},
            count=len(pairs),
        )

    def _place(self, below: int, above: int) -> int:
        """Where the entry of two joints of a chain lies in C."""
        k = next(k for k, chain in enumerate(self.chains) if below in chain.joints)
        first, size = self.chains[k].joints[0], self.chains[k].size
        return self.places[k] + size * (below - first) + above - first

    def _six(self, array: str, order: Iterable[int], joints: Sequence[int]) -> Access:
        """The six numbers of a joint a run."""
        return Access(array, tuple(self.lanes.stride * c for c in order), tuple(joints))

    # ---- what depends on no right side

    def factor(self) -> list[FormLoop]:
        """-C^-1, K and U K of all chains, those first that carry none."""
        inner = [k for k in reversed(range(len(self.chains))) if self.on[k]]
        ends = [k for k in range(len(self.chains)) if not self.on[k]]
        loops = [loop for alike in self.alike(ends) for loop in self._factor_ends(alike)]
        return [*loops, *map(self._factor_inner, inner)]

    def alike(self, chains: Sequence[int]) -> list[list[int]]:
        """Those that have as many joints together."""
        sizes = dict.fromkeys(self.chains[k].size for k in chains)
        return [[k for k in chains if self.chains[k].size == size] for size in sizes]

    def _factor_ends(self, alike: Sequence[int]) -> list[FormLoop]:
        """Of chains of one size that carry none; the numbers of a row are lanes."""
        size = self.chains[alike[0]].size
        places = tuple(self.places[k] for k in alike)
        whole_block = tuple(range(size**2))
        inverses = FormLoop(
            "inverse",
            lambda x: {"new_inverse": _minus_inverse(triangle(x.arrays["C"]))},
            {"new_inverse": Access("inverse", whole_block, places)},
            {"C": Access("C", _lower(size), places)},
            count=len(alike),
        )

        def couple(x: State) -> Arrays:
            K = times(split(x.arrays["inverse"], size), x.arrays["right"])
            U = split(x.arrays["U"], BASE)
            return {"new_K": K, "new_back": [dot([u[c] for u in U], K) for c in range(BASE)]}

        lanes = [(k, lane) for k in alike for lane in range(ROOM)]
        rows = tuple(ROOM * self.chains[k].joints[0] + lane for k, lane in lanes)
        coupling = FormLoop(
            "coupling",
            couple,
            {
                "new_K": Access("K", _column(size), rows),
                "new_back": Access("back", _column(BASE), tuple(BASE * ROOM * k + lane for k, lane in lanes)),
            },
            {
                "inverse": Access("inverse", whole_block, tuple(self.places[k] for k, _ in lanes)),
                "right": Access("rows", _column(size), rows),
                "U": Access(
                    "rows", six_of(size), tuple(at - lane for at, (_, lane) in zip(rows, lanes, strict=True))
                ),
            },
            count=len(lanes),
        )
        return [inverses, coupling]

    def _factor_inner(self, k: int) -> FormLoop:
        """Of a chain that carries others: they change the inertia of its end."""
        chain, carried = self.chains[k], self.on[k]
        n = chain.size
        row_of_joint = Access("rows", tuple(ROOM * j + c for j in chain.joints for c in range(BASE + 1)))

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

        place = self.places[k]
        return FormLoop(
            "inner",
            trace,
            {
                "new_inverse": Access("inverse", tuple(range(place, place + n**2))),
                "new_K": Access("K", row_of_joint.elements),
                "new_back": self.back(k),
            },
            {
                "C": Access("C", tuple(place + e for e in _lower(n))),
                "row": row_of_joint,
                "S": self.subspaces(chain.joints),
                **{f"back_{c}": self.back(c) for c in carried},
            },
        )

    def back(self, k: int) -> Access:
        """U K of a chain, and the force of b at qdd behind it."""
        at = BASE * ROOM * k
        return Access("back", tuple(at + ROOM * i + j for i in range(BASE) for j in range(BASE + 1)))

    def subspaces(self, joints: Sequence[int]) -> Access:
        """S of these joints, in the order of a base's degrees of freedom."""
        return Access("S", tuple(self.lanes.stride * c + j for j in joints for c in LINEAR_FIRST))

    def base_inverse(self, inertia: Rows, backs: Sequence[Rows]) -> list[Scalar]:
        """Of a base that carries all: minus the inverse of what it weighs. `inertia`: lower triangle."""
        return _minus_inverse(
            [[add(inertia[i][j], total(b[i][j] for b in backs)) for j in range(i + 1)] for i in range(BASE)]
        )

    def accelerations(self) -> FormLoop:
        """qdd, from that of the base on."""
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

        K = Access("K", tuple(ROOM * j + c for j in range(lanes.count) for c in range(BASE + 1)))
        reads = {"K": K} if lanes.count else {}
        if inner:
            reads["S"] = self.subspaces(inner)
        writes = {"new_a": whole("a", nv)}
        if self.based:
            reads |= {f"back_{k}": self.back(k) for k in roots}
            reads |= {name: whole(name, lanes.sizes[name]) for name in ("base_inverse", "base_right")}
            writes["new_base"] = whole("base_change", BASE)
        return FormLoop("accelerations", trace, writes, reads)


def split(values: Sequence[Scalar], width: int) -> list[list[Scalar]]:
    """Rows of so many numbers."""
    return [list(values[k : k + width]) for k in range(0, len(values), width)]


def triangle(values: Sequence[Scalar]) -> list[list[Scalar]]:
    """Rows that grow by one."""
    rest, rows = list(values), list[list[Scalar]]()
    while rest:
        rows.append([rest.pop(0) for _ in range(len(rows) + 1)])
    return rows


def _lower(size: int) -> tuple[int, ...]:
    """The elements of a square matrix on its diagonal and below."""
    return tuple(size * i + j for i in range(size) for j in range(i + 1))


def times(rows: Rows, vector: Sequence[Scalar]) -> list[Scalar]:
    """A matrix times a vector."""
    return [dot(list(row), list(vector)) for row in rows]


def total(values: Iterable[Scalar]) -> Scalar:
    """The sum."""
    found: Scalar = 0
    for value in values:
        found = add(found, value)
    return found


def _minus_inverse(lower: Rows) -> list[Scalar]:
    """Of a symmetric positive definite matrix, given below its diagonal; row-major."""
    n = range(len(lower))
    H = [[lower[max(i, j)][min(i, j)] for j in n] for i in n]
    return [neg(value) for row in inverse(ldl(H)) for value in row]


def _column(rows: int) -> tuple[int, ...]:
    """A number of every row."""
    return tuple(ROOM * i for i in range(rows))


def six_of(rows: int) -> tuple[int, ...]:
    """The first six numbers of every row."""
    return tuple(ROOM * i + c for i in range(rows) for c in range(BASE))
