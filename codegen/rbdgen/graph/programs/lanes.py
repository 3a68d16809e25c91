"""Passes for programs with one straight line that has lanes: `known` folds tables, and `limb_by_limb` writes
the lanes one by one.

Both passes preserve every rounding. A batch function, whose lanes are states, runs the line limb by limb and
gives the same bits as the single call, except for the sign of zeros if a number is 0 in some limbs.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from rbdgen.access import Access, whole
from rbdgen.graph.machine import HOST
from rbdgen.graph.node import Graph, Input, Node, Output
from rbdgen.graph.ops import OPS
from rbdgen.graph.passes.dead import dead
from rbdgen.graph.programs.program import Loop, Program
from rbdgen.graph.values import halved

LIMB_CONSTANTS: Final = "limbs"
"""The table of the numbers in which limbs differ, with one row per lane."""


def line_of_limbs(program: Program) -> Loop:
    """The loop whose straight line has lanes."""
    (line,) = [loop for loop in program.loops if loop.kernel.lanes > 1]
    return line


def known(program: Program) -> Program:
    """The program with new table entries for all values that depend on table entries alone.

    While a line is traced, the entries are symbols, so it still computes products of them.
    """
    loop = line_of_limbs(program)
    graph, lanes = loop.kernel, loop.kernel.lanes
    first = _position(graph, LIMB_CONSTANTS)
    old = np.array(program.tables[LIMB_CONSTANTS]).reshape(lanes, -1)
    entries: dict[tuple[float, ...], int] = {}
    values: list[tuple[float, ...] | None] = []

    def entry(row: tuple[float, ...]) -> Node:
        return Node("input", value=float(first + entries.setdefault(row, len(entries))))

    for op, args, value in graph.nodes:
        operands = [values[k] for k in args]
        if op == "const":
            values.append((value,) * lanes)
        elif op == "input" and first <= value < first + old.shape[1]:
            values.append(tuple(old[:, int(value) - first].tolist()))
        elif args and OPS[op].rational and None not in operands:
            columns = zip(*(x for x in operands if x), strict=True)
            values.append(tuple(float(OPS[op].evaluate(*column)) for column in columns))
        elif op == "join" and operands[0] is not None:
            values.append((halved(operands[0], operator.add),) * lanes)
        else:
            values.append(None)
    read = [k for node, own in zip(graph.nodes, values, strict=True) if own is None for k in node.args]
    read += [k for output in graph.outputs for k in output.elements]
    nodes = list(graph.nodes)
    for k in dict.fromkeys(read):
        own = values[k]
        if own is not None:
            nodes[k] = Node("const", value=own[0]) if len(set(own)) == 1 else entry(own)
    # the table is the last input, so the positions of others do not change
    inputs = (*graph.inputs[:-1], Input(LIMB_CONSTANTS, len(entries), lanes))
    kernel = dead(replace(graph, inputs=inputs, nodes=tuple(nodes)))
    n = len(entries)
    reads = {
        **loop.reads,
        LIMB_CONSTANTS: Access(LIMB_CONSTANTS, tuple(range(n)), tuple(n * k for k in range(lanes))),
    }
    rows = tuple(row[k] for k in range(lanes) for row in entries)
    line = replace(loop, kernel=kernel, reads=reads)
    return replace(_instead(program, loop, line), tables={**program.tables, LIMB_CONSTANTS: rows})


def _instead(program: Program, before: Loop, after: Loop) -> Program:
    loops = (after if loop is before else loop for loop in program.loops)
    return replace(program, loops=tuple(loops))


def _position(graph: Graph, name: str) -> int:
    """The first flat position of an input, which must be the last one."""
    *others, last = graph.inputs
    assert last.name == name
    return sum(array.size for array in others)


def limb_by_limb(program: Program) -> Program:
    """Compute one limb after the other, on plain numbers, simplified for zeros and ones."""
    loop = line_of_limbs(program)
    line = _Line()
    arrays: dict[str, list[int]] = {}
    first = 0
    for array in program.inputs:
        arrays[array.name] = [line.put("input", value=float(first + k)) for k in range(array.size)]
        first += array.size
    for name, values in program.tables.items():
        arrays[name] = [line.constant(value) for value in values]
    lanes = _replayed(loop, arrays, line)
    labels: dict[int, str] = {}
    for index, text in loop.kernel.labels.items():
        for limb, own in enumerate(lanes[index], 1):
            labels.setdefault(own, text if len(lanes[index]) == 1 else f"{text}, limb {limb}")
    written: dict[str, dict[int, int]] = {}
    for output in loop.kernel.outputs:
        access = loop.writes[output.name]
        for k, element in enumerate(output.elements):
            for lane in range(len(access.offsets)):
                at = access.address(lane, k)
                written.setdefault(access.array, {})[at] = _of_lane(lanes[element], lane)
    whole_ones = (x for x in program.outputs if len(written.get(x.name, ())) == x.size)
    shapes = {x.name: x.shape for x in whole_ones}
    names = (*shapes, *sorted(written.keys() - shapes.keys()))
    writes = {name: Access(name, tuple(sorted(written[name]))) for name in names}
    outputs = [
        Output(name, shapes.get(name, (len(own),)), tuple(own[k] for k in sorted(own)))
        for name, own in ((name, written[name]) for name in names)
    ]
    graph = dead(Graph(program.inputs, tuple(line.nodes), tuple(outputs), labels))
    reads = {array.name: whole(array.name, array.size) for array in program.inputs}
    apart = _instead(program, loop, Loop(loop.name, graph, reads, writes))
    return replace(
        apart, tables={name: own for name, own in program.tables.items() if name != LIMB_CONSTANTS}
    )


def _replayed(loop: Loop, arrays: Mapping[str, Sequence[int]], line: _Line) -> list[list[int]]:
    """For every node, the indices at which it is written: one, or one per lane."""
    graph, found = loop.kernel, list[list[int]]()
    for op, args, value in graph.nodes:
        operands = [found[k] for k in args]
        if op == "const":
            found.append([line.constant(value)])
        elif op == "input":
            name, element = graph.input_element(int(value))
            access = loop.reads[name]
            runs = range(len(access.offsets))
            found.append([arrays[access.array][access.address(lane, element)] for lane in runs])
        elif op == "join":
            found.append([halved(operands[0], line.add)])
        elif op == "turn":
            found.append([*operands[0][1:], operands[0][0]])
        elif op == "lane":
            found.append([_of_lane(operands[0], int(graph.nodes[args[1]].value))])
        elif op == "beside":
            found.append([number for (number,) in operands])
        else:
            runs = range(max(map(len, operands)))
            found.append([line.write(op, *(_of_lane(x, lane) for x in operands)) for lane in runs])
    return found


def _of_lane(values: Sequence[int], lane: int) -> int:
    return values[lane if len(values) > 1 else 0]


class _Line:
    """Writes each operation once and keeps its rounding: no sum or product is reordered.

    Minus signs are moved from factors to products and from terms into sums where this changes no bit.
    """

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._known: dict[Node, int] = {}

    def put(self, op: str, *args: int, value: float = 0.0) -> int:
        """Write exactly this operation and return its index."""
        node = Node(op, args, value)
        if node not in self._known:
            self._known[node] = len(self.nodes)
            self.nodes.append(node)
        return self._known[node]

    def constant(self, value: float) -> int:
        """Write a number and return its index."""
        return self.put("const", value=value + 0.0)

    def write(self, op: str, *args: int) -> int:
        """Write an operation on values that are written already, and return the index of its result."""
        if op in ("add", "sub"):
            return self.add(args[0], args[1] if op == "add" else self.opposite(args[1]))
        if op in ("mul", "sq", "div"):
            return self._scaled(op, args[0], args[-1])
        return self.opposite(args[0]) if op == "neg" else self.put(op, *args)

    def opposite(self, a: int) -> int:
        """Write -a."""
        op, args, value = self.nodes[a]
        if op == "neg":
            return args[0]
        return self.constant(-value) if op == "const" else self.put("neg", a)

    def add(self, a: int, b: int) -> int:
        """Write a + b."""
        x, y = self._number(a), self._number(b)
        if x == 0 or y == 0:
            return b if x == 0 else a
        if x is not None and y is not None:
            return self.constant(x + y)
        for term, minus in ((a, b), (b, a)):
            op, args, _ = self.nodes[minus]
            if op == "neg":
                return self.constant(0.0) if args[0] == term else self.put("sub", term, args[0])
        return self.put("add", *sorted((a, b)))

    def _scaled(self, op: str, a: int, b: int) -> int:
        """Write a b or a / b."""
        (a, minus), (b, other) = self._magnitude(a), self._magnitude(b)
        x, y = self._number(a), self._number(b)
        if x == 0 or (y == 0 and op != "div"):
            return self.constant(0.0)
        if y == 1:
            found = a
        elif op == "div":
            found = self.put("div", a, b)
        elif x == 1:
            found = b
        elif x is not None and y is not None:
            found = self.constant(x * y)
        else:
            found = self.put("sq", a) if a == b else self.put("mul", *sorted((a, b)))
        return self.opposite(found) if minus != other else found

    def _magnitude(self, a: int) -> tuple[int, bool]:
        """The value without its sign, and whether the sign is minus."""
        value = self._number(a)
        minus = self.nodes[a].op == "neg" if value is None else value < 0
        return (self.opposite(a) if minus else a), minus

    def _number(self, a: int) -> float | None:
        op, _, value = self.nodes[a]
        return value if op == "const" else None


def counted(program: Program) -> str:
    """A text with the number of operations on vectors and on plain numbers."""
    graph = line_of_limbs(program).kernel
    kinds = [lanes for lanes, node in zip(graph.with_lanes(), graph.nodes, strict=True) if node.args]
    return f"{sum(kinds)} operations on {graph.lanes} lanes, {len(kinds) - sum(kinds)} on numbers"


VECTOR_WORK: Final = 1.2
"""The work of a vector operation in additions. It takes as long as an addition, but fewer run in parallel."""

GATHER_WORK: Final = 1.5
"""The work for each lane that is read from a place of its own: a load, and most of a shuffle."""

JOINED_WORK: Final = 1.0
"""The work for each lane that is added to the others."""

ANGLE_WORK: Final = 6.0
"""The work for each angle, if sines and cosines are computed several at a time."""

ADDITION_BYTES: Final = 10
"""The bytes of code of an addition of numbers or vectors, by gcc and clang."""

ADDITION_CYCLES: Final = 0.44
"""The cycles of an addition among others, if the first-level cache holds the code."""


def work(loop: Loop, registers: float) -> float:
    """The execution time of a straight line, in additions. `registers` is the number of registers that hold
    all lanes of a value.

    A line that exceeds the first-level cache (such as ABA of a humanoid) takes as long as the fetch of its
    code. `python -m benchmarks.forms` compares the ratio of two lines with that of their measured times.
    """
    graph, vector = loop.kernel, max(1.0, registers) * VECTOR_WORK
    with_lanes, lanes, total = graph.with_lanes(), graph.lanes, 0.0
    for index, (op, _, value) in enumerate(graph.nodes):
        if op in ("sin", "cos"):
            total += ANGLE_WORK / 2 * (lanes if with_lanes[index] else 1)
        elif op == "join":
            total += JOINED_WORK * lanes
        elif op == "input":
            array, _ = graph.input_element(int(value))
            total += GATHER_WORK * lanes if with_lanes[index] and array != LIMB_CONSTANTS else 0
        elif op != "const":
            total += (vector if with_lanes[index] else 1) * OPS[op].work
    total += sum(len(access.elements) * len(access.offsets) for access in loop.writes.values())
    code = ADDITION_BYTES * sum(bool(node.args) for node in graph.nodes)
    return max(total, code / HOST.fetch_rate(code) / ADDITION_CYCLES)
