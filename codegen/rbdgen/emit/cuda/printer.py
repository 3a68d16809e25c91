"""The statements of a kernel: those of the C, with inputs from shared memory and results in tiles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from types import MappingProxyType
from typing import Final

from rbdgen.emit.c.arrays import is_zero
from rbdgen.emit.c.expression import ATOM, CHOSEN, SUM, Expression, within
from rbdgen.emit.c.kernels import math_function
from rbdgen.emit.c.language import TILES, Chosen, Language
from rbdgen.emit.c.printer import Element, Printer, Style, check_arguments, written
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


@dataclass(frozen=True)
class Stage:
    """A function that computes a part of a long kernel."""

    name: str
    statements: tuple[str, ...]


@dataclass(frozen=True)
class Text:
    """The statements of a kernel, and the shared memory that they use."""

    lines: tuple[tuple[str, ...], ...]
    """The statements of a thread; if the warps of a block share its states, those of each warp."""
    read: frozenset[str]
    """The inputs that statements read."""
    rooms: int
    """The number of tiles that shared memory holds for the states of a warp."""
    slots: int = 0
    """The number of values that warps hand over to each other, and that shared memory holds at once."""
    stages: tuple[Stage, ...] = ()
    """The functions that the statements call."""
    waiting: int = 0
    """The number of values that wait from one of these functions to another."""


class KernelPrinter(Printer):
    """Prints nodes of a graph as statements of one thread.

    A sine and the cosine of the same angle are computed together when the first of them is needed. An element
    of an input, and a value that has been computed elsewhere, is read when it is first needed, so that few
    values wait in registers.
    """

    def __init__(
        self,
        graph: Graph,
        style: Style,
        name: str,
        nodes: Sequence[int],
        stores: Mapping[int, Sequence[Element]],
        elsewhere: Mapping[int, Element] = MappingProxyType({}),
        kept: Iterable[int] = (),
        row: Callable[[str], str] = row_of,
    ) -> None:
        """`name` is the robot's; `elsewhere` has the elements from which other values are read; `kept` are
        the nodes that become variables, because `put` reads them; `row` is the variable that points to the
        thread's row of an input."""
        super().__init__(graph, style, nodes, stores, {})
        for node in kept:
            self._uses[node] += 2
        self._name = name
        self._elsewhere, self._row = elsewhere, row
        self._begun = set[int]()

    def put_plain(self, tile: Tile, place: int) -> None:
        """Stores the constants and inputs of a tile."""
        for column, node in enumerate(tile.elements):
            if not self._graph.nodes[node].args and (leaf := self._leaf(node)) is not None:
                self._put(f"{TILES}[{address(place, column)}] = {leaf.text};", None)

    def put(self, tile: Tile) -> None:
        """Stores all elements of a tile at once, which have been computed."""
        if all(is_zero(self._graph.nodes[node]) for node in tile.elements):
            return self.clear(tile)
        for column, node in enumerate(tile.elements):
            self._put(f"{TILES}[{address(0, column)}] = {self._operand(node).text};", None)
        return self.leave(tile, 0)

    def leave(self, tile: Tile, place: int) -> None:
        """Stores a tile with the other threads of the warp."""
        self._call("leave", tile, f"{TILES} + {address(place, 0)}" if place else TILES)

    def clear(self, tile: Tile) -> None:
        """Stores zeros in place of a tile."""
        self._call("clear", tile)

    def wait(self) -> None:
        """Waits for all warps of the block."""
        self._put("__syncthreads();", None)

    def _leaf(self, index: int) -> Expression | None:
        node = self._graph.nodes[index]
        if node.op == "input":
            array, position = self._graph.input_element(int(node.value))
            self.read.add(array)
            return self._read_once(index, f"{self._row(array)}[{position}]")
        if (place := self._elsewhere.get(index)) is not None:
            return self._read_once(index, f"{place.array}[{place.position}]")
        return super()._leaf(index)

    def _read_once(self, index: int, place: str) -> Expression:
        if index not in self._begun:
            self._begun.add(index)
            self._put(f"const {self._style.value_type} t{index} = {place};", None)
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

    def _call(self, function: str, tile: Tile, *more: str) -> None:
        shape = f"{tile.size}, {tile.first}, {tile.width}"
        arguments = ", ".join((rows_of(tile.array), *more, "rest"))
        self._put(f"{self._name}_{function}<{shape}>({arguments});", None)


def in_tiles(graph: Graph, tiles: Iterable[tuple[Tile, int]]) -> dict[int, list[Element]]:
    """The elements of tiles, each with its place, in which computed nodes are stored."""
    stores: dict[int, list[Element]] = {}
    for tile, place in tiles:
        for column, node in enumerate(tile.elements):
            if graph.nodes[node].args:
                stores.setdefault(node, []).append(Element(TILES, address(place, column)))
    return stores


def print_line(graph: Graph, style: Style, name: str) -> Text:
    """A graph as one straight line. `name` is the robot's. Errors are those of `print_statements`."""
    check_arguments(graph)
    order = [index for index in graph.live() if graph.nodes[index].args]
    tiling = tiling_of(graph, order)
    printer = KernelPrinter(graph, style, name, order, in_tiles(graph, chain(*tiling.begins.values())))
    for tile in tiling.zeros:
        printer.clear(tile)
    for tile, place in tiling.plain:
        printer.put_plain(tile, place)
        printer.leave(tile, place)
    for node in order:
        for tile, place in tiling.begins.get(node, ()):
            printer.put_plain(tile, place)
        printer.print([node])
        for tile, place in tiling.leaves.get(node, ()):
            printer.leave(tile, place)
    return Text((tuple(printer.text),), frozenset(printer.read), tiling.rooms)


def print_inline(graph: Graph, style: Style, name: str) -> tuple[str, ...]:
    """The statements of a function that reads and writes arrays of its thread. Arguments are those of
    `print_line`."""
    printer = KernelPrinter(graph, style, name, graph.live(), written(graph, ()), row=str)
    printer.print(graph.live())
    return tuple(printer.text)
