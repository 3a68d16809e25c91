"""Compositions: functions of a user's own, which call rows of the table and combine their outputs.

The user's text, a Python function, runs once, on symbols of its inputs and of the outputs of every call. The
operations that it does on them are a graph, with the calls as gaps:

    inputs of the function, outputs of the calls  ->  arguments of the calls, outputs of the function

Products of large matrices are gaps as well, so that they may become loops; see `graph/programs/products.py`.

Such a composition has no robot in it. It is traced on a model by replaying the graph, and by running a form
of the called row wherever the arguments of a call are known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from rbdgen.access import Place
from rbdgen.graph.builder import Builder
from rbdgen.graph.expression import Expr, Number
from rbdgen.graph.node import Graph
from rbdgen.graph.programs.products import Values, multiplied
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
class Product:
    """A product of two large matrices in a composition."""

    rows: int
    inner: int
    columns: int
    wanted: tuple[Place, ...]
    """The elements of the result that are used and may differ from 0."""
    name: str
    """The name of two arrays of the graph: the input that holds the wanted elements, and the output that
    holds the elements of both factors.
    """

    def factors(self, elements: Sequence[Value]) -> tuple[Values, Values]:
        """The elements of both factors that may differ from 0, from those of the graph's output."""
        cut = self.rows * self.inner
        return _nonzero(elements[:cut], self.inner), _nonzero(elements[cut:], self.columns)


def _nonzero(elements: Sequence[Value], width: int) -> Values:
    """The elements of a row-major matrix that may differ from 0."""
    return {divmod(k, width): x for k, x in enumerate(elements) if isinstance(x, Expr) or x != 0}


Multiply: TypeAlias = Callable[[Product, Values, Values], Mapping[Place, Value]]
"""Computes the wanted elements of a product; those left out are 0."""


def written_out(product: Product, left: Values, right: Values) -> Mapping[Place, Value]:
    """The wanted elements of a product in a straight line."""
    return multiplied([(left, right)], product.wanted)


@dataclass(frozen=True)
class Composition:
    """The graph between calls and products, and these in their order. Unlike the user's text, it can be
    pickled.
    """

    signature: Signature
    """The inputs and outputs of the function."""
    summary: str
    graph: Graph
    steps: tuple[Call | Product, ...] = ()
    reads_mass: bool = False
    """Whether the text reads the robot's mass, which is a number even if masses are parameters."""
    moving: tuple[str, ...] = ()
    """The held inputs of own functions that are called, whose values depend on inputs that are not held."""
    members: tuple[str, ...] = ()
    """The functions whose outputs it has, one after the other, if it calls each once with its own inputs and
    does nothing else, see `own/together.py`.
    """

    @property
    def name(self) -> str:
        return self.signature.name

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls in their order."""
        return tuple(step for step in self.steps if isinstance(step, Call))

    @property
    def products(self) -> tuple[Product, ...]:
        """The products in their order."""
        return tuple(step for step in self.steps if isinstance(step, Product))

    @property
    def callees(self) -> list[str]:
        """The names of the rows that are called, each once."""
        return list(dict.fromkeys(call.function for call in self.calls))

    def run(
        self,
        builder: Builder,
        given: Mapping[str, Sequence[Value]],
        run: Run,
        multiply: Multiply = written_out,
    ) -> list[list[Value]]:
        """The elements of every output, from those of the inputs. `run` computes the calls and `multiply` the
        products, in order.
        """
        replay = Replay(builder, self.graph, dict(given))
        for step in self.steps:
            read = list(map(known, replay.output(step.name)))
            if isinstance(step, Product):
                product = multiply(step, *step.factors(read))
                replay.give(step.name, [product.get(at, 0) for at in step.wanted])
                continue
            results = run(step.function, list(step.arguments(read)))
            replay.give(step.name, [value for result in results for value in result])
        return [list(map(known, replay.output(x.name))) for x in self.signature.outputs]


def known(value: Expr) -> Value:
    """The expression, or the number that it is, so that the zeros of a robot vanish while it is traced."""
    number = value.constant
    if number is None:
        return value
    return int(number) if number in (0, 1, -1) else number
