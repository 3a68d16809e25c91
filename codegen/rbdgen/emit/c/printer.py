"""A scheduled graph as C statements.

One operation a statement, in the graph's order, except that a single-use operation may stand inside its
consumer (`nesting` levels deep): `t9 = t3 * t7 + t5`. C evaluates such an expression exactly as the separate
statements, so with -ffp-contract=off the results are the same to the bit whatever the nesting.

The text holds no width: `value_type` is the type of one value, a scalar or a vector of one value a state.
Sines and cosines are computed first: nothing computed stays in registers across a call of the C library, and
one call of `sincos` serves all angles. `emit.c.parts` prints a long graph as several functions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from rbdgen.emit.c.trigonometry import TRIGONOMETRY, Trigonometry, other_nodes, trigonometry_of
from rbdgen.emit.c.zeros import Address, Zeros, zeros_of
from rbdgen.emit.names import check_identifier, comment_text
from rbdgen.emit.numbers import literal
from rbdgen.emit.real import Real
from rbdgen.errors import EmitError
from rbdgen.graph.node import Graph

ANGLES, SINES, COSINES, WORKSPACE, TILES = "angle", "sine", "cosine", "workspace", "tile"
LOCAL_ARRAYS: Final = (ANGLES, SINES, COSINES, WORKSPACE, TILES)
_LOCAL: Final = re.compile("|".join(("t[0-9]+", *LOCAL_ARRAYS)), re.ASCII)

_INFIX: Final[Mapping[str, tuple[str, int]]] = {
    "add": ("+", 1),
    "sub": ("-", 1),
    "mul": ("*", 2),
    "div": ("/", 2),
}
_UNARY: Final = 3
ATOM: Final = 4


@dataclass(frozen=True)
class Sincos:
    """The project's own sine and cosine, called once for all angles of a function.

    `prefix` of its C functions; `block`: how many angles its `_n` form takes at once, None to call the form
    for one angle as often as needed; `lanes`: values are vectors, the `_v` form takes any number of them.
    """

    prefix: str
    block: int | None
    lanes: bool = False


@dataclass(frozen=True)
class Style:
    """How statements look.

    `value_type` is the C type of one value; `functions` names the C function of sqrt, sin and cos, of
    vectors also of sign; with `sincos` sin and cos are not called; `nesting` is how many levels of
    single-use operations may stand inside one statement; `constant` makes a value of a literal; `element`
    is how element k of an input or output is read and written, `store` how a value gets there; with `memset`,
    neighbouring zeros of outputs are written by that, `address` being where in its array an element stands.
    """

    real: Real
    value_type: str
    functions: Mapping[str, str]
    sincos: Sincos | None = None
    nesting: int = 1
    constant: str = "{}"
    element: Callable[[str, int], str] = "{}[{}]".format
    store: str = "{} = {};"
    memset: bool = False
    address: Address = lambda _, position: position

    def zeros(self, graph: Graph) -> list[Zeros]:
        """What `memset` writes."""
        return zeros_of(graph, self.address) if self.memset else []


@dataclass(frozen=True)
class Expression:
    text: str
    precedence: int
    depth: int


class Element(NamedTuple):
    """An element of an array, where a value can be read or is to be written."""

    array: str
    position: int


class Target(NamedTuple):
    """Where a value is written; `part`: follows the value where only a part of it goes there."""

    place: str
    part: str = ""


def scalar_style(
    real: Real, sincos: Sincos | None = None, nesting: int = 1, *, memset: bool = False
) -> Style:
    """Plain C: values of type `real`."""
    functions = {"sqrt": real.sqrt, "sin": real.sin, "cos": real.cos}
    return Style(real, real.name, functions, sincos, nesting, memset=memset)


def print_statements(graph: Graph, style: Style) -> tuple[str, ...]:
    """The body of the function that `graph` describes: one line a statement, every output written.

    Raises:
        EmitError: an argument's name is no identifier or is taken by a local variable, a constant does not
            fit the type, or `sincos` is asked for the sine of an angle that depends on another sine.
    """
    check_arguments(graph)
    trigonometry = trigonometry_of(graph, builtin=style.sincos is not None)
    rest = other_nodes(graph, trigonometry)
    nodes = [*trigonometry.first, *trigonometry.calls, *rest]
    zeros = style.zeros(graph)
    printer = Printer(graph, style, nodes, written(graph, zeros), readable(graph, trigonometry))
    printer.print_first(zeros, trigonometry)
    printer.print(rest)
    return tuple(printer.text)


def check_arguments(graph: Graph) -> None:
    """`EmitError` for an argument whose name is no identifier or that of a local variable."""
    for name in (*(x.name for x in graph.inputs), *(x.name for x in graph.outputs)):
        if _LOCAL.fullmatch(check_identifier(name)):
            raise EmitError(f"an argument named '{name}' would hide a local variable; rename it")


def readable(graph: Graph, trigonometry: Trigonometry) -> dict[int, Element]:
    """Where inputs, and sines and cosines that `sincos` computes, can be read by their nodes."""
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
    """The output elements that each node is stored in, `zeros` left out."""
    done = {Element(array, position) for array, positions in zeros for position in positions}
    stores: dict[int, list[Element]] = {}
    for output in graph.outputs:
        for position, element in enumerate(output.elements):
            if (at := Element(output.name, position)) not in done:
                stores.setdefault(element, []).append(at)
    return stores


class Printer:
    """Prints some of a graph's nodes as the statements of one scope.

    `text` grows by every call; `read`, `stored` are the arrays whose elements stand in it.
    """

    def __init__(
        self,
        graph: Graph,
        style: Style,
        nodes: Sequence[int],
        stores: Mapping[int, Sequence[Element]],
        places: Mapping[int, Element],
    ) -> None:
        """What there is to print and how.

        `nodes`: all that will be printed, each of them needed here or stored; `stores`: where values go;
        `places`: where the values of other nodes, inputs among them, can be read.
        """
        self._graph = graph
        self._style = style
        self._stores = stores
        self._places = places
        self._uses = _uses(graph, nodes, stores)
        self._expressions: dict[int, Expression] = {}
        self.text: list[str] = []
        self.read: set[str] = set()
        self.stored: set[str] = set()

    def print(self, indices: Iterable[int]) -> None:
        """One statement for every node that is not nested in another; none for what nobody reads."""
        for index in indices:
            if self._uses[index]:  # a variable nobody reads would be a warning in C
                self._print_node(index)

    def print_first(self, zeros: Iterable[Zeros], trigonometry: Trigonometry) -> None:
        """The zeros; the angles, then their sines and cosines."""
        for array, positions in zeros:
            first = self._element(Element(array, positions[0]))
            self.text.append(f"memset(&{first}, 0, {len(positions)} * sizeof {self._array(array)}[0]);")
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
            self._put(f"const {self._type(index)} t{index} = {expression.text};", label)
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
        """What an array of the graph is called in C."""
        return name

    def _is_vector(self, index: int) -> bool:
        """Whether a value that is no number in this style."""
        del index
        return False

    def _targets(self, index: int, store: Element) -> list[Target]:
        """Where the value of a node is written."""
        del index
        return [Target(self._element(store))]

    def _put(self, statement: str, label: str | None) -> None:
        self.text.append(statement if label is None else f"{statement} /* {comment_text(label)} */")

    def _leaf(self, index: int) -> Expression | None:
        """What can be written at any time: a constant, an element of an array."""
        if (place := self._places.get(index)) is not None:
            self.read.add(place.array)
            return Expression(self._element(place), ATOM, 0)
        op, _, value = self._graph.nodes[index]
        if op == "const":
            text = self._style.constant.format(literal(value, self._style.real.name))
            return Expression(text, _UNARY if text.startswith("-") else ATOM, 0)
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
            return Expression(_infix(operands[0], sign, operands[1], precedence), precedence, depth)
        (operand,) = operands
        if op == "neg":
            return Expression(f"-{_within(operand, _UNARY, signed=False)}", _UNARY, depth)
        if op == "sign" and op not in self._style.functions and not self._is_vector(index):
            return self._sign(operand)
        if op == "sq":  # read twice, so never a nested operation: repeating its text costs nothing
            return Expression(_infix(operand, "*", operand, 2), 2, depth)
        return Expression(self._function(op, index, operand), ATOM, depth)

    def _function(self, op: str, index: int, operand: Expression) -> str:
        """The call of a function of one operand."""
        del index
        return f"{self._style.functions[op]}({operand.text})"

    def _sign(self, x: Expression) -> Expression:
        """(x > 0) - (x < 0) without a branch, and 0 x for what is no number; `x` is a leaf, as of `sq`."""
        real, zero = self._style.real.name, literal(0.0, self._style.real.name)
        text = _within(x, 2)
        return Expression(
            f"({real})(({text} > {zero}) - ({text} < {zero})) + {zero} * {text}", 1, x.depth + 1
        )

    def _numbers(self, index: int) -> list[str]:
        """The numbers of a value."""
        return [self._operand(index).text]

    def _print_sincos(self, sincos: Sincos, angles: Mapping[int, int]) -> None:
        texts = [text for index in angles for text in self._numbers(index)]
        count = len(texts)
        if sincos.block is not None:
            texts += ["0"] * (sincos.block - count)
        kind, size = self._style.value_type, len(texts)
        self.text.append(f"const {kind} {ANGLES}[{size}] = {{{', '.join(texts)}}};")
        self.text.append(f"{kind} {SINES}[{size}], {COSINES}[{size}];")
        if sincos.lanes:
            self.text.append(f"{sincos.prefix}_sincos_v({count}, {ANGLES}, {SINES}, {COSINES});")
        elif sincos.block is not None:
            self.text.append(f"{sincos.prefix}_sincos_n({ANGLES}, {SINES}, {COSINES});")
        else:
            self.text.extend(
                f"{sincos.prefix}_sincos({ANGLES}[{k}], &{SINES}[{k}], &{COSINES}[{k}]);"
                for k in range(count)
            )


def _infix(left: Expression, sign: str, right: Expression, precedence: int) -> str:
    """The right operand keeps its parentheses at equal precedence: a + (b + c) is not a + b + c rounded."""
    return f"{_within(left, precedence)} {sign} {_within(right, precedence + 1, signed=False)}"


def _within(operand: Expression, precedence: int, *, signed: bool = True) -> str:
    """The operand's text, in parentheses where it binds less tightly or may not show a sign."""
    bare = operand.precedence >= precedence and (signed or not operand.text.startswith("-"))
    return operand.text if bare else f"({operand.text})"


def _uses(graph: Graph, nodes: Iterable[int], stores: Mapping[int, Sequence[Element]]) -> Counter[int]:
    """How often `nodes` read and store each node. `sq` and `sign` read their argument more than once."""
    uses: Counter[int] = Counter()
    for index in nodes:
        op, args, _ = graph.nodes[index]
        uses[index] += len(stores.get(index, ()))
        for argument in args:
            uses[argument] += 2 if op in ("sq", "sign") else 1
    return uses
