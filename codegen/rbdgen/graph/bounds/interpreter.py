"""The interpreter: all operations of one kind that do not depend on each other are bounded at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from rbdgen.errors import GraphError
from rbdgen.graph.bounds.enclosure import Array, Enclosure, Precision, cleaned
from rbdgen.graph.bounds.rotations import Rotated, rotated, rotated_sum
from rbdgen.graph.bounds.rules import RULES
from rbdgen.graph.node import Graph

_MOST_NUMBERS: Final = 2_000_000
"""The number of enclosures that are held at a time; more boxes are bounded one part after the other."""


@dataclass(frozen=True)
class _Group:
    """Nodes with the same operation, of which none depends on another."""

    op: str
    nodes: Array
    arguments: tuple[Array, ...]
    rotations: tuple[Rotated, ...] = ()
    """The parts of the nodes if they are rotated components."""


class Bounder:
    """Bounds the outputs of a graph without lanes over boxes of its inputs.

    The bounds hold for the statements in the order of the graph, and in any other order of operations that do
    not depend on each other, such as that of vectors over states or limbs.
    """

    def __init__(self, graph: Graph) -> None:
        if graph.lanes > 1:
            raise GraphError("a graph with lanes is bounded limb by limb; write out its lanes first")
        self.graph = graph
        self.size = sum(argument.size for argument in graph.inputs)
        live = graph.live()
        self.read = sorted({int(graph.nodes[k].value) for k in live if graph.nodes[k].op == "input"})
        """The flat positions of the inputs that outputs depend on."""
        self._inputs = [(k, int(graph.nodes[k].value)) for k in live if graph.nodes[k].op == "input"]
        constants = [k for k in live if graph.nodes[k].op == "const"]
        self._constants = np.array(constants, int)
        self._values = np.array([graph.nodes[k].value for k in constants], float)
        self._groups = _groups(graph, live)
        self._outputs = np.array([k for output in graph.outputs for k in output.elements], int)

    def read_of(self, name: str) -> list[int]:
        """The elements of an input that outputs depend on."""
        first = 0
        for argument in self.graph.inputs:
            if argument.name == name:
                return [k - first for k in self.read if first <= k < first + argument.size]
            first += argument.size
        raise GraphError(f"the graph has no input {name!r}")

    @property
    def elements(self) -> int:
        """The number of elements of all outputs."""
        return len(self._outputs)

    def bound(self, box: Enclosure, to: Precision) -> Enclosure:
        """The enclosures of all elements of the outputs, (elements, boxes), for inputs (size, boxes)."""
        boxes = box.low.shape[1]
        step = max(1, _MOST_NUMBERS // len(self.graph.nodes))
        with np.errstate(all="ignore"):
            parts = [
                self._bounded(Enclosure(*(x[:, k : k + step] for x in box)), to)
                for k in range(0, boxes, step)
            ]
        return Enclosure(*(np.concatenate(x, axis=1) for x in zip(*parts, strict=True)))

    def _bounded(self, box: Enclosure, to: Precision) -> Enclosure:
        shape = len(self.graph.nodes), box.low.shape[1]
        held = Enclosure(*(np.zeros(shape) for _ in range(3)))
        if self._inputs:
            nodes, places = map(list, zip(*self._inputs, strict=True))
            self._put(held, np.array(nodes), box.taken(np.array(places)))
        values = self._values[:, None]
        error = np.abs(values - values.astype(to.real).astype(float)) + np.zeros((1, shape[1]))
        self._put(held, self._constants, Enclosure(values, values, error))
        for group in self._groups:
            found = RULES[group.op](to, *(held.taken(rows) for rows in group.arguments))
            if group.rotations:
                found = rotated_sum(to, found, *self._rotation(held, group.rotations))
            self._put(held, group.nodes, cleaned(found, to))
        return held.taken(self._outputs)

    def _rotation(
        self, held: Enclosure, rotations: tuple[Rotated, ...]
    ) -> tuple[Enclosure, tuple[Enclosure, ...], Array]:
        """The angles, the parts and the signs of rotated components."""
        cosines, sines, x, y = (np.array([parts[k] for parts in rotations]) for k in range(4))
        angles = np.array([self.graph.nodes[parts.cosine].args[0] for parts in rotations])
        signs = np.array([parts.signs for parts in rotations]).T[:, :, None]
        return held.taken(angles), tuple(map(held.taken, (cosines, sines, x, y))), signs

    @staticmethod
    def _put(held: Enclosure, nodes: Array, found: Enclosure) -> None:
        for array, values in zip(held, found, strict=True):
            array[nodes] = values

    def arrays(self, flat: Array) -> dict[str, Array]:
        """Numbers of all elements of the outputs, in the shapes of the outputs, by name."""
        found: dict[str, Array] = {}
        first = 0
        for output in self.graph.outputs:
            found[output.name] = flat[first : first + output.size].reshape(output.shape)
            first += output.size
        return found


def _groups(graph: Graph, live: list[int]) -> list[_Group]:
    """The nodes that compute, by the length of the longest path to them and by operation."""
    depth = [0] * len(graph.nodes)
    found: dict[tuple[int, str, bool], list[tuple[int, Rotated | None]]] = {}
    for index in live:
        op, args, _ = graph.nodes[index]
        if args:
            # a product of a number with itself is a square
            depth[index] = 1 + max(depth[argument] for argument in args)
            op = "sq" if op == "mul" and args[0] == args[1] else op
            parts = rotated(graph, index)
            found.setdefault((depth[index], op, parts is not None), []).append((index, parts))
    return [_group(op, nodes, graph) for (_, op, _), nodes in sorted(found.items())]


def _group(op: str, nodes: list[tuple[int, Rotated | None]], graph: Graph) -> _Group:
    many = [graph.nodes[k].args for k, _ in nodes]
    count = 1 if op == "sq" else len(many[0])
    arguments = tuple(np.array([args[k] for args in many]) for k in range(count))
    rotations = tuple(parts for _, parts in nodes if parts is not None)
    return _Group(op, np.array([k for k, _ in nodes]), arguments, rotations)


def flat_box(graph: Graph, given: Mapping[str, Enclosure]) -> Enclosure:
    """The enclosures of all inputs in one row each, (size, 1), from those of every array by name."""
    columns: list[Any] = [given[argument.name] for argument in graph.inputs]
    if not columns:
        return Enclosure(*(np.zeros((0, 1)) for _ in range(3)))
    return Enclosure(*(np.concatenate([np.ravel(x[k]) for x in columns])[:, None] for k in range(3)))
