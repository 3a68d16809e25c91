"""The C files of a folder: its header, one file per function, and the self-test."""

from __future__ import annotations

from rbdgen.emit.c.constants import constants_of
from rbdgen.emit.c.headers import calls_sincos, kernels_of, most_angles, needs_of
from rbdgen.emit.c.kernels import math_function, number_kernels
from rbdgen.emit.c.lane_printer import limbs_file, print_limbs
from rbdgen.emit.c.lanes import lanes_file, vectors_of
from rbdgen.emit.c.loops import Vectors, print_loops
from rbdgen.emit.c.parts import Body, print_parts
from rbdgen.emit.c.printer import Sincos, Style, scalar_style
from rbdgen.emit.contexts import restrict_macro
from rbdgen.emit.folder import Folder, FolderFunction
from rbdgen.emit.real import real_type
from rbdgen.emit.selftest.context import unwritten
from rbdgen.emit.text import filled
from rbdgen.graph.kernels import KERNELS
from rbdgen.machine import lanes


def files(folder: Folder) -> dict[str, str]:
    """The C99 files of a folder, by path. With extensions, they include the vector type if loops compute in
    vectors.
    """
    name, robot = folder.name, folder.robot
    made = {
        f"{name}.h": filled(
            "c/ROBOT.h.jinja",
            robot=robot,
            functions=folder.shown,
            constants=constants_of(folder.facts, folder.options.real),
        )
    }
    if calls_sincos(folder, folder.functions):
        made[f"{name}_sincos.h"] = _sincos(folder)
    if wanted := kernels_of(folder.functions):
        kernels = number_kernels(name, real_type(folder.options.real), wanted)
        made[f"{name}_math.h"] = filled("c/ROBOT_math.h.jinja", robot=robot, f=kernels)
    style, vectors = _style(folder), vectors_of(folder)
    for function in folder.functions:
        body, needs = _body(folder, function, style, vectors), needs_of(function.source.printed, style)
        made[function.shown.file] = filled(
            "c/ROBOT_FUNCTION.c.jinja", robot=robot, function=function.shown, body=body, needs=needs
        )
        if body.vector:
            made |= lanes_file(folder)
        if body.limbs:
            made |= limbs_file(folder)
    made[f"selftest/{name}_selftest.c"] = filled(
        "c/ROBOT_selftest.c.jinja",
        robot=robot,
        functions=[(function.shown, function.tested) for function in folder.functions],
        unwritten=unwritten(folder.options.real),
    )
    return made


def _sincos(folder: Folder) -> str:
    """The header of the built-in sine and cosine."""
    options = folder.options
    return filled(
        "c/sincos.h.jinja",
        prefix=folder.name,
        real=options.real,
        fallback=options.extensions,
        vector=options.extensions,
        width=lanes(options.real),
        narrow=lanes(options.real) // 2,
        count=most_angles(folder.functions),
    )


def _style(folder: Folder) -> Style:
    """The style of the statements of this robot."""
    options = folder.options
    sincos = None
    if options.trig == "builtin":
        sincos = Sincos(folder.name, most_angles(folder.functions) if options.extensions else None)
    kernels = {op: math_function(folder.name, op) for op in KERNELS}
    real, memset = real_type(options.real), options.extensions
    return scalar_style(real, sincos, options.nesting, memset=memset, kernels=kernels)


def _body(folder: Folder, function: FolderFunction, style: Style, vectors: Vectors | None) -> Body:
    """The statements of a function."""
    program, symbol = function.source.printed, function.shown.symbol
    restrict = restrict_macro(folder.name)
    if (graph := program.straight) is not None:
        return print_parts(graph, style, symbol, restrict)
    if len(program.loops) == 1 and program.loops[0].kernel.lanes > 1:
        return print_limbs(program.loops[0], program.tables, style, folder.name)
    return print_loops(program, symbol, style, restrict, vectors, robot=folder.name)
