"""The intermediate representation: a straight line of scalar operations.

The grammar is

    graph  ::= inputs, node*, outputs            nodes are in the order of evaluation
    node   ::= (op, arguments, value)            arguments are indices of earlier nodes
    op     ::= const                 0 arguments, value is a finite float
             | input                 0 arguments, value is the flat position: see `Graph.inputs`
             | add sub mul div       2 arguments
             | neg sq sqrt sin cos   1 argument   (sq(x) = x * x)
             | join turn             1 argument   of a value with lanes: see below
             | lane                  2 arguments  the number in the lane of a constant index: see below
             | beside                an argument for each lane: see below
             | abs                   1 argument
             | max min               2 arguments  max(x, y) is x if x > y or if x is NaN, else y; min likewise
             | select select_le      4 arguments  a b x y: x if a < b, or if a <= b, else y
             | exp log tanh          1 argument
             | asin acos tan         1 argument
             | hypot                 2 arguments  sqrt(x^2 + y^2) without overflow
             | atan2                 2 arguments  atan2(y, x) is the angle of the point (x, y)
             | held                  1 argument   x, whose derivatives are 0; final graphs have none
             | sign                  1 argument   (x > 0) - (x < 0) + 0 x: 0 at 0, NaN of NaN and infinity
    output ::= name, shape, one node index per element, row-major

Elements of an input may have `lanes`: one number for each of several alike limbs. A value that is computed
from such elements has as many lanes, and each lane is computed on its own. All other values are one number,
the same for all lanes. `join` is the sum of a value over its lanes, which is one number. `turn` has in each
lane the value of the next lane, and in the last lane that of the first. `lane` is the number that a value has
in one lane, and `beside` has in each lane one of its arguments, which are numbers.

`graph/ops.py` has a row for each operation. A graph is independent of vector widths, number types and
programming languages; the printer of a target adds them. Two nodes with the same (op, arguments, value) are
the same quantity, and a `Builder` makes them one. `labels` gives some nodes the name of the physical quantity
that they hold ("omega[3].x"); labels never change a value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Final, NamedTuple

NUMBERS: Final = ("join", "lane")
"""The operations that make a number of a value with lanes."""


class Node(NamedTuple):
    """One operation. `value` is the constant of `const`, or the flat input position of `input`; otherwise it
    is 0.
    """

    op: str
    args: tuple[int, ...] = ()
    value: float = 0.0


@dataclass(frozen=True)
class Input:
    """A named input array. Its elements take consecutive flat positions, in the order of the arrays."""

    name: str
    size: int
    lanes: int = 1


@dataclass(frozen=True)
class Output:
    """A named output array, with the node of every element, row-major."""

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
        """The number of lanes of values that have lanes; 1 if none has."""
        return max((argument.lanes for argument in self.inputs), default=1)

    def with_lanes(self) -> bytearray:
        """For each node, whether its value has lanes."""
        found = bytearray(len(self.nodes))
        if self.lanes == 1:
            return found
        flat = [argument.lanes > 1 for argument in self.inputs for _ in range(argument.size)]
        for index, (op, args, value) in enumerate(self.nodes):
            if op == "input":
                found[index] = flat[int(value)]
            elif op == "beside":
                found[index] = 1
            elif op not in NUMBERS:
                found[index] = any(found[argument] for argument in args)
        return found

    def needed(self) -> bytearray:
        """For each node, whether an output depends on it."""
        found = bytearray(len(self.nodes))
        for output in self.outputs:
            for element in output.elements:
                found[element] = 1
        for index in range(len(self.nodes) - 1, -1, -1):
            if found[index]:
                for argument in self.nodes[index].args:
                    found[argument] = 1
        return found

    def live(self) -> list[int]:
        """The nodes on which an output depends, in order."""
        return [index for index, needed in enumerate(self.needed()) if needed]

    def input_element(self, position: int) -> tuple[str, int]:
        """The name of the array and the index in it for a flat input position."""
        for argument in self.inputs:
            if position < argument.size:
                return argument.name, position
            position -= argument.size
        raise IndexError(position)
