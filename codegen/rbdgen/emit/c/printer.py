"""A scheduled graph as C statements.

One operation a statement, in the graph's order, except that a single-use operation may stand inside its
consumer (`nesting` levels deep): `t9 = t3 * t7 + t5`. C evaluates such an expression exactly as the separate
statements, so with -ffp-contract=off the results are the same to the bit whatever the nesting.

The text holds no width: `value_type` is the type of one value, a scalar today.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from rbdgen.emit.c.real import Real
from rbdgen.emit.names import check_identifier, comment_text
from rbdgen.emit.numbers import literal
from rbdgen.errors import EmitError
from rbdgen.graph.node import Graph

_LOCAL: Final = re.compile(r"t[0-9]+", re.ASCII)

_INFIX: Final[Mapping[str, tuple[str, int]]] = {"add": ("+", 1), "sub": ("-", 1), "mul": ("*", 2), "div": ("/", 2)}
_ATOM: Final = 4
_UNARY: Final = 3


@dataclass(frozen=True)
class Style:
    """How statements look.

    `value_type` is the C type of one value; `functions` names the C function of sqrt, sin and cos;
    `nesting` is how many levels of single-use operations may stand inside one statement.
    """

    real: Real
    value_type: str
    functions: Mapping[str, str]
    nesting: int = 1


@dataclass(frozen=True)
class _Expression:
    text: str
    precedence: int
    depth: int


def scalar_style(real: Real, nesting: int = 1) -> Style:
    """Plain C: values of type `real`, sine and cosine from the C library."""
    return Style(real, real.name, {"sqrt": real.sqrt, "sin": real.sin, "cos": real.cos}, nesting)


def print_statements(graph: Graph, style: Style) -> tuple[str, ...]:
    """The body of the function that `graph` describes: one line a statement, every output written."""
    for array in (*graph.inputs, *graph.outputs):
        if _LOCAL.fullmatch(check_identifier(array.name)):
            raise EmitError(f"an argument named '{array.name}' would hide a local variable; rename it")
    return _Printer(graph, style).lines()


@dataclass
class _Printer:
    graph: Graph
    style: Style
    expressions: dict[int, _Expression] = field(default_factory=dict)

    def lines(self) -> tuple[str, ...]:
        uses = _uses(self.graph)
        stores = _stores(self.graph)
        lines: list[str] = []
        for index, node in enumerate(self.graph.nodes):
            if uses[index] == 0:
                continue  # dead: a variable nobody reads would be a warning in C
            expression = self._expression(index)
            label = self.graph.labels.get(index)
            targets = stores.get(index, ())
            atom = node.op in ("const", "input")
            inner = uses[index] == 1 and not targets and label is None and expression.depth <= self.style.nesting
            if atom or inner:
                self.expressions[index] = expression
            elif uses[index] == len(targets) == 1:
                lines.append(_statement(f"{targets[0]} = {expression.text};", label))
                continue
            else:
                name = f"t{index}"
                lines.append(_statement(f"const {self.style.value_type} {name} = {expression.text};", label))
                self.expressions[index] = _Expression(name, _ATOM, 0)
            lines.extend(f"{target} = {self.expressions[index].text};" for target in targets)
        return tuple(lines)

    def _expression(self, index: int) -> _Expression:
        node = self.graph.nodes[index]
        if node.op == "const":
            text = literal(node.value, self.style.real.name)
            return _Expression(text, _UNARY if text.startswith("-") else _ATOM, 0)
        if node.op == "input":
            array, element = self.graph.input_element(int(node.value))
            return _Expression(f"{array}[{element}]", _ATOM, 0)
        operands = [self.expressions[argument] for argument in node.args]
        depth = 1 + max(operand.depth for operand in operands)
        if node.op in _INFIX:
            sign, precedence = _INFIX[node.op]
            left, right = operands
            # The right operand keeps its parentheses at equal precedence: C groups from the left, and
            # a + (b + c) is another number than (a + b) + c. A sign never touches another one.
            text = f"{_within(left, precedence)} {sign} {_within(right, precedence + 1, signed=False)}"
            return _Expression(text, precedence, depth)
        (operand,) = operands
        if node.op == "neg":
            return _Expression(f"-{_within(operand, _UNARY, signed=False)}", _UNARY, depth)
        if node.op == "sq":  # read twice, so never a nested operation: repeating its text costs nothing
            return _Expression(f"{_within(operand, 2)} * {_within(operand, 3, signed=False)}", 2, depth)
        return _Expression(f"{self.style.functions[node.op]}({operand.text})", _ATOM, depth)


def _within(operand: _Expression, precedence: int, *, signed: bool = True) -> str:
    """The operand's text, in parentheses where it binds less tightly than `precedence` or may not show a sign."""
    bare = operand.precedence >= precedence and (signed or not operand.text.startswith("-"))
    return operand.text if bare else f"({operand.text})"


def _statement(text: str, label: str | None) -> str:
    return text if label is None else f"{text} /* {comment_text(label)} */"


def _uses(graph: Graph) -> list[int]:
    """How many times each node is read by live nodes and outputs; 0 means dead. `sq` reads its argument twice."""
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


def _stores(graph: Graph) -> dict[int, list[str]]:
    """The output elements that each node is stored in."""
    stores: dict[int, list[str]] = {}
    for output in graph.outputs:
        for position, element in enumerate(output.elements):
            stores.setdefault(element, []).append(f"{output.name}[{position}]")
    return stores
