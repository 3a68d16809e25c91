"""Tiled results (see `emit.batch.tiles`) of a batch function that has loops.

A tile is stored after the loop that completes it. A loop may write to any element of a result, so every
result is kept whole in a scratch array until then. Two results share one array if the first is complete
before a loop writes to the second.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rbdgen.access import Access
from rbdgen.emit.batch.tiles import Moves
from rbdgen.emit.c.language import TILES
from rbdgen.emit.c.loops import print_loops
from rbdgen.emit.c.parts import Body
from rbdgen.emit.c.printer import Style
from rbdgen.graph.programs.program import Loop, Program, Result


def print_loop_tiles(program: Program, symbol: str, style: Style, width: int) -> Body:
    """Prints a program with loops as the C of a batch function.

    Args:
        program: the program in batch form.
        symbol: as for `print_loops`.
        style: as for `print_loops`.
        width: the number of elements in a tile.

    Raises:
        EmitError: as for `print_loops`.
    """
    long = [output for output in program.outputs if output.size >= width]
    written = {output.name: _last_writers(program.loops, output) for output in long}
    scratch = _scratch(program.loops, list(written))
    sizes = {output.name: output.size for output in long}
    waiting = replace(
        program,
        outputs=tuple(output for output in program.outputs if output.name not in scratch),
        loops=tuple(_renamed(loop, scratch) for loop in program.loops),
        scratch={**program.scratch, **_sizes(scratch, sizes)},
    )
    moves = Moves(sizes, style, symbol)
    after: dict[int, list[str]] = {number: [] for number in range(len(program.loops))}
    for output in long:
        for number, statements in after.items():
            places = [(k, k) for k in _complete(written[output.name], width, number)]
            statements.extend(moves.leave(number + 1, output.name, scratch[output.name], places))
    printed = print_loops(waiting, symbol, style, "restrict", after=after)
    return replace(printed, tiled=tuple(sizes), constants=(*printed.constants, *moves.tables))


def _last_writers(loops: Sequence[Loop], output: Result) -> list[int]:
    """The number of the last loop that writes to each element of the output."""
    last = [0] * output.size
    for number, loop in enumerate(loops):
        for access in loop.writes.values():
            if access.array == output.name:
                for run in range(loop.count):
                    for address in access.addresses(run):
                        last[address] = number
    return last


def _complete(writers: Sequence[int], width: int, number: int) -> list[int]:
    """The first elements of the tiles that loop `number` completes.

    The last tile ends where the output ends, so it may overlap the tile before it.
    """
    size = len(writers)
    firsts = [min(k, size - width) for k in range(0, size, width)]
    return [first for first in firsts if max(writers[first : first + width]) == number]


def _scratch(loops: Sequence[Loop], outputs: Sequence[str]) -> dict[str, str]:
    """The scratch array of every output: the first that is free when a loop begins to use the output.

    An output keeps its array until the last loop that names it, because a loop may read what an earlier loop
    has written, even after the output is complete.
    """
    needed = {name: [k for k, loop in enumerate(loops) if name in _arrays(loop)] for name in outputs}
    scratch: dict[str, str] = {}
    taken: list[int] = []  # for each scratch array, the last loop that needs it
    for name in sorted(needed, key=lambda name: needed[name][0]):
        free = [k for k, until in enumerate(taken) if until < needed[name][0]]
        scratch_array = free[0] if free else len(taken)
        taken[scratch_array:] = [needed[name][-1], *taken[scratch_array + 1 :]]
        scratch[name] = f"{TILES}s{scratch_array + 1}"
    return scratch


def _sizes(scratch: Mapping[str, str], sizes: Mapping[str, int]) -> dict[str, int]:
    """The size of every scratch array: that of the longest output which it holds."""
    return {
        scratch_array: max(sizes[name] for name, its in scratch.items() if its == scratch_array)
        for scratch_array in scratch.values()
    }


def _arrays(loop: Loop) -> set[str]:
    return {access.array for access in (*loop.reads.values(), *loop.writes.values())}


def _renamed(loop: Loop, scratch: Mapping[str, str]) -> Loop:
    """The loop with its accesses to outputs redirected to their scratch arrays."""

    def renamed(accesses: Mapping[str, Access]) -> dict[str, Access]:
        return {
            name: replace(access, array=scratch.get(access.array, access.array))
            for name, access in accesses.items()
        }

    return replace(loop, reads=renamed(loop.reads), writes=renamed(loop.writes))
