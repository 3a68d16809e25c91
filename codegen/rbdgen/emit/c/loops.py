"""Programs of several loops as C: a static function for each loop body, and the loops that call them.

Where `vectors` permits, neighbouring runs of a loop are the lanes of a vector. The body's function then works
on vectors that begin anywhere in an array, and a number that all runs share is copied to all lanes. The last
vector of such a loop is a whole one, too: it may overlap the vector before it, so that some runs are done
twice, with the same result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from rbdgen.access import Access, Row, rows_share_places
from rbdgen.emit.c.arrays import early_name, read_early, shared_memory
from rbdgen.emit.c.lane_printer import print_limbs
from rbdgen.emit.c.language import WORKSPACE
from rbdgen.emit.c.nests import print_item
from rbdgen.emit.c.offsets import Offsets, Steps
from rbdgen.emit.c.parts import Body, CArrayOfNumbers, Part, print_parts, rows_of_numbers
from rbdgen.emit.c.printer import Style
from rbdgen.emit.c.trigonometry import live_nodes
from rbdgen.emit.names import check_argument_name, check_identifier
from rbdgen.emit.numbers import literal
from rbdgen.errors import EmitError
from rbdgen.graph.node import Graph
from rbdgen.graph.programs.lanes import LIMB_CONSTANTS
from rbdgen.graph.programs.nests import Leaf, nested
from rbdgen.graph.programs.program import Loop, Program, Square
from rbdgen.machine import VECTOR_BYTES

_TABLE = "_table"
"""The suffix of the names of tables. Without it, a parameter with the name of its table would hide the
table.
"""


@dataclass(frozen=True)
class Vectors:
    """The vector type of c/ROBOT_lanes.h that neighbouring runs may share."""

    style: Style
    """The style of statements on these vectors."""
    macro: str
    """The prefix of the type's macros."""
    most: int
    """The number of lanes in the widest registers; a loop with fewer runs computes them one by one."""


def print_loops(
    program: Program,
    symbol: str,
    style: Style,
    restrict: str,
    vectors: Vectors | None = None,
    after: Mapping[int, Sequence[str]] = MappingProxyType({}),
    robot: str = "",
) -> Body:
    """Prints the C of a program.

    Args:
        program: the program to print.
        symbol: the prefix of its static names.
        style: how statements look.
        restrict: how C says that nothing else points to a parameter's array.
        vectors: the vector type that neighbouring runs may share, if any.
        after: statements that follow a loop, by the loop's number.
        robot: the robot's name, from which the vector types of limbs are named.

    Raises:
        EmitError: as for `print_parts`, and if the name of an array is not an identifier.
    """
    for name in (*program.scratch, *program.tables):
        check_argument_name(name)
    return LoopPrinter(program, symbol, style, restrict, vectors, after, robot).printed()


@dataclass(frozen=True)
class _Line:
    """The body of a loop as a static function."""

    parameters: tuple[str, ...]
    body: Body


