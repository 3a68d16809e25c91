"""Constant folding: operations on constants are evaluated, and zeros and ones vanish."""

from __future__ import annotations

import math

from rbdgen.graph.node import Graph, Node
from rbdgen.graph.ops import OPS
from rbdgen.graph.passes.rewrite import Rewriting, rewrite


def fold(graph: Graph) -> Graph:
    """Evaluate operations on constants, and simplify x + 0, 1 x, x / 1, 0 x, x - x and -(-x).

    An operation whose value would not be finite (1 / 0, the root of -1) stays as it is.
    """
    return rewrite(graph, _fold_node)


def without_zeros(graph: Graph) -> Graph:
    """Simplify as `fold` does, but do not evaluate operations on constants. Their results would be rounded to
    double here, but to the number type of C in the printed code.
    """
    return rewrite(graph, _simpler_node)


def _simpler_node(out: Rewriting, _: int, node: Node) -> int:
    op, args, value = node
    if op == "const":
        return out.constant(value)
    if op in ("add", "sub", "mul", "div"):
        simpler = _identity(out, op, args, [out.constant_value(argument) for argument in args])
        if simpler is not None:
            return simpler
    return out.put(op, *args, value=value)


def _fold_node(out: Rewriting, _: int, node: Node) -> int:
    op, args, value = node
    if op == "const":
        return out.constant(value)
    operands = [out.constant_value(argument) for argument in args]
    known = [operand for operand in operands if operand is not None]
    if args and len(known) == len(args) and not OPS[op].of_lanes:
        result = _value(op, known)
        if result is not None:
            return out.constant(result)
    elif op in ("add", "sub", "mul", "div"):
        simpler = _identity(out, op, args, operands)
        if simpler is not None:
            return simpler
    elif op == "neg" and out.nodes[args[0]].op == "neg":
        return out.nodes[args[0]].args[0]
    return out.put(op, *args, value=value)


def _value(op: str, operands: list[float]) -> float | None:
    """The operation on numbers; None if the value is not finite."""
    try:
        result = float(OPS[op].evaluate(*operands))
    except (ArithmeticError, ValueError):
        return None
    return result if math.isfinite(result) else None


def _identity(out: Rewriting, op: str, args: tuple[int, ...], operands: list[float | None]) -> int | None:
    """The result of x + 0, x - 0, 0 - x, x - x, 0 x, 1 x, -1 x, 0 / x or x / 1; None for other operations."""
    (a, b), (x, y) = args, operands
    if op == "add":
        return b if x == 0 else a if y == 0 else None
    if op == "sub":
        if a == b:
            return out.constant(0.0)
        return a if y == 0 else out.put("neg", b) if x == 0 else None
    if x == 0 or (op == "mul" and y == 0):
        return out.constant(0.0)
    if y in (1, -1):
        return a if y == 1 else out.put("neg", a)
    if op == "mul" and x in (1, -1):
        return b if x == 1 else out.put("neg", b)
    return None
