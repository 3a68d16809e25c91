"""A long graph as several functions that are called one after the other.

For a basic block of many thousand statements, the time and memory of compilers grow faster than its length.
Therefore a long graph is cut where few values are alive, and every part becomes a function of its own. Values
that later parts read are stored in the workspace, an array that the caller provides. A place in it is reused
when no remaining part reads its value. The operations and their order, and hence the resulting bits, are the
same as without the cuts.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Final

from rbdgen.emit.c.arrays import Zeros
from rbdgen.emit.c.language import COSINES, SINES, TILES, WORKSPACE
from rbdgen.emit.c.printer import (
    Element,
    Printer,
    Style,
    check_arguments,
    printed,
    readable,
    written,
)
from rbdgen.emit.c.trigonometry import Trigonometry, other_nodes, trigonometry_of
from rbdgen.emit.names import comment_text
from rbdgen.graph.node import Graph
from rbdgen.graph.passes.split import split

_COLUMNS: Final = 8

_QUANTITY: Final = re.compile(r"-?(?P<quantity>[^\[\]]+)\[(?P<index>[0-9]+)", re.ASCII)


@dataclass(frozen=True)
class Part:
    """A function that is local to its file."""

    name: str
    """The name of the function in C."""
    comment: str
    """One line that says what it computes, or an empty string."""
    parameters: tuple[str, ...]
    """The parameters of the function as printed in C."""
    statements: tuple[str, ...]
    """The statements of the function."""
    scratch: tuple[str, ...] = ()
    """The declarations of arrays that stand before the statements."""
    apart: bool = True
    """Whether a compiler must not inline it."""


@dataclass(frozen=True)
class CArrayOfNumbers:
    """A table of constants: numbers, offsets or places."""

    name: str
    kind: str
    size: int
    rows: tuple[str, ...]


@dataclass(frozen=True)
class Body:
    """The statements of a function and what stands in front of it: constants, then parts, then tables."""

    parts: tuple[Part, ...]
    """The local functions that the statements call."""
    statements: tuple[str, ...]
    """The statements of the function itself."""
    scratch: tuple[str, ...] = ()
    """The declarations of arrays that stand before the statements."""
    memset: bool = False
    """Whether statements call memset."""
    vector: bool = False
    """Whether statements work on the vectors of c/ROBOT_lanes.h."""
    limbs: bool = False
    """Whether statements work on the vectors of c/ROBOT_limbs.h."""
    tiled: tuple[str, ...] = ()
    """The outputs that are stored in tiles (see `emit.batch.tiles`); only in batch functions."""
    constants: tuple[CArrayOfNumbers, ...] = ()
    """The tables in front of the parts."""
    tables: tuple[CArrayOfNumbers, ...] = ()
    """The tables behind the parts, which the calls that store tiles read."""

    @property
    def parted(self) -> bool:
        """Whether there are parts that must not be inlined."""
        return any(part.apart for part in self.parts)


@dataclass(frozen=True)
class Cut:
    """A graph that is cut into segments."""

    trigonometry: Trigonometry
    """The sines and cosines, which are computed in the first segment."""
    segments: Sequence[Sequence[int]]
    """The nodes of every segment: first those of the trigonometry, then those of each part."""
    places: dict[int, Element]
    """The elements from which values (inputs, sines and cosines) can be read in any segment."""
    size: int
    """The size of the workspace."""
    slots: Mapping[int, int]
    """The place in the workspace of every value that a later segment reads."""

    def scratch_array(self, style: Style) -> list[str]:
        """The declaration of the workspace."""
        return [style.language.scratch(style.value_type, WORKSPACE, self.size)] if self.size else []


def print_parts(
    graph: Graph,
    style: Style,
    symbol: str,
    restrict: str,
    declared: Mapping[str, str] | None = None,
    longest: int | None = None,
) -> Body:
    """Prints the statements of a graph, in parts if it has more than `longest` operations.

    Args:
        graph: the graph. Its arrays are named as in the printed function.
        style: how statements look.
        symbol: the prefix of the parts' names: `<symbol>_part1` and so on.
        restrict: how C says that nothing else points to a parameter's array.
        declared: the parameters of those arrays whose values are not of the style's type.
        longest: the largest number of operations in a part, by default that of the style.

    Raises:
        EmitError: as for `print_statements`.
    """
    longest = longest or style.longest
    zeros = style.zeros(graph)
    if len(split(graph, longest)) == 2:
        line = printed(graph, style)
        return Body((), tuple(line.text), tuple(line.scratch), memset=bool(zeros))
    check_arguments(graph)
    cut = cut_up(graph, style, longest)
    stores = [written(graph, zeros)] * len(cut.segments)
    opening, parts, calls = print_cut(graph, style, cut, stores, symbol, restrict, zeros, declared or {})
    scratch = (*cut.scratch_array(style), *opening.scratch)
    return Body(tuple(parts), (*opening.text, *calls), scratch, memset=bool(zeros))


def cut_up(graph: Graph, style: Style, longest: int) -> Cut:
    """Cuts a graph into segments of at most `longest` operations."""
    trigonometry = trigonometry_of(graph, builtin=style.sincos is not None)
    places = readable(graph, trigonometry)
    segments = segments_between(graph, trigonometry, split(graph, longest))
    return Cut(trigonometry, segments, places, *workspace_slots(graph, segments, places))


def print_cut(
    graph: Graph,
    style: Style,
    cut: Cut,
    stores: Sequence[Mapping[int, Sequence[Element]]],
    symbol: str,
    restrict: str,
    zeros: Sequence[Zeros] = (),
    declared: Mapping[str, str] | None = None,
) -> tuple[Printer, list[Part], list[str]]:
    """The printer of the first segment, the other segments as parts, and the calls of these parts.

    `stores` lists for every segment the elements in which its nodes are stored, except those of the
    workspace.
    """
    places = cut.places
    opening: Printer | None = None
    parts: list[Part] = []
    calls: list[str] = []
    for number, (nodes, own) in enumerate(zip(cut.segments, stores, strict=True)):
        waiting = {k: Element(WORKSPACE, cut.slots[k]) for k in nodes if k in cut.slots}
        kept = {
            k: [*own.get(k, ()), *([waiting[k]] if k in waiting else [])]
            for k in nodes
            if k in own or k in waiting
        }
        printer = Printer(graph, style, nodes, kept, places)
        places = places | waiting
        if opening is None:
            printer.print_first(zeros, cut.trigonometry)
            first = {*cut.trigonometry.first, *cut.trigonometry.calls}
            printer.print(k for k in nodes if k not in first)
            opening = printer
            continue
        printer.print(nodes)
        pointers = _pointers(graph, printer, style, restrict)
        parameters = tuple((declared or {}).get(array, pointer) for array, pointer in pointers.items())
        comment = f"Part {number} of {len(cut.segments) - 1}: {_summary(graph, nodes)}"
        name = f"{symbol}_part{number}"
        parts.append(Part(name, comment_text(comment), parameters, tuple(printer.text)))
        passed = map(style.language.handed_on, pointers, parameters)
        calls.append(f"{name}({', '.join(passed)});")
    assert opening is not None
    return opening, parts, calls


def segments_between(graph: Graph, trigonometry: Trigonometry, boundaries: Sequence[int]) -> list[list[int]]:
    """The nodes of the trigonometry, then those between boundaries; empty segments are left out."""
    first = [*trigonometry.first, *trigonometry.calls]
    segments: list[list[int]] = [[] for _ in boundaries]
    for index in other_nodes(graph, trigonometry):
        segments[bisect_right(boundaries, index)].append(index)
    return [first, *filter(None, segments)]


def workspace_slots(
    graph: Graph, segments: Sequence[Sequence[int]], places: Container[int]
) -> tuple[int, dict[int, int]]:
    """The size of the workspace, and the slot of every value that a later segment reads.

    A slot is reused only by a segment after the last one that reads it, because the order in which a segment
    reads its values depends on how its statements are nested. Values in `places` need no slot.
    """
    home: dict[int, int] = {}
    last: dict[int, int] = {}
    for number, nodes in enumerate(segments):
        for index in nodes:
            if graph.nodes[index].args and index not in places:
                home[index] = number
                last |= {argument: number for argument in graph.nodes[index].args if argument in home}
    slots: dict[int, int] = {}
    free: list[int] = []
    ending: dict[int, list[int]] = {}
    size = 0
    for number, nodes in enumerate(segments):
        for slot in ending.pop(number - 1, ()):
            heappush(free, slot)
        for index in nodes:
            if last.get(index, number) > number:
                slots[index] = heappop(free) if free else size
                size = max(size, slots[index] + 1)
                ending.setdefault(last[index], []).append(slots[index])
    return size, slots


def _pointers(graph: Graph, printer: Printer, style: Style, restrict: str) -> dict[str, str]:
    """The arrays that the printed statements name, in a fixed order, as parameters."""
    inputs, outputs = ([array.name for array in arrays] for arrays in (graph.inputs, graph.outputs))
    named = printer.read | printer.stored
    return {
        array: style.language.parameter(style.value_type, restrict, array, written=array in printer.stored)
        for array in (*inputs, SINES, COSINES, WORKSPACE, TILES, *outputs)
        if array in named
    }


def _summary(graph: Graph, nodes: Sequence[int]) -> str:
    """The number of operations, and their labelled quantities with the range of the first index."""
    count = sum(bool(graph.nodes[index].args) for index in nodes)
    ranges: dict[str, list[int]] = {}
    for index in nodes:
        if found := _QUANTITY.match(graph.labels.get(index, "")):
            ranges.setdefault(found["quantity"], []).append(int(found["index"]))
    quantities = [
        f"{quantity}[{min(them)}..{max(them)}]" if len(set(them)) > 1 else f"{quantity}[{them[0]}]"
        for quantity, them in ranges.items()
    ]
    return f"{count} operations{': ' if quantities else ''}{', '.join(quantities)}"


def rows_of_numbers(texts: Sequence[str]) -> tuple[str, ...]:
    """The lines of a table."""
    return tuple(", ".join(texts[k : k + _COLUMNS]) for k in range(0, len(texts), _COLUMNS))
