"""Results of a twin that is loops, in tiles: they leave after the loop that completes them.

A loop may write anywhere in a result, so every result waits whole, in a room; results of which one is
complete before the other is begun share theirs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rbdgen.emit.c.loops import CLoops, print_loops
from rbdgen.emit.c.printer import TILES, Style
from rbdgen.emit.c.tiles import Moves
from rbdgen.graph.program import Loop, Program, Result
from rbdgen.places import Place


def print_tiles_of_loops(program: Program, symbol: str, style: Style, width: int) -> CLoops:
    """The C of a twin's loops; `width` elements to a tile, the other arguments as of `print_loops`.

    Raises:
        EmitError: as of `print_loops`.
    """
    long = [output for output in program.outputs if output.size >= width]
    written = {output.name: _last_writers(program.loops, output) for output in long}
    rooms = _rooms(program.loops, list(written))
    sizes = {output.name: output.size for output in long}
    waiting = replace(
        program,
        loops=tuple(_renamed(loop, rooms) for loop in program.loops),
        rooms={**program.rooms, **_sizes(rooms, sizes)},
    )
    moves = Moves(sizes, style, symbol)
    after: list[list[str]] = [[] for _ in program.loops]
    for output in long:
        for number in range(len(after)):
            places = [(k, k) for k in _complete(written[output.name], width, number)]
            after[number] += moves.leave(number + 1, output.name, rooms[output.name], places)
    printed = print_loops(waiting, symbol, style, "restrict", None)
    return replace(
        printed,
        loops=tuple(
            replace(loop, after=tuple(lines)) for loop, lines in zip(printed.loops, after, strict=True)
        ),
        tables=(*printed.tables, *moves.tables),
        tiled=tuple(sizes),
    )


def _last_writers(loops: Sequence[Loop], output: Result) -> list[int]:
    """For every element of the output the number of the last loop that writes it."""
    last = [0] * output.size
    for number, loop in enumerate(loops):
        for place in loop.writes.values():
            if place.array == output.name:
                for run in range(loop.count):
                    for address in place.addresses(run):
                        last[address] = number
    return last


def _complete(writers: Sequence[int], width: int, number: int) -> list[int]:
    """The first elements of the tiles that this loop completes; the last tile ends with the output."""
    size = len(writers)
    firsts = [min(k, size - width) for k in range(0, size, width)]
    return [first for first in firsts if max(writers[first : first + width]) == number]


def _rooms(loops: Sequence[Loop], outputs: Sequence[str]) -> dict[str, str]:
    """The room of every output: the first that is empty when a loop begins with the output.

    A loop may read what an earlier one wrote, also after it is complete.
    """
    needed = {name: [k for k, loop in enumerate(loops) if name in _arrays(loop)] for name in outputs}
    rooms: dict[str, str] = {}
    taken: list[int] = []  # by room: the last loop that needs it
    for name in sorted(needed, key=lambda name: needed[name][0]):
        free = [k for k, until in enumerate(taken) if until < needed[name][0]]
        room = free[0] if free else len(taken)
        taken[room:] = [needed[name][-1], *taken[room + 1 :]]
        rooms[name] = f"{TILES}s{room + 1}"
    return rooms


def _sizes(rooms: Mapping[str, str], sizes: Mapping[str, int]) -> dict[str, int]:
    """Every room holds the longest of its outputs."""
    return {room: max(sizes[name] for name, its in rooms.items() if its == room) for room in rooms.values()}


def _arrays(loop: Loop) -> set[str]:
    return {place.array for place in (*loop.reads.values(), *loop.writes.values())}


def _renamed(loop: Loop, rooms: Mapping[str, str]) -> Loop:
    """The loop with rooms in the place of outputs."""

    def renamed(places: Mapping[str, Place]) -> dict[str, Place]:
        return {
            name: replace(place, array=rooms.get(place.array, place.array)) for name, place in places.items()
        }

    return replace(loop, reads=renamed(loop.reads), writes=renamed(loop.writes))
