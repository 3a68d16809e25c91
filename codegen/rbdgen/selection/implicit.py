"""Derivatives along directions of a straight line around loops that solve an equation.

The line is differentiated as any graph. The loops are differentiated by the implicit function theorem, in
loops that run after them: the derivative needs the solution alone, not the iterations that lead to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rbdgen.functions.function import Around
from rbdgen.functions.inner import Implicit, Inner
from rbdgen.graph.builder import Builder
from rbdgen.graph.derivatives.forward import jvp
from rbdgen.graph.derivatives.reverse import vjp
from rbdgen.graph.derivatives.slopes import Moving, Told
from rbdgen.graph.expression import Expr
from rbdgen.graph.node import Graph
from rbdgen.graph.replay import replay
from rbdgen.model.model import Model
from rbdgen.signature import DOT, SizedSignature


@dataclass(frozen=True)
class ImplicitLine:
    """The straight line of a function, to be differentiated together with the loops inside it."""

    graph: Graph
    made: Around
    model: Model
    """The robot, with the contacts of the function."""
    by: Sequence[Moving]
    """The inputs by which the function is differentiated."""
    told: Told
    """The outputs whose rates are given in other numbers than those of their elements."""

    def derivative(self, signature: SizedSignature, *, seeded: bool) -> tuple[Graph, tuple[Inner, ...]]:
        """The straight line of NAME_vjp, if `seeded`, or of NAME_jvp, and the loops that it is around.

        Outputs that the loops give, besides the solution, count as constant.
        """
        implicit = self.made.implicit
        assert implicit is not None
        inner = implicit.adjoint if seeded else implicit.tangent
        builder = Builder()
        sizes = {x.name: x.size for x in signature.inputs}
        sizes |= {x.name: x.size for x in self.graph.inputs} | dict(inner.loops(self.model).outputs)
        arrays = {name: builder.input(name, size) for name, size in sizes.items()}
        values = replay(builder, self.graph, arrays)
        outputs = [(x.name, x.shape, values[x.name]) for x in self.graph.outputs if x.name in self.problem]
        known = {name: value for name, value in values.items() if name in self.problem}
        found = (self._reverse if seeded else self._forward)(builder, implicit, {**arrays, **known})
        outputs += [(name, (len(values),), values) for name, values in found.items()]
        for y in signature.outputs:
            if y.name not in found:
                outputs.append((y.name, y.shape, [Expr(builder, builder.number(0.0))] * y.size))
        return builder.graph(outputs), (*self.loops, inner)

    @property
    def solver(self) -> Inner:
        """The loops that solve the equation."""
        (solver, *_) = self.loops
        return solver

    @property
    def loops(self) -> tuple[Inner, ...]:
        """All loops of the function."""
        return tuple(x for x in self.made.inner if isinstance(x, Inner))

    @property
    def solution(self) -> Moving:
        """The solution of the equation, which the line reads."""
        name, size = next(iter(self.solver.loops(self.model).outputs.items()))
        return Moving(name, (size,))

    @property
    def problem(self) -> set[str]:
        """The arrays that describe the equation."""
        return set(self.solver.reads(self.model))

    def _reverse(
        self, builder: Builder, implicit: Implicit, arrays: dict[str, list[Expr]]
    ) -> dict[str, list[Expr]]:
        graph = vjp(self.graph, [*self.by, self.solution], self.told)
        return replay(builder, graph, {**arrays, **implicit.weights(self.model, arrays)})

    def _forward(
        self, builder: Builder, implicit: Implicit, arrays: dict[str, list[Expr]]
    ) -> dict[str, list[Expr]]:
        graph = jvp(self.graph, [*self.by, self.solution], self.told)
        rates = replay(builder, graph, arrays)
        changes = implicit.changes(self.model, {**arrays, **rates})
        results = {
            name: values for name, values in rates.items() if name.removesuffix(DOT) not in self.problem
        }
        return {**results, **{name: list(values) for name, values in changes.items()}}
