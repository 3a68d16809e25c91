"""A list schedule from the front: the longest path to a result first, while registers last."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heappop, heappush

from rbdgen.graph.node import Graph


def forwards(graph: Graph, registers: int, latency: Callable[[str], int]) -> list[int]:
    """The indices of the nodes in an order that fills the program from its front.

    Among the nodes whose arguments are known, it takes the one with the longest path to a result, so that
    long chains of dependent operations begin early and overlap. Once as many values are live as there are
    registers, it takes the node that leaves the fewest of them. Constants and inputs come first, as they
    were.

    Args:
        graph: the graph.
        registers: the number of values from which on registers are short.
        latency: the cycles of an operation.
    """
    operands, readers = operands_and_readers(graph)
    paths = [0] * len(operands)
    for index in reversed(range(len(operands))):
        if graph.nodes[index].args:
            below = max((paths[reader] for reader in readers[index]), default=0)
            paths[index] = below + latency(graph.nodes[index].op)
    unread = [len(them) for them in readers]
    unknown = [len(them) for them in operands]

    def added(node: int) -> int:
        """The number of live values that the node adds."""
        return bool(readers[node]) - sum(unread[operand] == 1 for operand in operands[node])

    ready = [index for index, node in enumerate(graph.nodes) if node.args and not operands[index]]
    longest = [(-paths[index], index) for index in ready]
    fewest = [(added(index), -paths[index], index) for index in ready]
    heapify(longest)
    heapify(fewest)
    order = [index for index, node in enumerate(graph.nodes) if not node.args]
    placed, live = bytearray(len(operands)), 0
    while len(order) < len(operands):
        index = heappop(longest)[-1] if live < registers else heappop(fewest)[-1]
        if placed[index]:
            continue
        placed[index] = 1
        order.append(index)
        live += added(index)
        for operand in operands[index]:
            unread[operand] -= 1
            if unread[operand] == 1:  # its last reader now frees a register
                for reader in readers[operand]:
                    if not placed[reader] and not unknown[reader]:
                        heappush(fewest, (added(reader), -paths[reader], reader))
        for reader in readers[index]:
            unknown[reader] -= 1
            if not unknown[reader]:
                heappush(longest, (-paths[reader], reader))
                heappush(fewest, (added(reader), -paths[reader], reader))
    return order


def operands_and_readers(graph: Graph) -> tuple[list[list[int]], list[list[int]]]:
    """For each node, the operations that it reads, and those that read it, each once."""
    operands: list[list[int]] = []
    readers: list[list[int]] = [[] for _ in graph.nodes]
    for index, node in enumerate(graph.nodes):
        operands.append([a for a in dict.fromkeys(node.args) if graph.nodes[a].args])
        for operand in operands[index]:
            readers[operand].append(index)
    return operands, readers
