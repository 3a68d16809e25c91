"""Which expressions of a xacro are evaluated: those that compute, and none that could run other code.

Python's `eval` cannot be fenced in by taking names away: an attribute such as `__class__` leads from any
number to all of Python, from a function or a comprehension inside the expression as well. Here every part of
an expression is one of those listed, and no name or attribute starts with two underscores.
"""

from __future__ import annotations

import ast
from typing import Any

from rbdgen.description.quoting import quoted

_ALLOWED = (
    *(ast.Expression, ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.Slice, ast.expr_context),
    *(ast.UnaryOp, ast.unaryop, ast.BinOp, ast.operator, ast.BoolOp, ast.boolop, ast.Compare, ast.cmpop),
    *(ast.IfExp, ast.Call, ast.keyword, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Starred),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.comprehension, ast.JoinedStr, ast.FormattedValue),
)
"""No lambda and no generator: they would be objects of Python's own machinery."""


class RefusedExpressionError(Exception):
    """An expression that is not evaluated."""


def evaluate(text: str, symbols: dict[str, Any]) -> Any:
    """The value of an expression over `symbols`, which get an entry that keeps Python's own names out.

    Raises RefusedExpressionError for what does more than compute, and whatever the evaluation raises.
    """
    tree = ast.parse(text.strip(), mode="eval")
    for node in ast.walk(tree):
        if not isinstance(node, _ALLOWED):
            raise RefusedExpressionError(f"{type(node).__name__.lower()} is not allowed in an expression")
        name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
        if name.startswith("__"):
            raise RefusedExpressionError(f"the name {quoted(name)} is not allowed in an expression")
    symbols.update(__builtins__={})
    return eval(compile(tree, "<expression>", "eval"), symbols)