@dataclass
class LoopPrinter:
    """Prints the loops of a program and the static functions that they call; see `print_loops` for the
    fields.
    """

    program: Program
    symbol: str
    style: Style
    restrict: str
    vectors: Vectors | None
    after: Mapping[int, Sequence[str]]
    robot: str
    lines: dict[str, _Line] = field(default_factory=dict)
    offsets: Offsets = field(init=False)

    def __post_init__(self) -> None:
        self.offsets = Offsets(self.symbol)

    def printed(self) -> Body:
        real = self.style.real.name
        statements: list[str] = []
        for item in nested(self.program.loops, lambda k: bool(self.after.get(k)) or self._in_lanes(k)):
            lanes = self._in_lanes(item.leaves[0].number)
            statements += (
                self._loop(item.leaves[0].first)
                if lanes
                else print_item(item, self.style.language, self._call)
            )
            statements += self.after.get(item.leaves[-1].number, ())
        # a body with lanes needs no table: its numbers are constants in the statements
        lines = [loop for loop in self.program.loops if loop.kernel.lanes == 1]
        read = {access.array for loop in lines for access in loop.reads.values()}
        tables = [
            CArrayOfNumbers(
                f"{name}{_TABLE}", real, len(values), rows_of_numbers([literal(x, real) for x in values])
            )
            for name, values in self.program.tables.items()
            if name in read
        ]
        parts: list[Part] = []
        for name, line in self.lines.items():
            parts += line.body.parts
            own = line.body
            parts.append(Part(name, "", line.parameters, own.statements, own.scratch, apart=False))
        return Body(
            tuple(parts),
            tuple(statements),
            tuple(self._scratch()),
            memset=any(line.body.memset for line in self.lines.values()),
            vector=any(map(self._shares_vectors, self.program.loops))
            or any(line.body.vector for line in self.lines.values()),
            limbs=any(line.body.limbs for line in self.lines.values()),
            constants=(*tables, *self.offsets.tables.values()),
        )

    def _scratch(self) -> list[str]:
        """The declarations of the scratch arrays; they are aligned and share memory if runs share vectors."""
        kind = self.style.value_type
        if not any(map(self._shares_vectors, self.program.loops)):
            language = self.style.language
            return [language.scratch(kind, name, size) for name, size in self.program.scratch.items()]
        assert self.vectors is not None
        memory = shared_memory(self.program, self.vectors.most)
        if not memory.size:
            return []
        return [
            f"{kind} {WORKSPACE}[{memory.size}] __attribute__((aligned({VECTOR_BYTES})));",
            *(f"{kind} *const {name} = {_after(WORKSPACE, at)};" for name, at in memory.first.items()),
        ]

    def _in_lanes(self, number: int) -> bool:
        """Whether the runs of a loop are lanes, or its line has lanes itself."""
        loop = self.program.loops[number]
        return loop.kernel.lanes > 1 or self._shares_vectors(loop)

    def _loop(self, loop: Loop) -> list[str]:
        """Calls the body of a loop with lanes, as many times as its vectors need for `count` runs."""
        if loop.kernel.lanes > 1:
            return [self._call_of_limbs(loop)]
        read = _read(loop.kernel)
        accesses = {name: access for name, access in loop.reads.items() if name in read}
        return self._in_vectors(loop, accesses) if loop.vectorisable else self._in_rows(loop, accesses)

    def _call(self, leaf: Leaf, steps: Mapping[str, Sequence[Steps]]) -> str:
        """Calls the body of a loop whose runs come one by one."""
        read, loop = _read(leaf.first.kernel), leaf.merged
        reads = {name: access for name, access in loop.reads.items() if name in read}
        line, arguments = self._line(loop, reads, vector=False), []
        for name, access in {**reads, **loop.writes}.items():
            begin = self.offsets.begin(access.offsets[0], steps[name])
            arguments.append(self.style.language.passed(self._array(access), begin, moved=_moved(access)))
        return f"{line}({', '.join(arguments)});"

    def _call_of_limbs(self, loop: Loop) -> str:
        """Calls a body with lanes. It receives whole arrays and finds its elements in them itself."""
        written = dict.fromkeys(access.array for access in loop.writes.values())
        read = dict.fromkeys(access.array for access in loop.reads.values() if access.array != LIMB_CONSTANTS)
        kind = self.style.value_type
        parameters = tuple(
            f"{'' if array in written else 'const '}{kind} *{self.restrict} {array}"
            for array in (*read, *written)
        )
        name = f"{self.symbol}_{check_identifier(loop.name)}"
        self.lines[name] = _Line(parameters, print_limbs(loop, self.program.tables, self.style, self.robot))
        return f"{name}({', '.join((*read, *written))});"

    def _arguments(self, reads: Mapping[str, Access], writes: Mapping[str, Access], counter: str) -> str:
        return ", ".join(self._argument(access, counter) for access in {**reads, **writes}.values())

    def _in_vectors(self, loop: Loop, reads: Mapping[str, Access]) -> list[str]:
        """Calls a body for as many runs at a time as a vector has lanes; rows of a matrix are stored
        transposed.
        """
        assert self.vectors is not None
        line = self._line(loop, reads, vector=True)
        kind, macro = self.vectors.style.value_type, self.vectors.macro
        taken = {access.array for access in (*reads.values(), *loop.writes.values())}
        rows = {
            name: f"lanes_of_{name}" if name in taken else name
            for name, access in loop.writes.items()
            if _transposed(access)
        }
        writes = {
            name: Access(rows[name], (0,)) if name in rows else access for name, access in loop.writes.items()
        }
        statements = [f"const int run = {kind}_column(k, {loop.count});"]
        statements += [f"{kind} {local}[{len(loop.writes[name].elements)}];" for name, local in rows.items()]
        statements.append(f"{line}({self._arguments(reads, writes, 'run')});")
        for name, local in rows.items():
            access = loop.writes[name]
            to = _after(self._argument(access, "run"), access.elements[0])
            step = access.offsets[1] - access.offsets[0]
            statements.append(f"{kind}_leave_rows({to}, {step}, {local}, {len(access.elements)});")
        return [
            f"for (int k = 0; k < {loop.count}; k += {macro}_LANES) {{",
            *(f"    {statement}" for statement in statements),
            "}",
        ]

    def _in_rows(self, loop: Loop, reads: Mapping[str, Access]) -> list[str]:
        """Calls a body for rows of as many lanes as a register can hold; some of the lanes may be idle."""
        assert self.vectors is not None
        most = self.vectors.most
        line, rows = self._line(loop, reads, vector=True), loop.rows(most)
        arguments = [
            self._argument_of_row(access, rows) for access in (*reads.values(), *loop.writes.values())
        ]
        if _idle(rows, most):
            lanes = self.offsets.table(tuple((1 << row.count) - 1 << row.before for row in rows), "lanes")
            arguments.append(f"{lanes.name}[k / {most}] >> k % {most}")
        return [
            f"for (int k = 0; k < {most * len(rows)}; k += {self.vectors.macro}_LANES) {{",
            f"    {line}({', '.join(arguments)});",
            "}",
        ]

    def _shares_vectors(self, loop: Loop) -> bool:
        return self.vectors is not None and loop.vectorised(self.vectors.most)

    def _line(self, loop: Loop, accesses: Mapping[str, Access], vector: bool) -> str:
        """Prints a loop's body as a static function, unless an equal one exists, and returns the function's
        name.
        """
        early = sorted(read_early(loop))
        style = (
            self._vector_style(loop, accesses) if vector else self._plain_style(accesses, loop.writes, early)
        )
        real, language = style.real.name, style.language
        overlap = any(
            read.array == write.array and one != other
            for one, read in accesses.items()
            for other, write in loop.writes.items()
        )
        restrict = "" if overlap else self.restrict
        parameters = {
            name: language.parameter(
                real if vector or self._is_table(access) else style.value_type,
                restrict,
                name,
                written=False,
                moved=_moved(access),
            )
            for name, access in accesses.items()
        }
        parameters |= {
            name: language.parameter(
                real if vector and not _transposed(access) else style.value_type,
                restrict,
                name,
                written=True,
                moved=_moved(access),
            )
            for name, access in loop.writes.items()
        }
        if vector and self.vectors is not None and _idle(loop.rows(self.vectors.most), self.vectors.most):
            parameters["lanes"] = "int lanes"
        name = f"{self.symbol}_{check_identifier(loop.name)}"
        body = self._body(loop, style, name, restrict, parameters, early)
        for known, line in self.lines.items():
            if line == _Line(tuple(parameters.values()), body):
                return known
        if name in self.lines:
            name = f"{name}{sum(known.startswith(name) for known in self.lines) + 1}"
            body = self._body(loop, style, name, restrict, parameters, early)
        self.lines[name] = _Line(tuple(parameters.values()), body)
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
        """The statements of a body, after those that read the elements of `early`."""
        square = loop.square
        if self.vectors is not None and square is not None and square.size % self.vectors.most == 0:
            return Body((), self._transposed(square, *loop.reads, *loop.writes), vector=True)
        body = print_parts(loop.kernel, style, name, restrict, parameters)
        if body.parts and early:
            raise EmitError(
                f"loop '{loop.name}': '{early[0][0]}' is written while it is still read; use another array"
            )
        reads = []
        for array, position in early:
            access = loop.reads[array]
            element = style.language.element(array, access.elements[position], moved=_moved(access))
            reads.append(style.language.variable(style.value_type, early_name(array, position), element))
        return replace(body, statements=(*reads, *body.statements))

    def _transposed(self, square: Square, source: str, target: str) -> tuple[str, ...]:
        """The statements that transpose a square matrix vector by vector."""
        assert self.vectors is not None
        macro, kind, (size, step) = self.vectors.macro, self.vectors.style.value_type, square
        return (
            f"for (int i = 0; i < {size}; i += {macro}_LANES) {{",
            f"    for (int j = 0; j < {size}; j += {macro}_LANES) {{",
            f"        {kind} square[{macro}_LANES];",
            f"        {kind}_transpose(square, {source} + {step} * i + j, {step});",
            f"        for (int k = 0; k < {macro}_LANES; ++k)",
            f"            {macro}_AT({target} + {step} * (j + k) + i) = square[k];",
            "    }",
            "}",
        )

    def _plain_style(
        self,
        reads: Mapping[str, Access],
        writes: Mapping[str, Access],
        early: Sequence[tuple[str, int]],
    ) -> Style:
        def element(array: str, position: int) -> str:
            if (array, position) in early and array not in writes:
                return early_name(array, position)
            access = reads.get(array) or writes[array]
            text = self.style.language.element(array, access.elements[position], moved=_moved(access))
            return self.style.constant.format(text) if self._is_table(access) else text

        return replace(self.style, element=element, address=lambda array, k: writes[array].elements[k])

    def _vector_style(self, loop: Loop, reads: Mapping[str, Access]) -> Style:
        assert self.vectors is not None
        style, macro = self.vectors.style, self.vectors.macro
        rows = loop.rows(self.vectors.most)
        idle = _idle(rows, self.vectors.most)

        def element(array: str, position: int) -> str:
            access = reads.get(array) or loop.writes[array]
            at = access.elements[position]
            if array in reads:
                shared = rows_share_places(access, rows) if rows else access.shared
                return f"{macro}_EVERY({array}[{at}])" if shared else f"{macro}_FROM({array} + {at})"
            if idle:
                return f"{array} + {at}"
            return f"{array}[{position}]" if _transposed(access) else f"{macro}_AT({array} + {at})"

        store = f"{style.value_type}_put({{}}, {{}}, lanes);" if idle else style.store
        return replace(style, element=element, store=store)

    def _is_table(self, access: Access) -> bool:
        return access.array in self.program.tables

    def _argument(self, access: Access, counter: str) -> str:
        """The argument for the elements of an array from which a run begins."""
        begin = self.offsets.begin(access.offsets[0], [Steps(access.steps(1), counter)])
        return self.style.language.passed(self._array(access), begin, moved=_moved(access))

    def _array(self, access: Access) -> str:
        """The name of an array in C."""
        return f"{access.array}{_TABLE}" if self._is_table(access) else access.array

    def _argument_of_row(self, access: Access, rows: Sequence[Row]) -> str:
        """The pointer to the elements of an array for the lanes from k on. Every row takes as many lanes as
        the widest registers have.
        """
        assert self.vectors is not None
        most = self.vectors.most
        if access.shared or (access.consecutive and not _idle(rows, most)):
            return self._argument(access, "k")
        shared = rows_share_places(access, rows)
        firsts = tuple(access.offsets[row.first] - (0 if shared else row.before) for row in rows)
        start = f"{self._array(access)} + {self.offsets.table(firsts).name}[k / {most}]"
        return start if shared else f"{start} + k % {most}"


def _after(array: str, numbers: int) -> str:
    """The address `numbers` elements after the start of an array."""
    return f"{array} + {numbers}" if numbers else array


def _moved(access: Access) -> bool:
    """Whether a run may begin at another element of the array than the first."""
    return any(access.offsets)


def _idle(rows: Sequence[Row], lanes: int) -> bool:
    """Whether some rows do not fill a vector."""
    return any(row.count < lanes for row in rows)


def _transposed(access: Access) -> bool:
    """Whether each vector holds one number from each of several rows of a matrix."""
    return not access.consecutive and access.apart


def _read(graph: Graph) -> set[str]:
    return {graph.input_element(int(node.value))[0] for node in live_nodes(graph) if node.op == "input"}
