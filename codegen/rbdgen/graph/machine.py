"""An estimate of the time that a processor takes for the operations of a graph in their order.

The pass `schedule` chooses between orders by it.

Four things limit straight-line code on a current processor: the latency of dependent operations, as far as
the window of operations in flight does not hide it; the execution units; the stores of results, one of which
is done in each cycle; and the bytes of instructions, which grow with spilled registers and are fetched slowly
once they exceed the first-level cache. The figures do not belong to a particular processor. In measurements
on x86 processors of 2023 and later they rank orders of one graph well and predict its time within a third.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from heapq import heappop, heappush
from math import ceil
from typing import Final

from rbdgen.graph.cost import readers_in_order
from rbdgen.graph.node import Graph
from rbdgen.graph.ops import OPS


@dataclass(frozen=True)
class Machine:
    """A model of a processor, with latencies in cycles and sizes in bytes."""

    registers: int = 16
    window: int = 320  # operations in flight
    units: int = 2  # for additions; there are as many for multiplications
    add_latency: int = 3
    multiply_latency: int = 4
    divide_latency: int = 13
    reload_latency: int = 7  # from a store to the load that reads it back
    stores_count: bool = False  # whether results are stored one in each cycle, rather than in no time
    operation_bytes: int = 5
    operand_bytes: int = 4  # in addition, for each operand from memory
    store_bytes: int = 9
    cached_bytes: int = 32_000  # code that fits the first-level cache
    cached_rate: float = 32.0  # bytes decoded per cycle from the first level
    streamed_rate: float = 17.0  # and from the second level

    def latency(self, op: str) -> int:
        """The cycles from the start of an operation until its result is known."""
        latencies = {
            "add": self.add_latency,
            "multiply": self.multiply_latency,
            "divide": self.divide_latency,
        }
        return latencies[OPS[op].unit]

    def fetch_rate(self, code_bytes: int) -> float:
        """The bytes of code that are fetched per cycle. The rate falls linearly while the code grows from 3/4
        of the cache to 3/2 of it.
        """
        excess = (code_bytes / self.cached_bytes - 0.75) / 0.75
        return self.cached_rate + (self.streamed_rate - self.cached_rate) * min(1.0, max(0.0, excess))


HOST: Final = Machine()
"""A processor on which runs follow each other, as in batches, so that stores overlap with the next run."""

SINGLE: Final = Machine(stores_count=True)
"""The same processor during a single call."""


def estimated_cycles(graph: Graph, machine: Machine = HOST) -> float:
    """Cycles from the first operation to the last result."""
    reloads, stores = spills(graph, machine.registers)
    sizes = _code_bytes(graph, machine, reloads, stores)
    rate = machine.fetch_rate(sum(sizes))
    ready = [0.0] * len(graph.nodes)
    retired = [0.0] * machine.window  # ring buffer: when the operation one window ago was done
    results = Counter(element for output in graph.outputs for element in output.elements)
    busy: tuple[dict[int, int], dict[int, int]] = ({}, {})
    fetched = 0
    done, written = 0.0, 0
    storing: set[int] = set()
    slot = 0
    units = {op: (busy[row.unit != "add"], machine.latency(op)) for op, row in OPS.items()}
    for index, (op, args, _) in enumerate(graph.nodes):
        if not args:
            continue
        fetched += sizes[index]
        slow = reloads[index]
        known = [ready[x] + machine.reload_latency if x in slow else ready[x] for x in args]
        cycle = ceil(max(fetched / rate, retired[slot], *known))
        unit, latency = units[op]
        while (begun := unit.get(cycle, 0)) >= machine.units:
            cycle += 1
        unit[cycle] = begun + 1
        ready[index] = cycle + latency
        done = max(done, ready[index])
        if machine.stores_count and index in results:
            for _ in range(results[index]):
                cycle = int(ready[index])
                while cycle in storing:
                    cycle += 1
                storing.add(cycle)
                written = max(written, cycle + 1)
        retired[slot] = done
        slot = slot + 1 if slot + 1 < machine.window else 0
    return max(done, written)


def spills(graph: Graph, registers: int) -> tuple[list[tuple[int, ...]], list[int]]:
    """The memory traffic if the value whose next use is furthest ahead always leaves its register (Belady).

    Returns:
        For every node, the arguments it must reload, and the number of values stored to make room for it.
    """
    readers = readers_in_order(graph)
    position = [0] * len(graph.nodes)
    held: set[int] = set()
    stored: set[int] = set()
    furthest: list[tuple[int, int]] = []  # heap of (-next reader, node), including stale entries
    reloads: list[tuple[int, ...]] = [()] * len(graph.nodes)
    stores = [0] * len(graph.nodes)
    computed = [bool(node.args) for node in graph.nodes]

    def next_reader(node: int, now: int) -> int | None:
        own, at = readers[node], position[node]
        while at < len(own) and own[at] <= now:
            at += 1
        position[node] = at
        return own[at] if at < len(own) else None

    for index, (_, args, _) in enumerate(graph.nodes):
        if not args:
            continue
        operands = [argument for argument in dict.fromkeys(args) if computed[argument]]
        reloads[index] = tuple([argument for argument in operands if argument not in held])
        stored.update(reloads[index])
        for node in (*operands, index):
            reader = next_reader(node, index)
            if reader is None:
                held.discard(node)
            else:
                held.add(node)
                heappush(furthest, (-reader, node))
        while len(held) > registers:
            reader, node = heappop(furthest)
            if node in held and next_reader(node, index) == -reader:
                held.remove(node)
                stores[index] += node not in stored
                stored.add(node)
    return reloads, stores


def _code_bytes(
    graph: Graph, machine: Machine, reloads: list[tuple[int, ...]], stores: list[int]
) -> list[int]:
    sizes = [0] * len(graph.nodes)
    given = [not node.args for node in graph.nodes]
    for index, (_, args, _) in enumerate(graph.nodes):
        if args:
            from_memory = len(reloads[index]) + sum([given[argument] for argument in args])
            sizes[index] = (
                machine.operation_bytes
                + machine.operand_bytes * from_memory
                + machine.store_bytes * stores[index]
            )
    for output in graph.outputs:
        for element in output.elements:
            if graph.nodes[element].args:
                sizes[element] += machine.store_bytes
    return sizes
