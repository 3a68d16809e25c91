"""Operation counts, read from a graph.

Counting rule: every node that computes is one operation, while constants and inputs are free. 2 x is an
addition (x + x). x x is `sq`, which counts as a multiplication. The sine and the cosine of one angle are two
operations. 1 / x is one division.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from rbdgen.graph.node import Graph

DIVISION_WORK = 4
"""Work of a division or square root in additions. Its throughput on current processors is at least so much
lower, so that one shared reciprocal for two quotients pays although it is one operation more.
"""

SIGN_WORK = 5
"""Work of a sign in additions: two comparisons, two sums and a product."""

TRIGONOMETRY_WORK = 20
"""Work of a sine or cosine in additions: the operations of a short polynomial and its reduction."""


@dataclass(frozen=True)
class Cost:
    """Operations of a graph, by kind."""

    add: int = 0
    sub: int = 0
    mul: int = 0
    div: int = 0
    neg: int = 0
    sq: int = 0
    sqrt: int = 0
    sin: int = 0
    cos: int = 0
    sign: int = 0
    join: int = 0
    turn: int = 0

    @property
    def total(self) -> int:
        """All operations, each counted once."""
        return sum(getattr(self, kind) for kind in OPERATIONS)

    @property
    def additions(self) -> int:
        """Additions and subtractions."""
        return self.add + self.sub

    @property
    def multiplications(self) -> int:
        """Products and squares."""
        return self.mul + self.sq

    @property
    def trigonometric(self) -> int:
        """Sines and cosines."""
        return self.sin + self.cos

    @property
    def work(self) -> int:
        """Operations weighted by the time that they take. Passes must not increase this measure."""
        return (
            self.total
            + (DIVISION_WORK - 1) * (self.div + self.sqrt)
            + (SIGN_WORK - 1) * self.sign
            + (TRIGONOMETRY_WORK - 1) * self.trigonometric
        )

    def __add__(self, other: Cost) -> Cost:
        return Cost(*(getattr(self, kind.name) + getattr(other, kind.name) for kind in fields(self)))

    def __mul__(self, times: int) -> Cost:
        return Cost(*(getattr(self, kind.name) * times for kind in fields(self)))

    def __str__(self) -> str:
        return (
            f"{self.total} = {self.multiplications} mul + {self.additions} add + {self.div} div"
            f" + {self.neg} neg + {self.sqrt} sqrt + {self.trigonometric} trig"
            + (f" + {self.sign} sign" if self.sign else "")
        )


OPERATIONS: tuple[str, ...] = tuple(kind.name for kind in fields(Cost))
"""The operations that compute, in the order of `Cost`'s fields: all but `const` and `input`."""


def cost(graph: Graph) -> Cost:
    """Counts of all nodes of the graph, including those that no output needs."""
    counts = dict.fromkeys(("const", "input", *OPERATIONS), 0)
    for node in graph.nodes:
        counts[node.op] += 1
    return Cost(*(counts[op] for op in OPERATIONS))


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
