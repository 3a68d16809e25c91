"""The statements of a kernel: those of the C, with inputs from shared memory and results in tiles."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Final

from rbdgen.emit.c.expression import ATOM, CHOSEN, SUM, Expression, within
from rbdgen.emit.c.kernels import math_function
from rbdgen.emit.c.language import TILES, Chosen, Language
from rbdgen.emit.c.printer import Element, Printer, Style, check_arguments
from rbdgen.emit.c.trigonometry import TRIGONOMETRY
from rbdgen.emit.cuda.fused import FMA
from rbdgen.emit.cuda.tiles import Tile, address, tiling_of
from rbdgen.emit.real import Real
from rbdgen.graph.kernels import KERNELS
from rbdgen.graph.node import Graph

_CONDITIONS: Final = MappingProxyType(
    {
        "max": "{0} > {1} || {0} != {0}",
        "min": "{0} < {1} || {0} != {0}",
        "select": "{0} < {1}",
        "select_le": "{0} <= {1}",
    }
)
"""The condition under which each operation takes the first of its last two operands; only NaN differs from
itself.
"""


class Cuda(Language):
    """CUDA C++. A choice is a conditional expression, for which GPUs take no branch."""

    def choice(self, op: str, name: str, real: str, operands: Sequence[Expression]) -> Chosen:
        texts = [within(operand, SUM) for operand in operands]
        *_, first, second = texts
        text = f"{_CONDITIONS[op].format(*texts)} ? {first} : {second}"
        return Chosen([], Expression(text, CHOSEN, 1 + max(operand.depth for operand in operands)))


def sqrt_of(real: Real) -> str:
    """The square root, rounded to nearest whatever the flags of the compiler."""
    return {"float": "__fsqrt_rn", "double": "__dsqrt_rn"}[real.name]


def style_of(name: str, real: Real, nesting: int) -> Style:
    """The style of the statements. `name` is the robot's."""
    functions = {
        "sqrt": sqrt_of(real),
        "abs": real.fabs,
        FMA: {"float": "__fmaf_rn", "double": "__fma_rn"}[real.name],
        **{op: math_function(name, op) for op in KERNELS},
    }
    return Style(real, real.name, functions, None, nesting, language=Cuda())


def row_of(array: str) -> str:
    """The variable that points to the thread's row of an input, in shared memory."""
    return f"{array}_now"


def rows_of(array: str) -> str:
    """The variable that points to the warp's rows of an output."""
    return f"{array}_block"


class KernelPrinter(Printer):
    """Prints a graph as the statements of one thread.

    A sine and the cosine of the same angle are computed together when the first of them is needed, and an
    element of an input is read when it is first needed, so that few values wait in registers.
    """

    def __init__(self, graph: Graph, style: Style, name: str) -> None:
        """`name` is the robot's. Errors are those of `print_statements`."""
        check_arguments(graph)
        self._order = [index for index in graph.live() if graph.nodes[index].args]
        self._tiling = tiling_of(graph, self._order)
        self._name = name
        self._begun = set[int]()
        stores: dict[int, list[Element]] = {}
        for begun in self._tiling.begins.values():
            for tile, place in begun:
                for column, node in enumerate(tile.elements):
                    if graph.nodes[node].args:
                        stores.setdefault(node, []).append(Element(TILES, address(place, column)))
        super().__init__(graph, style, self._order, stores, {})

    @property
    def rooms(self) -> int:
        """The number of tiles that shared memory holds for each warp."""
        return self._tiling.rooms

    def print_all(self) -> None:
        """Prints the whole graph."""
        for tile in self._tiling.zeros:
            self._call("clear", tile)
        for tile, place in self._tiling.plain:
            self._put_plain(tile, place)
            self._leave(tile, place)
        for node in self._order:
            for tile, place in self._tiling.begins.get(node, ()):
                self._put_plain(tile, place)
            self.print([node])
            for tile, place in self._tiling.leaves.get(node, ()):
                self._leave(tile, place)

    def _leaf(self, index: int) -> Expression | None:
        node = self._graph.nodes[index]
        if node.op != "input":
            return super()._leaf(index)
        if index not in self._begun:
            self._begun.add(index)
            array, position = self._graph.input_element(int(node.value))
            self.read.add(array)
            self._put(f"const {self._style.value_type} t{index} = {row_of(array)}[{position}];", None)
        return Expression(f"t{index}", ATOM, 0)

    def _expression(self, index: int) -> Expression:
        op, args, _ = self._graph.nodes[index]
        if op not in TRIGONOMETRY:
            return super()._expression(index)
        (angle,) = args
        if -angle - 1 not in self._begun:
            self._begun.add(-angle - 1)
            sine, cosine = f"sine_{angle}", f"cosine_{angle}"
            text = self._operand(angle).text
            self._put(f"{self._style.value_type} {sine}, {cosine};", None)
            self._put(f"{self._name}_sincos({text}, &{sine}, &{cosine});", None)
        return Expression(f"{'sine' if op == 'sin' else 'cosine'}_{angle}", ATOM, 0)

    def _put_plain(self, tile: Tile, place: int) -> None:
        """Stores the constants and inputs of a tile, which are known before it begins."""
        for column, node in enumerate(tile.elements):
            if (leaf := self._leaf(node)) is not None:
                self._put(f"{TILES}[{address(place, column)}] = {leaf.text};", None)

    def _leave(self, tile: Tile, place: int) -> None:
        self._call("leave", tile, f"{TILES} + {address(place, 0)}" if place else TILES)

    def _call(self, function: str, tile: Tile, *more: str) -> None:
        shape = f"{tile.size}, {tile.first}, {tile.width}"
        arguments = ", ".join((rows_of(tile.array), *more, "rest"))
        self._put(f"{self._name}_{function}<{shape}>({arguments});", None)
