"""The batch functions of a folder, for compilers with vector types, and their self-test."""

from __future__ import annotations

from rbdgen.emit.batch.loops import print_loop_tiles
from rbdgen.emit.batch.tiles import print_tiles
from rbdgen.emit.c.headers import calls_sincos, needs_of
from rbdgen.emit.c.lanes import lanes_file, lanes_style
from rbdgen.emit.c.parts import Body
from rbdgen.emit.c.printer import Style
from rbdgen.emit.folder import Folder, FolderFunction
from rbdgen.emit.selftest.context import unwritten
from rbdgen.emit.text import filled
from rbdgen.graph.programs.program import Program
from rbdgen.machine import lanes


def files(folder: Folder) -> dict[str, str]:
    """The files of batch functions, by path: one per function, their header, the vector type and the
    self-test.

    The result is empty if no function of the folder has a batch function.
    """
    if not folder.batches:
        return {}
    name, robot, options = folder.name, folder.robot, folder.options
    made = {
        f"{name}_batch.h": filled("batch/ROBOT_batch.h.jinja", robot=robot, functions=folder.shown_batches),
        **lanes_file(folder),
    }
    if calls_sincos(folder, folder.batches):
        made[f"{name}_lanes_sincos.h"] = _sincos(folder)
    style = lanes_style(folder)
    for function in folder.batches:
        program, shown = function.source.batch, function.shown
        assert program is not None
        made[shown.batch] = filled(
            "batch/ROBOT_FUNCTION_batch.c.jinja",
            robot=robot,
            function=shown,
            body=_body(program, shown.symbol, style, _tile(function, lanes(options.real))),
            needs=needs_of(program, style),
        )
    made[f"selftest/{name}_batch_selftest.c"] = filled(
        "batch/ROBOT_batch_selftest.c.jinja",
        robot=robot,
        functions=[(x.shown, x.tested, _counting(x)) for x in folder.batches],
        unwritten=unwritten(options.real),
    )
    return made


def _counting(function: FolderFunction) -> str:
    """The C function with which the self-test counts differences between batch and single calls.

    A single call that computes in vectors includes operations on zeros that the batch function leaves out, so
    results that are 0 may differ in sign. Such functions are compared by value (`unequal`), all others bit by
    bit (`differ`).
    """
    source = function.source
    return "unequal" if source.lanes is not None or source.program.lanes_are_freedoms else "differ"


def _sincos(folder: Folder) -> str:
    """The header of the built-in sine and cosine for vectors as wide as those of the batch functions."""
    return filled(
        "c/sincos.h.jinja",
        prefix=f"{folder.name}_lanes",
        real=folder.options.real,
        fallback=True,
        vector=True,
        width=f"{folder.robot.macro}_LANES",
        count=0,
    )


def _tile(function: FolderFunction, width: int) -> int:
    """The number of elements in a tile.

    A time step rolls: its results are the inputs of the next step. These results stay vectors and are never
    tiled, so the tile is made longer than any of them.
    """
    return 1 + max(x.size for x in function.shown.outputs) if function.shown.rolls else width


def _body(program: Program, symbol: str, style: Style, width: int) -> Body:
    """The statements of a batch function. `width` is the number of elements in a tile."""
    if (graph := program.straight) is not None:
        return print_tiles(graph, style, symbol, width)
    return print_loop_tiles(program, symbol, style, width)
