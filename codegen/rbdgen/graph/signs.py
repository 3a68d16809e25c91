"""Which values to compute with the opposite sign, so that few negations are left over.

A node of a `Builder` stands for a value and its opposite. Each node's rule, `_Signs.valid`, ties the sign
it is computed with to the signs of its operands. Some nodes are free: a difference can be a - b or b - a,
a product or sum with a constant can carry either sign. Others follow their operands: a product has the
sign of its factors. The search starts from the signs as written; where an output wants the other sign,
the free nodes below it are turned, one at a time, the change runs upwards to what reads them, and it
stays if fewer outputs need a negation than before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from heapq import heappop, heappush
from typing import Any, Final

ODD: Final = ("sin", "sign")
"""Functions with f(-x) = -f(x)."""

MAX_PATHS: Final = 12
"""Ways to turn an output that are looked at."""

MAX_REACH: Final = 60
"""Nodes a turn may run through."""


def choose_flips(
    nodes: Sequence[tuple[Any, ...]],
    constants: Mapping[int, float],
    written_negative: set[int],
    live: Sequence[int],
    joined: set[int],
    demands: Iterable[int],
) -> set[int]:
    """Nodes to compute negated.

    Args:
        nodes, constants, written_negative: those of a `Builder`.
        live: the nodes needed, operands first.
        joined: reciprocals that become the division of the one product reading them.
        demands: edges whose sign is fixed: outputs and arguments of square roots.
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
    """The nodes computed negated; every node is valid between two turns."""

    def __init__(
        self, nodes: Sequence[tuple[Any, ...]], constants: Mapping[int, float], joined: set[int]
    ) -> None:
        self.nodes = nodes
        self.constants = constants
        self.joined = joined
        self.flipped: set[int] = set()
        self._readers: dict[int, list[int]] = {}

    def start(self, live: Sequence[int], written_negative: set[int]) -> None:
        """Give each free node the sign it was first written with."""
        for node in live:
            if not self.valid(node) or (node in written_negative and self._is_free(node)):
                self.flipped.add(node)

    def improve(self, live: Sequence[int], wanted: Mapping[int, bool]) -> None:
        """Turn free nodes while that brings more of the wanted nodes to the sign wanted."""
        for reader in live:
            for edge in self.nodes[reader][1:]:
                self._readers.setdefault(edge >> 1, []).append(reader)
        progress = True
        while progress:
            progress = False
            for node, negated in wanted.items():
                if (node in self.flipped) != negated:
                    progress |= any(self._turn(path, wanted) for path in self._paths_below(node))

    def valid(self, node: int) -> bool:
        """Whether the node can be computed with its sign from operands with theirs."""
        op, *edges = self.nodes[node]
        flipped = self.flipped
        if op == "add":
            a, b = edges[0] >> 1, edges[1] >> 1
            if a in self.constants or b in self.constants:
                return True
            minus_a = (node in flipped) ^ (a in flipped)
            minus_b = (node in flipped) ^ (b in flipped) ^ bool(edges[1] & 1)
            return not (minus_a and minus_b)
        if op == "mul":
            a, b = edges[0] >> 1, edges[1] >> 1
            return a in self.constants or (node in flipped) == ((a in flipped) != (b in flipped))
        if op == "inv":
            return node not in self.joined or (node in flipped) == (edges[0] >> 1 in flipped)
        if op in ODD:
            return (node in flipped) == (edges[0] >> 1 in flipped)
        return node not in flipped

    def _is_free(self, node: int) -> bool:
        self.flipped ^= {node}
        free = self.valid(node)
        self.flipped ^= {node}
        return free

    def _paths_below(self, node: int) -> list[list[int]]:
        """Ways up to the node from the nearest free nodes below it."""
        paths = [[node]]
        seen = {node}
        for path in paths:
            candidate = path[0]
            if self.nodes[candidate][0] in ("add", "mul", "inv", *ODD) and not self._is_free(candidate):
                operands = dict.fromkeys(edge >> 1 for edge in self.nodes[candidate][1:])
                paths += [[operand, *path] for operand in operands if operand not in seen]
                seen.update(operands)
            if len(paths) > MAX_PATHS:
                break
        return [path for path in paths if self._is_free(path[0])]

    def _turn(self, path: Sequence[int], wanted: Mapping[int, bool]) -> bool:
        """Flip the nodes of a path, upwards, and all that must follow; taken back if nothing is gained."""
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
        gain = sum(
            (1 if (node in self.flipped) == wanted[node] else -1)
            for node, times in Counter(turned).items()
            if node in wanted and times % 2
        )
        if gain > 0 and len(turned) < MAX_REACH:
            return True
        for node in turned:
            self.flipped ^= {node}
        return False

    def _flip_upwards(self, free: int, turned: list[int]) -> None:
        """Flip a free node and the readers that must follow; appends them to `turned`."""
        queue = [free]
        previous = -1
        while queue and len(turned) < MAX_REACH:
            node = heappop(queue)
            if node != previous and (node == free or not self.valid(node)):
                self.flipped ^= {node}
                turned.append(node)
                for reader in self._readers.get(node, ()):
                    heappush(queue, reader)
            previous = node
