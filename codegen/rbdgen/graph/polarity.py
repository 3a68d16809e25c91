"""Which values to compute with the opposite sign, so that no negation is left over.

With every node of a `Builder` computed as it stands only outputs of negative sign cost a negation. A
value can be computed negated for nothing where it is a difference (b - a for a - b), a product or
quotient with a constant, or where the same holds for one of its operands; each other reader of a
flipped value must be able to take it so. The search looks for such flips, one unwelcome output after
the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

MAX_DEPTH: Final = 24
"""Operands looked through below an output before it is given a negation."""


def choose_flips(
    nodes: Sequence[tuple[Any, ...]],
    constants: Mapping[int, float],
    live: Sequence[int],
    uses: Sequence[int],
    demands: Sequence[int],
) -> set[int]:
    """Nodes to compute negated.

    Args:
        nodes, constants: those of a `Builder`.
        live: the nodes needed, in any order.
        uses: for every node the number of operands and outputs that read it.
        demands: edges whose value is wanted as it is, outputs and arguments of square roots.
    """
    positive = {edge >> 1 for edge in demands if not edge & 1}
    wanted = dict.fromkeys(edge >> 1 for edge in demands if edge & 1)
    wanted = {node: None for node in wanted if node not in positive and node not in constants}
    if not wanted:
        return set()
    search = _Search(nodes, constants, live, uses, settled=positive)
    for node in wanted:
        search.flip(node)
        search.settled.add(node)
    return search.flipped


class _Search:
    def __init__(
        self,
        nodes: Sequence[tuple[Any, ...]],
        constants: Mapping[int, float],
        live: Sequence[int],
        uses: Sequence[int],
        settled: Iterable[int],
    ) -> None:
        self.nodes = nodes
        self.constants = constants
        self.live = live
        self.uses = uses
        self.settled = set(settled)
        self.flipped: set[int] = set()
        self._users: dict[int, list[int]] | None = None
        self._hopeless: set[int] = set()

    def flip(self, node: int) -> bool:
        """Flip a node that an output reads, with what else that takes; False and no change if in vain."""
        self._hopeless = set()
        return node in self.flipped or self._flip(node, None, 0)

    def _flip(self, node: int, reader: int | None, depth: int) -> bool:
        if node in self.settled or node in self.flipped or node in self._hopeless or depth > MAX_DEPTH:
            return False
        if self._readers_accept(node, reader):
            free = self._is_free(node)
            self.flipped.add(node)  # now, so that readers of an operand and of this node see both
            if free or any(self._flip(edge >> 1, node, depth + 1) for edge in self._signed_operands(node)):
                return True
            self.flipped.remove(node)
        self._hopeless.add(node)
        return False

    def _is_free(self, node: int) -> bool:
        """Whether the node can be computed with either sign as its operands are."""
        op, *operands = self.nodes[node]
        if op == "add":
            a, b = operands
            return (
                a >> 1 in self.constants
                or b >> 1 in self.constants
                or ((a >> 1 in self.flipped) != (b >> 1 in self.flipped)) != bool(b & 1)
            )
        if op == "mul":
            return operands[0] >> 1 in self.constants
        return op == "inv" and self.uses[node] != 1  # -1 / a; alone it may become x / a

    def _signed_operands(self, node: int) -> tuple[int, ...]:
        """Operands of which one, flipped, lets the node flip."""
        op, *operands = self.nodes[node]
        return tuple(operands) if op in ("add", "mul", "sin", "inv") else ()

    def _readers_accept(self, node: int, reader: int | None) -> bool:
        if self.uses[node] == 1:
            return True
        return all(user == reader or self._accepts(user, node) for user in self._users_of(node))

    def _accepts(self, user: int, node: int) -> bool:
        """Whether `user` keeps its sign when its operand `node` flips."""
        op, *operands = self.nodes[user]
        if op == "add":
            a, b = operands
            if a >> 1 in self.constants or b >> 1 in self.constants:
                return True
            sign = user in self.flipped
            minus_a = sign ^ ((a >> 1 in self.flipped) ^ (a >> 1 == node))
            minus_b = sign ^ ((b >> 1 in self.flipped) ^ (b >> 1 == node)) ^ bool(b & 1)
            return not (minus_a and minus_b)
        if op == "mul":
            return operands[0] >> 1 in self.constants
        return op in ("sq", "cos") or (op == "inv" and self.uses[user] != 1)

    def _users_of(self, node: int) -> list[int]:
        if self._users is None:
            self._users = {}
            for user in self.live:
                for operand in self.nodes[user][1:]:
                    self._users.setdefault(operand >> 1, []).append(user)
        return self._users.get(node, [])
