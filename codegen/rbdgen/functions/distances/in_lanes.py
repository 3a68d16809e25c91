"""Distances with pairs as the lanes of vectors.

A straight line places the capsules and the obstacles. Pairs of one kind then take the same operations, on the
numbers of both sides. Numbers that all pairs share stay numbers, constants in which pairs differ are in a
table, and the straight line stores all others, those of neighbouring pairs next to each other. Kinds with too
few pairs to fill a vector are computed in the straight line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Final

from rbdgen.access import Access, MatrixView, whole
from rbdgen.functions.distances.gradient import row
from rbdgen.functions.distances.nearest import meeting, moved_by, nearest, sides, wrench
from rbdgen.functions.distances.obstacles import WIDTHS
from rbdgen.functions.distances.placed import Placed
from rbdgen.graph.engine import GraphEngine
from rbdgen.model.model import Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ops import Force, Motion
from rbdgen.spatial.scalar import Scalar, is_number, mul
from rbdgen.sweeps.freedoms import WIDE
from rbdgen.sweeps.inputs import State, coordinates
from rbdgen.sweeps.loops import Arrays, FormLoop, LoopedForm
from rbdgen.sweeps.records import Kind, flat, of, width

MOST_WORK: Final = 0.5
"""The greatest work with which pairs are lanes, as a fraction of the straight line's.

