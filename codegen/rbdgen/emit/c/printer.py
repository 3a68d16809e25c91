"""A scheduled graph as C statements.

One operation a statement, in the graph's order, except that a single-use operation may stand inside its
consumer (`nesting` levels deep): `t9 = t3 * t7 + t5`. C evaluates such an expression exactly as the separate
statements, so with -ffp-contract=off the results are the same to the bit whatever the nesting.

The text holds no width: `value_type` is the type of one value, a scalar or a vector of one value a state.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from rbdgen.emit.c.real import Real
from rbdgen.emit.names import check_identifier, comment_text
from rbdgen.emit.numbers import literal
from rbdgen.errors import EmitError
from rbdgen.graph.node import Graph, Node

TRIGONOMETRY = ("sin", "cos")
ANGLES, SINES, COSINES = "angle", "sine", "cosine"
_LOCAL: Final = re.compile(rf"t[0-9]+|{ANGLES}|{SINES}|{COSINES}", re.ASCII)

_INFIX: Final[Mapping[str, tuple[str, int]]] = {
    "add": ("+", 1),
    "sub": ("-", 1),
    "mul": ("*", 2),
    "div": ("/", 2),
}
_UNARY: Final = 3
_ATOM: Final = 4


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

    `value_type` is the C type of one value; `functions` names the C function of sqrt, sin and cos; with
    `sincos` the last two are not called; `nesting` is how many levels of single-use operations may stand
    inside one statement; `constant` makes a value of a literal; `element` is how element k of an array is
    read and written.
    """

    real: Real
    value_type: str
    functions: Mapping[str, str]
    sincos: Sincos | None = None
    nesting: int = 1
    constant: str = "{}"
    element: Callable[[str, int], str] = "{}[{}]".format


@dataclass(frozen=True)
class _Expression:
    text: str
    precedence: int
    depth: int


def scalar_style(real: Real, sincos: Sincos | None = None, nesting: int = 1) -> Style:
    """Plain C: values of type `real`."""
    return Style(real, real.name, {"sqrt": real.sqrt, "sin": real.sin, "cos": real.cos}, sincos, nesting)


def print_statements(graph: Graph, style: Style) -> tuple[str, ...]:
    """The body of the function that `graph` describes: one line a statement, every output written.

    Raises:
        EmitError: an argument's name is no identifier or is taken by a local variable, a constant does not
            fit the type, or `sincos` is asked for the sine of an angle that depends on another sine.
    """
    for name in (*(x.name for x in graph.inputs), *(x.name for x in graph.outputs)):
        if _LOCAL.fullmatch(check_identifier(name)):
            raise EmitError(f"an argument named '{name}' would hide a local variable; rename it")
    return _Printer(graph, style).lines()


def live_nodes(graph: Graph) -> Iterator[Node]:
    """The nodes that an output needs: those that are printed."""
    return (node for node, count in zip(graph.nodes, _uses(graph), strict=True) if count)


def angle_nodes(graph: Graph) -> tuple[int, ...]:
    """The nodes whose sine or cosine an output needs, in order, each once."""
    return tuple(dict.fromkeys(node.args[0] for node in live_nodes(graph) if node.op in TRIGONOMETRY))


