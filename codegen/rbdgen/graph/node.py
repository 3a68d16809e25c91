"""The intermediate representation: a straight line of scalar operations.

Grammar
-------
    graph  ::= inputs, node*, outputs            nodes stand in order of evaluation
    node   ::= (op, arguments, value)            arguments are indices of earlier nodes
    op     ::= const                 0 arguments, value is a finite float
             | input                 0 arguments, value is the flat position: see `Graph.inputs`
             | add sub mul div       2 arguments
             | neg sq sqrt sin cos   1 argument   (sq(x) = x * x)
             | join turn             1 argument   of a value with lanes: see below
             | sign                  1 argument   (x > 0) - (x < 0) + 0 x: 0 at 0, NaN of NaN and infinity
    output ::= name, shape, one node index an element, row-major

Elements of an input may have `lanes`: one number for each of several alike limbs. What is computed from
such a value has as many lanes, each of its own; all other values are one number, the same for every lane;
`join` is the sum over the lanes of a value, one number, and `turn` has in each lane that of the next one, in
the last lane that of the first.

A graph holds no width, no type and no language: the printer of a target adds those. Two nodes with
the same (op, arguments, value) are the same quantity; a `Builder` makes them one. `labels` gives some
nodes the name of the physical quantity they hold ("omega[3].x"); labels never change a value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from types import MappingProxyType
from typing import Final, NamedTuple

ARITY: Final[Mapping[str, int]] = MappingProxyType(
    {
        "const": 0,
        "input": 0,
        "add": 2,
        "sub": 2,
        "mul": 2,
        "div": 2,
        "neg": 1,
        "sq": 1,
        "sqrt": 1,
        "sin": 1,
        "cos": 1,
        "sign": 1,
        "join": 1,
        "turn": 1,
    }
)


class Node(NamedTuple):
    """One operation. `value` is the constant of `const`, the flat input position of `input`, else 0."""

    op: str
    args: tuple[int, ...] = ()
    value: float = 0.0


@dataclass(frozen=True)
class Input:
    """A named input array; its elements take consecutive flat positions, arrays in order."""

    name: str
    size: int
    lanes: int = 1


@dataclass(frozen=True)
class Output:
    """A named output array: the node of every element, row-major."""

    name: str
    shape: tuple[int, ...]
    elements: tuple[int, ...]

    @property
    def size(self) -> int:
        return prod(self.shape)


@dataclass(frozen=True)
class Graph:
    """A function as a straight line of operations; see the grammar above."""

    inputs: tuple[Input, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[Output, ...]
    labels: Mapping[int, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def lanes(self) -> int:
        """Of the values that have some; 1 where none has."""
        return max((argument.lanes for argument in self.inputs), default=1)

    def with_lanes(self) -> bytearray:
        """Whether each node's value has lanes."""
        found = bytearray(len(self.nodes))
        if self.lanes == 1:
            return found
        flat = [argument.lanes > 1 for argument in self.inputs for _ in range(argument.size)]
        for index, (op, args, value) in enumerate(self.nodes):
            if op == "input":
                found[index] = flat[int(value)]
            elif op != "join":
                found[index] = any(found[argument] for argument in args)
        return found

    def input_element(self, position: int) -> tuple[str, int]:
        """Name of the array and index in it of a flat input position."""
        for argument in self.inputs:
            if position < argument.size:
                return argument.name, position
            position -= argument.size
        raise IndexError(position)
