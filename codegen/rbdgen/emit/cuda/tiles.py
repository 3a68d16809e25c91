"""The results of a kernel in tiles, which wait in shared memory and leave together.

A thread has the results of one state, and the rows of neighbouring states are apart in memory. If each thread
stored a number at once, the 32 stores of a warp would touch 32 pieces of memory. Therefore neighbouring
results wait in shared memory until all of them are computed. Then the threads of the warp store them, each
row in one piece.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Final

from rbdgen.emit.c.arrays import is_zero
from rbdgen.graph.node import Graph
from rbdgen.graph.partition import Partition, loads_of, places

LANES: Final = 32
"""The threads of a warp."""

WIDTH: Final = 8
"""The largest number of neighbouring results of a tile: 32 bytes of a row in float."""

HALF: Final = WIDTH // 2 * LANES + LANES // 2
"""The numbers from a tile's first column to the middle one, which is shifted by 16 banks of shared memory, so
that a warp that reads both halves asks no bank twice."""

ROOM: Final = HALF + WIDTH // 2 * LANES
"""The numbers of a tile in shared memory."""


_LEAVING: Final = 2 * WIDTH
"""The work of storing a tile, in additions: each thread reads about 8 numbers and stores 2 to 8 times."""


@dataclass(frozen=True)
class Tile:
    """Neighbouring elements of an output."""

    array: str
    size: int
    """The number of elements of the output."""
    first: int
    """The position of the first element in the output."""
    elements: tuple[int, ...]
    """The graph nodes of the elements."""

    @property
    def width(self) -> int:
        return len(self.elements)


@dataclass
class Tiling:
    """The places at which tiles wait, and the nodes between which they do."""

    rooms: int = 0
    """The number of tiles that shared memory holds."""
    zeros: list[Tile] = field(default_factory=list)
    """The tiles whose elements are all 0."""
    plain: list[tuple[Tile, int]] = field(default_factory=list)
    """The other tiles whose elements are all constants or inputs, each with its place."""
    begins: dict[int, list[tuple[Tile, int]]] = field(default_factory=dict)
    """The tiles whose first computed element is this node, each with its place."""
    leaves: dict[int, list[tuple[Tile, int]]] = field(default_factory=dict)
    """The tiles whose last computed element is this node, each with its place."""


def address(place: int, column: int) -> int:
    """The index in the room of a warp of the number of its first thread."""
    return place * ROOM + column % (WIDTH // 2) * LANES + column // (WIDTH // 2) * HALF


def tiles_of(graph: Graph) -> list[Tile]:
    """The tiles of all outputs."""
    return [
        Tile(output.name, output.size, first, output.elements[first : first + WIDTH])
        for output in graph.outputs
        for first in range(0, output.size, WIDTH)
    ]


def tiling_of(graph: Graph, order: Sequence[int]) -> Tiling:
    """Gives each tile the lowest place that is free from its first computed element to its last one.

    `order` has the nodes that compute, in the order of the statements.
    """
    at = {node: time for time, node in enumerate(order)}
    tiling = Tiling()
    first: dict[int, list[Tile]] = {}
    for tile in tiles_of(graph):
        times = [at[node] for node in tile.elements if node in at]
        if times:
            first.setdefault(min(times), []).append(tile)
        elif all(is_zero(graph.nodes[node]) for node in tile.elements):
            tiling.zeros.append(tile)
        else:  # it leaves before any other begins, so all such tiles share a place
            tiling.plain.append((tile, 0))
            tiling.rooms = 1
    free = list(range(tiling.rooms))
    for time, node in enumerate(order):
        for tile in first.get(time, ()):
            place = heappop(free) if free else tiling.rooms
            tiling.rooms = max(tiling.rooms, place + 1)
            tiling.begins.setdefault(node, []).append((tile, place))
            last = order[max(at[k] for k in tile.elements if k in at)]
            tiling.leaves.setdefault(last, []).append((tile, place))
        for _, place in tiling.leaves.get(node, ()):
            heappush(free, place)
    return tiling


@dataclass
class SteppedTiling:
    """The places of tiles whose results several warps compute in supersteps."""

    rooms: int
    """The number of tiles that shared memory holds."""
    places: dict[Tile, int]
    """The place of every tile but those whose elements are all 0."""
    leaves: dict[tuple[int, int], list[Tile]]
    """The tiles that a warp stores at the end of a superstep, by the superstep and the warp; the last
    superstep may be one more than those of the partition."""


def tiling_in_steps(partition: Partition) -> SteppedTiling:
    """Decides which warp stores each tile, and when.

    The warp that computes the last elements stores them in the same superstep. If several warps do, the one
    with the least work in the next superstep stores them then.
    """
    graph, loads = partition.graph, loads_of(partition)
    line_of, step_of = partition.line_of, partition.step_of
    lines = len(partition.steps[0]) if partition.steps else 1
    leaves: dict[tuple[int, int], list[Tile]] = {}
    waiting: list[tuple[int, int, int]] = []
    tiles = tiles_of(graph)
    for number, tile in enumerate(tiles):
        steps = [step_of[node] for node in tile.elements if node in step_of]
        at = max(steps, default=0)
        last = {line_of[node] for node in tile.elements if step_of.get(node) == at}
        if len(last) > 1:
            at += 1
        while len(loads) <= at:
            loads.append([0] * lines)
        line = last.pop() if len(last) == 1 else min(range(lines), key=loads[at].__getitem__)
        loads[at][line] += _LEAVING
        leaves.setdefault((at, line), []).append(tile)
        if not all(is_zero(graph.nodes[node]) for node in tile.elements):
            waiting.append((min(steps, default=0), at, number))
    found = places(waiting)
    return SteppedTiling(
        max(found.values(), default=-1) + 1, {tiles[number]: place for number, place in found.items()}, leaves
    )
