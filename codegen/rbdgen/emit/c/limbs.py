"""A straight line with lanes as C: alike limbs in vectors of exactly as many numbers.

A value with lanes is a vector of c/ROBOT_limbs.h, all others are numbers; the compiler copies a number to all
lanes where it meets a vector. What belongs to limbs is read lane by lane where it is first needed, and
written lane by lane.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rbdgen.access import Access
from rbdgen.emit.c.parts import Body
from rbdgen.emit.c.printer import (
    ATOM,
    COSINES,
    SINES,
    Element,
    Expression,
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
from rbdgen.graph.evaluate import halved
from rbdgen.graph.node import Graph
from rbdgen.graph.programs.limbs import line_of_limbs
from rbdgen.graph.programs.program import Loop


def print_limbs(loop: Loop, tables: Mapping[str, Sequence[float]], style: Style, name: str) -> Body:
    """The statements of a line that has lanes; `name`: the robot's, of the vector types.

    Raises:
        EmitError: as of `print_statements`.
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
    printer.print_first(zeros, trigonometry)
    printer.print(rest)
    return Body((), tuple(printer.text), bool(zeros), limbs=True)


@dataclass(frozen=True)
class CLimbs:
    """A vector type for so many limbs, the sum over them, in the order of `join`, and the lanes of `turn`."""

    lanes: int
    sum: str
    next: str


def limbs_file(folder: Folder) -> dict[str, str]:
    """The header of the vector types."""
    programs = [f.source.lanes for f in folder.functions if f.source.lanes is not None]
    lines = [line_of_limbs(program).kernel for program in programs]
    ops = {node.op for line in lines for node in line.nodes}
    widths = sorted({line.lanes for line in lines})
    real = real_type(folder.options.real)
    text = filled(
        "c/ROBOT_limbs.h.jinja",
        robot=folder.robot,
        widths=[_limbs(lanes) for lanes in widths],
        index="long long" if real.name == "double" else "int",
        turn="turn" in ops,
        functions=[(op, function) for op, function in _functions(real, folder.options) if op in ops],
        sign="sign" in ops,
    )
    return {f"{folder.name}_limbs.h": text}


def _limbs(lanes: int) -> CLimbs:
    every = range(lanes)
    return CLimbs(lanes, _sum([f"own_[{k}]" for k in every]), ", ".join(str((k + 1) % lanes) for k in every))


FUNCTIONS: Final = ("sqrt", "sin", "cos")
"""Those of the C library."""


def _functions(real: Real, options: EmitOptions) -> list[tuple[str, str]]:
    """Those that are called lane by lane, and their names."""
    named = {"sqrt": real.sqrt, "sin": real.sin, "cos": real.cos}
    return [(op, named[op]) for op in (FUNCTIONS if options.trig == "libm" else FUNCTIONS[:1])]


def _sum(lanes: Sequence[str]) -> str:
    """x[0] + x[1], (x[0] + x[2]) + (x[1] + x[3]) and so on."""
    text = halved(lanes, lambda a, b: f"({a} + {b})")
    return text.removeprefix("(").removesuffix(")")


class LanePrinter(Printer):
    """Prints a graph some of whose values are vectors."""

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

    def at(self, accesses: Mapping[str, Access], tables: Mapping[str, Sequence[float]]) -> None:
        """Where the graph's arrays lie, and the tables among them."""
        self._accesses, self._tables = accesses, tables

    def print(self, indices: Iterable[int]) -> None:
        """Values with lanes are read where they are first needed, or stored as they are."""
        super().print(index for index in indices if not self._is_gathered(index) or index in self._stores)

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
        """The places of an element, one a lane if it has lanes."""
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

    def _function(self, op: str, index: int, operand: Expression) -> str:
        if op in ("join", "turn") or self._with_lanes[index]:
            return f"{self._vector.upper()}_{op.upper()}({operand.text})"
        return super()._function(op, index, operand)
