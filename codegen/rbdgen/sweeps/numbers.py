"""The numbers of a traced graph: the places where they are stored, and their values in a run of a loop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from rbdgen.access import Access, element
from rbdgen.errors import GraphError
from rbdgen.graph.node import Graph
from rbdgen.spatial.scalar import Scalar, add, is_zero, mul, neg, sub
from rbdgen.sweeps.freedoms import FreedomLanes
from rbdgen.sweeps.sweep import INPUTS

ARITHMETIC: Final[Mapping[str, Callable[..., Scalar]]] = {
    "add": add,
    "sub": sub,
    "mul": mul,
    "neg": neg,
    "sq": lambda x: mul(x, x),
    "div": lambda x, y: x / y,
}
"""The operations of a graph on any scalars, in which a 0 stays exact."""

Rows = Mapping[str, Sequence[Sequence[Scalar]]]
"""Tables of constants by name, with a row for each body."""

CONSTANTS: Final = "constants"
"""The table of constants that differ between bodies."""


@dataclass(frozen=True)
class Home:
    """The place of a number: a row of an array, with an element for every degree of freedom."""

    array: str
    row: int
    factor: int = 1
    """The number divided by the one that is stored there."""
    shared: bool = False
    """Whether each row is a single element, which is the same for all degrees of freedom."""


@dataclass(frozen=True)
class Reading:
    """The accesses of a run of a loop to arrays, and the numbers that it computes from them."""

    accesses: Mapping[str, Access]
    """The arrays that the run reads."""
    values: Callable[[Mapping[str, Sequence[Scalar]]], Mapping[int, Scalar]]
    """Computes the value of each node from the arrays that were read."""


@dataclass
class Numbers:
    """The nodes of a graph, computed for the degrees of freedom of joints."""

    graph: Graph
    lanes: FreedomLanes
    rows: Rows
    """The constants for which input arrays of these names stand."""
    places: dict[int, Home] = field(default_factory=dict)
    """The places of stored nodes; it grows while loops are made."""
    constants: dict[int, list[Scalar]] = field(default_factory=dict)
    """The values of nodes that depend on constants alone, for each degree of freedom. `spread` adds them."""
    stored: dict[tuple[Scalar, ...], int] = field(default_factory=dict)
    """The rows of the table `CONSTANTS`, which has those constants that loops read."""

    @property
    def given(self) -> set[int]:
        """The nodes that are constants or that are stored."""
        return {*self.places, *self.constants}

    def source(self, node: int) -> tuple[str, int]:
        """The input array of a node, and the element; ("", 0) if the node is no input."""
        op, _, value = self.graph.nodes[node]
        return self.graph.input_element(int(value)) if op == "input" else ("", 0)

    def is_zero(self, node: int) -> bool:
        """Whether a node is 0 for all degrees of freedom."""
        return node in self.constants and all(map(is_zero, self.constants[node]))

    def spread(self) -> None:
        """Find all nodes that depend on constants alone."""
        for k, (op, args, value) in enumerate(self.graph.nodes):
            array, column = self.source(k)
            if k in self.constants or k in self.places:
                continue
            if op == "const":
                self.constants[k] = [int(value) if value.is_integer() else value] * self.lanes.count
            elif array in self.rows:
                self.constants[k] = [row[column] for row in self.rows[array]]
            elif args and all(x in self.constants for x in args):
                rows = zip(*(self.constants[x] for x in args), strict=True)
                self.constants[k] = [ARITHMETIC[op](*row) for row in rows]

    def read(self, nodes: Iterable[int], runs: Sequence[int] | None = None, prefix: str = "") -> Reading:
        """Make a reading of these nodes for the degrees of freedom of the runs (all, if `runs` is None).

        A node that is not stored is computed from others. `prefix` is put before the names of the arrays.
        """
        found: dict[int, Home | Scalar | None] = {}
        order: list[int] = []

        def visit(node: int) -> None:
            if node in found:
                return
            found[node] = self._found(node)
            if found[node] is None:
                for x in self.graph.nodes[node].args:
                    visit(x)
                order.append(node)

        for node in nodes:
            visit(node)
        rows: dict[tuple[str, bool], list[int]] = {}
        for place in sorted(
            (x for x in found.values() if isinstance(x, Home)), key=lambda x: (x.array, x.row)
        ):
            used = rows.setdefault((place.array, place.shared), [])
            if place.row not in used:
                used.append(place.row)
        accesses = {
            _name(prefix, *key): self._access(*key, used, range(self.lanes.count) if runs is None else runs)
            for key, used in rows.items()
        }

        def values(arrays: Mapping[str, Sequence[Scalar]]) -> dict[int, Scalar]:
            known: dict[int, Scalar] = {}
            for node, own in found.items():
                if isinstance(own, Home):
                    key = own.array, own.shared
                    number = arrays[_name(prefix, *key)][rows[key].index(own.row)]
                    known[node] = mul(own.factor, number)
                elif own is not None:
                    known[node] = own
            for node in order:
                op, args, _ = self.graph.nodes[node]
                known[node] = ARITHMETIC[op](*(known[x] for x in args))
            return known

        return Reading(accesses, values)

    def _found(self, node: int) -> Any:
        """The place of a node, or its value if all degrees of freedom share it. The result is None if the
        node is to be computed from its arguments.
        """
        if node in self.constants:
            values = self.constants[node]
            if len(set(values)) > 1:
                return Home(CONSTANTS, self.stored.setdefault(tuple(values), len(self.stored)))
            return values[0] if values else 0
        if node not in self.places and not self.graph.nodes[node].args:
            array, _ = self.source(node)
            raise GraphError(
                f"lanes over degrees of freedom: a number that is no sum over ancestors needs '{array}'"
            )
        return self.places.get(node)

    def _access(self, array: str, shared: bool, rows: Sequence[int], runs: Sequence[int]) -> Access:
        if shared:
            return Access(array, tuple(rows))
        if array in INPUTS:
            return element(array, (self.lanes.first + k for k in runs))
        return self.lanes.rows(array, rows, runs)

    @property
    def table(self) -> tuple[Scalar, ...]:
        """The numbers of the table `CONSTANTS`."""
        room = [0] * (self.lanes.stride - self.lanes.count)
        return tuple(x for row in self.stored for x in (*row, *room))


def _name(prefix: str, array: str, shared: bool) -> str:
    return array if shared else prefix + array
