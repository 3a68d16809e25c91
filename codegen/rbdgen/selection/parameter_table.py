"""The parameter table: numbers that depend on parameters become an input of every function.

The model is reduced once over symbols of the parameters. Every number of the reduced model that depends on
the symbols becomes an entry of a table, which an update function fills from the parameters. Entries are thus
computed once per change of the parameters, not once per call. All other numbers stay constants in the code.
Equal entries are merged, and so are opposite ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np

from rbdgen.errors import OptionError
from rbdgen.graph.derivatives.forward import jvp
from rbdgen.graph.derivatives.reverse import vjp
from rbdgen.graph.derivatives.slopes import Moving
from rbdgen.graph.engine import GraphEngine
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.expression import Expr
from rbdgen.graph.node import Graph, Output
from rbdgen.graph.programs.passes import ORDER, SIMPLIFY, apply
from rbdgen.graph.programs.program import Program, straight_line
from rbdgen.graph.programs.run import run
from rbdgen.model.build import Robot
from rbdgen.model.model import Model
from rbdgen.model.parameters import Parameter, symbolic_model
from rbdgen.model.reduce import ReducedModel, Turn, reduce
from rbdgen.signature import BAR, DOT, UPDATE, SizedArgument, SizedSignature
from rbdgen.spatial.ops import Matrix, Vector
from rbdgen.spatial.scalar import Scalar, neg
from rbdgen.wording import option

PARAMETERS: Final = "p"
TABLE: Final = "table"

T = TypeVar("T")


class Entry(NamedTuple):
    """Stands for an element of the table, or for its opposite."""

    place: int
    opposite: bool


@dataclass(frozen=True)
class Tabled:
    """A model in which some numbers are entries of a table with `size` elements, which the graph `update`
    computes.
    """

    model: Model | ReducedModel
    size: int
    update: Graph

    @property
    def parameters(self) -> int:
        """The number of parameters from which the table is computed."""
        return sum(x.size for x in self.update.inputs)

    def entries(self, p: Sequence[Scalar]) -> list[Scalar]:
        """The table for these expressions of the parameters."""
        (table,) = evaluate(self.update, {PARAMETERS: np.array(p, dtype=object)}).values()
        return list(table)

    @property
    def robot(self) -> Model:
        """The model, or the one that the reduced model was made from."""
        return self.model if isinstance(self.model, Model) else self.model.model

    def filled(self, table: Sequence[Scalar]) -> Model | ReducedModel:
        """The model with these elements in place of the entries."""
        return mapped(self.model, Entry, lambda x: neg(table[x.place]) if x.opposite else table[x.place])


@dataclass(frozen=True)
class Table:
    """The models on which functions are traced, and the graph that fills the table."""

    reduced: Tabled
    """The model for cheap forms."""
    model: Tabled
    """The model for all other forms."""
    traced: Graph
    """The graph from p to the table."""
    defaults: tuple[float, ...]
    """The default values of p."""

    @property
    def size(self) -> int:
        return self.traced.outputs[0].size

    @cached_property
    def update(self) -> Program:
        """The program from p to the table, simplified."""
        return apply(apply(straight_line(self.traced), SIMPLIFY), ORDER)

    @cached_property
    def entries(self) -> tuple[float, ...]:
        """The table for the defaults."""
        (table,) = run(self.update, {PARAMETERS: np.array(self.defaults)}).values()
        return tuple(table.tolist())

    def narrowed(self, kept: Sequence[int]) -> Table:
        """The table with only these entries. All functions must have been traced before."""
        (output,) = self.traced.outputs
        left = Output(output.name, (len(kept),), tuple(output.elements[k] for k in kept))
        return replace(self, traced=replace(self.traced, outputs=(left,)))

    @property
    def update_signature(self) -> SizedSignature:
        """The signature of the update function."""
        meaning = "parameters of the robot, in the order of the manifest"
        p = SizedArgument(
            PARAMETERS, (len(self.defaults),), "SI", meaning, "parameters", default=self.defaults
        )
        return SizedSignature(UPDATE, (p,), (self.argument,))

    def products(self) -> Iterator[tuple[SizedSignature, Program]]:
        """update_vjp, update_jvp and update_hvp: products with the derivatives of the table by p."""
        p, (table,) = (
            SizedArgument(PARAMETERS, (len(self.defaults),), "SI", "", "parameters"),
            (self.argument,),
        )
        graph = self.update.straight
        assert graph is not None
        by = [Moving(PARAMETERS, p.shape)]
        bar = SizedArgument(TABLE + BAR, table.shape, "1/SI", "weights of table in the loss L")
        dot = SizedArgument(PARAMETERS + DOT, p.shape, "SI/s", "how fast p changes")
        p_bar = SizedArgument(PARAMETERS + BAR, p.shape, "1/SI", "dL/dp")
        gradient = vjp(graph, by)
        table_dot = SizedArgument(TABLE + DOT, table.shape, "SI/s", "how fast table changes")
        p_bar_dot = SizedArgument(PARAMETERS + BAR + DOT, p.shape, "1/SI/s", "how fast p_bar changes")
        for mode, inputs, output, made in (
            ("vjp", (p, bar), p_bar, gradient),
            ("jvp", (p, dot), table_dot, jvp(graph, by)),
            ("hvp", (p, bar, dot), p_bar_dot, jvp(gradient, by)),
        ):
            signature = SizedSignature(f"{UPDATE}_{mode}", inputs, (output,))
            yield signature, apply(apply(straight_line(made), SIMPLIFY), ORDER)

    @property
    def argument(self) -> SizedArgument:
        """The input that every function has for the table."""
        meaning = f"the numbers that {UPDATE} computes from the parameters"
        return SizedArgument(TABLE, (self.size,), "SI", meaning, "table", default=self.entries)


def with_table(signature: SizedSignature, table: Table) -> SizedSignature:
    """A function's signature with the table as its last input; parameters get their defaults."""
    inputs = [replace(x, default=table.defaults) if x.kind == "parameters" else x for x in signature.inputs]
    return SizedSignature(signature.name, (*inputs, table.argument), signature.outputs)