@dataclass
class _Printer:
    graph: Graph
    style: Style
    expressions: dict[int, _Expression] = field(default_factory=dict)
    angles: dict[int, int] = field(default_factory=dict)
    text: list[str] = field(default_factory=list)

    def lines(self) -> tuple[str, ...]:
        self.uses = _uses(self.graph)
        self.stores = _stores(self.graph, self.style)
        first = self._print_trigonometry()
        self._print(index for index in range(len(self.graph.nodes)) if index not in first)
        return tuple(self.text)

    def _print(self, indices: Iterable[int]) -> None:
        for index in indices:
            if self.uses[index]:  # a variable nobody reads would be a warning in C
                self._print_node(index)

    def _print_node(self, index: int) -> None:
        expression = self._expression(index)
        uses = self.uses[index]
        targets = self.stores.get(index, [])
        label = self.graph.labels.get(index)
        inner = uses == 1 and not targets and label is None and expression.depth <= self.style.nesting
        call = self.graph.nodes[index].op in TRIGONOMETRY
        if expression.depth == 0 or (inner and not call):
            self.expressions[index] = expression
        elif uses == len(targets) == 1:
            self._put(f"{targets.pop()} = {expression.text};", label)
        else:
            self._put(f"const {self.style.value_type} t{index} = {expression.text};", label)
            self.expressions[index] = _Expression(f"t{index}", _ATOM, 0)
        self.text.extend(f"{target} = {self.expressions[index].text};" for target in targets)

    def _put(self, statement: str, label: str | None) -> None:
        self.text.append(statement if label is None else f"{statement} /* {comment_text(label)} */")

    def _expression(self, index: int) -> _Expression:
        op, args, value = self.graph.nodes[index]
        if op == "const":
            text = self.style.constant.format(literal(value, self.style.real.name))
            return _Expression(text, _UNARY if text.startswith("-") else _ATOM, 0)
        if op == "input":
            array, element = self.graph.input_element(int(value))
            return _Expression(self.style.element(array, element), _ATOM, 0)
        if op in TRIGONOMETRY and self.style.sincos is not None:
            if args[0] not in self.angles:
                raise EmitError(
                    f"--trig builtin: node {index} is the {op} of an angle that depends on a sine;"
                    " generate with --trig libm"
                )
            return _Expression(f"{SINES if op == 'sin' else COSINES}[{self.angles[args[0]]}]", _ATOM, 0)
        operands = [self.expressions[argument] for argument in args]
        depth = 1 + max(operand.depth for operand in operands)
        if op in _INFIX:
            sign, precedence = _INFIX[op]
            return _Expression(_infix(operands[0], sign, operands[1], precedence), precedence, depth)
        (operand,) = operands
        if op == "neg":
            return _Expression(f"-{_within(operand, _UNARY, signed=False)}", _UNARY, depth)
        if op == "sq":  # read twice, so never a nested operation: repeating its text costs nothing
            return _Expression(_infix(operand, "*", operand, 2), 2, depth)
        return _Expression(f"{self.style.functions[op]}({operand.text})", _ATOM, depth)

    def _print_trigonometry(self) -> set[int]:
        """Print what the angles need, then their sines and cosines; gives the nodes that are printed then.

        They come first because nothing computed stays in registers across a call of the C library, and so
        that one call of `sincos` serves all angles.
        """
        needed = {angle: _ancestors(self.graph, angle) for angle in angle_nodes(self.graph)}
        plain = {
            angle: ancestors
            for angle, ancestors in needed.items()
            if not any(self.graph.nodes[k].op in TRIGONOMETRY for k in ancestors)
        }
        if not plain:
            return set()
        first: set[int] = set().union(*plain.values())
        self._print(sorted(first))
        if self.style.sincos is not None:
            self.angles = {angle: place for place, angle in enumerate(plain)}
            self._print_sincos(self.style.sincos)
            return first
        calls = [
            k for k, node in enumerate(self.graph.nodes) if node.op in TRIGONOMETRY and node.args[0] in plain
        ]
        self._print(calls)
        return first.union(calls)

    def _print_sincos(self, sincos: Sincos) -> None:
        texts = [self.expressions[index].text for index in self.angles]
        count = len(texts)
        if sincos.block is not None:
            texts += ["0"] * (sincos.block - count)
        kind, size = self.style.value_type, len(texts)
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


def _infix(left: _Expression, sign: str, right: _Expression, precedence: int) -> str:
    """The right operand keeps its parentheses at equal precedence: a + (b + c) is not a + b + c rounded."""
    return f"{_within(left, precedence)} {sign} {_within(right, precedence + 1, signed=False)}"


def _within(operand: _Expression, precedence: int, *, signed: bool = True) -> str:
    """The operand's text, in parentheses where it binds less tightly or may not show a sign."""
    bare = operand.precedence >= precedence and (signed or not operand.text.startswith("-"))
    return operand.text if bare else f"({operand.text})"


def _uses(graph: Graph) -> list[int]:
    """How often live nodes and outputs read each node; 0 means dead. `sq` reads its argument twice."""
    uses = [0] * len(graph.nodes)
    for output in graph.outputs:
        for element in output.elements:
            uses[element] += 1
    for index in range(len(graph.nodes) - 1, -1, -1):
        node = graph.nodes[index]
        if uses[index]:
            for argument in node.args:
                uses[argument] += 2 if node.op == "sq" else 1
    return uses


def _stores(graph: Graph, style: Style) -> dict[int, list[str]]:
    """The output elements that each node is stored in."""
    stores: dict[int, list[str]] = {}
    for output in graph.outputs:
        for position, element in enumerate(output.elements):
            stores.setdefault(element, []).append(style.element(output.name, position))
    return stores


def _ancestors(graph: Graph, index: int) -> set[int]:
    """The node and all that it depends on."""
    found: set[int] = set()
    waiting = [index]
    while waiting:
        current = waiting.pop()
        if current not in found:
            found.add(current)
            waiting.extend(graph.nodes[current].args)
    return found
