"""Constants 0 and 1 and cancellation in sums and products, on the edges of a `Builder`.

An edge is the integer 2 * node + sign; sign is 1 if the value of the node is negated, and 0 otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

ZERO: Final = 0
"""The edge of the constant 0."""

ONE: Final = 2
"""The edge of the constant 1."""

SELECTS: Final = ("select", "select_le")

Nodes = Sequence[tuple[Any, ...]]

Chosen = tuple[str, int, int, int, int]
"""A node that selects: its operation and its arguments."""


def uncancelled(nodes: Nodes, a: int, b: int) -> tuple[int, int] | None:
    """The two terms that remain of a + b: x and 0 for (x + y) - y, and x and z for (x + y) + (z - y).

    None if nothing cancels. An example is the trace of a rotated matrix, where terms that are added to one
    diagonal entry are subtracted from another one.
    """
    left, right = nodes[a >> 1], nodes[b >> 1]
    if left[0] == "add":
        x, y = left[1] ^ (a & 1), left[2] ^ (a & 1)
        if b ^ 1 == x:
            return y, ZERO
        if b ^ 1 == y:
            return x, ZERO
    if right[0] == "add":
        z, w = right[1] ^ (b & 1), right[2] ^ (b & 1)
        if a ^ 1 == z:
            return ZERO, w
        if a ^ 1 == w:
            return ZERO, z
        if left[0] == "add":
            if x ^ 1 in (z, w):
                return y, w if x ^ 1 == z else z
            if y ^ 1 in (z, w):
                return x, w if y ^ 1 == z else z
    return None


def undivided(nodes: Nodes, a: int, b: int) -> int | None:
    """The result of d (1 / d), (d x) (1 / d) or d (x (1 / d)), with a and b in either order; None for other
    products.
    """
    left = _undivided(nodes, a, b)
    return _undivided(nodes, b, a) if left is None else left


def _undivided(nodes: Nodes, a: int, b: int) -> int | None:
    op, *operands = nodes[b >> 1]
    if op == "inv":
        divisor = operands[0]
        if a == divisor:
            return ONE
        op, *factors = nodes[a >> 1]
        if op == "mul" and divisor in factors:
            return int(factors[factors[0] == divisor])
    elif op == "mul":
        for factor, other in (operands, operands[::-1]):
            if nodes[factor >> 1] == ("inv", a):
                return int(other)
    return None


def chosen_sum(nodes: Nodes, a: int, b: int) -> Chosen | None:
    """select(c, x, 0) + select(c, 0, y) as select(c, x, y), in either order; None for other sums."""
    left, right = nodes[a >> 1], nodes[b >> 1]
    if left[0] not in SELECTS or left[:3] != right[:3]:
        return None
    (x, y), (z, w) = (
        [value if value == ZERO else value ^ (edge & 1) for value in node[3:]]
        for node, edge in ((left, a), (right, b))
    )
    if y == z == ZERO:
        return (*left[:3], x, w)
    return (*left[:3], z, y) if x == w == ZERO else None
