"""A scheduled graph as C statements.

There is one operation per statement, in the graph's order, except that an operation which is used once may
stand inside the statement that uses it, up to `nesting` levels deep: `t9 = t3 * t7 + t5`. C evaluates such an
expression exactly like the separate statements, so with -ffp-contract=off the results are the same to the bit
at any nesting.

The text does not depend on the width of values: `value_type` is the type of one value, either a scalar or a
vector with one value per state. Sines and cosines are computed first, because values do not stay in registers
across a call of the C library, and because one call of `sincos` serves all angles. `emit.c.parts` prints a
long graph as several functions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, NamedTuple

from rbdgen.emit.c.arrays import Address, Zeros, zeros_of
from rbdgen.emit.c.choices import CHOICES, REPEATED
from rbdgen.emit.c.expression import ATOM, PRODUCT, SUM, UNARY, Expression, infix, within
from rbdgen.emit.c.language import ANGLES, COSINES, SINES, C, Language
from rbdgen.emit.c.trigonometry import TRIGONOMETRY, Trigonometry, other_nodes, trigonometry_of
from rbdgen.emit.names import check_identifier, comment_text
from rbdgen.emit.numbers import literal
from rbdgen.emit.real import Real
from rbdgen.emit.reserved import LOCAL_ARRAYS, is_a_variable
from rbdgen.errors import EmitError
from rbdgen.graph.node import Graph

LONGEST_PART: Final = 2_000
"""The largest number of operations that are printed as one piece.

