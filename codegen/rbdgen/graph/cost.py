"""Operation counts, read from a graph.

Counting rule: every node that computes is one operation, while constants and inputs are free. 2 x is an
addition (x + x). x x is `sq`, which counts as a multiplication. The sine and the cosine of one angle are two
operations. 1 / x is one division.
"""

from __future__ import annotations

from collections import Counter
from typing import Final, get_args

from rbdgen.graph.node import Graph
from rbdgen.graph.ops import OPS, Column

OPERATIONS: Final = tuple(OPS)
"""The operations that compute: all but `const` and `input`."""

COLUMNS: Final[tuple[Column, ...]] = tuple(column for column in get_args(Column) if column)
"""The columns of tables of counts."""

_NAMED: Final = {
    op
    for op, row in OPS.items()
    if row.column and op not in ("add", "sub", "mul", "sq", "div", "neg", "sqrt", "sin", "cos")
}
"""The operations that the text of a cost names only if there are any."""


class Cost:
    """Operations of a graph: the count of each kind is an attribute of its name, such as `cost.add`."""

    __slots__ = ("counts",)

    def __init__(self, **counts: int) -> None:
        self.counts = {op: counts.pop(op, 0) for op in OPERATIONS}
        if counts:
            raise TypeError(f"no such operations: {', '.join(counts)}")

    def __getattr__(self, op: str) -> int:
        if op not in OPS:  # also while the counts themselves are unpickled
            raise AttributeError(op)
        return self.counts[op]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cost) and self.counts == other.counts

    def __hash__(self) -> int:
        return hash(tuple(self.counts.values()))

    def __repr__(self) -> str:
        return f"Cost({', '.join(f'{op}={count}' for op, count in self.counts.items() if count)})"

    @property
    def total(self) -> int:
        """The number of all operations."""
        return sum(self.counts.values())

    @property
    def additions(self) -> int:
        """The number of additions and subtractions."""
        return self.add + self.sub

    @property
    def multiplications(self) -> int:
        """The number of products and squares."""
        return self.mul + self.sq

    @property
    def trigonometric(self) -> int:
        """The number of sines and cosines."""
        return self.sin + self.cos

    @property
    def work(self) -> int:
        """The sum of the operations, weighted by the time that they take. Passes must not increase it."""
        return sum(count * OPS[op].work for op, count in self.counts.items() if count)

    def in_column(self, column: Column) -> int:
        """The number of operations that tables show in a column."""
        return sum(count for op, count in self.counts.items() if OPS[op].column == column)

    def __add__(self, other: Cost) -> Cost:
        return Cost(**{op: count + other.counts[op] for op, count in self.counts.items()})

    def __mul__(self, times: int) -> Cost:
        return Cost(**{op: count * times for op, count in self.counts.items()})

    def __str__(self) -> str:
        others = (f" + {count} {op}" for op, count in self.counts.items() if count and op in _NAMED)
        return (
            f"{self.total} = {self.multiplications} mul + {self.additions} add + {self.div} div"
            f" + {self.neg} neg + {self.sqrt} sqrt + {self.trigonometric} trig{''.join(others)}"
        )


def cost(graph: Graph) -> Cost:
    """The counts of all nodes of the graph, including those that no output needs."""
    counts = Counter(node.op for node in graph.nodes)
    return Cost(**{op: counts[op] for op in OPERATIONS})


def readers_in_order(graph: Graph) -> list[list[int]]:
    """For every node, the nodes that read it in ascending order, each as often as it reads it."""
    readers: list[list[int]] = [[] for _ in graph.nodes]
    for index, node in enumerate(graph.nodes):
        for argument in node.args:
            readers[argument].append(index)
    return readers


def last_uses(graph: Graph) -> list[int]:
    """For every node, the index of the last node that reads it, or its own index if none does."""
    last = list(range(len(graph.nodes)))
    for index, node in enumerate(graph.nodes):
        for argument in node.args:
            last[argument] = index
    return last


def live_counts(graph: Graph) -> list[int]:
    """For every node, the number of computed values that are still to be read after it is evaluated.

    Constants and inputs do not count, because they can be read again at any time. An output is stored when it
    is computed and stays live only if a later node reads it.
    """
    last = last_uses(graph)
    change = [0] * (len(graph.nodes) + 1)
    for index, node in enumerate(graph.nodes):
        if node.args and last[index] > index:
            change[index] += 1
            change[last[index]] -= 1
    counts = []
    live = 0
    for index in range(len(graph.nodes)):
        live += change[index]
        counts.append(live)
    return counts


def cheaper(graph: Graph, candidate: Graph) -> Graph:
    """The candidate, unless it takes more work than the graph, or equal work and more operations."""
    before, after = cost(graph), cost(candidate)
    return candidate if (after.work, after.total) <= (before.work, before.total) else graph
