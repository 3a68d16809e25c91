"""Programs of several loops as C: a static function for every straight line, and the loops that call them.

Where `vectors` allows, neighbouring runs of a loop are the lanes of a vector: its function works on vectors
that lie anywhere in arrays, and numbers that all runs share fill all lanes. Such a loop ends with a whole
vector, which overlaps the one before: some runs are then done twice, with the same result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from rbdgen.access import Access
from rbdgen.emit.c.parts import Body, CArrayOfNumbers, print_parts, rows_of_numbers
from rbdgen.emit.c.printer import TRIGONOMETRY, Style, live_nodes
from rbdgen.emit.names import check_argument_name, check_identifier
from rbdgen.emit.numbers import literal
from rbdgen.errors import EmitError
from rbdgen.graph.cost import readers_in_order
from rbdgen.graph.node import Graph
from rbdgen.graph.programs.program import Loop, Program

_TABLE = "_table"
"""Ends the names of tables: a parameter that is named as its table would hide it."""


@dataclass(frozen=True)
class Vectors:
    """The vector type of c/ROBOT_lanes.h that neighbouring runs may share; `macro` prefixes its macros.

    `most`: lanes where registers are widest; loops of fewer runs go one by one.
    """

    style: Style
    macro: str
    most: int


@dataclass(frozen=True)
class CLine:
    """A straight line as a static function, and the parts that it calls if it is long."""

    name: str
    parameters: tuple[str, ...]
    body: Body


@dataclass(frozen=True)
class CLoop:
    """Calls of a line: once, `count` times, or as many vectors as `count` columns take.

    `after`: statements that follow the last.
    """

    line: str
    count: int
    vector: bool
    arguments: tuple[str, ...]
    after: tuple[str, ...] = ()


@dataclass(frozen=True)
class CLoops:
    """What a function of several loops is made of; `tiled`: as a `Body`'s."""

    tables: tuple[CArrayOfNumbers, ...]
    scratch: tuple[CArrayOfNumbers, ...]
    lines: tuple[CLine, ...]
    loops: tuple[CLoop, ...]
    tiled: tuple[str, ...] = ()

    @property
    def vector(self) -> bool:
        return any(loop.vector for loop in self.loops)

    @property
    def parted(self) -> bool:
        return any(line.body.parts for line in self.lines)

    @property
    def memset(self) -> bool:
        return any(line.body.memset for line in self.lines)


def print_loops(
    program: Program, symbol: str, style: Style, restrict: str, vectors: Vectors | None
) -> CLoops:
    """The C of a program; `symbol` prefixes its static names, `restrict` is how C says that.

    Raises:
        EmitError: as of `print_parts`, and for names that are no identifiers.
    """
    for name in (*program.scratch, *program.tables):
        check_argument_name(name)
    return LoopPrinter(program, symbol, style, restrict, vectors).printed()


