"""Results of a batch twin in tiles: neighbours that leave together for the rows of their states.

In a twin an element of a result is a vector, one state a lane; the caller's array has a row a state. Written
whole and transposed afterwards, a matrix of a humanoid outgrows the first-level cache twice. So elements wait
in a small room, `tile`, only until all neighbours of their tile are computed; then the tile is transposed and
stored, between two parts of the function, whose statements go on while the stores reach memory. The room of a
tile is taken again by one that begins later.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from typing import Final

from rbdgen.emit.c.parts import LONGEST_PART, Body, CArrayOfNumbers, Cut, cut_up, print_cut, rows_of_numbers
from rbdgen.emit.c.printer import TILES, Element, Style, check_arguments, live_nodes
from rbdgen.graph.node import Graph
from rbdgen.graph.passes import depth_first

TILES_OF_PART: Final = 6
"""Tiles that leave after a part, on average: their stores fit the store queues of current cores."""


@dataclass(frozen=True)
class Tile:
    """`elements` of an output from position `first` on; those of a row's last tile may be another's too."""

    array: str
    first: int
    elements: tuple[int, ...]


@dataclass(frozen=True)
class Tiling:
    """Where the results of a graph that is cut into stretches wait, and when they leave.

    For every stretch: where its nodes are stored, constants among them; the tiles that leave after it, each
    with its place in the room of `size` tiles. `zeros`: tiles that hold nothing else.
    """

    stores: Sequence[Mapping[int, Sequence[Element]]]
    leaving: Sequence[Sequence[tuple[Tile, int]]]
    size: int
    zeros: Sequence[Tile]


def tiles_of(graph: Graph, width: int) -> Iterator[Tile]:
    """The tiles of all outputs that are as long as one; the last of an output ends with it."""
    for output in graph.outputs:
        size = len(output.elements)
        for k in range(0, size, width) if size >= width else ():
            first = min(k, size - width)
            yield Tile(output.name, first, output.elements[first : first + width])


def print_tiles(graph: Graph, style: Style, symbol: str, width: int) -> Body:
    """The statements of a twin; names as of `print_parts`, `width` elements to a tile.

    Outputs in tiles are pointers to the rows of the states, whose number is `states`; `stream`: whether
    results pass the caches. Outputs shorter than a tile are arrays of vectors.

    Raises:
        EmitError: as of `print_statements`.
    """
    check_arguments(graph)
    orders = (graph, depth_first(graph), depth_first(graph, backwards=True))
    layout = min((_laid_out(order, style, width) for order in orders), key=_Layout.footprint)
    graph, cut, tiling, tiles = layout.graph, layout.cut, layout.tiling, layout.tiles
    cut = replace(
        cut,
        stretches=[
            _stored_or_computed(graph, *pair) for pair in zip(tiling.stores, cut.stretches, strict=True)
        ],
    )
    opening, parts, calls = print_cut(graph, style, cut, tiling.stores, symbol, "restrict")
    tables: list[CArrayOfNumbers] = []

    def leave(how: str, when: str, those: Sequence[tuple[Tile, tuple[int, ...]]], room: str) -> Iterator[str]:
        for output in graph.outputs:
            numbers = [str(x) for tile, row in those if tile.array == output.name for x in row]
            if numbers:
                name = f"{output.name}_{when}"
                tables.append(CArrayOfNumbers(name, "int", len(numbers), rows_of_numbers(numbers)))
                count = sum(tile.array == output.name for tile, _ in those)
                rows = f"{output.name}, {len(output.elements)}"
                yield f"{style.value_type}_{how}({rows}, {room}{name}, {count}, states, stream);"

    clear = list(leave("clear", "zeros", [(tile, (tile.first,)) for tile in tiling.zeros], ""))
    lines: list[str] = []
    statements = [[], [*parts[0].statements]] if len(parts) == 1 else [[], *([call] for call in calls)]
    for number, (those, leaving) in enumerate(zip(statements, tiling.leaving, strict=True)):
        pairs = [(tile, (tile.first, place * width)) for tile, place in leaving]
        lines += [*those, *leave("leave", f"after{number}", pairs, f"{TILES}, ")]
    room = [f"{style.value_type} {TILES}[{tiling.size * width}];"] if tiling.size else []
    names = tuple(dict.fromkeys(tile.array for tile in tiles))
    everything = (*cut.room(style), *room, *clear, *opening, *lines)
    return Body(tuple(parts) if len(parts) > 1 else (), everything, tiled=names, tables=tuple(tables))


@dataclass(frozen=True)
class _Layout:
    """A graph in some order: its stretches, its tiles and where they wait."""

    graph: Graph
    cut: Cut
    tiles: Sequence[Tile]
    tiling: Tiling
    width: int

    def footprint(self) -> int:
        """Vectors that wait in memory: the fewer, the more of them the first-level cache holds."""
        return self.cut.size + self.tiling.size * self.width


def _laid_out(graph: Graph, style: Style, width: int) -> _Layout:
    tiles = list(tiles_of(graph, width))
    operations = sum(bool(node.args) for node in live_nodes(graph))
    longest = max(operations * TILES_OF_PART // max(len(tiles), 1), 1)
    cut = cut_up(graph, style, LONGEST_PART if len(tiles) <= TILES_OF_PART else min(longest, LONGEST_PART))
    return _Layout(graph, cut, tiles, tiled(graph, cut.stretches, tiles), width)


def tiled(graph: Graph, stretches: Sequence[Sequence[int]], tiles: Sequence[Tile]) -> Tiling:
    """When tiles begin and leave, and their places, lowest first."""
    home = {k: number for number, nodes in enumerate(stretches) for k in nodes if graph.nodes[k].args}
    stores: list[dict[int, list[Element]]] = [{} for _ in stretches]
    beginning: list[list[tuple[Tile, int]]] = [[] for _ in stretches]
    zeros = []
    for tile in tiles:
        times = [home[k] for k in tile.elements if k in home]
        if all(graph.nodes[k].op == "const" and str(graph.nodes[k].value) == "0.0" for k in tile.elements):
            zeros.append(tile)
        else:
            beginning[min(times, default=0)].append((tile, max(times, default=0)))
    leaving: list[list[tuple[Tile, int]]] = [[] for _ in stretches]
    free: list[int] = []
    size = 0
    for number, those in enumerate(beginning):
        for tile, last in those:
            place = heappop(free) if free else size
            size = max(size, place + 1)
            leaving[last].append((tile, place))
            for k, node in enumerate(tile.elements):
                at = Element(TILES, place * len(tile.elements) + k)
                stores[home.get(node, number)].setdefault(node, []).append(at)
        for _, place in leaving[number]:
            heappush(free, place)
    whole = {output.name for output in graph.outputs} - {tile.array for tile in tiles}
    for output in graph.outputs:
        for k, node in enumerate(output.elements if output.name in whole else ()):
            stores[home.get(node, 0)].setdefault(node, []).append(Element(output.name, k))
    return Tiling(stores, [sorted(those, key=_position) for those in leaving], size, zeros)


def _position(leaving: tuple[Tile, int]) -> int:
    return leaving[0].first


def _stored_or_computed(
    graph: Graph, stores: Mapping[int, Sequence[Element]], nodes: Sequence[int]
) -> list[int]:
    """What a stretch computes, after the constants and inputs that it only stores."""
    return [
        *(k for k in stores if not graph.nodes[k].args),
        *(k for k in nodes if graph.nodes[k].args),
    ]
