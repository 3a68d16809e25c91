"""Straight-line code with lanes as C: alike limbs share vectors that have exactly one lane per limb.

A value with lanes is a vector of c/ROBOT_limbs.h, and every other value is a number, which the compiler
copies to all lanes where it is combined with a vector. Inputs of limbs are read lane by lane where they are
first needed, and outputs of limbs are written lane by lane. Two values that lie side by side in memory in
every limb are written together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from rbdgen.access import Access
from rbdgen.emit.c.expression import ATOM, Expression, within
from rbdgen.emit.c.language import COSINES, SINES
from rbdgen.emit.c.parts import Body
from rbdgen.emit.c.printer import (
    Element,
    Printer,
    Style,
    Target,
    check_arguments,
    readable,
    written,
)
from rbdgen.emit.c.trigonometry import other_nodes, trigonometry_of
from rbdgen.emit.folder import Folder
from rbdgen.emit.numbers import literal
from rbdgen.emit.package import EmitOptions
from rbdgen.emit.real import Real, real_type
from rbdgen.emit.text import filled
from rbdgen.graph.node import Graph
from rbdgen.graph.programs.program import Loop
from rbdgen.graph.values import halved


def print_limbs(loop: Loop, tables: Mapping[str, Sequence[float]], style: Style, name: str) -> Body:
    """Print the statements of straight-line code that has lanes. `name` is the robot's, from which the vector
    types are named.

    Raises:
        EmitError: as for `print_statements`.
    """
    graph = loop.kernel
    check_arguments(graph)
    trigonometry = trigonometry_of(graph, builtin=style.sincos is not None)
    rest = other_nodes(graph, trigonometry)
    nodes = [*trigonometry.first, *trigonometry.calls, *rest]
    places = {**loop.reads, **loop.writes}
    numbers = [output for output in graph.outputs if len(loop.writes[output.name].offsets) == 1]
    zeros = replace(style, address=lambda array, k: loop.writes[array].address(0, k)).zeros(
        replace(graph, outputs=tuple(numbers))
    )
    printer = LanePrinter(graph, style, nodes, written(graph, zeros), readable(graph, trigonometry), name)
    printer.at(places, tables)
    printer.in_pairs(pairs_of(loop))
    printer.print_first(zeros, trigonometry)
    printer.print(rest)
    return Body((), tuple(printer.text), memset=bool(zeros), limbs=True)


def pairs_of(loop: Loop) -> list[tuple[Stored, Stored]]:
    """The pairs of values with lanes that are written side by side in every lane."""
    with_lanes = loop.kernel.with_lanes()
    places = {}
    for output in loop.kernel.outputs:
        access = loop.writes[output.name]
        for k, node in enumerate(output.elements):
            if with_lanes[node]:
                lanes = tuple(access.address(lane, k) for lane in range(len(access.offsets)))
                places[(access.array, lanes)] = Stored(node, Element(output.name, k))
    found = []
    for array, lanes in sorted(places):
        beside = array, tuple(place + 1 for place in lanes)
        if (array, lanes) in places and beside in places:
            found.append((places.pop((array, lanes)), places.pop(beside)))
    return found


class Stored(NamedTuple):
    """A node and the element of an output in which it is stored."""

    node: int
    element: Element


@dataclass(frozen=True)
class CLimbs:
    """A vector type for a number of alike limbs."""

    lanes: int
    """The number of limbs."""
    sum: str
    """The sum over all lanes, in the order of the operation `join`."""
    next: str
    """The lanes of the operation `turn`: each lane receives the value of the next one."""
    even: str
    """The lanes of two vectors, alternating, for the limbs 0, 2, 4 and so on."""
    odd: str
    """The lanes of two vectors, alternating, for the limbs 1, 3, 5 and so on."""


def limbs_file(folder: Folder) -> dict[str, str]:
    """The header of the vector types."""
    programs = [f.source.lanes for f in folder.functions if f.source.lanes is not None]
    lines = [loop for program in programs for loop in program.loops if loop.kernel.lanes > 1]
    ops = {node.op for line in lines for node in line.kernel.nodes}
    widths = sorted({line.kernel.lanes for line in lines})
    real = real_type(folder.options.real)
    text = filled(
        "c/ROBOT_limbs.h.jinja",
        robot=folder.robot,
        widths=[_limbs(lanes) for lanes in widths],
        index="long long" if real.name == "double" else "int",
        turn="turn" in ops,
        pairs=any(map(pairs_of, lines)),
        functions=[(op, function) for op, function in _functions(real, folder.options) if op in ops],
        sign="sign" in ops,
    )
    return {f"{folder.name}_limbs.h": text}


def _limbs(lanes: int) -> CLimbs:
    every = range(lanes)
    even, odd = (
        ", ".join(str(row + k) for k in range(first, lanes, 2) for row in (0, lanes)) for first in (0, 1)
    )
    following = ", ".join(str((k + 1) % lanes) for k in every)
    return CLimbs(lanes, _sum([f"own_[{k}]" for k in every]), following, even, odd)


FUNCTIONS: Final = ("sqrt", "sin", "cos")
"""The functions of the C library that the statements may call."""


def _functions(real: Real, options: EmitOptions) -> list[tuple[str, str]]:
    """The functions of the C library that are called lane by lane, each with its name in C."""
    named = {"sqrt": real.sqrt, "sin": real.sin, "cos": real.cos}
    return [(op, named[op]) for op in (FUNCTIONS if options.trig == "libm" else FUNCTIONS[:1])]


def _sum(lanes: Sequence[str]) -> str:
    """The sum of all lanes by halves: x[0] + x[1], (x[0] + x[2]) + (x[1] + x[3]) and so on."""
    text = halved(lanes, lambda a, b: f"({a} + {b})")
    return text.removeprefix("(").removesuffix(")")


class LanePrinter(Printer):
    """Prints a graph in which some of the values are vectors."""

    def __init__(
        self,
        graph: Graph,
        style: Style,
        nodes: Sequence[int],
        stores: Mapping[int, Sequence[Element]],
        places: Mapping[int, Element],
        name: str,
    ) -> None:
        super().__init__(graph, style, nodes, stores, places)
        self._lanes, self._with_lanes = graph.lanes, graph.with_lanes()
        self._vector = f"{name}_limbs{self._lanes}"
        self._accesses: Mapping[str, Access] = {}
        self._tables: Mapping[str, Sequence[float]] = {}
        self._pairs: list[tuple[Stored, Stored]] = []

    def at(self, accesses: Mapping[str, Access], tables: Mapping[str, Sequence[float]]) -> None:
        """Set where the graph's arrays lie, and the contents of those that are tables."""
        self._accesses, self._tables = accesses, tables

    def in_pairs(self, pairs: Sequence[tuple[Stored, Stored]]) -> None:
        """Set the pairs of values that are written together, as soon as both are known."""
        left = {node: list(elements) for node, elements in self._stores.items()}
        for pair in pairs:
            for node, element in pair:
                left[node].remove(element)
                self._uses[node] += 1  # so that the value becomes a variable
            self._pairs.append(pair)
        self._stores = left

    def print(self, indices: Iterable[int]) -> None:
        """Print nodes; inputs with lanes are skipped (they are read where they are first needed) unless they
        are stored as they are.
        """
        super().print(index for index in indices if not self._is_gathered(index) or index in self._stores)

    def _print_node(self, index: int) -> None:
        super()._print_node(index)
        known = [all(x.node in self._expressions for x in pair) for pair in self._pairs]
        for (first, second), now in zip(self._pairs, known, strict=True):
            if now:
                places = ", ".join(f"&{place}" for place in self._elements(first.element))
                values = (self._operand(first.node).text, self._operand(second.node).text)
                self.text.append(f"{self._vector.upper()}_PAIR({', '.join(values)}, {places});")
        self._pairs = [pair for pair, now in zip(self._pairs, known, strict=True) if not now]

    def _is_gathered(self, index: int) -> bool:
        return self._with_lanes[index] == 1 and self._graph.nodes[index].op == "input"

    def _type(self, index: int) -> str:
        return self._vector if self._with_lanes[index] else super()._type(index)

    def _array(self, name: str) -> str:
        return self._accesses[name].array

    def _is_vector(self, index: int) -> bool:
        return self._with_lanes[index] == 1

    def _targets(self, index: int, store: Element) -> list[Target]:
        lanes = range(self._lanes) if self._with_lanes[index] else None
        return [
            Target(place, "" if lanes is None else f"[{k}]") for k, place in enumerate(self._elements(store))
        ]

    def _elements(self, element: Element) -> list[str]:
        """The places of an element in C: one per lane if it has lanes."""
        access = self._accesses[element.array]
        real = self._style.real.name
        addresses = [access.address(lane, element.position) for lane in range(len(access.offsets))]
        if access.array in self._tables:
            return [literal(self._tables[access.array][at], real) for at in addresses]
        return [f"{access.array}[{at}]" for at in addresses]

    def _element(self, element: Element) -> str:
        if element.array in self._accesses:
            return self._elements(element)[0]
        return super()._element(element)

    def _leaf(self, index: int) -> Expression | None:
        if not self._with_lanes[index] or index not in self._places:
            return super()._leaf(index)
        if index in self._expressions:
            return self._expressions[index]
        place = self._places[index]
        if place.array in (SINES, COSINES):
            value = f"{self._vector.upper()}_FROM({place.array} + {place.position})"
        else:
            value = f"{{{', '.join(self._elements(place))}}}"
        self.text.append(f"const {self._vector} t{index} = {value};")
        self._expressions[index] = Expression(f"t{index}", ATOM, 0)
        return self._expressions[index]

    def _numbers(self, index: int) -> list[str]:
        if not self._with_lanes[index]:
            return super()._numbers(index)
        if self._is_gathered(index):
            return self._elements(self._places[index])
        text = self._operand(index).text
        return [f"({text})[{lane}]" for lane in range(self._lanes)]

    def _function(self, op: str, index: int, operands: Sequence[Expression]) -> str:
        if op == "lane":
            lane = self._graph.nodes[self._graph.nodes[index].args[1]]
            return f"{within(operands[0], ATOM)}[{int(lane.value)}]"
        if op == "beside":
            return f"({self._vector}){{{', '.join(operand.text for operand in operands)}}}"
        if op in ("join", "turn") or self._with_lanes[index]:
            return f"{self._vector.upper()}_{op.upper()}({', '.join(operand.text for operand in operands)})"
        return super()._function(op, index, operands)