@dataclass
class LoopPrinter:
    """Prints the loops of a program and the lines that they call."""

    program: Program
    symbol: str
    style: Style
    restrict: str
    vectors: Vectors | None
    lines: dict[str, CLine] = field(default_factory=dict)
    offsets: dict[tuple[int, ...], CArrayOfNumbers] = field(default_factory=dict)

    def printed(self) -> CLoops:
        loops = tuple(self._loop(loop) for loop in self.program.loops)
        real = self.style.real.name
        tables = [
            CArrayOfNumbers(
                f"{name}{_TABLE}", real, len(values), rows_of_numbers([literal(x, real) for x in values])
            )
            for name, values in self.program.tables.items()
        ]
        kind = self.style.value_type
        scratch = [CArrayOfNumbers(name, kind, size) for name, size in self.program.scratch.items()]
        return CLoops((*tables, *self.offsets.values()), tuple(scratch), tuple(self.lines.values()), loops)

    def _loop(self, loop: Loop) -> CLoop:
        read = _read(loop.kernel)
        accesses = {name: access for name, access in loop.reads.items() if name in read}
        vector = self.vectors is not None and _fills(loop, self.vectors.most)
        line = self._line(loop, accesses, vector)
        counter = "run" if vector else "k"
        arguments = [
            self._argument(access, counter) for access in (*accesses.values(), *loop.writes.values())
        ]
        return CLoop(line, loop.count, vector, tuple(arguments))

    def _line(self, loop: Loop, accesses: Mapping[str, Access], vector: bool) -> str:
        """The static function of a loop's body; one that was printed before serves again."""
        early = sorted(_read_early(loop))
        style = (
            self._vector_style(accesses, loop.writes)
            if vector
            else self._plain_style(accesses, loop.writes, early)
        )
        real = style.real.name
        overlap = {access.array for access in accesses.values()} & {
            access.array for access in loop.writes.values()
        }
        restrict = "" if overlap else self.restrict
        parameters = {
            name: f"const {real if vector or self._is_table(access) else style.value_type} *{restrict} {name}"
            for name, access in accesses.items()
        }
        parameters |= {
            name: f"{real if vector else style.value_type} *{restrict} {name}" for name in loop.writes
        }
        name = f"{self.symbol}_{check_identifier(loop.name)}"
        body = self._body(loop, style, name, restrict, parameters, early)
        for known in self.lines.values():
            if (known.parameters, known.body) == (tuple(parameters.values()), body):
                return known.name
        if name in self.lines:
            name = f"{name}{sum(known.startswith(name) for known in self.lines) + 1}"
            body = self._body(loop, style, name, restrict, parameters, early)
        self.lines[name] = CLine(name, tuple(parameters.values()), body)
        return name

    def _body(
        self,
        loop: Loop,
        style: Style,
        name: str,
        restrict: str,
        parameters: Mapping[str, str],
        early: Sequence[tuple[str, int]],
    ) -> Body:
        """The statements of a line, after those that read what must be read early."""
        body = print_parts(loop.kernel, style, name, restrict, parameters)
        if body.parts and early:
            raise EmitError(
                f"loop '{loop.name}': '{early[0][0]}' is written while it is still read; use another array"
            )
        reads = [
            f"const {style.value_type} {_early_name(*at)} = {at[0]}[{loop.reads[at[0]].elements[at[1]]}];"
            for at in early
        ]
        return replace(body, statements=(*reads, *body.statements))

    def _plain_style(
        self,
        reads: Mapping[str, Access],
        writes: Mapping[str, Access],
        early: Sequence[tuple[str, int]],
    ) -> Style:
        def element(array: str, position: int) -> str:
            if (array, position) in early and array not in writes:
                return _early_name(array, position)
            access = reads.get(array) or writes[array]
            text = f"{array}[{access.elements[position]}]"
            return self.style.constant.format(text) if self._is_table(access) else text

        return replace(self.style, element=element, address=lambda array, k: writes[array].elements[k])

    def _vector_style(self, reads: Mapping[str, Access], writes: Mapping[str, Access]) -> Style:
        assert self.vectors is not None
        style, macro = self.vectors.style, self.vectors.macro

        def element(array: str, position: int) -> str:
            if array in writes:
                return f"{macro}_AT({array} + {writes[array].elements[position]})"
            at = reads[array].elements[position]
            return f"{macro}_EVERY({array}[{at}])" if reads[array].shared else f"{macro}_FROM({array} + {at})"

        return replace(style, element=element)

    def _is_table(self, access: Access) -> bool:
        return access.array in self.program.tables

    def _argument(self, access: Access, counter: str) -> str:
        """Where an array of a run begins."""
        array = f"{access.array}{_TABLE}" if self._is_table(access) else access.array
        first, *more = access.offsets
        start = f"{array} + {first}" if first else array
        if not more:
            return start
        step = more[0] - first
        if access.offsets == tuple(first + k * step for k in range(len(access.offsets))):
            if step == 0:
                return start
            scaled = counter if abs(step) == 1 else f"{abs(step)} * {counter}"
            return f"{start} {'-' if step < 0 else '+'} {scaled}"
        return f"{array} + {self._table_of(access.offsets).name}[{counter}]"

    def _table_of(self, offsets: tuple[int, ...]) -> CArrayOfNumbers:
        if min(offsets) < 0 or max(offsets) > 65535:
            raise EmitError(f"{self.symbol}: an array is too long for a loop; generate the unrolled form")
        if offsets not in self.offsets:
            name = f"offsets{len(self.offsets) + 1}"
            rows = rows_of_numbers([str(offset) for offset in offsets])
            kind = "unsigned char" if max(offsets) < 256 else "unsigned short"
            self.offsets[offsets] = CArrayOfNumbers(name, kind, len(offsets), rows)
        return self.offsets[offsets]


def _fills(loop: Loop, lanes: int) -> bool:
    """Whether the runs may share vectors and fill one; sines are not taken there."""
    plain = not any(node.op in TRIGONOMETRY for node in loop.kernel.nodes)
    return loop.vectorisable and loop.count >= lanes and plain


def _read_early(loop: Loop) -> set[tuple[str, int]]:
    """The elements that a run writes and then still reads: statements store what they compute at once.

    Not those that only the operation reads whose result takes their access.
    """
    stores: dict[tuple[str, int], int] = {
        (output.name, position): node
        for output in loop.kernel.outputs
        for position, node in enumerate(output.elements)
    }
    readers = readers_in_order(loop.kernel)
    reads = {
        loop.kernel.input_element(int(node.value)): set(readers[index])
        for index, node in enumerate(loop.kernel.nodes)
        if node.op == "input" and readers[index]
    }
    early = set()
    for run in range(loop.count):
        written = {
            (loop.writes[name].array, loop.writes[name].address(run, k)): node
            for (name, k), node in stores.items()
        }
        for (name, k), nodes in reads.items():
            access = loop.reads[name]
            at = (access.array, access.address(run, k))
            if at in written and nodes != {written[at]}:
                early.add((name, k))
    return early


def _early_name(array: str, position: int) -> str:
    return f"{array}_{position}_before"


def _read(graph: Graph) -> set[str]:
    return {graph.input_element(int(node.value))[0] for node in live_nodes(graph) if node.op == "input"}
