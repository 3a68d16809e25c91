"""What the C templates see: printed strings, nothing to compute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rbdgen.emit.bits import STATES
from rbdgen.emit.c.loop_tiles import print_loop_tiles
from rbdgen.emit.c.loops import CLoops, Vectors, print_loops
from rbdgen.emit.c.parts import Body, CArrayOfNumbers, Part, print_parts
from rbdgen.emit.c.printer import (
    TRIGONOMETRY,
    Sincos,
    Style,
    angle_nodes,
    live_nodes,
    scalar_style,
)
from rbdgen.emit.c.real import real_type
from rbdgen.emit.c.tiles import print_tiles
from rbdgen.emit.golden import SMALLEST_SCALE, Golden
from rbdgen.emit.names import comment_text, unique_identifiers
from rbdgen.emit.numbers import literal, literal17
from rbdgen.emit.package import EmitOptions, FunctionSource, RobotFacts
from rbdgen.graph.programs.program import Program
from rbdgen.machine import lanes
from rbdgen.signature import SizedArgument

_COLUMNS = 4


@dataclass(frozen=True)
class CArgument:
    """A function's array: `parameter` and `plain` declare it with and without the restrict macro."""

    name: str
    parameter: str
    plain: str
    size: int
    doc: str
    step: str


@dataclass(frozen=True)
class CFunction:
    """A function for header, source and binding; `file` and `batch` name its C files."""

    name: str
    symbol: str
    file: str
    batch: str
    doc: str
    counts: str
    inputs: tuple[CArgument, ...]
    outputs: tuple[CArgument, ...]

    @property
    def arguments(self) -> tuple[CArgument, ...]:
        return self.inputs + self.outputs


@dataclass(frozen=True)
class CBody:
    """What stands between the braces: the arguments nobody reads, then the statements, or loops of such.

    `parts`: functions that the statements call; `tables`, `tiled`: as a `Body`'s.
    """

    unused: tuple[str, ...]
    parts: tuple[Part, ...]
    statements: tuple[str, ...]
    math: bool
    sincos: bool
    memset: bool
    loops: CLoops | None = None
    tables: tuple[CArrayOfNumbers, ...] = ()
    tiled: tuple[str, ...] = ()

    @property
    def parted(self) -> bool:
        """Whether there are functions that must stay apart."""
        return bool(self.parts or (self.loops and self.loops.parted))


@dataclass(frozen=True)
class CJoint:
    """A joint's row of the header; `macro` follows `<ROBOT>_Q_` and `<ROBOT>_V_`."""

    macro: str
    comment: str
    idx_q: int
    idx_v: int


@dataclass(frozen=True)
class CArray:
    """A golden array: rows of literals; `tolerance` is absolute, for outputs."""

    name: str
    argument: str
    size: int
    rows: tuple[str, ...]
    tolerance: str = ""


@dataclass(frozen=True)
class CCase:
    """One golden state of one function."""

    inputs: tuple[CArray, ...]
    outputs: tuple[CArray, ...]


@dataclass(frozen=True)
class CGolden:
    """How the self-test tries one function.

    `draws`: statements that make the next of `states` other states; whether one of them draws `plain`
    numbers, or sines and cosines of `angles`; `bits`: the expected hash in hexadecimal, empty for none.
    """

    cases: tuple[CCase, ...]
    states: int
    draws: tuple[str, ...]
    plain: bool
    angles: bool
    bits: str


@dataclass(frozen=True)
class CRobot:
    """What every C file of a robot shares; texts from the description are escaped for comments."""

    name: str
    macro: str
    title: str
    version: str
    base: str
    nq: int
    nv: int
    nbodies: int
    real: str
    fabs: str
    trig: str
    target: str
    joints: tuple[CJoint, ...]


def robot_context(facts: RobotFacts, options: EmitOptions) -> CRobot:
    """The robot for all templates."""
    real = real_type(options.real)
    macros = unique_identifiers(joint.name for joint in facts.joints)
    return CRobot(
        facts.name,
        facts.name.upper(),
        comment_text(facts.robot_name),
        comment_text(facts.version),
        comment_text(facts.base),
        facts.nq,
        facts.nv,
        facts.nbodies,
        real.name,
        real.fabs,
        options.trig,
        comment_text(options.target),
        tuple(
            CJoint(macro.upper(), comment_text(joint.name), joint.idx_q, joint.idx_v)
            for macro, joint in zip(macros, facts.joints, strict=True)
        ),
    )


def function_context(facts: RobotFacts, function: FunctionSource, real: str) -> CFunction:
    """Names, prototype and documentation of a function."""
    restrict = f"{restrict_macro(facts)} "
    return CFunction(
        function.name,
        f"{facts.name}_{function.name}",
        f"{facts.name}_{function.name}.c",
        f"{facts.name}_{function.name}_batch.c",
        comment_text(f"{function.doc}; form {function.form} ({function.axes})"),
        str(function.cost).replace(" =", " operations ="),
        tuple(_argument(x, f"const {real} *", restrict) for x in function.signature.inputs),
        tuple(_argument(x, f"{real} *", restrict) for x in function.signature.outputs),
    )


