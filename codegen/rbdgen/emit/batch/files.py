"""The batch functions of a folder, for compilers with vector types, and their self-test."""

from __future__ import annotations

import numpy as np

from rbdgen.emit.batch.loops import print_loop_tiles
from rbdgen.emit.batch.tiles import print_tiles
from rbdgen.emit.c.headers import calls_sincos, needs_of
from rbdgen.emit.c.lanes import lanes_file, lanes_style
from rbdgen.emit.c.parts import Body
from rbdgen.emit.c.printer import Style
from rbdgen.emit.folder import Folder, FolderFunction
from rbdgen.emit.numbers import literal
from rbdgen.emit.selftest.bits import Array, plain_inputs
from rbdgen.emit.selftest.context import unwritten
from rbdgen.emit.selftest.golden import BUILTIN
from rbdgen.emit.text import filled
from rbdgen.graph.programs.program import Program
from rbdgen.graph.programs.run import run
from rbdgen.machine import lanes

_LARGEST = 1e30
"""The largest allowed distance, which a float holds, too."""


def files(folder: Folder) -> dict[str, str]:
    """The files of batch functions, by path: one per function, their header, the vector type and the
    self-test.

    The result is empty if no function of the folder has a batch function.
    """
    if not folder.batches:
        return {}
    name, robot, options = folder.name, folder.robot, folder.options
    made = {
        f"{name}_batch.h": filled(
            "batch/ROBOT_batch.h.jinja",
            robot=robot,
            functions=folder.shown_batches,
            apart=[x.source.name for x in folder.batches if not x.source.same_bits],
        ),
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
        functions=[(x.shown, x.tested, _counting(x), _allowed(x, folder)) for x in folder.batches],
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
    vectors = source.lanes is not None or source.program.lanes_of_one_state
    return "unequal" if source.same_bits and vectors else "differ"


def _allowed(function: FolderFunction, folder: Folder) -> list[str]:
    """The largest distance of each output of a batch function from that of a single call, as a literal, if
    the batch function has a program of its own; otherwise nothing.

    C computes the bits of the interpreter, so the distances at the states of the self-test are known. Twice
    as much is allowed.
    """
    source, real = function.source, folder.options.real
    if source.same_bits or source.batch is None:
        return []
    inputs = plain_inputs(source.signature.inputs, folder.facts.manifold, real)
    single, batch = (run(program, inputs, BUILTIN) for program in (source.printed, source.batch))
    return [literal(2 * _distance(single[x.name], batch[x.name]), real) for x in source.signature.outputs]


def _distance(values: Array, others: Array) -> float:
    """The largest distance between elements, of those that are finite."""
    with np.errstate(invalid="ignore"):
        distances = np.abs(np.asarray(values, float) - others)
    return min(float(distances[np.isfinite(distances)].max(initial=0.0)), _LARGEST)


def _sincos(folder: Folder) -> str:
    """The header of the built-in sine and cosine for vectors as wide as those of the batch functions."""
    return filled(
        "c/sincos.h.jinja",
        prefix=f"{folder.name}_lanes",
        real=folder.options.real,
        fallback=True,
        vector=True,
        width=f"{folder.robot.macro}_LANES",
        narrow=0,
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