The numbers of pairs are stored one by one, and vectors wait for them, which counts as no work. With 0.25 to
0.38 of the work (arms), calls took 0.4 to 0.75 of the time. With 0.62 (spheres around a quadruped), they took
0.95 to 1.6 of it, depending on the compiler.
"""

COLUMNS: Final = "columns"
"""The array of the motions of joints."""


def pairs_fill(model: Model) -> bool:
    """Whether the pairs of some kind fill a vector."""
    return any(len(lot) >= WIDE for lot in _by_kind(model))


def distances(reduced: ReducedModel) -> LoopedForm:
    """The loops for d (npairs,) in m."""
    return PairLanes(reduced, "distance", gradient=False).form()


def jacobian(reduced: ReducedModel) -> LoopedForm:
    """The loops for J (npairs, nv), row-major."""
    return PairLanes(reduced, "J", gradient=True).form()


def _by_kind(model: Model) -> list[list[int]]:
    """The numbers of the pairs of each kind. They are neighbours in the results."""
    numbered = enumerate(model.distances.pairs)
    return [[k for k, _ in own] for _, own in groupby(numbered, lambda pair: pair[1].kind)]


@dataclass(frozen=True)
class Rows:
    """Rows of numbers with an element for each pair, and where the loop over these pairs finds each row."""

    rows: Sequence[Sequence[Scalar]]
    """The numbers at any state: those that depend on it are expressions."""

    @cached_property
    def table(self) -> list[int]:
        """The rows of constants in which pairs differ."""
        return [e for e, row in enumerate(self.rows) if _constant(row) and len(set(row)) > 1]

    @cached_property
    def stored(self) -> list[int]:
        """The rows that depend on the state."""
        return [e for e, row in enumerate(self.rows) if not _constant(row)]

    def of_pair(self, table: Sequence[Scalar], stored: Sequence[Scalar] = ()) -> list[Scalar]:
        """The numbers of one pair, from its elements of both arrays."""
        found = [row[0] for row in self.rows]
        for e, value in zip((*self.table, *self.stored), (*table, *stored), strict=True):
            found[e] = value
        return found


def _constant(row: Sequence[Scalar]) -> bool:
    return all(map(is_number, row))


class Lot:
    """Pairs of one kind, which are the lanes of a loop."""

    def __init__(self, placed: Placed, numbers: Sequence[int], name: str) -> None:
        self.numbers, self.name = numbers, name
        self.constants, self.signs_table = f"of_{name}", f"signs_of_{name}"
        self.pairs = [placed.model.distances.pairs[k] for k in numbers]
        self.kinds: list[Kind] = [type(side) for side in sides(placed, self.pairs[0])]
        self.ends = Rows(self.of_sides(placed))
        self.signs = Rows(self._signs(placed.model))

    def of_sides(self, placed: Placed) -> list[list[Scalar]]:
        """The numbers of both sides of each pair."""
        both = [zip(self.kinds, sides(placed, pair), strict=True) for pair in self.pairs]
        numbers = [[x for kind, side in two for x in flat(kind, side)] for two in both]
        return list(map(list, zip(*numbers, strict=True)))

    def _signs(self, model: Model) -> list[list[Scalar]]:
        """For each degree of freedom, 1 or -1 where its joint moves the first of a pair against the second,
        else 0.
        """
        found: list[list[Scalar]] = [[0] * len(self.pairs) for _ in range(model.nv)]
        for lane, pair in enumerate(self.pairs):
            for body, sign in moved_by(model, *model.distances.bodies(pair)):
                joint = model.bodies[body].joint
                for k in range(joint.idx_v, joint.idx_v + joint.nv):
                    found[k][lane] = sign
        return found

    def at(self, array: str, rows: int) -> Access:
        """The elements of a pair in this number of rows of an array, in each run."""
        count = len(self.pairs)
        return MatrixView(array, count).entries(((e, 0) for e in range(rows)), ((0, k) for k in range(count)))


class PairLanes:
    """The loops of a function: a straight line, and a loop over the pairs of each kind."""

    def __init__(self, reduced: ReducedModel, output: str, *, gradient: bool) -> None:
        self.reduced, self.output, self.gradient = reduced, output, gradient
        model = reduced.model
        self.wide = model.nv if gradient else 1
        self.written = f"new_{output}"
        counts = model.distances.counts.items()
        self.obstacles = {name: count * WIDTHS[name] for name, count in counts if count}
        placed = self._anywhere()
        lots = _by_kind(model)
        filled = [own for own in lots if len(own) >= WIDE]
        self.lots = [Lot(placed, own, f"pairs{k}") for k, own in enumerate(filled, 1)]
        self.alone = [k for own in lots if len(own) < WIDE for k in own]
        moved = {k for lot in self.lots for k, signs in enumerate(lot.signs.rows) if any(signs)}
        self.columns = Rows([[x] if k // 6 in moved else [0] for k, x in enumerate(_columns(placed))])

    def _anywhere(self) -> Placed:
        """The robot at a configuration of symbols."""
        engine, model = GraphEngine(), self.reduced.model
        q = coordinates(model, engine.symbols("q", model.sizes["nq"]), engine.cos, engine.sin)
        arrays = {name: engine.symbols(name, size) for name, size in self.obstacles.items()}
        return Placed.at(self.reduced, State(q=q, arrays=arrays, sqrt=engine.sqrt))

    def form(self) -> LoopedForm:
        """All loops."""
        size = len(self.reduced.model.distances.pairs) * self.wide
        scratch = {lot.name: len(lot.ends.stored) * len(lot.pairs) for lot in self.lots}
        scratch[COLUMNS] = len(self.columns.stored) if self.gradient else 0
        tables = {name: table for lot in self.lots for name, table in self._tables(lot).items()}
        return LoopedForm(
            (self._placing(), *map(self._loop, self.lots)),
            {self.output: size},
            {name: size for name, size in scratch.items() if size},
            tables,
            lanes_of_one_state=True,
        )

    def _tables(self, lot: Lot) -> dict[str, tuple[float, ...]]:
        """The constants in which the pairs differ."""
        rows = {lot.constants: lot.ends} | ({lot.signs_table: lot.signs} if self.gradient else {})
        return {
            name: tuple(float(x) for e in own.table for x in own.rows[e])
            for name, own in rows.items()
            if own.table
        }

    def _placing(self) -> FormLoop:
        """The straight line that stores the numbers of pairs, and computes pairs that fill no vector."""
        writes = {lot.name: whole(lot.name, len(lot.ends.stored) * len(lot.pairs)) for lot in self.lots}
        if self.gradient and self.columns.stored:
            writes[COLUMNS] = whole(COLUMNS, len(self.columns.stored))
        alone = f"{self.output}_alone"
        if self.alone:
            places = (self.wide * k + e for k in self.alone for e in range(self.wide))
            writes[alone] = Access(self.output, tuple(places))

        def trace(x: State) -> Arrays:
            placed = Placed.at(self.reduced, x)
            found: dict[str, list[Scalar]] = {}
            for lot in self.lots:
                rows = lot.of_sides(placed)
                found[lot.name] = [number for e in lot.ends.stored for number in rows[e]]
            if COLUMNS in writes:
                columns = _columns(placed)
                found[COLUMNS] = [columns[k] for k in self.columns.stored]
            if self.alone:
                met = nearest(placed, self.alone)
                each = (row(placed, one) if self.gradient else [one.at.distance] for one in met)
                found[alone] = [value for values in each for value in values]
            return found

        reads = {name: whole(name, size) for name, size in self.obstacles.items()}
        return FormLoop("place", trace, writes, reads, inputs=("q",))

    def _loop(self, lot: Lot) -> FormLoop:
        """The loop over the pairs of one kind."""
        of_pairs, (first, second) = self.reduced.model.distances, lot.kinds
        heights = {lot.name: len(lot.ends.stored), lot.constants: len(lot.ends.table)}
        if self.gradient:
            heights[lot.signs_table] = len(lot.signs.table)
        reads = {name: lot.at(name, height) for name, height in heights.items() if height}
        if self.gradient and self.columns.stored:
            reads[COLUMNS] = whole(COLUMNS, len(self.columns.stored))

        def trace(x: State) -> Arrays:
            given = x.arrays
            ends = lot.ends.of_pair(given.get(lot.constants, ()), given.get(lot.name, ()))
            one, other = of(first, ends[: width(first)]), of(second, ends[width(first) :])
            met = meeting(of_pairs, lot.pairs[0], one, other, x.sqrt)
            if not self.gradient:
                return {self.written: [met.at.distance]}
            n, m = wrench(met)
            columns = self.columns.of_pair((), given.get(COLUMNS, ()))
            motions = [of(Motion, columns[k : k + 6]) for k in range(0, len(columns), 6)]
            signs = lot.signs.of_pair(given.get(lot.signs_table, ()))
            return {self.written: [mul(s, S.dot(Force(m, n))) for s, S in zip(signs, motions, strict=True)]}

        to = MatrixView(self.output, self.wide).row(lot.numbers)
        return FormLoop(lot.name, trace, {self.written: to}, reads, count=len(lot.pairs))


def _columns(placed: Placed) -> list[Scalar]:
    """The motion of each degree of freedom, in six numbers."""
    by_freedom: dict[int, Motion] = {}
    for body, columns in zip(placed.model.bodies, placed.columns, strict=True):
        by_freedom |= dict(enumerate(columns, body.joint.idx_v))
    return [x for k in sorted(by_freedom) for x in flat(Motion, by_freedom[k])]