def _argument(argument: SizedArgument, pointer: str, restrict: str) -> CArgument:
    shape = f" ({' x '.join(map(str, argument.shape))}, row-major)" if len(argument.shape) > 1 else ""
    return CArgument(
        argument.name,
        f"{pointer}{restrict}{argument.name}",
        f"{pointer}{argument.name}",
        argument.size,
        comment_text(f"{argument.name}[{argument.size}]{shape}, {argument.unit}: {argument.meaning}"),
        f"{argument.name}_step",
    )


def sincos_block(functions: Sequence[FunctionSource]) -> int:
    """The most angles that one of the functions needs."""
    return max(
        (len(angle_nodes(loop.kernel)) for function in functions for loop in function.program.loops),
        default=0,
    )


def style_context(facts: RobotFacts, options: EmitOptions, angles: int) -> Style:
    """How the statements of this robot look; `angles` as `sincos_block` gives."""
    sincos = None
    if options.trig == "builtin":
        sincos = Sincos(facts.name, angles if options.extensions else None)
    return scalar_style(real_type(options.real), sincos, options.nesting, memset=options.extensions)


def body_context(
    program: Program,
    symbol: str,
    style: Style,
    restrict: str,
    vectors: Vectors | None = None,
    *,
    tile: int | None = None,
) -> CBody:
    """The statements of a function, or with `tile`, the elements of one, of its batch function.

    The other arguments are as `print_loops` takes them.
    """
    lines = [(loop, list(live_nodes(loop.kernel))) for loop in program.loops]
    read = {
        loop.reads[loop.kernel.input_element(int(node.value))[0]].array
        for loop, live in lines
        for node in live
        if node.op == "input"
    }
    live = [node for _, nodes in lines for node in nodes]
    graph = program.straight
    body, loops = Body((), ()), None
    if graph is not None and tile is not None:
        body = print_tiles(graph, style, symbol, tile)
    elif graph is not None:
        body = print_parts(graph, style, symbol, restrict)
    elif tile is not None:
        loops = print_loop_tiles(program, symbol, style, tile)
    else:
        loops = print_loops(program, symbol, style, restrict, vectors)
    return CBody(
        tuple(array.name for array in program.inputs if array.name not in read),
        body.parts,
        body.statements,
        math=any(node.op == "sqrt" or (node.op in TRIGONOMETRY and not style.sincos) for node in live),
        sincos=any(node.op in TRIGONOMETRY and style.sincos is not None for node in live),
        memset=body.memset or (loops is not None and loops.memset),
        loops=loops,
        tables=body.tables,
        tiled=loops.tiled if loops else body.tiled,
    )


def restrict_macro(facts: RobotFacts) -> str:
    """What the header calls C's restrict, for compilers of C++ too."""
    return f"{facts.name.upper()}_RESTRICT"


def sincos_context(facts: RobotFacts, options: EmitOptions, angles: int) -> Mapping[str, object]:
    """The context of c/sincos.h.jinja."""
    return {
        "prefix": facts.name,
        "real": options.real,
        "fallback": options.extensions,
        "vector": options.extensions,
        "width": lanes(options.real),
        "count": angles,
    }


def golden_context(function: FunctionSource, golden: Golden, real: str) -> CGolden:
    """The golden states of a function as arrays of literals, and how to make the states of its hash."""
    cases = tuple(
        CCase(
            tuple(_array(function.name, number, name, values, real) for name, values in case.inputs.items()),
            tuple(
                _array(function.name, number, name, values, real, golden.tolerance)
                for name, values in case.outputs.items()
            ),
        )
        for number, case in enumerate(golden.cases)
    )
    inputs = function.signature.inputs
    drawn = [x for x in inputs if x.kind != "cosines"]
    cosines = next((x.name for x in inputs if x.kind == "cosines"), "")
    draws = [
        f"draw_angles({x.name}, {cosines}, {x.size}, &word);"
        if x.kind == "sines"
        else f"draw({x.name}, {x.size}, &word);"
        for x in drawn
    ]
    return CGolden(
        cases,
        states=STATES,
        draws=tuple(draws),
        plain=any(x.kind != "sines" for x in drawn),
        angles=any(x.kind == "sines" for x in drawn),
        bits="" if golden.bits is None else f"{golden.bits:08x}",
    )


def _array(
    function: str,
    number: int,
    argument: str,
    values: Sequence[float],
    real: str,
    tolerance: float | None = None,
) -> CArray:
    literals = [literal17(value, real) for value in values]
    rows = tuple(", ".join(literals[k : k + _COLUMNS]) for k in range(0, len(literals), _COLUMNS))
    allowed = ""
    if tolerance is not None:
        scale = max(max(map(abs, values), default=0.0), SMALLEST_SCALE)
        allowed = literal(float(f"{tolerance * scale:.2e}"), real)
    return CArray(f"{function}_{argument}_{number}", argument, len(values), rows, allowed)