def table_of(
    robot: Robot,
    parameters: Sequence[Parameter],
    turns: Sequence[Turn] | None,
    slides: Sequence[Scalar] | None,
) -> Table:
    """The table for these parameters, with bodies in axes that are turned and slid as in `reduce`.

    It has all numbers that any function may read; `narrowed` keeps those that functions do read.
    """
    tracer = GraphEngine()
    symbolic = symbolic_model(robot, parameters, tracer.symbols(PARAMETERS, len(parameters)))
    reduced = reduce(symbolic, turns, slides)
    border = _Border()
    entries = mapped(replace(reduced, aligned=()), Expr, border.entry)
    size = len(border.outputs)
    if not size:
        raise OptionError(
            f"{option('params')}: no number of the robot depends on these parameters; ask for others"
        )
    graph = tracer.graph([(TABLE, (size,), border.outputs)])
    defaults = tuple(parameter.default for parameter in parameters)
    return Table(Tabled(entries, size, graph), Tabled(entries.model, size, graph), graph, defaults)


class _Border:
    """The table while it grows; entries are found by their nodes."""

    def __init__(self) -> None:
        self.outputs: list[Expr] = []
        self._places: dict[int, tuple[int, int]] = {}

    def entry(self, x: Expr) -> Entry | float:
        """The table entry for an expression, or a number if the expression is constant."""
        if x.constant is not None:
            return int(x.constant) if x.constant in (0, 1, -1) else x.constant
        node, sign = x.edge >> 1, x.edge & 1
        if node not in self._places:
            self._places[node] = len(self.outputs), sign
            self.outputs.append(x)
        place, first = self._places[node]
        return Entry(place, sign != first)


def mapped(value: T, leaf: type, change: Callable[[Any], Any]) -> T:
    """The value with every leaf of this type changed."""
    if isinstance(value, leaf):
        return change(value)  # type: ignore[no-any-return]
    if isinstance(value, (Vector, Matrix)):
        return type(value)(*(mapped(x, leaf, change) for x in value))
    if isinstance(value, tuple):
        parts = [mapped(x, leaf, change) for x in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{x.name: mapped(getattr(value, x.name), leaf, change) for x in fields(value)})
    return value
