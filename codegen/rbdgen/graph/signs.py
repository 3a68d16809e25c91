"""The choice of the values that are computed with the opposite sign, so that few negations remain.

A node of a `Builder` stands for a value and its opposite. The rule of each node, `_Signs._forced`, relates
the sign with which it is computed to the signs of its operands. Some nodes are free: a difference can be a -
b or b - a, and a product or sum with a constant can have either sign. Others follow their operands: a product
has the sign of its factors.

The search starts with the signs as written. If an output wants the other sign, the free nodes below it are
flipped, one at a time. The change propagates upwards to the readers, and it is kept if fewer outputs need a
negation than before.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from heapq import heappop, heappush
from itertools import cycle
from typing import Any, Final

from rbdgen.graph.ops import OPS, named

_ODD: Final = named("odd") | named("first")
_TOGETHER: Final = named("together")

MAX_PATHS: Final = 12
"""The number of ways to flip an output that are tried."""

MAX_REACH: Final = 60
"""The number of nodes through which a flip may propagate."""


def choose_flips(
    nodes: Sequence[tuple[Any, ...]],
    constants: Mapping[int, float],
    written_negative: Set[int],
    live: Sequence[int],
    joined: set[int],
    demands: Iterable[int],
) -> set[int]:
    """The nodes to compute negated.

    Args:
        nodes, constants, written_negative: those of a `Builder`.
        live: the needed nodes, operands first.
        joined: reciprocals that become the division of the only product that reads them.
        demands: edges whose sign is fixed: outputs and arguments of functions such as roots.
    """
    signs = _Signs(nodes, constants, joined)
    if written_negative:
        signs.start(live, written_negative)
    positive = {edge >> 1 for edge in demands if not edge & 1}
    negative = dict.fromkeys(edge >> 1 for edge in demands if edge & 1)
    wanted = {node: False for node in positive if node not in negative}
    wanted |= {node: True for node in negative if node not in positive and node not in constants}
    if any((node in signs.flipped) != negated for node, negated in wanted.items()):
        signs.improve(live, wanted)
    return signs.flipped


class _Signs:
    """The nodes that are computed negated. Between two flips, every node has a sign that its operands
    allow.
    """

    def __init__(
        self, nodes: Sequence[tuple[Any, ...]], constants: Mapping[int, float], joined: set[int]
    ) -> None:
        self.nodes = nodes
        self.constants = constants
        self.joined = joined
        self.flipped: set[int] = set()
        self._readers: Mapping[int, Sequence[int]] = {}
        self._too_far: set[int] = set()  # free nodes whose flip currently propagates through too many nodes

    def start(self, live: Sequence[int], written_negative: Set[int]) -> None:
        """Give each free node the sign it was first written with."""
        for node in live:
            forced = self._forced(node)
            if node in written_negative if forced is None else forced:
                self.flipped.add(node)

    def improve(self, live: Sequence[int], wanted: Mapping[int, bool]) -> None:
        """Flip free nodes as long as this gives more of the wanted nodes the wanted sign."""
        readers: defaultdict[int, list[int]] = defaultdict(list)
        self._readers = readers
        for reader in live:
            for edge in self.nodes[reader][1:]:
                readers[edge >> 1].append(reader)
        tried_in_vain = 0  # since the last flip that gained something
        for node, negated in cycle(wanted.items()):
            if tried_in_vain == len(wanted):
                break
            tried_in_vain += 1
            if (node in self.flipped) != negated and any(
                self._turn(path, wanted) for path in self._paths_below(node)
            ):
                tried_in_vain = 0
                self._too_far.clear()

    def _forced(self, node: int) -> bool | None:
        """Whether the signs of the operands make the node negated; None if it is free."""
        definition, flipped = self.nodes[node], self.flipped
        op = definition[0]
        if op == "mul":
            a = definition[1] >> 1
            return None if a in self.constants else (a in flipped) != (definition[2] >> 1 in flipped)
        if op == "add":
            _, a, b = definition
            if a >> 1 in self.constants or b >> 1 in self.constants:
                return None
            minus_a, minus_b = a >> 1 in flipped, (b >> 1 in flipped) != (b & 1)
            return minus_a if minus_a == minus_b else None
        if op in _TOGETHER:
            values = definition[1 + OPS[op].compared :]
            minus = {
                (edge >> 1 in flipped) != (edge & 1) for edge in values if edge >> 1 not in self.constants
            }
            return minus == {True} if minus else None
        if op in _ODD or node in self.joined:
            return definition[1] >> 1 in flipped
        return None if op == "inv" else False

    def _is_free(self, node: int) -> bool:
        """Whether the node can be flipped from its current sign."""
        forced = self._forced(node)
        return forced is None or forced != (node in self.flipped)

    def _is_wrong(self, node: int) -> bool:
        """Whether the node has a sign that its operands do not allow."""
        forced = self._forced(node)
        return forced is not None and forced != (node in self.flipped)

    def _paths_below(self, node: int) -> list[list[int]]:
        """Paths up to the node from the nearest free nodes below it."""
        paths = [[node]]
        seen = {node}
        for path in paths:
            candidate = path[0]
            if self.nodes[candidate][0] in ("add", "mul", "inv", *_ODD) and not self._is_free(candidate):
                operands = dict.fromkeys(edge >> 1 for edge in self.nodes[candidate][1:])
                paths += [[operand, *path] for operand in operands if operand not in seen]
                seen.update(operands)
            if len(paths) > MAX_PATHS:
                break
        return [path for path in paths if self._is_free(path[0])]

    def _turn(self, path: Sequence[int], wanted: Mapping[int, bool]) -> bool:
        """Flip the nodes of a path, upwards, and all nodes that must follow. Flips without a gain are
        undone.
        """
        if path[0] in self._too_far:
            return False
        target = path[-1]
        aim = target not in self.flipped
        turned: list[int] = []
        for node in path:
            if (target in self.flipped) == aim:
                break
            if node in turned:
                continue
            if not self._is_free(node):
                break
            self._flip_upwards(node, turned)
            if node == path[0] and len(turned) == MAX_REACH:
                self._too_far.add(node)
        gain = sum(
            (1 if (node in self.flipped) == wanted[node] else -1)
            for node, times in Counter(turned).items()
            if node in wanted and times % 2
        )
        if gain > 0 and len(turned) < MAX_REACH:
            return True
        for node in turned:
            self._flip(node)
        return False

    def _flip(self, node: int) -> None:
        if node in self.flipped:
            self.flipped.remove(node)
        else:
            self.flipped.add(node)

    def _flip_upwards(self, free: int, turned: list[int]) -> None:
        """Flip a free node and the readers that must follow, and append them to `turned`."""
        queue = [free]
        previous = -1
        while queue and len(turned) < MAX_REACH:
            node = heappop(queue)
            if node != previous and (node == free or self._is_wrong(node)):
                self._flip(node)
                turned.append(node)
                for reader in self._readers[node]:
                    heappush(queue, reader)
            previous = node
