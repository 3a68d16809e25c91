"""Evaluates the expressions of a xacro, and refuses those that could run other code.

To remove names does not make Python's `eval` safe: an attribute such as `__class__` leads from any number to
all of Python, also inside a function or a comprehension. This module therefore accepts only the kinds of
syntax nodes that it lists, and no name or attribute that starts with two underscores. Operations that may
take much time or memory run through `work.py`, which bounds them.
"""

from __future__ import annotations

import ast
from typing import Any, Final

from rbdgen.description.quoting import quoted
from rbdgen.description.work import RefusedExpressionError, Work

_ALLOWED = (
    *(ast.Expression, ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.Slice, ast.expr_context),
    *(ast.UnaryOp, ast.unaryop, ast.BinOp, ast.operator, ast.BoolOp, ast.boolop, ast.Compare, ast.cmpop),
    *(ast.IfExp, ast.Call, ast.keyword, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Starred),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.comprehension, ast.JoinedStr, ast.FormattedValue),
)
"""The syntax nodes that an expression may contain. Lambdas and generators are left out, as their attributes
lead to frames and code objects."""

_MAKING = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.ListComp, ast.SetComp, ast.DictComp, ast.JoinedStr)
"""Nodes that create a value of any size, unless they are the target of an assignment."""

_WORK: Final = "__work"
"""The name of the `Work` object; no expression can contain it, as it starts with two underscores."""

LONGEST: Final = 10_000
"""The longest expression, in letters."""

_STEPS: Final = 10
"""The steps that an expression costs in addition to those of its operations."""


def evaluate(text: str, symbols: dict[str, Any], work: Work | None = None) -> Any:
    """The value of an expression.

    Args:
        text: the expression.
        symbols: the values of its names. Two entries that no expression can name are added to it.
        work: the steps that all expressions of one file share; by default the expression has its own.

    Raises:
        RefusedExpressionError: the expression contains syntax that is not allowed, or takes too many steps.
        Exception: whatever the evaluation raises.
    """
    work = Work() if work is None else work
    work.spend(_STEPS)
    if len(text) > LONGEST:
        raise RefusedExpressionError(f"an expression has more than {LONGEST:,} letters")
    tree = ast.parse(text.strip(), mode="eval")
    for node in ast.walk(tree):
        if not isinstance(node, _ALLOWED):
            raise RefusedExpressionError(f"{type(node).__name__.lower()} is not allowed in an expression")
        name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
        if name.startswith("__"):
            raise RefusedExpressionError(f"the name {quoted(name)} is not allowed in an expression")
    counted = ast.fix_missing_locations(_Counted().visit(tree))
    symbols.update({"__builtins__": {}, _WORK: work})
    return eval(compile(counted, "<expression>", "eval"), symbols)


class _Counted(ast.NodeTransformer):
    """Rewrites an expression so that methods of `Work` carry out its operations and calls."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        assigned = isinstance(getattr(node, "ctx", None), ast.Store)
        return _by("checked", node) if isinstance(node, _MAKING) and not assigned else node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        super().generic_visit(node)
        return _by("binary", ast.Constant(type(node.op).__name__), node.left, node.right)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        super().generic_visit(node)
        called = _by("call", node.func, *node.args)
        called.keywords = node.keywords
        return called

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        super().generic_visit(node)
        node.left = _by("checked", node.left)
        node.comparators = [_by("checked", side) for side in node.comparators]
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        super().generic_visit(node)
        node.iter = _by("each", node.iter)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """Checks the size of a slice, which is a copy, or of an index, which may be any value."""
        super().generic_visit(node)
        if isinstance(node.slice, ast.Slice):
            return _by("checked", node)
        node.slice = _by("checked", node.slice)
        return node

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.AST:
        super().generic_visit(node)
        form = node.format_spec or ast.Constant("")
        value = _by("formatted", node.value, ast.Constant(node.conversion), form)
        return ast.FormattedValue(value, -1, None)


def _by(method: str, *args: Any) -> ast.Call:
    return ast.Call(ast.Attribute(ast.Name(_WORK, ast.Load()), method, ast.Load()), list(args), [])
