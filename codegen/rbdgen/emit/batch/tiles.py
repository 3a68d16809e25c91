"""Results of a batch function in tiles: neighbouring elements that are transposed and stored together.

In a batch function an element of a result is a vector with one state in each lane, while the caller's array
has one row per state. If a matrix of a humanoid were written whole and transposed afterwards, it would be
twice as large as the first-level cache. Therefore elements wait in a small scratch array, `tile`, only until
all elements of their tile are computed. The tile is then transposed and stored between two parts of the
function; the statements of the next part run while the stores reach memory. A tile that begins later reuses
its place in the scratch array.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import chain
from typing import Final

from rbdgen.emit.c.arrays import is_zero
from rbdgen.emit.c.language import TILES
from rbdgen.emit.c.parts import Body, CArrayOfNumbers, Cut, cut_up, print_cut, rows_of_numbers
from rbdgen.emit.c.printer import LONGEST_PART, Element, Style, check_arguments
from rbdgen.emit.c.trigonometry import live_nodes
from rbdgen.graph.node import Graph
from rbdgen.graph.passes import depth_first
from rbdgen.graph.passes.schedule import close_to_order

STORES_OF_PART: Final = 48
"""The average number of vectors of results that are stored after a part. A tile counts as many vectors as it
has elements. The store queues of current cores hold this number of vectors.
"""


@dataclass(frozen=True)
class Tile:
    """Neighbouring elements of an output.

    The last tile of an output ends where the output ends, so it may share elements with the tile before it.
    """

    array: str
    """The name of the output."""
    first: int
    """The position of the first element in the output."""
    elements: tuple[int, ...]
    """The graph nodes of the elements."""


@dataclass(frozen=True)
class Tiling:
    """The places where results of a graph in segments wait, and the segments after which they are stored."""

    stores: Sequence[Mapping[int, Sequence[Element]]]
    """The elements in which each node (including constants) is stored, for every segment."""
    leaving: Sequence[Sequence[tuple[Tile, int]]]
    """The tiles that are stored after every segment, each with its place in the scratch array."""
    size: int
    """The number of tiles that the scratch array holds."""
    zeros: Sequence[Tile]
    """The tiles whose elements are all 0."""


def tiles_of(graph: Graph, width: int) -> Iterator[Tile]:
    """The tiles of all outputs that have at least `width` elements."""
    for output in graph.outputs:
        size = len(output.elements)
        for k in range(0, size, width) if size >= width else ():
            first = min(k, size - width)
            yield Tile(output.name, first, output.elements[first : first + width])


def print_tiles(graph: Graph, style: Style, symbol: str, width: int) -> Body:
    """Prints the statements of a batch function.

    It tries five orders of the graph's nodes and prints the one in which the fewest values wait in memory. In
    the printed C, a tiled output is a pointer to the rows of the states, `states` is the number of
    states, and `stream` says whether the results bypass the caches. An output that is shorter than a tile is
    an array of vectors.

    Args:
        graph: its arrays have the names that they have in the printed function.
        style: how statements look.
        symbol: the prefix of the names of parts and tables.
        width: the number of elements in a tile.

    Raises:
        EmitError: as for `print_statements`.
    """
    check_arguments(graph)
    deep = (depth_first(graph), depth_first(graph, backwards=True))
    orders = (graph, *deep, *map(close_to_order, deep))
    layout = min((_laid_out(order, style, width) for order in orders), key=_Layout.footprint)
    cut, tiling = layout.cut, layout.tiling
    opening, parts, calls = print_cut(layout.graph, style, cut, tiling.stores, symbol, "restrict")
    if len(parts) == 1:  # a single part is printed in place of its call
        segments, parts = [opening.text, parts[0].statements], []
    else:
        segments = [opening.text, *([call] for call in calls)]

    moves = Moves({output.name: len(output.elements) for output in graph.outputs}, style, symbol)
    statements = [*cut.scratch_array(style), *layout.scratch_array(style), *moves.clear(tiling.zeros)]
    for number, (own, leaving) in enumerate(zip(segments, tiling.leaving, strict=True)):
        statements += own
        for output in graph.outputs:
            places = [(tile.first, at * width) for tile, at in leaving if tile.array == output.name]
            statements += moves.leave(number, output.name, TILES, places)
    tiled_outputs = tuple(dict.fromkeys(tile.array for tile in tiles_of(graph, width)))
    return Body(tuple(parts), tuple(statements), tiled=tiled_outputs, tables=tuple(moves.tables))


@dataclass(frozen=True)
class _Layout:
    """A graph in some order, cut into segments, and the places where its tiles wait."""

    graph: Graph
    cut: Cut
    tiling: Tiling
    width: int

    def footprint(self) -> int:
        """The number of vectors that wait in memory and should fit in the first-level cache."""
        return self.cut.size + self.tiling.size * self.width

    def scratch_array(self, style: Style) -> list[str]:
        """The declaration of the array in which tiles wait."""
        size = self.tiling.size * self.width
        return [f"{style.value_type} {TILES}[{size}];"] if size else []


def _laid_out(graph: Graph, style: Style, width: int) -> _Layout:
    tiles = list(tiles_of(graph, width))
    longest = LONGEST_PART
    if len(tiles) * width > STORES_OF_PART:
        operations = sum(bool(node.args) for node in live_nodes(graph))
        longest = min(longest, max(1, operations * STORES_OF_PART // (len(tiles) * width)))
    cut = cut_up(graph, style, longest)
    tiling = tiled(graph, cut.segments, tiles)
    pairs = zip(tiling.stores, cut.segments, strict=True)
    segments = [_stored_or_computed(graph, stores, nodes) for stores, nodes in pairs]
    return _Layout(graph, replace(cut, segments=segments), tiling, width)


def _stored_or_computed(
    graph: Graph, stores: Mapping[int, Sequence[Element]], nodes: Sequence[int]
) -> list[int]:
    """The nodes of a segment: first the constants and inputs that it only stores, then those that it
    computes.
    """
    return [
        *(k for k in stores if not graph.nodes[k].args),
        *(k for k in nodes if graph.nodes[k].args),
    ]


def tiled(graph: Graph, segments: Sequence[Sequence[int]], tiles: Sequence[Tile]) -> Tiling:
    """Decides when each tile begins and is stored, and gives it the lowest free place in the scratch array.

    A tile waits from the segment that computes the first of its elements to the segment that computes the
    last.
    """
    home = {k: number for number, nodes in enumerate(segments) for k in nodes if graph.nodes[k].args}
    zeros = []
    beginning: list[list[tuple[Tile, int]]] = [[] for _ in segments]
    for tile in tiles:
        times = [home[k] for k in tile.elements if k in home]
        if all(is_zero(graph.nodes[k]) for k in tile.elements):
            zeros.append(tile)
        else:
            beginning[min(times, default=0)].append((tile, max(times, default=0)))

    stores: list[dict[int, list[Element]]] = [{} for _ in segments]

    def store(node: int, segment: int, at: Element) -> None:
        """Stores a node; `segment` applies to constants and inputs, which can be stored at any time."""
        stores[home.get(node, segment)].setdefault(node, []).append(at)

    leaving: list[list[tuple[Tile, int]]] = [[] for _ in segments]
    free: list[int] = []
    size = 0
    for number, those in enumerate(beginning):
        for tile, last in those:
            place = heappop(free) if free else size
            size = max(size, place + 1)
            leaving[last].append((tile, place))
            for k, node in enumerate(tile.elements):
                store(node, number, Element(TILES, place * len(tile.elements) + k))
        for _, place in leaving[number]:
            heappush(free, place)
    in_tiles = {tile.array for tile in tiles}
    for output in graph.outputs:
        for k, node in enumerate(output.elements if output.name not in in_tiles else ()):
            store(node, 0, Element(output.name, k))
    return Tiling(stores, [sorted(those, key=_first) for those in leaving], size, zeros)


def _first(leaving: tuple[Tile, int]) -> int:
    return leaving[0].first


class Moves:
    """Prints the calls that move tiles to the rows of their output, and the tables that these calls read.

    The tables accumulate in `tables`.
    """

    def __init__(self, sizes: Mapping[str, int], style: Style, symbol: str) -> None:
        """There are no tables at first; `sizes` is the number of elements of every output."""
        self._sizes = sizes
        self._kind = style.value_type
        self._symbol = symbol
        self.tables: list[CArrayOfNumbers] = []

    def clear(self, tiles: Sequence[Tile]) -> Iterator[str]:
        """One call for every output that has tiles of zeros; its table lists their first elements."""
        for output, size in self._sizes.items():
            if firsts := [tile.first for tile in tiles if tile.array == output]:
                table = self._table(f"{output}_zeros", firsts)
                yield f"{self._kind}_clear({output}, {size}, {table}, {len(firsts)}, states, stream);"

    def leave(
        self, number: int, output: str, scratch_array: str, places: Sequence[tuple[int, int]]
    ) -> Iterator[str]:
        """A call that stores tiles, or nothing if there are none.

        Its table lists, for each tile, its first element in the output and its place in the scratch array.

        Args:
            number: the number of the segment or loop after which the tiles are stored; it is part of the
                table's name.
            output: the output of the tiles.
            scratch_array: the array in which they wait.
            places: for each tile, its first element and its place.
        """
        if places:
            table = self._table(f"{output}_after{number}", [*chain.from_iterable(places)])
            rows = f"{output}, {self._sizes[output]}"
            yield f"{self._kind}_leave({rows}, {scratch_array}, {table}, {len(places)}, states, stream);"

    def _table(self, name: str, numbers: Sequence[int]) -> str:
        """Adds a table and returns its name."""
        name = f"{self._symbol}_{name}"
        self.tables.append(CArrayOfNumbers(name, "int", len(numbers), rows_of_numbers([*map(str, numbers)])))
        return name
