"""The text of a folder's functions in JavaScript."""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, Final

from rbdgen.emit.c.headers import calls_sincos
from rbdgen.emit.c.headers import kernels_of as kernels_needed
from rbdgen.emit.c.kernels import math_function
from rbdgen.emit.c.loops import print_loops
from rbdgen.emit.c.parts import Body, print_parts
from rbdgen.emit.c.printer import LONGEST_PART, Sincos, Style
from rbdgen.emit.contexts import CFunction
from rbdgen.emit.folder import Folder, FolderFunction
from rbdgen.emit.javascript.kernels import kernels_of
from rbdgen.emit.javascript.language import JavaScript, name_of
from rbdgen.emit.real import real_type
from rbdgen.emit.text import filled
from rbdgen.graph.kernels import KERNELS

REAL: Final = real_type("double")

_LONGEST_TEXT: Final = 56_000
"""The largest number of letters of a function. V8 only optimises functions with at most 60 kB of bytecode,
which is about as long as the text.
"""

_SHORTEST_PART: Final = 250
"""The number of operations below which parts are not made shorter."""

_COMMENT: Final = re.compile(r"/\*.*?\*/")


@dataclass(frozen=True)
class JavaScriptFunction:
    """A function as the template places it."""

    shown: CFunction
    parameters: tuple[str, ...]
    body: Body

    kinds: ClassVar = MappingProxyType(
        {"double": "Float64Array", "unsigned char": "Uint8Array", "unsigned short": "Uint16Array"}
    )
    """The typed arrays of tables, by their types in C."""


def functions_text(folder: Folder) -> str:
    """The functions of a folder as declarations of JavaScript, each with the name that it has in C.

    A function takes `Float64Array`s, which do not overlap: its inputs, and then its outputs.
    """
    wanted = kernels_needed(folder.functions)
    return filled(
        "javascript/functions.jinja",
        robot=folder.robot,
        functions=[_printed(folder, function) for function in folder.functions],
        sincos=calls_sincos(folder, folder.functions),
        f=kernels_of(folder.name, REAL, wanted) if wanted else None,
    )


def _printed(folder: Folder, function: FolderFunction) -> JavaScriptFunction:
    shown, longest = function.shown, LONGEST_PART
    body = _body(folder, function, longest)
    while longest > _SHORTEST_PART and _longest_text(body) > _LONGEST_TEXT:
        longest //= 2
        body = _body(folder, function, longest)
    return JavaScriptFunction(shown, tuple(name_of(argument.name) for argument in shown.arguments), body)


def _body(folder: Folder, function: FolderFunction, longest: int) -> Body:
    """The statements of a function, in parts of at most `longest` operations."""
    program, symbol, style = function.source.program, function.shown.symbol, _style(folder, longest)
    if (graph := program.straight) is not None:
        return print_parts(graph, style, symbol, "")
    return print_loops(program, symbol, style, "", robot=folder.name)


def _longest_text(body: Body) -> int:
    """The letters of the longest function, without comments."""
    texts = [body.statements, *(part.statements for part in body.parts)]
    return max(sum(len(_COMMENT.sub("", line)) for line in text) for text in texts)


def _style(folder: Folder, longest: int) -> Style:
    functions = {"sqrt": "$sqrt", "abs": "$abs", **{op: math_function(folder.name, op) for op in KERNELS}}
    sincos = Sincos(folder.name, None) if folder.options.trig == "builtin" else None
    language = JavaScript()
    return Style(
        REAL,
        REAL.name,
        functions,
        sincos,
        folder.options.nesting,
        memset=True,
        longest=longest,
        element=language.element,
        language=language,
    )
