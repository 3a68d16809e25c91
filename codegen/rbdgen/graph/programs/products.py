"""Products of large matrices as loops in the middle of a straight line.

While the line is built, `Products.multiply` gives symbols for the elements of a product that takes many
scalar products, and notes loops that compute them. A run of a loop computes some rows of one column, and its
runs are neighbouring columns, which may be the lanes of a vector. Blocks of zeros in the factors are left
out.

Loops read factors where they lie, if they are parts of an input or of an earlier product. Other factors are
stored by the line.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Final, TypeAlias

import numpy as np

from rbdgen.access import Access, Place
from rbdgen.graph.builder import Builder
from rbdgen.graph.expression import Expr, Number
from rbdgen.graph.node import Graph, Input
from rbdgen.graph.programs.around import around
from rbdgen.graph.programs.passes import TO_C, Pass, apply
from rbdgen.graph.programs.product_regions import Marks, Region, count, regions
from rbdgen.graph.programs.program import Loop, Program, Result, straight_line
from rbdgen.graph.replay import replay

MOST: Final = 4096
"""Products of at most this number of scalar products are written out."""

WASTE: Final = 2
"""Loops compute at most this multiple of the scalar products of elements that are not known to be 0.
Otherwise, the product is written out.
"""

Value: TypeAlias = Expr | Number

Values: TypeAlias = Mapping[Place, Value]
"""The elements of a matrix that may differ from 0, by row and column."""

Terms: TypeAlias = Sequence[tuple[Values, Values]]
"""The left and the right factor of each product of a sum."""


def multiplied(terms: Terms, wanted: Iterable[Place]) -> dict[Place, Value]:
    """The wanted elements of a sum of products of matrices, written out. Those that are 0 are left out."""
    lines = [
        (_by_line(left.items()), _by_line(((j, k), x) for (k, j), x in right.items()))
        for left, right in terms
    ]
    found: dict[Place, Value] = {}
    for i, j in wanted:
        for rows, columns in lines:
            column = columns.get(j, {})
            for k, x in rows.get(i, {}).items():
                if k in column:
                    own = x * column[k]
                    found[i, j] = found[i, j] + own if (i, j) in found else own
    return found


def _by_line(elements: Iterable[tuple[Place, Value]]) -> dict[int, dict[int, Value]]:
    """The elements of every row by their column."""
    found: dict[int, dict[int, Value]] = {}
    for (row, column), x in elements:
        found.setdefault(row, {})[column] = x
    return found


def regions_if_large(terms: Terms, wanted: Sequence[Place]) -> list[Region]:
    """The regions of a sum of products that loops compute; none if it is written out."""
    if sum(len(left) for left, _ in terms) * len(wanted) <= MOST:
        return []
    rows = 1 + max(i for i, _ in wanted)
    columns = 1 + max(j for _, j in wanted)
    inner = [1 + max((k for _, k in left), default=0) for left, _ in terms]
    sides = [
        (_marks(left, (rows, size)), _marks(right, (size, columns)))
        for (left, right), size in zip(terms, inner, strict=True)
    ]
    lefts, rights = zip(*sides, strict=True)
    asked = _marks(dict.fromkeys(wanted, 1), (rows, columns))
    least = int(count(lefts, rights, asked).sum())
    if least <= MOST:
        return []
    found = regions(lefts, rights, asked)
    return found if sum(region.work for region in found) <= WASTE * least else []


def _marks(values: Values, shape: tuple[int, int]) -> Marks:
    marks = np.zeros(shape, bool)
    places = np.array([at for at in values if at[0] < shape[0] and at[1] < shape[1]], int).reshape(-1, 2)
    marks[places[:, 0], places[:, 1]] = True
    return marks


@dataclass(frozen=True)
class _Stored:
    """The places of the elements of a factor."""

    array: str
    positions: Mapping[Place, int]


@dataclass
class Products:
    """The products of a straight line that is being built."""

    builder: Builder
    taken: set[str]
    """The names that arrays of the program have already."""
    _programs: list[Program] = field(default_factory=list)
    _symbols: dict[str, list[Expr]] = field(default_factory=dict)
    """The elements of every product."""
    _stored: list[tuple[str, tuple[int, ...], list[Value]]] = field(default_factory=list)
    """The factors that the line stores."""

    def multiply(self, terms: Terms, wanted: Sequence[Place]) -> dict[Place, Value]:
        """The wanted elements of a sum of products; those that are 0 by structure are left out."""
        parts = regions_if_large(terms, wanted)
        if not parts:
            return multiplied(terms, wanted)
        name = self._new("product")
        lefts, rights = (
            [read(k, term[side], parts) for k, term in enumerate(terms)]
            for side, read in enumerate((self._left, self._right))
        )
        loops, start = [], 0
        places: dict[Place, int] = {}
        for region in parts:
            loops.append(_loop(name, region, start, lefts, rights))
            width, first = len(region.columns), region.columns.start
            places |= {
                (i, j): start + width * r + j - first
                for r, i in enumerate(region.rows)
                for j in region.columns
            }
            start += region.size
        arrays = {access.array: 0 for loop in loops for access in loop.reads.values()}
        inputs = tuple(Input(array, 0) for array in arrays)
        self._programs.append(Program(inputs, (Result(name, (start,)),), tuple(loops)))
        self._symbols[name] = self.builder.input(name, start)
        return {at: self._symbols[name][places[at]] for at in wanted if at in places}

    def program(
        self,
        outputs: Sequence[tuple[str, tuple[int, ...], Sequence[Value]]],
        steps: Iterable[Pass] = TO_C,
    ) -> Program:
        """The program of the line, which has these outputs and goes through these passes, around the
        products.
        """
        own = {
            name: product
            for name, _, values in outputs
            for product, symbols in self._symbols.items()
            if _edges(values) == _edges(symbols)
        }
        names = {product: name for name, product in own.items()}  # of equal outputs, the last one
        line = [output for output in outputs if output[0] not in names.values()]
        used, arrays = self._used(line, names)
        stored = [each for each in self._stored if each[0] in arrays]
        unused = self._symbols.keys() - {program.outputs[0].name for program in used}
        whole = _without(self.builder.graph([*line, *stored]), unused)
        graph = apply(straight_line(whole), steps).straight
        assert graph is not None
        results = [Result(name, shape) for name, shape, _ in outputs]
        return around(_renamed(graph, names), [_moved(x, names) for x in used], results)

    def _used(
        self, line: Sequence[tuple[str, tuple[int, ...], Sequence[Value]]], names: Iterable[str]
    ) -> tuple[list[Program], set[str]]:
        """The products on which the outputs of the line depend, and those of these names, in order; and all
        arrays that these products read.
        """
        read = set(names) | self._read([x for _, _, values in line for x in values])
        stored = {name: values for name, _, values in self._stored}
        used, arrays = [], set[str]()
        for program in reversed(self._programs):
            if program.outputs[0].name in read:
                used.append(program)
                own = {array.name for array in program.inputs}
                arrays |= own
                read |= own | self._read([x for name in own for x in stored.get(name, ())])
        return used[::-1], arrays

    def _read(self, values: Sequence[Value]) -> set[str]:
        """The inputs on which values of the line depend."""
        graph = self.builder.graph([("values", (len(values),), values)])
        return {graph.input_element(int(node.value))[0] for node in graph.nodes if node.op == "input"}

    def _new(self, name: str) -> str:
        """A name that no array has."""
        number = 1
        while f"{name}{number}" in self.taken:
            number += 1
        self.taken.add(f"{name}{number}")
        return f"{name}{number}"

    def _left(self, term: int, values: Values, parts: Sequence[Region]) -> _Stored:
        """The places of a left factor, whose elements may lie anywhere in one array."""
        needed = dict.fromkeys((i, k) for x in parts for i in x.rows for own, k in x.inner if own == term)
        found = self._placed({at: values.get(at, 0) for at in needed})
        return found or self._kept("left", [values.get(at, 0) for at in needed], list(needed))

    def _right(self, term: int, values: Values, parts: Sequence[Region]) -> _Stored:
        """The places of a right factor, of which each row lies in neighbouring elements."""
        ranges: dict[int, range] = {}
        for region in parts:
            for own, k in region.inner:
                if own == term:
                    old = ranges.get(k, region.columns)
                    ends = min(old.start, region.columns.start), max(old.stop, region.columns.stop)
                    ranges[k] = range(*ends)
        needed = [(k, j) for k in sorted(ranges) for j in ranges[k]]
        found = self._placed({at: values.get(at, 0) for at in needed})
        if found is not None and all(
            found.positions[k, j] == found.positions[k, ranges[k].start] + j - ranges[k].start
            for k, j in needed
        ):
            return found
        return self._kept("right", [values.get(at, 0) for at in needed], needed)

    def _placed(self, values: Values) -> _Stored | None:
        """The places of elements that are all elements of one array that the line is given; None for
        others.
        """
        places = {}
        for at, x in values.items():
            if not isinstance(x, Expr) or x.edge & 1 or x.edge >> 1 not in self.builder.positions:
                return None
            places[at] = self.builder.positions[x.edge >> 1]
        start = 0
        for array in self.builder.inputs:
            if places and all(start <= at < start + array.size for at in places.values()):
                return _Stored(array.name, {at: position - start for at, position in places.items()})
            start += array.size
        return None

    def _kept(self, name: str, values: list[Value], places: Sequence[Place]) -> _Stored:
        """The places of elements that the line stores, each list once."""
        array = next((known for known, _, own in self._stored if _edges(own) == _edges(values)), None)
        if array is None:
            array = self._new(name)
            self._stored.append((array, (len(values),), values))
        return _Stored(array, {at: k for k, at in enumerate(places)})


def _edges(values: Sequence[Value]) -> list[object]:
    return [x.edge if isinstance(x, Expr) else (float(x),) for x in values]


def _loop(
    product: str, region: Region, start: int, lefts: Sequence[_Stored], rights: Sequence[_Stored]
) -> Loop:
    """The loop over the columns of a region, whose elements begin at `start` in the product."""
    width = len(region.columns)
    reads = {}
    sizes = []
    for term, (left, right) in enumerate(zip(lefts, rights, strict=True)):
        inner = [k for own, k in region.inner if own == term]
        if not inner:
            continue
        sizes.append(len(inner))
        reads[f"left{len(sizes)}"] = _access(
            left.array, [left.positions[i, k] for i in region.rows for k in inner], 1
        )
        reads[f"right{len(sizes)}"] = _access(
            right.array, [right.positions[k, region.columns.start] for k in inner], width
        )
    rows = len(region.rows)
    write = Access(product, tuple(width * r for r in range(rows)), tuple(range(start, start + width)))
    return Loop("multiply", _kernel(rows, tuple(sizes)), reads, {"rows": write}, width)


def _access(array: str, positions: Sequence[int], runs: int) -> Access:
    """The elements of an array at these positions in the first run, and beside them in the others. They count
    from the first one, so that regions of equal form have equal bodies.
    """
    first = min(positions)
    return Access(array, tuple(k - first for k in positions), tuple(range(first, first + runs)))


@cache
def _kernel(rows: int, sizes: tuple[int, ...]) -> Graph:
    """The elements of one column in some rows: the sum over terms of rows of the left factor times the
    column of the right one.
    """
    builder = Builder()
    values: list[Value] = [0] * rows
    for term, size in enumerate(sizes, 1):
        left, right = builder.input(f"left{term}", rows * size), builder.input(f"right{term}", size)
        for k, x in enumerate(right):
            values = [value + left[size * r + k] * x for r, value in enumerate(values)]
    graph = apply(straight_line(builder.graph([("rows", (rows,), values)])), TO_C).straight
    assert graph is not None
    return graph


def _without(graph: Graph, names: Collection[str]) -> Graph:
    """The graph without these inputs, which it does not read."""
    builder = Builder()
    given: dict[str, Sequence[Value]] = {
        x.name: [0] * x.size if x.name in names else builder.input(x.name, x.size) for x in graph.inputs
    }
    values = replay(builder, graph, given)
    return builder.graph([(output.name, output.shape, values[output.name]) for output in graph.outputs])


def _renamed(graph: Graph, names: Mapping[str, str]) -> Graph:
    """The graph with other names of inputs."""
    return replace(graph, inputs=tuple(replace(x, name=names.get(x.name, x.name)) for x in graph.inputs))


def _moved(program: Program, names: Mapping[str, str]) -> Program:
    """The program with other names of arrays."""

    def at(accesses: Mapping[str, Access]) -> dict[str, Access]:
        return {name: replace(x, array=names.get(x.array, x.array)) for name, x in accesses.items()}

    return replace(
        program,
        inputs=tuple(replace(x, name=names.get(x.name, x.name)) for x in program.inputs),
        outputs=tuple(replace(x, name=names.get(x.name, x.name)) for x in program.outputs),
        loops=tuple(replace(x, reads=at(x.reads), writes=at(x.writes)) for x in program.loops),
    )
