"""A long graph as several functions, called one after the other.

For a basic block of many thousand statements, the time and the memory of compilers grow faster than its
length. So a long graph is cut where few values are alive, and every part becomes a function of its own.
Values that later parts read wait in the workspace, an array of the caller; a place in it is taken again once
no part to come reads its value. The operations and their order are those of one piece, and so are the bits.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Final

from rbdgen.emit.c.printer import (
    COSINES,
    SINES,
    TILES,
    WORKSPACE,
    Element,
    Printer,
    Style,
    check_arguments,
    print_statements,
    readable,
    written,
)
from rbdgen.emit.c.trigonometry import Trigonometry, other_nodes, trigonometry_of
from rbdgen.emit.c.zeros import Zeros
from rbdgen.emit.names import comment_text
from rbdgen.graph.node import Graph
from rbdgen.graph.passes.split import split

LONGEST_PART: Final = 2_000
"""Operations that are printed as one piece.

A humanoid's derivatives of 72 000 operations take gcc -O1 10 s and 0.3 GB in parts of 1000 to 6000, 87 s and
1.8 GB in one piece; the code is a fifth shorter and takes a third less time. Within that range 2000 is as
fast as any on a PC. On a Cortex-M7 shorter parts are better (a quadruped's derivatives, 4600 operations: 13
per cent fewer instructions in parts of 2000, 14 in parts of 1000), for 0.6 KB more stack.
"""

_COLUMNS: Final = 8

_QUANTITY: Final = re.compile(r"-?(?P<quantity>[^\[\]]+)\[(?P<index>[0-9]+)", re.ASCII)


@dataclass(frozen=True)
class Part:
    """A function that is local to its file.

    `comment`: one line, what it computes, or nothing; `apart`: a compiler must not inline it.
    """

    name: str
    comment: str
    parameters: tuple[str, ...]
    statements: tuple[str, ...]
    apart: bool = True


@dataclass(frozen=True)
class CArrayOfNumbers:
    """A table of constants: numbers, offsets or places."""

    name: str
    kind: str
    size: int
    rows: tuple[str, ...]


@dataclass(frozen=True)
class Body:
    """The statements of a function, and what stands in front of it: tables, then the parts, then tables.

    `memset`, `vector`, `limbs`: whether statements call that, or work on the vectors of c/ROBOT_lanes.h or of
    c/ROBOT_limbs.h; `tiled`: the
    outputs that leave in tiles (see `emit.batch.tiles`), in batch functions only; `constants`: the tables in
    front of the parts; `tables`: those behind them, which tiles leave by.
    """

    parts: tuple[Part, ...]
    statements: tuple[str, ...]
    memset: bool = False
    vector: bool = False
    limbs: bool = False
    tiled: tuple[str, ...] = ()
    constants: tuple[CArrayOfNumbers, ...] = ()
    tables: tuple[CArrayOfNumbers, ...] = ()

    @property
    def parted(self) -> bool:
        """Whether there are parts that must stay apart."""
        return any(part.apart for part in self.parts)


@dataclass(frozen=True)
class Cut:
    """A graph in segments: the nodes of the trigonometry, then those of every part.

    `slots`: where in the workspace, an array of `size`, a value waits that a later segment reads; `places`:
    what can be read anywhere.
    """

    trigonometry: Trigonometry
    segments: Sequence[Sequence[int]]
    places: dict[int, Element]
    size: int
    slots: Mapping[int, int]

    def scratch_array(self, style: Style) -> list[str]:
        """The workspace."""
        return [f"{style.value_type} {WORKSPACE}[{self.size}];"] if self.size else []


def print_parts(
    graph: Graph,
    style: Style,
    symbol: str,
    restrict: str,
    declared: Mapping[str, str] | None = None,
    longest: int = LONGEST_PART,
) -> Body:
    """The statements of a graph, in parts of at most `longest` operations if it has more.

    Args:
        graph: its arrays bear the names that they have where the statements stand.
        style: how statements look.
        symbol: what the parts are named after: `<symbol>_part1` and so on.
        restrict: how C says that nothing else points to a parameter's array.
        declared: the graph's arrays as parameters, where they are not values of the style's type.

    Raises:
        EmitError: as of `print_statements`.
    """
    zeros = style.zeros(graph)
    if len(split(graph, longest)) == 2:
        return Body((), print_statements(graph, style), bool(zeros))
    check_arguments(graph)
    cut = cut_up(graph, style, longest)
    stores = [written(graph, zeros)] * len(cut.segments)
    opening, parts, calls = print_cut(graph, style, cut, stores, symbol, restrict, zeros, declared or {})
    return Body(tuple(parts), (*cut.scratch_array(style), *opening, *calls), bool(zeros))


def cut_up(graph: Graph, style: Style, longest: int) -> Cut:
    """The graph in segments of at most `longest` operations."""
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
) -> tuple[list[str], list[Part], list[str]]:
    """The statements of the first segment, the others as parts, and the calls of these.

    `stores`: for every segment the elements that its nodes are stored in, the workspace's excepted.
    """
    places = cut.places
    opening: list[str] = []
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
        if number == 0:
            printer.print_first(zeros, cut.trigonometry)
            first = {*cut.trigonometry.first, *cut.trigonometry.calls}
            printer.print(k for k in nodes if k not in first)
            opening = printer.text
            continue
        printer.print(nodes)
        pointers = _pointers(graph, printer, style.value_type, restrict)
        parameters = tuple((declared or {}).get(array, pointer) for array, pointer in pointers.items())
        comment = f"Part {number} of {len(cut.segments) - 1}: {_summary(graph, nodes)}"
        name = f"{symbol}_part{number}"
        parts.append(Part(name, comment_text(comment), parameters, tuple(printer.text)))
        calls.append(f"{name}({', '.join(pointers)});")
    return opening, parts, calls


def segments_between(graph: Graph, trigonometry: Trigonometry, boundaries: Sequence[int]) -> list[list[int]]:
    """The nodes of the trigonometry, then those between the boundaries where there are any."""
    first = [*trigonometry.first, *trigonometry.calls]
    segments: list[list[int]] = [[] for _ in boundaries]
    for index in other_nodes(graph, trigonometry):
        segments[bisect_right(boundaries, index)].append(index)
    return [first, *filter(None, segments)]


def workspace_slots(
    graph: Graph, segments: Sequence[Sequence[int]], places: Container[int]
) -> tuple[int, dict[int, int]]:
    """Size of the workspace, and the slot of every value that a later segment reads.

    A slot is taken again by a segment after the last one that reads it, never by that one itself: where in a
    segment a value is read depends on how its statements are nested. `places`: what need not be handed on.
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


def _pointers(graph: Graph, printer: Printer, kind: str, restrict: str) -> dict[str, str]:
    """The arrays that the printed statements name, in a fixed order, as parameters."""
    inputs, outputs = ([array.name for array in arrays] for arrays in (graph.inputs, graph.outputs))
    named = printer.read | printer.stored
    return {
        array: f"{'' if array in printer.stored else 'const '}{kind} *{restrict} {array}"
        for array in (*inputs, SINES, COSINES, WORKSPACE, TILES, *outputs)
        if array in named
    }


def _summary(graph: Graph, nodes: Sequence[int]) -> str:
    """How many operations, and the labelled quantities among them with the range of their first index."""
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