With gcc -O1, a humanoid's derivatives (72 000 operations) compile in 10 s and 0.3 GB in parts of 1000 to 6000
operations, and in 87 s and 1.8 GB in one piece; the code in parts is a fifth shorter and needs a third
less time. Within that range 2000 is as fast as any on a PC. On a Cortex-M7 shorter parts are better: for a
quadruped's derivatives (4600 operations), parts of 2000 save 13 per cent of the instructions and parts of
1000 save 14 per cent, for 0.6 KB more stack.
"""

_INFIX: Final[Mapping[str, tuple[str, int]]] = {
    "add": ("+", SUM),
    "sub": ("-", SUM),
    "mul": ("*", PRODUCT),
    "div": ("/", PRODUCT),
}


@dataclass(frozen=True)
class Sincos:
    """The built-in sine and cosine, which is called once for all angles of a function."""

    prefix: str
    """The prefix of its C functions."""
    block: int | None
    """The number of angles that its `_n` form takes at once, or None to call it for one angle at a time."""
    lanes: bool = False
    """Whether values are vectors; the `_v` form then takes any number of them."""


@dataclass(frozen=True)
class Style:
    """The style of statements."""

    real: Real
    """The type of numbers."""
    value_type: str
    """The C type of one value."""
    functions: Mapping[str, str]
    """The C functions of sqrt, sin, cos and abs, those of kernels, and for vectors also of sign and
    choices."""
    sincos: Sincos | None = None
    """The built-in sine and cosine, called instead of sin and cos."""
    nesting: int = 1
    """The largest number of levels, inside one statement, of operations that are used once."""
    constant: str = "{}"
    """The format that turns a literal into a value."""
    element: Callable[[str, int], str] = C.element
    """The text that reads and writes an element of an input or output."""
    store: str = "{} = {};"
    """The format that writes a value to a place."""
    memset: bool = False
    """Whether memset writes neighbouring zeros of outputs."""
    address: Address = lambda _, position: position
    """The place of an element in its array; it decides which zeros are neighbours."""
    language: Language = C
    longest: int = LONGEST_PART
    """The largest number of operations that are printed as one piece."""

    def zeros(self, graph: Graph) -> list[Zeros]:
        """The zeros that memset writes."""
        return zeros_of(graph, self.address, self.language.fewest_zeros) if self.memset else []


class Element(NamedTuple):
    """An element of an array from which a value can be read or to which it is written."""

    array: str
    position: int


class Target(NamedTuple):
    """A place to which a value is written, or only a part of the value if `part` is given, such as `[2]`."""

    place: str
    part: str = ""


def scalar_style(
    real: Real,
    sincos: Sincos | None = None,
    nesting: int = 1,
    *,
    memset: bool = False,
    kernels: Mapping[str, str] = MappingProxyType({}),
) -> Style:
    """Plain C with values of type `real`. `kernels` has the C functions of c/ROBOT_math.h."""
    functions = {"sqrt": real.sqrt, "sin": real.sin, "cos": real.cos, "abs": real.fabs, **kernels}
    return Style(real, real.name, functions, sincos, nesting, memset=memset)


def print_statements(graph: Graph, style: Style) -> tuple[str, ...]:
    """The body of the function that `graph` describes, one statement per line; every output is written.

    Raises:
        EmitError: the name of an argument is not an identifier or is that of a local variable, a constant
            does not fit the type, or the built-in sine is needed for an angle that depends on another sine.
    """
    return tuple(printed(graph, style).text)


def printed(graph: Graph, style: Style) -> Printer:
    """The printer that has printed all statements of a graph; errors are those of `print_statements`."""
    check_arguments(graph)
    trigonometry = trigonometry_of(graph, builtin=style.sincos is not None)
    rest = other_nodes(graph, trigonometry)
    nodes = [*trigonometry.first, *trigonometry.calls, *rest]
    zeros = style.zeros(graph)
    printer = Printer(graph, style, nodes, written(graph, zeros), readable(graph, trigonometry))
    printer.print_first(zeros, trigonometry)
    printer.print(rest)
    return printer


def check_arguments(graph: Graph) -> None:
    """Raise `EmitError` if the name of an argument is not an identifier or is that of a local variable."""
    for name in (*(x.name for x in graph.inputs), *(x.name for x in graph.outputs)):
        if is_a_variable(check_identifier(name)):
            raise EmitError(f"an argument named '{name}' would hide a local variable; rename it")


def readable(graph: Graph, trigonometry: Trigonometry) -> dict[int, Element]:
    """The elements from which inputs, and the results of `sincos`, can be read, by their nodes."""
    places = {
        index: Element(*graph.input_element(int(node.value)))
        for index, node in enumerate(graph.nodes)
        if node.op == "input"
    }
    for index in trigonometry.calls if trigonometry.angles else ():
        op, (angle,), _ = graph.nodes[index]
        places[index] = Element(SINES if op == "sin" else COSINES, trigonometry.angles[angle])
    return places


def written(graph: Graph, zeros: Iterable[Zeros]) -> dict[int, list[Element]]:
    """The output elements in which each node is stored, without those in `zeros`."""
    done = {Element(array, position) for array, positions in zeros for position in positions}
    stores: dict[int, list[Element]] = {}
    for output in graph.outputs:
        for position, element in enumerate(output.elements):
            if (at := Element(output.name, position)) not in done:
                stores.setdefault(element, []).append(at)
    return stores


class Printer:
    """Prints some of a graph's nodes as the statements of one scope.

    Every call appends to `text`, and to `scratch` the declarations of arrays that the language puts before
    all statements. The sets `read` and `stored` hold the arrays whose elements the text names.
    """

    def __init__(
        self,
        graph: Graph,
        style: Style,
        nodes: Sequence[int],
        stores: Mapping[int, Sequence[Element]],
        places: Mapping[int, Element],
    ) -> None:
        """Prepare to print.

        Args:
            graph: the graph.
            style: how statements look.
            nodes: all nodes that will be printed; each of them is needed here or stored.
            stores: the elements to which values are written.
            places: the elements from which the values of other nodes, such as inputs, can be read.
        """
        self._graph = graph
        self._style = style
        self._stores = stores
        self._places = places
        self._uses = _uses(graph, nodes, stores)
        self._expressions: dict[int, Expression] = {}
        self.text: list[str] = []
        self.scratch: list[str] = []
        self.read: set[str] = set()
        self.stored: set[str] = set()

    def print(self, indices: Iterable[int]) -> None:
        """Print one statement for every node that is used and not nested in another statement."""
        for index in indices:
            if self._uses[index]:  # C compilers warn of a variable that nothing reads
                self._print_node(index)

    def print_first(self, zeros: Iterable[Zeros], trigonometry: Trigonometry) -> None:
        """Print the zeros, then the angles, then their sines and cosines."""
        for array, positions in zeros:
            first = self._element(Element(array, positions[0]))
            self.text.append(self._style.language.zeros(first, self._array(array), len(positions)))
        self.print(trigonometry.first)
        if trigonometry.angles and self._style.sincos is not None:
            self._print_sincos(self._style.sincos, trigonometry.angles)
        self.print(trigonometry.calls)

    def _element(self, element: Element) -> str:
        if element.array in LOCAL_ARRAYS:
            return f"{element.array}[{element.position}]"
        return self._style.element(*element)

    def _print_node(self, index: int) -> None:
        expression = self._expression(index)
        uses = self._uses[index]
        stores = self._stores.get(index, ())
        targets = [target for store in stores for target in self._targets(index, store)]
        self.stored.update(store.array for store in stores)
        label = self._graph.labels.get(index)
        inner = uses == 1 and not targets and label is None and expression.depth <= self._style.nesting
        call = self._graph.nodes[index].op in TRIGONOMETRY
        if expression.depth == 0 or (inner and not call):
            self._expressions[index] = expression
        elif uses == len(targets) == 1:
            self._put(self._style.store.format(targets.pop().place, expression.text), label)
        else:
            variable = self._style.language.variable(self._type(index), f"t{index}", expression.text)
            self._put(variable, label)
            self._expressions[index] = Expression(f"t{index}", ATOM, 0)
        value = self._expressions[index].text if targets else ""
        self.text.extend(
            self._style.store.format(target.place, f"{value}{target.part}") for target in targets
        )

    def _type(self, index: int) -> str:
        """The C type of a node's value."""
        del index
        return self._style.value_type

    def _array(self, name: str) -> str:
        """The C name of an array of the graph."""
        return name

    def _is_vector(self, index: int) -> bool:
        """Whether a value is a vector although the style's values are numbers."""
        del index
        return False

    def _targets(self, index: int, store: Element) -> list[Target]:
        """The places to which the value of a node is written."""
        del index
        return [Target(self._element(store))]

    def _put(self, statement: str, label: str | None) -> None:
        self.text.append(statement if label is None else f"{statement} /* {comment_text(label)} */")

    def _leaf(self, index: int) -> Expression | None:
        """The expression of a constant or an element of an array, which needs no statement; else None."""
        if (place := self._places.get(index)) is not None:
            self.read.add(place.array)
            return Expression(self._element(place), ATOM, 0)
        op, _, value = self._graph.nodes[index]
        if op == "const":
            text = self._style.constant.format(literal(value, self._style.real.name))
            return Expression(text, UNARY if text.startswith("-") else ATOM, 0)
        return None

    def _operand(self, index: int) -> Expression:
        return self._leaf(index) or self._expressions[index]

    def _expression(self, index: int) -> Expression:
        if (leaf := self._leaf(index)) is not None:
            return leaf
        op, args, _ = self._graph.nodes[index]
        operands = [self._operand(argument) for argument in args]
        depth = 1 + max(operand.depth for operand in operands)
        if op in _INFIX:
            sign, precedence = _INFIX[op]
            return Expression(infix(operands[0], sign, operands[1], precedence), precedence, depth)
        if op in CHOICES and op not in self._style.functions:
            chosen = self._style.language.choice(op, f"pair{index}", self._style.real.name, operands)
            self.text += chosen.first
            return chosen.expression
        operand = operands[0]
        if op == "neg":
            return Expression(f"-{within(operand, UNARY, signed=False)}", UNARY, depth)
        if op == "sign" and op not in self._style.functions and not self._is_vector(index):
            return self._style.language.sign(operand, self._style.real.name)
        if op == "sq":  # its operand counts as used twice, so it is never nested and its text is short
            return Expression(infix(operand, "*", operand, PRODUCT), PRODUCT, depth)
        return Expression(self._function(op, index, operands), ATOM, depth)

    def _function(self, op: str, index: int, operands: Sequence[Expression]) -> str:
        """The call of a function."""
        del index
        return f"{self._style.functions[op]}({', '.join(operand.text for operand in operands)})"

    def _numbers(self, index: int) -> list[str]:
        """The numbers of which a value consists."""
        return [self._operand(index).text]

    def _print_sincos(self, sincos: Sincos, angles: Mapping[int, int]) -> None:
        texts = [text for index in angles for text in self._numbers(index)]
        kind, count = self._style.value_type, len(texts)
        if not sincos.lanes and sincos.block is None:
            sines = self._style.language.sines(kind, sincos.prefix, texts)
            self.scratch += sines.scratch
            self.text += sines.statements
            return
        if sincos.block is not None:
            texts += ["0"] * (sincos.block - count)
        size = len(texts)
        self.text.append(f"const {kind} {ANGLES}[{size}] = {{{', '.join(texts)}}};")
        self.text.append(f"{kind} {SINES}[{size}], {COSINES}[{size}];")
        if sincos.lanes:
            self.text.append(f"{sincos.prefix}_sincos_v({count}, {ANGLES}, {SINES}, {COSINES});")
        else:
            self.text.append(f"{sincos.prefix}_sincos_n({ANGLES}, {SINES}, {COSINES});")


def _uses(graph: Graph, nodes: Iterable[int], stores: Mapping[int, Sequence[Element]]) -> Counter[int]:
    """Count the reads and stores of each node by `nodes`. An argument that the text of an operation repeats
    counts as read twice.
    """
    uses: Counter[int] = Counter()
    for index in nodes:
        op, args, _ = graph.nodes[index]
        uses[index] += len(stores.get(index, ()))
        for argument in args:
            uses[argument] += 2 if op in REPEATED else 1
    return uses
