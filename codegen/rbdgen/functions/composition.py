"""Compositions: functions of a user's own, which call rows of the table and combine their outputs.

The user's text, a Python function, runs once, on symbols of its inputs and of the outputs of every call. The
operations that it does on them are a graph, with the calls as gaps:

    inputs of the function, outputs of the calls  ->  arguments of the calls, outputs of the function

Such a composition has no robot in it. It is traced on a model by replaying the graph, and by running a form
of the called row wherever the arguments of a call are known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from rbdgen.graph.builder import Builder
from rbdgen.graph.expression import Expr, Number
from rbdgen.graph.node import Graph
from rbdgen.graph.replay import Replay
from rbdgen.signature import Signature

Value: TypeAlias = Expr | Number

Run: TypeAlias = Callable[[str, Sequence[Sequence[Value]]], Sequence[Sequence[Value]]]
"""Runs a row of the table, given its name and the elements of its inputs. Returns those of its outputs."""


@dataclass(frozen=True)
class Call:
    """A call of a row of the table in a composition."""

    function: str
    """The name of the row."""
    sizes: tuple[int, ...]
    """The number of elements of every argument."""
    name: str
    """The name of two arrays of the graph: the input that holds all outputs of the call, and the output that
    holds all its arguments.
    """

    def arguments(self, elements: Sequence[Value]) -> Iterator[Sequence[Value]]:
        """The elements of every argument, from those of all arguments."""
        ends = [sum(self.sizes[:k]) for k in range(len(self.sizes) + 1)]
        return (elements[a:b] for a, b in pairwise(ends))


@dataclass(frozen=True)
class Composition:
    """The graph between calls, and the calls in their order. Unlike the user's text, it can be pickled."""

    signature: Signature
    """The inputs and outputs of the function."""
    summary: str
    graph: Graph
    calls: tuple[Call, ...] = ()
    reads_mass: bool = False
    """Whether the text reads the robot's mass, which is a number even if masses are parameters."""
    moving: tuple[str, ...] = ()
    """The held inputs of own functions that are called, whose values depend on inputs that are not held."""

    @property
    def name(self) -> str:
        return self.signature.name

    @property
    def callees(self) -> list[str]:
        """The names of the rows that are called, each once."""
        return list(dict.fromkeys(call.function for call in self.calls))

    def run(self, builder: Builder, given: Mapping[str, Sequence[Value]], run: Run) -> list[list[Value]]:
        """The elements of every output, from those of the inputs. `run` computes the calls, in order."""
        replay = Replay(builder, self.graph, dict(given))
        for call in self.calls:
            arguments = replay.output(call.name)
            results = run(call.function, list(call.arguments(list(map(known, arguments)))))
            replay.give(call.name, [value for result in results for value in result])
        return [list(map(known, replay.output(x.name))) for x in self.signature.outputs]


def known(value: Expr) -> Value:
    """The expression, or the number that it is, so that the zeros of a robot vanish while it is traced."""
    number = value.constant
    if number is None:
        return value
    return int(number) if number in (0, 1, -1) else number
